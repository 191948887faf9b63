"""How the tree on screen does on rows that it was not trained on.

Exact figures are for rows anyone may see, never for private ones; the private test result is part of every release.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.state import Loaded
from dpviz.errors import NoProbabilities
from dpviz.evaluation.compare.comparison import METRICS
from dpviz.evaluation.compare.metrics import metric_intervals, metrics
from dpviz.evaluation.measures import CalibrationBin, calibration, confusion, lift
from dpviz.figures.compare.measure_text import interval_text, measure_text
from dpviz.figures.publish.test_result import has_rare_classes, result_sentences
from dpviz.figures.wording import capital
from dpviz.models.base import Model
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget
from dpviz.training.honest.number_report import NumberReport
from dpviz.training.honest.report import Estimate, TestReport

TEST_SHARE = 0.2
Parts = tuple[EncodedDataset, EncodedDataset]
#: Measure -> its value, and its 95% interval.
Exact = tuple[Mapping[str, float], Mapping[str, tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the probabilities of the rarest class are worth: its calibration, and its lift among the top tenth of the rows."""

    label: int
    calibration: tuple[CalibrationBin, ...]
    lift: float


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Measures on the held-out rows, next to always predicting the most frequent class of the others.

    `measures` are those of a sweep, NaN where the model holds no probabilities; `intervals` are 95% intervals, where there is
    one. `confused`, of shape (n_classes, n_classes), counts rows by class and predicted class. `ranked` is None for a model
    without probabilities.
    """

    measures: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    majority_class: str
    confused: np.ndarray
    ranked: Ranked | None

    @property
    def n_rows(self) -> int:
        """Held-out rows."""
        return int(self.confused.sum())


@dataclass(frozen=True, slots=True)
class HeldOutNumber:
    """R² (NaN where all rows are equal) and errors on the held-out rows, next to always predicting the mean of the others.

    `measures` are those of a sweep: r2, rmse, mae, mean_rmse. `intervals` are 95% intervals, by the name of the measure.
    """

    measures: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    mean: float
    n_rows: int


def parts_of(data: EncodedDataset) -> Parts | None:
    """(four fifths, one fifth) of the rows, always the same ones; None when there are too few to hold any out.

    Kept with the data. Fits on the first part share their counts.
    """
    return data.binning("held out", lambda: _split(data)) if data.n_rows >= 10 else None


def _split(data: EncodedDataset) -> Parts:
    train, test = data.split(TEST_SHARE, seed=0)
    return train.with_cached_counts(), test


def rows_of_the_tree(loaded: Loaded) -> EncodedDataset:
    """The rows that trees on screen are trained on: all private rows, else those that are not held out."""
    parts = None if loaded.role is DataRole.PRIVATE else parts_of(loaded.data)
    return parts[0] if parts else loaded.data


def held_out(model: Model, parts: Parts) -> HeldOut | HeldOutNumber:
    """How a model that was trained on the first of `parts` does on the second."""
    train, test = parts
    found, between = metrics(model, train, test), metric_intervals(model, test)
    if isinstance(train.schema.target, NumericTarget):
        return HeldOutNumber(found, between, float(train.target.mean()), test.n_rows)
    counts = train.class_counts()
    confused = confusion(test.target, model.predict(test), test.n_classes)
    return HeldOut(
        found, between, train.schema.classes[int(counts.argmax())], confused, _ranked(model, test, int(counts.argmin()))
    )


def _ranked(model: Model, test: EncodedDataset, label: int) -> Ranked | None:
    try:
        share = model.predict_proba(test)[:, label]
    except NoProbabilities:
        return None
    is_class = test.target == label
    return Ranked(label, calibration(is_class, share), lift(is_class, share))


def private_test(report: TestReport | NumberReport, exact: Exact | None, rows: str = "", note: str = "") -> None:
    """What the test says in words, or, where `exact` is known of `rows`, in a table beside it with a `note` below."""
    st.markdown("**Private test result**")
    if exact is None:
        st.markdown("\n".join(f"- {plain(line)}" for line in result_sentences(report)))
        return
    words = "Measures by the private test, and exactly, each with a 95% interval."
    st.dataframe(result_rows(report, exact, rows), hide_index=True, alt=words)
    st.caption(f"{result_sentences(report)[-1]} {note}")


def result_rows(report: TestReport | NumberReport, exact: Exact, rows: str) -> list[dict[str, str]]:
    """One line per measure: the private test result, and what `rows` say exactly, each with its 95% interval."""
    values, between = exact
    known = _estimates(report)
    return [
        {
            "measure": capital(METRICS[name]),
            "private test result": _measured(estimate.value, (estimate.low, estimate.high), name),
            rows: _measured(values[name], between[name], name),
        }
        for name in known
        if (estimate := known[name]) is not None and name in between and values[name] == values[name]
    ]


def _estimates(report: TestReport | NumberReport) -> dict[str, Estimate | None]:
    """By measure, in the order in which they are shown."""
    if isinstance(report, NumberReport):
        return {"r2": report.r_squared, "rmse": report.rmse, "mae": report.absolute_error}
    rest = {"balanced_accuracy": report.balanced_accuracy, "auc": report.auc, "log_loss": report.log_loss}
    return {**rest, "accuracy": report.accuracy} if has_rare_classes(report) else {"accuracy": report.accuracy, **rest}


def _measured(value: float, between: tuple[float, float], name: str) -> str:
    return f"{measure_text(value, name)} ({interval_text(between, name)})"
