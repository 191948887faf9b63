"""How a tree's settings do on rows that it is not trained on. For rows anyone may see, never for private ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from dpviz.evaluation.compare.metrics import metrics
from dpviz.learners import fit
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget

TEST_SHARE = 0.2
Parts = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Accuracy on the held-out rows, next to always predicting the most frequent class of the others."""

    accuracy: float
    majority: float
    majority_class: str
    n_rows: int


@dataclass(frozen=True, slots=True)
class HeldOutNumber:
    """R² (NaN where all rows are equal) and RMSE on the held-out rows, next to always predicting the mean of the others."""

    r2: float
    rmse: float
    mean_rmse: float
    mean: float
    n_rows: int


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def parts_of(fingerprint: str, _data: EncodedDataset) -> Parts | None:
    """(four fifths, one fifth) of the rows, always the same ones; None when there are too few to hold any out."""
    return _data.split(TEST_SHARE, seed=0) if _data.n_rows >= 10 else None


def held_out(learner: str, given: dict[str, Any], parts: Parts, *, seed: int) -> HeldOut | HeldOutNumber:
    """Train the same way on the first of `parts` and count on the second. `given`: arguments of `fit`."""
    train, test = parts
    result = fit(learner, train, seed=seed, **given)
    if isinstance(train.schema.target, NumericTarget):
        return HeldOutNumber(**metrics(result.model, train, test), mean=float(train.target.mean()), n_rows=test.n_rows)
    label = int(train.class_counts().argmax())
    return HeldOut(result.score(test), float(np.mean(test.target == label)), train.schema.classes[label], test.n_rows)
