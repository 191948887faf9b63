"""The measures of a fitted model on held-out rows, as a sweep tabulates them. Of exact rows, so private if they are."""

from dataclasses import dataclass

import numpy as np

from dpviz.errors import NoProbabilities
from dpviz.evaluation import measure_intervals, measures
from dpviz.models.base import Model
from dpviz.models.tree import Leaf, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.contract import r_squared
from dpviz.training.counting.contract import CountedRows

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
        found = measure_intervals.of_labels(self.target, self.predicted, self.n_classes, self.times)
        if self.shares is None:
            return found
        return found | measure_intervals.of_probabilities(self.target, self.shares, self.times)


def answered(model: Model, rows: EncodedDataset) -> Answered:
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
        return answered(model, test).metrics(int(train.class_counts().argmax()))
    mean = float(train.target.mean()) if train.n_rows else (target.low + target.high) / 2
    predicted, constant = model.predict(test), np.full(test.n_rows, mean)
    mae = float(np.mean(np.abs(test.target - predicted)))
    found = (r_squared(test.target, predicted), rmse(test.target, predicted), mae, rmse(test.target, constant))
    return dict(zip(OF_NUMBERS, found, strict=True))


def metric_intervals(model: Model, test: EncodedDataset) -> dict[str, tuple[float, float]]:
    """95% intervals of the metrics of a model on `test`, which holds at least one row; without those it cannot have."""
    if isinstance(test.schema.target, NumericTarget):
        return measure_intervals.of_numbers(test.target, model.predict(test))
    return answered(model, test).intervals()


def rmse(target: np.ndarray, predicted: np.ndarray) -> float:
    """Root of the mean squared error, in the target's units."""
    return float(np.sqrt(np.mean(np.square(target - predicted))))
