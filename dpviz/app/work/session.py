"""The background work of this session: begin a task, poll it, cancel it. Answers stay until the browser goes away.

Some tasks share their answers: a class that opens one link computes once. Those are about simulated or public rows.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import streamlit as st

from dpviz.app.work.pool import Job, Pool
from dpviz.app.work.tasks import Answer, Shelf, Task, drop_oldest, working
from dpviz.errors import Cancelled, DpvizError
from dpviz.randomness import random_128_bits

_WORK, _NAME = "_work", "_session_name"
Answers = tuple[Answer | None, ...]


@dataclass(frozen=True)
class Shown:
    """Answers to show: what was asked, and the values there are."""

    asked: Any
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Status:
    """Where a task stands: an answer per part, None where there is none yet, and the `job` that waits or runs.

    `shown` are the task's own answers, else the last ones about the same; `is_current`: they answer this task, if only in part.
    `was_stopped`: work on it ended before it was done. `failure` is why the work as a whole failed.
    """

    answers: Answers
    shown: Shown | None
    is_current: bool
    job: Job | None
    was_stopped: bool
    failure: DpvizError | None

    @property
    def share(self) -> float:
        """How much the job has done, in [0, 1]."""
        return 0.0 if self.job is None else self.job.share

    @property
    def values(self) -> tuple[Any, ...]:
        """The task's own values as far as they are there, whole or not."""
        return _values(self.answers)

    @property
    def problems(self) -> tuple[DpvizError, ...]:
        """Why there is no answer to some part, or to all of them."""
        found = (answer.problem for answer in self.answers if answer is not None)
        return tuple(problem for problem in (*found, self.failure) if problem is not None)

    @property
    def n_missing(self) -> int:
        """Parts without an answer, or with half of one."""
        return sum(answer is None or not answer.is_whole for answer in self.answers)

    @property
    def is_done(self) -> bool:
        """True when every part has its whole value."""
        return not self.n_missing and not self.problems

    @property
    def result(self) -> Any:
        """The first value shown; None when there is none."""
        return self.shown.values[0] if self.shown else None


def _values(answers: Iterable[Answer | None]) -> tuple[Any, ...]:
    return tuple(answer.value for answer in answers if answer is not None and answer.problem is None)


@dataclass
class Slot:
    """The last job of a slot and the keys it is for; per subject, the keys shown last and what they answer."""

    job: Job | None = None
    keys: tuple[Hashable, ...] = ()
    last: dict[Hashable, tuple[tuple[Hashable, ...], Any]] = field(default_factory=dict)


@dataclass
class _Store:
    slots: dict[str, Slot] = field(default_factory=dict)
    shelves: dict[str, Shelf] = field(default_factory=dict)


def _kept(task: Task) -> tuple[Slot, Shelf]:
    store = st.session_state.setdefault(_WORK, _Store())
    shelves = shared_shelves() if task.is_shared else store.shelves
    return store.slots.setdefault(task.slot, Slot()), shelves.setdefault(task.shelf or task.slot, {})


def begin(task: Task, *, again: bool = False) -> None:
    """Work on what is missing of a task, or (`again`) on all of it anew. Other work of its slot is stopped."""
    slot, shelf = _kept(task)
    if slot.job is not None and not slot.job.is_done and not slot.job.is_stopped:
        if slot.keys == task.keys:
            return
        slot.job.stop()
    drop_oldest(shelf, task)
    slot.keys = task.keys
    slot.job = shared_pool().submit(session_name(), task.lane, working(task, shelf, again=again), task.patience)


def poll(task: Task) -> Status:
    """Where a task stands. Work of its slot for another task is stopped; what it has done stays."""
    slot, shelf = _kept(task)
    job = slot.job if slot.keys == task.keys else None
    if slot.job is not None and job is None:
        slot.job.stop()
    running, was_stopped, failure = _state_of(job)  # before the answers, which are there once the job is done
    answers = tuple(shelf.get(key) for key in task.keys)
    shown, is_current = _shown(task, slot, shelf, answers)
    return Status(answers, shown, is_current, running, was_stopped, failure)


def _state_of(job: Job | None) -> tuple[Job | None, bool, DpvizError | None]:
    """(the job while it waits or runs, whether it was stopped, why it failed)."""
    if job is None:
        return None, False, None
    job.mark_seen()
    if not job.is_done:
        return (None, True, None) if job.is_stopped else (job, False, None)
    was_stopped = isinstance(job.error, Cancelled)
    return None, was_stopped, None if was_stopped else job.error


def _shown(task: Task, slot: Slot, shelf: Shelf, answers: Answers) -> tuple[Shown | None, bool]:
    """Part of an answer is current once work on the rest was begun; until then the last answers are shown."""
    values = _values(answers)
    keys, asked = slot.last.get(task.about, ((), None))
    is_whole = all(answer is not None and answer.is_whole for answer in answers)
    if values and (is_whole or task.keys in (keys, slot.keys)):
        slot.last[task.about] = (task.keys, task.asked)
        return Shown(task.asked, values), True
    before = _values(shelf.get(key) for key in keys)
    return (Shown(asked, before) if before else None), False


def begin_unasked(task: Task, seconds: float = 0.0) -> Status:
    """Begin what is missing of a task unless that was stopped or failed, and wait a moment for a first answer."""
    status = poll(task)
    if status.n_missing and status.job is None and not status.was_stopped and status.failure is None:
        begin(task)
    await_first(task, seconds)
    return poll(task)


def await_first(task: Task, seconds: float) -> None:
    """Return once there is an answer to some part, the work has ended, or the time is over."""
    slot, shelf = _kept(task)
    until = monotonic() + seconds
    while slot.job is not None and not any(key in shelf for key in task.keys) and monotonic() < until:
        if slot.job.wait(min(0.05, seconds)):
            return


def cancel(task: Task) -> None:
    """Stop the work on a task. What is done is kept."""
    slot, _ = _kept(task)
    if slot.job is not None and slot.keys == task.keys:
        slot.job.stop()


def values_of(task: Task) -> tuple[Any, ...]:
    """The values there are, whatever work there is."""
    _, shelf = _kept(task)
    return _values(shelf.get(key) for key in task.keys)


def all_values(slot: str) -> tuple[Any, ...]:
    """Every value on the shelf of a slot, oldest first."""
    return _values(st.session_state.get(_WORK, _Store()).shelves.get(slot, {}).values())


def put(task: Task, values: dict[Hashable, Any]) -> None:
    """Keep values by key as if the task had found them, to be shown until others are."""
    slot, shelf = _kept(task)
    shelf.update({key: Answer(value) for key, value in values.items()})
    slot.last[task.about] = (task.keys, task.asked)


def forget(task: Task) -> None:
    """Let go of what a task found, and of its job: somebody has taken it, or wants it tried anew."""
    slot, shelf = _kept(task)
    for key in task.keys:
        shelf.pop(key, None)
    slot.job, slot.keys, slot.last = None, (), {}


def last_shown(slot: str, about: Hashable) -> Shown | None:
    """What was shown last about a subject by a slot with a shelf of its own."""
    store = st.session_state.get(_WORK, _Store())
    keys, asked = store.slots.get(slot, Slot()).last.get(about, ((), None))
    values = _values(store.shelves.get(slot, {}).get(key) for key in keys)
    return Shown(asked, values) if values else None


# --- the server's threads, and the answers it keeps for everybody


@st.cache_resource(show_spinner=False)
def shared_shelves() -> dict[str, Shelf]:
    """Answers that any session may show. None of them is about private rows."""
    return {}


@st.cache_resource(show_spinner=False)
def shared_pool() -> Pool:
    """The threads of this server."""
    return Pool()


def session_name() -> str:
    """A name for this session that nobody can guess; it never leaves the server."""
    if _NAME not in st.session_state:
        st.session_state[_NAME] = f"{random_128_bits():x}"
    return _while_connected(st.session_state[_NAME])


def _end(session: str) -> None:
    shared_pool().end_session(session)


@st.cache_resource(scope="session", show_spinner=False, on_release=_end)
def _while_connected(session: str) -> str:
    """The name itself; when the browser of the session goes away, its work is stopped."""
    return session
