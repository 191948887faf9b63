"""S-GBDT's noise as printed: how small it is, what it really costs, and the row that refutes it."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import dpviz
from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import covers, epsilon_after, noise_multiplier
from dpviz.learners import get_learner
from dpviz.learners.published.boosted.s_gbdt_published import priced
from dpviz.models.packed_forest import values_of
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.boosting.loss import SquaredLoss
from dpviz.training.boosting.printed import delta_found, printed_rounds
from dpviz.training.boosting.rounds import GRADIENTS, Recipe, Rounds
from dpviz.training.boosting.trees import draw_boosting_trees
from dpviz.training.params import Settings
from tests.contract.tables import schema_of
from tests.contract.test_learners_of_numbers import rows, schema_of_numbers

NAME = "s-gbdt-published"
PAPER = {"sampling": 0.1, "rounds": 100}
DELTA = 5e-8


@pytest.mark.slow
def test_as_printed_noise_is_a_third_to_a_sixth_of_what_is_needed() -> None:
    for epsilon, printed in ((0.15, 5.77), (0.54, 3.08)):
        event = printed_rounds(epsilon, DELTA, **PAPER, filtered=False, part="tree")
        needed = noise_multiplier(epsilon, DELTA, **PAPER)
        assert event.noise_multiplier == pytest.approx(printed, rel=0.02)
        assert 2.5 < needed / event.noise_multiplier < 6
        assert covers(event)
        assert event.epsilon == pytest.approx(epsilon_after(event, 100), rel=0.01)
        assert event.epsilon > 3 * epsilon
        assert not covers(replace(event, epsilon=0.98 * event.epsilon))


@pytest.mark.slow
def test_a_result_says_what_was_claimed_what_was_spent_and_that_one_row_refutes_it() -> None:
    numbers = rows(schema_of_numbers("numbers", n_public=4000))
    result = dpviz.fit(NAME, numbers, epsilon=0.15, seed=1, printed_noise=True, filter=False)
    assert (result.claim.verdict, result.claim.epsilon) == ("violated", 0.15)
    assert "needs a delta of 0.007" in result.claim.because
    assert result.ledger.guarantee.epsilon > 4 * 0.15
    assert "Not guaranteed" in repr(result)


@pytest.mark.parametrize(("schema", "epsilon"), [(schema_of(), 0.15), (schema_of_numbers("numbers", n_public=4000), 10.0)])
@pytest.mark.slow
def test_where_no_counterexample_is_known_the_claim_is_unproven(schema: Schema, epsilon: float) -> None:
    spec = get_learner(NAME)
    params = spec.Params(printed_noise=True)
    plan = spec.plan(schema, Settings(epsilon, 3), params)
    assert spec.claim(plan, params, schema).verdict == "unproven"
    assert spec.claim(plan, replace(params, printed_noise=False), schema).verdict == "holds"


def recipe_of(noise: float) -> Recipe:
    return Recipe(
        rounds=12, noise_multiplier=noise, learning_rate=0.2, clip=0.3, sampling=0.5, support_share=0.01, spread=0.1,
        least_support=50.0, bounded=True,
    )  # fmt: skip


@pytest.mark.slow
def test_the_row_is_found_as_often_as_the_counterexample_says() -> None:
    """400 trainings each on the row and on no row: how often its leaf is above 0, against the binomials of the bound."""
    schema, recipe = schema_of_numbers("numbers", n_public=4000), recipe_of(2.0)
    columns = tuple(column[:1] for column in rows(schema).columns)
    row = EncodedDataset(schema, columns, np.array([float(schema.target.high)]))
    none = row.take(slice(0, 0), share=1.0)
    shift = recipe.sampling * (ndtr(recipe.clip / recipe.grid.scales[GRADIENTS]) - 0.5)
    for data, chance in ((row, 0.5 + shift), (none, 0.5)):
        found = sum(_above_zero(data, row, recipe, seed) for seed in range(400))
        assert 1e-3 < binom.cdf(found, 400 * recipe.rounds, chance) < 1 - 1e-3
        assert not 1e-3 < binom.cdf(found, 400 * recipe.rounds, 1 - chance + shift) < 1 - 1e-3  # it would see another shift


def _above_zero(data: EncodedDataset, row: EncodedDataset, recipe: Recipe, seed: int) -> int:
    source, loss = Simulation(seed), SquaredLoss(data.schema.target.low, data.schema.target.high)
    trees = draw_boosting_trees(data.schema, "random", recipe.rounds, 2, 0.0, numeric_weight=1.0, source=source)
    rounds = Rounds(data, trees, loss, 0.0, recipe, source)
    place = values_of(row)
    return sum(int(rounds.run(tree)[trees.cells_of(place, tree)[0], 0] > 0) for tree in range(recipe.rounds))


@pytest.mark.slow
def test_the_bound_stays_below_the_exact_delta_and_above_the_claimed_one() -> None:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.pld import PLDAccountant

    schema, spec = schema_of_numbers("numbers", n_public=4000), get_learner(NAME)
    params = spec.Params(printed_noise=True, filter=False, initial_share=0.0)
    plan = spec.plan(schema, Settings(0.15, 3), params)
    recipe, event = priced(schema, plan, params)
    found = delta_found(recipe, event, 0.15, start_scale=0.0)
    exact = PLDAccountant().compose(PoissonSampledDpEvent(0.1, GaussianDpEvent(event.noise_multiplier)), 100).get_delta(0.15)
    assert 1000 * DELTA < found < exact
    enough = GaussianRounds(0.15, DELTA, noise_multiplier(0.15, DELTA, **PAPER), 0.1, 100, None, "tree")
    assert delta_found(replace(recipe, noise_multiplier=enough.noise_multiplier), enough, 0.15, start_scale=0.0) == 0


@pytest.mark.slow
def test_the_script_that_stands_alone_refutes_both(capsys: pytest.CaptureFixture[str]) -> None:
    script = Path(__file__).parents[3] / "data/counterexamples/sgbdt_conversion.py"
    runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr().out
    assert said.count("REFUTED") == 2
    assert "5.74 times" in said
