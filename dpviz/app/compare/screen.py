"""The Compare page's parts: what is running or missing, the curves, one place of them in detail, the frame to take away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.compare import run
from dpviz.app.compare.ask import DEPTH, EPSILON, Question
from dpviz.app.compare.draws_view import draws_view
from dpviz.app.compare.run import Running, Shown
from dpviz.app.parts import error, plain
from dpviz.app.state import Loaded
from dpviz.app.widgets import chart, download, learner_title, table
from dpviz.evaluation.compare.comparison import (
    METRICS,
    Curve,
    curves,
    difference,
    majority_level,
    quantile_dots,
    rows_at,
    shared_draws,
)
from dpviz.figures.compare.bands import compare_figure, curve_rows, headline, is_cut, off_axis
from dpviz.figures.compare.differences import MEANING, difference_figure, difference_rows, probability_text
from dpviz.figures.compare.dots import WHAT_A_DOT_IS, DotRow, dot_rows
from dpviz.figures.compare.measure_text import LEAST_R2, gap_unit
from dpviz.figures.compare.style import line_styles
from dpviz.figures.guarantee_text import number_text
from dpviz.io.csv_text import frame_csv
from dpviz.learners import get_learner
from dpviz.table.role import DataRole
from dpviz.training.params import make_params

if TYPE_CHECKING:
    import pandas as pd

_EVERY = 1.0
#: So long, in seconds, the page waits for the first points rather than show none and come back later.
_PATIENCE = 0.8
_NOT_COVERED = (
    "**Curves computed on private rows are not covered by the tree's ε.** Every fit spends ε again, and accuracy is counted on "
    "the rows themselves. They are for whoever may see the rows: do not publish them. To publish curves, use simulated "
    "or public rows of the same kind."
)


def compare_screen(question: Question, loaded: Loaded) -> None:
    """The curves asked for, as far as they are there."""
    running = run.collect(question, loaded)
    if running is None and run.starts_by_itself(loaded):
        running = run.start(question, loaded)
    if running is not None:
        _while_running(running)
        return
    shown = run.shown_now(question, loaded)
    _ask_to_compute(question, loaded, shown)
    if shown.question is not None and shown.frame is not None and len(shown.frame):
        _results(shown.question, shown.question.placed(shown.frame), loaded)
        st.divider()
        _download(shown.question, shown.frame, loaded)


def private_warning(loaded: Loaded) -> None:
    """In the private role: what these curves are not covered by."""
    if loaded.role is DataRole.PRIVATE:
        st.warning(_NOT_COVERED, icon=":material/lock:")


def _while_running(running: Running) -> None:
    """Curves as they come; looks at the work now and then, and draws the page anew once it is done."""
    running.await_points(_PATIENCE)

    @st.fragment(run_every=_EVERY)
    def poll() -> None:
        running.look()
        if running.job.is_done:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(running.job.share, text=f":material/hourglass_top: {progress_words(running)}")
            if st.button("Cancel", help="What is done is kept."):
                running.job.stop()
                st.rerun()
        if running.rows:
            _curves(running.question, running.question.placed(running.frame), chosen=None, composed=False, so_far=True)

    poll()


def progress_words(running: Running) -> str:
    """How much is done and how long the rest may take."""
    if not running.job.has_begun:
        return "Waiting for other curves on this server …"
    seconds = running.job.seconds_left
    rest = "" if seconds is None else f", about {duration_text(seconds)} left"
    return f"{running.n_done:,} of {running.n_missing:,} fits{rest} …"


def duration_text(seconds: float) -> str:
    """In whole seconds, or minutes above a minute and a half."""
    return f"{max(1, math.ceil(seconds)):,} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _ask_to_compute(question: Question, loaded: Loaded, shown: Shown) -> None:
    """Nothing when all is there; else what is missing, and the button that computes it."""
    problem = run.store().problem
    if problem is not None:
        error(problem, kept="Curves computed before are below." if shown.question else "")
    if not shown.n_missing:
        return
    if shown.is_current:
        st.warning(f"Stopped: {shown.n_missing:,} fits are missing. The curves below show what is done.", icon=":material/pause:")
    elif shown.question is not None:
        st.info("The curves below are for the settings before.", icon=":material/history:")
    else:
        st.info("No curves of these rows yet.", icon=":material/show_chart:")
    agreed = loaded.role is not DataRole.PRIVATE or st.checkbox("I will keep these curves to myself", key="keep-private")
    label = f"Compute {shown.n_missing:,} fits" if not shown.is_current else f"Go on with {shown.n_missing:,} fits"
    look = {"icon": ":material/play_arrow:", "disabled": not agreed}
    st.button(label, on_click=run.start, args=(question, loaded), **look)


def _results(question: Question, frame: pd.DataFrame, loaded: Loaded) -> None:
    composed = question.along == EPSILON and _ask_composed()
    drawn = st.container()
    places = [place for place in question.places if (frame[question.along] == place).any()]
    x = _ask_place(question, places)
    with drawn:
        found = _curves(question, frame, chosen=x, composed=composed)
        if composed:
            _say_off_axis(found, question, loaded)
    table(curve_rows(found, along=question.along, metric=question.metric), "Every point of the curves.")
    _doubts(found, question, loaded)
    rows = rows_at(frame, question.along, x)
    st.divider()
    _dots(question, rows, found)
    st.divider()
    _differences(question, rows, found)


def _ask_composed() -> bool:
    words = "Learners whose steps add up to more than they claim move right; those without any bound leave the axis."
    return bool(st.toggle("Place learners by the ε their steps compose to", help=words, key="composed", bind="query-params"))


def _curves(
    question: Question, frame: pd.DataFrame, *, chosen: float | None, composed: bool, so_far: bool = False
) -> tuple[Curve, ...]:
    along, metric = question.along, question.metric
    found = curves(frame, along, metric)
    if not found:
        st.info("None of these learners gives scores, so there is no AUC.", icon=":material/info:")
        return found
    level = majority_level(frame, metric)
    x = chosen if chosen is not None else _middle(question)
    words = headline(found, along=along, x=x, metric=metric, level=level)
    if so_far and not any(curve.is_sound and curve.at(x) for curve in found):
        words = "Points appear as they are computed."
    st.markdown(plain(words))
    figure = compare_figure(found, along=along, metric=metric, level=level, composed=composed, chosen=chosen)
    chart(figure, f"{METRICS[metric]} of {len(found)} learners. {words}", key="curves")
    if is_cut(found, metric):
        st.caption(f"R² below −{-LEAST_R2} is cut off: far worse than predicting the mean. The table has the numbers.")
    st.caption(
        "Lines: median; bands: nine of ten outcomes (5–95 %) over draws and splits. Dashed with open markers: the claim does not "
        "hold as published."
    )
    return found


def _middle(question: Question) -> float:
    return question.places[len(question.places) // 2]


def _ask_place(question: Question, places: Sequence[float]) -> float:
    """The place of the axis that is shown in detail below."""
    if len(places) == 1:
        return places[0]
    words = {EPSILON: f"In detail at ε ({NEIGHBOURS})", DEPTH: "In detail at this many levels"}
    label = words.get(question.along, "In detail at this many training rows")
    near = 1.0 if question.along == EPSILON else 4 if question.along == DEPTH else places[-1]
    start = min(places, key=lambda place: abs(place - near))
    name = number_text if question.along == EPSILON else "{:,.0f}".format
    return st.select_slider(label, places, value=start, format_func=name, key=f"place-{question.along}")


def _say_off_axis(found: Sequence[Curve], question: Question, loaded: Loaded) -> None:
    """Learners that have no place on the axis of composed epsilons, each with the reason."""
    gone = off_axis(found)
    if gone:
        st.markdown("**Off the axis: nothing bounds what their steps compose to.**")
        st.markdown("\n".join(f"- {plain(learner_title(name))}: {plain(_because(name, question, loaded))}" for name in gone))


def _doubts(found: Sequence[Curve], question: Question, loaded: Loaded) -> None:
    """Why a learner is drawn dashed."""
    doubtful = [curve for curve in found if curve.verdict in ("unproven", "violated")]
    if doubtful:
        with st.expander(f":material/gpp_bad: Claims that do not hold ({len(doubtful)})"):
            reasons = {curve: plain(_because(curve.learner, question, loaded)) for curve in doubtful}
            st.markdown("\n".join(f"- **{plain(learner_title(c.learner))}** ({c.verdict}): {why}" for c, why in reasons.items()))


def _because(name: str, question: Question, loaded: Loaded) -> str:
    spec, grid = get_learner(name), question.grid
    params = make_params(spec.Params, name, grid.params_of(name))
    plan = spec.plan(loaded.schema, grid.settings(grid.epsilons[0], grid.max_depths[0]), params)
    return spec.claim(plan, params, loaded.schema).because


def _dots(question: Question, rows: pd.DataFrame, found: Sequence[Curve]) -> None:
    st.header("What a single draw may give", anchor=False)
    st.markdown(WHAT_A_DOT_IS)
    metric = question.metric
    verdicts = {curve.learner: curve.verdict for curve in found}
    drawn = shared_draws(rows, list(verdicts), metric)
    styles = line_styles(verdicts)
    outcomes = {name: np.asarray(rows.loc[rows.learner == name, metric]) for name in drawn.learners}
    lines = [DotRow(styles[name], quantile_dots(values)) for name, values in outcomes.items()]
    if lines:
        draws_view(lines, drawn, metric=metric, key="draw-by-draw")
        table(dot_rows(lines, metric=metric), "Five of the 25 dots of each learner.")


def _differences(question: Question, rows: pd.DataFrame, found: Sequence[Curve]) -> None:
    st.header("Who beats whom on the same splits", anchor=False)
    verdicts = {curve.learner: curve.verdict for curve in found}
    names = [name for name in verdicts if (rows.learner == name).any()]
    if len(names) < 2:
        st.caption("Choose at least two learners to compare them.")
        return
    ours = st.selectbox("Learner", names, format_func=learner_title, key="ours")
    pairs = [difference(rows, ours, other, question.metric) for other in names if other != ours]
    known = [item for item in pairs if item is not None]
    lines = (f"- beats {plain(learner_title(item.other))} with probability **{probability_text(item)}**" for item in known)
    st.markdown("\n".join([f"{plain(learner_title(ours))}", "", *lines]))
    unit = gap_unit(question.metric)
    words = f"Differences of {learner_title(ours)} to {len(known)} other learners, in {unit}; the table has the numbers."
    chart(difference_figure(known, line_styles(verdicts), question.metric), words, key="differences")
    st.caption(MEANING)
    table(difference_rows(known, question.metric), "Every difference with its probability.")


def _download(question: Question, frame: pd.DataFrame, loaded: Loaded) -> None:
    if loaded.role is DataRole.PRIVATE:
        st.caption("No file: computed on private rows, not covered by ε, not to be published.")
        return
    name = f"compare-{question.along}.csv"
    download("Download every fit (CSV)", lambda: frame_csv(frame), name)
    holds = "settings, ε claimed and composed, measures. It holds no row of the data."
    st.caption(f"{len(frame):,} fits, one a line: {holds}")
