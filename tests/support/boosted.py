"""Boosted models by hand: four small trees over three kinds of features."""

from __future__ import annotations

import numpy as np

from dpviz.models.boosted import BoostedTrees
from dpviz.models.packed_text import BoostedBody, boosted_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.strict_json import read as parsed

FEATURES = (NumericFeature("x", 0, 1), CategoricalFeature("c", ("red", "green", "blue")), NumericFeature("k", 0, 9, whole=True))
NUMBER = Schema(FEATURES, NumericTarget("y", 0, 10))
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")))
THREE = Schema(FEATURES, ClassTarget("y", ("a", "b", "c")))
#: The first asks for x alone, the second for c alone, the third for two features, the fourth for nothing.
TREES = ("0<=0.5 =1.5 0<=0.75 =-2.0 =0.25", "1? =0.5 =-0.5 =3.0", "2<=4.5 1<=0.5 =2.0 =-7.0 =1.0", "=0.125")


def read(schema: Schema = NUMBER, trees: tuple[str, ...] = TREES, initial: float = 2.0) -> BoostedTrees:
    return boosted_from(parsed(BoostedBody, {"form": "-", "trees": list(trees), "initial": initial}), schema)


def rows(schema: Schema = NUMBER, n_rows: int = 300, seed: int = 3) -> EncodedDataset:
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, 0.25, 0.5, 0.5000001, 0.75, 1.0], n_rows)
    columns = (x, rng.integers(0, 3, n_rows).astype(np.uint8), rng.integers(0, 10, n_rows).astype(np.int32))
    target = rng.uniform(0, 10, n_rows) if schema is NUMBER else rng.integers(0, len(schema.classes), n_rows).astype(np.uint8)
    return EncodedDataset(schema, columns, target)
