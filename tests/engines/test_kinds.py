"""Places of numbers: in order, exact, and written so that they read back."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.engines.kinds import ColumnKind, last_places
from tests.support.examples import examples

KINDS = {
    "whole": ColumnKind.signed(32),
    "decimal": ColumnKind("decimal", digits=9, scale=3),
    "fraction": ColumnKind("decimal", digits=3, scale=3),
    "single": ColumnKind("single"),
    "double": ColumnKind("double"),
}


@examples(50)
@given(kind=st.sampled_from(sorted(KINDS)), where=st.floats(-1, 1), step=st.integers(1, 10))
def test_places_are_in_the_order_of_their_numbers(kind: str, where: float, step: int) -> None:
    low, high = KINDS[kind].ends
    place = min(int(where * high), high - step)
    lower, upper = KINDS[kind].values([place, place + step]).tolist()
    assert lower < upper
    assert KINDS[kind].values([low]) == -KINDS[kind].values([high]) or kind == "whole"


@examples(50)
@given(kind=st.sampled_from(sorted(KINDS)), where=st.floats(-1, 1))
def test_a_literal_is_its_number(kind: str, where: float) -> None:
    place = int(where * KINDS[kind].ends[1])
    exact = Decimal(KINDS[kind].literal(place))
    if kind == "single":
        assert np.float32(float(exact)) == np.float32(KINDS[kind].values([place])[0])
        assert float(np.float32(float(exact))) == float(exact)
    else:
        assert float(exact) == KINDS[kind].values([place])[0]
    assert float(KINDS[kind].cell(place)) == KINDS[kind].values([place])[0]


@pytest.mark.parametrize("kind", ["double", "single"])
def test_floating_numbers_next_to_zero(kind: str) -> None:
    below, zero, above = KINDS[kind].values([-1, 0, 1]).tolist()
    assert below < zero == 0 < above
    if kind == "double":
        assert (below, above) == (math.nextafter(0, -1), math.nextafter(0, 1))


@examples(50)
@given(edges=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4), kind=st.sampled_from(["double", "decimal"]))
def test_the_last_place_before_a_step_is_the_last(edges: list[float], kind: str) -> None:
    steps = np.array(edges)
    for edge, place in zip(edges, last_places(KINDS[kind], lambda values: values <= steps, len(edges)), strict=True):
        assert place is not None
        here, beyond = KINDS[kind].values([place, place + 1]).tolist()
        assert here <= edge < beyond


def test_no_place_is_before_a_step_below_all() -> None:
    assert last_places(KINDS["whole"], lambda values: values < -1e300, 1) == [None]
    assert last_places(KINDS["whole"], lambda values: values < 1e300, 1) == [2**31 - 1]
