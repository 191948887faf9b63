"""Releasing from the Publish page: what will be promised, the button, the work, and what became of it.

A click makes a token; the register releases a token once. Reruns, double clicks and a lost connection therefore release nothing
twice, and the work goes on when the page is left.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import streamlit as st

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.app import background
from dpviz.app.controls import Sidebar
from dpviz.app.parts import error, plain, plain_bound, why_disabled
from dpviz.app.prose import prose
from dpviz.app.publish.check import n_explorations
from dpviz.app.publish.data import how_it_adds_up
from dpviz.app.publish.released import released_tree, text_of
from dpviz.app.state import Loaded
from dpviz.app.widgets import rows_table, show_chart
from dpviz.errors import DpvizError
from dpviz.figures.publish.proof import Proof, proof_of, proof_sentence
from dpviz.figures.publish.release import odds_rows, spent_chart, spent_sentence
from dpviz.figures.publish.report import not_promised
from dpviz.io.exports.contract import Exportable
from dpviz.learners import FitRequest
from dpviz.learners.request import doubts
from dpviz.progress import Progress, Stop
from dpviz.randomness import random_128_bits
from dpviz.release.files import released_text
from dpviz.release.records import Balance, ReleaseRecord, State, protected
from dpviz.release.register import Register
from dpviz.release.release import ReleaseTerms, preview_terms, release, require_source
from dpviz.results.verdict import Unit, odds_text, short_text, verdict
from dpviz.table.schema import Schema

SLOT = "publish"
_TOKEN, _PROBLEM, _LAST, _FAILED = "_publish_token", "_publish_problem", "_publish_last", "_publish_failed"
_AGREED, _ACCEPTED = "publish-agreed", "publish-accept-rows"
_REFUSED, _TAKEN = "_publish_refused", "_publish_taken"


def promise_of(book: Register, balance: Balance | None, asked: Sidebar, loaded: Loaded) -> ReleaseTerms | None:
    """What a release with these settings promises; None when there can be none, which is then said."""
    request = asked.request
    if balance is not None:
        request = request.at(epsilon=balance.fitting(request.settings.epsilon))
    try:
        return preview_terms(loaded.schema, request, explored=n_explorations(book, loaded))
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem
        return None


def running_total(balance: Balance, made: ReleaseTerms | None) -> None:
    """The running total against the cap, and what is promised under it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header("Permanently spent", anchor=False, width="content")
        how_it_adds_up(balance)
    st.markdown(f"**{plain(spent_sentence(balance))}**")
    last = _just_released(balance)
    asked = made if made and not last else None
    show_chart(spent_chart(balance, asked.loss if asked else None), "publish-spent")
    loss, risk = (asked.loss, asked.risk) if asked else (last.loss, released_risk(last)) if last else (None, None)
    rows = odds_rows(balance, loss, risk, is_booked=last is not None)
    rows_table(rows, "Right guesses by this release alone and by all releases together.")


def released_risk(entry: ReleaseRecord) -> Risk | None:
    """What the steps of a release tell, from its file; None where that is gone or was changed."""
    with suppress(DpvizError):
        return Exportable(released_text(Path(entry.file), entry.sha256)).verdict.risk
    return None


@dataclass(frozen=True)
class Fit:
    """What is said about how the rows in use fit their schema: `doubts`, as far as their owner asked for them; `tell` notes that
    a release was refused because of them.
    """

    doubts: Callable[[Loaded], tuple[str, ...]]
    tell: Callable[[Loaded], None]


def ask_release(balance: Balance, made: ReleaseTerms | None, asked: Sidebar, loaded: Loaded, fit: Fit) -> None:
    """The summary and the button; the work while it is under way; what became of the last release."""
    st.header("Release", anchor=False)
    token = st.session_state.get(_TOKEN)
    if token:
        _await_release(_release_task(token, asked, loaded), token, loaded, fit)
        return
    if _say_last(balance):
        return
    problem = st.session_state.pop(_PROBLEM, None)
    if made is None:
        error(problem, kept="Nothing was spent.")
        return
    try:
        balance.require_room(made.loss)
    except DpvizError as full:
        error(full, kept="Nothing was spent.")
        return
    try:
        require_source(Register(), loaded.data)
        proof = _proof(loaded.schema.key, loaded.schema)
    except DpvizError as unproved:
        error(unproved, kept="Nothing was spent.")
        return
    unit = protected(balance.data_set, loaded.data.rows_per_person)
    _summary(balance, made, asked, unit)
    st.caption(f":material/task_alt: {plain(proof_sentence(proof))}")
    _button(made, unit, asked, loaded, _ask_about_rows(loaded, fit))


@st.cache_resource(scope="session", max_entries=4, show_spinner="Trying every export on a tree of these columns …")
def _proof(key: str, _schema: Schema) -> Proof:
    return proof_of(_schema)


def _summary(balance: Balance, made: ReleaseTerms, asked: Sidebar, unit: Unit) -> None:
    title, said = asked.request.spec.title, verdict(made.claim, made.loss, released=True, unit=unit, risk=made.risk)
    words, left = f"**One tree by {title}, {plain(short_text(made.loss, unit))}.**  \n", _left_after(balance, made, unit)
    if balance.releases:
        together = balance.with_one_more([made.loss])
        in_all = f"With the releases before, {short_text(together, unit)} in all. {odds_text(together, unit)}"
        words += f"{plain(in_all)}  \n"
    st.info(words + prose("publish", "drawn anew", left=plain(left)), icon=":material/contract:")
    plain_bound("" if balance.releases else said.plain_bound)
    will, will_not = st.columns(2, gap="medium")
    columns = (will, "What is promised", said.promises), (will_not, "What is not promised", not_promised(unit))
    for side, title, lines in columns:
        side.markdown(f"**{title}**\n" + "\n".join(f"- {plain(line)}" for line in lines))


def _left_after(balance: Balance, made: ReleaseTerms, unit: Unit) -> str:
    return short_text(PrivacyLoss(max(0.0, balance.left.epsilon - made.loss.epsilon)), unit)


def _ask_about_rows(loaded: Loaded, fit: Fit) -> bool:
    """Whether the owner accepts that few rows are used, or far from as many as declared; asked only where that is known.

    Of private rows it is known once their owner checked them on the Data page, or a release was refused.
    """
    found = doubts(loaded.data) if loaded.role.may_read or _was_refused(loaded) else fit.doubts(loaded)
    if not found:
        if not loaded.role.may_read:
            st.caption(prose("publish", "how the rows fit"))
        return True
    private = "" if loaded.role.may_read else f"  \n{prose('publish', 'what follows from a look')}"
    head = "Refused, and nothing was spent." if _was_refused(loaded) else "Few rows fit."
    st.error(f"**{head}** " + " ".join(map(plain, found)) + private, icon=":material/front_hand:")
    return st.checkbox("I know why; release it anyway", key=_ACCEPTED)


def _was_refused(loaded: Loaded) -> bool:
    return st.session_state.get(_REFUSED) == (loaded.data.identity, loaded.schema.key)


def _button(made: ReleaseTerms, unit: Unit, asked: Sidebar, loaded: Loaded, accepted: bool) -> None:
    words = f"Spend {plain(short_text(made.loss, unit))} permanently, even if the file is lost"
    agreed = st.checkbox(words, key=_AGREED, disabled=not accepted) and accepted
    st.button("Release", icon=":material/publish:", disabled=not agreed, on_click=begin_release, args=(asked, loaded))
    why_disabled("" if agreed else "Tick the box first." if accepted else "First confirm that you know why.")


def begin_release(asked: Sidebar, loaded: Loaded) -> None:
    """Begin one release, unless one is under way or the box was not ticked: a second click does nothing."""
    if not st.session_state.get(_AGREED) or st.session_state.get(_TOKEN):
        return
    token = f"{random_128_bits():032x}"
    accepted = bool(st.session_state.get(_ACCEPTED))
    st.session_state[_TOKEN], st.session_state[_AGREED], st.session_state[_TAKEN] = token, False, accepted
    background.start(_release_task(token, asked, loaded))


def _release_task(token: str, asked: Sidebar, loaded: Loaded) -> background.Task:
    accepted = bool(st.session_state.get(_TAKEN))
    made = partial(_publish, Register(), loaded, asked.request, token, accepted)
    return background.in_one(SLOT, token, made, priority="tree")


def _publish(
    book: Register, loaded: Loaded, request: FitRequest, token: str, accepted: bool, *, progress: Progress, stop: Stop
) -> ReleaseRecord:
    """Release. Once begun it is spent, so it never stops."""
    data, about = loaded.data, {"token": token, "accept_rows": accepted, "columns": loaded.table.names, "progress": progress}
    known = book.data_set_of(data.identity)
    if known is None:
        raise DpvizError("These rows are of no data set yet.", remedy="Say of which, above.")
    return release(book, known.name, replace(request, seed=None), data, **about)  # type: ignore[arg-type]


def _await_release(task: background.Task, token: str, loaded: Loaded, fit: Fit) -> None:
    """Progress while it is under way; then keep what became of it, from the register if the work is gone."""
    status = background.state(task)
    if status.job is not None:
        background.watch(task, "Releasing: spent, training, writing", may_stop=False)
        return
    st.session_state[_TOKEN] = None
    if status.problems and not st.session_state.get(_TAKEN) and doubts(loaded.data):
        st.session_state[_REFUSED] = (loaded.data.identity, loaded.schema.key)
        st.session_state[_AGREED] = True  # nothing was spent: what was agreed to stands, and why few rows fit is asked
        fit.tell(loaded)
    elif status.problems:
        st.session_state[_FAILED] = status.problems[0]
    else:
        st.session_state[_LAST] = status.values[0] if status.values else Register().find(token)
    st.rerun()  # the balance above was read while the release was under way: nothing of it may stay on screen


def _just_released(balance: Balance) -> ReleaseRecord | None:
    """The release of this data set that this session made last, until another one is wished for."""
    entry = st.session_state.get(_LAST)
    is_ours = entry is not None and entry.state is State.RELEASED and entry.data_set == balance.data_set.name
    return entry if is_ours else None


def _say_last(balance: Balance) -> bool:
    """What became of the last release; why one failed is said once. True for a success, beside which nothing else is said."""
    failed = st.session_state.pop(_FAILED, None)
    if failed is not None:
        error(failed)
    entry = _just_released(balance)
    if entry is None:
        return False
    unit = balance.data_set.protects
    words = f"**Released: number {entry.number}, {plain(short_text(entry.loss, unit))}.** Its file is in the history below."
    st.markdown(f":material/verified: {words}")
    if text := text_of(entry):
        released_tree(text, unit, key="released-tree")
    st.button("Release another one", icon=":material/add:", on_click=st.session_state.pop, args=(_LAST, None))
    return True
