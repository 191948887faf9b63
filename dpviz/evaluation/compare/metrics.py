"""Accuracy of a fitted model on held-out rows. Computed from exact rows, so private if they are.

Written out because scikit-learn takes milliseconds for each, which adds up over the thousands of fits of a sweep.
"""

from __future__ import annotations

import numpy as np

from dpviz.models.base import Model
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.contract import r_squared

#: Metrics of a classifier, and of a regressor.
OF_CLASSES = ("accuracy", "balanced_accuracy", "auc", "majority")
OF_NUMBERS = ("r2", "rmse", "mean_rmse")


def metrics(model: Model, train: EncodedDataset, test: EncodedDataset) -> dict[str, float]:
    """The metrics of a model on `test`, and what a constant prediction reaches.

    For classes accuracy, balanced_accuracy, auc (NaN for a model without scores) and majority: the accuracy of train's largest
    class. For a number r2 (NaN where all test rows are equal), rmse in the target's units, and mean_rmse: that of train's mean.
    """
    predicted = model.predict(test)
    if isinstance(test.schema.target, NumericTarget):
        mean = float(train.target.mean()) if train.n_rows else (test.schema.target.low + test.schema.target.high) / 2
        found = (r_squared(test.target, predicted), rmse(test.target, predicted), rmse(test.target, np.full(test.n_rows, mean)))
        return dict(zip(OF_NUMBERS, found, strict=True))
    return {
        "accuracy": float(np.mean(predicted == test.target)),
        "balanced_accuracy": balanced_accuracy(test.target, predicted, test.n_classes),
        "auc": auc(model, test),
        "majority": float(np.mean(test.target == train.class_counts().argmax())),
    }


def rmse(target: np.ndarray, predicted: np.ndarray) -> float:
    """Root of the mean squared error, in the target's units."""
    return float(np.sqrt(np.mean(np.square(target - predicted))))


def balanced_accuracy(target: np.ndarray, predicted: np.ndarray, n_classes: int) -> float:
    """Mean recall over the classes that occur."""
    rows = np.bincount(target, minlength=n_classes)
    right = np.bincount(target[predicted == target], minlength=n_classes)
    return float(np.mean(right[rows > 0] / rows[rows > 0]))


def auc(model: Model, test: EncodedDataset) -> float:
    """Area under the ROC curve, one against the rest for more than two classes; NaN without scores or with one class."""
    if not hasattr(model, "scores") or len(np.unique(test.target)) < max(2, test.n_classes):
        return float("nan")
    from sklearn.metrics import roc_auc_score

    scores = np.asarray(model.scores(test))
    if test.n_classes == 2:
        return float(roc_auc_score(test.target, scores[:, 1] if scores.ndim == 2 else scores))
    return float(roc_auc_score(np.eye(test.n_classes)[test.target], scores, average="macro"))
