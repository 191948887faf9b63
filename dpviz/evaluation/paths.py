"""Paths of epsilons: the same noise at every step, so that a tree comes into focus as epsilon grows.

Many fits that share their noise cancel it, so this is for simulated and public rows only.
"""

import numpy as np

from dpviz.errors import DpvizError
from dpviz.evaluation.metrics import RARE, balanced_accuracy, confusion
from dpviz.learners import FitRequest, fit
from dpviz.models.base import Model
from dpviz.results.result import FitResult, r_squared, score
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget

#: About ten steps in every factor of ten.
EPSILONS: tuple[float, ...] = tuple(
    float(f"{digits}e{power}") for power in (-2, -1, 0) for digits in ("1", "1.25", "1.6", "2", "2.5", "3", "4", "5", "6.5", "8")
) + (10.0,)


def fit_step(request: FitRequest, train: EncodedDataset, test: EncodedDataset, *, role: DataRole) -> tuple[FitResult, float]:
    """The fit of one step on `train`, and its `leading_measure` on `test`. Raises DpvizError for private rows."""
    if role is DataRole.PRIVATE:
        what = "Fits that share their noise would give private rows away."
        raise DpvizError(what, remedy="Look at one tree at a time, or use simulated or public rows.")
    result = request.fit(train)
    return result, leading_measure(result.model, train, test)


def has_rare_classes(train: EncodedDataset) -> bool:
    """True where one class has so many of the rows that accuracy says next to nothing."""
    return isinstance(train.schema.target, ClassTarget) and bool(train.class_counts().max() >= RARE * train.n_rows)


def leading_measure(model: Model, train: EncodedDataset, test: EncodedDataset) -> float:
    """What leads above a tree: accuracy, balanced accuracy where `has_rare_classes`, or R²."""
    if not has_rare_classes(train):
        return score(model, test)
    return balanced_accuracy(confusion(test.target, model.predict(test), test.n_classes))


def references(train: EncodedDataset, test: EncodedDataset, *, max_depth: int) -> dict[str, float]:
    """What a private tree is compared with: an ordinary tree of this depth and a constant, by their score."""
    is_class = isinstance(test.schema.target, ClassTarget)
    ordinary = fit("cart" if is_class else "cart-regression", train, epsilon=1.0, max_depth=max_depth, depth=max_depth, seed=0)
    if has_rare_classes(train):
        constant = 1 / test.n_classes
    elif is_class:
        constant = float(np.mean(test.target == train.class_counts().argmax()))
    else:
        constant = r_squared(test.target, np.full(test.n_rows, train.target.mean() if train.n_rows else 0.0))
    return {"ordinary tree": leading_measure(ordinary.model, train, test), "constant": constant}
