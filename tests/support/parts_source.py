"""A cluster in this process: `dpviz.rows.cluster.Source` over lists of batches, some of which can be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from dpviz.rows.cluster import CELLS, KEPT, WHOSE, PartFunction, together


class Parts:
    """Parts of a table, made once and kept. `befalls` is called before each is used, with how many are kept, and may raise."""

    kept = 0  #: Sources whose parts are kept

    def __init__(self, parts: Sequence[list[pa.RecordBatch]], names: Sequence[str], befalls: Callable[[], None]) -> None:
        self.parts, self.names, self.befalls = [*parts], tuple(names), befalls

    def _each(self, function: PartFunction) -> Iterator[list[pa.RecordBatch]]:
        for number, part in enumerate(self.parts):
            self.befalls()
            yield list(function(number, iter(part)))

    def _made(self, parts: Sequence[list[pa.RecordBatch]], names: Sequence[str]) -> Parts:
        Parts.kept += 1
        return Parts(parts, names, self.befalls)

    def map_batches(self, function: PartFunction, schema: pa.Schema) -> Parts:
        return self._made([*self._each(function)], schema.names)

    def sum_batches(self, function: PartFunction) -> pa.Table:
        made = pa.Table.from_batches([batch for part in self._each(function) for batch in part], schema=CELLS)
        return made.group_by("cell").aggregate([("count", "sum")]).rename_columns(["cell", "count"])

    def partition_by(self, person: str, most: int) -> Parts:
        self.befalls()
        rows = pa.Table.from_batches([batch for part in self.parts for batch in part], schema=WHOSE)
        rows = rows.filter(pa.compute.is_valid(rows["records"])).sort_by([("person", "ascending"), ("draw", "ascending")])
        persons = rows["person"].to_numpy(zero_copy_only=False)
        first = np.r_[True, persons[1:] != persons[:-1]][: len(persons)]
        place = np.arange(len(persons)) - np.maximum.accumulate(np.where(first, np.arange(len(persons)), 0))
        chosen = rows.filter(pa.array(place < most)).sort_by("row")
        codes = chosen["person"].combine_chunks().dictionary_encode().indices.to_numpy()
        _, firsts = np.unique(codes, return_index=True)
        at = chosen.schema.get_field_index("row")
        numbered = chosen.set_column(at, "row", pa.array(firsts[codes], pa.int64())).cast(WHOSE)
        return self._made([[batch for whole in together(0, iter(numbered.to_batches(100))) for batch in [whole]]], KEPT.names)

    def close(self) -> None:
        Parts.kept -= bool(self.parts) and self.names in (tuple(KEPT.names), tuple(WHOSE.names))
        self.parts = []
