"""The source of the documentation, on Dask."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import dpviz
from dpviz.errors import EngineError
from tests.support.nasty_cells import SCHEMA, shuffled
from tests.support.paths import ROOT, SEED
from tests.support.source_tables import document, in_memory, numbered, wide

dask = pytest.importorskip("dask")


def test_another_engine_gives_the_tree_of_memory() -> None:
    """In parts of several batches, one of them empty, whose rows are assigned by their numbers."""
    from dpviz.rows.cluster import ClusterRows

    source = runpy.run_path(str(ROOT / "docs/how-to/dask_source.py"))["DaskSource"]
    rows, schema = numbered(shuffled(3000, SEED)), wide(SCHEMA).declare(n_public=3000)
    parts = [dask.delayed(rows.slice(*place).to_batches(max_chunksize=300)) for place in ((0, 900), (900, 0), (900, 2100))]
    data = dpviz.encode(in_memory(rows), schema)
    with ClusterRows(source(parts, rows.column_names), schema) as found:
        for seed in range(3):
            assert document("pf-tree", found, seed) == document("pf-tree", data, seed)
        np.testing.assert_array_equal(found.class_counts(), data.class_counts())
    with pytest.raises(EngineError, match="rows of each person"):
        ClusterRows(source(parts, rows.column_names), schema, "id", 1)
