"""Another cap for a data set: raising it takes a reason, a name and the number once more, and all three stay in its history."""

from typing import Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.parts import error, why_disabled
from dpviz.app.widgets import rows_table
from dpviz.errors import DpvizError
from dpviz.figures.publish.account import cap_rows
from dpviz.release.records import DataSet
from dpviz.release.register import LONGEST_NAME, Register
from dpviz.results.verdict import DELTA

MOST_DELTA = "The most δ all releases may add up to"
_PROBLEM = "_cap_problem"


def cap_label(name: str, rows: int | None) -> str:
    """A cap is typed as the epsilon of one row; `rows`: those of one person."""
    return f"{name} ({NEIGHBOURS}{f'; a person: {rows:,} times as much' if rows and rows > 1 else ''})"


def ask_cap(book: Register, known: DataSet) -> None:
    """Other caps, and every cap there was."""
    problem = st.session_state.pop(_PROBLEM, None)
    if problem is not None:
        error(problem, kept="The cap is as it was.")
    with st.expander("Change the cap", icon=":material/tune:"):
        key = f"{known.name}-{known.epsilon_cap}-{known.delta_cap}"
        left, right = st.columns(2)
        written = {"format": "%g", "key": f"publish-cap-of-{key}"}
        new = left.number_input(cap_label("New cap on ε", known.rows_per_unit), 0.001, 1000.0, known.epsilon_cap, **written)
        options: dict[str, Any] = {"format": "%g", "step": 1e-7, "help": DELTA, "key": f"publish-delta-of-{key}"}
        delta = right.number_input(MOST_DELTA, 0.0, 0.1, known.delta_cap, **options)
        decided = _ask_decision(known, new, delta, key)
        why_not = _why_not(known, new, delta, decided)
        asked = (known, new, delta, decided)
        st.button("Set this cap", disabled=bool(why_not), on_click=_change, args=asked, icon=":material/check:")
        why_disabled(why_not)
        rows_table(cap_rows(book.cap_changes(known.name), known.protects), "Every cap this data set has had.")


def _ask_decision(known: DataSet, new: float, delta: float, key: str) -> tuple[str, str, str]:
    """(reason, name, the number once more); asked only for a cap that is raised."""
    if new <= known.epsilon_cap and delta <= known.delta_cap:
        return "", "", ""
    st.warning("**This weakens the protection of everybody in this data set.** It stays in its history.", icon=":material/gavel:")
    reason = st.text_input("Why", max_chars=LONGEST_NAME, key=f"publish-why-{key}")
    left, right = st.columns(2)
    name = left.text_input("Who decides", max_chars=LONGEST_NAME, key=f"publish-who-{key}")
    return reason, name, right.text_input("The new cap on ε once more", key=f"publish-again-{key}")


def _why_not(known: DataSet, new: float, delta: float, decided: tuple[str, str, str]) -> str:
    if (new, delta) == (known.epsilon_cap, known.delta_cap):
        return "This is the cap there is."
    if new <= known.epsilon_cap and delta <= known.delta_cap:
        return ""
    reason, name, again = decided
    if not (reason.strip() and name.strip()):
        return "Raising it takes a reason and a name."
    return "" if _number(again) == new else "Type the new cap on ε once more."


def _number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _change(known: DataSet, epsilon: float, delta: float, decided: tuple[str, str, str]) -> None:
    if _why_not(known, epsilon, delta, decided):
        return
    reason, name, _ = decided
    try:
        Register().change_caps(known.name, epsilon_cap=epsilon, delta_cap=delta, reason=reason, made_by=name)
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem
