"""How the tree on screen does on rows that it was not trained on.

Exact figures are for rows anyone may see, never for private ones; the private test result is part of every release.
"""

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from dpviz.app.parts import escape_markdown
from dpviz.app.state import DataInUse, unit_in_use
from dpviz.app.widgets import on_demand, once_per, rows_table
from dpviz.charts.compare import interval_text, measure_text
from dpviz.charts.publish.test_result import WIDE, group_rows, result_sentences
from dpviz.charts.tree.paths import headline, measure_of, strip_svg
from dpviz.charts.tree.text import visible
from dpviz.charts.wording import capital, percent
from dpviz.evaluation.comparison import METRICS, metrics_for
from dpviz.evaluation.metrics import confusion, metric_intervals, metrics, recalls, wilson
from dpviz.evaluation.paths import leading_measure, references
from dpviz.evaluation.resampling import Resamples
from dpviz.learners import FitRequest
from dpviz.models.base import Model
from dpviz.models.tree import format_value
from dpviz.results.result import TestReport
from dpviz.results.verdict import Unit
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget, Schema

TEST_SHARE = 0.2
Parts = tuple[EncodedDataset, EncodedDataset]
#: By the data they were split from, as long as somebody uses it.
_PARTS: WeakKeyDictionary[EncodedDataset, Parts] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How a model does on rows held out, next to a constant: the most frequent class of the others, or their mean.

    `measures` are those of a sweep, NaN where the model holds no probabilities; `intervals` are 95% intervals, where there is
    one. `confusion`, of shape (n_classes, n_classes), counts rows by class and predicted class; None for numbers.
    """

    measures: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    n_rows: int
    confusion: np.ndarray | None = None
    mean: float = math.nan  #: Of a number, over the rows trained on


def parts_of(data: EncodedDataset) -> Parts | None:
    """(four fifths, one fifth) of the rows, always the same ones; None when there are too few to hold any out.

    Made once for all sessions that use the same data. Fits on the first part share their counts.
    """
    parts = _PARTS.get(data)
    if parts is None and data.n_rows >= 10:
        train, test = data.split(TEST_SHARE, seed=0)
        parts = _PARTS[data] = train.with_cached_counts(), test
    return parts


def rows_of_the_tree(in_use: DataInUse) -> EncodedDataset:
    """The rows that trees on screen are trained on: all private rows, else those that are not held out."""
    parts = None if in_use.role is DataRole.PRIVATE else parts_of(in_use.data)
    return parts[0] if parts else in_use.data


def measure_held_out(model: Model, parts: Parts) -> HeldOut:
    """How a model that was trained on the first of `parts` does on the second."""
    train, test = parts
    measures, intervals = metrics(model, train, test), metric_intervals(model, test)
    if isinstance(train.schema.target, NumericTarget):
        return HeldOut(measures, intervals, test.n_rows, mean=float(train.target.mean()))
    return HeldOut(measures, intervals, test.n_rows, confusion(test.target, model.predict(test), test.n_classes))


def private_test(report: TestReport, unit: Unit) -> None:
    """What the test says, in words; who pays for the noise, where it counts groups apart."""
    st.markdown("**Private test result**")
    st.markdown("\n".join(f"- {escape_markdown(line)}" for line in result_sentences(report, unit)))
    if rows := group_rows(report):
        rows_table(rows, "Error and found share per group, each with its 95% interval.")
        st.caption(WIDE)


# --- the line above the tree on screen, and every measure


def tested_text(in_use: DataInUse) -> str:
    """What stands beside the leading measure, as in "right on 4,000 held-out rows"; empty for rows that are made up."""
    if in_use.is_made_up:
        return ""
    parts = parts_of(in_use.data)
    assert parts is not None
    measure = measure_of(parts[0])
    return f"{'right' if measure == 'test accuracy' else measure} on {parts[1].n_rows:,} held-out rows"


def measured_line(held_out: HeldOut | None, in_use: DataInUse, request: FitRequest) -> None:
    """How a model that is not one tree does: the leading measure, others, and what needs no model."""
    if held_out is None:
        return
    texts = headline_texts(held_out, in_use, request, None)
    measures = held_out.measures
    if held_out.confusion is None:
        constant = f"always the mean, {format_value(held_out.mean)}: {METRICS['rmse']} {format_value(measures['mean_rmse'])}"
    else:
        constant = f"always the most frequent class: {measures['majority']:.1%}"
    line = " · ".join((texts["tested"], texts["besides"], constant))
    st.markdown(f"**{escape_markdown(texts['lead'])}** {escape_markdown(line)}")


def headline_texts(held_out: HeldOut, in_use: DataInUse, request: FitRequest, reruns: Resamples | None) -> dict[str, str]:
    """The line above a tree, as its view takes it: the mean of its `reruns`, once they are there."""
    measure, measures = measure_of(rows_of_the_tree(in_use)), held_out.measures
    if held_out.confusion is None:
        score, constant, besides = measures["r2"], 0.0, f"{METRICS['rmse']} {measure_text(measures['rmse'], 'rmse')}"
    else:
        is_rare = measure == "balanced accuracy"
        score = measures["balanced_accuracy" if is_rare else "accuracy"]
        constant = 1 / len(held_out.confusion) if is_rare else measures["majority"]
        rarest = int(held_out.confusion.sum(axis=1).argmin())
        auc, share = measures["auc"], recalls(held_out.confusion)[rarest]
        of_100 = "–" if math.isnan(share) else f"{100 * share:.0f}"
        besides = f"finds {of_100} of 100 {visible(in_use.schema.classes[rarest])}"
        besides = besides if math.isnan(auc) else f"AUC {measure_text(auc, 'auc')} · {besides}"
    scores, lines = ((), {}) if reruns is None else once_per(reruns, "_scores", lambda them: _rerun_scores(them, request, in_use))
    strip = strip_svg(score, scores, {"constant": constant, **lines}, measure)
    return {"besides": besides, "strip": strip, **headline(score, scores, measure, tested_text(in_use))}


def _rerun_scores(reruns: Resamples, request: FitRequest, in_use: DataInUse) -> tuple[tuple[float, ...], dict[str, float]]:
    """The measure of every rerun, and of an ordinary tree of this depth and a constant."""
    parts = parts_of(in_use.data)
    if parts is None:
        return (), {}
    lines = references(*parts, max_depth=request.comparison_depth(parts[0].schema))
    return tuple(leading_measure(model, *parts) for model in reruns.models), lines


def measured_screen(held_out: HeldOut | None, schema: Schema, report: TestReport | None) -> None:
    """Every measure on held-out rows, none for private rows; and the private test result `report`."""
    if held_out is not None and held_out.confusion is not None:
        with on_demand("Every measure on the held-out rows", icon=":material/table_rows:") as box:
            if box.open:
                _measure_tables(held_out, held_out.confusion, schema)
    if report is not None:
        private_test(report, unit_in_use())


def _measure_tables(held_out: HeldOut, confusion: np.ndarray, schema: Schema) -> None:
    lines: list[dict[str, Any]] = []
    for name in metrics_for(schema, held_out.measures["majority"]):
        value, interval = held_out.measures.get(name), held_out.intervals.get(name)
        if value is not None:
            ends = "–" if interval is None or math.isnan(interval[0]) else interval_text(interval, name)
            text = "needs probabilities" if math.isnan(value) else measure_text(value, name)
            lines.append({"measure": capital(METRICS[name]), "value": text, "95%": ends})
    rows_table(lines, "Measures on held-out rows.")
    st.caption("Rows of each class, and what they are predicted as.")
    lines = []
    for name, row, right in zip(schema.classes, confusion.tolist(), recalls(confusion).tolist(), strict=True):
        low, high = wilson(1 - right, sum(row)) if sum(row) else (0.0, 0.0)
        error = f"{percent(1 - right)} ({percent(low)} to {percent(high)})" if sum(row) else "no rows"
        predicted = {f"predicted {other}": count for other, count in zip(schema.classes, row, strict=True)}
        lines.append({"class": name, **predicted, "error": error})
    rows_table(lines, "Confusion matrix with the error of each class.")
