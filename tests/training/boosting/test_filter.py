"""The individual filter: no account exceeds its budget, whatever the gradients; who has left changes nothing any more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.gaussian import renyi_loss
from dpviz.training.boosting.filter import BUDGET_UNITS, FilterTerms, RowAccounts
from tests.support.examples import examples


def terms(sampling: float = 1.0, rounds: int = 20) -> FilterTerms:
    return FilterTerms(noise_multiplier=100.0, sampling=sampling, order=64.0, rounds=rounds)


def exact_share(kept: FilterTerms, size: float) -> float:
    """What one round of this size costs, as a share of the budget."""
    if not size:
        return 0.0
    full = renyi_loss(kept.noise_multiplier, kept.sampling, kept.order) * kept.rounds
    return renyi_loss(kept.noise_multiplier / size, kept.sampling, kept.order) / full


@pytest.mark.slow
@pytest.mark.parametrize("sampling", [0.1, 1.0])
@given(seed=st.integers(0, 2**32), rounds=st.integers(1, 20))
@examples(25)
def test_no_row_exceeds_its_budget_whatever_its_gradients_are(sampling, seed, rounds):
    rng, kept = np.random.default_rng(seed), terms(sampling, rounds)
    accounts = RowAccounts(kept, 8)
    cost = np.zeros(8)
    for _ in range(3 * rounds):
        sizes = rng.choice([0.0, 0.1, 0.5, 0.9999, 1.0], 8) * rng.choice([1.0, rng.random()])
        taking = accounts.admit(sizes)
        cost += [exact_share(kept, size) if takes else 0.0 for size, takes in zip(sizes, taking, strict=True)]
        assert (accounts.spent <= BUDGET_UNITS).all()
        assert (cost <= 1 + 1e-12).all()
    assert (cost <= accounts.spent / BUDGET_UNITS + 1e-9).all()


@pytest.mark.parametrize("sampling", [0.1, 1.0])
def test_full_gradients_last_for_the_regular_rounds_and_small_ones_longer(sampling):
    kept = terms(sampling, rounds=20)
    accounts = RowAccounts(kept, 3)
    taken = sum(accounts.admit(np.array([1.0, 0.5, 0.0])).astype(int) for _ in range(200))
    assert taken[0] in (19, 20)  # charges are rounded up, so the last full round may not fit
    assert 70 <= taken[1] <= 80  # a quarter of the loss
    assert taken[2] == 200


def test_a_row_that_has_left_never_comes_back_and_is_charged_no_more():
    accounts = RowAccounts(terms(rounds=4), 1)
    taking = [bool(accounts.admit(np.array([size]))[0]) for size in (1.0, 1.0, 1.0, 0.9, 1.0, 0.0, 0.1)]
    assert taking == [True, True, True, True, False, False, False]
    spent = int(accounts.spent[0])
    accounts.admit(np.array([0.0]))
    assert accounts.spent[0] == spent


def test_charges_are_rounded_up_and_grow_with_size():
    for sampling in (0.1, 1.0):
        kept = terms(sampling)
        sizes = np.linspace(0, 1, 101)
        charges = kept.charges(sizes)
        assert (np.diff(charges) >= 0).all()
        assert charges[0] == 0
        exact = np.array([exact_share(kept, size) for size in sizes])
        assert (charges / BUDGET_UNITS >= exact * (1 - 1e-12)).all()
        assert (charges[50:] / BUDGET_UNITS <= exact[50:] * 1.08).all()


def test_a_size_that_the_library_cannot_price_costs_what_the_next_larger_one_does():
    terms = FilterTerms(0.08388575658466553, 0.1, 1.5, 100)  # the library's sum does not converge at an eighth of full size
    charges = terms.charges(np.arange(65) / 64)
    assert (np.diff(charges) >= 0).all()
    assert charges[8] == charges[9] > 0
    assert charges[-1] == pytest.approx(BUDGET_UNITS / 100)
