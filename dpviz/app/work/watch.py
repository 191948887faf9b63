"""Work under way, on its page: progress with the time left, Cancel, and what became of it. This is the app's only poller.

What is said of work stands in a container that is there without any, too: Streamlit makes everything below anew when an element
more or less stands above it, which would close an open list under the user's hand.
"""

import math
from collections.abc import Callable

import streamlit as st

from dpviz.app.parts import error
from dpviz.app.work.in_turn import wait_in_turn
from dpviz.app.work.session import Status, begin, cancel, poll, shared_pool
from dpviz.app.work.tasks import Task

#: Seconds between two polls: of a tree or a first picture that somebody waits for, of other work, and where each draws or nothing
#: hurries: the longer the work, the longer the pause.
_EVERY_TREE, _EVERY, _EVERY_DRAWING, _SELDOM = 0.4, 1.0, 2.0, 6.0
#: Missing parts that add a second to the pause.
_PARTS = 250
#: Seconds that each job in line before adds: on a busy server, polls of what is not there yet take time from what is asked for.
_IN_LINE = 0.2
_STALE = "Settings have changed since: what is shown is stale."
wait_in_turn()


def watch(
    task: Task,
    words: str,
    *,
    unit: str = "",
    draw: Callable[[Status], None] | None = None,
    at_end: bool = False,
    may_stop: bool = True,
) -> None:
    """Progress and Cancel while there is work on a task. The page is drawn again whenever a part is done, and at the end.

    `words` say what is being done, `unit` what the parts are called, where they are counted instead of a percentage. `draw`
    draws the answers so far below the progress, less often than it is polled; then the page is drawn again with the first answer
    and at the end. With `at_end` it is at the end only. No Cancel without `may_stop`.
    """
    before, place = poll(task), st.container()
    if before.job is None:
        return
    is_awaited = not before.values

    @st.fragment(run_every=_pause(task, before, is_rare=at_end, is_awaited=is_awaited))
    def again() -> None:
        status = poll(task)
        is_news = (is_awaited and status.values) or (draw is None and status.n_missing < before.n_missing)
        if status.job is None or (is_news and not at_end):
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(status.share, text=f":material/hourglass_top: {words}, {_progress_text(status, unit)} …")
            kept = "What is done is kept." if len(task.keys) > 1 else None
            if may_stop and st.button("Cancel", key=f"cancel-{task.slot}", help=kept):
                cancel(task)
                st.rerun()

    with place:
        again()
        if draw is not None:
            st.fragment(run_every=_pause(task, before, is_rare=True))(_draw_so_far)(task, draw)


def _draw_so_far(task: Task, draw: Callable[[Status], None]) -> None:
    status = poll(task)
    if status.values:
        draw(status)


def _pause(task: Task, status: Status, *, is_rare: bool, is_awaited: bool = False) -> float:
    in_line = _IN_LINE * shared_pool().n_waiting(task.lane)
    if is_rare:
        return min(_SELDOM, _EVERY_DRAWING + status.n_missing / _PARTS + in_line)
    return min(_SELDOM, (_EVERY_TREE if is_awaited or task.lane == "tree" else _EVERY) + in_line)


def watch_missing(task: Task, words: str) -> None:
    """Watch the work on an answer that the page was drawn without; draw it again at once if the answer has come since."""
    watch(task, words)
    status = poll(task)
    if status.is_done:
        st.rerun()


def _progress_text(status: Status, unit: str) -> str:
    job, n_parts = status.job, len(status.answers)
    if job is None or not job.has_begun:
        return "waiting for other work on this server"
    done = f"{n_parts - status.n_missing:,} of {n_parts:,} {unit}" if unit else f"{job.share:.0%}"
    seconds = job.seconds_left
    return done if seconds is None else f"{done}, about {duration_text(seconds)} left"


def duration_text(seconds: float) -> str:
    """In whole seconds, or minutes above a minute and a half."""
    return f"{max(1, math.ceil(seconds)):,} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def offer(task: Task, label: str, icon: str, *, on_click: Callable[[Task], None] = begin) -> Status:
    """The button that begins a task; disabled when nothing is missing, and while there is work on it."""
    status = poll(task)
    is_idle = bool(status.n_missing) and status.job is None
    st.button(label, icon=icon, disabled=not is_idle, key=f"begin-{task.slot}", on_click=on_click, args=(task,))
    return status


def report(task: Task, words: str, *, stale: str = _STALE, draw: Callable[[Status], None] | None = None) -> Status:
    """Watch the work on a task; without any, say why there is no answer, or that the one shown is for other settings.

    `draw` as for `watch`.
    """
    status = poll(task)
    is_stale = bool(status.shown) and not status.is_current
    with st.container():
        watch(task, words, draw=draw)
        for problem in status.problems:
            error(problem, kept="What is shown is the answer before." if is_stale else "")
        if status.was_stopped and status.n_missing:
            _say_stopped(status, is_stale)
        elif is_stale and status.job is None and not status.problems and stale:
            st.info(stale, icon=":material/history:")
    return status


def _say_stopped(status: Status, is_stale: bool) -> None:
    if len(status.answers) > 1:
        words = f"Stopped. What was done is kept; {status.n_missing:,} of {len(status.answers):,} are missing."
        st.info(words, icon=":material/pause_circle:")
    elif not status.values:
        kept = " What is shown is the answer before." if is_stale else ""
        st.info(f"Stopped before there was an answer.{kept}", icon=":material/pause_circle:")
