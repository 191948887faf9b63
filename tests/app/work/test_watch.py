"""When the page is drawn again for work under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event
from typing import Any
from unittest.mock import MagicMock

import pytest
import streamlit as st

from dpviz.app.work import session, watch
from dpviz.app.work.pool import Pool
from dpviz.app.work.session import begin, poll
from dpviz.app.work.tasks import Task, in_parts

SOON = 60.0


class Rerun(Exception):
    """The page is to be drawn again."""


class Screen:
    """What `watch` draws on; it keeps (pause, function) of every fragment of the last run."""

    def __init__(self) -> None:
        self.fragments: list[tuple[float, Callable[..., None]]] = []
        self.container = self.progress = MagicMock()

    def fragment(self, run_every: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
        def kept(function: Callable[..., None]) -> Callable[..., None]:
            self.fragments.append((run_every, function))
            return function

        return kept

    def button(self, *_: Any, **__: Any) -> bool:
        return False

    def rerun(self) -> None:
        raise Rerun


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    pool, screen = Pool(), Screen()
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(session, "session_name", lambda: "me")
    for module in (session, watch):
        monkeypatch.setattr(module, "shared_pool", lambda: pool)
    monkeypatch.setattr(watch, "st", screen)
    yield screen
    pool.close(wait=False)


class Parts:
    """Work in three parts, each of which waits until it is let go."""

    def __init__(self) -> None:
        self.began, self.go = [Event() for _ in range(3)], [Event() for _ in range(3)]
        self.task: Task = in_parts("slot", {number: self._part(number) for number in range(3)})
        begin(self.task)
        assert self.began[0].wait(SOON)

    def _part(self, number: int) -> Callable[..., int]:
        def make(progress: Any, stop: Any) -> int:
            self.began[number].set()
            assert self.go[number].wait(SOON)
            return number

        return make

    def let_go(self, number: int) -> None:
        """And wait until its answer is there: the next part begins after that."""
        job = poll(self.task).job
        self.go[number].set()
        if number + 1 < len(self.began):
            assert self.began[number + 1].wait(SOON)
        else:
            assert job is None or job.wait(SOON)


def watched(screen: Screen, parts: Parts, **how: Any) -> tuple[float, Callable[[], None]]:
    """(pause, poll) of what is drawn now."""
    screen.fragments.clear()
    watch.watch(parts.task, "Computing", **how)
    return screen.fragments[0]


def test_the_first_answer_has_the_page_drawn_again_at_once_and_later_ones_are_drawn_less_often(screen: Screen) -> None:
    parts, drawn = Parts(), list[int]()
    how: dict[str, Any] = {"draw": lambda status: drawn.append(len(status.values))}
    pause, again = watched(screen, parts, **how)
    assert pause == watch._EVERY_TREE
    assert not drawn
    again()
    parts.let_go(0)
    with pytest.raises(Rerun):
        again()
    pause, again = watched(screen, parts, **how)
    assert pause == watch._EVERY
    assert drawn == [1]
    parts.let_go(1)
    again()  # the other fragment draws it, in its time
    parts.let_go(2)
    with pytest.raises(Rerun):
        again()


def test_without_a_drawing_of_its_own_every_part_has_the_page_drawn_again_unless_only_the_end_counts(screen: Screen) -> None:
    parts = Parts()
    (pause, again), (_, again_at_end) = watched(screen, parts), watched(screen, parts, at_end=True)
    assert pause == watch._EVERY_TREE
    parts.let_go(0)
    with pytest.raises(Rerun):
        again()
    again_at_end()
    pause, again = watched(screen, parts)
    assert pause == watch._EVERY
    parts.let_go(1)
    parts.let_go(2)
