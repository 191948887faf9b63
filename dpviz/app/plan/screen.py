"""The Plan page's parts: the answer to a question asked backwards, its check, and three consequences on one cursor."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import Asked
from dpviz.app.parts import error, needs_classes, plain
from dpviz.app.plan.ask import Place, Question, ask_question, ask_world, question_key, setup_of
from dpviz.app.state import Loaded
from dpviz.app.widgets import chart, linked, table
from dpviz.app.work import long_work
from dpviz.errors import DpvizError
from dpviz.evaluation.plan import planner
from dpviz.evaluation.plan.consequences import FAIR, Consequences, consequences
from dpviz.evaluation.plan.planner import Setup
from dpviz.evaluation.plan.search import Answer, Rung
from dpviz.evaluation.plan.simulate import Planted
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.plan import consequences as three
from dpviz.figures.plan import search as drawn
from dpviz.figures.wording import percent
from dpviz.learners import get_learner, require_task

ANSWER, CHECK, CURVES = "plan", "plan-check", "plan-consequences"
SEED, CHECK_SEED = 11, 12
_STARTED = "_plan_started"


def plan_screen(asked: Asked, loaded: Loaded) -> None:
    """World, question, answer, consequences."""
    if needs_classes(loaded, "A plan"):
        return
    try:
        require_task(get_learner(asked.learner), loaded.schema)
        place = ask_world(loaded)
    except DpvizError as problem:
        error(problem)
        return
    setup = setup_of(asked)
    st.divider()
    curves = _look_at_curves(place, setup, loaded)
    _ask_backwards(place, setup, loaded, curves)
    st.divider()
    _consequences(place, setup, loaded, curves, asked.settings["epsilon"])


def _guess(place: Place) -> float:
    """What guessing the most frequent class reaches."""
    if isinstance(place.world, Planted):
        return place.world.most_frequent
    counts = np.asarray(place.world.draw(seed=0)[0].class_counts())
    return float(counts.max() / counts.sum())


# --- one question


def _ask_backwards(place: Place, setup: Setup, loaded: Loaded, curves: long_work.Seen) -> None:
    st.header("Ask the other way round", anchor=False)
    question = ask_question(_guess(place))
    if question.name == "poison":
        _answer_poison(question, curves)
        return
    st.caption(plain(f"Held fixed: {drawn.setup_text(setup, question.along, get_learner(setup.learner).title)}. {place.title}."))
    key = question_key(place, setup, question, loaded)
    seen = long_work.look(ANSWER, key)
    look: dict[str, Any] = {"icon": ":material/search:", "disabled": seen.is_current or seen.job is not None}
    st.button("Find the answer", on_click=_start_answer, args=(key, place, setup, question), **look)
    long_work.status(seen, "Growing trees until the answer is clear")
    if seen.result is not None:
        of, how, about, answer = seen.result
        _answer(of, how, about, answer, key if seen.is_current else "")


def _start_answer(key: str, place: Place, setup: Setup, question: Question) -> None:
    along, goal = question.along, question.goal
    assert along is not None
    assert goal is not None

    def work(progress: Any, stop: Any) -> Any:
        look = {"seed": SEED, "workers": long_work.WORKERS, "progress": progress, "stop": stop.is_set}
        return place, setup, question, planner.plan(place.world, setup, along, goal, **look)

    long_work.begin(ANSWER, key, work)


def _answer(place: Place, setup: Setup, question: Question, answer: Answer, key: str) -> None:
    """The answer in a box, its figure and table, and the check. No key: the answer is stale and cannot be checked."""
    along, goal = question.along, question.goal
    assert along is not None
    assert goal is not None
    box = st.success if answer.reached else st.warning if answer.is_refuted else st.info
    sentence = drawn.answer_sentence(answer, along, goal)
    box(f"**{plain(drawn.answer_headline(answer, along))}.**  \n{plain(sentence)}")
    if isinstance(place.world, Planted) and goal.measure == "accuracy" and goal.target > place.world.follows:
        st.caption(f"Nothing could: in this world {percent(round(place.world.follows, 3))} is the most anybody reaches.")
    if answer.rungs:
        chart(drawn.search_figure(answer, along), sentence, key="plan-answer")
        table(drawn.search_rows(answer, along), sentence)
    if answer.reached is not None and key:
        _check(place, setup, question, answer, key)


def _check(place: Place, setup: Setup, question: Question, answer: Answer, key: str) -> None:
    """How often the answer holds on simulations it has not seen."""
    assert answer.reached is not None
    seen = long_work.look(CHECK, key)
    look: dict[str, Any] = {"icon": ":material/replay:", "disabled": seen.is_current or seen.job is not None}
    args = (key, place, setup, question, answer.reached.place)
    st.button(f"Check it on {planner.CHECK_DRAWS} fresh simulations", on_click=_start_check, args=args, **look)
    long_work.status(seen, "Growing fresh trees")
    if seen.is_current and isinstance(seen.result, Rung) and question.along and question.goal:
        words = drawn.check_sentence(seen.result, question.along, question.goal)
        st.markdown(f":material/fact_check: {plain(words)}")


def _start_check(key: str, place: Place, setup: Setup, question: Question, reached: float) -> None:
    def work(progress: Any, stop: Any) -> Any:
        assert question.along is not None
        assert question.goal is not None
        look = {"seed": CHECK_SEED, "workers": long_work.WORKERS, "progress": progress, "stop": stop.is_set}
        return planner.check(place.world, setup, question.along, reached, question.goal, **look)

    long_work.begin(CHECK, key, work)


def _answer_poison(question: Question, curves: long_work.Seen) -> None:
    """Read off the certificates of the curves below."""
    if curves.result is None:
        st.info("The answer is read off the certificates of the consequences below. Compute them first.", icon=":material/south:")
        return
    found: Consequences = curves.result
    headline, explanation = three.protecting_sentence(found, question.rows, found.majority)
    reachable = not found.reason and bool(found.protecting(question.rows, found.majority))
    box = st.success if reachable else st.warning
    stale = "" if curves.is_current else " (For the settings before.)"
    box(f"**{plain(headline)}.**  \n{plain(explanation)}{stale}")


# --- three consequences


def _curves_key(place: Place, setup: Setup, loaded: Loaded) -> str:
    return question_key(place, setup, Question("poison"), loaded)


def _look_at_curves(place: Place, setup: Setup, loaded: Loaded) -> long_work.Seen:
    """The curves; the first ones of a session are begun unasked, because they touch no private row."""
    key = _curves_key(place, setup, loaded)
    seen = long_work.look(CURVES, key)
    if seen.result is None and seen.job is None and not st.session_state.get(_STARTED):
        st.session_state[_STARTED] = True
        _start_curves(key, place, setup)
        seen = long_work.look(CURVES, key)
    return seen


def _start_curves(key: str, place: Place, setup: Setup) -> None:
    def work(progress: Any, stop: Any) -> Consequences:
        look = {"seed": SEED, "workers": long_work.WORKERS, "progress": progress, "stop": stop.is_set}
        return consequences(place.world, setup, **look)

    long_work.begin(CURVES, key, work)


def _consequences(place: Place, setup: Setup, loaded: Loaded, seen: long_work.Seen, cursor: float) -> None:
    st.header("One ε, three consequences", anchor=False)
    st.caption(f"Move ε in the sidebar ({NEIGHBOURS}): the line goes through all three.")
    key = _curves_key(place, setup, loaded)
    if not seen.is_current and seen.job is None:
        args = (key, place, setup)
        st.button("Compute the three curves", icon=":material/play_arrow:", on_click=_start_curves, args=args)
    long_work.status(seen, "Growing trees along ε")
    if seen.result is not None:
        _three(seen.result, cursor)


def _three(found: Consequences, cursor: float) -> None:
    candidates = _ask_attack()
    item = found.at(cursor)
    sentences = three.consequence_sentences(item, found, candidates=candidates, above=found.majority)
    titles = (":material/target: Accuracy", ":material/visibility: Privacy", ":material/shield: Poisoning")
    for column, title, words in zip(st.columns(3, gap="medium"), titles, sentences, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{title}** at ε = {number_text(item.epsilon)}  \n{plain(words)}")
    alt = " ".join(sentences)
    figure = three.consequences_figure(found, cursor=item.epsilon, candidates=candidates, above=found.majority)
    chart(figure, alt, key="plan-three")
    rows = three.consequence_rows(found, candidates=candidates, above=found.majority)
    table(rows, alt)
    st.caption(
        f"{found.n_draws} trees per ε on one training set of {found.n_train:,} rows. Dotted: guessing the most frequent class, "
        "and guessing without the tree. A plan made of simulations, no promise about other rows."
    )


def _ask_attack() -> int:
    """The attack model: a fair guess, or one of n people."""
    titles = {"fair": "In or out, even odds", "one-of-n": "Which of n people"}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        look = {"format_func": titles.__getitem__, "default": "fair", "required": True, "help": _ATTACKS, **linked("attack")}
        if st.segmented_control("The attacker guesses", tuple(titles), **look) == "fair":
            return FAIR
        return int(st.number_input("n, people who may be the one", 2, 100_000_000, 1_000, **linked("candidates")))


_ATTACKS = (
    "Even odds: was this person's row used at all? One of n (Lee & Clifton 2011): the attacker knows every row, and that "
    "one of n people was left out, but not which. The same ε looks harmless under the second when n is large; the factor on the "
    "odds is the same."
)
