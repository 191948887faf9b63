"""What the Publish page keeps from run to run: whose cap counts, another cap, the release under way, the file that is checked.

A click makes a token; the register releases a token once. Reruns, double clicks and a lost connection therefore release nothing
twice, and the work goes on when the page is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.app import background, frame, preparation
from dpviz.app.controls import TreeSettings
from dpviz.app.parts import as_code, error, escape_markdown, file_line, names_text, role_badge, why_disabled
from dpviz.app.parts import data_line as line_of_table
from dpviz.app.prose import prose
from dpviz.app.state import DataInUse, protect
from dpviz.app.widgets import rows_table
from dpviz.charts.publish.release import cap_rows, checked_file, title
from dpviz.errors import DpvizError, UnansweredRows
from dpviz.learners.request import doubts
from dpviz.progress import Progress, Stop
from dpviz.randomness import random_128_bits
from dpviz.release.files import released_text
from dpviz.release.records import Balance, DataSet, ReleaseRecord, State, protected_unit
from dpviz.release.register import MAX_NAME_LENGTH, Register
from dpviz.release.release import release
from dpviz.results.verdict import DELTA, loss_text
from dpviz.table.role import DataRole

#: The three parts of the page, and the key of their choice in session and address.
RELEASE, REGISTER, CHECK = VIEWS = ("Release", "Register", "Check a file")
VIEW = "publish-view"
#: The name of the release under way among the works of a session.
SLOT = "publish"
AGREED, ACCEPTED = "publish-agreed", "publish-accept-rows"
#: Of the session: the release made last, why the last one failed, the file that is checked.
LAST, FAILED, CHECKED = "_publish_last", "_publish_failed", "_checked_file"
_TOKEN, _REFUSED, _TAKEN = "_publish_token", "_publish_refused", "_publish_taken"
_NEW, _OLD = "a new data set: nobody in it is in any other", "a data set named before"
_DELTA_LABEL = "The most δ all releases may add up to"


def data_line(in_use: DataInUse) -> None:
    """The line on top of the page: the table to release from, or the file that is checked; the register needs no rows."""
    view, found = st.session_state.get(VIEW, st.query_params.get(VIEW)), st.session_state.get(CHECKED)
    if view == CHECK and found is not None:
        file_line(found.name, f"{title(found)} · checked without rows")
    elif view in (REGISTER, CHECK):
        st.markdown("No rows are needed here.")
    else:
        line_of_table(in_use)


def register() -> Register | None:
    """The register, after the recovery of what a crash interrupted; None when it cannot be used, which is then said."""
    book = Register()
    try:
        book.recover_interrupted()
        if not frame.checks_requests() and any(known.role is DataRole.PRIVATE for known in book.data_sets()):
            raise frame.unchecked_error("Private rows and their register")
    except DpvizError as problem:
        error(problem, kept="Nothing can be released without its register.")
        return None
    return book


def text_of(record: ReleaseRecord) -> str:
    """The released file; empty where it is gone or was changed."""
    try:
        return released_text(Path(record.file), record.sha256)
    except DpvizError:
        return ""


# --- the data set of the rows in use, and its cap


def ask_data_set(book: Register, in_use: DataInUse) -> Balance | None:
    """The data set of the rows in use with what was spent on it; asks as long as it was not said which it is."""
    st.header("Data set", anchor=False)
    st.caption(prose("publish", f"{in_use.role} rows"))
    try:
        known = book.data_set_of(in_use.data.identity, in_use.data.table_sums, in_use.table.names, add_rows=True)
    except DpvizError as behind:
        error(behind, kept="Nothing can be released from this register.")
        return None
    if known is None:
        _ask_which(book, in_use)
        return None
    if known.role is DataRole.PRIVATE and in_use.role is not DataRole.PRIVATE:
        protect()
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        role_badge(known.role)
        cap = escape_markdown(loss_text(known.cap, known.protects))
        st.markdown(f"Data set {as_code(known.name)} · cap {cap}", width="content")
    _ask_cap(book, known)
    return book.balance(known.name)


def _ask_which(book: Register, in_use: DataInUse) -> None:
    """An unseen table: it belongs to a data set there is, or to a new one. Nothing is guessed; what is alike is shown first."""
    lookalikes = book.looks_like(in_use.data.identity, in_use.data.table_sums, in_use.table.names)
    alike = [*lookalikes, *(found.name for found in book.alike(in_use.table.names) if found.name not in lookalikes)]
    names = [*alike, *(found.name for found in book.data_sets() if found.name not in alike)]
    st.markdown("New rows. A budget belongs to people, not to a file.", help=prose("private", "new rows"))
    kind = st.radio("These rows belong to", [_OLD, _NEW], index=None, key="publish-kind") if names else _NEW
    if kind == _OLD:
        name = st.selectbox("Data set", names, index=None, placeholder="Choose the data set", key="publish-name")
        others = [other for other in lookalikes if other != name]
        answered = name is not None and _are_others(others, others)
        if st.button("Add them permanently", icon=":material/link:", disabled=not answered) and name is not None:
            _write(lambda: _assign(book, name, in_use, others), kept="Nothing was declared.")
    elif kind == _NEW and _are_others(alike, lookalikes):
        _ask_new(book, in_use, alike)


def _are_others(alike: list[str], lookalikes: Sequence[str]) -> bool:
    """Whether the answer was that nobody in these rows is in a data set with the same columns."""
    if not alike:
        return True
    known = names_text(alike)
    said = f"These rows look like those of {known}." if lookalikes else f"{known} has mostly the same columns."
    words = f"**{said}** If somebody is in both, these rows belong to it, and its cap counts."
    st.warning(words, icon=":material/group:")
    return st.checkbox(f"Nobody in these rows is in {known}", key="publish-others")


def _write(write: Callable[[], Any], *, kept: str) -> None:
    """Write to the register and draw the page again, or say why that failed and what was `kept`."""
    try:
        write()
    except DpvizError as problem:
        error(problem, kept=kept)
    else:
        st.rerun()


def _assign(book: Register, name: str, in_use: DataInUse, others: list[str]) -> None:
    about: dict[str, Any] = {"sums": in_use.data.table_sums, "disjoint_from": others, "columns": in_use.table.names}
    book.assign(in_use.data.identity, name, **about)


def _ask_new(book: Register, in_use: DataInUse, alike: list[str]) -> None:
    unit_of_rows = protected_unit(None, in_use.data)
    with st.form("publish-declare", enter_to_submit=False, border=False):
        left, right = st.columns(2)
        sample = in_use.title if in_use.sample else ""
        name = left.text_input("Name of the data set", sample, max_chars=MAX_NAME_LENGTH, key="publish-new-name")
        words = "such as: one patient"
        unit = right.text_input("Whom it protects", max_chars=MAX_NAME_LENGTH, key="publish-unit", placeholder=words)
        left, right = st.columns(2)  # on a telephone they stand in this order
        words = "The most that all releases of these rows may cost together."
        options: dict[str, Any] = {
            "format": "%g",
            "step": 0.1,
            "placeholder": "not declared",
            "help": words,
            "key": "publish-cap",
        }
        cap = left.number_input(f"Cap on ε ({unit_of_rows.neighbours})", 0.001, 1000.0, None, **options)
        rows = unit_of_rows.rows
        right.caption(f"Rows per person at most: {rows:,}, as the schema says. Another number is given on the Data page.")
        with st.expander("Allow a δ beside ε", icon=":material/tune:"):
            delta = st.number_input(_DELTA_LABEL, 0.0, 0.1, 0.0, key="publish-delta", format="%g", step=1e-7, help=DELTA)
        declared = st.form_submit_button("Declare it: nobody in it is in another", icon=":material/add:")

    def declare() -> None:
        if not (unit and cap):
            what = "There is no cap." if unit else "There is nobody it protects."
            raise DpvizError(what, remedy="All of it has to be said, by somebody who knows it.")
        about: dict[str, Any] = {"unit": unit, "role": in_use.role, "rows_per_unit": rows}
        found = book.declare(name, epsilon_cap=cap, delta_cap=float(delta), **about)
        _assign(book, found.name, in_use, alike)

    if declared:
        _write(declare, kept="Nothing was declared.")


def _ask_cap(book: Register, known: DataSet) -> None:
    """Another cap: raising it takes a reason, a name and the number once more, and all three stay in its history."""
    with st.expander("Change the cap", icon=":material/tune:"):
        key = f"{known.name}-{known.epsilon_cap}-{known.delta_cap}"
        left, right = st.columns(2)
        label, written = f"New cap on ε ({known.protects.neighbours})", {"format": "%g", "key": f"publish-cap-of-{key}"}
        new = left.number_input(label, 0.001, 1000.0, known.epsilon_cap, **written)
        options: dict[str, Any] = {"format": "%g", "step": 1e-7, "help": DELTA, "key": f"publish-delta-of-{key}"}
        delta = right.number_input(_DELTA_LABEL, 0.0, 0.1, known.delta_cap, **options)
        reason = name = why_not = ""
        if new > known.epsilon_cap or delta > known.delta_cap:
            words = "**This weakens the protection of everybody in this data set.** It stays in its history."
            st.warning(words, icon=":material/gavel:")
            reason = st.text_input("Why", max_chars=MAX_NAME_LENGTH, key=f"publish-why-{key}")
            left, right = st.columns(2)
            name = left.text_input("Who decides", max_chars=MAX_NAME_LENGTH, key=f"publish-who-{key}")
            again = right.number_input("The new cap on ε once more", value=None, format="%g", key=f"publish-again-{key}")
            if not (reason.strip() and name.strip()):
                why_not = "Raising it takes a reason and a name."
            elif again != new:
                why_not = "Type the new cap on ε once more."
        elif (new, delta) == (known.epsilon_cap, known.delta_cap):
            why_not = "This is the cap there is."
        clicked = st.button("Set this cap", icon=":material/check:", disabled=bool(why_not))
        why_disabled(why_not)
        if clicked and not why_not:
            asked = {"epsilon_cap": new, "delta_cap": delta, "reason": reason, "made_by": name}
            _write(lambda: book.change_caps(known.name, **asked), kept="The cap is as it was.")  # type: ignore[arg-type]
        rows_table(cap_rows(book.cap_changes(known.name), known.protects), "Every cap this data set has had.")


# --- the release


def begin_release(asked: TreeSettings, in_use: DataInUse, name: str) -> None:
    """Begin one release, unless one is under way or the box was not ticked: a second click does nothing."""
    if not st.session_state.get(AGREED) or st.session_state.get(_TOKEN):
        return
    accepted = bool(st.session_state.get(ACCEPTED))
    st.session_state[_TOKEN] = f"{random_128_bits():032x}", name
    st.session_state[AGREED], st.session_state[_TAKEN] = False, accepted
    background.start(_release_task(asked, in_use))


def _release_task(asked: TreeSettings, in_use: DataInUse) -> background.Task:
    token, name = st.session_state[_TOKEN]
    request, accepted = replace(asked.request, seed=None), bool(st.session_state.get(_TAKEN))
    how: dict[str, Any] = {"token": token, "accept_rows": accepted, "columns": in_use.table.names}

    def made(*, progress: Progress, stop: Stop) -> ReleaseRecord:  # once begun it is spent, so it never stops
        return release(Register(), name, request, in_use.data, progress=progress, **how)

    return background.in_one(SLOT, token, made, priority="tree")


def await_release(asked: TreeSettings, in_use: DataInUse) -> bool:
    """Progress while a release is under way; then what became of it is kept, from the register if the work is gone."""
    if not st.session_state.get(_TOKEN):
        return False
    task, (token, _) = _release_task(asked, in_use), st.session_state[_TOKEN]
    status = background.state(task)
    if status.job is not None:
        background.watch(task, "Releasing: spent, training, writing", may_stop=False)
        return True
    st.session_state[_TOKEN] = None
    problem = status.problems[0] if status.problems else None
    if isinstance(problem, UnansweredRows) and problem.code == "few":
        st.session_state[_REFUSED] = (in_use.data.identity, in_use.schema.key)
        st.session_state[AGREED] = True  # nothing was spent: what was agreed to stands, and why few rows fit is asked
        preparation.note_refused_release(in_use)
    elif problem is not None:
        st.session_state[FAILED] = problem
    else:
        st.session_state[LAST] = status.values[0] if status.values else Register().find(token)
    st.rerun()  # the balance above was read while the release was under way: nothing of it may stay on screen
    return True


def last_release(balance: Balance) -> ReleaseRecord | None:
    """The release of this data set that this session made last, until another one is wished for."""
    record = st.session_state.get(LAST)
    is_ours = record is not None and record.state is State.RELEASED and record.data_set == balance.data_set.name
    return record if is_ours else None


def ask_about_rows(in_use: DataInUse) -> bool:
    """Whether the owner accepts that few rows are used, or far from as many as declared; asked only where that is known.

    Of private rows it is known once a release was refused, or their owner checked them on the Data page.
    """
    was_refused = st.session_state.get(_REFUSED) == (in_use.data.identity, in_use.schema.key)
    found = doubts(in_use.data) if in_use.role.may_read or was_refused else preparation.schema_doubts(in_use)
    if not found:
        if not in_use.role.may_read:
            st.caption(prose("publish", "how the rows fit"))
        return True
    private = "" if in_use.role.may_read else f"  \n{prose('publish', 'what follows from a look')}"
    head = "Refused, and nothing was spent." if was_refused else "Few rows fit."
    st.error(f"**{head}** " + " ".join(map(escape_markdown, found)) + private, icon=":material/front_hand:")
    return st.checkbox("I know why; release it anyway", key=ACCEPTED)


def check_file(file: Any) -> None:
    """Read a file, add its ledger up, look it up. Raises DpvizError; then the one before is no longer shown."""
    st.session_state.pop(CHECKED, None)
    st.session_state[CHECKED] = checked_file(file.getvalue(), file.name, Register())
