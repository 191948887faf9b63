"""Releasing from the Publish page: what will be promised, the button, the work, and what became of it.

A click makes a token; the register releases a token once. Reruns, double clicks and a lost connection therefore release nothing
twice, and the work goes on when the page is left.
"""

from collections.abc import Callable
from functools import partial

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import Asked
from dpviz.app.parts import error, plain, why_disabled
from dpviz.app.prose import prose
from dpviz.app.publish.check import n_explorations
from dpviz.app.state import Loaded
from dpviz.app.widgets import chart
from dpviz.app.work.pool import Lane
from dpviz.app.work.session import begin, poll
from dpviz.app.work.tasks import Task, in_one
from dpviz.app.work.watch import watch
from dpviz.errors import DpvizError
from dpviz.figures.guarantee_text import epsilon_text, number_text, verdict
from dpviz.figures.publish.release import risk_sentence, spent_figure, spent_sentence, statement_rows
from dpviz.figures.publish.report_parts import not_promised
from dpviz.figures.publish.report_parts import promised as promised_lines
from dpviz.learners import get_learner
from dpviz.progress import Progress, Stop
from dpviz.randomness import random_128_bits
from dpviz.release.publish import Promise, ReleaseRequest, promise, publish
from dpviz.release.records import Balance, Entry, State, require_room
from dpviz.release.register import ReleaseRegister
from dpviz.release.rows_used import doubts
from dpviz.table.dataset import EncodedDataset

SLOT = "publish"
_TOKEN, _PROBLEM, _LAST, _FAILED = "_publish_token", "_publish_problem", "_publish_last", "_publish_failed"
_AGREED = "publish-agreed"


def request_of(asked: Asked) -> ReleaseRequest:
    """What the sidebar asks for, without its draw: a release is drawn anew."""
    return ReleaseRequest(asked.learner, dict(asked.settings), dict(asked.params))


def promised(book: ReleaseRegister, balance: Balance | None, asked: Asked, loaded: Loaded) -> Promise | None:
    """What a release with these settings promises; None when there can be none, which is then said."""
    request = request_of(asked)
    if balance is not None:
        request = request.at(balance.fitting(request.settings["epsilon"]))
    try:
        return promise(loaded.schema, request, explored=n_explorations(book, loaded))
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem
        return None


def spent(balance: Balance, made: Promise | None) -> None:
    """The running total against the cap, and what is promised under it."""
    st.header("Spent for good", anchor=False)
    sentence = spent_sentence(balance)
    st.markdown(f"**{sentence}**")
    last = _just_released(balance)
    asked = made.loss if made and not last else None
    chart(spent_figure(balance, asked), sentence, key="publish-spent")
    rows = statement_rows(balance, last.loss if last else asked, is_booked=last is not None)
    words = "What is promised about one row and about poisoned rows, by this release alone and by all releases together."
    st.dataframe(rows, hide_index=True, alt=words)
    st.caption(prose("publish", "what it promises", neighbours=NEIGHBOURS))


def ask_release(balance: Balance, made: Promise | None, asked: Asked, loaded: Loaded, *, told: Callable[[Loaded], None]) -> None:
    """The summary and the button; the work while it is under way; what became of the last release.

    `told` is called when something is said about the rows: their owner has learned something from them.
    """
    st.header("Release", anchor=False)
    token = st.session_state.get(_TOKEN)
    if token:
        _await_release(_release_task(token, asked, loaded), token)
        return
    if _say_last(balance):
        return
    problem = st.session_state.pop(_PROBLEM, None)
    if made is None:
        error(problem, kept="Nothing was spent.")
        return
    try:
        require_room(balance, made.loss)
    except DpvizError as full:
        error(full, kept="Nothing was spent.")
        return
    _summary(balance, made, asked)
    _button(made, asked, loaded, _ask_about_rows(loaded, told))


def _summary(balance: Balance, made: Promise, asked: Asked) -> None:
    title = get_learner(asked.learner).title
    left = number_text(max(0.0, balance.left.epsilon - made.loss.epsilon))
    words = f"**One tree by {title}, {epsilon_text(made.loss)}.**  \n{risk_sentence(balance, made.loss)}  \n"
    st.info(words + prose("publish", "drawn anew", left=left), icon=":material/contract:")
    will, will_not = st.columns(2, gap="medium")
    said = verdict(made.claim, made.loss, released=True)
    columns = (will, "What is promised", promised_lines(said)), (will_not, "What is not promised", not_promised())
    for side, title, lines in columns:
        side.markdown(f"**{title}**\n" + "\n".join(f"- {plain(line)}" for line in lines))


def _ask_about_rows(loaded: Loaded, told: Callable[[Loaded], None]) -> bool:
    """Whether the owner accepts that few rows are used, or far from as many as declared; asked only where that is so."""
    found = doubts(loaded.data)
    if not found:
        return True
    told(loaded)
    private = "" if loaded.role.may_read else f"  \n{prose('publish', 'what follows from a look')}"
    st.error("**Look at the rows first.** " + " ".join(map(plain, found)) + private, icon=":material/front_hand:")
    return st.checkbox("I know why; release it anyway", key="publish-accept-rows")


def _button(made: Promise, asked: Asked, loaded: Loaded, accepted: bool) -> None:
    words = f"Spend {epsilon_text(made.loss)} for good, whatever becomes of the file"
    agreed = st.checkbox(words, key=_AGREED, disabled=not accepted) and accepted
    st.button("Release", icon=":material/publish:", disabled=not agreed, on_click=begin_release, args=(asked, loaded))
    why_disabled("" if agreed else "Tick the box first." if accepted else "First confirm that you know why.")


def begin_release(asked: Asked, loaded: Loaded) -> None:
    """Begin one release, unless one is under way or the box was not ticked: a second click does nothing."""
    if not st.session_state.get(_AGREED) or st.session_state.get(_TOKEN):
        return
    token = f"{random_128_bits():032x}"
    st.session_state[_TOKEN], st.session_state[_AGREED] = token, False
    begin(_release_task(token, asked, loaded))


def _release_task(token: str, asked: Asked, loaded: Loaded) -> Task:
    return in_one(SLOT, token, partial(_publish, ReleaseRegister(), loaded.data, request_of(asked), token), lane=Lane.TREE)


def _publish(
    book: ReleaseRegister, data: EncodedDataset, request: ReleaseRequest, token: str, *, progress: Progress, stop: Stop
) -> Entry:
    """Release. Once begun it is spent, so it never stops."""
    return publish(book, data, request, token=token, progress=progress)


def _await_release(task: Task, token: str) -> None:
    """Progress while it is under way; then keep what became of it, from the register if the work is gone."""
    status = poll(task)
    if status.job is not None:
        watch(task, "Releasing: spent, training, writing", may_stop=False)
        return
    st.session_state[_TOKEN] = None
    if status.problems:
        st.session_state[_FAILED] = status.problems[0]
    else:
        st.session_state[_LAST] = status.values[0] if status.values else ReleaseRegister().find(token)
    st.rerun()  # the balance above was read while the release was under way: nothing of it may stay on screen


def _just_released(balance: Balance) -> Entry | None:
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
    words = f"**Released: number {entry.number}, {epsilon_text(entry.loss)}.** Its file is in the history below."
    st.success(words, icon=":material/verified:")
    st.button("Release another one", icon=":material/add:", on_click=st.session_state.pop, args=(_LAST, None))
    return True
