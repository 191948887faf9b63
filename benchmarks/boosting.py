"""Boosted trees beside their paper: abalone (a number) and adult (two classes), epsilon .07 to 10, delta 5e-8, cross-validated.

Ranges, target range and row counts are declared below, rounded, from public knowledge of these tables; categories are those the
tables' documentation lists. Settings are the learners' defaults, the same at every epsilon, except where a title says so: the
paper shows its best of many settings, so its two learners stand here with their best of a few as well. All on the same folds.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import add_data, add_repeats, add_workers
from benchmarks.data import benchmark_schema, manifest
from benchmarks.entrants import MAX_DEPTH, OTHERS, RIVAL, Entrant, entrants_for, settings_of
from benchmarks.histogram_splits import STYLES, fit_by_histograms
from benchmarks.measured import means
from dpviz.cli import console
from dpviz.evaluation.metrics import metrics
from dpviz.evaluation.repeat import parallel_map, without_caches
from dpviz.io.tables.read import read_table
from dpviz.learners import FitRequest, fit, get_learner, learners_for
from dpviz.models.base import Model
from dpviz.owners.federated import train_federated
from dpviz.owners.streams import GROUPS, STRATEGIES, stream_of, train_on_stream
from dpviz.privacy.source import Simulation
from dpviz.randomness import seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.schema import NumericTarget, Schema

if TYPE_CHECKING:
    import pandas as pd

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


#: Several owners (Algorithm 9): the table, epsilon, and how many; 1 is a trainer with all rows who starts from 0 as owners do.
OWNED, OWNED_EPSILON, OWNERS = "Abalone", 0.54, (1, 2, 5)


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are, and how much to measure."""
    add_data(parser)
    parser.add_argument("--folds", type=int, choices=range(2, 11), default=5, metavar="N", help="default: 5")
    add_repeats(parser, 2, "draws per fold, of what is private")
    add_workers(parser)
    parser.add_argument("--quick", action="store_true", help="one draw, two epsilons: to see that it runs")


def measure(args: Namespace) -> pd.DataFrame:
    """Columns data, what ("fit", "stream", "owners"), learner, epsilon (inf: not private), metric, mean, error, n: over folds.

    Metrics: score (R2, or the share of right classes), auc, seconds of a fit; of a stream score, error of old and of new rows
    (RMSE, or the share of wrong classes) when the new rows came ("before") and at the end ("after"), budget left of both.
    """
    import pandas as pd

    epsilons, repeats = ((0.1, 0.54), 1) if args.quick else (EPSILONS, args.repeats)
    parts = []
    for name, data in boosting_data(args.data, args.only):
        console.status(f"Measuring on {name}")
        fits = pd.DataFrame(_fits(name, data, epsilons, args.folds, repeats, args.workers)).assign(what="fit")
        parts.append(means(pd.concat([fits, best_settings(fits)]), _BY, ["score", "auc", "seconds"]))
        console.status(f"Following a stream of {name}")
        streams = pd.DataFrame(_streams(name, data, args.folds, args.workers)).assign(what="stream")
        parts.append(means(streams, _BY, [column for column in streams if column not in {*_BY, "fold"}]))
        if name == OWNED:
            console.status(f"Training with several owners of {name}")
            owned = pd.DataFrame([_owner_scores(n, *pair) for n in OWNERS for pair in enumerate(data.folds(args.folds, seed=0))])
            parts.append(means(owned.assign(data=name, what="owners", epsilon=OWNED_EPSILON), _BY, ["score"]))
    return pd.concat(parts, ignore_index=True)


_BY = ("data", "what", "learner", "epsilon")


def boosting_data(folder: Path, only: Sequence[str] | None) -> Iterator[tuple[str, EncodedDataset]]:
    """The tables that the folder has, encoded by what is declared here. Raises UnknownName, DpvizError, TableError."""
    for name, table in TABLES.items():
        if not only or name in only:
            [entry] = manifest(folder, [table.file])
            raw = read_table(folder / entry.file)
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


def _fits(
    name: str, data: EncodedDataset, epsilons: Sequence[float], folds: int, repeats: int, workers: int
) -> list[dict[str, Any]]:
    """Every entrant at every epsilon; those without privacy once per fold, at epsilon infinite."""
    asked = []
    for entrant in entrants_for(name, data.schema):
        private = entrant.learner in STYLES or get_learner(entrant.learner).spends_epsilon
        for epsilon, fold in product(epsilons if private else (math.inf,), range(folds)):
            asked += [_Fit(entrant, epsilon, fold, repeat) for repeat in range(repeats if private else 1)]
    return list(parallel_map(partial(_scores, name, without_caches(data), folds), asked, workers))


def best_settings(fits: pd.DataFrame) -> pd.DataFrame:
    """At each epsilon the fits of a learner's best setting by mean score, chosen on the very rows they are tested on."""
    import pandas as pd

    chosen = []
    for best in OTHERS:
        for _, here in fits[fits.learner.isin(settings_of(best))].groupby("epsilon"):
            title = here.groupby("learner").score.mean().idxmax()
            chosen.append(here[here.learner == title].assign(learner=best))
    return pd.concat(chosen) if chosen else fits.iloc[:0]


def _scores(name: str, data: EncodedDataset, folds: int, asked: _Fit) -> dict[str, Any]:
    train, test = data.folds(folds, seed=0)[asked.fold]
    started = process_time()
    model = _model(asked, train)
    seconds = process_time() - started
    found = metrics(model, train, test)
    score = found["r2"] if "r2" in found else found["accuracy"]
    line = {"data": name, "learner": asked.entrant.title, "epsilon": asked.epsilon, "fold": asked.fold}
    return line | {"score": score, "auc": found.get("auc", math.nan), "seconds": seconds}


def _model(asked: _Fit, train: EncodedDataset) -> Model:
    entrant, seed = asked.entrant, seed_from(asked.fold, asked.repeat)
    epsilon = asked.epsilon if math.isfinite(asked.epsilon) else 1.0
    if entrant.learner in STYLES:
        style = STYLES[entrant.learner]
        return fit_by_histograms(train, style, epsilon=epsilon, delta=DELTA, source=Simulation(seed))
    spoken: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "max_depth": entrant.max_depth, "seed": seed}
    return FitRequest.of(entrant.learner, **spoken, **entrant.params).fit(train).model  # one cap: a rule may stay above it


def _streams(name: str, data: EncodedDataset, folds: int, workers: int) -> list[dict[str, Any]]:
    """Every way of following a stream, and DPBoost on the old rows where it is installed."""
    titles = [*STREAM_TITLES.values(), *([RIVAL] if "dpboost" in learners_for(data.schema) else [])]
    asked = list(product(titles, STREAM_EPSILONS, range(folds)))
    return list(parallel_map(partial(_stream, name, without_caches(data), TABLES[name], folds), asked, workers))


def _stream(name: str, data: EncodedDataset, table: Table, folds: int, asked: tuple[str, float, int]) -> dict[str, Any]:
    title, epsilon, fold = asked
    train, test = data.folds(folds, seed=0)[fold]
    stream, seed = stream_of(train, test, table.late_by, table.late_share), seed_from(fold, 0)
    spoken: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "max_depth": MAX_DEPTH, "seed": seed}
    line: dict[str, Any] = {"data": name, "learner": title, "epsilon": epsilon, "fold": fold}
    if title == RIVAL:
        old = train.take(np.flatnonzero(~stream.is_new), share=1 - table.late_share)
        errors = _errors_by_group(FitRequest.of("dpboost", **spoken).fit(old).model.predict(test), test, stream.is_new_test)
        return line | _by_time(errors, errors, test)
    way = next(way for way in STRATEGIES if STREAM_TITLES[way] == title)
    course = train_on_stream(stream, way, extra_rounds=EXTRA_ROUNDS, **spoken)
    before, after = ({group: at(group) for group in GROUPS} for at in (course.before, course.after))
    left = {"left, old": stream.is_new == 0, "left, new": stream.is_new}
    return line | _by_time(before, after, test) | {key: float(course.left[rows].mean()) for key, rows in left.items()}


def _by_time(before: dict[str, float], after: dict[str, float], test: EncodedDataset) -> dict[str, float]:
    found = {f"{when}, {group}": errors[group] for when, errors in (("before", before), ("after", after)) for group in GROUPS[:2]}
    error = after["all"]
    is_number = isinstance(test.schema.target, NumericTarget)
    return found | {"score": 1 - error**2 / float(np.var(test.target)) if is_number else 1 - error}


def _errors_by_group(predicted: np.ndarray, test: EncodedDataset, is_new: np.ndarray) -> dict[str, float]:
    is_number = isinstance(test.schema.target, NumericTarget)
    missed = np.square(predicted - test.target) if is_number else predicted != test.target
    groups = {"old": missed[~is_new].mean(), "new": missed[is_new].mean(), "all": missed.mean()}
    return {group: float(math.sqrt(mean) if is_number else mean) for group, mean in groups.items()}


def _owner_scores(owners: int, fold: int, pair: tuple[EncodedDataset, EncodedDataset]) -> dict[str, Any]:
    """One training on one fold, by owners of random parts of equal size."""
    (train, test), seed = pair, seed_from(fold, 0)
    asked: dict[str, Any] = {"epsilon": OWNED_EPSILON, "delta": DELTA, "max_depth": MAX_DEPTH, "seed": seed}
    if owners == 1:
        model = fit("s-gbdt-published", train, initial_share=0.0, **asked).model
    else:
        parts = [train.take(np.arange(owner, train.n_rows, owners), share=1 / owners) for owner in range(owners)]
        model = train_federated(parts, public_seed=seed, **asked).model
    found = metrics(model, train, test)
    return {"learner": f"owners: {owners}", "fold": fold, "score": found["r2"] if "r2" in found else found["accuracy"]}
