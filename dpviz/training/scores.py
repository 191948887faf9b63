"""Utilities of candidate splits, as exact integers where possible, with proofs of their sensitivity.

**Impurity.** imp(n_1..n_K) = n - sum n_k^2 / n (n times Gini; 0 for no rows) grows by at least 0 and less than 2 when one row is
added: d imp / d n_k = (1 - p_k)^2 + sum_{j != k} p_j^2 lies in [0, 2] and falls along the step. Only one child of a candidate
changes. So u = -(imp(left) + imp(right)) / 2 has sensitivity 1 and is monotone: adding a row never raises a utility.

**Integers.** Each child's half impurity is stored as floor(S (n^2 - sum n_k^2) / (2 n)) with S = 1024. When a number grows by d
in [0, S), its floor() grows by at most ceil(d) <= S and never falls, so the sensitivity is exactly S and monotone. All in int64
(safe up to n = 3 * 10^9): the same table gives the same scores on every platform, and OpenDP's integer permute-and-flip takes
them directly.

**Correct rows.** The number of rows that a labelled split classifies correctly is a count: sensitivity 1, monotone.

**Classes of unequal weight.** With w_k whole units per row of class k, a row adds w_k <= W = max w to one count of one child.
Along this step d imp / d n_k lies in [0, 2] as before, so half the impurity grows by at most w_k and never falls, and so does
its floor times S, since S w_k is whole; correct units grow by w_k or not at all. Both sensitivities are W times larger, monotone.

Source: unnormalised Gini, Friedman & Schuster 2010; the monotone step and the integers are this project's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.errors import DpvizError
from dpviz.privacy.sensitivity import COUNT, Sensitivity

#: Fixed-point units per row.
SCALE = 1024
#: Of whole numbers below this, float64 holds the quotient so closely that no rounding reaches the next whole number.
_EXACT = 1 << 53
#: Above this many rows n^2 would overflow int64; units of rows, where classes are weighed.
MAX_ROWS = 3_000_000_000

IMPURITY = Sensitivity(
    SCALE, monotone=True, source="adding a row raises one child's half impurity by 0 to 1 row, rounded down per child"
)


#: Units of the heaviest class; the others are rounded to whole units.
MAX_WEIGHT = 100


@dataclass(frozen=True)
class Weighing:
    """Class counts in whole units per row, and what one row then changes."""

    #: Shape (n_classes,), int64, or None. None: one unit per row of every class.
    units: np.ndarray | None = None
    impurity: Sensitivity = IMPURITY
    count: Sensitivity = COUNT

    @classmethod
    def of(cls, weights: tuple[float, ...] | None) -> Weighing:
        """Units in proportion to `weights`, `MAX_WEIGHT` for the largest, at least 1."""
        if weights is None:
            return cls()
        units = np.maximum(np.round(np.array(weights) * MAX_WEIGHT / max(weights)), 1).astype(np.int64)
        largest, because = int(units.max()), "a row adds at most the units of the heaviest class"
        return cls(units, Sensitivity(SCALE * largest, True, because), Sensitivity(largest, True, because))

    @property
    def largest(self) -> int:
        """Of all classes."""
        return 1 if self.units is None else int(self.units.max())

    @property
    def key(self) -> bytes:
        """Equal for equal units."""
        return b"" if self.units is None else self.units.tobytes()

    def counts(self, counts: np.ndarray) -> np.ndarray:
        """Class counts (last axis: classes) in units."""
        return counts if self.units is None else counts * self.units


def half_impurity(counts: np.ndarray, scale: int = SCALE, *, axis: int = -1) -> np.ndarray:
    """floor(scale * (n^2 - sum n_k^2) / (2 n)) over an axis, int64; 0 where there are no rows."""
    by_class = np.moveaxis(counts, axis, 0).astype(np.int64, copy=False)
    n = by_class.sum(axis=0)
    unequal = 2 * by_class[0] * by_class[1] if len(by_class) == 2 else n * n - np.square(by_class).sum(axis=0)
    twice = np.maximum(2 * n, 1)
    if scale * int(unequal.max(initial=0)) < _EXACT:
        quotient = unequal.astype(np.float64)
        quotient *= scale
        quotient /= twice
        return quotient.astype(np.int64)  # nothing is negative: what is cut off is what the floor takes
    whole, rest = np.divmod(unequal, twice)
    return whole * scale + rest * scale // twice  # times the scale first would overflow from 9 * 10^7 rows on


def impurity_utilities(left: np.ndarray, total: np.ndarray) -> np.ndarray:
    """-(half impurity of both children), int64 of shape (n_candidates,); `left` has shape (n_candidates, n_classes).

    Raises DpvizError as `require_scorable`.
    """
    require_scorable(int(total.sum()))
    return -(half_impurity(left) + half_impurity(total - left))


def require_scorable(units: int) -> None:
    """Raise DpvizError where there are more units of rows than MAX_ROWS, whose squares overflow.

    A learner asks for all rows, as if each were of the heaviest class, before anything is drawn: so whether it refuses depends on
    their number alone.
    """
    if units > MAX_ROWS:
        what = f"At most {MAX_ROWS:,} rows can be scored exactly; with class weights, where one counts up to {MAX_WEIGHT} times, "
        what += f"{MAX_ROWS // MAX_WEIGHT:,}."
        raise DpvizError(what, remedy="Train on a part of the rows.")


def labelled_utilities(left: np.ndarray, total: np.ndarray, repeats: int) -> np.ndarray:
    """Rows classified correctly by every labelled split, int64, 1-D.

    First (candidate, left label, right label) with two different labels, candidate by candidate; then one label for everyone:
    the list of classes, `repeats` times. `locate_labelled` is the inverse.
    """
    lefts, rights = label_pairs(left.shape[1])
    split = left[:, lefts] + (total - left)[:, rights]
    return np.concatenate([split.ravel(), np.tile(total, repeats)])


def locate_labelled(index: int, n_candidates: int, n_classes: int, repeats: int) -> tuple[int | None, tuple[int, int]]:
    """(candidate, (left label, right label)) of an index of `labelled_utilities`; candidate None: one label for everyone."""
    lefts, rights = label_pairs(n_classes)
    candidate, pair = divmod(index, len(lefts))
    if candidate < n_candidates:
        return candidate, (int(lefts[pair]), int(rights[pair]))
    label = (index - n_candidates * len(lefts)) % n_classes
    return None, (label, label)


@lru_cache(maxsize=64)
def label_pairs(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """(left labels, right labels) of all pairs of different labels."""
    lefts, rights = np.nonzero(~np.eye(n_classes, dtype=bool))
    return lefts, rights


def best_correct_rows(left: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Rows classified correctly if both children take their majority: int64 of shape (n_candidates,). A count, as above."""
    return left.max(axis=1) + (total - left).max(axis=1)


def weighted_gini(left: np.ndarray, total: np.ndarray) -> np.ndarray:
    """(n_L gini_L + n_R gini_R) / n over the last axis, float64 in [0, 1); 0 where there are no rows. PrivaTree's score."""
    right = total - left
    unnormalised = _impurity(left) + _impurity(right)
    return unnormalised / np.maximum(total.sum(axis=-1), 1)


def gini_utilities(left: np.ndarray, total: np.ndarray) -> np.ndarray:
    """0.5 - weighted Gini impurity, float64 of shape (n_candidates,); `total` holds the node's class counts."""
    return 0.5 - weighted_gini(left, np.broadcast_to(total, left.shape))


def gini_change(rows: Any) -> Any:
    """1 - (n/(n+1))^2 - (1/(n+1))^2 = 2n/(n+1)^2 for a number or an array; the second form never rounds to 0."""
    return 2 * (rows / (rows + 1)) / (rows + 1)


def gini_sensitivity(rows: float) -> Sensitivity:
    """`gini_change`: the most by which Gini changes from n to n + 1 rows, n >= 1. Not monotone.

    Source: Fletcher & Islam 2015, as used by BDPT and the corrected PrivaTree with a *noisy* n, which is no bound at the true n.
    """
    source = "the sensitivity is taken at a noisy row count and is no bound"
    return Sensitivity(gini_change(rows), monotone=False, source=source, is_bound=False)


def _impurity(counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=-1)
    return n - np.square(counts).sum(axis=-1) / np.maximum(n, 1)
