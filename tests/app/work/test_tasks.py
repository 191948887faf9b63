"""Work on the parts of a task: what is kept after a stop or a problem, what is computed again, what makes room."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.app.work.tasks import Answer, Task, drop_oldest, in_parts, working
from dpviz.errors import Cancelled, DpvizError


class Stopping:
    """A stop that the work itself asks for."""

    def __init__(self) -> None:
        self.flag = False

    def __call__(self) -> bool:
        return self.flag


def value(of):
    return lambda progress, stop: of


def run(task, shelf, *, tell=lambda share: None, stop=lambda: False, again=False):
    working(task, shelf, again=again)(tell, stop)


def test_a_stop_keeps_what_is_done_and_what_is_half_done_counts_as_missing():
    stop, shelf = Stopping(), {}

    def half(progress, stop):
        stop.flag = True
        return "half"

    with pytest.raises(Cancelled):
        run(in_parts("slot", {"a": value("whole"), "b": half, "c": value("never")}), shelf, stop=stop)
    assert shelf == {"a": Answer("whole"), "b": Answer("half", is_whole=False)}


def test_what_is_there_is_not_made_again_and_a_problem_spares_the_rest():
    problem = DpvizError("Not this one.")

    def failing(progress, stop):
        raise problem

    shelf = {"a": Answer("before")}
    run(in_parts("slot", {"a": failing, "b": failing, "c": value("made")}), shelf)
    assert shelf["a"].value == "before"
    assert shelf["b"].problem is problem
    assert shelf["c"].value == "made"


def test_a_problem_and_half_an_answer_are_tried_again():
    shelf = {"a": Answer(problem=DpvizError("Not yet.")), "b": Answer("half", is_whole=False)}
    run(in_parts("slot", {"a": value("now"), "b": value("whole")}), shelf)
    assert shelf == {"a": Answer("now"), "b": Answer("whole")}


def test_again_makes_what_is_there_anew_and_puts_it_last():
    shelf = {"a": Answer("old"), "b": Answer("other")}
    run(in_parts("slot", {"a": value("new")}), shelf, again=True)
    assert list(shelf.items()) == [("b", Answer("other")), ("a", Answer("new"))]


def test_progress_only_rises_and_ends_at_one():
    shares: list[float] = []

    def tell(progress, stop):
        progress(0.5)
        progress(1.0)

    run(in_parts("slot", {"a": tell, "b": tell}), {}, tell=shares.append)
    assert np.allclose(sorted(set(shares)), [0.25, 0.5, 0.75, 1.0])
    assert shares == sorted(shares)


def test_work_that_ends_early_was_stopped():
    task = Task("slot", (1, 2), lambda missing, progress, stop: [(1, Answer(1))])
    with pytest.raises(Cancelled):
        run(task, {})


def test_the_oldest_answers_of_others_make_room_and_those_of_the_task_stay():
    shelf = {key: Answer(key) for key in range(10)}
    drop_oldest(shelf, Task("slot", (0, 1), lambda *_: (), keep=3))
    assert list(shelf) == [0, 1, 7, 8, 9]
