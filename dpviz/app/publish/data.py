"""The Publish page asks which data set the rows in use belong to, and under which cap they are released."""

from collections.abc import Sequence
from typing import Any, TypeVar

import streamlit as st

from dpviz.app import frame
from dpviz.app.parts import error, literal, names_text, plain, role_badge
from dpviz.app.prose import prose
from dpviz.app.publish.cap import MOST_DELTA, ask_cap, cap_label
from dpviz.app.state import Loaded, protect
from dpviz.errors import DpvizError
from dpviz.figures.publish.release import ACCOUNT, composed_sentence
from dpviz.release.records import Balance
from dpviz.release.register import LONGEST_NAME, Register
from dpviz.results.verdict import DELTA, loss_text
from dpviz.table.role import DataRole

T = TypeVar("T")

_NEW = "a new data set: nobody in it is in any other"
_OLD = "a data set named before"
_PROBLEM = "_publish_data_problem"


def register() -> Register | None:
    """The register, after whatever a crash left was settled; None when it cannot be used, which is then said."""
    found = Register()
    try:
        found.recover_interrupted()
        if not frame.checks_requests() and any(known.role is DataRole.PRIVATE for known in found.data_sets()):
            raise frame.unchecked("Private rows and their register")
    except DpvizError as problem:
        error(problem, kept="Nothing can be released without its register.")
        return None
    return found


def ask_data_set(book: Register, loaded: Loaded) -> Balance | None:
    """The data set of the rows in use with what was spent on it; asks while nobody has said which it is."""
    st.header("Data set", anchor=False)
    st.caption(prose("publish", f"{loaded.role} rows"))
    problem = st.session_state.pop(_PROBLEM, None)
    if problem is not None:
        error(problem, kept="Nothing was declared.")
    try:
        known = book.data_set_of(loaded.data.identity, loaded.data.table_sums, loaded.table.names, add_rows=True)
    except DpvizError as behind:
        error(behind, kept="Nothing can be released from this register.")
        return None
    if known is None:
        _ask_which(book, loaded)
        return None
    if known.role is DataRole.PRIVATE and loaded.role is not DataRole.PRIVATE:
        protect()
        st.rerun()
    cap = plain(loss_text(known.cap, known.protects))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        role_badge(known.role)
        st.markdown(f"Data set {literal(known.name)} · cap {cap}", width="content")
    ask_cap(book, known)
    return book.balance(known.name)


def how_it_adds_up(balance: Balance) -> None:
    """One click away: which account is kept, and what all releases tell by what was run."""
    with st.popover("How it adds up", type="tertiary"):
        st.markdown("\n\n".join(map(plain, (ACCOUNT, composed_sentence(balance)))))


def _ask_which(book: Register, loaded: Loaded) -> None:
    """An unseen table: it belongs to a data set there is, or to a new one. Nothing is guessed; what is alike is shown first."""
    looks = book.looks_like(loaded.data.identity, loaded.data.table_sums, loaded.table.names)
    alike = [*looks, *(found.name for found in book.alike(loaded.table.names) if found.name not in looks)]
    names = [*alike, *(found.name for found in book.data_sets() if found.name not in alike)]
    st.markdown("New rows. A budget belongs to people, not to a file.", help=prose("private", "new rows"))
    kind = _NEW
    if names:
        options = [_OLD, _NEW]
        kind = st.radio("These rows belong to", options, index=None, key="publish-kind")
    if kind == _OLD:
        name = st.selectbox("Data set", names, index=None, placeholder="Choose the data set", key="publish-name")
        others = [other for other in looks if other != name]
        answered = name is not None and _are_others(others, others)
        assign = {"icon": ":material/link:", "disabled": not answered, "on_click": _assign, "args": (name, loaded, others)}
        st.button("Add them permanently", **assign)
    elif kind == _NEW and _are_others(alike, looks):
        _ask_new(loaded, alike)


def _are_others(alike: list[str], looks: Sequence[str]) -> bool:
    """Whether somebody has said that nobody in these rows is in a data set with the same columns."""
    if not alike:
        return True
    known = names_text(alike)
    said = f"These rows look like those of {known}." if looks else f"{known} has mostly the same columns."
    words = f"**{said}** If somebody is in both, these rows belong to it, and its cap counts."
    st.warning(words, icon=":material/group:")
    return st.checkbox(f"Nobody in these rows is in {known}", key="publish-others")


def _ask_new(loaded: Loaded, disjoint_from: list[str]) -> None:
    with st.form("publish-declare", enter_to_submit=False, border=False):
        left, right = st.columns(2)
        sample = loaded.title if loaded.sample else ""
        left.text_input("Name of the data set", sample, max_chars=LONGEST_NAME, key="publish-new-name")
        bound = loaded.data.rows_per_person
        right.text_input("Whom it protects", max_chars=LONGEST_NAME, key="publish-unit", placeholder="such as: one patient")
        words = "Rows one of them has at most. Every guarantee counts one row; somebody with several loses as many times as much."
        rows = {"key": "publish-rows", "help": words, "placeholder": "not declared", "disabled": bound is not None}
        left.number_input("Rows per person at most", 1, 1_000_000, bound, **rows)
        words = "The most that all releases of these rows may cost together."
        cap = {"format": "%g", "step": 0.1, "placeholder": "not declared", "help": words}
        right.number_input(cap_label("Cap on ε", bound), 0.001, 1000.0, None, key="publish-cap", **cap)
        with st.expander("δ", icon=":material/tune:"):
            st.number_input(MOST_DELTA, 0.0, 0.1, 0.0, key="publish-delta", format="%g", step=1e-7, help=DELTA)
        st.form_submit_button(
            "Declare it: nobody in it is in another", icon=":material/add:", on_click=_declare, args=(loaded, disjoint_from)
        )


def _declare(loaded: Loaded, disjoint_from: list[str]) -> None:
    asked = {name: st.session_state[f"publish-{name}"] for name in ("new-name", "unit", "rows", "cap", "delta")}
    book = Register()
    try:
        unit: dict[str, Any] = {"unit": _given(asked["unit"], "nobody it protects"), "role": loaded.role}
        unit["rows_per_unit"] = int(_given(asked["rows"], "no number of rows that one of them has at most"))
        found = book.declare(
            asked["new-name"], epsilon_cap=_given(asked["cap"], "no cap"), delta_cap=float(asked["delta"]), **unit
        )
        _assign_rows(book, loaded, found.name, disjoint_from)
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem


def _given(value: T | None, lacks: str) -> T:
    if value in (None, ""):
        raise DpvizError(f"There is {lacks}.", remedy="All of it has to be said, by somebody who knows it.")
    return value


def _assign_rows(book: Register, loaded: Loaded, name: str, disjoint_from: list[str]) -> None:
    about = {"sums": loaded.data.table_sums, "disjoint_from": disjoint_from}
    book.assign(loaded.data.identity, name, columns=loaded.table.names, **about)  # type: ignore[arg-type]


def _assign(name: str, loaded: Loaded, disjoint_from: list[str]) -> None:
    try:
        _assign_rows(Register(), loaded, name, disjoint_from)
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem
