"""How the tree does on held-out rows: two figures on top, every measure below."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dpviz.app.held_out import HeldOut, HeldOutNumber, Ranked, private_test
from dpviz.app.parts import literal
from dpviz.evaluation.compare.comparison import METRICS, metrics_for
from dpviz.evaluation.intervals import wilson
from dpviz.evaluation.measures import RARE, CalibrationBin, recalls
from dpviz.figures.compare.measure_text import interval_text, measure_text
from dpviz.figures.wording import capital, percent
from dpviz.models.tree import format_value
from dpviz.table.schema import Schema
from dpviz.training.honest.number_report import NumberReport
from dpviz.training.honest.report import TestReport


def measured_screen(
    found: HeldOut | HeldOutNumber | None, schema: Schema, report: TestReport | NumberReport | None = None
) -> None:
    """Measures on held-out rows beside what needs no model, none for private rows; and the private test result `report`."""
    if isinstance(found, HeldOutNumber):
        _errors(found)
    elif found is not None:
        _leading(found)
        _every(found, schema)
    if report is not None:
        exact = None if found is None else (found.measures, found.intervals)
        private_test(report, exact, "held-out rows", "A release carries the private one; these rows may show both.")


def _errors(found: HeldOutNumber) -> None:
    change = round(100 * (found.rmse / found.mean_rmse - 1), 1) + 0.0 if found.mean_rmse else 0.0
    against = f"{change:+.1f} % against the mean"
    with st.container(horizontal=True):
        st.metric("R² (held-out rows)", "–" if math.isnan(found.r2) else measure_text(found.r2, "r2"), width="content")
        st.metric("Typical error (RMSE)", format_value(found.rmse), against, delta_color="inverse", width="content")
        st.metric("Mean absolute error", format_value(found.mae), width="content")
    st.caption(
        f"Trained on 80 % of the rows, tested on the other {found.n_rows:,}. R² is 1 at best and 0 for "
        f"always predicting the mean ({format_value(found.mean)}). 95 % intervals: {_intervals_of(found)}."
    )


def _intervals_of(found: HeldOutNumber) -> str:
    known = ((name, between) for name, between in found.intervals.items() if not math.isnan(between[0]))
    return ", ".join(f"{METRICS[name]} {interval_text(between, name)}" for name, between in known)


def _leading(found: HeldOut) -> None:
    """Accuracy, but not where the most frequent class alone makes it look good."""
    known, n_classes = found.measures, len(found.confused)
    is_rare = known["majority"] >= RARE
    with st.container(horizontal=True):
        if is_rare:
            gain = 100 * (known["balanced_accuracy"] - 1 / n_classes)
            value = f"{known['balanced_accuracy']:.1%}"
            st.metric("Balanced accuracy (held-out rows)", value, f"{gain:+.1f} points against guessing", width="content")
        else:
            gain = 100 * (known["accuracy"] - known["majority"])
            st.metric("Test accuracy (held-out rows)", f"{known['accuracy']:.1%}", f"{gain:+.1f} points", width="content")
        if not math.isnan(known["auc"]):
            st.metric("AUC", measure_text(known["auc"], "auc"), width="content")
        st.metric("Always the most frequent class", f"{known['majority']:.1%}", width="content")
    leading = "balanced_accuracy" if is_rare else "accuracy"
    low, high = map(percent, found.intervals[leading])
    st.caption(
        f"This tree was trained on 80 % of the rows and tested on the other {found.n_rows:,}; they put {METRICS[leading]} "
        f"between {low} and {high} (95 %). Most frequent: {literal(found.majority_class)}."
    )


def _every(found: HeldOut, schema: Schema) -> None:
    with st.expander("Every measure on the held-out rows", icon=":material/table_rows:"):
        words = "Measures on held-out rows."
        order = metrics_for(schema, found.measures["majority"])
        st.dataframe([_line(found, name) for name in order if name in found.measures], hide_index=True, alt=words)
        st.caption("Rows of each class, and as what they are predicted.")
        st.dataframe(confusion_rows(found, schema), hide_index=True, alt="Confusion matrix with the error of each class.")
        if found.ranked is not None:
            _probabilities(found.ranked, schema)


def _line(found: HeldOut, name: str) -> dict[str, str]:
    value, between = found.measures[name], found.intervals.get(name)
    return {
        "measure": capital(METRICS[name]),
        "value": "needs probabilities" if math.isnan(value) else measure_text(value, name),
        "95 %": "–" if between is None or math.isnan(between[0]) else interval_text(between, name),
    }


def confusion_rows(found: HeldOut, schema: Schema) -> list[dict[str, Any]]:
    """One line per class: how its rows are predicted, and its error with a 95 % interval."""
    lines = zip(schema.classes, found.confused.tolist(), recalls(found.confused).tolist(), strict=True)
    return [{"class": name, **_cells(schema, row), "error": _error(right, sum(row))} for name, row, right in lines]


def _cells(schema: Schema, row: list[int]) -> dict[str, int]:
    return {f"predicted {name}": count for name, count in zip(schema.classes, row, strict=True)}


def _error(right: float, n_rows: int) -> str:
    if not n_rows:
        return "no rows"
    low, high = wilson(1 - right, n_rows)
    return f"{percent(1 - right)} ({percent(low)} to {percent(high)})"


def _probabilities(ranked: Ranked, schema: Schema) -> None:
    name = literal(schema.classes[ranked.label])
    above = f" Among the tenth of the rows with the largest, it is met {ranked.lift:.1f} times as often."
    top = "" if math.isnan(ranked.lift) else above
    st.caption(f"Probabilities of {name}: what was said, and how often it was so.{top}")
    words = "Calibration: probabilities said, and how often the class was met."
    st.dataframe([_calibrated(item) for item in ranked.calibration], hide_index=True, alt=words)


def _calibrated(item: CalibrationBin) -> dict[str, Any]:
    between = f"{percent(item.low)} to {percent(item.high)}"
    return {"said": percent(item.predicted), "was so": percent(item.observed), "95 %": between, "rows": item.n_rows}
