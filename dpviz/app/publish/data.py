"""The Publish page asks which data set the rows in use belong to, and under which cap they are released."""

from __future__ import annotations

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.parts import error, literal, role_badge
from dpviz.app.state import Loaded
from dpviz.errors import DpvizError
from dpviz.figures.guarantee_text import number_text
from dpviz.release.records import Balance, DataSet
from dpviz.release.register import LONGEST_NAME, ReleaseRegister
from dpviz.table.role import DataRole

_NEW = "a new data set: nobody in it is in any other"
_OLD = "a data set named before"
_PROBLEM = "_publish_data_problem"
_DELTA = "The most δ all releases may add up to"
_DELTA_HELP = "0 allows learners only whose ε never fails. Some learners need a δ, a small chance that ε fails; far below 1/rows."
WHAT_IT_IS = {
    DataRole.SIMULATED: "These rows are simulated: nobody needs protection, so a release is an exercise, booked all the same.",
    DataRole.PUBLIC: "These rows are public: anyone may see them, so a private tree protects nobody. It is booked all the same.",
    DataRole.PRIVATE: "These rows are private. Looking at trees is not releasing: only what is released here may leave.",
}


def register() -> ReleaseRegister | None:
    """The register, after whatever a crash left was settled; None when it cannot be used, which is then said."""
    found = ReleaseRegister()
    try:
        found.settle()
    except DpvizError as problem:
        error(problem, kept="Nothing can be released without its register.")
        return None
    return found


def ask_data_set(book: ReleaseRegister, loaded: Loaded) -> Balance | None:
    """The data set of the rows in use with what was spent on it; asks while nobody has said which it is."""
    st.header("Whose cap counts", anchor=False)
    st.caption(WHAT_IT_IS[loaded.role])
    problem = st.session_state.pop(_PROBLEM, None)
    if problem is not None:
        error(problem, kept="Nothing was declared.")
    known = book.data_set_of(loaded.data.identity)
    if known is None:
        _ask_which(book, loaded)
        return None
    _say(known)
    _ask_cap(book, known)
    return book.balance(known.name)


def _say(known: DataSet) -> None:
    rows = f", up to {known.rows_per_unit} rows" if known.rows_per_unit > 1 else ""
    delta = f", δ = {number_text(known.delta_cap)}" if known.delta_cap else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        role_badge(known.role)
        st.markdown(
            f"Data set {literal(known.name)} · cap ε = {number_text(known.epsilon_cap)}{delta} ({NEIGHBOURS}) · "
            f"protects {literal(known.unit)}{rows}",
            width="content",
        )


def _ask_which(book: ReleaseRegister, loaded: Loaded) -> None:
    """An unseen table: it belongs to a data set there is, or to a new one. Nothing is guessed."""
    names = [found.name for found in book.data_sets()]
    st.markdown(
        "These rows are new here. A cap belongs to people, not to a file: the same rows in another order, with a row more or "
        "under another schema belong to the data set they were always in."
    )
    kind = _NEW
    if names:
        options = [_OLD, _NEW]
        kind = st.radio("These rows belong to", options, index=None, key="publish-kind")
    if kind == _OLD:
        _ask_old(names, loaded)
    elif kind == _NEW:
        _ask_new(loaded)


def _ask_old(names: list[str], loaded: Loaded) -> None:
    name = st.selectbox("Data set", names, index=None, placeholder="Choose the data set", key="publish-name")
    options = {"icon": ":material/link:", "disabled": name is None, "on_click": _assign, "args": (name, loaded)}
    st.button("They belong to it, for good", **options)


def _ask_new(loaded: Loaded) -> None:
    with st.form("publish-declare", border=False):
        left, right = st.columns(2)
        sample = loaded.title if loaded.sample else ""
        left.text_input("Name of the data set", sample, max_chars=LONGEST_NAME, key="publish-new-name")
        bound = loaded.data.rows_per_person
        right.text_input(
            "Whom it protects",
            "one person" if bound else "one row",
            max_chars=LONGEST_NAME,
            key="publish-unit",
            help="Such as: one patient.",
        )
        words = "Rows one of them has at most. Every guarantee counts one row; somebody with several loses as many times as much."
        left.number_input(
            "Rows per person at most", 1, 1_000_000, bound or 1, key="publish-rows", help=words, disabled=bound is not None
        )
        cap = {"format": "%g", "step": 0.1, "help": "The most that all releases of these rows may cost together."}
        right.number_input(f"Cap on ε ({NEIGHBOURS})", 0.001, 1000.0, None, key="publish-cap", placeholder="you decide", **cap)
        with left.expander("Cap on δ", icon=":material/tune:"):
            st.number_input(_DELTA, 0.0, 0.1, 0.0, key="publish-delta", format="%g", step=1e-7, help=_DELTA_HELP)
        st.form_submit_button("Declare it, disjoint from all others", icon=":material/add:", on_click=_declare, args=(loaded,))


def _declare(loaded: Loaded) -> None:
    asked = {name: st.session_state[f"publish-{name}"] for name in ("new-name", "unit", "rows", "cap", "delta")}
    book = ReleaseRegister()
    try:
        unit = {"unit": asked["unit"], "rows_per_unit": int(asked["rows"]), "role": loaded.role}
        found = book.declare(asked["new-name"], epsilon_cap=_given(asked["cap"]), delta_cap=float(asked["delta"]), **unit)
        book.assign(loaded.data.identity, found.name)
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem


def _given(cap: float | None) -> float:
    if cap is None:
        raise DpvizError("There is no cap.", remedy="Decide how much all releases of these rows may cost together.")
    return float(cap)


def _assign(name: str, loaded: Loaded) -> None:
    try:
        ReleaseRegister().assign(loaded.data.identity, name)
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem


def _ask_cap(book: ReleaseRegister, known: DataSet) -> None:
    """Other caps; every change is kept and shown."""
    with st.expander("Change the cap", icon=":material/tune:"):
        key = f"{known.name}-{known.epsilon_cap}-{known.delta_cap}"
        left, right = st.columns(2)
        new = left.number_input(
            f"New cap on ε ({NEIGHBOURS})", 0.001, 1000.0, known.epsilon_cap, format="%g", key=f"publish-cap-of-{key}"
        )
        options = {"format": "%g", "step": 1e-7, "help": _DELTA_HELP, "key": f"publish-delta-of-{key}"}
        delta = right.number_input(_DELTA, 0.0, 0.1, known.delta_cap, **options)
        is_same = (new, delta) == (known.epsilon_cap, known.delta_cap)
        st.button("Set this cap", disabled=is_same, on_click=_change_cap, args=(known, new, delta), icon=":material/check:")
        changes = book.cap_changes(known.name)
        lines = [
            {"when (UTC)": at[:19].replace("T", " "), "cap on ε": number_text(cap), "cap on δ": number_text(delta)}
            for at, cap, delta in changes
        ]
        st.dataframe(lines, hide_index=True, alt="Every cap this data set has had.")


def _change_cap(known: DataSet, epsilon: float, delta: float) -> None:
    try:
        ReleaseRegister().change_caps(known.name, epsilon_cap=epsilon, delta_cap=delta)
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem
