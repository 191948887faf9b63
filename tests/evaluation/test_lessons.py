import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from dpviz.errors import UnsupportedError
from dpviz.evaluation.lessons import (
    N_ROWS,
    N_STEPS,
    adding_up,
    coin_by_coin,
    growing_tree,
    lesson_rows,
    noisy_choice,
    noisy_counts,
    poisoned_stump,
)
from dpviz.evaluation.poisoning import tight_bound
from dpviz.io.samples import load_sample
from dpviz.learners import DEFAULT, fit
from dpviz.models.tree import Branch, Leaf
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.randomness import generator
from dpviz.table.encode import encode


@pytest.fixture(scope="module")
def clinic():
    return encode(*load_sample("clinic")).split(seed=0)


@pytest.mark.parametrize(("counts", "distance"), [((5, 4), 1), ((5, 5), 1), ((5, 3), 2), ((0, 0), 0)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_noisy_counts_are_the_mechanism_s_and_never_pass_their_bound(counts, distance, epsilon):
    noisy = noisy_counts(counts, distance, epsilon)
    assert noisy.largest == pytest.approx(math.exp(abs(counts[0] - counts[1]) * epsilon))
    assert noisy.largest <= noisy.bound * (1 + 1e-9)
    assert noisy.first == pytest.approx(GeometricNoise(epsilon).pmf(noisy.outcomes - counts[0]))
    assert np.diff(noisy.outcomes).tolist() == [1] * (len(noisy.outcomes) - 1)
    chosen = noisy_choice((*counts, 3), epsilon)
    assert chosen.flip.sum() == pytest.approx(1) == chosen.exponential.sum()
    assert chosen.flip_best >= chosen.exponential_best - 1e-12


@pytest.mark.verify
def test_the_broken_proof_is_right_for_one_feature_and_refuted_for_four():
    one, own_one = adding_up(1, 1.0)
    four, own_four = adding_up(4, 1.0)
    assert (one.verdict, four.verdict) == ("holds", "violated")
    assert one.log_ratio <= 1 < four.log_ratio <= four.composed
    assert four.worst_pair is not None
    low, high = sorted(four.worst_pair.probabilities)
    assert math.log(high / low) == pytest.approx(four.log_ratio)
    assert abs(len(four.worst_pair.first) - len(four.worst_pair.second)) == 1
    assert own_one.verdict == own_four.verdict == "holds"


@pytest.mark.slow
def test_the_law_of_a_stump_is_what_fits_give_and_its_bound_protects_the_last_row_above_the_majority(clinic):
    train, test = clinic
    stump = poisoned_stump(train, test, 0.1)
    asked = {"epsilon": 0.1, "depth": 1, "max_depth": 1, "leaves": "labels"}
    drawn = [fit(DEFAULT, train, **asked, seed=seed).score(test) for seed in range(200)]
    error = np.std(drawn) / math.sqrt(len(drawn))
    assert abs(np.mean(drawn) - stump.accuracy) < 4 * error
    assert set(np.round(drawn, 9)) <= set(np.round(stump.distribution[0], 9))
    for rows in (0, 1, 10, 100, 600):
        assert stump.tight(rows) == tight_bound(stump.distribution, rows, 0.1)
        assert stump.tight(rows) >= stump.published(rows) - 1e-12
    assert stump.published(3) == pytest.approx(stump.accuracy * math.exp(-0.3))
    assert stump.protected_rows > stump.published_protected_rows >= 1
    assert stump.tight(stump.protected_rows) > stump.majority >= stump.tight(stump.protected_rows + 1)
    assert poisoned_stump(*clinic, 0.01).protected_rows == 0
    small, large = (poisoned_stump(*clinic, epsilon) for epsilon in (0.01, 1.0))
    assert np.array_equal(small.distribution[0], large.distribution[0])
    with pytest.raises(UnsupportedError, match="round to 0"):
        poisoned_stump(*clinic, 2.0)


# --- growing


def test_the_root_waits_with_all_thirty_rows_and_a_child_with_those_its_rule_sends_there():
    data = lesson_rows()
    assert data.n_rows == N_ROWS == 30
    assert min(data.class_counts()) >= 5
    lesson_rows.cache_clear()
    assert lesson_rows().fingerprint == data.fingerprint
    now = growing_tree(2.0, 1, 0)
    (root,) = now.waiting
    assert root.rows == tuple(range(N_ROWS))
    assert sum(option.probability for option in root.options) == pytest.approx(1)
    assert not any(option.drawn for option in root.options)
    assert now.spent == 0
    assert now.tree.root == Leaf(2)
    assert now.tree.schema.classes[2] == "not grown yet"
    now = growing_tree(2.0, 1, 1)
    left, right = now.waiting
    rule = now.tree.root.rule
    goes_left = rule.goes_left(lesson_rows().columns[rule.feature])
    assert left.rows == tuple(np.flatnonzero(goes_left))
    assert right.rows == tuple(np.flatnonzero(~goes_left))


@pytest.mark.parametrize("seed", [1, 4])
def test_a_step_adds_a_node_and_a_complete_tree_has_spent_epsilon(seed):
    trees = [growing_tree(2.0, seed, steps) for steps in range(N_STEPS + 1)]
    for before, after in pairwise(trees):
        assert after.nodes[:-1] == before.nodes
        assert after.nodes[-1].path == before.waiting[0].path
        assert after.nodes[-1].without_draw() == before.waiting[0]
        assert after.nodes[-1].drawn.probability > 0
    now = growing_tree(2.0, seed, N_STEPS)
    root, left, right = now.nodes
    assert now.waiting == ()
    assert now.spent == pytest.approx(2.0)
    assert sorted(left.rows + right.rows) == sorted(root.rows)
    assert isinstance(now.tree.root, Branch)
    assert all(placed.node.label < 2 for placed in now.tree.nodes() if isinstance(placed.node, Leaf))


@pytest.mark.verify
def test_roots_are_drawn_by_their_listed_law():
    (root,) = growing_tree(4.0, 1, 0).waiting
    chances = {option.words: option.probability for option in root.options}
    drawn = [growing_tree(4.0, seed, 1).nodes[0].drawn.words for seed in range(1, 121)]
    best = max(chances, key=chances.__getitem__)
    error = math.sqrt(chances[best] * (1 - chances[best]) / len(drawn))
    assert abs(drawn.count(best) / len(drawn) - chances[best]) < 4 * error
    assert set(drawn) <= set(chances)


def test_coin_by_coin_chooses_as_often_as_the_mechanism_says_and_ends_with_the_first_heads() -> None:
    counts, epsilon, rng = (12, 10, 9, 3), 0.5, generator(3)
    plays = [coin_by_coin(counts, epsilon, rng=rng) for _ in range(4000)]
    chosen = np.bincount([play[-1].option for play in plays], minlength=4)
    exact = 4000 * PermuteAndFlip(epsilon, COUNT).probabilities(np.array(counts))
    assert 1e-3 < stats.chisquare(chosen, exact).pvalue < 1 - 1e-6
    wrong = 4000 * PermuteAndFlip(epsilon / 2, COUNT).probabilities(np.array(counts))
    assert stats.chisquare(chosen, wrong).pvalue < 1e-9
    rng = generator(4)
    for _ in range(200):
        play = coin_by_coin((5, 5, 0), 1.0, rng=rng)
        assert [flip.is_heads for flip in play] == [False] * (len(play) - 1) + [True]
        assert len({flip.option for flip in play}) == len(play)
        assert all((flip.chance == 1) == (flip.behind == 0) for flip in play)
