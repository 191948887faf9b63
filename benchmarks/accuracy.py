"""The papers' accuracy tables, measured again: 5-fold stratified cross-validation, depth 4, epsilon .01, .1 and 1.

Each cell stands beside the printed one, with the standard error over folds (draws averaged first): a cell of the papers is one
run per fold. It differs where it is off by more than two standard errors of both and by more than .015.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import add_data, add_repeats, add_workers
from benchmarks.data import bench_data, texts_of
from benchmarks.measured import means
from dpviz.cli import console
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.evidence import typical
from dpviz.evaluation.sweep import sweep
from dpviz.io.tables.read import read_table
from dpviz.learners import DEFAULT, fit, get_learner, learner_names
from dpviz.table.dataset import EncodedDataset

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.01, 0.1, 1.0)
DEPTH, FOLDS = 4, 5
#: A cell within this of the printed one is as printed.
CLOSE = 0.015
#: Learner -> (version, method) of its column in the papers' accuracy tables.
COLUMNS: Mapping[str, tuple[str, str]] = {
    "bdpt": ("arXiv", "BDPT"),
    "cart": ("arXiv", "decision tree"),
    "diffprivlib-tree": ("arXiv", "DiffPrivLib"),
    "dpgdf": ("arXiv", "DPGDF"),
    "privatree": ("arXiv", "PrivaTree"),
    "privatree-corrected": ("corrected", "PrivaTree"),
    "privatree-star": ("arXiv", "PrivaTree*"),
}

#: (version, epsilon, data set, method) -> (mean, standard error)
PrintedTables = Mapping[tuple[str, float, str, str], tuple[float, float]]


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are, which learners, how often."""
    add_data(parser)
    parser.add_argument("--learner", action="append", metavar="NAME", help="this learner; may be repeated (default: all)")
    parser.add_argument("--printed", type=Path, metavar="CSV", help="the papers' tables (default: beside DIR, if there)")
    add_repeats(parser, 5, "draws per fold")
    add_workers(parser)


def measure(args: Namespace) -> pd.DataFrame:
    """Columns data, learner (and its verdict), epsilon, mean, error, n, seconds of a fit, printed, printed_error, version, found.

    A line per printed version; of a learner without privacy a line per epsilon, as in the papers.
    """
    import pandas as pd

    names = args.learner or tabled_learners()
    for name in names:
        get_learner(name)
    printed = read_printed(args.printed or args.data.parent / "reference" / "privatree_tables.csv")
    lines: list[dict[str, Any]] = []
    for data_name, data in bench_data(args.data, args.only):
        console.status(f"Measuring on {data_name}")
        able = [name for name in names if _accepts(name, data)]
        fits = sweep(able, data, epsilon=EPSILONS, max_depth=(DEPTH,), folds=FOLDS, repeats=args.repeats, workers=args.workers)
        seconds = {name: seconds_per_fit(name, data) for name in able}
        for one in means(fits, ("learner", "epsilon"), ["accuracy"]).itertuples():
            for epsilon in EPSILONS if math.isinf(one.epsilon) else (one.epsilon,):
                line = {"data": data_name, "learner": _title(one.learner, epsilon), "epsilon": epsilon, "mean": one.mean}
                line |= {"error": one.error, "n": one.n, "seconds": seconds[one.learner]}
                lines += [line | beside for beside in _printed_values(one, epsilon, data_name, printed)]
    return pd.DataFrame(lines)


def read_printed(path: Path) -> PrintedTables:
    """The papers' tables from a CSV with the columns version, epsilon, group, dataset, method, mean, stderr; no run times.

    Data that stand there twice, with and without their categories (group "mixed"), are told apart by the suffix `_cat`.
    """
    rows = texts_of(read_table(path), ("group", "version", "epsilon", "dataset", "method", "mean", "stderr"))
    numerical = {row[3] for row in rows if row[0] == "numerical"}
    found = {}
    for group, version, epsilon, data, method, mean, error in rows:
        name = f"{data}_cat" if group == "mixed" and data in numerical else data
        if _is_number(epsilon) and _is_number(mean):
            found[version, float(epsilon), name, method] = float(mean), float(error or 0)
    if not found:
        raise DpvizError("There is no printed accuracy in it.", where=str(path), remedy="Give the papers' tables as CSV.")
    return found


def tabled_learners() -> list[str]:
    """The default learner, every learner with a column in the papers' tables, and the private baselines."""
    specs = (get_learner(name) for name in learner_names())
    return [
        spec.name for spec in specs if spec.name == DEFAULT or spec.name in COLUMNS or (spec.is_baseline and spec.spends_epsilon)
    ]


def seconds_per_fit(name: str, data: EncodedDataset, rounds: int = 5) -> float:
    """Mean processor time of one fit at epsilon .1 and depth 4, after one that makes the bins."""
    times = []
    for seed in range(rounds + 1):
        started = process_time()
        fit(name, data, epsilon=0.1, max_depth=DEPTH, seed=seed)
        times.append(process_time() - started)
    return float(np.mean(times[1:]))


def _printed_values(one: Any, epsilon: float, data: str, printed: PrintedTables) -> list[dict[str, Any]]:
    """What is printed of a cell, in each version of the tables."""
    _, method = COLUMNS.get(one.learner, ("", ""))
    versions = [key[0] for key in printed if key[1:] == (epsilon, data, method)]
    found: list[dict[str, Any]] = []
    for version in versions:
        mean, error = printed[version, epsilon, data, method]
        differs = abs(one.mean - mean) > max(2 * math.hypot(one.error, error), CLOSE)
        found.append({"printed": mean, "printed_error": error, "version": version, "found": "differs" if differs else "same"})
    return found or [{}]


def _title(learner: str, epsilon: float) -> str:
    spec = get_learner(learner)
    return f"{spec.title}: {typical(spec, epsilon=epsilon).claim.verdict}" if spec.spends_epsilon else spec.title


def _accepts(learner: str, data: EncodedDataset) -> bool:
    try:
        fit(learner, data.take(np.arange(min(200, data.n_rows)), share=1.0), epsilon=1.0, max_depth=1, seed=0)
    except DpvizError:
        return False
    return True


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()
