"""What is computed in the background: tasks made of parts, and the answers to them.

Every part has a key of its own: a tree is a task of one part, a chart has a part per curve, a comparison one per fit. Answers
are kept by key, so tasks that share parts compute them once. Keys hold fingerprints and settings, never rows.
"""

import math
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz.app.work.pool import Lane, Work
from dpviz.errors import Cancelled, DpvizError, WorkersEnded
from dpviz.progress import Progress, Stop, is_stopped

#: Worker processes for one task. Two at least, so that work leaves the server's own process, which keeps a processor to itself.
WORKERS = max(2, min(8, (os.cpu_count() or 2) - 1))
#: Called with `progress` and `stop`.
Make = Callable[..., Any]
#: progress, stop -> values, each sharper than the one before
Steps = Callable[..., Iterable[Any]]
#: Gives the answers to the missing parts as they come, with their keys. Progress is told for the part under way.
Compute = Callable[[Sequence[Hashable], Progress, Stop], Iterable[tuple[Hashable, "Answer"]]]


@dataclass(frozen=True)
class Answer:
    """What is known of a part: its value, or why there is none. It is not whole when it was stopped half way."""

    value: Any = None
    is_whole: bool = True
    problem: DpvizError | None = None


@dataclass(frozen=True)
class Task:
    """Something to compute, in parts that each have a key."""

    slot: str  #: which work of the session it is; a task stops work for another one in its slot
    keys: tuple[Hashable, ...]
    compute: Compute
    about: Hashable = None  #: what its answers are about: earlier ones about the same are shown while it has none
    asked: Any = None  #: what was asked, for whoever shows its answers later; no rows
    shelf: str = ""  #: where answers are kept: the slot, unless tasks of several slots share parts
    keep: int = 50  #: most other answers that stay
    lane: Lane = "bulk"
    is_shared: bool = False  #: its answers are kept for all sessions of the server: never what comes from private rows
    #: Its work stops when nobody has polled it for so many seconds: the session is gone, and others are waiting.
    patience: float = math.inf


def in_parts(slot: str, makes: Mapping[Any, Make], **more: Any) -> Task:
    """A task whose parts are made one after the other; `more` as in Task.

    A problem with one part spares the others. A value returned after the work was stopped is not whole.
    """

    def compute(missing: Sequence[Hashable], progress: Progress, stop: Stop) -> Iterable[tuple[Hashable, Answer]]:
        for key in missing:
            if is_stopped(stop):
                return
            yield key, _made(makes[key], progress, stop)

    return Task(slot, tuple(makes), compute, **more)


def in_steps(slot: str, key: Hashable, make: Steps, is_whole: Callable[[Any], bool], **more: Any) -> Task:
    """A task of one part whose values become sharper: each is shown until the next; `more` as in Task."""

    def compute(missing: Sequence[Hashable], progress: Progress, stop: Stop) -> Iterable[tuple[Hashable, Answer]]:
        try:
            for value in make(progress=progress, stop=stop):
                yield key, Answer(value, is_whole(value))
        except (Cancelled, WorkersEnded):
            raise
        except DpvizError as problem:
            yield key, Answer(problem=problem.with_traceback(None))

    return Task(slot, (key,), compute, **more)


def in_one(slot: str, key: Hashable, make: Make, **more: Any) -> Task:
    """A task of one part; `more` as in Task."""
    return in_parts(slot, {key: make}, **more)


def _made(make: Make, progress: Progress, stop: Stop) -> Answer:
    try:
        return Answer(make(progress=progress, stop=stop), not is_stopped(stop))
    except (Cancelled, WorkersEnded):  # no answer: what was asked may be asked again
        raise
    except DpvizError as problem:
        return Answer(problem=problem.with_traceback(None))


def working(task: Task, answers: dict[Hashable, Answer], *, again: bool = False) -> Work:
    """The work on what is missing of a task, or (`again`) on all of it; off the page there is no session to keep `answers`."""

    def work(progress: Progress, stop: Stop) -> None:
        # asked for when the work begins: while it was in line, another session may have found the answers
        missing = [key for key in task.keys if again or _is_missing(answers.get(key))]
        if not missing:
            return
        n_done = 0

        def tell(share: float) -> None:
            progress((n_done + share) / len(missing))

        for key, answer in task.compute(missing, tell, stop):
            answers.pop(key, None)  # what is newest stands last
            answers[key] = answer
            n_done += answer.is_whole or answer.problem is not None
            tell(0.0)
        if n_done < len(missing) or is_stopped(stop):
            raise Cancelled

    return work


def _is_missing(answer: Answer | None) -> bool:
    """True also for a problem: whoever asks again wants it tried again."""
    return answer is None or not answer.is_whole or answer.problem is not None


def drop_oldest(answers: dict[Hashable, Answer], task: Task) -> None:
    """Forget the oldest answers of other tasks once they are too many."""
    ours = set(task.keys)
    others = [key for key in list(answers) if key not in ours]
    for key in others[: max(0, len(others) - task.keep)]:
        answers.pop(key, None)
