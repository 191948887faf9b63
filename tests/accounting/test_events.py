from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import NoCost, NonPrivate, Parallel, Select, Sequential, walk


def _node(part):
    return Select(0.1, "permute-and-flip", part)


def test_paths_say_which_step_and_which_of_the_disjoint_parts():
    event = Sequential((_node("root"), Parallel((_node("left"), Sequential((_node("right"), _node("leaf")))))))
    parts = {path: step.part for path, step in walk(event)}
    assert parts == {"1": "root", "2a": "left", "2b.1": "right", "2b.2": "leaf"}


def test_a_single_step_is_step_one():
    assert list(walk(_node("leaf"))) == [("1", _node("leaf"))]


def test_nothing_done_has_no_steps():
    assert list(walk(Sequential((Parallel(()), Sequential(()))))) == []


def test_after_z_parts_are_numbered():
    paths = [path for path, _ in walk(Parallel((NoCost("split"),) * 28))]
    assert paths[0] == "a"
    assert paths[24:] == ["y", "z", "[26]", "[27]"]


_LEAVES = st.sampled_from([_node("node"), NoCost("split"), NonPrivate("exact", "leaf")])
_TREES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=5).map(tuple).flatmap(lambda e: st.sampled_from([Sequential(e), Parallel(e)]))
)


@given(_TREES)
def test_every_path_is_used_once(event):
    paths = [path for path, _ in walk(event)]
    assert len(set(paths)) == len(paths) == _count(event)


def _count(event):
    return sum(map(_count, event.events)) if isinstance(event, Sequential | Parallel) else 1


def test_events_are_frozen_and_equal_by_what_they_say():
    assert _node("node") == _node("node") != _node("leaf")
    assert hash(Sequential((_node("node"),))) == hash(Sequential((_node("node"),)))
    with pytest.raises(FrozenInstanceError):
        _node("node").epsilon = 0.0
