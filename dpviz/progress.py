"""How long computations say how far they are, and how they are stopped."""

from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import TypeVar

from dpviz.errors import Cancelled

T = TypeVar("T")

#: Called with the share of the work that is done, in [0, 1].
Progress = Callable[[float], None]
#: Returns True, or is set, once the caller wants no more.
Stop = Callable[[], bool] | Event


def is_stopped(stop: Stop | None) -> bool:
    """True once the caller wants no more."""
    if isinstance(stop, Event):
        return stop.is_set()
    return stop is not None and stop()


def steps(items: Sequence[T], progress: Progress | None, stop: Stop | None, *, at_least: int = 0) -> Iterator[T]:
    """The items one by one, reporting progress after each; ends early once stopped, but not before `at_least` items."""
    for number, item in enumerate(items):
        if number >= at_least and is_stopped(stop):
            return
        yield item
        if progress is not None:
            progress((number + 1) / len(items))


def all_steps(items: Sequence[T], progress: Progress | None, stop: Stop | None) -> Iterator[T]:
    """As `steps`, for work that is worth nothing unless complete: raises Cancelled once stopped."""
    for item in steps(items, progress, None):
        if is_stopped(stop):
            raise Cancelled
        yield item


def watch(progress: Progress | None, stop: Stop | None) -> Progress:
    """A progress that tells `progress` and raises Cancelled once stopped; for work that is worth nothing unless complete."""

    def step(share: float) -> None:
        if is_stopped(stop):
            raise Cancelled
        if progress is not None:
            progress(share)

    return step


def part_of(progress: Progress | None, number: int, count: int) -> Progress | None:
    """The progress of part `number` (from 0) out of `count` equal parts, as progress of the whole."""
    return None if progress is None else lambda share: progress((number + share) / count)
