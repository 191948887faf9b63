"""Before epsilon is spent: what these settings give at the declared base rate, from simulation alone."""

import hashlib
from functools import partial
from typing import Any

import streamlit as st

from dpviz.app.parts import error, literal, plain
from dpviz.app.state import Loaded
from dpviz.app.trees import canonical_key
from dpviz.app.widgets import chart
from dpviz.app.work.session import begin_unasked
from dpviz.app.work.tasks import Task, in_one
from dpviz.app.work.watch import STOPPED, watch
from dpviz.evaluation.plan.expected import MOST_ROWS, expected
from dpviz.figures.plan.expected import expected_figure, expected_headline, expected_sentence, is_worth_it, strengths_text
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole

SLOT = "expected"
SEED = 1
#: So many seconds the page waits for it rather than come back later.
_PATIENCE = 0.3


def expected_screen(request: FitRequest, loaded: Loaded) -> None:
    """Ask for the base rate, and say what rows, epsilon and depth give at three strengths of the signal.

    Nothing for more than two classes, for a number, and where no row count is declared.
    """
    n_rows = loaded.schema.n_public
    if len(getattr(loaded.schema.target, "classes", ())) != 2 or n_rows is None:
        return
    common, rare = loaded.schema.classes
    st.header("What to expect", anchor=False)
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        percent = _ask_base_rate(loaded, rare)
        said = st.container()
    if percent is None:
        said.caption(f"Say how many of 100 rows are {literal(rare)}, as known without the data.")
        return
    with said:
        _say(_task(request, loaded, percent / 100, n_rows), (common, rare) if percent <= 50 else (rare, common))


def _ask_base_rate(loaded: Loaded, name: str) -> float | None:
    """In percent. Private rows are not counted: nothing is filled in from them."""
    start = None
    if loaded.role is not DataRole.PRIVATE and loaded.data.n_rows:
        start = min(99.0, max(1.0, float(round(100 * loaded.data.class_counts()[1] / loaded.data.n_rows))))
    words = "As known without the data, from a report or the literature."
    schema = hashlib.sha256(loaded.schema.key.encode()).hexdigest()[:12]  # never of the rows: keys travel to the browser
    more = {"key": f"base-rate {schema}", "persist_state": "session", "help": words, "width": 220}
    return st.number_input(f"Of 100 rows, {literal(name)}", 0.1, 99.9, start, 1.0, format="%g", **more)


def _task(request: FitRequest, loaded: Loaded, base_rate: float, n_rows: int) -> Task:
    schema = loaded.schema
    make = partial(expected, schema, request, base_rate=base_rate, n_rows=n_rows, seed=SEED)
    more: dict[str, Any] = {"lane": "short", "keep": 40, "is_shared": loaded.is_as_bundled}
    return in_one(SLOT, canonical_key(loaded, request, base_rate=base_rate), make, **more)


def _say(task: Task, classes: tuple[str, str]) -> None:
    status = begin_unasked(task, _PATIENCE)
    if status.job is not None:
        watch(task, "Simulating what to expect")
    if status.was_stopped:
        st.info(STOPPED, icon=":material/pause_circle:")
    for problem in status.problems:
        error(problem)
    if not (status.values and status.is_current):
        return
    (found,) = status.values
    headline = expected_headline(found, classes[0])
    (st.info if is_worth_it(found) else st.warning)(f"**{plain(headline)}**", icon=":material/query_stats:")
    sentences = [expected_sentence(one, *classes) for one in found]
    chart(expected_figure(found, *classes), " ".join((headline, *sentences)), key="expected")
    with st.popover("In words", type="tertiary"):
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in sentences))
        st.caption(f"{plain(strengths_text(found, classes[1]))} At most {MOST_ROWS:,} rows.")
