"""Time and memory of fits beside scikit-learn: a tree of the same depth on the integer-encoded matrix, and boosted trees at size.

Every job runs once before anything is measured (imports, caches of the machine); then the jobs take turns, round by round, so
that a busy moment hits all of them. A ratio is the median over rounds of job / scikit-learn. "First fit" bins the rows, "repeated
fit" finds the bins remembered on the data set; histograms, scores and trees are never remembered. Without `--data`, s-gbdt also
stands beside HistGradientBoostingClassifier with as many rounds and leaves, on a million random rows of ten numbers.
"""

from __future__ import annotations

import tracemalloc
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import add_data, add_repeats
from benchmarks.data import bench_data
from benchmarks.growth import Size, rows_of
from dpviz.cli import console
from dpviz.errors import DpvizError
from dpviz.learners import DEFAULT, FitRequest, registry
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import LearnerSpec

if TYPE_CHECKING:
    import pandas as pd

DEPTH = 4
EPSILON = 0.1
REFERENCE = "scikit-learn tree"
PREDICTION = "predict every row"

Job = Callable[[], Any]


#: Below this many rows constant costs decide and no target is set.
MIN_ROWS = 10_000
#: The largest ratio to the reference's time, or to the bytes of the encoded data; of a prediction the most milliseconds.
TARGETS = {
    f"{DEFAULT}, first fit": 0.25,
    f"{DEFAULT}, repeated fit": 0.25,
    "privatree, first fit": 3.0,
    PREDICTION: 5.0,
    f"{DEFAULT}, peak memory": 4.0,
    "privatree, peak memory": 4.0,
}
BOOSTED, BOOSTED_REFERENCE = "s-gbdt", "scikit-learn boosted trees"
#: What such a fit may take of the reference's time.
BOOSTED_TARGET = 0.7
AT_SIZE = Size(rows=1_000_000, columns=10)


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are and how often."""
    add_data(parser, required=False)
    add_repeats(parser, 9, "rounds to take the median of")


def measure(args: Namespace) -> pd.DataFrame:
    """Columns data, rows, what, measured, unit (ms or MB), ratio, target, found ("met", "missed")."""
    import pandas as pd

    lines = []
    for name, data in bench_data(args.data, args.only):
        console.status(f"Measuring on {name}")
        for what, measured, unit, ratio in _measurements(data, args.repeats):
            target = TARGETS.get(what) if data.n_rows >= MIN_ROWS else None
            found = None if target is None else "met" if (measured if ratio is None else ratio) <= target else "missed"
            lines.append((name, data.n_rows, what, measured, unit, ratio, target, found))
    if args.data is None:
        console.status(f"Measuring boosted trees on {AT_SIZE.rows:,} rows")
        for what, measured, ratio in _boosting_times(rows_of(AT_SIZE), min(args.repeats, 3)):
            found = None if what.startswith(BOOSTED_REFERENCE) else "met" if ratio <= BOOSTED_TARGET else "missed"
            lines.append(("random", AT_SIZE.rows, what, measured, "ms", ratio, BOOSTED_TARGET if found else None, found))
    return pd.DataFrame(lines, columns=["data", "rows", "what", "measured", "unit", "ratio", "target", "found"])


def _measurements(data: EncodedDataset, rounds: int) -> Iterator[tuple[str, float, str, float | None]]:
    """Time of every job and of a prediction, peak memory of every fit."""
    jobs = _usable(_jobs(data))
    times = _take_turns(jobs, rounds)
    for what, own in times.items():
        ratios = [one / reference for one, reference in zip(own, times[REFERENCE], strict=True)]
        yield what, median(own), "ms", None if what == PREDICTION else median(ratios)
    for what, job in jobs.items():
        if what.endswith("first fit"):
            peak = _peak(job)
            yield f"{what.removesuffix(', first fit')}, peak memory", peak / 1e6, "MB", peak / data.nbytes


def _boosting_times(data: EncodedDataset, rounds: int) -> Iterator[tuple[str, float, float]]:
    """(what, milliseconds, ratio to the reference) of both, by the clock and by the processor."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    request = FitRequest.of(BOOSTED, epsilon=EPSILON, seed=0)
    model: Any = request.fit(data).model
    trees = model.splits
    n_leaves = int(np.bincount(trees.tree[trees.leaves]).max())
    matrix = np.column_stack(data.columns)
    jobs: dict[str, Job] = {
        BOOSTED_REFERENCE: lambda: HistGradientBoostingClassifier(
            max_iter=trees.n_trees, max_leaf_nodes=n_leaves, early_stopping=False
        ).fit(matrix, data.target),
        BOOSTED: lambda: request.fit(_fresh(data)),
    }
    for how, clock in (("by the clock", perf_counter), ("by the processor", process_time)):
        times = _take_turns(jobs, rounds, clock)
        for what, own in times.items():
            ratios = [one / reference for one, reference in zip(own, times[BOOSTED_REFERENCE], strict=True)]
            yield f"{what}, {how}", median(own), median(ratios)


def _jobs(data: EncodedDataset) -> dict[str, Job]:
    model = _fit(DEFAULT, data).model
    jobs: dict[str, Job] = {
        REFERENCE: _reference(data),
        f"{DEFAULT}, first fit": lambda: _fit(DEFAULT, _fresh(data)),
        f"{DEFAULT}, repeated fit": lambda: _fit(DEFAULT, data),
        f"{DEFAULT}, repeated fit, release": lambda: _fit(DEFAULT, data, seed=None),
        PREDICTION: lambda: model.predict(data),
    }
    others = (spec for spec in registry().values() if spec.name != DEFAULT and "classes" in spec.tasks)
    return jobs | {f"{spec.name}, first fit": _first_fit(spec, data) for spec in others}


def _reference(data: EncodedDataset) -> Job:
    from sklearn.tree import DecisionTreeClassifier

    matrix = np.column_stack(data.columns)
    return lambda: DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(matrix, data.target)


def _first_fit(spec: LearnerSpec, data: EncodedDataset) -> Job:
    return lambda: _fit(spec.name, _fresh(data))


def _fit(name: str, data: EncodedDataset, seed: int | None = 0) -> Any:
    return FitRequest.of(name, epsilon=EPSILON, depth=DEPTH, seed=seed).fit(data)  # a release of any table: nobody gets it


def _fresh(data: EncodedDataset) -> EncodedDataset:
    """The same rows with nothing remembered."""
    return EncodedDataset(data.schema, data.columns, data.target)


def _usable(jobs: dict[str, Job]) -> dict[str, Job]:
    """Run each once; leave out learners that refuse this table."""
    kept = {}
    for what, job in jobs.items():
        try:
            job()
        except DpvizError:
            continue
        kept[what] = job
    return kept


def _take_turns(jobs: dict[str, Job], rounds: int, clock: Callable[[], float] = perf_counter) -> dict[str, list[float]]:
    """Milliseconds of each job in each round."""
    times: dict[str, list[float]] = {what: [] for what in jobs}
    for _ in range(rounds):
        for what, job in jobs.items():
            start = clock()
            job()
            times[what].append((clock() - start) * 1e3)
    return times


def _peak(job: Job) -> int:
    """The most bytes it has at once."""
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
