"""The random forests beside their paper: depths, leaves without rows, flipped labels, accuracy, AUC, F1, and the two label laws.

All at epsilon 1. Cross-validation is stratified; ranges are read from the data, as in the paper. AUC and F1 are for two classes,
the rarer one being positive. The paper's figures state no numbers: its tables do, and its text states differences.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import f1_score

from benchmarks.arguments import add_data, add_repeats
from benchmarks.data import bench_data
from benchmarks.forest_trace import forest_trace
from benchmarks.measured import means
from benchmarks.synthetic import TABLE_1, synthetic
from dpviz.cli import console
from dpviz.evaluation.metrics import metrics
from dpviz.learners import FitRequest
from dpviz.privacy.leaf_labels import SmoothMajority
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.training.forests import ForestShape, theorem_2_depth

if TYPE_CHECKING:
    import pandas as pd

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
FLIPPED_TREES = 100
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
    "smooth forest, global sensitivity": ("smooth-forest", {"publishable": False, "smooth": False}),
    "smooth forest, shared rows": ("smooth-forest", {"publishable": False, "disjoint": False}),
    "smooth forest, depth m/2": ("smooth-forest", {"publishable": False, "depth_rule": "half of the features"}),
    "smooth forest, depth m": ("smooth-forest", {"publishable": False, "depth_rule": "all features"}),
}


#: Fits on nine tenths of the rows, as in the paper's ten-fold cross-validation; accuracies on five folds.
FOLDS = 5


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are and how often."""
    add_data(parser)
    add_repeats(parser, 10, "forests per share of leaves")


def measure(args: Namespace) -> pd.DataFrame:
    """Columns data, what (a forest, or the smooth one with one thing changed), metric, mean, error (standard error), n, printed,
    printed_deviation.

    Metrics: accuracy, auc, f1 and seconds of a fit over folds; over forests the percent of leaves without rows and, of the
    others, of flipped labels, counted without noise, so for public data only; depth; of Table 6 the percent of right labels.
    """
    import pandas as pd

    parts = [pd.DataFrame(_table_6_lines())]
    for name, data in forest_data(args.data, args.only):
        console.status(f"Measuring on {name}")
        pairs = list(enumerate(data.folds(FOLDS, seed=0)))
        fits = [
            {"data": name, "what": title, "fold": fold, **_scores(learner, given, *pair, fold)}
            for title, (learner, given) in LEARNERS.items()
            for fold, pair in pairs
        ]
        parts.append(means(pd.DataFrame(fits), ("data", "what"), ["accuracy", "auc", "f1", "seconds"]))
        traces = pd.DataFrame([line for seed in range(args.repeats) for line in _traces(name, data, seed)])
        leaves = means(traces, ("data", "what"), ["empty", "flipped"], over="seed")
        printed = {(f"{n} trees", "empty"): value for n, value in zip(EMPTY_TREES, EMPTY[name], strict=True)}
        beside = [printed.get(key, (None, None)) for key in zip(leaves.what, leaves.metric, strict=True)]
        parts.append(leaves.assign(**dict(zip(("printed", "printed_deviation"), zip(*beside, strict=True), strict=True))))
        depth = {"mean": theorem_2_depth(data.schema), "printed": DEPTHS[name]}
        parts.append(pd.DataFrame([{"data": name, "what": "smooth forest", "metric": "depth"} | depth]))
    return pd.concat(parts, ignore_index=True)


def forest_data(folder: Path, only: list[str] | None) -> Iterator[tuple[str, EncodedDataset]]:
    """The paper's synthetic sets and those of its real ones that the folder has, by the paper's names."""
    for name in TABLE_1:
        if not only or name in only:
            yield name, synthetic(name, seed=0)
    wanted = {file: name for name, file in REAL.items() if not only or name in only}
    if wanted:
        yield from ((wanted[file], data) for file, data in bench_data(folder, list(wanted)))


def _scores(learner: str, given: dict[str, Any], train: EncodedDataset, test: EncodedDataset, seed: int) -> dict[str, float]:
    """AUC and F1 are not a number where there are more than two classes."""
    most = 5 if learner == "rgv-forest" else MAX_DEPTH  # one cap for learners of every rule: some stay above it
    started = process_time()
    model = FitRequest.of(learner, epsilon=EPSILON, max_depth=most, seed=seed, **given).fit(train).model
    found = {"seconds": process_time() - started}
    predicted = model.predict(test)
    found["accuracy"] = float(np.mean(predicted == test.target))
    if test.n_classes == 2:
        rare = int(train.class_counts().argmin())
        found["auc"] = metrics(model, train, test)["auc"]
        found["f1"] = float(f1_score(test.target, predicted, pos_label=rare, zero_division=0.0))
    return {"auc": float("nan"), "f1": float("nan")} | found


def _traces(name: str, data: EncodedDataset, seed: int) -> Iterator[dict[str, Any]]:
    """On nine tenths of the rows, as in the paper's ten-fold cross-validation; in percent."""
    rows = data.folds(10, seed=seed)[0][0]
    for n_trees in (*EMPTY_TREES, FLIPPED_TREES):
        shape = ForestShape(n_trees, theorem_2_depth(data.schema), disjoint=True)
        trace = forest_trace(rows, shape, SmoothMajority(EPSILON), Simulation(seed))
        line = {"data": name, "what": f"{n_trees} trees", "seed": seed}
        yield line | {"empty": 100 * trace.empty_share, "flipped": 100 * trace.flipped_share}


def _table_6_lines() -> Iterator[dict[str, Any]]:
    for small, large, original, new, smooth, exponential, pf in table_6():
        line = {"data": f"counts {small} and {large}", "metric": "right labels"}
        yield line | {"what": "smooth", "mean": smooth, "printed": original}
        yield line | {"what": "exponential", "mean": exponential, "printed": new}
        yield line | {"what": "permute-and-flip", "mean": pf}


def table_6() -> list[tuple[int, int, float, float, float, float, float]]:
    """Rows of Table 6: counts, both published percents, ours by smooth sensitivity, exponential mechanism, permute-and-flip.

    The addendum's own column is the exponential mechanism on counts with exponent eps * count; the permute-and-flip it
    describes in words (one-sided noise) is better still.
    """
    rows = []
    for small, large, original, new in TABLE_6:
        counts, choices = np.array([large - small, 0]), (SmoothMajority(0.1), PermuteAndFlip(0.1, COUNT))
        smooth, pf = (100 * float(choice.probabilities(counts)[0]) for choice in choices)
        rows.append((small, large, original, new, smooth, float(100 / (1 + np.exp(-0.1 * counts[0]))), pf))
    return rows
