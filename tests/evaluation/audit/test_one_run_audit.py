"""Many canaries in one run: the bound stays below the truth, comes near it, and pays for delta."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.errors import ParameterError
from dpviz.evaluation.audit.by_attack import audit
from dpviz.evaluation.audit.candidate_pairs import require_neighbours, small_pair
from dpviz.evaluation.audit.one_run_audit import COMPANY, bound_from, canary_table, chance_of, guess, include_at_random
from dpviz.learners.native.s_gbdt import DELTA
from tests.support.planted import HALF_NOISE

slow, full = pytest.mark.slow, pytest.mark.verify


def answers(epsilon, n_draws, canaries, seed):
    """Randomised response with this epsilon: included, and scores 1 where the answer is "present"."""
    rng = np.random.default_rng(seed)
    included = rng.random((n_draws, canaries)) < 0.5
    honest = rng.random(included.shape) < 1 / (1 + math.exp(-epsilon))
    return included, np.where(honest, included, ~included).astype(float)


@pytest.mark.parametrize("task", ["classes", "number"])
def test_each_canary_is_one_row_more_and_random_numbers_say_who_is_there(task):
    everybody = canary_table(5, task)
    assert everybody.n_rows == COMPANY + 5
    for canary in range(5):
        rows = np.delete(np.arange(everybody.n_rows), COMPANY + canary)
        require_neighbours(everybody.take(rows, share=1.0), everybody)
        assert [column[COMPANY + canary] for column in everybody.columns] == [int(f == canary) for f in range(5)]
    assert list(everybody.target) == [0] * COMPANY + [1] * 5


def test_random_numbers_say_who_is_there():
    everybody = canary_table(32, "classes")
    shares = []
    for seed in range(30):
        rows, included = include_at_random(everybody, seed)
        assert rows.n_rows == COMPANY + included.sum()
        assert [int(column[COMPANY:].sum()) for column in rows.columns] == included.astype(int).tolist()
        shares.append(included.mean())
    assert abs(np.mean(shares) - 0.5) < 4 * 0.5 / math.sqrt(30 * 32)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_bound_is_near_the_truth_and_rarely_above(epsilon):
    bounds = np.array([guess(*answers(epsilon, 200, 8, seed), beta=0.1).bound for seed in range(25)])
    assert (bounds <= epsilon).mean() >= 0.8  # at least 0.9 in expectation
    assert np.median(bounds) > 0.6 * epsilon


def test_the_bound_is_where_so_many_right_guesses_become_unlikely_and_a_delta_lowers_it():
    """By hand, from the definition: delta times twice the included times the largest mean of the i counts below."""
    bounds = [bound_from(1000, 400, 300, beta=0.05, delta=delta) for delta in (0.0, 1e-6, 1e-4, 0.1)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[2]
    assert bounds[-1] == 0.0
    bound = bound_from(500, 100, 80, beta=0.05)
    assert binom.sf(79, 100, 1 / (1 + math.exp(-bound))) == pytest.approx(0.05, rel=1e-6)
    assert chance_of(500, 100, 80, epsilon=bound * 1.1, delta=0.0) > 0.05
    assert bound_from(500, 100, 50, beta=0.05) == 0.0
    assert bound_from(500, 0, 0, beta=0.05) == 0.0
    right = 1 / (1 + math.exp(-0.5))
    worst = max(sum(binom.pmf(7 - j, 10, right) for j in range(1, i + 1)) / i for i in range(1, 8))
    exact = binom.sf(6, 10, right) + 2 * 30 * 1e-3 * worst
    assert chance_of(30, 10, 7, epsilon=0.5, delta=1e-3) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "draws"), [("majority", 300), pytest.param("pf-tree", 1500, marks=full), pytest.param("dp-mean", 2000, marks=slow)]
)
def test_what_is_sound_is_not_accused(name, draws):
    found = audit(name, epsilon=1.0, seed=4, draws=draws, canaries=8)
    assert found.verdict == "holds"
    assert 0.1 < found.bound <= 1.0
    assert found.n_tested == sum(found.hits)
    assert found.bound <= found.largest


@pytest.mark.slow
def test_half_the_noise_is_found_by_few_draws():
    found = audit(HALF_NOISE, epsilon=2.0, seed=4, draws=600, canaries=8)
    assert found.composed == pytest.approx(2.0)
    assert found.bound > audit("pf-tree", epsilon=2.0, seed=4, draws=600, canaries=8).bound


@pytest.mark.parametrize("draws", [12, pytest.param(160, marks=slow)])
def test_a_learner_with_delta_is_attacked_with_its_delta(draws):
    found = audit("s-gbdt", epsilon=1.0, seed=1, draws=draws, canaries=4, rounds=5)
    assert found.delta == DELTA
    assert found.verdict == "holds"


@pytest.mark.slow
def test_a_learner_that_cannot_be_trained_at_a_smaller_epsilon_is_attacked_too():
    """The individual filter cannot keep an epsilon below about .02."""
    found = audit("s-gbdt-published", epsilon=0.1, seed=1, draws=4, canaries=8, rounds=5)
    assert found.verdict == "holds"


def test_the_same_seed_finds_the_same_and_a_pair_has_one_canary():
    one, other = (audit("majority", seed=5, draws=60, canaries=4) for _ in range(2))
    assert (one.bound, one.hits) == (other.bound, other.hits)
    with pytest.raises(ParameterError, match="'canaries' parameter of audit must be 1 where a pair is given"):
        audit("majority", seed=5, draws=60, canaries=4, pair=small_pair())
