"""Listing every outcome of code that draws."""

import numpy as np
import pytest

from dpviz.errors import NotEnumerable
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT

CHOICE = PermuteAndFlip(1.0, COUNT)


def two_stages(source):
    """The second draw depends on the first; a third happens on one branch only."""
    first = source.draw(CHOICE, np.array([2, 0]))
    second = source.draw(CHOICE, np.array([first, 1, 3]))
    third = source.draw(CHOICE, np.array([0, 5])) if first else None
    return first, second, third


def test_every_path_is_walked_once_with_the_product_of_its_chances():
    source = Enumeration()
    found = dict(source.outcomes(lambda: two_stages(source)))
    expected = {}
    for first, p in enumerate(CHOICE.probabilities(np.array([2, 0]))):
        for second, q in enumerate(CHOICE.probabilities(np.array([first, 1, 3]))):
            if first:
                for third, r in enumerate(CHOICE.probabilities(np.array([0, 5]))):
                    expected[first, second, third] = p * q * r
            else:
                expected[first, second, None] = p * q
    assert found == pytest.approx(expected, rel=1e-12)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


def test_code_that_draws_nothing_has_one_outcome_and_impossible_ones_are_left_out():
    source = Enumeration()
    assert list(source.outcomes(lambda: "same")) == [("same", 1.0)]

    class Certain:
        title = "certain"

        def probabilities(self, values):
            return np.array([0.0, 1.0, 0.0])

    source = Enumeration()
    assert list(source.outcomes(lambda: source.draw(Certain(), None))) == [(1, 1.0)]


def test_one_source_lists_again_and_draws_outside_are_noticed():
    source = Enumeration()
    first = list(source.outcomes(lambda: two_stages(source)))
    assert list(source.outcomes(lambda: two_stages(source))) == first
    source = Enumeration()
    assert not source.has_drawn
    list(source.outcomes(lambda: two_stages(source)))
    assert not source.has_drawn
    source.draw(CHOICE, np.array([1, 2]))
    assert source.has_drawn


def test_what_cannot_be_listed_is_named_and_too_many_ways_are_refused_after_the_first_run():
    source = Enumeration()
    with pytest.raises(
        NotEnumerable, match=r"The outcomes of the mechanism 'geometric' cannot be listed\..*audit it by sampling"
    ):
        source.draw(GeometricNoise(1.0), np.array([3]))
    source, runs = Enumeration(), []

    def run():
        runs.append(1)
        return [source.draw(CHOICE, np.zeros(4, dtype=np.int64)) for _ in range(10)]

    with pytest.raises(NotEnumerable, match=r"can go more than 1,000 ways"):
        list(source.outcomes(run, most=1000))
    assert len(runs) == 1
    with pytest.raises(NotEnumerable):
        list(source.outcomes(lambda: two_stages(source), most=5))
    assert len(list(source.outcomes(lambda: two_stages(source), most=9))) == 9
