"""A lower bound on epsilon that holds at every moment, so that an attack may stop as soon as it has shown enough.

One draw is taken from the table without the canary and one from the table with it, and of each a guesser says which it was, or
nothing. Someone who doubts epsilon stakes a share u of their money on every guess, at the odds that epsilon makes fair: a right
guess pays u / e^epsilon, a wrong one loses u. Under (epsilon, delta) the money grows by a factor of at most
1 + u delta / e^epsilon per draw on average, whatever is guessed: P(right) / e^epsilon - P(wrong) is at most delta / e^epsilon on
average over both tables, and the product of the two factors of a pair is at most the square of their mean. So divided by that
growth it exceeds 1 / beta at any time with probability at most beta (Ville's inequality), and the epsilons at which it does are
refuted at confidence 1 - beta. The rule of the guesses must not depend on the draws that it guesses.

The money is divided evenly over stakes u. Those of `STAKES` suit whoever does not know the best one, and cost a factor of their
number at most; a white-box attack knows it, and stakes by that alone (`best_stake`).

Source: Ville 1939; Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting"; for audits that stop,
González, Dulce-Rubio, Ramdas & Ribero 2025, "Sequentially auditing differential privacy".
"""

import math

import numpy as np

from dpviz.accounting.gaussian import bisect

#: Shares of the money: halving every second step, down to what suits an epsilon of a few thousandths.
STAKES = 2.0 ** -np.arange(0, 12, 0.5)
#: No bound is above this.
_MOST = 30.0
_STEPS = 50


def best_stake(right: float, epsilon: float) -> float:
    """That by which money grows fastest where such a share of the guesses is right (Kelly 1956)."""
    return max(0.0, right - (1 - right) * math.exp(epsilon))


def growth(right: np.ndarray | float, fair: float) -> np.ndarray:
    """ln of the factor by which money grows per guess at that stake, on average, where this share of them is fair; elementwise.

    No rule makes it grow faster on draws of which this share is right where every one is guessed.
    """
    from scipy.special import rel_entr

    surer = np.maximum(right, fair)
    return np.asarray(rel_entr(surer, fair) + rel_entr(1 - surer, 1 - fair))


def right_shown(right: float, pairs: int, *, beta: float) -> float:
    """The share of right guesses, 1/2 at least, up to which so many pairs of draws refute on average where this share is right.

    Half of the attacks show more, and half less.
    """

    def is_possible(fair: float) -> bool:
        return 2 * pairs * float(growth(right, fair)) < -math.log(beta)

    return 0.5 if is_possible(0.5) else bisect(is_possible, 0.5, right, times=_STEPS)[0]


def log_wealth(
    right: np.ndarray | int,
    wrong: np.ndarray | int,
    pairs: int,
    epsilon: float,
    *,
    delta: float = 0.0,
    stakes: np.ndarray = STAKES,
) -> np.ndarray:
    """ln of what 1 has become after so many pairs of draws, of which so many guesses were right and wrong; elementwise."""
    from scipy.special import logsumexp, xlog1py

    odds = stakes * math.exp(-epsilon)
    gains = np.multiply.outer(right, np.log1p(odds)) + xlog1py(np.multiply.outer(wrong, np.ones(len(stakes))), -stakes)
    return logsumexp(gains - 2 * pairs * np.log1p(odds * delta), axis=-1) - math.log(len(stakes))


def refutes(
    right: int, wrong: int, pairs: int, epsilon: float, *, beta: float, delta: float = 0.0, stakes: np.ndarray = STAKES
) -> bool:
    """True where so many right guesses refute this epsilon, and with it every smaller one.

    Under delta only where enough of the draws were guessed right that a smaller epsilon makes more money, not less.
    """
    is_monotone = right >= 4 * delta * pairs
    return is_monotone and float(log_wealth(right, wrong, pairs, epsilon, delta=delta, stakes=stakes)) >= -math.log(beta)


def wagered_bound(right: int, wrong: int, pairs: int, *, beta: float, delta: float = 0.0, stakes: np.ndarray = STAKES) -> float:
    """The largest epsilon, 0 at least, that is refuted; above the truth at any time with probability at most `beta`."""

    def is_possible(epsilon: float) -> bool:
        return not refutes(right, wrong, pairs, epsilon, beta=beta, delta=delta, stakes=stakes)

    return 0.0 if is_possible(0.0) else bisect(is_possible, 0.0, _MOST, times=_STEPS)[0]


def least_right(right: int, wrong: int, pairs: int, *, beta: float, stakes: np.ndarray = STAKES) -> float:
    """A lower limit of the share of right guesses, at least 1/2, where every draw is guessed; it holds at every moment too.

    It is the same wager: at a share m, odds of (1 - m) / m are fair.
    """
    return 1 / (1 + math.exp(-wagered_bound(right, wrong, pairs, beta=beta, stakes=stakes)))
