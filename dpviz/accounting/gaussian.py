"""What rounds of Gaussian noise cost, and how much noise a budget needs: (epsilon, delta) under add/remove one row.

The library `dp_accounting` does the arithmetic where rows are sampled: with privacy loss distributions, or, where an individual
filter is used, with Renyi divergence at one fixed order. Without sampling all rounds together are one Gaussian mechanism, whose
delta has a closed form. Every result is rounded towards more loss.

Noise is drawn on a grid (`privacy.gaussian`) so fine that its distribution differs from a rounded Gaussian's by a factor within
1 +- GRID_SLACK over all rounds. Epsilon and delta here include that factor.

Calibration searches with `covers`, the same check the ledger makes, so calibrated noise is never smaller than the ledger needs.
`dp_accounting.calibrate_dp_mechanism` knows nothing of the grid; a test compares its noise with ours.

Source: Balle & Wang 2018, Theorem 8 (closed form); Mironov, Talwar & Zhang 2019 (sampled Gaussian); Canonne, Kamath & Steinke
2020, Proposition 12 (conversion); Feldman & Zrnic 2021 (filter).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.accounting.events import GaussianRounds
from dpviz.errors import DpvizError
from dpviz.table.validation import is_number, validate_number

if TYPE_CHECKING:
    from dp_accounting.pld import PLDAccountant

#: Renyi orders that an individual filter may use.
ORDERS = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 192.0, 256.0, 384.0, 512.0)
#: Upper bound on the log ratio between noise on the grid and rounded Gaussian noise, over all rounds together.
GRID_SLACK = 1e-9
#: Relative error allowed to floating-point sums, counted as loss.
_ROUNDING = 1e-6
#: Above this epsilon sampling is ignored: it can only lower the cost, and losses leave the floating-point range.
_LARGE = 50.0
#: Calibration brackets the noise by factors of `_WIDTH` and then halves the bracket, to within a factor of 1.0001.
_WIDTH, _HALVINGS = 1.25, 12
#: Noise is not calibrated for a smaller one.
_MIN_DELTA = 1e-30


def renyi_loss(noise_multiplier: float, sampling: float, order: float) -> float:
    """Renyi divergence of one round at `order`, each row sampled with probability `sampling`; rounded up."""
    if sampling >= 1:
        return order / (2 * noise_multiplier**2) * (1 + 1e-12)
    import dp_accounting as dp
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant([order])
    accountant.compose(dp.PoissonSampledDpEvent(sampling, dp.GaussianDpEvent(noise_multiplier)))
    return float(accountant.rdp[0]) * (1 + _ROUNDING)


def _renyi_epsilon(order: float, loss: float, log_delta: float) -> float:
    """Epsilon at a delta of a mechanism whose Renyi divergence at `order` is at most `loss`, never below 0."""
    return max(0.0, loss + math.log1p(-1 / order) - (log_delta + math.log(order)) / (order - 1))


def gaussian_delta(epsilon: Any, mu: float) -> Any:
    """Delta at `epsilon`, a number or an array, of a Gaussian that moves by `mu` > 0 standard deviations, rounded up."""
    from scipy.special import log_ndtr

    below, above = (log_ndtr(side * mu / 2 - epsilon / mu) for side in (1, -1))
    with np.errstate(invalid="ignore"):  # of a move so small that both are -inf
        return np.exp(below) * -np.expm1(np.fmin(0.0, epsilon + above - below)) * (1 + _ROUNDING)


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Epsilon at `delta` of one Gaussian mechanism that moves by `mu` standard deviations, rounded up."""
    if mu == 0 or gaussian_delta(0.0, mu) <= delta:
        return 0.0
    most = mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1e-12
    return bisect(lambda epsilon: gaussian_delta(epsilon, mu) <= delta, 0.0, most, times=60)[1]


@lru_cache(maxsize=4096)
def covers(cost: GaussianRounds) -> bool:
    """True when the (epsilon, delta) is at least what the rounds cost."""
    noise, sampling, rounds, order = cost.noise_multiplier, cost.sampling, cost.rounds, cost.order
    if not all(map(is_number, (cost.epsilon, cost.delta, noise, sampling, rounds, order or 2))):
        return False
    epsilon, delta = cost.epsilon - 2 * GRID_SLACK, cost.delta / (1 + 2 * GRID_SLACK)
    if order is not None and order <= 1:
        return False
    if not (noise > 0 and sampling > 0 and rounds > 0 and 0 < delta < 1 and epsilon >= 0):
        return False
    if order is not None:
        return _renyi_epsilon(order, rounds * renyi_loss(noise, sampling, order), math.log(delta)) <= epsilon
    if sampling >= 1 or epsilon > _LARGE:
        return gaussian_delta(epsilon, math.sqrt(rounds) / noise) <= delta
    return float(_sampled_rounds(noise, sampling, rounds, epsilon).get_delta(epsilon)) * (1 + _ROUNDING) <= delta


def is_plain(cost: GaussianRounds) -> bool:
    """Whether every row is in every round at full weight: then rows of one person move the sums by what each moves, added up."""
    return cost.order is None and cost.sampling >= 1


@lru_cache(maxsize=4096)
def epsilon_of_group(cost: GaussianRounds, rows: int) -> float:
    """Epsilon at its delta for so many rows, of rounds that are `is_plain`; rounded up."""
    noise = cost.noise_multiplier / rows * (1 - 1e-15)
    loss = gaussian_epsilon(cost.delta / (1 + 2 * GRID_SLACK), math.sqrt(cost.rounds) / noise)
    return loss + 2 * GRID_SLACK


def _sampled_rounds(noise: float, sampling: float, rounds: int, epsilon: float) -> PLDAccountant:
    """The privacy loss distribution of sampled rounds, in steps fine enough for losses around `epsilon`; rounded up."""
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=max(1e-7, epsilon * 2e-3))
    return accountant.compose(dp.PoissonSampledDpEvent(sampling, dp.GaussianDpEvent(noise)), rounds)


@lru_cache(maxsize=1024, typed=True)  # True is no epsilon of 1
def noise_multiplier(epsilon: float, delta: float, *, sampling: float, rounds: int, order: float | None = None) -> float:
    """The least noise with which `rounds` cost at most (epsilon, delta), in units of the largest change one row makes.

    Raises ParameterError for an epsilon or delta that no Gaussian noise can give.

    `sampling`: probability with which a row takes part in a round, in (0, 1].
    `order`: Renyi order of an individual filter; None: no filter.
    """
    owner = "noise_multiplier"
    validate_number(owner, "epsilon", epsilon, low=1e-8, allowed="a finite number of at least 1e-8")
    validate_number(owner, "delta", delta, low=_MIN_DELTA, high=math.nextafter(1, 0), allowed="a number in [1e-30, 1)")
    validate_number(owner, "sampling", sampling, low=1e-4, high=1, allowed="a number in [1e-4, 1]")
    validate_number(owner, "rounds", rounds, low=1, allowed="a whole number of at least 1")

    def enough(log_noise: float) -> bool:
        return covers(GaussianRounds(epsilon, delta, math.exp(log_noise), sampling, rounds, order))

    low, high = _bracket(enough, math.log(_guess(epsilon, delta, sampling, rounds)))
    return math.exp(bisect(enough, low, high, _HALVINGS)[1])


def _guess(epsilon: float, delta: float, sampling: float, rounds: int) -> float:
    """Roughly the right noise: while noise is large, sampling lowers the noise needed by about the sampling rate."""
    log_mu, _ = bisect(lambda log_mu: gaussian_delta(epsilon, math.exp(log_mu)) > delta, -50.0, 50.0, times=60)
    return sampling * math.sqrt(rounds) / math.exp(log_mu)


def _bracket(enough: Callable[[float], bool], start: float) -> tuple[float, float]:
    """Logarithms of (too little, enough) noise, a factor of `_WIDTH` apart."""
    step, high = math.log(_WIDTH), start
    if enough(high):
        while enough(high - step) and high > start - 20:
            high -= step
        return high - step, high
    while not enough(high):
        high += step
        if high > start + 20:
            raise DpvizError("No amount of noise gives this epsilon and delta.", remedy="Ask for a larger epsilon or delta.")
    return high - step, high


def bisect(enough: Callable[[float], bool], low: float, high: float, times: int) -> tuple[float, float]:
    """The interval between too little (`low`) and enough (`high`), halved so many times; enough must stay enough further up."""
    for _ in range(times):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high


def _delta_of_row(epsilon: float, delta: float, rows: int) -> float:
    """The delta that each of the rows of a person may have beside `epsilon`, so that together they have (rows epsilon, delta).

    Raises DpvizError where it is too small to be kept.

    Source: group privacy as in `guarantee.for_unit`, the other way round.
    """
    if rows == 1:
        return delta
    of_row = delta / rows * math.exp(-(rows - 1) * epsilon) * (1 - 1e-12)
    if of_row < _MIN_DELTA:
        why = f"Rows are too many or epsilon is too large: the delta of each would be below {_MIN_DELTA:g}."
        what = f"Of a person with {rows:,} rows, no row can keep its delta. {why}"
        remedy = "Ask for a smaller epsilon, or for every row in every round, without a filter."
        raise DpvizError(what, remedy=remedy)
    return of_row


def filter_orders(epsilon: float, delta: float, rows: int = 1) -> list[float]:
    """The orders at which an individual filter keeps `rows` of a person within (rows epsilon, delta); empty where none does."""
    log_delta = math.log(delta) if rows == 1 else math.log(delta / rows) - (rows - 1) * epsilon + math.log1p(-1e-12)
    return [order for order in ORDERS if _renyi_epsilon(order, 0.0, log_delta) < epsilon / (1 + _ROUNDING)]


@lru_cache(maxsize=256, typed=True)
def best_order(epsilon: float, delta: float, *, sampling: float, rounds: int) -> float:
    """The order at which a filter needs the least noise: a function of public numbers only."""
    usable = filter_orders(epsilon, delta)
    if not usable:
        what = f"An individual filter cannot keep epsilon = {epsilon:g} at delta = {delta:g}."
        raise DpvizError(what, remedy="Ask for a larger epsilon or delta, or turn the filter off.")
    return min(usable, key=lambda order: noise_multiplier(epsilon, delta, sampling=sampling, rounds=rounds, order=order))


def price_rounds(epsilon: float, delta: float, *, sampling: float, rounds: int, filtered: bool, rows: int = 1) -> GaussianRounds:
    """The cost of so many rounds for one row, with the least noise that keeps `rows` of a person within (rows epsilon, delta).

    `filtered` says whether each row has an individual filter. Rounds in which all rows take part at full weight need noise for
    a move that is `rows` times as far; all others a delta that grows to `delta` with the rows. Raises ParameterError, DpvizError
    where there is no such noise.
    """
    if rows > 1 and sampling >= 1 and not filtered:
        noise = rows * noise_multiplier(rows * epsilon, delta, sampling=sampling, rounds=rounds) * (1 + 1e-15)
        return GaussianRounds(epsilon, delta, noise, sampling, rounds, None)
    delta = _delta_of_row(epsilon, delta, rows)
    order = best_order(epsilon, delta, sampling=sampling, rounds=rounds) if filtered else None
    noise = noise_multiplier(epsilon, delta, sampling=sampling, rounds=rounds, order=order)
    return GaussianRounds(epsilon, delta, noise, sampling, rounds, order)
