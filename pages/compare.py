"""Page "Compare": how accurate each learner is over epsilon, depth or rows; on its second tab, which epsilon a goal needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.app import background, controls, explorations, frame, parts, plan_tab
from dpviz.app.compare import DEPTH, EPSILON, FIRST_LOOK, ROWS, CompareRequest, first_look_at, fits_of, ideas_of
from dpviz.app.controls import DEPTHS, EPSILONS, auto_in_words, depth_of
from dpviz.app.epsilon_slider import epsilon_in_use, nearest
from dpviz.app.parts import escape_markdown
from dpviz.app.prose import prose
from dpviz.app.state import data_in_use, hidden_seed, rows_read, unit_in_use
from dpviz.app.widgets import download, link_options, one_of, rows_table, show_chart
from dpviz.charts import as_python
from dpviz.charts import compare as charts
from dpviz.charts.wording import capital
from dpviz.errors import DpvizError, UnknownName
from dpviz.evaluation import comparison
from dpviz.evaluation.comparison import METRICS, metrics_for
from dpviz.evaluation.sweep import SweepGrid, as_frame
from dpviz.io.csv_text import frame_csv
from dpviz.learners.recommend import which_learner
from dpviz.learners.variants import parse_variant, variant_of_title, variant_title
from dpviz.results.verdict import right_guesses
from dpviz.results.wording import number_text
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget

if TYPE_CHECKING:
    import pandas as pd


VIEWS = {EPSILON: "over ε", DEPTH: "over depth", ROWS: "over number of rows"}
FIRST_OF_NUMBERS = ("pf-tree", "s-gbdt", "dp-mean", "cart-regression", "gbdt")
#: Right guesses of 100 at which learners may be compared.
MAX_GUESSES = (50.1, 50.2, 50.5, 51, 52, 53, 55, 60, 65, 70, 75, 80, 90, 95, 99)
#: Seconds that the page waits for first points.
SHORT = 0.8

background.launch_workers()
parts.page("Compare", "How accurate is a private tree at this ε, against what you would use instead?")
first, second = st.tabs(("Accuracy", frame.PLAN_TAB), key="tab", bind="query-params")
if second.open:
    with second:
        code = plan_tab.plan_tab(data_in_use())
    frame.next_page_button("compare")
    frame.as_python(lambda: code)
    st.stop()

with first:
    rows = explorations.display_data()
schema, data = rows.schema, rows.data
is_private, of_numbers = rows.role is DataRole.PRIVATE, isinstance(schema.target, NumericTarget)
suffix = "-of-numbers" * of_numbers  # what was chosen for one kind of target stays there
unit = unit_in_use()
public_rows = data.n_rows if schema.n_public is None and not is_private else schema.n_public


# --- settings


def two_digits(number: float) -> int:
    """A number of rows, to two digits."""
    return int(float(f"{number:.1e}"))


def ask_learners() -> list[str]:
    """Those to compare, as `sweep` takes them. In the box and in the link a variant is called as on screen."""
    names = rows.learners
    usual: tuple[str, ...] = FIRST_OF_NUMBERS if of_numbers else controls.FIRST_LEARNERS
    if schema.n_public is not None:
        usual = tuple(dict.fromkeys((usual[0], which_learner(schema, epsilon=1.0).learner, *usual[1:])))
    words = f"{ideas_of(names)}\n\nA variant is typed by the names its parameters have in Python: PF-tree (lookahead=1)."

    def as_listed(name: str) -> str:
        try:
            return variant_title(name)
        except DpvizError:  # a variant as it is called already, or what somebody typed
            return name

    options = {"format_func": as_listed, "accept_new_options": True, "help": words, **link_options(f"learners{suffix}")}
    chosen, wrong, titles = dict[str, None](), list[DpvizError](), list(map(variant_title, names))
    for name in st.multiselect("Algorithms", names, default=[name for name in usual if name in names] or names[:1], **options):
        try:
            text = variant_of_title(name) if name.startswith((*names, *titles)) else ""
            if not text or parse_variant(text)[0] not in names:
                raise UnknownName("algorithm for this target", name, titles)
            chosen[text] = None
        except DpvizError as problem:
            wrong.append(problem)
    for one in wrong:
        parts.error(one, kept="The others are compared." if chosen else "")
    return list(chosen)


def ask_axis(along: str, sizes: tuple[int | None, ...]) -> dict[str, Any]:
    """The places of the axis, and the one place of each of the others: arguments of the grid."""

    def one_epsilon() -> tuple[float, ...]:
        start = nearest(epsilon_in_use(), EPSILONS)
        label, options = f"ε ({unit.neighbours})", {"format_func": number_text, **link_options("one-epsilon")}
        return (float(st.select_slider(label, EPSILONS, value=start, **options)),)

    def one_depth() -> dict[str, Any]:
        options = {"value": controls.first_depth(), "help": auto_in_words(), **link_options("depth")}
        found = depth_of(st.select_slider("Depth", DEPTHS, **options))
        return {"max_depths": (found["max_depth"],), "depth": found["depth"]}

    if along == EPSILON:
        label, options = f"ε from – to ({unit.neighbours})", {"format_func": number_text, **link_options("epsilons")}
        low, high = st.select_slider(label, EPSILONS, value=(0.01, 5.0), **options)
        digits = st.selectbox("Steps of ε per decade", ("1, 2, 3, 5", "1, 3", "1"), index=1, **link_options("steps")).split(", ")
        between = tuple(e for e in EPSILONS if e in (low, high) or (low < e < high and f"{e:.0e}"[0] in digits))
        return {"epsilons": between, **one_depth()}
    if along == DEPTH:
        deepest = int(st.select_slider("Deepest", range(2, 11), value=8, **link_options("deepest")))
        words = "An algorithm with a public depth rule may then use fewer levels than allowed."
        by_rule = st.toggle("Let depth rules stop earlier", help=words, **link_options("by-rule"))
        depths = tuple(range(1, deepest + 1))
        return {"epsilons": one_epsilon(), "max_depths": depths, "depth": "auto" if by_rule else "exact"}
    return {"epsilons": one_epsilon(), **one_depth(), "n_rows": sizes}


def ask() -> CompareRequest:
    """Fill the row of settings; the page ends here where no learner is chosen. Private rows are not counted for it."""
    halved = (two_digits(0.8 * (public_rows or 0) / 2**halving) for halving in range(7, 0, -1))
    sizes = (*dict.fromkeys(size for size in halved if size >= 20), None)
    unknown = None if len(sizes) > 1 else "Over number of rows: needs a public row count. Declare one on the Data page."
    axes: dict[charts.Axis, str] = {"asked": "ε asked for", "guesses": "right guesses of 100"}
    majority = 0.0 if of_numbers or is_private or not data.n_rows else float(data.class_counts().max() / data.n_rows)
    with controls.settings_row():
        chosen = ask_learners()
        views = tuple(view for view in VIEWS if len(sizes) > 1 or view != ROWS)
        options = {"format_func": VIEWS.__getitem__, "help": unknown, "width": "content", **link_options("view")}
        along = one_of("Curves", views, **options)
        options = {"format_func": lambda metric: capital(METRICS[metric]), "width": 180, **link_options(f"measure{suffix}")}
        words = prose("compare", "numbers" if of_numbers else "classes")
        metric = st.selectbox("Measure", metrics_for(schema, majority), help=words, **options)
        with st.popover("More", icon=":material/tune:"):
            options = {"format_func": axes.__getitem__, "help": prose("compare", "guesses"), **link_options("x-axis")}
            axis = one_of("x axis", tuple(axes), **options) if along == EPSILON else "asked"
            places = ask_axis(along, sizes)
            words = "Each draw trains every algorithm again, with other noise."
            usual = 5 if of_numbers else 10  # fewer: what is private about numbers boosts hundreds of trees
            options = {"value": usual, "help": words, **link_options(f"draws{suffix}")}
            repeats = st.select_slider("Draws per split", (3, 5, 10, 20, 30, 50, 100), **options)
            words = "Rows are split so many times into a part to train on and a part held out, the same way for every algorithm."
            folds = st.select_slider("Splits", (1, 3, 5, 10), value=5, help=words, **link_options("splits"))
    if not chosen:
        st.info("Choose at least one algorithm.", icon=":material/info:")
        st.stop()
    seed = hidden_seed(rows.role, "_compare_secret")
    grid = SweepGrid(tuple(chosen), **places, folds=int(folds), repeats=int(repeats), seed=seed)
    names, problems = list[str](), list[DpvizError]()
    for name in chosen:
        try:
            replace(grid, learners=(name,)).require_plans(schema)
            names.append(name)
        except DpvizError as problem:
            problems.append(problem)
    for one in problems:
        parts.error(one, kept="The others are compared." if names else "")
    if not names:
        st.stop()
    grid = replace(grid, learners=tuple(names))
    return CompareRequest(along, str(metric), grid, two_digits(grid.train_share * (public_rows or 1)), axis)


# --- the button


def begin(task: background.Task) -> None:
    """Begin; on private rows that is an exploration no guarantee covers, and it is noted."""
    learners, times = ", ".join(task.asked.grid.learners), max(1, background.state(task).n_missing)
    explorations.keep_unnoted(explorations.note(rows, "curves on the Compare page", learners, {}, times=times))
    st.session_state["_compare_whole"] = task.keys
    background.start(task)


def offer_to_compute(task: background.Task, status: background.Status, first_look: background.Task) -> None:
    """Nothing when all is there; else what is missing, and the button that computes it."""
    for problem in status.problems:
        parts.error(problem, kept="Curves computed before are below." if status.shown else "")
    if not status.n_missing:
        return
    label, words = "Compute {}", ":material/show_chart: No curves of these rows yet."
    if not status.is_current and len(status.shown) == len(first_look.keys) > 0:
        label, fits = "Refine: {}", f"{len(status.shown):,} of {len(task.keys):,} fits"
        words = f":material/speed: A first look: {fits}. Too few for the spread of a single tree."
    elif status.is_current:
        label = "Go on with {}"
        words = f":material/pause: Stopped: {status.n_missing:,} fits are missing. The curves below show what is done."
    elif status.shown:
        words = ":material/history: The curves below are for the settings before."
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(label.format(f"{status.n_missing:,} fits"), icon=":material/play_arrow:", on_click=begin, args=(task,))
        st.caption(words, width="content")


# --- what is drawn


def curves_of(asked: CompareRequest, frame: pd.DataFrame) -> tuple[comparison.Curve, ...]:
    """One per learner, with what each point lets others guess where they are drawn over that."""
    found = comparison.curves(frame, asked.along, asked.metric)
    if asked.axis == "asked":
        return found
    trained = schema.scaled(asked.grid.train_share)

    def proven(learner: str, epsilon: float) -> float:
        said = asked.grid.request(learner, epsilon, asked.grid.max_depths[0]).verdict(trained, unit)
        return said.right_guesses if said.proven.is_finite else math.inf

    return comparison.with_guesses(found, proven, lambda epsilon: right_guesses(PrivacyLoss(epsilon), unit))


def draw_curves(
    asked: CompareRequest, frame: pd.DataFrame, found: Sequence[comparison.Curve], chosen: float | None = None
) -> None:
    """The curves with their headline at the place that was `chosen`; without one, as far as they are there."""
    along, metric, axis = asked.along, asked.metric, asked.axis
    if not found:
        words = f"None of these algorithms gives probabilities, so there is no {METRICS[metric]}."
        st.info(words, icon=":material/info:")
        return
    banded, bandable = None, charts.bandable(found)
    if chosen is not None and bandable:  # several bands would hide each other
        sound = [curve.learner for curve in found if curve.is_sound and curve.learner in bandable]
        banded = (sound or bandable)[0]
    level = comparison.majority_level(frame, metric)
    x = chosen if chosen is not None else first_place(asked, asked.places)
    about = unit.words if axis == "guesses" else None
    epsilon = None if along == EPSILON else asked.grid.epsilons[0]
    words = charts.headline(found, along=along, x=x, metric=metric, level=level, about=about, epsilon=epsilon, unit=unit)
    there = comparison.at_equal_risk(found, x) if axis == "guesses" else {curve.learner: curve.at(x) for curve in found}
    if chosen is None and not any(curve.is_sound and there.get(curve.learner) for curve in found):
        words = "Points appear as they are computed."
    words = f"On made-up rows: {words}" if rows.is_made_up else words
    st.markdown(escape_markdown(words))
    styles = styles_of(asked, found)
    look: dict[str, Any] = {"level": level, "axis": axis, "chosen": chosen, "banded": banded, "styles": styles, "unit": unit}
    show_chart(charts.compare_chart(found, summary=words, along=along, metric=metric, **look), "curves", png=saved_as("curves"))
    if charts.is_cut(found, metric, banded):
        st.caption(f"R² below −{-charts.R2_FLOOR} is cut off: far worse than predicting the mean. The table has the numbers.")
    said = [prose("compare", "lines")]
    said += [prose("compare", "band", enough=str(charts.MIN_FITS))] if banded else []
    said += [prose("compare", "dashed")] if any(styles[curve.learner].dash == "dash" for curve in found) else []
    said += [prose("compare", "unbounded")] if charts.unbounded(found, axis) else []
    st.caption(" ".join(said))


def styles_of(asked: CompareRequest, found: Sequence[comparison.Curve]) -> dict[str, charts.LineStyle]:
    """As they were in this session: neither another learner nor the order in which curves come changes anybody's colour."""
    before = st.session_state.setdefault("_compare_styles", {})
    verdicts = dict.fromkeys(asked.grid.learners, "none") | {curve.learner: curve.verdict for curve in found}
    styles = charts.line_styles(verdicts, before)
    before.update(styles)
    return styles


def saved_as(name: str) -> str:
    """The name of a chart's file; none for a chart of private rows, which is not to be saved."""
    return "" if is_private else f"compare-{asked.along}-{name}"


def first_place(asked: CompareRequest, places: Sequence[float]) -> float:
    """Where the curves are looked at, while they are computed and until somebody moves."""
    if asked.axis == "guesses":
        return 60.0
    near = {EPSILON: 1.0, DEPTH: 4, ROWS: places[-1]}[asked.along]
    return min(places, key=lambda place: abs(place - near))


def ask_place(shown: CompareRequest, frame: pd.DataFrame) -> float:
    """Where the curves are looked at in detail."""
    if shown.axis == "guesses":
        label, options = "In detail where at most so many of 100 guesses may be right", {"key": "place-guesses"}
        return float(st.select_slider(label, MAX_GUESSES, value=60, format_func=number_text, **options))
    places = [place for place in shown.places if (frame[shown.along] == place).any()]
    if len(places) == 1:
        return places[0]
    words = {EPSILON: f"ε ({unit.neighbours})", DEPTH: "this many levels", ROWS: "this many training rows"}
    name = number_text if shown.along == EPSILON else "{:,.0f}".format
    start = first_place(shown, places)
    label = f"In detail at {words[shown.along]}"
    return float(st.select_slider(label, places, value=start, format_func=name, key=f"place-{shown.along}"))


def draw_boxes(shown: CompareRequest, there: pd.DataFrame, found: Sequence[comparison.Curve]) -> None:
    """What single draws may give; nothing until there are enough of every learner."""
    known = there.dropna(subset=[shown.metric])
    if known[np.isfinite(known.epsilon)].groupby("learner").size().min() < charts.MIN_FITS:
        return
    styles = styles_of(shown, found)
    outcomes = {name: np.asarray(known.loc[known.learner == name, shown.metric], dtype=float) for name in styles}
    outcomes = {name: values for name, values in outcomes.items() if len(values)}
    if outcomes:
        st.divider()
        st.header("What a single draw may give", anchor=False)
        st.markdown(prose("compare", "box"))
        show_chart(charts.box_chart(outcomes, styles, shown.metric), "boxes", png=saved_as("draws"))


def draw_differences(shown: CompareRequest, there: pd.DataFrame, found: Sequence[comparison.Curve]) -> None:
    """Who is better on the same splits, by how much, and how sure that is."""
    st.divider()
    st.header("Who beats whom on the same splits", anchor=False)
    styles = styles_of(shown, found)
    if shown.axis == "guesses" and (without := charts.unbounded(found, "guesses")):
        named = escape_markdown(", ".join(map(variant_title, without)))
        st.caption(f"Nothing bounds them, so they are not compared at equal risk: {named}.")
    measured = set(there.dropna(subset=[shown.metric]).learner)
    names = [name for name in styles if name in measured]
    if len(names) < 2:
        st.caption(f"Choose at least two algorithms that have {METRICS[shown.metric]} to compare them.")
        return
    ours = st.selectbox("Algorithm", names, format_func=variant_title, key="ours")
    pairs = [comparison.difference(there, ours, other, shown.metric) for other in names if other != ours]
    known = [pair for pair in pairs if pair is not None]
    words = f"Whom {variant_title(ours)} beats, how surely and by how much."
    epsilons = dict(zip(there.learner, there.epsilon, strict=True)) if shown.axis == "guesses" else {}
    if epsilons:
        st.markdown(escape_markdown(f"{variant_title(ours)} at ε = {number_text(epsilons[ours])} ({unit.neighbours}):"))
    rows_table(charts.difference_rows(known, shown.metric, epsilons, unit), words)
    st.caption(prose("compare", "probability"))


def draw(shown: CompareRequest, frame: pd.DataFrame) -> None:
    """The curves, and one place of them in detail."""
    drawn = st.container()
    x, found = ask_place(shown, frame), curves_of(shown, frame)
    with drawn:
        draw_curves(shown, frame, found, x)
    if shown.axis == "guesses":
        there = comparison.rows_at_risk(frame, comparison.at_equal_risk(found, x))
    else:
        there = comparison.rows_at(frame, shown.along, x)
    draw_boxes(shown, there, found)
    draw_differences(shown, there, found)


# --- the page: a first look begins unasked, but never at private rows; the whole when it is asked for

with first:
    asked = ask()
    task = fits_of(asked, rows)
    first_look = first_look_at(asked, task)
    # asked for first also where it is there already: what this session shows while the whole is missing is then known
    status = background.state(first_look if st.session_state.get("_compare_whole") != task.keys else task)
    if st.session_state.get("_compare_whole") != task.keys:
        st.session_state.pop("_compare_whole", None)
        if len(status.values) < len(first_look.keys):
            if not is_private and len(first_look.keys) <= FIRST_LOOK:
                status = background.autostart(first_look)
            task = first_look
        else:
            status = background.state(task)
    if status.job is not None:
        background.autostart(task, SHORT)  # which waits for first points

        @lru_cache(maxsize=1)
        def frame_and_curves(now: background.Status) -> tuple[pd.DataFrame, tuple[comparison.Curve, ...]]:
            """Made once for every status that is drawn again and again."""
            frame = asked.frame(now.values)
            return frame, curves_of(asked, frame)

        background.watch(task, "Computing", unit="fits", render=lambda now: draw_curves(asked, *frame_and_curves(now)))
    else:
        offer_to_compute(task, status, first_look)
        if status.shown:
            shown = replace(status.asked, metric=asked.metric, axis=asked.axis)
            draw(shown, shown.frame(status.shown))
            st.divider()
            if is_private:
                st.caption("No file: computed on private rows, not covered by ε, not to be published.")
            else:
                download("Download every fit (CSV)", lambda: frame_csv(as_frame(status.shown)), f"compare-{shown.along}.csv")
frame.next_page_button("compare")
grid = asked.grid
axes = {EPSILON: list(grid.epsilons), DEPTH: list(grid.max_depths), ROWS: list(grid.n_rows)}
axes = {name: places for name, places in axes.items() if places != [None]}  # as they are by themselves
named = axes | {"folds": grid.folds, "repeats": grid.repeats, "seed": grid.seed, "depth": grid.depth}
frame.as_python(partial(as_python.compare, rows_read(), grid.learners, asked.along, asked.metric, named))
