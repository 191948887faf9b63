"""Two levels chosen together: the law against a list of all trees, the exact sampler against the law, what one row changes."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dpviz.privacy import exact_weights, two_levels
from dpviz.privacy.exact_weights import ExactWeights
from dpviz.privacy.sensitivity import BoundedRangeSensitivity
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.privacy.two_levels import DepthTwoTree, TwoLevelChoice
from tests.support.examples import examples
from tests.support.two_levels import utilities_of

#: Width of the utilities below.
S = 8
LEFT = np.array([[0, 5, -3, 9], [12, 2, 2, -40], [7, 7, -9, 0]])
RIGHT = np.array([[-6, 1, 10, 3], [0, 0, 4, 8], [11, -2, 6, 5]])
#: Bits behind a decision point on which the sampler is tried.
CLOSE = 150


def choice(epsilon: float, width: int = S) -> TwoLevelChoice:
    return TwoLevelChoice(epsilon, BoundedRangeSensitivity(width, "test"))


def weight(utility: int, epsilon: float, width: int = S) -> Decimal:
    """exp(epsilon * utility / width) to 120 digits."""
    rate = Fraction(epsilon) / width
    return (Decimal(rate.numerator) / Decimal(rate.denominator) * utility).exp()


def law(left: np.ndarray, right: np.ndarray, epsilon: float, width: int = S) -> dict[DepthTwoTree, Decimal]:
    """Every tree, listed one by one."""
    with localcontext(prec=120):
        below = range(left.shape[1])
        trees = [DepthTwoTree(*tree) for tree in product(range(len(left)), below, below)]
        weights = {tree: weight(int(left[tree.root, tree.left] + right[tree.root, tree.right]), epsilon, width) for tree in trees}
        total = sum(weights.values())
        return {tree: share / total for tree, share in weights.items()}


@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.4, 3.0]))
@examples(20)
def test_the_law_is_the_exponential_mechanism_over_all_trees(seed, epsilon):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(-60, 60, (2, 3, 4))
    utilities = utilities_of(left, right)
    chances = choice(epsilon).probabilities(utilities)
    expected = law(left, right, epsilon)
    assert [utilities.tree(number) for number in range(len(chances))] == list(expected)
    assert [utilities.number(tree) for tree in expected] == list(range(len(chances)))
    np.testing.assert_allclose(chances, [float(chance) for chance in expected.values()], rtol=1e-11)


class _Bits:
    """The digits of a number in [0, 1), one after another."""

    def __init__(self, number: Decimal) -> None:
        self._rest = number

    def __call__(self, count: int) -> int:
        with localcontext(prec=160):
            scaled = self._rest * 2**count
            whole = int(scaled)
            self._rest = scaled - whole
            return whole


def departures(mechanism: TwoLevelChoice, expected: dict[DepthTwoTree, Decimal], monkeypatch, *, trust: float = 0.0) -> int:
    """How often the exact sampler differs from a law, asked on both sides of every point where the law turns to the next index.

    `trust` is added to the error of the floats; 1: they decide nothing.
    """
    utilities, wrong, tiny = utilities_of(LEFT, RIGHT), 0, Decimal(2) ** -CLOSE
    with localcontext(prec=120):
        roots = turns(expected, 0)
        for root in range(len(roots) - 1):
            here = {tree: chance for tree, chance in expected.items() if tree.root == root}
            sides = [turns(here, side) for side in (1, 2)]
            for place, (end, inside) in product(range(utilities.n_below), ((0, tiny), (1, -tiny))):
                draws = [roots[root + end] + inside, *(side[place + end] + inside for side in sides)]
                script(draws, trust, monkeypatch)
                wrong += utilities.tree(mechanism.sample_exactly(utilities)) != DepthTwoTree(root, place, place)
    return wrong


def turns(trees: dict[DepthTwoTree, Decimal], part: int) -> list[Decimal]:
    """Where a uniform number turns from one index to the next: of the root (0), the left (1) or the right side (2)."""
    shares = [
        sum(chance for tree, chance in trees.items() if tree[part] == place) for place in range(max(t[part] for t in trees) + 1)
    ]
    ends = list(accumulate([Decimal(0), *shares]))
    return [end / ends[-1] for end in ends]


def script(draws: list[Decimal], trust: float, monkeypatch) -> None:
    """Let every choice use the bits of the next of these numbers."""
    bits = map(_Bits, draws)

    def scripted(weights, error, decimals):
        monkeypatch.setattr(exact_weights, "secure_bits", next(bits))
        return exact_weights.sample_index_exactly(weights, error + trust, decimals)

    monkeypatch.setattr(two_levels, "sample_index_exactly", scripted)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.3, 2.0, 8.0])
@pytest.mark.parametrize("trust", [0.0, 1.0], ids=["floats first", "digits alone"])
def test_the_exact_sampler_turns_where_the_law_does(epsilon, trust, monkeypatch):
    """Within 2^-150 of every point where it does."""
    assert not departures(choice(epsilon), law(LEFT, RIGHT, epsilon), monkeypatch, trust=trust)


@pytest.mark.parametrize(
    ("left", "right", "epsilon"),
    [(LEFT, RIGHT, 0.3 * (1 + 2e-16)), (LEFT, RIGHT, 0.15), (LEFT, RIGHT, 0.6), (RIGHT, LEFT, 0.3), (LEFT, LEFT, 0.3)],
    ids=["an ulp", "half of epsilon", "twice epsilon", "sides exchanged", "one side's sum twice"],
)
def test_another_law_would_be_noticed(left, right, epsilon, monkeypatch):
    assert departures(choice(0.3), law(left, right, epsilon), monkeypatch)


@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(0.1) / 1024, Fraction(3), Fraction(1000), Fraction(0)])
def test_float_weights_are_as_close_as_they_say(rate):
    weights = ExactWeights(rate)
    last = int(700 / rate) if rate else 2**60
    behind = np.unique(np.concatenate([np.geomspace(1, max(last, 2), 300).astype(np.int64), np.arange(5)]))
    behind = behind[behind <= last]
    with localcontext(prec=60):
        each = Decimal(rate.numerator) / Decimal(rate.denominator)
        for k, found in zip(behind.tolist(), weights.floats(behind).tolist(), strict=True):
            true = (-each * k).exp()
            assert abs(Decimal(found) - true) <= Decimal(weights.error) * true
    assert not weights.floats(np.array([last + 1, 2**62])).any() or not rate


@pytest.mark.parametrize("source", [Simulation(3), ExactNoise()], ids=lambda source: source.name)
@pytest.mark.slow
def test_draws_follow_the_law(source):
    """And would not be taken for those of 1.3 times the epsilon."""
    utilities, rounds = utilities_of(LEFT[:2, :3], RIGHT[:2, :3]), 3000
    found = np.bincount([choice(2.0).release(utilities, source=source, part="node", level=0).value.left for _ in range(rounds)])
    for epsilon, follows in ((2.0, True), (2.6, False), (1.4, False)):
        shares = choice(epsilon).probabilities(utilities).reshape(2, 3, 3).sum(axis=(0, 2))
        assert (chisquare(found, shares * rounds).pvalue > 1e-4) == follows


@given(st.integers(0, 10**6), st.sampled_from([0.05, 1.0, 4.0]))
@examples(60)
def test_one_row_costs_epsilon_and_moves_losses_within_a_range_of_epsilon(seed, epsilon):
    """A row changes the side it reaches, by -3 to 5 of 8."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(-60, 60, (2, 3, 4))
    goes_left, change = rng.random(3) < 0.5, rng.integers(-3, 6, (3, 4))
    more = utilities_of(left + change * goes_left[:, None], right + change * ~goes_left[:, None])
    law = choice(epsilon)
    losses = np.log(law.probabilities(more)) - np.log(law.probabilities(utilities_of(left, right)))
    assert np.abs(losses).max() <= epsilon * (1 + 1e-9)
    assert np.ptp(losses) <= epsilon * (1 + 1e-9)


def test_a_row_that_changes_more_than_the_width_would_cost_more():
    before = utilities_of(np.zeros((2, 2), int), np.zeros((2, 2), int))
    after = utilities_of(np.array([[S + 1, -1], [-1, -1]]), np.zeros((2, 2), int))
    losses = np.log(choice(1.0).probabilities(after)) - np.log(choice(1.0).probabilities(before))
    assert np.ptp(losses) > 1.2


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17])
def test_an_epsilon_of_next_to_nothing_chooses_evenly(epsilon):
    utilities = utilities_of(np.array([[0, 10**6]]), np.array([[5, -(10**6)]]))
    chosen = [TwoLevelChoice(epsilon, BoundedRangeSensitivity(1024, "a row")).sample_exactly(utilities) for _ in range(200)]
    assert all(count > 20 for count in np.bincount(chosen, minlength=4))
