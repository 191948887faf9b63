"""95% intervals of measures on at least one row that was not trained on. As private as the rows.

Every measure is a mean over rows or a smooth function of such means. Its influence values say by how much each row moves it
(they sum to 0, n times their mean square is its variance), and a normal interval follows; accuracy has Wilson's. For AUC these
are the placement values of DeLong, DeLong & Clarke-Pearson 1988. Only which rows are held out is random here: another tree
under fresh noise may lie outside.
"""

import numpy as np

from dpviz.evaluation.intervals import NORMAL_95, wilson
from dpviz.evaluation.measures import auc, balanced_accuracy, confusion, losses, ranked, recalls, squares

Interval = tuple[float, float]
_NOTHING = (float("nan"), float("nan"))


def of_labels(target: np.ndarray, predicted: np.ndarray, n_classes: int, times: np.ndarray | None = None) -> dict[str, Interval]:
    """Of accuracy and balanced accuracy, from class codes of shape (n_rows,); `times` as in `measures`."""
    right = (target == predicted).astype(np.float64)
    confused = confusion(target, predicted, n_classes, times)
    rows, found, n_rows = confused.sum(axis=1), recalls(confused), int(confused.sum())
    weights = n_rows / np.maximum(rows, 1) / max(int((rows > 0).sum()), 1)
    moved = weights[target] * (right - found[target])
    balanced = _normal(balanced_accuracy(confused), moved, times, high=1.0)
    return {"accuracy": wilson(float(np.average(right, weights=times)), n_rows), "balanced_accuracy": balanced}


def of_probabilities(target: np.ndarray, shares: np.ndarray, times: np.ndarray | None = None) -> dict[str, Interval]:
    """Of AUC, log loss and Brier score, from class codes and probabilities of shape (n_rows, n_classes); `times` as there."""
    return {
        "auc": _of_auc(target, shares, times),
        "log_loss": _of_mean(losses(target, shares), times),
        "brier": _of_mean(squares(target, shares), times),
    }


def of_numbers(target: np.ndarray, predicted: np.ndarray) -> dict[str, Interval]:
    """Of R², RMSE and mean absolute error, from numbers of shape (n_rows,)."""
    squared = np.square(target - predicted)
    around = np.square(target - target.mean())
    rmse = float(np.sqrt(squared.mean()))
    return {
        "r2": _of_r2(squared, around),
        "rmse": _normal(rmse, (squared - squared.mean()) / (2 * rmse or 1.0)),
        "mae": _of_mean(np.abs(target - predicted)),
    }


def _of_r2(squared: np.ndarray, around: np.ndarray) -> Interval:
    if not around.any():
        return _NOTHING
    unexplained = float(squared.mean() / around.mean())
    return _normal(1 - unexplained, (unexplained * around - squared) / around.mean(), low=-np.inf, high=1.0)


def _of_mean(values: np.ndarray, times: np.ndarray | None = None) -> Interval:
    mean = float(np.average(values, weights=times))
    return _normal(mean, values - mean, times)


def _of_auc(target: np.ndarray, shares: np.ndarray, times: np.ndarray | None) -> Interval:
    value, n_classes = auc(target, shares, times), shares.shape[1]
    if np.isnan(value):
        return _NOTHING
    classes = (1,) if n_classes == 2 else range(n_classes)
    moved = np.mean([_placed(target == code, shares[:, code], times) for code in classes], axis=0)
    return _normal(value, moved, times, high=1.0)


def _placed(is_positive: np.ndarray, score: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """Influence of every row on one area: its place among the rows of the other kind, centred, per share of its own kind."""
    above, below, place = ranked(is_positive, score, times)
    beats = (below.cumsum() - below / 2) / below.sum()
    beaten = (above[::-1].cumsum()[::-1] - above / 2) / above.sum()
    placed = np.where(is_positive, beats[place], beaten[place])
    n_rows = above.sum() + below.sum()
    share = np.where(is_positive, above.sum() / n_rows, below.sum() / n_rows)
    area = float((above * beats).sum() / above.sum())
    return (placed - area) / share


def _normal(
    value: float, moved: np.ndarray, times: np.ndarray | None = None, *, low: float = 0.0, high: float = np.inf
) -> Interval:
    times = np.ones(len(moved)) if times is None else times
    reach = NORMAL_95 * float(np.sqrt((times * np.square(moved)).sum())) / float(times.sum())
    return max(low, value - reach), min(high, value + reach)
