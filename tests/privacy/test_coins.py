"""Coins: independent, at the declared rate from both sources, and blind to everything but the number of rows."""

import numpy as np
import pytest

from dpviz.errors import ParameterError
from dpviz.privacy.coins import Coins
from dpviz.privacy.source import ExactNoise, Simulation

SHARES = (0.1, 0.25)


@pytest.mark.parametrize("source", [Simulation(3), ExactNoise()], ids=["simulation", "release"])
def test_each_part_gets_its_share_of_the_rows(source):
    n_rows = 200_000
    found = np.bincount(Coins(SHARES).flip(n_rows, source=source), minlength=3) / n_rows
    expected = np.array([0.65, 0.1, 0.25])
    errors = 6 * np.sqrt(expected * (1 - expected) / n_rows)  # six standard errors: fails once in some hundred million runs
    assert (np.abs(found - expected) < errors).all()
    assert (errors < 0.1 * expected).all()  # so that a wrong share fails


def test_coins_that_are_drawn_in_pieces_are_those_of_one_draw(monkeypatch):
    whole = Coins(SHARES).flip(1000, source=Simulation(3))
    monkeypatch.setattr("dpviz.privacy.coins._AT_ONCE", 7)
    np.testing.assert_array_equal(Coins(SHARES).flip(1000, source=Simulation(3)), whole)
    assert len(set(Coins(SHARES).flip(1000, source=ExactNoise())[6::7].tolist())) == 3


def test_neighbouring_coins_are_independent():
    parts = Coins((0.5,)).flip(100_000, source=Simulation(1))
    assert abs(np.mean(parts[1:] == parts[:-1]) - 0.5) < 0.01


def test_coins_of_a_release_never_repeat_and_know_no_position():
    flips = [Coins((0.5,)).flip(2000, source=ExactNoise()) for _ in range(2)]
    assert 800 < (flips[0] == flips[1]).sum() < 1200  # nine standard deviations
    assert all(800 < 2 * parts[:1000].sum() < 1200 for parts in flips)


def test_no_rows_need_no_coins():
    assert Coins(SHARES).flip(0, source=Simulation(0)).tolist() == []


@pytest.mark.parametrize("shares", [(1.0,), (0.6, 0.6), (-0.1,)])
def test_shares_that_leave_nothing_are_refused(shares):
    with pytest.raises(ParameterError, match="not negative, and below 1 in all"):
        Coins(shares)
