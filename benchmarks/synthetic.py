"""The seven synthetic data sets of the smooth random forest paper: clusters of two classes, with useless features beside them.

Source: Fletcher & Islam 2017, Table 1; drawn by scikit-learn's make_classification.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from dpviz.errors import UnknownName
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

#: Name -> (informative features, useless features).
TABLE_1 = MappingProxyType(
    {
        "SynthA": (5, 0),
        "SynthB": (10, 0),
        "SynthC": (15, 0),
        "SynthD": (10, 5),
        "SynthE": (5, 10),
        "SynthF": (5, 5),
        "SynthG": (10, 10),
    }
)
N_ROWS = 30_000


def synthetic(name: str, *, seed: int, n_rows: int = N_ROWS) -> EncodedDataset:
    """Rows of one of TABLE_1. Ranges are those of the rows, as in the paper: marked as read from the data."""
    if name not in TABLE_1:
        raise UnknownName("synthetic data set", name, TABLE_1)
    from sklearn.datasets import make_classification

    informative, useless = TABLE_1[name]
    values, target = make_classification(
        n_rows, informative + useless, n_informative=informative, n_redundant=0, random_state=seed
    )
    return EncodedDataset(_schema(values), tuple(np.ascontiguousarray(values.T)), target.astype(np.uint8))


def _schema(values: np.ndarray) -> Schema:
    bounds = zip(values.min(axis=0), values.max(axis=0), strict=True)
    features = (
        NumericFeature(f"x{place + 1}", low, high, read_from_data=("low", "high")) for place, (low, high) in enumerate(bounds)
    )
    return Schema(tuple(features), ClassTarget("class", ("0", "1")), n_public=len(values))
