"""The background work of this session: begin a task, poll it, cancel it. Answers stay until the browser goes away.

Some tasks share their answers: a class that opens one link computes once. Those are about simulated or public rows.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import streamlit as st

from dpviz.app.work.pool import Job, Pool
from dpviz.app.work.tasks import Answer, Task, drop_oldest, working
from dpviz.errors import Cancelled, DpvizError
from dpviz.randomness import random_128_bits

_WORK, _NAME = "_work", "_session_name"
_Keys = tuple[Hashable, ...]


@dataclass(frozen=True)
class Status:
    """Where a task stands: an answer per part, None where there is none yet, and the `job` that waits or runs."""

    answers: tuple[Answer | None, ...]
    shown: tuple[Any, ...]  #: Values to show: the task's own, else the last ones about the same; empty where there are none
    asked: Any  #: What `shown` answers
    is_current: bool  #: `shown` answers this task, if only in part
    job: Job | None
    was_stopped: bool  #: Work on it ended before it was done
    failure: DpvizError | None  #: Why the work as a whole failed

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
        return self.shown[0] if self.shown else None


def _values(answers: Iterable[Answer | None]) -> tuple[Any, ...]:
    return tuple(answer.value for answer in answers if answer is not None and answer.problem is None)


@dataclass
class _Work:
    """Of one session, by slot: the last job with the keys it is for; per subject the keys shown last and what they answer."""

    jobs: dict[str, tuple[Job, _Keys]] = field(default_factory=dict)
    last: dict[tuple[str, Hashable], tuple[_Keys, Any]] = field(default_factory=dict)
    answers: dict[str, dict[Hashable, Answer]] = field(default_factory=dict)

    def job_of(self, task: Task) -> Job | None:
        """The last job of this task; None when its slot has worked on another one since."""
        job, keys = self.jobs.get(task.slot, (None, ()))
        return job if keys == task.keys else None


def _kept(task: Task) -> tuple[_Work, dict[Hashable, Answer]]:
    """The work of this session, and the answers among which this task's are kept."""
    work = st.session_state.setdefault(_WORK, _Work())
    return work, (shared_answers() if task.is_shared else work.answers).setdefault(task.shelf or task.slot, {})


def begin(task: Task, *, again: bool = False) -> None:
    """Work on what is missing of a task, or (`again`) on all of it anew. Other work of its slot is stopped."""
    work, answers = _kept(task)
    job, keys = work.jobs.get(task.slot, (None, ()))
    if job is not None and not job.is_done and not job.is_stopped:
        if keys == task.keys:
            return
        job.stop()
    drop_oldest(answers, task)
    begun = shared_pool().submit(session_name(), task.lane, working(task, answers, again=again), task.patience)
    work.jobs[task.slot] = begun, task.keys


def poll(task: Task) -> Status:
    """Where a task stands. Work of its slot for another task is stopped; what it has done stays."""
    work, kept = _kept(task)
    job = work.job_of(task)
    if job is None and task.slot in work.jobs:
        work.jobs[task.slot][0].stop()
    running, was_stopped, failure = _state_of(job)  # before the answers, which are there once the job is done
    answers = tuple(kept.get(key) for key in task.keys)
    shown, asked, is_current = _shown(task, work, kept, answers)
    return Status(answers, shown, asked, is_current, running, was_stopped, failure)


def _state_of(job: Job | None) -> tuple[Job | None, bool, DpvizError | None]:
    """(the job while it waits or runs, whether it was stopped, why it failed)."""
    if job is None:
        return None, False, None
    job.mark_seen()
    if not job.is_done:
        return (None, True, None) if job.is_stopped else (job, False, None)
    was_stopped = isinstance(job.error, Cancelled)
    return None, was_stopped, None if was_stopped else job.error


def _shown(
    task: Task, work: _Work, kept: dict[Hashable, Answer], answers: tuple[Answer | None, ...]
) -> tuple[tuple[Any, ...], Any, bool]:
    """Part of an answer is current once work on the rest was begun; until then the last answers are shown."""
    values = _values(answers)
    keys, asked = work.last.get((task.slot, task.about), ((), None))
    is_whole = all(answer is not None and answer.is_whole for answer in answers)
    if values and (is_whole or task.keys == keys or work.job_of(task) is not None):
        work.last[task.slot, task.about] = task.keys, task.asked
        return values, task.asked, True
    return _values(kept.get(key) for key in keys), asked, False


def begin_unasked(task: Task, seconds: float = 0.0) -> Status:
    """Begin what is missing of a task unless that was stopped or failed, and wait a moment for a first answer."""
    status = poll(task)
    if status.n_missing and status.job is None and not status.was_stopped and status.failure is None:
        begin(task)
    await_first(task, seconds)
    return poll(task)


def await_first(task: Task, seconds: float) -> None:
    """Return once there is an answer to some part, the work has ended, or the time is over."""
    work, answers = _kept(task)
    job, until = work.job_of(task), monotonic() + seconds
    while job is not None and not any(key in answers for key in task.keys) and monotonic() < until:
        if job.wait(min(0.05, seconds)):
            return


def cancel(task: Task) -> None:
    """Stop the work on a task. What is done is kept."""
    job = _kept(task)[0].job_of(task)
    if job is not None:
        job.stop()


def values_of(task: Task) -> tuple[Any, ...]:
    """The values there are, whatever work there is."""
    _, answers = _kept(task)
    return _values(answers.get(key) for key in task.keys)


def all_values(slot: str) -> tuple[Any, ...]:
    """Every value that the session keeps of a slot, oldest first."""
    return _values(st.session_state.get(_WORK, _Work()).answers.get(slot, {}).values())


def put(task: Task, values: dict[Hashable, Any]) -> None:
    """Keep values by key as if the task had found them, to be shown until others are."""
    work, answers = _kept(task)
    answers.update({key: Answer(value) for key, value in values.items()})
    work.last[task.slot, task.about] = task.keys, task.asked


def forget(task: Task) -> None:
    """Let go of what a task found, and of its job: somebody has taken it, or wants it tried anew."""
    work, answers = _kept(task)
    for key in task.keys:
        answers.pop(key, None)
    work.jobs.pop(task.slot, None)
    work.last.pop((task.slot, task.about), None)


def last_shown(slot: str, about: Hashable) -> tuple[Any, ...]:
    """The values shown last about a subject by a slot that keeps answers of its own; empty where there are none."""
    work = st.session_state.get(_WORK, _Work())
    keys, _ = work.last.get((slot, about), ((), None))
    return _values(work.answers.get(slot, {}).get(key) for key in keys)


# --- the server's threads, and the answers it keeps for everybody


@st.cache_resource(show_spinner=False)
def shared_answers() -> dict[str, dict[Hashable, Answer]]:
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
