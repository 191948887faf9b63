"""Rows on Dask: `python docs/how-to/dask_source.py` trains on a small table in four parts."""

import dask
import numpy as np
import pyarrow as pa

import dpviz
from dpviz.rows.cluster import CELLS, ClusterRows


@dask.delayed
def made(function, number, part):
    return list(function(number, iter(part)))


@dask.delayed
def added(made_of_parts):
    table = pa.Table.from_batches([batch for batches in made_of_parts for batch in batches], schema=CELLS)
    return table.group_by("cell").aggregate([("count", "sum")]).rename_columns(["cell", "count"])


class DaskSource:
    """Parts of a table, each a list of Arrow batches that Dask knows where to find."""

    def __init__(self, parts, names):
        self.parts, self.names = parts, tuple(names)

    def map_batches(self, function, schema):
        kept = dask.persist(*(made(function, number, part) for number, part in enumerate(self.parts)))
        return DaskSource(kept, schema.names)

    def sum_batches(self, function):
        sums = [made(function, number, part) for number, part in enumerate(self.parts)]
        while len(sums) > 1:  # two at a time: what comes here is one sum
            pairs = [sums[at : at + 2] for at in range(0, len(sums), 2)]
            sums = [dask.delayed(pa.Table.to_batches)(added(pair)) for pair in pairs]
        return added(sums).compute()

    def close(self):
        self.parts = ()


if __name__ == "__main__":
    x = np.random.default_rng(1).random(4000)
    table = pa.table({"x": x, "y": np.where(x > 0.3, "yes", "no")})
    features, target = (dpviz.NumericFeature("x", 0, 1),), dpviz.ClassTarget("y", ("no", "yes"))
    schema = dpviz.Schema(features, target, n_public=4000)
    parts = [dask.delayed(table.slice(start, 1000).to_batches()) for start in range(0, 4000, 1000)]
    with ClusterRows(DaskSource(parts, table.column_names), schema) as rows:
        tree = dpviz.fit("pf-tree", rows, epsilon=1, seed=0)
    assert tree.to_json() == dpviz.fit("pf-tree", table, schema=schema, epsilon=1, seed=0).to_json()
    print("the tree of memory")
