"""The Compare page's parts: what is running or missing, the curves, one place of them in detail, the frame to take away."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.app import background
from dpviz.app.compare import run
from dpviz.app.compare.ask import DEPTH, EPSILON, CompareRequest
from dpviz.app.parts import error, plain
from dpviz.app.protected import unit_in_use
from dpviz.app.state import Loaded
from dpviz.app.widgets import download, learner_title, show_chart
from dpviz.evaluation.compare import comparison
from dpviz.evaluation.compare.sweep import as_frame
from dpviz.figures.compare import (
    ENOUGH,
    LEAST_R2,
    WHAT_A_BOX_IS,
    WHAT_A_PROBABILITY_IS,
    Axis,
    LineStyle,
    bandable,
    box_chart,
    compare_chart,
    difference_chart,
    headline,
    headline_at_risk,
    is_cut,
    line_styles,
    lines_text,
    probability_text,
    unbounded,
)
from dpviz.io.csv_text import frame_csv
from dpviz.results.verdict import right_guesses
from dpviz.results.wording import number_text
from dpviz.table.role import DataRole

if TYPE_CHECKING:
    import pandas as pd

#: So long, in seconds, the page waits for the first points rather than show none and come back later.
_PATIENCE = 0.8
_STYLES = "_compare_styles"


def compare_screen(request: CompareRequest, loaded: Loaded) -> None:
    """The curves asked for, as far as they are there."""
    task, status = run.in_view(request, loaded)
    if status.job is not None:
        background.await_first(task, _PATIENCE)
        background.watch(task, "Computing", unit="fits", render=lambda now: _so_far(request, now, loaded))
        return
    _ask_to_compute(task, status, request, loaded)
    if status.shown:
        shown = replace(status.asked, metric=request.metric, axis=request.axis)
        frame = as_frame(status.shown)
        _results(shown, shown.placed(frame), loaded)
        st.divider()
        _download(shown, frame, loaded)


def _so_far(request: CompareRequest, status: background.Status, loaded: Loaded) -> None:
    _curves(request, request.placed(as_frame(status.values)), loaded, chosen=None, axis=request.axis, so_far=True)


def _ask_to_compute(task: background.Task, status: background.Status, request: CompareRequest, loaded: Loaded) -> None:
    """Nothing when all is there; else what is missing, and the button that computes it."""
    for problem in status.problems:
        error(problem, kept="Curves computed before are below." if status.shown else "")
    if not status.n_missing:
        return
    label, words = "Compute {fits}", ":material/show_chart: No curves of these rows yet."
    if run.is_first_look(request, loaded, status):
        label = "Refine: {fits}"
        n_shown, n_all = len(status.shown), len(task.keys)
        words = f":material/speed: A first look: {n_shown:,} of {n_all:,} fits. Too few for the spread of a single tree."
    elif status.is_current:
        label = "Go on with {fits}"
        words = f":material/pause: Stopped: {status.n_missing:,} fits are missing. The curves below show what is done."
    elif status.shown:
        words = ":material/history: The curves below are for the settings before."
    seconds = run.seconds_for(task, loaded)
    label = label.format(fits=f"{status.n_missing:,} fits") + (f" (about {background.duration_text(seconds)})" if seconds else "")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(label, icon=":material/play_arrow:", on_click=run.begin_noted, args=(task, loaded))
        st.caption(words, width="content")


def _results(request: CompareRequest, frame: pd.DataFrame, loaded: Loaded) -> None:
    axis = request.axis
    drawn = st.container()
    places = [place for place in request.places if (frame[request.along] == place).any()]
    x = _ask_most() if axis == "guesses" else _ask_place(request, places)
    with drawn:
        found = _curves(request, frame, loaded, chosen=x, axis=axis)
    _doubts(found, request, loaded)
    if axis == "guesses":
        rows = comparison.rows_at_risk(frame, comparison.at_equal_risk(found, x))
    else:
        rows = comparison.rows_at(frame, request.along, x)
    _boxes(request, rows, found, loaded)
    st.divider()
    _differences(request, rows, found, loaded)


#: Right guesses of 100 at which algorithms may be compared.
MOST = (50.1, 50.2, 50.5, 51, 52, 53, 55, 60, 65, 70, 75, 80, 90, 95, 99)


def _ask_most() -> float:
    options = {"value": 60, "format_func": number_text, "key": "place-guesses"}
    return float(st.select_slider("In detail where at most so many of 100 guesses may be right", MOST, **options))


def _styles(found: Sequence[comparison.Curve]) -> dict[str, LineStyle]:
    """As they were in this session: another algorithm changes nobody's colour."""
    before = st.session_state.setdefault(_STYLES, {})
    styles = line_styles({curve.learner: curve.verdict for curve in found}, before)
    before.update(styles)
    return styles


def _guesses(request: CompareRequest, loaded: Loaded) -> Callable[[str, float], float]:
    """By (learner, epsilon): the most right guesses of 100 about whom the rows protect, from the plan."""
    unit, grid, schema = unit_in_use(), request.grid, loaded.schema.scaled(request.grid.train_share)

    def of(learner: str, epsilon: float) -> float:
        said = grid.request(learner, epsilon, grid.max_depths[0]).verdict(schema, unit)
        return said.right_guesses if said.proven.is_finite else math.inf

    return of


def _claimed_guesses(epsilon: float) -> float:
    return right_guesses(PrivacyLoss(epsilon), unit_in_use())


def _curves(
    request: CompareRequest, frame: pd.DataFrame, loaded: Loaded, *, chosen: float | None, axis: Axis, so_far: bool = False
) -> tuple[comparison.Curve, ...]:
    along, metric = request.along, request.metric
    found = comparison.curves(frame, along, metric)
    if axis == "guesses":
        found = comparison.with_guesses(found, _guesses(request, loaded), _claimed_guesses)
    if not found:
        words = f"None of these algorithms gives probabilities, so there is no {comparison.METRICS[metric]}."
        st.info(words, icon=":material/info:")
        return found
    banded = None if so_far else _ask_band(found)
    level = comparison.majority_level(frame, metric)
    x = chosen if chosen is not None else request.places[len(request.places) // 2]
    if axis == "guesses":
        words = headline_at_risk(found, most=x, metric=metric, level=level, about=unit_in_use().words)
    else:
        words = headline(found, along=along, x=x, metric=metric, level=level)
    if so_far and not any(curve.is_sound and curve.at(x) for curve in found):
        words = "Points appear as they are computed."
    if loaded.is_made_up:
        words = f"On made-up rows: {words}"
    st.markdown(plain(words))
    shown: dict[str, Any] = {"level": level, "axis": axis, "chosen": chosen, "banded": banded, "styles": _styles(found)}
    drawn = compare_chart(found, summary=words, along=along, metric=metric, **shown)
    show_chart(drawn, "curves", png=_picture(request, loaded, "curves"))
    if is_cut(found, metric):
        st.caption(f"R² below −{-LEAST_R2} is cut off: far worse than predicting the mean. The table has the numbers.")
    st.caption(lines_text(found, banded, axis))
    return found


def _ask_band(found: Sequence[comparison.Curve]) -> str | None:
    """The one learner whose spread is drawn: several bands would hide each other."""
    names = bandable(found)
    if not names:
        return None
    sound = [curve.learner for curve in found if curve.is_sound and curve.learner in names]
    options = {"format_func": lambda name: learner_title(name) if name else "none", "key": "banded", "width": 260}
    start = 1 + names.index((sound or names)[0])
    return st.selectbox("Show the spread of", ("", *names), start, **options) or None


def _ask_place(request: CompareRequest, places: Sequence[float]) -> float:
    if len(places) == 1:
        return places[0]
    words = {EPSILON: f"In detail at ε ({NEIGHBOURS})", DEPTH: "In detail at this many levels"}
    label = words.get(request.along, "In detail at this many training rows")
    near = 1.0 if request.along == EPSILON else 4 if request.along == DEPTH else places[-1]
    start = min(places, key=lambda place: abs(place - near))
    name = number_text if request.along == EPSILON else "{:,.0f}".format
    return st.select_slider(label, places, value=start, format_func=name, key=f"place-{request.along}")


def _doubts(found: Sequence[comparison.Curve], request: CompareRequest, loaded: Loaded) -> None:
    doubtful = [curve for curve in found if curve.verdict in ("unproven", "violated")]
    if doubtful:
        with st.expander(f":material/gpp_bad: Claims that do not hold ({len(doubtful)})"):
            reasons = {curve: plain(_because(curve.learner, request, loaded)) for curve in doubtful}
            st.markdown("\n".join(f"- **{plain(learner_title(c.learner))}** ({c.verdict}): {why}" for c, why in reasons.items()))


def _because(name: str, request: CompareRequest, loaded: Loaded) -> str:
    grid = request.grid
    return grid.request(name, grid.epsilons[0], grid.max_depths[0]).claim(loaded.schema).because


def _boxes(request: CompareRequest, rows: pd.DataFrame, found: Sequence[comparison.Curve], loaded: Loaded) -> None:
    """What single draws may give; nothing until there are enough of every algorithm."""
    metric, known = request.metric, rows.dropna(subset=[request.metric])
    n_fits = known[np.isfinite(known.epsilon)].groupby("learner").size().min()
    if n_fits < ENOUGH:
        return
    styles = _styles(found)
    outcomes = {name: np.asarray(known.loc[known.learner == name, metric], dtype=float) for name in styles}
    drawn = {name: values for name, values in outcomes.items() if len(values)}
    if not drawn:
        return
    st.divider()
    st.header("What a single draw may give", anchor=False)
    st.markdown(WHAT_A_BOX_IS)
    show_chart(box_chart(drawn, styles, metric), "boxes", png=_picture(request, loaded, "draws"))


def _picture(request: CompareRequest, loaded: Loaded, name: str) -> str:
    """The name of a chart's file; none for a chart of private rows, which is not to be saved."""
    return "" if loaded.role is DataRole.PRIVATE else f"compare-{request.along}-{name}"


def _differences(request: CompareRequest, rows: pd.DataFrame, found: Sequence[comparison.Curve], loaded: Loaded) -> None:
    st.header("Who beats whom on the same splits", anchor=False)
    styles = _styles(found)
    names = [name for name in styles if (rows.learner == name).any()]
    if request.axis == "guesses" and (without := unbounded(found, "guesses")):
        st.caption(
            f"Nothing bounds them, so they are not compared at equal risk: {plain(', '.join(map(learner_title, without)))}."
        )
    if len(names) < 2:
        st.caption("Choose at least two algorithms to compare them.")
        return
    ours = st.selectbox("Algorithm", names, format_func=learner_title, key="ours")
    pairs = [comparison.difference(rows, ours, other, request.metric) for other in names if other != ours]
    known = [item for item in pairs if item is not None]
    lines = (f"- beats {plain(learner_title(item.other))} with probability **{probability_text(item)}**" for item in known)
    st.markdown("\n".join([f"{plain(learner_title(ours))}", "", *lines]))
    drawn = difference_chart(known, styles, request.metric)
    show_chart(drawn, "differences", png=_picture(request, loaded, "differences"))
    st.caption(WHAT_A_PROBABILITY_IS)


def _download(request: CompareRequest, frame: pd.DataFrame, loaded: Loaded) -> None:
    if loaded.role is DataRole.PRIVATE:
        st.caption("No file: computed on private rows, not covered by ε, not to be published.")
        return
    name = f"compare-{request.along}.csv"
    download("Download every fit (CSV)", lambda: frame_csv(frame), name)
