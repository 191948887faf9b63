"""Boosted trees beside their paper: abalone (a number) and adult (two classes), epsilon .07 to 10, delta 5e-8, cross-validated.

Ranges, target range and row counts are declared below, rounded, from public knowledge of these tables; categories are those the
tables' documentation lists. Settings are the learners' defaults, the same at every epsilon, except where a title says so: the
paper shows its best of many settings, so its two learners stand here with their best of a few as well. All on the same folds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.boosting.entrants import MAX_DEPTH, OTHERS, RIVAL, Entrant, settings_of
from benchmarks.boosting.histogram_splits import STYLES, fit_by_histograms
from benchmarks.data import benchmark_schema, manifest
from dpviz.errors import DpvizError
from dpviz.evaluation.compare.metrics import metrics
from dpviz.evaluation.workers import light, spread
from dpviz.io.csv import read_csv
from dpviz.learners import FitRequest, get_learner, learners_for
from dpviz.models.base import Model
from dpviz.owners.streams import GROUPS, WAYS, stream_of, train_on_stream
from dpviz.privacy.source import Simulation
from dpviz.randomness import seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.schema import NumericTarget, Schema

EPSILONS = (0.07, 0.1, 0.15, 0.3, 0.5, 0.54, 1.0, 10.0)
STREAM_EPSILONS = (0.54,)
DELTA = 5e-8
#: After the regular rounds of a stream, as in the paper's Figure 3.
EXTRA_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Table:
    """A data set: its name in the manifest, what is declared about it, and how a stream of it is cut."""

    file: str
    n_public: int
    ranges: dict[str, tuple[float, float]]
    late_by: str
    late_share: float = 0.3


TABLES = {
    "Abalone": Table(
        "abalone",
        4000,
        {
            "Length": (0, 1),
            "Diameter": (0, 1),
            "Height": (0, 0.5),
            "WholeWeight": (0, 3),
            "ShuckedWeight": (0, 1.5),
            "VisceraWeight": (0, 1),
            "ShellWeight": (0, 1),
            "Rings": (1, 29),
        },
        "ShellWeight",
    ),
    "Adult": Table(
        "adult_train",
        30000,
        {
            "age": (17, 90),
            "fnlwgt": (0, 1500000),
            "education-num": (1, 16),
            "capital-gain": (0, 100000),
            "capital-loss": (0, 5000),
            "hours-per-week": (1, 99),
        },
        "education-num",
    ),
}


#: Of a stream, by the title it is shown with; DPBoost has the old rows.
STREAM_TITLES = {"stop": "no filter", "new rows alone": "new rows alone", "filter": "filter", "from the start": "from the start"}


@dataclass(frozen=True, slots=True)
class Scored:
    """One fit on one fold. `score` is R², or the share of right classes; `auc` is NaN for a number; processor `seconds`."""

    data: str
    title: str
    epsilon: float
    fold: int
    repeat: int
    score: float
    auc: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Streamed:
    """One stream on one fold: scores on all test rows, RMSE or share of wrong classes by group, budget left (share) by group.

    `before` is when the new rows came; budgets are NaN for DPBoost.
    """

    data: str
    title: str
    epsilon: float
    fold: int
    score_before: float
    score_after: float
    before: dict[str, float]
    after: dict[str, float]
    left_old: float
    left_new: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure."""

    folds: int = 5
    repeats: int = 2
    epsilons: tuple[float, ...] = EPSILONS
    stream_epsilons: tuple[float, ...] = STREAM_EPSILONS
    workers: int = 1


QUICK = Plan(folds=2, repeats=1, epsilons=(0.1, 0.54), stream_epsilons=(0.54,))


def boosting_data(folder: Path, only: Sequence[str] | None) -> Iterator[tuple[str, EncodedDataset]]:
    """The tables that the folder has, encoded by what is declared here. Raises UnknownName, DpvizError, TableError."""
    for name, table in TABLES.items():
        if not only or name in only:
            [entry] = manifest(folder, [table.file])
            raw = read_csv(folder / entry.file)
            yield name, encode(raw, declare(benchmark_schema(raw, entry), table))


def declare(schema: Schema, table: Table) -> Schema:
    """The schema with ranges and row count declared; columns without a declared range stay as they are."""
    schema = schema.declare(n_public=table.n_public)
    for name, (low, high) in table.ranges.items():
        if name in schema.feature_names or name == schema.target.name:
            schema = schema.declare(name, low=low, high=high)
    return schema


@dataclass(frozen=True, slots=True)
class _Fit:
    entrant: Entrant
    epsilon: float
    fold: int
    repeat: int


def measure(name: str, data: EncodedDataset, entrants: Sequence[Entrant], epsilons: Sequence[float], plan: Plan) -> list[Scored]:
    """Every entrant at every epsilon, and the best settings of the paper's learners.

    Those without privacy are fitted once per fold, at epsilon infinite.
    """
    asked = []
    for entrant in entrants:
        private = entrant.learner in STYLES or get_learner(entrant.learner).spends_epsilon
        repeats = range(plan.repeats if private else 1)
        for epsilon in epsilons if private else (math.inf,):
            asked += [_Fit(entrant, epsilon, fold, repeat) for fold in range(plan.folds) for repeat in repeats]
    found = list(spread(partial(_score, name, light(data), plan.folds), asked, plan.workers))
    return [*found, *best_settings(found)]


def best_settings(found: Sequence[Scored]) -> list[Scored]:
    """At each epsilon the fits of a learner's best setting by mean R² or accuracy, chosen on the very rows they are tested on."""
    return [row for best in OTHERS for row in _best(found, best, settings_of(best))]


def _best(found: Sequence[Scored], best: str, settings: set[str]) -> Iterator[Scored]:
    for epsilon in sorted({row.epsilon for row in found if row.title in settings}):
        here = [row for row in found if row.title in settings and row.epsilon == epsilon]
        means = {title: float(np.mean([r.score for r in here if r.title == title])) for title in {row.title for row in here}}
        chosen = max(sorted(means), key=lambda title: means[title])
        yield from (replace(row, title=best) for row in here if row.title == chosen)


def _score(name: str, data: EncodedDataset, folds: int, asked: _Fit) -> Scored:
    train, test = data.folds(folds, seed=0)[asked.fold]
    started = process_time()
    model = _model(asked, train)
    seconds = process_time() - started
    found = metrics(model, train, test)
    score = found["r2"] if "r2" in found else found["accuracy"]
    title = asked.entrant.title
    return Scored(name, title, asked.epsilon, asked.fold, asked.repeat, score, found.get("auc", math.nan), seconds)


def _model(asked: _Fit, train: EncodedDataset) -> Model:
    entrant, seed = asked.entrant, seed_from(asked.fold, asked.repeat)
    epsilon = asked.epsilon if math.isfinite(asked.epsilon) else 1.0
    if entrant.learner in STYLES:
        style = STYLES[entrant.learner]
        return fit_by_histograms(train, style, epsilon=epsilon, delta=DELTA, source=Simulation(seed))[0]
    spoken: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "max_depth": entrant.max_depth, "seed": seed}
    return FitRequest.of(entrant.learner, **spoken, **entrant.params).fit(train).model  # one cap: a rule may stay above it


def measure_streams(name: str, data: EncodedDataset, plan: Plan) -> list[Streamed]:
    """Every way of following a stream, and DPBoost on the old rows where it is installed."""
    table = TABLES[name]
    titles = [*STREAM_TITLES.values(), *([RIVAL] if "dpboost" in learners_for(data.schema) else [])]
    asked = [(title, epsilon, fold) for title in titles for epsilon in plan.stream_epsilons for fold in range(plan.folds)]
    return list(spread(partial(_stream, name, light(data), table, plan.folds), asked, plan.workers))


def _stream(name: str, data: EncodedDataset, table: Table, folds: int, asked: tuple[str, float, int]) -> Streamed:
    title, epsilon, fold = asked
    train, test = data.folds(folds, seed=0)[fold]
    stream, seed = stream_of(train, test, table.late_by, table.late_share), seed_from(fold, 0)
    spoken: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "max_depth": MAX_DEPTH, "seed": seed}
    if title == RIVAL:
        old = train.take(np.flatnonzero(~stream.is_new), share=1 - table.late_share)
        errors = _errors_by_group(FitRequest.of("dpboost", **spoken).fit(old).model.predict(test), test, stream.is_new_test)
        score = _score_of(errors["all"], test)
        return Streamed(name, title, epsilon, fold, score, score, errors, errors, math.nan, math.nan)
    way = next(way for way in WAYS if STREAM_TITLES[way] == title)
    course = train_on_stream(stream, way, extra_rounds=EXTRA_ROUNDS, **spoken)
    before, after = ({group: at(group) for group in GROUPS} for at in (course.before, course.after))
    left = (float(course.left[rows].mean()) for rows in (~stream.is_new, stream.is_new))
    return Streamed(
        name, title, epsilon, fold, _score_of(before["all"], test), _score_of(after["all"], test), before, after, *left
    )


def _errors_by_group(predicted: np.ndarray, test: EncodedDataset, is_new: np.ndarray) -> dict[str, float]:
    is_number = isinstance(test.schema.target, NumericTarget)
    missed = np.square(predicted - test.target) if is_number else predicted != test.target
    means = {"old": missed[~is_new].mean(), "new": missed[is_new].mean(), "all": missed.mean()}
    return {group: float(math.sqrt(mean) if is_number else mean) for group, mean in means.items()}


def _score_of(error: float, test: EncodedDataset) -> float:
    """R² of an RMSE, or the share of right classes."""
    if isinstance(test.schema.target, NumericTarget):
        return 1 - error**2 / float(np.var(test.target))
    return 1 - error


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and its standard error over folds."""

    mean: float
    error: float

    def text(self, digits: int) -> str:
        """Both, with so many digits after the point."""
        return f"{self.mean:.{digits}f} ± {self.error:.{digits}f}"


def mean_of(values: Sequence[tuple[int, float]]) -> Mean:
    """Of (fold, value) pairs: values of a fold are averaged first. Raises DpvizError without any."""
    if not values:
        raise DpvizError("Nothing was measured.", remedy="Measure more.")
    folds = sorted({fold for fold, _ in values})
    means = [float(np.mean([value for fold, value in values if fold == wanted])) for wanted in folds]
    error = float(np.std(means, ddof=1) / math.sqrt(len(means))) if len(means) > 1 else math.nan
    return Mean(float(np.mean(means)), error)
