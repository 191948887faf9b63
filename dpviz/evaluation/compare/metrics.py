"""The measures of a fitted model on held-out rows, as a sweep tabulates them. Of exact rows, so private if they are."""

from __future__ import annotations

import numpy as np

from dpviz.errors import NoProbabilities
from dpviz.evaluation import measure_intervals, measures
from dpviz.models.base import Model
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.contract import r_squared

#: Metrics that need probabilities; NaN for a model that holds none.
OF_PROBABILITIES = ("auc", "log_loss", "brier")
#: Metrics of a classifier, and of a regressor.
OF_CLASSES = ("accuracy", "balanced_accuracy", *OF_PROBABILITIES, "majority")
OF_NUMBERS = ("r2", "rmse", "mae", "mean_rmse")


def metrics(model: Model, train: EncodedDataset, test: EncodedDataset) -> dict[str, float]:
    """The metrics of a model on `test`, and what a constant prediction reaches.

    For classes those of `dpviz.evaluation.measures` and majority: the accuracy of train's largest class. For a number r2 (NaN
    where all test rows are equal), rmse and mae in the target's units, and mean_rmse: the rmse of train's mean.
    """
    if isinstance(test.schema.target, NumericTarget):
        return _of_numbers(model, train, test)
    predicted = model.predict(test)
    confused = measures.confusion(test.target, predicted, test.n_classes)
    return {
        "accuracy": float(np.mean(predicted == test.target)),
        "balanced_accuracy": measures.balanced_accuracy(confused),
        **of_probabilities(model, test),
        "majority": float(np.mean(test.target == train.class_counts().argmax())),
    }


def _of_numbers(model: Model, train: EncodedDataset, test: EncodedDataset) -> dict[str, float]:
    target = test.schema.target
    assert isinstance(target, NumericTarget)
    mean = float(train.target.mean()) if train.n_rows else (target.low + target.high) / 2
    predicted, constant = model.predict(test), np.full(test.n_rows, mean)
    mae = float(np.mean(np.abs(test.target - predicted)))
    found = (r_squared(test.target, predicted), rmse(test.target, predicted), mae, rmse(test.target, constant))
    return dict(zip(OF_NUMBERS, found, strict=True))


def of_probabilities(model: Model, test: EncodedDataset) -> dict[str, float]:
    """The metrics that need probabilities, all NaN for a model that holds none."""
    try:
        shares = model.predict_proba(test)
    except NoProbabilities:
        return dict.fromkeys(OF_PROBABILITIES, float("nan"))
    return {name: getattr(measures, name)(test.target, shares) for name in OF_PROBABILITIES}


def metric_intervals(model: Model, test: EncodedDataset) -> dict[str, tuple[float, float]]:
    """95% intervals of the metrics of a model on `test`, which holds at least one row; without those it cannot have."""
    predicted = model.predict(test)
    if isinstance(test.schema.target, NumericTarget):
        return measure_intervals.of_numbers(test.target, predicted)
    found = measure_intervals.of_labels(test.target, predicted, test.n_classes)
    try:
        return found | measure_intervals.of_probabilities(test.target, model.predict_proba(test))
    except NoProbabilities:
        return found


def rmse(target: np.ndarray, predicted: np.ndarray) -> float:
    """Root of the mean squared error, in the target's units."""
    return float(np.sqrt(np.mean(np.square(target - predicted))))
