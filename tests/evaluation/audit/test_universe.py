"""Arithmetic on data sets against counting rows."""

from collections import Counter
from math import comb

import numpy as np
import pytest

from dpviz.evaluation.audit.exact import Universe

PLACES = [
    Universe((2, 2), max_rows=3),
    Universe((3,), n_classes=3, max_rows=2),
    Universe((2,), copies=3, max_rows=4),
    Universe((3,), numeric=True, max_rows=3),
]
every_place = pytest.mark.parametrize("universe", PLACES, ids=lambda universe: universe.title)


def bag(universe, index):
    return Counter(universe.rows(index).tolist())


@every_place
def test_every_multiset_of_at_most_max_rows_occurs_once_and_plus_one_has_one_row_more(universe, rng):
    n_kinds = universe.kinds.n_rows
    assert len(universe.keys) == comb(n_kinds + universe.max_rows, universe.max_rows)
    assert len({frozenset(bag(universe, index).items()) for index in range(len(universe.keys))}) == len(universe.keys)
    for index in range(len(universe.keys)):
        for kind in range(universe.kinds.n_rows):
            larger = int(universe.plus_one[index, kind])
            if bag(universe, index).total() == universe.max_rows:
                assert larger == -1
            else:
                assert bag(universe, larger) == bag(universe, index) + Counter([kind])
    for _ in range(5):
        kinds = rng.random(universe.kinds.n_rows) < 0.5
        part = universe.part(kinds)
        for index in range(len(universe.keys)):
            kept = Counter({kind: count for kind, count in bag(universe, index).items() if kinds[kind]})
            assert bag(universe, int(part[index])) == kept


@every_place
def test_the_kinds_are_all_rows_with_identical_copies_under_one_schema(universe):
    rows = set(zip(*(column.tolist() for column in (*universe.kinds.columns, universe.kinds.target)), strict=True))
    assert len(rows) == universe.kinds.n_rows == int(np.prod(universe.bins)) * universe.n_classes
    for row in rows:
        values = row[:-1]
        assert all(len(set(values[start : start + universe.copies])) == 1 for start in range(0, len(values), universe.copies))
    last = len(universe.keys) - 1
    data = universe.dataset(last)
    assert data.n_rows == universe.max_rows
    assert data.schema == universe.schema
    assert universe.dataset(0).n_rows == 0
