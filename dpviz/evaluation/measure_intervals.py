"""95% intervals of measures on at least one row that was not trained on. As private as the rows.

Every measure is a mean over rows or a smooth function of such means. Its influence values say by how much each row moves it
(they sum to 0, n times their mean square is its variance), and a normal interval follows; accuracy has Wilson's. For AUC these
are the placement values of DeLong, DeLong & Clarke-Pearson 1988. Only which rows are held out is random here: another tree
under fresh noise may lie outside.
"""

from __future__ import annotations

import numpy as np

from dpviz.evaluation.intervals import NORMAL_95, wilson
from dpviz.evaluation.measures import LEAST, auc, balanced_accuracy, brier, confusion, log_loss, recalls

Interval = tuple[float, float]
_NOTHING = (float("nan"), float("nan"))


def of_labels(target: np.ndarray, predicted: np.ndarray, n_classes: int) -> dict[str, Interval]:
    """Of accuracy and balanced accuracy, from class codes of shape (n_rows,)."""
    right = (target == predicted).astype(np.float64)
    confused = confusion(target, predicted, n_classes)
    rows, found = confused.sum(axis=1), recalls(confused)
    weights = len(target) / np.maximum(rows, 1) / max(int((rows > 0).sum()), 1)
    moved = weights[target] * (right - found[target])
    balanced = _normal(balanced_accuracy(confused), moved, high=1.0)
    return {"accuracy": wilson(float(right.mean()), len(target)), "balanced_accuracy": balanced}


def of_probabilities(target: np.ndarray, shares: np.ndarray) -> dict[str, Interval]:
    """Of AUC, log loss and Brier score, from class codes and probabilities of shape (n_rows, n_classes)."""
    n_classes = shares.shape[1]
    losses = -np.log(np.clip(shares[np.arange(len(target)), target], LEAST, 1))
    squares = np.square(shares - np.eye(n_classes)[target]).sum(axis=1) / (2 if n_classes == 2 else 1)
    return {
        "auc": _of_auc(target, shares),
        "log_loss": _normal(log_loss(target, shares), losses - losses.mean()),
        "brier": _normal(brier(target, shares), squares - squares.mean()),
    }


def of_numbers(target: np.ndarray, predicted: np.ndarray) -> dict[str, Interval]:
    """Of R², RMSE and mean absolute error, from numbers of shape (n_rows,)."""
    squares, errors = np.square(target - predicted), np.abs(target - predicted)
    around = np.square(target - target.mean())
    rmse = float(np.sqrt(squares.mean()))
    return {
        "r2": _of_r2(squares, around),
        "rmse": _normal(rmse, (squares - squares.mean()) / (2 * rmse or 1.0)),
        "mae": _normal(float(errors.mean()), errors - errors.mean()),
    }


def _of_r2(squares: np.ndarray, around: np.ndarray) -> Interval:
    if not around.any():
        return _NOTHING
    unexplained = float(squares.mean() / around.mean())
    return _normal(1 - unexplained, (unexplained * around - squares) / around.mean(), -np.inf, 1.0)


def _of_auc(target: np.ndarray, shares: np.ndarray) -> Interval:
    value, n_classes = auc(target, shares), shares.shape[1]
    if np.isnan(value):
        return _NOTHING
    classes = (1,) if n_classes == 2 else range(n_classes)
    moved = np.mean([_placed(target == code, shares[:, code]) for code in classes], axis=0)
    return _normal(value, moved, high=1.0)


def _placed(is_positive: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Influence of every row on one area: its place among the rows of the other kind, centred, per share of its own kind."""
    values, place = np.unique(score, return_inverse=True)
    above = np.bincount(place[is_positive], minlength=len(values))
    below = np.bincount(place[~is_positive], minlength=len(values))
    beats = (below.cumsum() - below / 2)[place] / below.sum()
    beaten = (above[::-1].cumsum()[::-1] - above / 2)[place] / above.sum()
    placed = np.where(is_positive, beats, beaten)
    share = np.where(is_positive, is_positive.mean(), 1 - is_positive.mean())
    area = float(beats[is_positive].mean())
    return (placed - area) / share


def _normal(value: float, moved: np.ndarray, low: float = 0.0, high: float = np.inf) -> Interval:
    reach = NORMAL_95 * float(np.sqrt(np.square(moved).sum())) / len(moved)
    return max(low, value - reach), min(high, value + reach)
