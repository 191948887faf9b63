"""RandomAssignment: independent, at the declared rate from both sources, and blind to everything but the number of rows."""

import numpy as np
import pytest

from dpviz.accounting.events import PureDP, RandomPartition, Step
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import ExactNoise, Simulation

SHARES = (0.1, 0.25)


@pytest.mark.parametrize("source", [Simulation(3), ExactNoise()], ids=["simulation", "release"])
def test_each_part_gets_its_share_of_the_rows(source):
    n_rows = 200_000
    found = np.bincount(RandomAssignment(SHARES).assign(n_rows, source=source), minlength=3) / n_rows
    expected = np.array([0.65, 0.1, 0.25])
    errors = 6 * np.sqrt(expected * (1 - expected) / n_rows)  # six standard errors: fails once in some hundred million runs
    assert (np.abs(found - expected) < errors).all()
    assert (errors < 0.1 * expected).all()  # so that a wrong share fails


def test_assignments_drawn_in_pieces_are_those_of_one_draw(monkeypatch):
    whole = RandomAssignment(SHARES).assign(1000, source=Simulation(3))
    monkeypatch.setattr("dpviz.privacy.random_assignment._AT_ONCE", 7)
    np.testing.assert_array_equal(RandomAssignment(SHARES).assign(1000, source=Simulation(3)), whole)
    assert len(set(RandomAssignment(SHARES).assign(1000, source=ExactNoise())[6::7].tolist())) == 3


def test_neighbouring_assignments_are_independent():
    parts = RandomAssignment((0.5,)).assign(100_000, source=Simulation(1))
    assert abs(np.mean(parts[1:] == parts[:-1]) - 0.5) < 0.01


def test_assignments_of_a_release_never_repeat_and_know_no_position():
    flips = [RandomAssignment((0.5,)).assign(2000, source=ExactNoise()) for _ in range(2)]
    assert 800 < (flips[0] == flips[1]).sum() < 1200  # nine standard deviations
    assert all(800 < 2 * parts[:1000].sum() < 1200 for parts in flips)


def test_rows_of_a_person_go_to_one_part_as_often_as_rows_do():
    persons = np.repeat(np.arange(40_000), 3)[::-1]
    parts = RandomAssignment(SHARES).assign(120_000, persons=persons, source=Simulation(5)).reshape(-1, 3)
    assert (parts == parts[:, :1]).all()
    np.testing.assert_allclose(np.bincount(parts[:, 0]) / 40_000, [1 - sum(SHARES), *SHARES], atol=0.01)
    assert RandomAssignment(SHARES).assign(0, persons=np.empty(0, dtype=np.int64), source=Simulation(0)).tolist() == []


def test_the_event_names_what_was_done_to_every_part_with_its_probability():
    growing, counts, test = (Step(PureDP(0.1 * k), "leaf", mechanism="geometric") for k in (1, 2, 3))
    assert RandomAssignment((0.25, 0.125)).event((growing, counts, test)) == RandomPartition(
        (growing, counts, test), (0.625, 0.25, 0.125)
    )
    assert RandomAssignment((0.5,)).event((growing, test), shared=True) == RandomPartition(
        (growing, test), (0.5, 0.5), shared=True
    )
