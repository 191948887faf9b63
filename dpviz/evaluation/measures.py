"""How good predictions are, from classes, predicted classes and probabilities of rows. As private as the rows.

Written out because scikit-learn takes milliseconds for each, which adds up over the thousands of fits of a sweep; the values
are scikit-learn's. Throughout, `target` and `predicted` are class codes of shape (n_rows,), and `shares` are probabilities of
shape (n_rows, n_classes). Where rows come counted, each entry stands for `times` rows (shape (n_rows,), at least 1).
"""

from dataclasses import dataclass

import numpy as np

from dpviz.evaluation.intervals import wilson

#: A probability of 0 for what happened costs the logarithm of this, as in scikit-learn.
LEAST = np.finfo(np.float64).eps
#: Bins of a calibration.
BINS = 10
#: Where the most frequent class has so many of the rows, accuracy says next to nothing and never comes first.
RARE = 0.9


def confusion(target: np.ndarray, predicted: np.ndarray, n_classes: int, times: np.ndarray | None = None) -> np.ndarray:
    """Rows of each class (first axis) predicted as each class (second), int64 of shape (n_classes, n_classes)."""
    cells = target.astype(np.int64) * n_classes + predicted.astype(np.int64)
    return np.bincount(cells, times, n_classes * n_classes).astype(np.int64).reshape(n_classes, n_classes)


def recalls(confused: np.ndarray) -> np.ndarray:
    """Share of each class's rows that are predicted right, from a `confusion`; NaN for a class that does not occur."""
    rows = confused.sum(axis=1)
    return np.where(rows > 0, confused.diagonal() / np.maximum(rows, 1), np.nan)


def balanced_accuracy(confused: np.ndarray) -> float:
    """Mean of `recalls` over the classes that occur; NaN without rows."""
    found = recalls(confused)
    return float(np.mean(found[~np.isnan(found)])) if confused.any() else float("nan")


def auc(target: np.ndarray, shares: np.ndarray, times: np.ndarray | None = None) -> float:
    """Area under the ROC curve: how often a row of the second class ranks above one of the first, ties counting half.

    For more classes the mean over each class against the rest. NaN where a class does not occur.
    """
    n_classes = shares.shape[1]
    if len(np.unique(target)) < n_classes:
        return float("nan")
    codes = (1,) if n_classes == 2 else range(n_classes)
    return float(np.mean([_area(*rows_by_score(target == code, shares[:, code], times)[:2]) for code in codes]))


def rows_by_score(
    is_positive: np.ndarray, score: np.ndarray, times: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of either kind, positive first, at every score, lowest first; and the place of each row's score among these."""
    values, place = np.unique(score, return_inverse=True)
    above, below = (
        np.bincount(place[kind], None if times is None else times[kind], len(values)) for kind in (is_positive, ~is_positive)
    )
    return above, below, place


def _area(above: np.ndarray, below: np.ndarray) -> float:
    beaten = above * (below.cumsum() - below / 2)
    return float(beaten.sum() / (above.sum() * below.sum()))


def log_loss(target: np.ndarray, shares: np.ndarray, times: np.ndarray | None = None) -> float:
    """Mean of -log of the probability given to what happened: 0 at best."""
    return float(np.average(losses(target, shares), weights=times))


def losses(target: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """-log of the probability given to what happened, per row."""
    return -np.log(np.clip(shares[np.arange(len(target)), target], LEAST, 1))


def brier(target: np.ndarray, shares: np.ndarray, times: np.ndarray | None = None) -> float:
    """Mean squared error of the probability of the second class; of more classes, of all probabilities together."""
    return float(np.average(squares(target, shares), weights=times))


def squares(target: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """What each row adds to the Brier score."""
    n_classes = shares.shape[1]
    return np.square(shares - np.eye(n_classes)[target]).sum(axis=1) / (2 if n_classes == 2 else 1)


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Rows whose probability of a class lies close together."""

    predicted: float  #: Mean probability given to these rows
    #: observed, low, high: share of them that is of the class, and its 95% interval.
    observed: float
    low: float
    high: float
    n_rows: int


def calibration(is_class: np.ndarray, share: np.ndarray) -> tuple[CalibrationBin, ...]:
    """Of rows given a probability near p, is a share p of that class? In BINS bins of equal width; empty ones are left out.

    `is_class`: shape (n_rows,), bool.
    `share`: shape (n_rows,); the probability of this class.
    """
    place = np.minimum((share * BINS).astype(np.int64), BINS - 1)
    groups = (np.flatnonzero(place == number) for number in range(BINS))
    return tuple(_bin(is_class[rows], share[rows]) for rows in groups if len(rows))


def _bin(is_class: np.ndarray, share: np.ndarray) -> CalibrationBin:
    observed = float(np.mean(is_class))
    return CalibrationBin(float(np.mean(share)), observed, *wilson(observed, len(share)), len(share))


def lift(is_class: np.ndarray, share: np.ndarray, top: float = 0.1) -> float:
    """How many times more often the class is met among the `top` share of the rows than among all; NaN where it is not met.

    The rows with the largest probabilities are the top; of rows with the same probability each is as likely to be among them.
    """
    wanted = top * len(share)
    values, place = np.unique(-share, return_inverse=True)
    n_rows, n_met = np.bincount(place), np.bincount(place, weights=is_class, minlength=len(values))
    taken = np.clip((wanted - (n_rows.cumsum() - n_rows)) / n_rows, 0, 1)
    met = float((n_met * taken).sum())
    return met / (top * float(n_met.sum())) if n_met.any() else float("nan")
