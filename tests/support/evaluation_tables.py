"""A table for sweeps, and the small sweep whose frame is kept. To write it anew after an intended change, read the diff and run

python -m tests.support.evaluation_tables
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dpviz
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

GOLDEN = Path(__file__).resolve().parents[1] / "evaluation" / "sweep.csv"
SCHEMA = Schema(
    (NumericFeature("age", 18, 90, whole=True), CategoricalFeature("ward", ("north", "south", "east"))),
    ClassTarget("outcome", ("well", "ill")),
    n_public=300,
)


def rows(n: int = 300) -> EncodedDataset:
    """Rows written as arithmetic, so that no generator's version matters."""
    place = np.arange(n)
    age = (18 + place * 7 % 73).astype(np.int32)
    ward = (place * 5 % 3).astype(np.uint8)
    ill = (age > 55) ^ (place % 9 == 0) | (ward == 2) & (age > 40)
    return EncodedDataset(SCHEMA, (age, ward), ill.astype(np.uint8))


def golden_text() -> str:
    """The small sweep as CSV, to ten digits."""
    names = ["pf-tree", "privatree-corrected", "cart"]
    frame = dpviz.sweep(names, rows(), epsilon=[0.5, 5.0], max_depth=[2, 3], n_rows=[100, None], folds=2, repeats=2, seed=7)
    return frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")


def distance(first: EncodedDataset, second: EncodedDataset) -> int:
    """Rows to add and remove to get from one table to the other, whatever their order."""
    tables = [np.column_stack([*table.columns, table.target]).astype(np.float64) for table in (first, second)]
    _, kind = np.unique(np.concatenate(tables), axis=0, return_inverse=True)
    kinds = kind.ravel()
    size = int(kinds.max(initial=-1)) + 1
    counts = [np.bincount(part, minlength=size) for part in (kinds[: first.n_rows], kinds[first.n_rows :])]
    return int(np.abs(counts[0] - counts[1]).sum())


if __name__ == "__main__":
    GOLDEN.write_text(golden_text(), encoding="utf-8")
