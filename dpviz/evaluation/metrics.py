"""How good predictions are: measures, their 95% intervals, and limits of probabilities and means. As private as the rows.

Written out because scikit-learn takes milliseconds for each, which adds up over the thousands of fits of a sweep; the values are
scikit-learn's. Throughout, `target` and `predicted` are class codes of shape (n_rows,), and `shares` are probabilities of
shape (n_rows, n_classes). Where rows come counted, each entry stands for `times` rows (shape (n_rows,), at least 1).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.models.base import Model, labels_and_probabilities
from dpviz.models.tree import Leaf, Tree
from dpviz.results.result import r_squared
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.counted_rows import CountedRows

#: Two-sided 95% of a normal distribution.
NORMAL_95 = 1.959963984540054


def clopper_pearson(successes: np.ndarray | int, trials: np.ndarray | int, failure: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact (lower, upper) limits of a probability, each wrong with probability at most `failure`; elementwise.

    In closed form: SciPy's `binomtest` solves for them, which takes a thousand times as long and gives seven digits.
    Source: Clopper & Pearson 1934.
    """
    from scipy.special import betaincinv

    hits = np.asarray(successes, dtype=np.float64)
    misses = trials - hits
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), misses + 1, failure), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1), 1 - failure), 1.0)
    return low, high


def wilson(share: float, trials: int) -> tuple[float, float]:
    """95% interval of a probability estimated as `share` of independent trials; `share` itself without trials.

    SciPy's takes a whole number of successes, which `share` times `trials` need not be.
    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not trials:
        return share, share
    z2 = NORMAL_95**2
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = NORMAL_95 * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_limits(draws: np.ndarray, beta: float) -> tuple[float, float]:
    """(lower, upper) limits of the mean of independent draws in [0, 1], each wrong with probability at most beta / 2.

    Empirical Bernstein; the draws need not be identically distributed. Source: Maurer & Pontil 2009, Theorem 11.
    """
    size = len(draws)
    mean = float(np.mean(draws))
    if size < 2:
        return 0.0, 1.0
    log = math.log(4 / beta)
    reach = math.sqrt(2 * float(np.var(draws, ddof=1)) * log / size) + 7 * log / (3 * (size - 1))
    return max(0.0, mean - reach), min(1.0, mean + reach)


# --- The table of metrics


@dataclass(frozen=True, slots=True)
class Metric:
    """What a sweep tabulates of a fit, on held-out rows."""

    title: str = ""  #: For people; empty for what a constant prediction reaches, which is a column of its own
    is_error: bool = False  #: Less is better
    of_numbers: bool = False  #: Of a regressor, not of a classifier
    of_probabilities: bool = False  #: NaN for a model that holds none
    constant: str | float | None = None  #: What a constant prediction reaches: a column, or a value


#: By column of the frame, in order.
TABLE = {
    "accuracy": Metric("accuracy", constant="majority"),
    "balanced_accuracy": Metric("balanced accuracy"),
    "auc": Metric("AUC", of_probabilities=True, constant=0.5),
    "log_loss": Metric("log loss", of_probabilities=True, is_error=True),
    "brier": Metric("Brier score", of_probabilities=True, is_error=True),
    "majority": Metric(),
    "r2": Metric("R²", of_numbers=True, constant=0.0),
    "rmse": Metric("RMSE", of_numbers=True, is_error=True, constant="mean_rmse"),
    "mae": Metric("mean absolute error", of_numbers=True, is_error=True),
    "mean_rmse": Metric(of_numbers=True),
}
#: Those that need probabilities, and all of a classifier and of a regressor.
OF_PROBABILITIES = tuple(name for name, metric in TABLE.items() if metric.of_probabilities)
OF_CLASSES = tuple(name for name, metric in TABLE.items() if not metric.of_numbers)
OF_NUMBERS = tuple(name for name, metric in TABLE.items() if metric.of_numbers)

# --- Measures of rows, each with its 95% interval

#: A probability of 0 for what happened costs the logarithm of this, as in scikit-learn.
MIN_PROBABILITY = np.finfo(np.float64).eps
#: Where the most frequent class has so many of the rows, accuracy says next to nothing and never comes first.
RARE = 0.9


@dataclass(frozen=True, eq=False)
class HeldOutMeasure:
    """A measure of rows that were not trained on: a mean over them, or a smooth function of such means.

    Only which rows are held out is random in its interval: another tree under new noise may lie outside.
    """

    value: float
    #: Shape (n_entries,). By how much each row moves the value: influence values, which sum to 0; its variance is n times their
    #: mean square. For AUC these are the placement values of DeLong, DeLong & Clarke-Pearson 1988.
    moved: np.ndarray
    times: np.ndarray | None = None
    #: The least and the largest possible value.
    low: float = 0.0
    high: float = math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """Normal, 95%; NaN where the value is."""
        if math.isnan(self.value):
            return self.value, self.value
        times = np.ones(len(self.moved)) if self.times is None else self.times
        reach = NORMAL_95 * float(np.sqrt((times * np.square(self.moved)).sum())) / float(times.sum())
        return max(self.low, self.value - reach), min(self.high, self.value + reach)


def measured_labels(
    target: np.ndarray, predicted: np.ndarray, n_classes: int, times: np.ndarray | None = None
) -> dict[str, HeldOutMeasure]:
    """Accuracy and balanced accuracy."""
    right = (target == predicted).astype(np.float64)
    confused = confusion(target, predicted, n_classes, times)
    rows, recalls_of_classes, n_rows = confused.sum(axis=1), recalls(confused), int(confused.sum())
    weights = n_rows / np.maximum(rows, 1) / max(int((rows > 0).sum()), 1)
    balanced = HeldOutMeasure(
        balanced_accuracy(confused), weights[target] * (right - recalls_of_classes[target]), times, high=1.0
    )
    return {"accuracy": _mean(right, times), "balanced_accuracy": balanced}


def measured_probabilities(target: np.ndarray, shares: np.ndarray, times: np.ndarray | None = None) -> dict[str, HeldOutMeasure]:
    """AUC: how often a row of the second class ranks above one of the first, ties counting half; of more classes the mean over
    each against the rest; NaN where a class does not occur. Log loss: the mean of -log of the probability given to what
    happened. Brier score: the mean squared error of the probability of the second class; of more, of all together.
    """
    n_classes = shares.shape[1]
    area = HeldOutMeasure(math.nan, np.zeros(len(target)), times)
    if len(np.unique(target)) == n_classes:
        areas = [_area(target == code, shares[:, code], times) for code in ((1,) if n_classes == 2 else range(n_classes))]
        moved = np.mean([moved for _, moved in areas], axis=0)
        area = HeldOutMeasure(float(np.mean([value for value, _ in areas])), moved, times, high=1.0)
    losses = -np.log(np.clip(shares[np.arange(len(target)), target], MIN_PROBABILITY, 1))
    squares = np.square(shares - np.eye(n_classes)[target]).sum(axis=1) / (2 if n_classes == 2 else 1)
    return {"auc": area, "log_loss": _mean(losses, times), "brier": _mean(squares, times)}


def measured_numbers(target: np.ndarray, predicted: np.ndarray) -> dict[str, HeldOutMeasure]:
    """R² (NaN where all rows are equal), RMSE and mean absolute error, the last two in the target's units."""
    squared, around = np.square(target - predicted), np.square(target - target.mean())
    error, explained = float(np.sqrt(np.mean(squared))), r_squared(target, predicted)
    moved = np.zeros(len(target)) if math.isnan(explained) else ((1 - explained) * around - squared) / around.mean()
    return {
        "r2": HeldOutMeasure(explained, moved, low=-math.inf, high=1.0),
        "rmse": HeldOutMeasure(error, (squared - squared.mean()) / (2 * error or 1.0)),
        "mae": _mean(np.abs(target - predicted), None),
    }


def _mean(values: np.ndarray, times: np.ndarray | None) -> HeldOutMeasure:
    mean = float(np.average(values, weights=times))
    return HeldOutMeasure(mean, values - mean, times)


def _area(is_positive: np.ndarray, score: np.ndarray, times: np.ndarray | None) -> tuple[float, np.ndarray]:
    """An area under the curve, and each row's place among the rows of the other kind, centred, per share of its own kind."""
    values, place = np.unique(score, return_inverse=True)
    positives, negatives = (
        np.bincount(place[kind], None if times is None else times[kind], len(values)) for kind in (is_positive, ~is_positive)
    )
    beats, beaten = negatives.cumsum() - negatives / 2, positives[::-1].cumsum()[::-1] - positives / 2
    area = float((positives * beats).sum() / (positives.sum() * negatives.sum()))
    share = positives.sum() / (positives.sum() + negatives.sum())
    moved = np.where(
        is_positive, (beats[place] / negatives.sum() - area) / share, (beaten[place] / positives.sum() - area) / (1 - share)
    )
    return area, moved


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
    class_recalls = recalls(confused)
    return float(np.mean(class_recalls[~np.isnan(class_recalls)])) if confused.any() else float("nan")


# --- The measures of a fitted model on held-out rows, as a sweep tabulates them. Of exact rows, so private if they are.


@dataclass(frozen=True, eq=False)
class ModelAnswers:
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
        return confusion(self.target, self.predicted, self.n_classes, self.times)

    @cached_property
    def measured(self) -> dict[str, HeldOutMeasure]:
        """All measures; without those that a model cannot have."""
        measures = measured_labels(self.target, self.predicted, self.n_classes, self.times)
        return measures if self.shares is None else measures | measured_probabilities(self.target, self.shares, self.times)

    def metrics(self, most_frequent: int) -> dict[str, float]:
        """`OF_CLASSES`, where the most frequent class of the training rows has this code."""
        values = {name: measure.value for name, measure in self.measured.items()}
        majority = float(np.average(self.target == most_frequent, weights=self.times))
        return dict.fromkeys(OF_CLASSES, math.nan) | values | {"majority": majority}

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Their 95% intervals, Wilson's for accuracy, for at least one row; without those that a model cannot have."""
        intervals = {name: measure.interval for name, measure in self.measured.items()}
        return intervals | {"accuracy": wilson(self.measured["accuracy"].value, int(self.confusion.sum()))}


def classifier_answers(model: Model, rows: EncodedDataset) -> ModelAnswers:
    """A classifier's answers about rows."""
    return ModelAnswers(rows.n_classes, rows.target, *labels_and_probabilities(model, rows))


def answered_by_leaf(tree: Tree, rows: CountedRows) -> ModelAnswers:
    """The same for a tree of classes, from nothing but how many rows of each class reach each leaf. Private."""
    counts = rows.leaf_counts(tree.root, None, 1)[0]
    leaf, target = np.nonzero(counts)
    leaves = [end for end in tree.leaves if isinstance(end, Leaf)]
    has_shares = all(end.shares is not None for end in leaves)
    shares = np.array([end.shares for end in leaves])[leaf] if has_shares else None
    return ModelAnswers(counts.shape[1], target, np.array([end.label for end in leaves])[leaf], shares, counts[leaf, target])


def metrics(model: Model, train: EncodedDataset, test: EncodedDataset) -> dict[str, float]:
    """The metrics of a model on `test`, and what a constant prediction reaches.

    For classes `OF_CLASSES`; majority is the accuracy of the largest class of train. For a number r2 (NaN
    where all test rows are equal), rmse and mae in the target's units, and mean_rmse: the rmse of train's mean.
    """
    target = test.schema.target
    if not isinstance(target, NumericTarget):
        return classifier_answers(model, test).metrics(int(train.class_counts().argmax()))
    mean = float(train.target.mean()) if train.n_rows else (target.low + target.high) / 2
    values = {name: measure.value for name, measure in measured_numbers(test.target, model.predict(test)).items()}
    return values | {"mean_rmse": float(np.sqrt(np.mean(np.square(test.target - mean))))}


def metric_intervals(model: Model, test: EncodedDataset) -> dict[str, tuple[float, float]]:
    """95% intervals of the metrics of a model on `test`, which holds at least one row; without those it cannot have."""
    if isinstance(test.schema.target, NumericTarget):
        return {name: measure.interval for name, measure in measured_numbers(test.target, model.predict(test)).items()}
    return classifier_answers(model, test).intervals()
