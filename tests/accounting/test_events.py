from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import NoCost, NonPrivate, Parallel, Select, Sequential, walk


def _node(part):
    return Select(0.1, "permute-and-flip", part)


def test_paths_say_which_step_and_which_of_the_disjoint_parts():
    event = Sequential((_node("root"), Parallel((_node("left"), Sequential((_node("right"), _node("leaf")))))))
    parts = {path: step.part for path, step in walk(event)}
    assert parts == {"1": "root", "2a": "left", "2b.1": "right", "2b.2": "leaf"}


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
