"""Ladders of epsilons and of depths: the same luck at every step, so that a tree comes into focus as epsilon grows.

Many fits that share their noise cancel it, so this is for simulated and public rows only.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.errors import DpvizError
from dpviz.evaluation.measures import RARE, balanced_accuracy, confusion
from dpviz.evaluation.tree.redraws import Redraws, redraws
from dpviz.learners import fit
from dpviz.models.base import Model
from dpviz.progress import Progress, Stop
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget
from dpviz.training.contract import FitResult, r_squared, score

#: About ten steps in every factor of ten.
EPSILONS = tuple(
    float(f"{digits}e{power}")
    for power in (-2, -1, 0)
    for digits in ("1", "1.25", "1.6", "2", "2.5", "3", "4", "5", "6.5", "8")
    if power < 0 or float(digits) <= 3
)
DEPTHS = tuple(range(1, 9))
#: Draws do not depend on the seed of a ladder: the ladders that a class climbs over the same rows share the last ones.
_MOST_KEPT = 40
_DRAWN: dict[Hashable, tuple[Redraws, np.ndarray]] = {}


@dataclass(frozen=True)
class Rung:
    """One step of a ladder."""

    result: FitResult  #: The fit with the seed of the ladder
    drawn: Redraws  #: Fits of the same rows with other seeds, which are the same at every rung
    score: float  #: Accuracy of the fit on the test rows, balanced accuracy where `has_rare_classes`, or R²
    #: Shape (n_draws,). The same of the draws.
    scores: np.ndarray


def rung(
    name: str,
    train: EncodedDataset,
    test: EncodedDataset,
    *,
    role: DataRole,
    epsilon: float,
    seed: int,
    draws: int,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **asked: Any,
) -> Rung:
    """The fit at `epsilon` and its draws, trained on `train` and tested on `test`; other arguments as for `dpviz.fit`.

    Raises DpvizError for private rows.
    """
    if role is DataRole.PRIVATE:
        what = "Fits that share their noise would give private rows away."
        raise DpvizError(what, remedy="Look at one tree at a time, or use simulated or public rows.")
    result = fit(name, train, epsilon=epsilon, seed=seed, **asked)
    key = name, train.fingerprint, test.fingerprint, epsilon, draws, repr(sorted(asked.items()))
    found = _DRAWN.pop(key, None)
    if found is None:
        drawn = redraws(name, train, draws=draws, seed=0, epsilon=epsilon, progress=progress, stop=stop, **asked)
        found = drawn, np.array([_scored(model, train, test) for model in drawn.models])
    if found[0].n_done == draws:
        _DRAWN[key] = found
    for oldest in list(_DRAWN)[:-_MOST_KEPT]:
        _DRAWN.pop(oldest, None)
    return Rung(result, found[0], _scored(result.model, train, test), found[1])


def has_rare_classes(train: EncodedDataset) -> bool:
    """True where one class has so many of the rows that accuracy says next to nothing."""
    return isinstance(train.schema.target, ClassTarget) and bool(train.class_counts().max() >= RARE * train.n_rows)


def _scored(model: Model, train: EncodedDataset, test: EncodedDataset) -> float:
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
    return {"ordinary tree": _scored(ordinary.model, train, test), "constant": constant}
