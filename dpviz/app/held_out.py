"""How the tree on screen does on rows that it was not trained on.

Exact figures are for rows anyone may see, never for private ones; the private test result is part of every release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.state import Loaded
from dpviz.app.widgets import rows_table, show_chart
from dpviz.errors import NoProbabilities
from dpviz.evaluation.compare.comparison import METRICS
from dpviz.evaluation.compare.metrics import metric_intervals, metrics
from dpviz.evaluation.measures import CalibrationBin, calibration, confusion, lift
from dpviz.figures.compare import interval_text, measure_text
from dpviz.figures.publish.groups import WIDE, group_chart
from dpviz.figures.publish.test_result import has_rare_classes, result_sentences, says_nothing
from dpviz.figures.wording import capital
from dpviz.models.base import Model
from dpviz.results.document import Estimate
from dpviz.results.result import TestReport
from dpviz.results.verdict import Unit
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.report import ClassReport

TEST_SHARE = 0.2
Parts = tuple[EncodedDataset, EncodedDataset]
#: By the data they were split from, as long as somebody uses it.
_PARTS: WeakKeyDictionary[EncodedDataset, Parts] = WeakKeyDictionary()
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

    Made once for all sessions that use the same data. Fits on the first part share their counts.
    """
    found = _PARTS.get(data)
    if found is None and data.n_rows >= 10:
        train, test = data.split(TEST_SHARE, seed=0)
        found = _PARTS[data] = train.with_cached_counts(), test
    return found


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
    confused = confusion(test.target, model.predict(test), test.n_classes)
    return HeldOut(found, between, confused, _ranked(model, test, int(train.class_counts().argmin())))


def _ranked(model: Model, test: EncodedDataset, label: int) -> Ranked | None:
    try:
        share = model.predict_proba(test)[:, label]
    except NoProbabilities:
        return None
    is_class = test.target == label
    return Ranked(label, calibration(is_class, share), lift(is_class, share))


def private_test(report: TestReport, unit: Unit, exact: Exact | None, rows: str = "", note: str = "") -> None:
    """What the test says in words, or, where `exact` is known of `rows`, in a table beside it with a `note` below."""
    st.markdown("**Private test result**")
    _sentences_or_table(report, unit, exact, rows, note)
    group_screen(report, key="groups-tested")


def group_screen(report: TestReport, *, key: str) -> None:
    """Who pays for the noise, where the test counts groups apart."""
    if isinstance(report, ClassReport) and report.by_group:
        st.markdown(f"**By {plain(report.groups)}**")
        show_chart(group_chart(report), key)
        st.caption(WIDE.replace("epsilon", "ε"))


def _sentences_or_table(report: TestReport, unit: Unit, exact: Exact | None, rows: str, note: str) -> None:
    if exact is None:
        st.markdown("\n".join(f"- {plain(line)}" for line in result_sentences(report, unit)))
        return
    words = "Measures by the private test, and exactly, each with a 95% interval."
    rows_table(result_rows(report, exact, rows), words)
    st.caption(f"{plain(result_sentences(report, unit)[-1])} {note}")


def result_rows(report: TestReport, exact: Exact, rows: str) -> list[dict[str, str]]:
    """One line per measure: the private test result, and what `rows` say exactly, each with its 95% interval."""
    values, between = exact
    known = _estimates(report)
    return [
        {
            "measure": capital(METRICS[name]),
            "private test result": _known(report, estimate, name),
            rows: _measured(values[name], between[name], name),
        }
        for name in known
        if (estimate := known[name]) is not None and name in between and values[name] == values[name]
    ]


def _estimates(report: TestReport) -> dict[str, Estimate | None]:
    """By measure, in the order in which they are shown."""
    found = report.estimates
    return found | {"accuracy": found.pop("accuracy")} if has_rare_classes(report) else found


def _known(report: TestReport, estimate: Estimate, name: str) -> str:
    between = estimate.low, estimate.high
    return f"unknown ({interval_text(between, name)})" if says_nothing(report, name) else _measured(estimate.value, between, name)


def _measured(value: float, between: tuple[float, float], name: str) -> str:
    return f"{measure_text(value, name)} ({interval_text(between, name)})"
