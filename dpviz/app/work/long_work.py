"""Long work with one answer: asked for by a button, done in the background, the last answer kept while another is asked.

A lane is one kind of question of a session. What is kept says which question it answers, so that a page can mark it stale.
The work itself may spread over worker processes (`WORKERS`), so that the server goes on answering.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.app.tree_parts import watch
from dpviz.app.work.jobs import Job, Work, long_jobs, session_name
from dpviz.errors import Cancelled, DpvizError

#: Two at least, so that work never runs in the server's own process; not all of a large machine.
WORKERS = max(2, min(8, os.cpu_count() or 2))
_KEPT = "_long_work"


@dataclass(frozen=True)
class Seen:
    """What a lane has for a question.

    Attributes
    ----------
    result : object or None
        The last answer of the lane.
    is_current : bool
        It answers this question.
    job : Job or None
        The question is being worked on.
    problem : DpvizError or None
        Why this question has no answer.
    was_stopped : bool
        The last work for this question was stopped.
    """

    result: Any
    is_current: bool
    job: Job | None
    problem: DpvizError | None = None
    was_stopped: bool = False


@dataclass(frozen=True)
class _Kept:
    key: str = ""
    result: Any = None
    ended: str = ""
    problem: DpvizError | None = None


def begin(lane: str, key: str, work: Work) -> Job:
    """Work on a question; other work of the lane is stopped, its last answer stays."""
    return long_jobs().submit(session_name(), lane, key, work)


def look(lane: str, key: str) -> Seen:
    """What there is for a question. Work for another question of the lane is stopped; what it had is kept."""
    job = long_jobs().current(session_name(), lane)
    if job is not None and job.key != key:
        job.stop()
    if job is not None and job.is_done:
        _keep(lane, job)
        job = None
    kept = _lanes().get(lane, _Kept())
    is_running = job is not None and job.key == key and not job.is_stopped
    about = kept.ended == key and not is_running
    return Seen(
        kept.result,
        kept.result is not None and kept.key == key,
        job if is_running else None,
        kept.problem if about and not isinstance(kept.problem, Cancelled) else None,
        about and isinstance(kept.problem, Cancelled),
    )


def _keep(lane: str, job: Job) -> None:
    """The job's answer if it has one, else the answer before and why there is no other."""
    before = _lanes().get(lane, _Kept())
    try:
        _lanes()[lane] = _Kept(job.key, job.result(), job.key)
    except DpvizError as problem:
        _lanes()[lane] = _Kept(before.key, before.result, job.key, problem)
    long_jobs().forget(session_name(), lane)


def _lanes() -> dict[str, _Kept]:
    return st.session_state.setdefault(_KEPT, {})


def status(seen: Seen, words: str) -> None:
    """Progress and Cancel, or why there is no answer to this question."""
    from dpviz.app.parts import error

    kept = "What is shown is the answer before." if seen.result is not None else ""
    if seen.job is not None:
        watch(seen.job, words)
    elif seen.problem is not None:
        error(seen.problem, kept=kept)
    elif seen.was_stopped:
        st.info(f"Stopped before there was an answer. {kept}", icon=":material/pause_circle:")
    elif seen.result is not None and not seen.is_current:
        st.info("Settings have changed since: what is shown is stale.", icon=":material/history:")
