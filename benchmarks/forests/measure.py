"""The random forests beside their paper: depths, leaves without rows, flipped labels, accuracy, AUC, F1, and the two label laws.

All at epsilon 1. Cross-validation is stratified; ranges are read from the data, as in the paper. AUC and F1 are for two classes,
the rarer one being positive. The paper's figures state no numbers: its tables do, and its text states differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from benchmarks.data import bench_data
from benchmarks.forests.synthetic import TABLE_1, synthetic
from benchmarks.forests.trace import forest_trace
from dpviz.evaluation.audit.smooth_leaf import flip_probability
from dpviz.evaluation.compare.metrics import metrics
from dpviz.learners import FitRequest
from dpviz.privacy.smooth import SmoothMajority
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.training.forests.forest import ForestShape
from dpviz.training.forests.random_trees import theorem_2_depth

EPSILON = 1.0
MAX_DEPTH = 12

#: Name in the paper -> name in the manifest.
REAL = {
    "PenWritten": "pendigits",
    "GammaTele": "magic",
    "Adult": "adult_train",
    "Mushroom": "mushroom",
    "Nursery": "nursery_multiclass",
    "WallSensor": "wall-following",
    "Claves": "claves",
}
#: Table 4.
DEPTHS = {
    "SynthA": 5,
    "SynthB": 8,
    "SynthC": 12,
    "SynthD": 12,
    "SynthE": 12,
    "SynthF": 8,
    "SynthG": 15,
    "PenWritten": 12,
    "GammaTele": 8,
    "Adult": 9,
    "Mushroom": 11,
    "Nursery": 4,
    "WallSensor": 4,
    "Claves": 8,
}
#: Table 3: percent of leaves without rows and its standard deviation, for 1 and for 30 trees.
EMPTY = {
    "SynthA": ((49.8, 12.8), (68.5, 2.0)),
    "SynthB": ((79.1, 6.3), (90.3, 0.7)),
    "SynthC": ((95.0, 1.5), (98.5, 0.1)),
    "SynthD": ((95.7, 1.3), (98.5, 0.1)),
    "SynthE": ((63.3, 1.8), (73.7, 0.1)),
    "SynthF": ((79.2, 6.2), (89.9, 0.7)),
    "SynthG": ((98.7, 0.4), (99.7, 0.0)),
    "PenWritten": ((92.4, 1.2), (97.7, 0.1)),
    "GammaTele": ((86.2, 3.8), (93.5, 0.5)),
    "Adult": ((99.8, 0.0), (99.9, 0.0)),
    "Mushroom": ((99.9, 0.0), (99.9, 0.0)),
    "Nursery": ((0.2, 0.5), (7.2, 0.8)),
    "WallSensor": ((48.6, 12.3), (65.1, 2.1)),
    "Claves": ((0.0, 0.0), (28.7, 0.4)),
}
EMPTY_TREES = (1, 30)
#: Table 6 at epsilon .1: gap, percent of majority labels by the original rule and by the addendum's.
TABLE_6 = (
    (5, 10, 52.1, 62.2),
    (105, 110, 52.1, 62.2),
    (0, 1, 51.4, 52.5),
    (0, 10, 53.4, 73.1),
    (10, 50, 93.8, 98.2),
    (10, 60, 99.9, 99.3),
)

#: What is compared: title -> (learner, parameters).
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "PF-forest": ("pf-forest", {}),
    "PF-forest, 100 trees": ("pf-forest", {"trees": 100}),
    "smooth forest": ("smooth-forest", {"publishable": False}),
    "JPW": ("jpw-forest", {}),
    "FS": ("fs-tree", {}),
    "RGV (weaker)": ("rgv-forest", {}),
    "random forest": ("random-forest", {}),
}
ABLATIONS: dict[str, dict[str, Any]] = {
    "as published": {},
    "global sensitivity": {"smooth": False},
    "shared rows": {"disjoint": False},
    "depth m/2": {"depth_rule": "half of the features"},
    "depth m": {"depth_rule": "all features"},
}


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of repeated measurements."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Of at least one number."""
        return cls(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0)


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything about one data set.

    `accuracy`, `auc`, `f1`: title -> Spread over folds; `ablations`: title -> accuracy; `empty`: percent for 1 and 30 trees;
    `flipped`: percent with 100 trees; `seconds`: processor time of one fit.
    """

    name: str
    n_rows: int
    depth: int
    majority: float
    empty: tuple[Spread, Spread]
    flipped: Spread
    accuracy: dict[str, Spread]
    auc: dict[str, Spread]
    f1: dict[str, Spread]
    ablations: dict[str, Spread]
    seconds: dict[str, Spread]


def forest_data(folder: Path, only: list[str] | None) -> Iterator[tuple[str, EncodedDataset]]:
    """The paper's synthetic sets and those of its real ones that the folder has, by the paper's names."""
    for name in TABLE_1:
        if not only or name in only:
            yield name, synthetic(name, seed=0)
    wanted = {file: name for name, file in REAL.items() if not only or name in only}
    if wanted:
        yield from ((wanted[file], data) for file, data in bench_data(folder, list(wanted)))


def measure(name: str, data: EncodedDataset, *, folds: int, draws: int) -> Measured:
    """Measure one data set; `draws` forests for leaves and flips."""
    pairs = data.folds(folds, seed=0)
    scores = {title: _scores(learner, given, pairs) for title, (learner, given) in LEARNERS.items()}
    return Measured(
        name=name,
        n_rows=data.n_rows,
        depth=theorem_2_depth(data.schema),
        majority=float(data.class_counts().max() / data.n_rows),
        empty=(_empty(data, EMPTY_TREES[0], draws), _empty(data, EMPTY_TREES[1], draws)),
        flipped=Spread.of([100 * _trace(data, 100, seed).flipped_share for seed in range(draws)]),
        accuracy={title: found[0] for title, found in scores.items()},
        auc={title: found[1] for title, found in scores.items()},
        f1={title: found[2] for title, found in scores.items()},
        ablations={title: _accuracy(given, pairs) for title, given in ABLATIONS.items()},
        seconds={title: found[3] for title, found in scores.items()},
    )


def _empty(data: EncodedDataset, n_trees: int, draws: int) -> Spread:
    return Spread.of([100 * _trace(data, n_trees, seed).empty_share for seed in range(draws)])


def _trace(data: EncodedDataset, n_trees: int, seed: int) -> Any:
    """On nine tenths of the rows, as in the paper's ten-fold cross-validation."""
    rows = data.folds(10, seed=seed)[0][0]
    shape = ForestShape(n_trees, theorem_2_depth(data.schema), disjoint=True)
    return forest_trace(rows, shape, SmoothMajority(EPSILON), Simulation(seed))


def _fit(learner: str, given: dict[str, Any], data: EncodedDataset, seed: int) -> Any:
    most = 5 if learner == "rgv-forest" else MAX_DEPTH  # one cap for learners of every rule: some stay above it
    return FitRequest.of(learner, epsilon=EPSILON, max_depth=most, seed=seed, **given).fit(data).model


def _scores(
    learner: str, given: dict[str, Any], pairs: list[tuple[EncodedDataset, EncodedDataset]]
) -> tuple[Spread, Spread, Spread, Spread]:
    """(accuracy, AUC, F1, seconds of processor time) over folds; AUC and F1 are NaN where there are more than two classes."""
    found = []
    for seed, (train, test) in enumerate(pairs):
        started = process_time()
        model = _fit(learner, given, train, seed)
        seconds = process_time() - started
        predicted, rare = model.predict(test), int(train.class_counts().argmin())
        is_binary = test.n_classes == 2
        area = metrics(model, train, test)["auc"] if is_binary else float("nan")
        f1 = f1_score(test.target, predicted, pos_label=rare, zero_division=0.0) if is_binary else float("nan")
        found.append((np.mean(predicted == test.target), area, f1, seconds))
    accuracy, areas, harmonic, times = (Spread.of([float(value) for value in values]) for values in zip(*found, strict=True))
    return accuracy, areas, harmonic, times


def _accuracy(given: dict[str, Any], pairs: list[tuple[EncodedDataset, EncodedDataset]]) -> Spread:
    found = []
    for seed, (train, test) in enumerate(pairs):
        model = _fit("smooth-forest", {"publishable": False, **given}, train, seed)
        found.append(float(np.mean(model.predict(test) == test.target)))
    return Spread.of(found)


def table_6() -> list[tuple[int, int, float, float, float, float, float]]:
    """Rows of Table 6: counts, both published percents, ours by smooth sensitivity, exponential mechanism, permute-and-flip.

    The addendum's own column is the exponential mechanism on counts with exponent eps * count; the permute-and-flip it
    describes in words (one-sided noise) is better still.
    """
    rows = []
    for small, large, original, new in TABLE_6:
        gap = np.array([large - small])
        smooth, pf = (100 * (1 - flip_probability(rule, 0.1, gap)[0]) for rule in ("smooth", "permute-and-flip"))
        rows.append((small, large, original, new, float(smooth), float(100 / (1 + np.exp(-0.1 * gap[0]))), float(pf)))
    return rows
