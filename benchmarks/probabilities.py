"""Honest leaves beside leaves with labels alone: accuracy, ranking, log loss, calibration, and the private test result.

Every split trains on four fifths and scores on the rest. Coverage is measured on halves, drawn anew for every fit: how often the
95% intervals of private test results hold what the other half says exactly. How the halves differ is chance too, and adds
up to a third to the variance: 91 of 100 can be what 95 look like. `tests/training/estimate` measures known truths.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.arguments import add_data, add_out
from benchmarks.boosting.measure import Mean, mean_of
from benchmarks.data import bench_data
from benchmarks.page import made_by, show_page
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.errors import DpvizError
from dpviz.learners import fit
from dpviz.randomness import child_seeds
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.training.estimate.report import ClassReport

EPSILONS = (0.1, 1.0)
SPLITS, DRAWS, COVERED = 5, 3, 100
MAX_DEPTH = 4
NAMES = ("adult", "MagicTelescope", "electricity", "bank-marketing", "compas-two-years")


@dataclass(frozen=True, slots=True)
class Line:
    """Means over splits, of draws, for one data set and epsilon; `covered` per figure, as shares of the draws.

    Accuracy and AUC: of labels alone, of honest leaves; AUC of the ordinary tree too.
    """

    name: str
    epsilon: float
    accuracy: tuple[Mean, Mean]
    auc: tuple[Mean, Mean, Mean]
    log_loss: Mean
    calibration: tuple[Mean, Mean]
    private_error: Mean
    covered: tuple[float, float, float]


def measure(name: str, data: EncodedDataset, epsilon: float) -> Line:
    """Honest leaves and labels alone on the same splits and seeds. Raises DpvizError for more than two classes."""
    if data.n_classes != 2:
        raise DpvizError("Only two classes are measured here.", where=name, remedy="Leave it out with --only.")
    honest, labels, ordinary = [], [], []
    for split in range(SPLITS):
        train, test = data.split(0.2, seed=split)
        said = fit("cart", train, epsilon=1.0, max_depth=MAX_DEPTH, seed=0).model.predict_proba(test)[:, 1]
        ordinary.append((split, (_auc(said, test.target), _calibration_error(said, test.target))))
        for seed in child_seeds(split, DRAWS):
            honest.append((split, _honest(_fit(train, epsilon, seed, "honest"), test)))
            labels.append((split, _labels(_fit(train, epsilon, seed, "labels"), test)))
    accuracy, auc, loss, calibration, error = _means(honest)
    plain, ranked = _means(labels)
    ceiling, beside = _means(ordinary)
    covered = tuple(np.mean(list(_coverage(data, epsilon)), axis=0).tolist())
    return Line(name, epsilon, (plain, accuracy), (ranked, auc, ceiling), loss, (calibration, beside), error, covered)


def _means(found: Sequence[tuple[int, Sequence[float]]]) -> list[Mean]:
    """A mean and its standard error over splits for every figure of (split, figures)."""
    return [mean_of([(split, figures[place]) for split, figures in found]) for place in range(len(found[0][1]))]


def _fit(train: EncodedDataset, epsilon: float, seed: int, leaves: str) -> FitResult:
    return fit("pf-tree", train, epsilon=epsilon, max_depth=MAX_DEPTH, seed=seed, leaves=leaves)


def _honest(result: FitResult, test: EncodedDataset) -> tuple[float, ...]:
    assert isinstance(result.test_report, ClassReport)
    shares, accuracy = result.model.predict_proba(test), result.score(test)
    figures = accuracy, _auc(shares[:, 1], test.target), _log_loss(shares, test.target)
    return *figures, _calibration_error(shares[:, 1], test.target), abs(result.test_report.accuracy.value - accuracy)


def _labels(result: FitResult, test: EncodedDataset) -> tuple[float, float]:
    return result.score(test), _auc(result.model.predict(test), test.target)


def _coverage(data: EncodedDataset, epsilon: float) -> Iterator[tuple[bool, ...]]:
    for seed in child_seeds(1, COVERED):
        train, test = data.split(0.5, seed=seed)
        result = _fit(train, epsilon, seed, "honest")
        report, shares = result.test_report, result.model.predict_proba(test)
        assert isinstance(report, ClassReport)
        truth = result.score(test), _auc(shares[:, 1], test.target), _log_loss(shares, test.target)
        found = report.accuracy, report.auc, report.log_loss
        yield tuple(estimate is not None and estimate.low <= t <= estimate.high for estimate, t in zip(found, truth, strict=True))


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


def page(lines: Iterable[Line], made: str) -> str:
    """The Markdown page; `made` says when and with what."""
    lines = list(lines)
    drop = mean_of([(place, line.accuracy[0].mean - line.accuracy[1].mean) for place, line in enumerate(lines)])
    rows = "\n".join(map(_row, lines))
    return (
        f"# Probabilities and private test results of pf-tree\n\n{made} Rerun:\n`python -m benchmarks probabilities --data DIR`. "
        f"{SPLITS} splits, {DRAWS} draws on each: means ± standard error over splits. Depth at\nmost "
        f"{MAX_DEPTH}, epsilon under {NEIGHBOURS}. Honest leaves are the default: 10 to 15% of the rows are\ncounted in the "
        f'leaves, 5% test. On average their accuracy is {drop.text(4)} below that of `leaves="labels"` (standard error\n'
        f"over lines), and the intervals cover {_covered(lines)}.\n\n"
        "- *Calibration*: mean gap between predicted and observed shares in ten bands; in brackets the ordinary tree (cart).\n"
        "- *Private error*: mean distance of the private accuracy from that on the rows held out of the split.\n"
        f"- *Covered*: of {COVERED} fits on halves, how many 95% intervals (accuracy, AUC, log loss) hold what the other\n"
        "  half says exactly; its own chance lowers this somewhat. A share of 95 has a standard error of 2.\n\n"
        "| data | ε | accuracy, labels | accuracy, honest | AUC, labels | AUC, honest | AUC, cart | log loss | calibration "
        f"| private error | covered |\n|---|---|---|---|---|---|---|---|---|---|---|\n{rows}\n"
    )


def _covered(lines: list[Line]) -> str:
    means = 100 * np.mean([line.covered for line in lines], axis=0)
    return (
        ", ".join(f"{mean:.0f} ({name})" for mean, name in zip(means, ("accuracy", "AUC", "log loss"), strict=True)) + " of 100"
    )


def _row(line: Line) -> str:
    cells = (
        line.name,
        f"{line.epsilon:g}",
        *(value.text(3) for value in (*line.accuracy, *line.auc, line.log_loss)),
        "{} ({})".format(*(value.text(3) for value in line.calibration)),
        line.private_error.text(3),
        " / ".join(f"{100 * value:.0f}" for value in line.covered),
    )
    return f"| {' | '.join(cells)} |"


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the topic."""
    add_data(parser, required=False)
    add_out(parser, run)


def run(args: Namespace) -> int:
    """Measure, print the page, and write it."""
    lines = []
    for name, data in bench_data(args.data, args.only or (NAMES if args.data else None)):
        console.doing(f"Measuring on {name}")
        lines += [measure(name, data.with_cached_counts(), epsilon) for epsilon in EPSILONS]
    return show_page(page(lines, made_by()), args.out)
