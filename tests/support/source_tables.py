"""Tables of a source beside the same rows in memory, and noise that strikes while they are counted."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import dpviz
from dpviz.privacy.source import Simulation
from dpviz.rows.sources import SourceRows
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

CANARY, NUMBER = "zebra-4711", 31415.926535


def in_memory(rows: pa.Table) -> RawTable:
    """The rows as the reader of files sees them."""
    file = io.BytesIO()
    parquet.write_table(rows, file)
    return dpviz.read_table(file.getvalue(), name="rows")


def numbered(rows: pa.Table) -> pa.Table:
    return rows.append_column("id", pa.array(range(rows.num_rows)))


def document(learner: str, rows: Any, seed: int = 3, **asked: Any) -> str:
    return dpviz.fit(learner, rows, epsilon=1.0, seed=seed, **asked).to_json()


def opened(address: str, schema: Schema, **asked: Any) -> SourceRows:
    """In the order of `id`."""
    if address.endswith(".parquet"):
        return dpviz.encode_large(address, schema, **asked)
    return dpviz.open_table(f"{address}&order=id", schema, **asked)


def wide(schema: Schema) -> Schema:
    """Without columns that drop most rows."""
    dropping = ("Double Dropped", "single", "decimal", "rounded", "whole labels", 'te"xt`', "year", "weekday")
    return schema.without(*dropping)


def canaries() -> tuple[pa.Table, Schema]:
    """Rows whose cells can be recognised wherever they turn up."""
    n_rows = 2000
    texts = [CANARY if row % 7 else "plain" for row in range(n_rows)]
    given = pa.table({"word": texts, "x": np.full(n_rows, NUMBER), "y": ["a" if row % 3 else "b" for row in range(n_rows)]})
    word = CategoricalFeature("word", ("plain", "other"), unknown_as="other")
    return numbered(given), Schema((word, NumericFeature("x", 0, 50_000)), ClassTarget("y", ("a", "b")), n_public=n_rows)


class Struck(Simulation):
    """Noise that strikes when a node of the second level is entered."""

    def __init__(self, strike: Callable[[], None]) -> None:
        super().__init__(3)
        self.strike = strike

    def enter(self, place: int) -> None:
        if place == 2:
            self.strike()
        super().enter(place)
