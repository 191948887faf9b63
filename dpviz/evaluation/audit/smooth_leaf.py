"""Smooth or global? One leaf of two classes: how likely its label flips, and what one row more reveals.

The gap j is how far the larger count is ahead. Three rules label the leaf: the smooth random forest's, the same with global
sensitivity, and permute-and-flip on the counts. Probabilities are kept as logarithms: smooth ones leave the range of floats.

Source: Fletcher & Islam 2017, Theorem 1 and its addendum of August 2021; the ratio of neighbours is this project's.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpviz.errors import ParameterError
from dpviz.table.checked_numbers import is_number

Rule = Literal["smooth", "global", "permute-and-flip"]
RULES: tuple[Rule, ...] = ("smooth", "global", "permute-and-flip")
#: ln of the largest odds that matter: beyond, exp() overflows and a probability is 0 for every purpose.
_LARGEST = 700.0


@dataclass(frozen=True, eq=False)
class LeafCurve:
    """One rule at one epsilon, over the gaps 0, 1, 2, ..."""

    rule: Rule
    epsilon: float
    gaps: np.ndarray  #: int64
    #: float64. Probability that the smaller class is published.
    flip: np.ndarray
    #: float64. Largest log ratio of the probability of a label between a gap and the gap one row more makes. Above epsilon the
    #: rule is not epsilon-differentially private.
    log_ratio: np.ndarray


def leaf_curve(rule: Rule, epsilon: float, most: int = 100) -> LeafCurve:
    """The curve for gaps 0 .. most."""
    gaps = np.arange(most + 1)
    return LeafCurve(rule, epsilon, gaps, flip_probability(rule, epsilon, gaps), neighbour_log_ratio(rule, epsilon, gaps))


def flip_probability(rule: Rule, epsilon: float, gaps: np.ndarray) -> np.ndarray:
    """Probability that a leaf of two classes publishes the smaller one (one of two equal ones where the gap is 0)."""
    return np.exp(log_flip(rule, epsilon, gaps))


def log_flip(rule: Rule, epsilon: float, gaps: np.ndarray) -> np.ndarray:
    """The natural logarithm of `flip_probability`, exact far beyond the range of floats."""
    if rule not in RULES:
        raise ParameterError("smooth_leaf", "rule", rule, f"one of {', '.join(map(repr, RULES))}")
    if not is_number(epsilon) or not 0 < epsilon <= 100:
        raise ParameterError("smooth_leaf", "epsilon", epsilon, "a number above 0 and up to 100")
    gaps = np.asarray(gaps, dtype=np.float64)
    if rule == "permute-and-flip":
        return math.log(0.5) - epsilon * gaps
    return -np.logaddexp(0.0, _log_odds(rule, epsilon, gaps))


def _log_odds(rule: Rule, epsilon: float, gaps: np.ndarray) -> np.ndarray:
    """ln of the odds of the majority; 0 where both classes are largest."""
    stretch = np.minimum(gaps * epsilon, _LARGEST) if rule == "smooth" else 0.0
    return np.where(gaps > 0, epsilon / 2 * np.exp(stretch), 0.0)


def _log_keep(rule: Rule, epsilon: float, gaps: np.ndarray) -> np.ndarray:
    """ln of the probability that the larger class is published."""
    return np.log1p(-np.exp(log_flip(rule, epsilon, gaps)))


def neighbour_log_ratio(rule: Rule, epsilon: float, gaps: np.ndarray) -> np.ndarray:
    """Largest log ratio of a label's probability between a gap and the next, the same class being the larger one."""
    gaps = np.asarray(gaps)
    flips = log_flip(rule, epsilon, gaps) - log_flip(rule, epsilon, gaps + 1)
    keeps = _log_keep(rule, epsilon, gaps + 1) - _log_keep(rule, epsilon, gaps)
    return np.maximum(np.abs(flips), np.abs(keeps))


def first_violation(rule: Rule, epsilon: float, most: int = 100_000) -> int | None:
    """The smallest gap at which one row more reveals more than epsilon; None when there is none up to `most`."""
    gaps = np.arange(most + 1)
    over = np.flatnonzero(neighbour_log_ratio(rule, epsilon, gaps) > epsilon * (1 + 1e-9))
    return int(over[0]) if len(over) else None


def delta_needed(rule: Rule, epsilon: float, most: int = 100_000) -> tuple[float, int]:
    """(delta, gap): what an honest (epsilon, delta) reading of one leaf needs, and the gap at which it needs it.

    The largest excess of a label's probability over exp(epsilon) times its probability one row further, either way.
    """
    gaps = np.arange(most + 1)
    flip, keep = (np.exp(log(rule, epsilon, np.arange(most + 2))) for log in (log_flip, _log_keep))
    pairs = [(p[:-1], p[1:]) for p in (flip, keep)] + [(p[1:], p[:-1]) for p in (flip, keep)]
    excess = np.max([one - math.exp(epsilon) * other for one, other in pairs], axis=0)
    gap = int(excess.argmax())
    rounding = 1e-15
    return (float(excess[gap]), int(gaps[gap])) if excess[gap] > rounding else (0.0, 0)
