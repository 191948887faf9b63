"""Progress and stopping, as every long computation uses them."""

import threading

import pytest

from dpviz.errors import Cancelled
from dpviz.progress import all_steps, is_stopped, part_of, steps


def test_progress_is_told_after_each_item_and_a_stop_ends_them():
    told = []
    assert list(steps("abcd", told.append, None)) == list("abcd")
    assert told == [0.25, 0.5, 0.75, 1.0]
    assert list(steps("", told.append, None)) == []
    assert list(steps("abc", None, lambda: True)) == []
    assert list(steps("abc", None, lambda: True, at_least=2)) == ["a", "b"]
    event = threading.Event()
    assert not is_stopped(event)
    event.set()
    assert is_stopped(event)
    assert is_stopped(lambda: True)
    assert not is_stopped(lambda: False)
    assert not is_stopped(None)
    told = []
    for number in range(2):
        part_of(told.append, number, 2)(0.5)
    assert told == [0.25, 0.75]
    assert part_of(None, 0, 2) is None


def test_work_that_must_be_complete_is_cancelled_by_a_stop():
    told, done = [], []
    some = all_steps("abc", told.append, lambda: len(done) == 2)
    done += [next(some), next(some)]
    with pytest.raises(Cancelled):
        next(some)
    assert done == ["a", "b"]
    assert told == [1 / 3, 2 / 3]
    assert list(all_steps("abc", None, None)) == list("abc")
