"""The measures of a fitted model on held-out rows, as a sweep tabulates them. Of exact rows, so private if they are."""

from dataclasses import dataclass

import numpy as np

from dpviz.errors import NoProbabilities
from dpviz.evaluation import measures
from dpviz.evaluation.intervals import NORMAL_95, wilson
from dpviz.evaluation.measures import auc, balanced_accuracy, confusion, losses, recalls, rows_by_score, squares
from dpviz.models.base import Model
from dpviz.models.tree import Leaf, Tree
from dpviz.results.result import r_squared
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.counted_rows import CountedRows

#: Metrics that need probabilities; NaN for a model that holds none.
OF_PROBABILITIES = ("auc", "log_loss", "brier")
#: Metrics of a classifier, and of a regressor.
OF_CLASSES = ("accuracy", "balanced_accuracy", *OF_PROBABILITIES, "majority")
OF_NUMBERS = ("r2", "rmse", "mae", "mean_rmse")


@dataclass(frozen=True, eq=False)
class Answered:
    """What a model says about rows whose class is known."""

    n_classes: int
    #: target, predicted: shape (n_entries,). Class codes.
    target: np.ndarray
    predicted: np.ndarray
    #: Shape (n_entries, n_classes), or None. Probabilities; None for a model that holds none.
    shares: np.ndarray | None
    #: Shape (n_entries,), or None. How many rows each entry stands for; None: one each.
    times: np.ndarray | None = None

    @property
    def confusion(self) -> np.ndarray:
        """Rows of each class (first axis) predicted as each class (second), int64."""
        return measures.confusion(self.target, self.predicted, self.n_classes, self.times)

    def metrics(self, most_frequent: int) -> dict[str, float]:
        """`OF_CLASSES`, where the most frequent class of the training rows has this code."""
        shares = self.shares
        of_shares = dict.fromkeys(OF_PROBABILITIES, float("nan"))
        if shares is not None:
            of_shares = {name: getattr(measures, name)(self.target, shares, self.times) for name in OF_PROBABILITIES}
        return {
            "accuracy": float(np.average(self.predicted == self.target, weights=self.times)),
            "balanced_accuracy": measures.balanced_accuracy(self.confusion),
            **of_shares,
            "majority": float(np.average(self.target == most_frequent, weights=self.times)),
        }

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Their 95% intervals, for at least one row; without those that a model cannot have."""
        found = of_labels(self.target, self.predicted, self.n_classes, self.times)
        if self.shares is None:
            return found
        return found | of_probabilities(self.target, self.shares, self.times)


def classifier_answers(model: Model, rows: EncodedDataset) -> Answered:
    """A classifier's answers about rows."""
    try:
        shares = model.predict_proba(rows)
    except NoProbabilities:
        shares = None
    return Answered(rows.n_classes, rows.target, model.predict(rows), shares)


def answered_by_leaf(tree: Tree, rows: CountedRows) -> Answered:
    """The same for a tree of classes, from nothing but how many rows of each class reach each leaf. Private."""
    counts = rows.leaf_counts(tree.root, None, 1)[0]
    leaf, target = np.nonzero(counts)
    leaves = [end for end in tree.leaves if isinstance(end, Leaf)]
    has_shares = all(end.shares is not None for end in leaves)
    shares = np.array([end.shares for end in leaves])[leaf] if has_shares else None
    return Answered(counts.shape[1], target, np.array([end.label for end in leaves])[leaf], shares, counts[leaf, target])


def metrics(model: Model, train: EncodedDataset, test: EncodedDataset) -> dict[str, float]:
    """The metrics of a model on `test`, and what a constant prediction reaches.

    For classes those of `dpviz.evaluation.measures` and majority: the accuracy of train's largest class. For a number r2 (NaN
    where all test rows are equal), rmse and mae in the target's units, and mean_rmse: the rmse of train's mean.
    """
    target = test.schema.target
    if not isinstance(target, NumericTarget):
        return classifier_answers(model, test).metrics(int(train.class_counts().argmax()))
    mean = float(train.target.mean()) if train.n_rows else (target.low + target.high) / 2
    predicted, constant = model.predict(test), np.full(test.n_rows, mean)
    mae = float(np.mean(np.abs(test.target - predicted)))
    found = (r_squared(test.target, predicted), rmse(test.target, predicted), mae, rmse(test.target, constant))
    return dict(zip(OF_NUMBERS, found, strict=True))


def metric_intervals(model: Model, test: EncodedDataset) -> dict[str, tuple[float, float]]:
    """95% intervals of the metrics of a model on `test`, which holds at least one row; without those it cannot have."""
    if isinstance(test.schema.target, NumericTarget):
        return of_numbers(test.target, model.predict(test))
    return classifier_answers(model, test).intervals()


def rmse(target: np.ndarray, predicted: np.ndarray) -> float:
    """Root of the mean squared error, in the target's units."""
    return float(np.sqrt(np.mean(np.square(target - predicted))))


# --- 95% intervals, on at least one row that was not trained on: as private as the rows

# Every measure is a mean over rows or a smooth function of such means. Its influence values say by how much each row moves it
# (they sum to 0, n times their mean square is its variance), and a normal interval follows; accuracy has Wilson's. For AUC these
# are the placement values of DeLong, DeLong & Clarke-Pearson 1988. Only which rows are held out is random here: another tree
# under new noise may lie outside.

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
    above, below, place = rows_by_score(is_positive, score, times)
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
