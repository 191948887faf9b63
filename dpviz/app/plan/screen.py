"""The Plan page's parts: the answer to a question asked backwards, its check, and three consequences on one cursor."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
import streamlit as st

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.app import background
from dpviz.app.controls import Sidebar
from dpviz.app.parts import error, needs_classes, plain
from dpviz.app.plan.ask import Place, PlanRequest, ask_request, ask_world, request_key
from dpviz.app.prose import prose
from dpviz.app.protected import unit_in_use
from dpviz.app.state import Loaded
from dpviz.app.widgets import linked, one_of, show_chart, whole_number
from dpviz.errors import DpvizError
from dpviz.evaluation.plan import planner
from dpviz.evaluation.plan.consequences import FAIR, Consequences, consequences_steps
from dpviz.evaluation.plan.planner import Along, Goal
from dpviz.evaluation.plan.search import SearchAnswer
from dpviz.evaluation.plan.simulate import Planted
from dpviz.evaluation.workers import start_workers
from dpviz.figures import plan as drawn
from dpviz.figures.wording import percent
from dpviz.learners import FitRequest, require_task
from dpviz.results.verdict import short_text

ANSWER, CHECK, CURVES = "plan", "plan-check", "plan-consequences"
SEED, CHECK_SEED = 11, 12


def plan_screen(asked: Sidebar, loaded: Loaded) -> int | None:
    """World, question, answer, consequences. Returns how many rows the world has, where that is not what the schema says."""
    if needs_classes(loaded, "A plan"):
        return None
    try:
        require_task(asked.request.spec, loaded.schema)
        place = ask_world(loaded)
    except DpvizError as problem:
        error(problem)
        return None
    request = asked.request
    make = partial(consequences_steps, place.world, request, seed=SEED, workers=background.WORKERS)
    key = request_key(place, request, PlanRequest("poison"), loaded)
    curves = background.in_steps(CURVES, key, make, lambda found: len(found.found) == len(planner.EPSILONS), **_kept(loaded))
    _ask_backwards(place, request, loaded, curves)
    st.divider()
    _consequences(curves, request.settings.epsilon)
    n_rows = place.world.schema.n_public
    return None if n_rows == loaded.schema.n_public else n_rows


def _guess(place: Place) -> float:
    if isinstance(place.world, Planted):
        return place.world.most_frequent
    counts = np.asarray(place.world.draw(seed=0)[0].class_counts())
    return float(counts.max() / counts.sum())


# --- one question


@dataclass(frozen=True)
class _Search:
    """What is looked for along one setting, with everything else held fixed."""

    place: Place
    asked: FitRequest
    along: Along
    goal: Goal


def _ask_backwards(place: Place, asked: FitRequest, loaded: Loaded, curves: background.Task) -> None:
    st.header("Work backwards from a goal", anchor=False)
    request = ask_request(_guess(place))
    if request.goal is None:
        _answer_poison(request, background.state(curves))
        return
    st.caption(plain(f"Held fixed: {drawn.held_fixed_text(asked, request.along, unit_in_use())}. {place.title}."))
    key = request_key(place, asked, request, loaded)
    found = partial(_found, _Search(place, asked, request.along, request.goal))
    task = background.in_steps(ANSWER, key, found, lambda value: value[1].is_complete, **_kept(loaded))
    status = background.start_button(task, "Find the answer", ":material/search:")
    background.show(task, "Training trees until the answer is clear", render=_so_far)
    if status.shown and status.job is None:
        search, answer = status.result
        _answer(search, answer, key if status.is_current else "")


def _kept(loaded: Loaded) -> dict[str, Any]:
    """Few answers of a session, since they hold its rows; more about a bundled sample, which the server holds anyway."""
    return {"keep": 40, "shared": True} if loaded.is_as_bundled else {"keep": 4}


def _found(search: _Search, **how: Any) -> Iterator[tuple[_Search, SearchAnswer]]:
    """The first look is taken in this process while worker processes start."""
    Thread(target=start_workers, args=(background.WORKERS,), daemon=True).start()
    how |= {"seed": SEED, "workers": background.WORKERS}
    for answer in planner.plan_steps(search.place.world, search.asked, search.along, search.goal, **how):
        yield search, answer


def _so_far(status: background.Status) -> None:
    (search, answer), *_ = status.values
    words = drawn.so_far_headline(answer, search.along, _at_risk(search))
    st.info(f"**{plain(words)}**", icon=":material/hourglass_top:")
    _picture(search, answer, words)


def _answer(search: _Search, answer: SearchAnswer, key: str) -> None:
    """The answer in a box, its figure and table, and the check. No key: the answer is stale and cannot be checked."""
    world, along, goal = search.place.world, search.along, search.goal
    box = st.success if answer.reached else st.warning if answer.is_refuted else st.info
    sentence = drawn.answer_sentence(answer, along, goal, unit_in_use())
    box(f"**{plain(drawn.answer_headline(answer, along, _at_risk(search)))}.**  \n{plain(sentence)}")
    most = max(map(max, world.chances)) if isinstance(world, Planted) else 1.0  # the class of a row is drawn at these chances
    if goal.measure == "accuracy" and goal.target > most:
        st.caption(f"Nothing could: in this world {percent(round(most, 3))} is the most anybody reaches.")
    if answer.points:
        _picture(search, answer, sentence)
    if answer.reached is not None and key:
        _check(search, answer.reached.place, key)


def _picture(search: _Search, answer: SearchAnswer, words: str) -> None:
    show_chart(drawn.search_chart(answer, search.along, words, _at_risk(search)), "plan-answer")
    st.caption(prose("plan", "marks"))


def _at_risk(search: _Search) -> drawn.AtRisk:
    """What a release of the world's rows would let others guess about whom they protect."""
    unit = unit_in_use()

    def guesses(epsilon: float) -> float:
        said = search.asked.at(epsilon=epsilon).verdict(search.place.world.schema, unit)
        return said.right_guesses if said.proven.is_finite else math.inf

    return drawn.AtRisk(guesses, unit)


def _check(search: _Search, reached: float, key: str) -> None:
    """How often the answer holds on simulations it has not seen."""
    asked = (search.place.world, search.asked, search.along, reached, search.goal)
    task = background.in_one(CHECK, key, partial(planner.check, *asked, seed=CHECK_SEED, workers=background.WORKERS), keep=4)
    status = background.start_button(task, f"Check it on {planner.CHECK_DRAWS} fresh simulations", ":material/replay:")
    background.show(task, "Training fresh trees")
    if status.is_current:
        said = drawn.check_sentence(status.result, search.along, search.goal, unit_in_use())
        st.markdown(f":material/fact_check: {plain(said)}")


def _answer_poison(request: PlanRequest, curves: background.Status) -> None:
    """Read off the certificates of the curves below."""
    if not curves.shown:
        st.info("The answer is read off the certificates of the consequences below. Compute them first.", icon=":material/south:")
        return
    found: Consequences = curves.result
    headline, explanation = drawn.protecting_sentence(found, request.rows, found.majority)
    reachable = not found.reason and bool(found.protecting(request.rows, found.majority))
    box = st.success if reachable else st.warning
    stale = "" if curves.is_current else " (For the settings before.)"
    box(f"**{plain(headline)}.**  \n{plain(explanation)}{stale}")


# --- three consequences


def _consequences(task: background.Task, cursor: float) -> None:
    st.header("One ε, three consequences", anchor=False)
    status = background.state(task)
    if status.n_missing and status.job is None:
        st.button("Compute the three curves", icon=":material/play_arrow:", on_click=background.start, args=(task,))
    candidates = _ask_attack()
    background.show(task, "Training trees along ε", render=lambda now: _three(now.values[0], cursor, candidates))
    if status.shown and status.job is None:
        _three(status.result, cursor, candidates)


def _three(found: Consequences, cursor: float, candidates: int) -> None:
    item = found.at(cursor)
    asked: dict[str, Any] = {"candidates": candidates, "above": found.majority, "unit": unit_in_use()}
    sentences = drawn.consequence_sentences(item, found, **asked)
    at = short_text(PrivacyLoss(item.epsilon), asked["unit"])
    titles = (":material/target: Accuracy", ":material/visibility: Privacy", ":material/shield: Poisoning")
    for column, title, words in zip(st.columns(3, gap="medium"), titles, sentences, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{title}** at {at}  \n{plain(words)}")
    st.caption(f"Move ε ({unit_in_use().neighbours}): the line goes through all drawn.")
    show_chart(drawn.consequences_chart(found, cursor=item.epsilon, **asked), "plan-three")
    st.caption(prose("plan", "three consequences", trees=str(found.n_draws), rows=f"{found.n_train:,}"))


def _ask_attack() -> int:
    titles = {"fair": "In or out, even odds", "one-of-n": "Which of n people"}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        models = prose("plan", "attacks")
        options = {"format_func": titles.__getitem__, "help": models, **linked("attack")}
        if one_of("The attacker guesses", tuple(titles), **options) == "fair":
            return FAIR
        return whole_number("n, people who may be the one", 3, 100_000_000, 1_000, key="candidates")
