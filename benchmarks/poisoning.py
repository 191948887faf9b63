"""The papers' poisoning tables (III and VIII) measured again with both bounds, and Figure 3 as data.

PrivaTree is measured as published: mean accuracy over 50 random splits, one tree each, times e^(-k eps) for k poisoned rows; so
is logistic regression. The default learner is certified beside it, on each of a few splits from many draws at its part of the
confidence, and the vote on disjoint rows. Figure 3 is guaranteed accuracy from 0 to 1% poisoned rows.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import add_data, add_repeats, add_workers, count
from benchmarks.data import bench_data, manifest, texts_of
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.cli import console
from dpviz.evaluation.poisoning import PoisoningTable, certify
from dpviz.evaluation.repeat import parallel_map
from dpviz.io.tables.read import read_table
from dpviz.learners import DEFAULT, FitRequest, fit
from dpviz.results.result import score
from dpviz.table.dataset import EncodedDataset

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.01, 0.1)
#: Of the training rows: 0 to 1% in steps of .05%. The papers print .1, .5 and 1%.
SHARES = tuple(step / 2000 for step in range(21))
PRINTED = {0.001: "guarantee_0_1pct", 0.005: "guarantee_0_5pct", 0.01: "guarantee_1pct"}
DEPTH, TEST_SHARE = 4, 0.2
#: Random splits of the papers' experiments.
SPLITS = 50
#: The learners of the papers' experiments -> what their tables call them.
REPEATED = {"privatree": "PrivaTree", "logistic": "DiffPrivLib LR"}
#: Labels alone are certified here, so every row grows the default learner's tree, as it does with the other learners.
CERTIFIED: dict[str, dict[str, Any]] = {DEFAULT: {"leaves": "labels"}, "dpa": {}}

#: (data set, method, epsilon) -> column of the papers' tables -> number
PrintedTables = dict[tuple[str, str, float], dict[str, float]]


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are and how often."""
    add_data(parser)
    parser.add_argument("--printed", type=Path, metavar="CSV", help="the papers' tables (default: beside DIR, if there)")
    parser.add_argument("--splits", type=count, default=3, metavar="N", help="splits to certify on (default: 3)")
    add_repeats(parser, 100, "draws per split, in hundreds")
    add_workers(parser)


def measure(args: Namespace) -> pd.DataFrame:
    """Columns data, learner, epsilon, poisoned_share, poisoned_rows, mean (clean accuracy), error, published (Corollary 2),
    printed, tight, tight_low (with 95% confidence), majority; a line per share. What does not exist for a learner is empty.
    """
    import pandas as pd

    printed = read_printed(args.printed or args.data.parent / "reference" / "privatree_poisoning_tables.csv")
    wanted = args.only or sorted({name for name, _, _ in printed} & {entry.name for entry in manifest(args.data, None)})
    lines: list[dict[str, Any]] = []
    for name, data in bench_data(args.data, wanted):
        for epsilon in EPSILONS:
            console.status(f"Certifying on {name} at epsilon {epsilon:g} ({NEIGHBOURS})")
            for learner, method in REPEATED.items():
                theirs = printed.get((name, method, epsilon), {})
                lines += _repeat_experiment(name, data, learner, epsilon, theirs, args.workers)
            for learner in CERTIFIED:
                draws = 1 if learner == "dpa" else 100 * args.repeats
                table = certified(learner, data, epsilon=epsilon, splits=args.splits, draws=draws, workers=args.workers)
                lines += [{"data": name, "learner": learner, "epsilon": epsilon} | line for line in _certificate_lines(table)]
    return pd.DataFrame(lines)


def read_printed(path: Path) -> PrintedTables:
    """The papers' tables of poisoning guarantees; "-" is nothing. Table VIII is about the version with categories."""
    names = ("table", "dataset", "method", "epsilon", "accuracy", *PRINTED.values())
    found: PrintedTables = {}
    for row in texts_of(read_table(path), names):
        cells = dict(zip(names, row, strict=True))
        numbers = {name: float(cells[name]) for name in ("accuracy", *PRINTED.values()) if cells[name] not in ("", "-")}
        of_sets = [cells["dataset"], *([f"{cells['dataset']}_cat"] if cells["table"].startswith("VIII") else [])]
        found |= {(name, cells["method"], float(cells["epsilon"])): numbers for name in of_sets}
    return found


def certified(name: str, data: EncodedDataset, *, epsilon: float, splits: int, draws: int, workers: int) -> PoisoningTable:
    """Curves of a learner up to 1% poisoned rows, 95% confidence over all splits."""
    pairs = [data.split(TEST_SHARE, seed=seed) for seed in range(splits)]
    request = FitRequest.of(name, epsilon=epsilon, max_depth=DEPTH, **CERTIFIED[name])
    return certify(request, pairs, max_poisoned=SHARES[-1], draws=draws, workers=workers)


def rows_at(share: float, n_train: int) -> int:
    """Poisoned rows at a share, rounded down as in the papers."""
    return math.floor(share * n_train + 1e-9)


def _repeat_experiment(
    name: str, data: EncodedDataset, learner: str, epsilon: float, printed: dict[str, float], workers: int
) -> Iterator[dict[str, Any]]:
    """The papers' experiment again: mean accuracy over splits, and Corollary 2."""
    accuracies = np.array(list(parallel_map(partial(_one_split, learner, data, epsilon), range(SPLITS), workers)))
    mean, error = float(accuracies.mean()), float(accuracies.std(ddof=1) / math.sqrt(SPLITS))
    n_train = data.n_rows - round(data.n_rows * TEST_SHARE)
    for share in SHARES:
        rows = rows_at(share, n_train)
        told = printed.get("accuracy" if share == 0 else PRINTED.get(share, ""), math.nan)
        line = {"data": name, "learner": learner, "epsilon": epsilon, "poisoned_share": share, "poisoned_rows": rows}
        yield line | {"mean": mean, "error": error, "published": mean * math.exp(-rows * epsilon), "printed": told}


def _certificate_lines(table: PoisoningTable) -> Iterator[dict[str, Any]]:
    for share in SHARES:
        rows = rows_at(share, table.n_train)
        line = {"poisoned_share": share, "poisoned_rows": rows, "mean": table.accuracy, "published": table.published(rows)}
        yield line | {"tight": table.tight(rows), "tight_low": table.low(rows), "majority": table.majority}


def _one_split(name: str, data: EncodedDataset, epsilon: float, seed: int) -> float:
    train, test = data.split(TEST_SHARE, seed=seed)
    return score(fit(name, train, epsilon=epsilon, max_depth=DEPTH, seed=seed).model, test)
