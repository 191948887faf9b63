"""Rounds of boosting: what one row can change, what noise can do; no account exceeds its budget, who has left changes nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import renyi_loss
from dpviz.models.packed_forest import values_of
from dpviz.privacy.gaussian import CONTRIBUTION_BITS, contributions
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.training.boosting.filter import BUDGET_UNITS, RowAccounts, charges
from dpviz.training.boosting.loss import LogisticLoss, SoftmaxLoss, SquaredLoss, initial_score, loss_of
from dpviz.training.boosting.rounds import Recipe, Rounds
from dpviz.training.boosting.trees import draw_boosting_trees
from tests.support.examples import examples
from tests.support.numbers import SLOPE_AND_STEP as NUMBER
from tests.support.numbers import slope_and_step as numbers
from tests.support.tables import schema_of, table

STEPS = 2.0**CONTRIBUTION_BITS
RECIPE = Recipe(
    rounds=12,
    noise_multiplier=1e-3,
    learning_rate=0.5,
    clip=2.0,
    sampling=1.0,
    support_share=0.2,
    spread=10.0,
    least_support=0.0,
)


def trees_for(schema, count=12, depth=3, seed=1):
    return draw_boosting_trees(schema, "one feature", count, depth, 0.5, source=Simulation(seed))


def with_target(data, place, value):
    target = data.target.copy()
    target[place] = value
    return EncodedDataset(data.schema, data.columns, target)


def test_without_noise_a_round_is_the_textbook_step_or_newton_s():
    data, trees = numbers(), trees_for(NUMBER)
    recipe = replace(RECIPE, noise_multiplier=1e-6, spread=1e6)
    model = Rounds(data, trees, SquaredLoss(10, 30), 0.25, recipe, Simulation(5)).run_all()
    score, rows = np.full(data.n_rows, 0.25), values_of(data)
    for tree in range(12):
        cells = trees.cells_of(rows, tree)
        residual = (data.target - 10) / 10 - 1 - score
        score = score + 0.5 * (np.bincount(cells, residual) / np.maximum(np.bincount(cells), 1))[cells]
    np.testing.assert_allclose(model.scores(data), 20 + 10 * score, atol=2e-3)
    assert model.initial == pytest.approx(22.5)
    schema = schema_of("numbers")
    data, trees = table(schema, 400), trees_for(schema, 1)
    recipe = replace(RECIPE, rounds=1, noise_multiplier=1e-6, spread=1e6)
    model = Rounds(data, trees, LogisticLoss(newton=True), 1.0, recipe, Simulation(5)).run_all()
    cells, chance = trees.cells_of(values_of(data), 0), 1 / (1 + math.exp(-1))
    value = 0.5 * np.bincount(cells, data.target - chance) / (chance * (1 - chance) * np.bincount(cells))
    np.testing.assert_allclose(model.scores(data), 1 + value[cells], atol=2e-3)


@pytest.mark.slow
@given(
    st.floats(0.001, 0.999),
    st.floats(0.01, 2.0),
    st.floats(1e-2, 1e4),
    st.lists(st.tuples(st.floats(-50, 50), st.floats(0, 1)), min_size=1, max_size=20),
)
@examples(200)
def test_one_row_moves_a_round_by_no_more_than_its_price_says(share, clip, noise, rows):
    recipe = replace(RECIPE, support_share=share, clip=clip, noise_multiplier=noise)
    gradients = contributions(np.array([[gradient] for gradient, _ in rows]), clip)
    weights = contributions(np.array([weight for _, weight in rows]), 1.0)
    moved = (gradients[:, 0] / STEPS / recipe.grid.scales[0]) ** 2 + (weights / STEPS / recipe.grid.scales[1]) ** 2
    assert (np.sqrt(moved) <= 1 / noise * (1 + 1e-12)).all()
    np.testing.assert_allclose(recipe.sizes(gradients, weights), np.sqrt(moved) * noise, rtol=1e-9)
    full = RECIPE.sizes(np.array([[RECIPE.clip * STEPS]]), np.array([STEPS]))
    assert full == pytest.approx(1.0)  # a full row uses all of the price


@pytest.mark.parametrize("noise", [0.5, 500.0])
@pytest.mark.slow
def test_noise_alone_moves_scores_by_the_spread_allowed(noise):
    schema = schema_of("numbers")
    nobody = table(schema, 0)
    recipe = replace(RECIPE, rounds=100, noise_multiplier=noise, support_share=0.01, spread=0.7)
    rows, ends = table(schema, 200), []
    for seed in range(12):
        trees = trees_for(schema, 100, seed=seed)
        rounds = Rounds(nobody, trees, LogisticLoss(newton=True), 0.0, recipe, Simulation(seed))
        ends.append(rounds.run_all().scores(rows))
    assert 0.2 < np.std(ends) < 0.7


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("sampling", [0.4, 1.0])
def test_a_row_that_has_left_changes_nothing_afterwards(static, sampling):
    kept = GaussianRounds(1.0, 1e-5, noise_multiplier=5.0, sampling=sampling, order=32.0, rounds=60)
    recipe = replace(
        RECIPE, noise_multiplier=5.0, sampling=sampling, filter=kept, static_noise=static, least_support=float(static)
    )
    trees = trees_for(NUMBER)
    changed = [numbers(), with_target(numbers(), 7, 10.0), with_target(numbers(), 7, 30.0)]

    def values(data, leaves):
        rounds = Rounds(data, trees, SquaredLoss(10, 30), 0.0, recipe, Simulation(9))
        rounds.order = None if rounds.order is None else np.arange(data.n_rows)  # the same coins for the same rows
        rounds.accounts.active[7] = not leaves
        return np.concatenate([rounds.run(tree).ravel() for tree in range(12)])

    after = [values(data, leaves=True) for data in changed]
    np.testing.assert_array_equal(after[0], after[1])
    np.testing.assert_array_equal(after[0], after[2])
    present = [values(data, leaves=False) for data in changed]
    assert not np.array_equal(present[1], present[2])


@pytest.mark.parametrize("name", ["numbers", "mixed"])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_rows_and_threads_change_no_value(name, threads, monkeypatch):
    schema = schema_of(name, 3 if name == "mixed" else 2)
    data, trees, recipe = table(schema, 401), trees_for(schema), replace(RECIPE, sampling=0.8)

    def values():
        return Rounds(data, trees, loss_of(schema, newton=True), 0.0, recipe, Simulation(5)).run_all().values

    whole = values()
    monkeypatch.setattr("dpviz.training.boosting.rounds._BLOCK_ROWS", 30)
    monkeypatch.setattr("dpviz.training.boosting.rounds.cpu_count", lambda: threads)
    np.testing.assert_array_equal(values(), whole)


def test_gradients_are_downhill():
    rng = np.random.default_rng(0)
    scores, step = rng.normal(size=(50, 3)), 1e-6
    target = rng.integers(0, 3, 50)

    def log_loss(scores):
        return np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(50), target]

    downhill, _ = SoftmaxLoss(3).gradients(scores, target)
    for k in range(3):
        slope = (log_loss(scores + step * (np.arange(3) == k)) - log_loss(scores)) / step
        np.testing.assert_allclose(downhill[:, k], -slope, atol=1e-4)
    two, weights = LogisticLoss(newton=True).gradients(scores[:, :1], (target > 0) * 1)
    chance = 1 / (1 + np.exp(-scores[:, 0]))
    np.testing.assert_allclose(two[:, 0], (target > 0) - chance)
    np.testing.assert_allclose(weights * 0.25, chance * (1 - chance))


def test_the_initial_score_is_the_noisy_mean_over_a_public_count():
    data = numbers()
    loss = loss_of(NUMBER, newton=True)
    exact = ((data.target - 10) / 10 - 1).sum() / 400
    start, events = initial_score(loss, data.target, 400, 1e6, Simulation(1))
    assert start == pytest.approx(exact, abs=1e-4)
    assert [event.epsilon for event in events] == [1e6]
    assert initial_score(loss, data.target, 400, 0.0, Simulation(1)) == (0.0, ())
    noisy = [initial_score(loss, data.target, 400, 0.1, Simulation(seed))[0] - exact for seed in range(600)]
    # geometric noise with epsilon .1 on a sum that one row moves by 1, over 400
    assert np.std(noisy) == pytest.approx(math.sqrt(2) / 0.1 / 400, rel=0.2)


def terms(sampling: float = 1.0, rounds: int = 20) -> GaussianRounds:
    return GaussianRounds(1.0, 1e-5, noise_multiplier=100.0, sampling=sampling, order=64.0, rounds=rounds)


def exact_share(kept: GaussianRounds, size: float) -> float:
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


@pytest.mark.slow
def test_charges_are_rounded_up_grow_with_size_and_end_for_good():
    for sampling in (0.1, 1.0):
        kept = terms(sampling)
        sizes = np.linspace(0, 1, 101)
        charged = charges(kept, sizes)
        assert (np.diff(charged) >= 0).all()
        assert charged[0] == 0
        exact = np.array([exact_share(kept, size) for size in sizes])
        assert (charged / BUDGET_UNITS >= exact * (1 - 1e-12)).all()
        assert (charged[50:] / BUDGET_UNITS <= exact[50:] * 1.08).all()
    # the library's sum does not converge at an eighth of full size
    unpriced = GaussianRounds(1.0, 1e-5, 0.08388575658466553, 0.1, 100, 1.5)
    charged = charges(unpriced, np.arange(65) / 64)
    assert (np.diff(charged) >= 0).all()
    assert charged[8] == charged[9] > 0
    assert charged[-1] == pytest.approx(BUDGET_UNITS / 100)
    accounts = RowAccounts(terms(rounds=4), 1)
    taking = [bool(accounts.admit(np.array([size]))[0]) for size in (1.0, 1.0, 1.0, 0.9, 1.0, 0.0, 0.1)]
    assert taking == [True, True, True, True, False, False, False]
    spent = int(accounts.spent[0])
    accounts.admit(np.array([0.0]))
    assert accounts.spent[0] == spent
