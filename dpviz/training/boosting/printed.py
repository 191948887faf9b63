"""S-GBDT's noise as its paper prints it, which is too small, and the counterexample.

Algorithm 7, line 6, finds the epsilon of rounds with Renyi divergence rho at order alpha from exp(rho - alpha epsilon) = delta,
and Theorem 18 prints the same exponent. Its source (Abadi et al. 2016, Theorem 2) has there the log of a *moment* of order
lambda = alpha - 1, which is (alpha - 1) rho: right is exp((alpha - 1)(rho - epsilon)) = delta. Without the factor, Gaussian
noise of variance 1 / (2 epsilon) would be (epsilon, 0)-DP, because alpha / (2 variance) - alpha epsilon falls without end.

The counterexample is the empty table against one row whose target is at an end of the declared range. Leaves are noisy sums over
a positive number, so the sign of the row's leaf is that of its noisy sum of gradients: heads of a fair coin in every round
without the row, more often heads with it. The number of heads says which table it was, beyond the claim.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import ORDERS, bisect, covers, epsilon_after, renyi_loss
from dpviz.errors import DpvizError
from dpviz.training.boosting.rounds import GRADIENTS, Recipe

#: A probability that the counterexample gives away: of more draws than it allows for, and of the grid of the noise.
_RARE = 1e-6


@lru_cache(maxsize=64)
def printed_rounds(epsilon: float, delta: float, *, sampling: float, rounds: int, filtered: bool, part: str) -> GaussianRounds:
    """Rounds with the least noise that the paper's conversion allows for (epsilon, delta); the event says what they really cost.

    `filtered`: each row has an individual filter, at the order of that conversion. Raises DpvizError where no noise is enough.
    """
    noise_at = partial(_printed_noise, epsilon, delta, sampling, rounds)
    near = min((order for order in ORDERS if order >= 2), key=noise_at)
    order = min(np.linspace(near / 1.5, near * 1.5, 13).tolist(), key=noise_at)
    noise = noise_at(order)
    if not math.isfinite(noise):
        raise DpvizError("No noise gives this epsilon and delta as printed.", remedy="Ask for a larger epsilon or delta.")
    kept = order if filtered else None
    event = partial(GaussianRounds, delta=delta, noise_multiplier=noise, sampling=sampling, rounds=rounds, order=kept, part=part)
    about = epsilon_after(event(epsilon), rounds)
    return event(bisect(lambda spent: covers(event(spent)), about / 2, about * 2, times=12)[1])


@lru_cache(maxsize=1024)
def _printed_noise(epsilon: float, delta: float, sampling: float, rounds: int, order: float) -> float:
    """The least noise multiplier whose rounds pass the printed conversion at one order; infinite where none up to e^10 does."""

    def enough(log_noise: float) -> bool:
        return rounds * renyi_loss(math.exp(log_noise), sampling, order) - order * epsilon <= math.log(delta)

    return math.exp(bisect(enough, -5.0, 10.0, times=17)[1]) if enough(10.0) else math.inf


def delta_found(recipe: Recipe, event: GaussianRounds, epsilon: float, *, start_scale: float) -> float:
    """A lower bound on the delta of a number's rounds at `epsilon`, from the counterexample above; at least 0.

    `start_scale`: scale of the noise of the first score, in scores; 0: it starts from the middle. In each of the first
    rounds - 1 (the filter lets a row of full size into so many) the row's gradient is at least clip, unless the score has come
    within clip of the target. Noise moves the score through leaves of `least_support` rows or more, so what it does over all
    rounds has a sub-Gaussian tail (Doob's inequality); so do the row's own gradients, in as many rounds as it is drawn.
    """
    from scipy.special import ndtr
    from scipy.stats import binom

    noise, rounds = float(recipe.grid.scales[GRADIENTS]), event.rounds - 1
    if rounds < 1:
        return 0.0
    step, room = recipe.learning_rate / recipe.least_support, 1 - recipe.clip
    started = room / 2
    drawn = float(binom.isf(_RARE, rounds, recipe.sampling))
    left = room - started - step * recipe.clip * drawn
    if left <= 0:
        return 0.0
    late = math.exp(-(left**2) / (2 * rounds * (step * noise) ** 2)) + _RARE
    off = math.exp(-started / start_scale) if start_scale else 0.0
    heads = np.arange(rounds)
    with_row = 0.5 + recipe.sampling * (float(ndtr(recipe.clip / noise)) - 0.5) - _RARE
    gap = binom.sf(heads, rounds, with_row) - math.exp(min(epsilon, 700.0)) * binom.sf(heads, rounds, 0.5)
    return max(0.0, float(gap.max()) - late - off)
