"""How the model does on held-out rows: one line above its picture, every measure below."""

import math
from typing import Any

import streamlit as st

from dpviz.app.held_out import TEST_SHARE, HeldOut, HeldOutNumber, Ranked, parts_of, private_test, rows_of_the_tree
from dpviz.app.parts import literal
from dpviz.app.protected import unit_in_use
from dpviz.app.state import Loaded
from dpviz.app.tree.paths import tested_text
from dpviz.app.widgets import on_demand, once_of, rows_table
from dpviz.evaluation.compare.comparison import METRICS, metrics_for
from dpviz.evaluation.intervals import wilson
from dpviz.evaluation.measures import RARE, CalibrationBin, recalls
from dpviz.evaluation.tree.paths import references, scored
from dpviz.evaluation.tree.resampling import Resamples
from dpviz.figures.compare import interval_text, measure_text
from dpviz.figures.tree.labels import visible
from dpviz.figures.tree.paths import headline, measure_of, strip_svg
from dpviz.figures.wording import capital, percent
from dpviz.learners import FitRequest
from dpviz.models.tree import format_value
from dpviz.results.result import TestReport
from dpviz.table.schema import Schema


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
