"""Honest leaves beside leaves with labels alone: accuracy, ranking, log loss, calibration, and the private test result.

Every split trains on four fifths and scores on the rest. Coverage is measured on halves, drawn anew for every fit: how often the
95% intervals of private test results hold what the other half says exactly. How the halves differ is chance too, and adds
up to a third to the variance: 91 of 100 can be what 95 look like. `tests/training/estimate` measures known truths.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import add_data
from benchmarks.data import bench_data
from benchmarks.measured import means
from dpviz.cli import console
from dpviz.errors import DpvizError
from dpviz.learners import fit
from dpviz.randomness import child_seeds
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.training.estimate.report import ClassReport

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.1, 1.0)
SPLITS, DRAWS, COVERED = 5, 3, 100
MAX_DEPTH = 4
NAMES = ("adult", "MagicTelescope", "electricity", "bank-marketing", "compas-two-years")


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are."""
    add_data(parser, required=False)


def measure(args: Namespace) -> pd.DataFrame:
    """Columns data, epsilon, leaves, metric, mean, error, n: over splits, draws averaged first.

    Leaves are "honest", "labels", or of an ordinary tree ("cart"). Metrics: accuracy, auc, log_loss, calibration (mean gap
    between predicted and observed shares), private_error (distance of the private accuracy from the split's); over fits on
    halves whether the 95% intervals of accuracy, auc and log_loss hold what the other half says (covered_...).
    """
    import pandas as pd

    found = []
    for name, data in bench_data(args.data, args.only or (NAMES if args.data else None)):
        console.status(f"Measuring on {name}")
        if data.n_classes != 2:
            raise DpvizError("Only two classes are measured here.", where=name, remedy="Leave it out with --only.")
        for epsilon in EPSILONS:
            lines = pd.DataFrame(_measurements(data.with_cached_counts(), epsilon)).assign(data=name, epsilon=epsilon)
            found.append(means(lines, ("data", "epsilon", "leaves"), sorted(set(lines) - _KEYS), over="split"))
    return pd.concat(found, ignore_index=True)


_KEYS = {"data", "epsilon", "leaves", "split"}


def _measurements(data: EncodedDataset, epsilon: float) -> Iterator[dict[str, Any]]:
    """Honest leaves and labels alone on the same splits and seeds."""
    for split in range(SPLITS):
        train, test = data.split(0.2, seed=split)
        ordinary = fit("cart", train, epsilon=1.0, max_depth=MAX_DEPTH, seed=0).model.predict_proba(test)[:, 1]
        area, gap = _auc(ordinary, test.target), _calibration_error(ordinary, test.target)
        yield {"split": split, "leaves": "cart", "auc": area, "calibration": gap}
        for seed in child_seeds(split, DRAWS):
            yield {"split": split, "leaves": "honest", **_honest(_fit(train, epsilon, seed, "honest"), test)}
            yield {"split": split, "leaves": "labels", **_labels(_fit(train, epsilon, seed, "labels"), test)}
    for place, covered in enumerate(_coverage(data, epsilon)):
        yield {"split": place, "leaves": "honest", **covered}


def _fit(train: EncodedDataset, epsilon: float, seed: int, leaves: str) -> FitResult:
    return fit("pf-tree", train, epsilon=epsilon, max_depth=MAX_DEPTH, seed=seed, leaves=leaves)


def _honest(result: FitResult, test: EncodedDataset) -> dict[str, float]:
    assert isinstance(result.test_report, ClassReport)
    shares, accuracy = result.model.predict_proba(test), result.score(test)
    found = {"accuracy": accuracy, "auc": _auc(shares[:, 1], test.target), "log_loss": _log_loss(shares, test.target)}
    error = abs(result.test_report.accuracy.value - accuracy)
    return found | {"calibration": _calibration_error(shares[:, 1], test.target), "private_error": error}


def _labels(result: FitResult, test: EncodedDataset) -> dict[str, float]:
    return {"accuracy": result.score(test), "auc": _auc(result.model.predict(test), test.target)}


def _coverage(data: EncodedDataset, epsilon: float) -> Iterator[dict[str, float]]:
    for seed in child_seeds(1, COVERED):
        train, test = data.split(0.5, seed=seed)
        result = _fit(train, epsilon, seed, "honest")
        report, shares = result.test_report, result.model.predict_proba(test)
        assert isinstance(report, ClassReport)
        truth = result.score(test), _auc(shares[:, 1], test.target), _log_loss(shares, test.target)
        found = report.accuracy, report.auc, report.log_loss
        names = ("covered_accuracy", "covered_auc", "covered_log_loss")
        held = (one is not None and one.low <= t <= one.high for one, t in zip(found, truth, strict=True))
        yield dict(zip(names, map(float, held), strict=True))


def _auc(scores: np.ndarray, target: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(target, scores))


def _log_loss(shares: np.ndarray, target: np.ndarray) -> float:
    return float(-np.log(np.maximum(shares[np.arange(len(target)), target], 1e-9)).mean())


def _calibration_error(predicted: np.ndarray, target: np.ndarray) -> float:
    """Mean gap between predicted and observed shares over ten bands, weighted by rows."""
    bands = np.minimum((predicted * 10).astype(int), 9)
    inside = [bands == band for band in np.unique(bands)]
    return float(sum(abs(predicted[here].mean() - target[here].mean()) * here.mean() for here in inside))
