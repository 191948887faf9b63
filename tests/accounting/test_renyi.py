"""Renyi losses of one order: never less than what a computation of its own finds, and a filter that holds for chosen epsilons."""

import itertools
import math

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant

from dpviz.accounting.events import (
    Approximate,
    GaussianRounds,
    NoCost,
    Noise,
    NonPrivate,
    Parallel,
    RandomParts,
    Select,
    Sequential,
)
from dpviz.accounting.gaussian import noise_multiplier, renyi_epsilon
from dpviz.accounting.renyi import best_order, budget, pure_epsilon, pure_loss, renyi

ORDERS = (1.5, 2.0, 8.0, 24.0, 128.0)


def divergence(present, absent, order):
    """Of two laws on a few outcomes, the larger of both directions."""
    p, q = np.log(present), np.log(absent)
    return max(float(np.logaddexp.reduce(order * a + (1 - order) * b)) / (order - 1) for a, b in ((p, q), (q, p)))


def response(epsilon):
    right = 1 / (1 + math.exp(-epsilon))
    return np.array([right, 1 - right]), np.array([1 - right, right])


def noise(epsilon):
    return Noise(epsilon, "geometric", "leaf")


def rounds(order=None, sampling=1.0, epsilon=0.5, n=10):
    noise = noise_multiplier(epsilon, 1e-6, sampling=sampling, rounds=n, order=order)
    return GaussianRounds(epsilon, 1e-6, noise, sampling, n, order, "trees")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.3, 2.0, 20.0])
def test_a_pure_step_costs_what_randomised_response_does(order, epsilon):
    exact = divergence(*response(epsilon), order)
    assert renyi(noise(epsilon), order) == pytest.approx(exact, rel=1e-6, abs=1e-14)
    assert renyi(noise(epsilon), order) <= epsilon * (1 + 1e-8)
    assert renyi(Approximate(epsilon, 0.0, "any", "model"), order) == renyi(noise(epsilon), order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_a_step_of_bounded_range_costs_no_less_than_any_pair_of_its_range(order, epsilon):
    bound = renyi(Select(epsilon, "exponential mechanism", "node", bounded_range=True), order)
    worst = 0.0
    for top in np.linspace(0.001, 0.999, 400) * epsilon:
        low = (1 - math.exp(top - epsilon)) / (math.exp(top) - math.exp(top - epsilon))
        absent = np.array([low, 1 - low])
        worst = max(worst, divergence(absent * np.exp([top, top - epsilon]), absent, order))
    assert worst <= bound <= renyi(noise(epsilon), order)
    assert bound < 1.2 * worst or order * epsilon > 1


@pytest.mark.parametrize("order", ORDERS)
def test_gaussian_rounds_cost_what_the_library_says(order):
    for sampling in (1.0, 0.1):
        event, library = rounds(sampling=sampling), RdpAccountant([order])
        one = GaussianDpEvent(event.noise_multiplier)
        library.compose(one if sampling == 1 else PoissonSampledDpEvent(sampling, one), event.rounds)
        assert library.rdp[0] <= renyi(event, order) == pytest.approx(float(library.rdp[0]), rel=1e-5, abs=1e-7)


def test_what_an_individual_filter_kept_at_its_order_bounds_smaller_orders_only():
    sampled = rounds(order=48.0, sampling=0.1)
    assert renyi(sampled, 48.0) == pytest.approx(renyi(sampled, 8.0), rel=1e-6)
    assert math.isinf(renyi(sampled, 64.0))
    whole = rounds(order=48.0)
    assert renyi(whole, 96.0) == pytest.approx(96 * 10 / (2 * whole.noise_multiplier**2), rel=1e-5)


def test_steps_add_up_disjoint_rows_take_the_largest_and_random_assignment_the_mean():
    one, other, order = noise(0.3), noise(0.7), 6.0
    both = [renyi(event, order) for event in (one, other)]
    assert renyi(Sequential((one, other, NoCost("split"))), order) == pytest.approx(sum(both))
    assert renyi(Parallel((one, other)), order) == both[1]
    laws = [np.concatenate([0.3 * a, 0.5 * b, [0.2]]) for a, b in zip(response(0.3), response(0.7), strict=True)]
    assert renyi(RandomParts((one, other), (0.3, 0.5)), order) == pytest.approx(divergence(*laws, order), rel=1e-6)


def test_what_is_published_exactly_and_what_is_known_by_its_delta_alone_have_no_renyi_loss():
    assert math.isinf(renyi(NonPrivate("exact count", "rows"), 8.0))
    assert math.isinf(renyi(Approximate(0.1, 1e-6, "any", "model"), 8.0))
    assert renyi(NoCost("split"), 8.0) == 0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-6), (1.0, 5e-8), (3.0, 1e-5)])
def test_a_budget_converts_to_its_cap_and_its_order_holds_most_gaussian_noise(epsilon, delta):
    order = best_order(epsilon, delta)
    most = budget(order, epsilon, delta)
    assert renyi_epsilon(order, most, delta) <= epsilon
    assert renyi_epsilon(order, most * (1 + 1e-6), delta) > epsilon
    assert all(most / order >= budget(other, epsilon, delta) / other for other in (1.5, 4.0, 16.0, 64.0, 512.0))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("loss", [0.0, 1e-9, 0.02, 0.6, 5.0])
def test_the_largest_pure_epsilon_fits_and_a_larger_one_does_not(order, loss):
    found = pure_epsilon(order, loss)
    assert renyi(noise(found), order) <= loss
    assert loss == 0 or pure_loss(found * (1 + 1e-6), order) > loss


class Adversary:
    """Answers by randomised response, each with an epsilon that follows from the answers before, until nothing more fits."""

    def __init__(self, order, most, choices):
        self.order, self.most, self.choices = order, most, choices

    def laws(self):
        """The exact laws of all transcripts, with the row and without, and the largest Renyi loss that was spent."""
        found, largest = [], 0.0
        stack = [((), 1.0, 1.0, 0.0)]
        while stack:
            answers, present, absent, spent = stack.pop()
            epsilon = self.choices[hash(answers) % len(self.choices)] * (2.5 if answers[-1:] == (0,) else 1.0)
            cost = renyi(noise(epsilon), self.order)
            if spent + cost > self.most or len(answers) == 12:
                found.append((present, absent))
                largest = max(largest, spent)
                continue
            for answer, (p, q) in enumerate(zip(*response(epsilon), strict=True)):
                stack.append(((*answers, answer), present * p, absent * q, spent + cost))
        return *np.array(found).T, largest


def test_epsilons_chosen_by_what_came_before_never_cost_more_than_the_filter_promises():
    rng = np.random.default_rng(7)
    for epsilon, delta in itertools.product((0.8, 1.5), (1e-5, 1e-2)):
        order = best_order(epsilon, delta)
        most = budget(order, epsilon, delta)
        assert most > 0
        for _ in range(6):
            present, absent, largest = Adversary(order, most, rng.uniform(0.05, 0.3, size=5).tolist()).laws()
            assert present.sum() == pytest.approx(1) == absent.sum()
            assert largest <= most
            assert divergence(present, absent, order) <= most
            for one, other in ((present, absent), (absent, present)):
                assert np.maximum(0, one - math.exp(epsilon) * other).sum() <= delta
