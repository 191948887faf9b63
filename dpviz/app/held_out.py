"""How the tree on screen does on rows that it was not trained on. For rows anyone may see, never for private ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpviz.app.state import Loaded
from dpviz.errors import NoProbabilities
from dpviz.evaluation.compare.metrics import metrics
from dpviz.evaluation.measures import CalibrationBin, calibration, confusion, lift
from dpviz.models.base import Model
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget

TEST_SHARE = 0.2
Parts = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the probabilities of the rarest class are worth: its calibration, and its lift among the top tenth of the rows."""

    label: int
    calibration: tuple[CalibrationBin, ...]
    lift: float


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Measures on the held-out rows, next to always predicting the most frequent class of the others.

    Attributes
    ----------
    measures : dict of str to float
        Those of a sweep; NaN where the model holds no probabilities.
    majority_class : str
    confused : ndarray of shape (n_classes, n_classes)
        Rows by class and predicted class.
    ranked : Ranked or None
        None for a model without probabilities.
    """

    measures: dict[str, float]
    majority_class: str
    confused: np.ndarray
    ranked: Ranked | None

    @property
    def n_rows(self) -> int:
        """Held-out rows."""
        return int(self.confused.sum())


@dataclass(frozen=True, slots=True)
class HeldOutNumber:
    """R² (NaN where all rows are equal) and errors on the held-out rows, next to always predicting the mean of the others."""

    r2: float
    rmse: float
    mae: float
    mean_rmse: float
    mean: float
    n_rows: int


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def parts_of(fingerprint: str, _data: EncodedDataset) -> Parts | None:
    """(four fifths, one fifth) of the rows, always the same ones; None when there are too few to hold any out."""
    return _data.split(TEST_SHARE, seed=0) if _data.n_rows >= 10 else None


def rows_of_the_tree(loaded: Loaded) -> EncodedDataset:
    """The rows that trees on screen are trained on: all private rows, else those that are not held out."""
    parts = None if loaded.role is DataRole.PRIVATE else parts_of(loaded.data.fingerprint, loaded.data)
    return parts[0] if parts else loaded.data


def held_out(model: Model, parts: Parts) -> HeldOut | HeldOutNumber:
    """How a model that was trained on the first of `parts` does on the second."""
    train, test = parts
    found = metrics(model, train, test)
    if isinstance(train.schema.target, NumericTarget):
        return HeldOutNumber(**found, mean=float(train.target.mean()), n_rows=test.n_rows)
    counts = train.class_counts()
    confused = confusion(test.target, model.predict(test), test.n_classes)
    return HeldOut(found, train.schema.classes[int(counts.argmax())], confused, _ranked(model, test, int(counts.argmin())))


def _ranked(model: Model, test: EncodedDataset, label: int) -> Ranked | None:
    try:
        share = model.predict_proba(test)[:, label]
    except NoProbabilities:
        return None
    is_class = test.target == label
    return Ranked(label, calibration(is_class, share), lift(is_class, share))
