"""What rounds of Gaussian noise cost, and how much noise a budget asks for: (epsilon, delta) under add/remove one row.

The library `dp_accounting` does the arithmetic wherever rows are drawn by chance: privacy loss distributions, or Renyi's
divergence at one fixed order where an individual filter is at work (it cannot be combined with the former). Without chance
all rounds together are one Gaussian mechanism, whose delta has a closed form. Everything is rounded towards more loss.

Noise is drawn on a grid (`privacy.gaussian`) so fine that its distribution differs from a rounded Gaussian's by a factor within
1 +- GRID_SLACK over all rounds. Epsilon and delta here include that factor.

Source: Balle & Wang 2018, Theorem 8 (closed form); Mironov, Talwar & Zhang 2019 (sampled Gaussian); Canonne, Kamath & Steinke
2020, Proposition 12 (conversion); Feldman & Zrnic 2021 (filter).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from dpviz.accounting.events import GaussianRounds
from dpviz.errors import Cancelled, DpvizError, ParameterError

#: Orders at which a filter may keep its accounts.
ORDERS = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 192.0, 256.0, 384.0, 512.0)
#: Upper bound on the log ratio between noise on the grid and rounded Gaussian noise, over all rounds together.
GRID_SLACK = 1e-9
#: Relative error allowed to floating-point sums, counted as loss.
_ROUNDING = 1e-6
#: Above this epsilon drawing rows is not counted: it never costs more, and losses leave the floating-point range.
_LARGE = 50.0
#: Noise is found to within this factor.
_FACTOR = 1.0001
#: A search by factors of `_WIDTH` around a first guess, then by halves.
_WIDTH = 1.25
Progress = Callable[[float], None]
Stop = Callable[[], bool]


def renyi_loss(noise_multiplier: float, sampling: float, order: float) -> float:
    """Renyi's divergence of one round at `order`, each row drawn with probability `sampling`; rounded up."""
    if sampling >= 1:
        return order / (2 * noise_multiplier**2) * (1 + 1e-12)
    import dp_accounting as dp
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant([order])
    accountant.compose(dp.PoissonSampledDpEvent(sampling, dp.GaussianDpEvent(noise_multiplier)))
    return float(accountant._rdp[0]) * (1 + _ROUNDING)


def renyi_epsilon(order: float, loss: float, delta: float) -> float:
    """Epsilon at `delta` of a mechanism whose Renyi divergence at `order` is at most `loss`, never below 0."""
    tight = loss + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
    return max(0.0, tight)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Delta at `epsilon` of one Gaussian mechanism that moves by `mu` standard deviations (closed form, rounded up)."""
    from scipy.special import log_ndtr

    if mu == 0:
        return 0.0
    below, above = (float(log_ndtr(side * mu / 2 - epsilon / mu)) for side in (1, -1))
    return math.exp(below) * max(0.0, -math.expm1(min(0.0, epsilon + above - below))) * (1 + _ROUNDING)


@lru_cache(maxsize=4096)
def covers(event: GaussianRounds) -> bool:
    """True when the event's (epsilon, delta) is at least what its rounds cost."""
    epsilon, delta = event.epsilon - 2 * GRID_SLACK, event.delta / (1 + 2 * GRID_SLACK)
    if event.noise_multiplier <= 0 or not 0 < delta < 1 or epsilon < 0:
        return False
    return _covers(event.noise_multiplier, event.sampling, event.rounds, event.order, epsilon, delta)


def _covers(noise: float, sampling: float, rounds: int, order: float | None, epsilon: float, delta: float) -> bool:
    if order is not None:
        return renyi_epsilon(order, rounds * renyi_loss(noise, sampling, order), delta) <= epsilon
    if sampling >= 1 or epsilon > _LARGE:
        return gaussian_delta(epsilon, math.sqrt(rounds) / noise) <= delta
    return _sampled_delta(noise, sampling, rounds, epsilon) <= delta


def _sampled_delta(noise: float, sampling: float, rounds: int, epsilon: float) -> float:
    """Delta by privacy loss distributions, which the library rounds up to its grid of losses."""
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=_interval(epsilon))
    accountant.compose(dp.PoissonSampledDpEvent(sampling, dp.GaussianDpEvent(noise)), rounds)
    return float(accountant.get_delta(epsilon)) * (1 + _ROUNDING)


def _interval(epsilon: float) -> float:
    """How finely losses are told apart."""
    return max(1e-7, epsilon * 2e-3)


@lru_cache(maxsize=1024)
def noise_multiplier(epsilon: float, delta: float, *, sampling: float, rounds: int, order: float | None = None) -> float:
    """The least noise (in units of the largest change of a row) with which `rounds` cost (epsilon, delta). Remembered."""
    return calibrate(epsilon, delta, sampling=sampling, rounds=rounds, order=order)


def calibrate(
    epsilon: float,
    delta: float,
    *,
    sampling: float,
    rounds: int,
    order: float | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> float:
    """As `noise_multiplier`, not remembered.

    Parameters
    ----------
    sampling : float
        Probability with which a row takes part in a round, in (0, 1].
    rounds : int
    order : float or None
        Renyi order of an individual filter; None: no filter.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, optional

    Raises
    ------
    ParameterError
        For an epsilon or delta that no Gaussian noise has.
    Cancelled
        When `stop` says so.
    """
    for name, value, allowed, fits in _conditions(epsilon, delta, sampling, rounds):
        if not fits:
            raise ParameterError("calibrate", name, value, allowed)

    def enough(log_noise: float) -> bool:
        return covers(GaussianRounds(epsilon, delta, math.exp(log_noise), sampling, rounds, order, part="calibration"))

    low, high = _bracket(enough, math.log(_guess(epsilon, delta, sampling, rounds)))
    wide = high - low
    while high - low > math.log(_FACTOR):
        if stop is not None and stop():
            raise Cancelled
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
        if progress is not None:
            progress(min(1.0, math.log(wide / (high - low)) / math.log(wide / math.log(_FACTOR))))
    return math.exp(high)


def _guess(epsilon: float, delta: float, sampling: float, rounds: int) -> float:
    """About the right noise: drawing rows saves about as much noise as it takes away from the signal, while noise is large."""
    low, high = -50.0, 50.0  # of log mu
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(epsilon, math.exp(middle)) <= delta else (low, middle)
    return sampling * math.sqrt(rounds) / math.exp(low)


def _conditions(epsilon: float, delta: float, sampling: float, rounds: int) -> tuple[tuple[str, float, str, bool], ...]:
    return (
        ("epsilon", epsilon, "a finite number of at least 1e-8", 1e-8 <= epsilon < math.inf),
        ("delta", delta, "a number in [1e-30, 1)", 1e-30 <= delta < 1),
        ("sampling", sampling, "a number in [1e-4, 1]", 1e-4 <= sampling <= 1),
        ("rounds", rounds, "a whole number of at least 1", rounds >= 1),
    )


def _bracket(enough: Callable[[float], bool], start: float) -> tuple[float, float]:
    """Logarithms of (too little, enough) noise, a factor of _WIDTH apart."""
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


@lru_cache(maxsize=256)
def best_order(epsilon: float, delta: float, *, sampling: float, rounds: int) -> float:
    """The order at which a filter needs least noise: a function of public numbers only."""
    usable = [order for order in ORDERS if renyi_epsilon(order, 0.0, delta) < epsilon / (1 + _ROUNDING)]
    if not usable:
        what = f"An individual filter cannot keep epsilon = {epsilon:g} at delta = {delta:g}."
        raise DpvizError(what, remedy="Ask for a larger epsilon or delta, or turn the filter off.")
    return min(usable, key=lambda order: noise_multiplier(epsilon, delta, sampling=sampling, rounds=rounds, order=order))


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Epsilon at `delta` of one Gaussian mechanism that moves by `mu` standard deviations, rounded up."""
    low, high = 0.0, mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1e-12
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_delta(middle, mu) <= delta else (middle, high)
    return high


def epsilon_after(event: GaussianRounds, rounds: int) -> float:
    """What the first `rounds` rounds alone cost at the event's delta; with a filter never more than `event.rounds` full ones."""
    if rounds <= 0:
        return 0.0
    if event.order is not None:
        loss = renyi_loss(event.noise_multiplier, event.sampling, event.order)
        return renyi_epsilon(event.order, min(rounds, event.rounds) * loss, event.delta)
    if event.sampling >= 1:
        return gaussian_epsilon(event.delta, math.sqrt(rounds) / event.noise_multiplier)
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=_interval(event.epsilon))
    accountant.compose(dp.PoissonSampledDpEvent(event.sampling, dp.GaussianDpEvent(event.noise_multiplier)), rounds)
    return float(accountant.get_epsilon(event.delta)) * (1 + _ROUNDING)
