"""How the tree on screen does on rows that it was not trained on.

Exact figures are for rows anyone may see, never for private ones; the private test result is part of every release.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from dpviz.app.parts import literal, plain
from dpviz.app.protected import unit_in_use
from dpviz.app.state import Loaded
from dpviz.app.widgets import on_demand, once_of, rows_table, show_chart
from dpviz.errors import NoProbabilities
from dpviz.evaluation.comparison import METRICS, metrics_for
from dpviz.evaluation.metrics import (
    RARE,
    CalibrationBin,
    calibration,
    confusion,
    lift,
    metric_intervals,
    metrics,
    recalls,
    wilson,
)
from dpviz.evaluation.paths import references, scored
from dpviz.evaluation.resampling import Resamples
from dpviz.figures.compare import interval_text, measure_text
from dpviz.figures.publish.groups import WIDE, group_chart
from dpviz.figures.publish.test_result import has_rare_classes, result_sentences, says_nothing
from dpviz.figures.tree.labels import visible
from dpviz.figures.tree.paths import headline, measure_of, strip_svg
from dpviz.figures.wording import capital, percent
from dpviz.learners import FitRequest
from dpviz.models.base import Model
from dpviz.models.tree import format_value
from dpviz.results.document import Estimate
from dpviz.results.result import TestReport
from dpviz.results.verdict import Unit
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget, Schema
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


# --- the line above the tree on screen, and every measure


def tested_text(loaded: Loaded) -> str:
    """What stands beside the leading measure, as in "right on 4,000 held-out rows"; empty for rows that are made up."""
    if loaded.is_made_up:
        return ""
    parts = parts_of(loaded.data)
    assert parts is not None
    measure = measure_of(parts[0])
    return f"{'right' if measure == 'test accuracy' else measure} on {parts[1].n_rows:,} held-out rows"


def measured_line(found: HeldOut | HeldOutNumber | None) -> None:
    """How a model that is not one tree does: the leading measure with its interval, what needs no model beside it."""
    if found is None:
        return
    leading, *others = _of_numbers(found) if isinstance(found, HeldOutNumber) else _of_classes(found)
    st.markdown(f"**{leading}** · {' · '.join(others)}", help=_how_tested(found))


def _how_tested(found: HeldOut | HeldOutNumber) -> str:
    return f"Trained on {percent(1 - TEST_SHARE)} of the rows, tested on the other {found.n_rows:,}; 95% intervals."


def said_of(found: HeldOut | HeldOutNumber, loaded: Loaded, request: FitRequest, drawn: Resamples | None) -> dict[str, str]:
    """The line above a tree, as its view takes it: the mean of its reruns `drawn`, once they are there."""
    measure = measure_of(rows_of_the_tree(loaded))
    if isinstance(found, HeldOutNumber):
        score, constant, besides = found.measures["r2"], 0.0, f"{METRICS['rmse']} {measure_text(found.measures['rmse'], 'rmse')}"
    else:
        is_rare = measure == "balanced accuracy"
        score = found.measures["balanced_accuracy" if is_rare else "accuracy"]
        constant = 1 / len(found.confused) if is_rare else found.measures["majority"]
        auc = found.measures["auc"]
        besides = f"finds {found_of_100(found)} of 100 {visible(rarest(found, loaded.schema))}"
        besides = besides if math.isnan(auc) else f"AUC {measure_text(auc, 'auc')} · {besides}"
    scores, lines = ((), {}) if drawn is None else once_of(drawn, "_scores", lambda them: _compared(them, request, loaded))
    strip = strip_svg(score, scores, {"constant": constant, **lines}, measure)
    return {"besides": besides, "strip": strip, **headline(score, scores, measure, tested_text(loaded))}


def _compared(drawn: Resamples, request: FitRequest, loaded: Loaded) -> tuple[tuple[float, ...], dict[str, float]]:
    """The measure of every rerun, and of an ordinary tree of this depth and a constant."""
    parts = parts_of(loaded.data)
    if parts is None:
        return (), {}
    lines = references(*parts, max_depth=request.depth_beside(parts[0].schema))
    return tuple(scored(model, *parts) for model in drawn.models), lines


def _rarest(found: HeldOut) -> int:
    return int(found.confused.sum(axis=1).argmin())


def rarest(found: HeldOut, schema: Schema) -> str:
    """The name of the class that fewest held-out rows have."""
    return schema.classes[_rarest(found)]


def found_of_100(found: HeldOut) -> str:
    """How many of 100 rows of the rarest class are predicted as that."""
    share = recalls(found.confused)[_rarest(found)]
    return "–" if math.isnan(share) else f"{100 * share:.0f}"


def _of_numbers(found: HeldOutNumber) -> list[str]:
    said = [_with_interval(found, name) for name in ("r2", "rmse", "mae")]
    mean = f"always the mean, {format_value(found.mean)}: {METRICS['rmse']} {format_value(found.measures['mean_rmse'])}"
    return [f"Test {said[0]}", *said[1:], mean]


def _of_classes(found: HeldOut) -> list[str]:
    """Accuracy first, but not where the most frequent class alone makes it look good."""
    known = found.measures
    names = ["balanced_accuracy" if known["majority"] >= RARE else "accuracy", "auc"]
    said = [_with_interval(found, name) for name in names if not math.isnan(known[name])]
    return [f"Test {said[0]}", *said[1:], f"always the most frequent class: {known['majority']:.1%}"]


def _with_interval(found: HeldOut | HeldOutNumber, name: str) -> str:
    value, between = found.measures[name], found.intervals.get(name, (math.nan, math.nan))
    known = "" if math.isnan(between[0]) else f" ({interval_text(between, name)})"
    return f"{METRICS[name]} {'–' if math.isnan(value) else measure_text(value, name)}{known}"


def measured_screen(found: HeldOut | HeldOutNumber | None, schema: Schema, report: TestReport | None = None) -> None:
    """Every measure on held-out rows, none for private rows; and the private test result `report`."""
    if isinstance(found, HeldOut):
        with on_demand("Every measure on the held-out rows", icon=":material/table_rows:") as box:
            if box.open:
                _every(found, schema)
    if report is not None:
        exact = None if found is None else (found.measures, found.intervals)
        private_test(
            report, unit_in_use(), exact, "held-out rows", "A release carries the private one; these rows may show both."
        )


def _every(found: HeldOut, schema: Schema) -> None:
    words = "Measures on held-out rows."
    order = metrics_for(schema, found.measures["majority"])
    rows_table([_line(found, name) for name in order if name in found.measures], words)
    st.caption("Rows of each class, and what they are predicted as.")
    rows_table(confusion_rows(found, schema), "Confusion matrix with the error of each class.")
    if found.ranked is not None:
        _probabilities(found.ranked, schema)


def _line(found: HeldOut, name: str) -> dict[str, str]:
    value, between = found.measures[name], found.intervals.get(name)
    return {
        "measure": capital(METRICS[name]),
        "value": "needs probabilities" if math.isnan(value) else measure_text(value, name),
        "95%": "–" if between is None or math.isnan(between[0]) else interval_text(between, name),
    }


def confusion_rows(found: HeldOut, schema: Schema) -> list[dict[str, Any]]:
    """One line per class: how its rows are predicted, and its error with a 95% interval."""
    lines = zip(schema.classes, found.confused.tolist(), recalls(found.confused).tolist(), strict=True)
    heads = [f"predicted {name}" for name in schema.classes]
    cells = ((name, dict(zip(heads, row, strict=True)), _error(right, sum(row))) for name, row, right in lines)
    return [{"class": name, **predicted, "error": error} for name, predicted, error in cells]


def _error(right: float, n_rows: int) -> str:
    if not n_rows:
        return "no rows"
    low, high = wilson(1 - right, n_rows)
    return f"{percent(1 - right)} ({percent(low)} to {percent(high)})"


def _probabilities(ranked: Ranked, schema: Schema) -> None:
    name = literal(schema.classes[ranked.label])
    above = f" Among the tenth of the rows with the largest ones, it is {ranked.lift:.1f} times as frequent."
    top = "" if math.isnan(ranked.lift) else above
    st.caption(f"Probabilities of {name}: what was predicted, and how often it was {name}.{top}")
    words = "Calibration: the probabilities predicted, and how often the class was observed."
    rows_table([_calibrated(item) for item in ranked.calibration], words)


def _calibrated(item: CalibrationBin) -> dict[str, Any]:
    between = f"{percent(item.low)} to {percent(item.high)}"
    return {"predicted": percent(item.predicted), "observed": percent(item.observed), "95%": between, "rows": item.n_rows}
