"""Time and memory of fits beside scikit-learn's DecisionTreeClassifier of the same depth on the integer-encoded matrix.

Every job runs once before anything is measured (imports, caches of the machine); then the jobs take turns, round by round,
so that a busy moment hits all of them. A ratio is the median over rounds of job / scikit-learn. "First fit" bins the rows,
"repeated fit" finds the bins remembered on the data set; histograms, scores and trees are never remembered.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from dpviz.errors import DpvizError
from dpviz.learners import DEFAULT, FitRequest, registry
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import LearnerSpec

DEPTH = 4
EPSILON = 0.1
REFERENCE = "scikit-learn tree"
PREDICTION = "predict every row"

Job = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Target:
    """A ratio, or a number with a unit, is to be at most (<=) or below (<) a limit."""

    relation: str
    limit: float
    unit: str = ""

    def met_by(self, value: float) -> bool:
        """True when `value` reaches the target."""
        return value < self.limit or (self.relation == "<=" and value == self.limit)


@dataclass(frozen=True, slots=True)
class Line:
    """One measured thing. `ratio` is to the reference's time, or to the bytes of the encoded data."""

    what: str
    measured: float
    unit: str
    ratio: float | None = None
    target: Target | None = None

    @property
    def is_met(self) -> bool:
        """True when there is no target or it is reached."""
        value = self.measured if self.ratio is None else self.ratio
        return self.target is None or self.target.met_by(value)


#: Below this many rows constant costs decide and no target is set.
FEWEST_ROWS = 10_000
_TIMES = {
    f"{DEFAULT}, first fit": Target("<=", 0.25),
    f"{DEFAULT}, repeated fit": Target("<=", 0.25),
    "privatree, first fit": Target("<=", 3.0),
}
_PREDICTION = Target("<", 5.0, " ms")
_MEMORY = Target("<", 4.0)


def measure(data: EncodedDataset, *, rounds: int) -> list[Line]:
    """Time of every job, time of a prediction, peak memory of every fit."""
    jobs = _usable(_jobs(data))
    times = _take_turns(jobs, rounds)
    lines = [_time_line(what, times) for what in times]
    lines += [_memory_line(what, job, data.nbytes) for what, job in jobs.items() if what.endswith("first fit")]
    return lines if data.n_rows >= FEWEST_ROWS else [replace(line, target=None) for line in lines]


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


def _take_turns(jobs: dict[str, Job], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each job in each round."""
    times: dict[str, list[float]] = {what: [] for what in jobs}
    for _ in range(rounds):
        for what, job in jobs.items():
            start = perf_counter()
            job()
            times[what].append((perf_counter() - start) * 1e3)
    return times


def _time_line(what: str, times: dict[str, list[float]]) -> Line:
    if what == PREDICTION:
        return Line(what, median(times[what]), "ms", target=_PREDICTION)
    ratios = [own / reference for own, reference in zip(times[what], times[REFERENCE], strict=True)]
    return Line(what, median(times[what]), "ms", median(ratios), _TIMES.get(what))


def _memory_line(what: str, job: Job, data_bytes: int) -> Line:
    tracemalloc.start()
    try:
        job()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    name = what.removesuffix(", first fit")
    target = _MEMORY if name in (DEFAULT, "privatree") else None
    return Line(f"{name}, peak memory", peak / 1e6, "MB", peak / data_bytes, target)
