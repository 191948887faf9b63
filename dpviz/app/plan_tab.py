"""The second tab of the Compare page: which epsilon, how many rows or which depth reach a goal, and what one epsilon means.

Everything is simulated: from the rows in use, or from the schema alone. Private rows are never touched here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.app import background, controls
from dpviz.app.expected import expected_screen
from dpviz.app.parts import error, escape_markdown, needs_classes
from dpviz.app.prose import prose
from dpviz.app.state import DataInUse, rows_read, unit_in_use
from dpviz.app.training import canonical_key
from dpviz.app.widgets import link_options, one_of, show_chart
from dpviz.charts import as_python
from dpviz.charts import plan as charts
from dpviz.charts.wording import percent
from dpviz.errors import DpvizError
from dpviz.evaluation import plan as planning
from dpviz.evaluation.plan import Along, Goal, SearchAnswer
from dpviz.evaluation.simulate import ResampledRows, SyntheticTable, World, plant
from dpviz.learners import FitRequest, require_task
from dpviz.results.verdict import bare_text
from dpviz.table.role import DataRole

ANSWER, CURVES = "plan", "plan-consequences"
SEED = 11
#: Question -> its title, and along what it is answered. Each looks for one thing with everything else held fixed.
QUESTIONS: dict[str, tuple[str, Along]] = {
    "epsilon": ("Accuracy → ε", "epsilon"),
    "rows": ("Accuracy → rows", "n_rows"),
    "labels": ("Reliable labels → ε", "epsilon"),
    "depth": ("Reliable labels → depth", "max_depth"),
}
_SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


@dataclass(frozen=True)
class Place:
    """A world, and a text that says which: equal texts, equal worlds."""

    world: World
    key: str
    title: str


@dataclass(frozen=True)
class Search:
    """What is looked for along one setting, with everything else held fixed."""

    place: Place
    fixed: FitRequest
    along: Along
    goal: Goal


def plan_tab(in_use: DataInUse) -> str:
    """What to expect, a goal with its answer, and three consequences of one epsilon; returns the tab as Python."""
    request = controls.ask_settings(with_noise=False).request
    expected_screen(request, in_use, begins=False)
    n_rows = None
    if not needs_classes(in_use, "A plan"):
        try:
            require_task(request.spec, in_use.schema)
            st.header("Work backwards from a goal", anchor=False)
            place = _ask_world(in_use)
        except DpvizError as problem:
            error(problem)
        else:
            make = partial(planning.consequences_steps, place.world, request, seed=SEED, workers=background.WORKERS)
            more = {"is_last": lambda found: len(found.items) == len(planning.EPSILONS), **_cache(in_use)}
            key = canonical_key(in_use, request.at(epsilon=1.0), world=place.key)
            curves = background.in_one(CURVES, key, make, **more)
            _ask_backwards(place, request, in_use)
            st.divider()
            _consequences(curves, request.settings.epsilon)
            n_rows = place.world.schema.n_public
    return as_python.plan(rows_read(), request, None if n_rows == in_use.schema.n_public else n_rows)


def _cache(in_use: DataInUse) -> dict[str, Any]:
    """Few answers of a session, since they hold its rows; more about a bundled sample, which the server holds anyway."""
    return {"keep": 40, "shared": True} if in_use.is_as_bundled else {"keep": 4}


# --- the world in which trees are trained


def _ask_world(in_use: DataInUse) -> Place:
    """Rows at hand, or rows simulated from the schema; for private rows the schema only. Raises what the world raises."""
    options = {"rows": "The rows in use", "schema": "The schema alone"}
    words = prose("plan", "rows in use", rows=f"{in_use.data.n_rows:,}")
    if in_use.role is DataRole.PRIVATE:
        st.info(prose("plan", "private rows"), icon=":material/lock:")
    elif one_of("Simulate with", tuple(options), format_func=options.__getitem__, help=words, **link_options("world")) == "rows":
        return Place(ResampledRows(in_use.data), in_use.data.key, in_use.title)
    left, middle, right = st.columns(3, gap="medium")
    start = min(_SIZES, key=lambda size: abs(size - (in_use.schema.n_public or 1_000)))
    n_rows = left.select_slider("Rows", _SIZES, start, format_func=lambda size: f"{size:,}", **link_options("plan-rows"))
    words = "How far the class follows the planted tree. 0: chance. 1: always."
    strength = middle.slider("Strength of the signal", 0.1, 1.0, 0.6, 0.1, help=words, **link_options("strength"))
    depth = right.slider("Levels of the planted tree", 1, 4, 2, **link_options("planted"))
    key = json.dumps([in_use.schema.key, (n_rows, strength, depth)])  # knows the schema, not the rows
    world = _synthetic_table(key, in_use, n_rows, strength, depth)
    follows, guessing = (percent(round(share, 3)) for share in (world.chances[0][0], world.most_frequent))
    st.caption(prose("plan", "planted", follows=follows, guessing=guessing))
    return Place(world, key, f"Simulated from the schema of {in_use.title}")


@st.cache_resource(scope="session", max_entries=4, show_spinner=False)
def _synthetic_table(key: str, _loaded: DataInUse, _n_rows: int, _strength: float, _depth: int) -> SyntheticTable:
    return plant(_loaded.schema, n_rows=_n_rows, strength=_strength, depth=_depth, seed=1)


# --- one question


def _ask_backwards(place: Place, request: FitRequest, in_use: DataInUse) -> None:
    options = {"format_func": lambda name: QUESTIONS[name][0], **link_options("wanted")}
    name = one_of("What do you want to know?", tuple(QUESTIONS), label_visibility="collapsed", **options)  # the heading asks
    left, right = st.columns(2, gap="medium")
    if name in ("labels", "depth"):
        label, options = "Leaves with the right label, %", {"value": 90.0, "step": 1.0, **link_options("wish-labels")}
    else:
        if isinstance(place.world, SyntheticTable):
            most = place.world.most_frequent
        else:
            counts = np.asarray(place.world.draw(seed=0)[0].class_counts())
            most = float(counts.max() / counts.sum())
        start = min(99.0, round(100 * (most + 0.05)))  # a little above always saying the most frequent class
        label, options = "Accuracy, %", {"value": float(start), "step": 0.5, **link_options("wish-accuracy")}
    target = left.number_input(label, 1.0, 99.9, format="%g", **options)
    words = "You get one tree. Higher: surer that yours is among those that reach it."
    options = {"help": words, **link_options("sure")}
    sure = right.select_slider("Required reliability, trees of 100", (50, 80, 90, 95), 90, **options)
    goal = Goal("labels" if name in ("labels", "depth") else "accuracy", target / 100, sure / 100)
    search = Search(place, request, QUESTIONS[name][1], goal)
    st.caption(escape_markdown(f"Held fixed: {charts.held_fixed_text(request, search.along, unit_in_use())}. {place.title}."))
    other = {"max_depth": 1, "depth": 1} if search.along == "max_depth" else {"epsilon": 1.0} if search.along == "epsilon" else {}
    key = canonical_key(
        in_use, request.at(**other), world=place.key, wanted=repr((name, goal))
    )  # what is looked for is no setting
    task = background.in_one(ANSWER, key, partial(_found, search), is_last=lambda found: found[1].is_complete, **_cache(in_use))
    status = background.start_button(task, "Find the answer", ":material/search:")
    background.show(task, "Training trees until the answer is clear", render=_show_progress)
    if status.shown and status.job is None:
        search, answer = status.result
        _answer(search, answer)


def _found(search: Search, **how: Any) -> Iterator[tuple[Search, SearchAnswer]]:
    """The first look is taken in this process while worker processes start."""
    background.launch_workers()
    how |= {"seed": SEED, "workers": background.WORKERS}
    for answer in planning.plan_steps(search.place.world, search.fixed, search.along, search.goal, **how):
        yield search, answer


def _show_progress(status: background.Status) -> None:
    """What is known while the search goes on holds like the answer itself, which will only say more."""
    (search, answer), *_ = status.values
    words = charts.answer_sentence(answer, search.along, search.goal)
    st.info(escape_markdown(words), icon=":material/hourglass_top:")
    _picture(search, answer, words)


def _answer(search: Search, answer: SearchAnswer) -> None:
    """The answer in a box, its figure and table."""
    world, along, goal = search.place.world, search.along, search.goal
    box = st.success if answer.first_success else st.warning if answer.is_refuted else st.info
    sentence = charts.answer_sentence(answer, along, goal)
    box(f"**{escape_markdown(charts.answer_headline(answer, along, _at_risk(search)))}.**  \n{escape_markdown(sentence)}")
    # the class of a row is drawn at these chances
    most = max(map(max, world.chances)) if isinstance(world, SyntheticTable) else 1.0
    if goal.measure == "accuracy" and goal.target > most:
        st.caption(f"Nothing could: in this world {percent(round(most, 3))} is the most anybody reaches.")
    if answer.points:
        _picture(search, answer, sentence)


def _picture(search: Search, answer: SearchAnswer, words: str) -> None:
    show_chart(charts.search_chart(answer, search.along, words, _at_risk(search)), "plan-answer")
    st.caption(prose("plan", "marks"))


def _at_risk(search: Search) -> charts.AtRisk:
    """What a release of the world's rows would let others guess about whom they protect."""
    unit = unit_in_use()

    def guesses(epsilon: float) -> float:
        said = search.fixed.at(epsilon=epsilon).verdict(search.place.world.schema, unit)
        return said.right_guesses if said.proven.is_finite else math.inf

    return charts.AtRisk(guesses, unit)


# --- three consequences


def _consequences(task: background.Task, cursor: float) -> None:
    st.header("One ε, three consequences", anchor=False)
    status = background.state(task)
    if status.n_missing and status.job is None:
        st.button("Compute the three curves", icon=":material/play_arrow:", on_click=background.start, args=(task,))
    background.show(task, "Training trees along ε", render=lambda now: _three(now.values[0], cursor))
    if status.shown and status.job is None:
        _three(status.result, cursor)


def _three(consequences: planning.Consequences, cursor: float) -> None:
    item, unit = consequences.at(cursor), unit_in_use()
    titles = (":material/target: Accuracy", ":material/visibility: Privacy", ":material/shield: Poisoning")
    sentences = charts.consequence_sentences(consequences, cursor, unit)
    for column, title, words in zip(st.columns(3, gap="medium"), titles, sentences, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{title}** at {bare_text(PrivacyLoss(item.epsilon))}  \n{escape_markdown(words)}")
    st.caption(f"Move ε ({unit.neighbours}): the line goes through all drawn.")
    show_chart(charts.consequences_chart(consequences, cursor=item.epsilon, unit=unit), "plan-three")
    st.caption(prose("plan", "three consequences", trees=str(consequences.n_draws), rows=f"{item.certificate.n_train:,}"))
