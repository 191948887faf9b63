"""Before epsilon is spent: what these settings give at the declared base rate, from simulation alone."""

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.app import background
from dpviz.app.parts import as_code, escape_markdown
from dpviz.app.state import DataInUse
from dpviz.app.training import canonical_key
from dpviz.app.widgets import show_chart
from dpviz.charts.plan import expected_chart, expected_headline, expected_sentence, is_worth_it
from dpviz.evaluation.simulate import DRAWS, MAX_ROWS, ExpectedScores, expected_steps
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole

SLOT = "expected"
SEED = 1
#: So many seconds the page waits for a first look rather than come back later.
_PATIENCE = 1.0


def expected_screen(request: FitRequest, in_use: DataInUse, *, begins: bool = True) -> None:
    """Ask for the base rate, and say what rows, epsilon and depth give at three strengths of the signal.

    Unless it `begins` by itself, a base rate that was filled in waits for a button; one that was typed does not.
    Nothing for more than two classes, for a number, and where no row count is declared.
    """
    n_rows = in_use.schema.n_public
    if len(getattr(in_use.schema.target, "classes", ())) != 2 or n_rows is None:
        return
    common, rare = in_use.schema.classes
    st.header("What to expect", anchor=False)
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        percent, is_typed = _ask_base_rate(in_use, rare)
        answer = st.container()
    if percent is None:
        answer.caption(f"Say how many of 100 rows are {as_code(rare)}, as known without the data.")
        return
    with answer:
        make = partial(expected_steps, in_use.schema, request, base_rate=percent / 100, n_rows=n_rows, seed=SEED)
        more: dict[str, Any] = {"priority": "short", "keep": 40, "shared": in_use.is_as_bundled}
        key = canonical_key(in_use, request, base_rate=percent / 100)
        task = background.in_one(SLOT, key, make, is_last=lambda scores: scores[0].draws == DRAWS, **more)
        if begins or is_typed:
            background.autostart(task, _PATIENCE)
        else:
            background.start_button(task, "Simulate", ":material/query_stats:")
        _show_answer(task, (common, rare) if percent <= 50 else (rare, common))


def _ask_base_rate(in_use: DataInUse, name: str) -> tuple[float | None, bool]:
    """In percent, and whether somebody typed it. Private rows are not counted: nothing is filled in from them."""
    start = None
    if in_use.role is not DataRole.PRIVATE and in_use.data.n_rows:
        start = min(99.0, max(1.0, float(round(100 * in_use.data.class_counts()[1] / in_use.data.n_rows))))
    words = "As known without the data, from a report or the literature."
    schema = hashlib.sha256(in_use.schema.key.encode()).hexdigest()[:12]  # never of the rows: keys travel to the browser
    more = {"key": f"base-rate {schema}", "persist_state": "session", "help": words, "width": 220}
    rate = st.number_input(f"Of 100 rows, {as_code(name)}", 0.1, 99.9, start, 1.0, format="%g", **more)
    return rate, rate != start


def _show_answer(task: background.Task, classes: tuple[str, str]) -> None:
    status = background.show(task, "Simulating what to expect", render=lambda now: _picture(now.values[0], classes))
    if not status.values or status.job is not None:
        return
    (scores,) = status.values
    if status.is_done:  # a first look is too little to judge by, also where the rest was stopped
        headline = expected_headline(scores, classes[0])
        (st.info if is_worth_it(scores) else st.warning)(f"**{escape_markdown(headline)}**", icon=":material/query_stats:")
    _picture(scores, classes)
    with st.popover("In words", type="tertiary"):
        st.markdown("\n".join(f"- {escape_markdown(expected_sentence(one, *classes))}" for one in scores))
        st.caption(f"Simulated, of at most {MAX_ROWS:,} rows; no row is read.")


def _picture(scores: Sequence[ExpectedScores], classes: tuple[str, str]) -> None:
    show_chart(expected_chart(scores, *classes), "expected")
    if scores[0].draws < DRAWS:
        st.caption(f"A first look: {scores[0].draws} of {DRAWS} trees at each strength.")
