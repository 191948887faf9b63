"""The papers' figures that are curves and stand on no other page, measured as points.

PrivaTree, Figure 1 (accuracy against epsilon) and 2 (training accuracy against how epsilon is divided). Smooth random forest,
Figures 5b (smooth sensitivity with and without disjoint rows), 7 and 8 (accuracy and flipped labels against the number of trees),
9 (against the number of rows) and 10 (against epsilon, on Adult). S-GBDT, Figure 3 (what each row loses). The papers print few
of these numbers.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import add_data, add_repeats
from benchmarks.boosting import DELTA, EXTRA_ROUNDS, boosting_data
from benchmarks.data import bench_data
from benchmarks.forest_trace import forest_trace
from benchmarks.individual import individual_losses
from benchmarks.synthetic import TABLE_1, synthetic
from dpviz.learners import FitRequest, fit, get_learner
from dpviz.privacy.leaf_labels import SmoothMajority
from dpviz.privacy.source import Simulation
from dpviz.results.result import score
from dpviz.table.dataset import EncodedDataset
from dpviz.training.counted_rows import counter_of
from dpviz.training.forests import ForestShape, fit_packed, theorem_2_depth

if TYPE_CHECKING:
    import pandas as pd

DEPTH = 4
TEST_SHARE = 0.2
PRIVATREE_DATA = ("adult", "compas-two-years")
PRIVATREE_LEARNERS = ("pf-tree", "privatree", "privatree-corrected", "bdpt", "diffprivlib-tree", "cart")
PRIVATREE_EPSILONS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Sixths of epsilon for quantiles, nodes and leaves.
SIXTHS = tuple((q, n, 6 - q - n) for q in range(1, 5) for n in range(1, 6 - q))
#: Of the paper's two tables for this figure, vote is at hand: (epsilons, depth, least number of runs), the paper's own.
DIVIDED = {"vote": ((0.1,), 3, 50), "compas-two-years": ((0.01, 0.1, 1.0), DEPTH, 1)}
TREES = (1, 3, 10, 30, 100, 300)
TREE_EPSILONS = (0.2, 1.0)
ROWS = (3_000, 30_000, 300_000, 3_000_000)
ROW_EPSILONS = (0.01, 0.1, 1.0)
ADULT_EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
#: Of all rows, sorted by what they lose.
ROWS_SORTED = {"least": 0.0, "10% of rows": 0.1, "25%": 0.25, "50%": 0.5, "75%": 0.75, "90%": 0.9, "most": 1.0}
#: As good as no noise on labels: the paper's non-private version of its own forest.
NO_NOISE = 1000.0
#: No tree that is scored is deeper, as on the page about forests.
MAX_DEPTH = 12
FOREST_TREES = 100


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve: mean over `n` runs and its standard error. `x` is a number, or shares as text."""

    figure: str
    data: str
    series: str
    x: float | str
    what: str
    mean: float
    error: float
    n: int


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are and how often."""
    add_data(parser)
    add_repeats(parser, 20, "runs per point, a fifth for forests")


def measure(args: Namespace) -> pd.DataFrame:
    """A line per `Point`, with its columns. All tables of the figures are measured, whatever `--only` says."""
    import pandas as pd

    return pd.DataFrame(list(map(asdict, points(args.data, args.repeats))))


def point(figure: str, data: str, series: str, x: float | str, what: str, run: Callable[[int], float], n: int) -> Point:
    """The mean of `run(seed)` over n seeds."""
    values = np.array([run(seed) for seed in range(n)])
    error = float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return Point(figure, data, series, x, what, float(values.mean()), error, n)


def points(folder: Path, runs: int) -> Iterator[Point]:
    """All of them, cheap ones first; forests with a fifth of the runs, at least two."""
    few = max(2, runs // 5)
    tables = dict(bench_data(folder, [*{*PRIVATREE_DATA, *DIVIDED}, "adult_train"]))
    for _, abalone in boosting_data(folder, ["Abalone"]):
        yield from sgbdt_figure_3(abalone, runs)
    yield from figure_5b(few)
    yield from forest_figure_10(tables["adult_train"], few)
    for name in PRIVATREE_DATA:
        yield from privatree_figure_1(name, tables[name], runs)
    for name in DIVIDED:
        yield from privatree_figure_2(name, tables[name], runs)
    yield from figures_7_and_8(few)
    yield from forest_figure_9(few)


def privatree_figure_1(name: str, data: EncodedDataset, runs: int) -> Iterator[Point]:
    """Test accuracy over random splits."""
    for learner in PRIVATREE_LEARNERS:
        for epsilon in PRIVATREE_EPSILONS if get_learner(learner).spends_epsilon else (math.inf,):
            run = partial(_held_out, learner, data, min(epsilon, 1.0))
            yield point("PrivaTree 1", name, get_learner(learner).title, epsilon, "test accuracy", run, runs)


def _held_out(learner: str, data: EncodedDataset, epsilon: float, seed: int, **asked: Any) -> float:
    train, test = data.split(TEST_SHARE, seed=seed)
    request = FitRequest.of(learner, epsilon=epsilon, seed=seed, **({"max_depth": DEPTH} | asked))
    return score(request.fit(train).model, test)


def privatree_figure_2(name: str, data: EncodedDataset, runs: int) -> Iterator[Point]:
    """Training accuracy by how epsilon is divided; the paper's own rule comes last."""
    epsilons, depth, least = DIVIDED[name]

    def run(epsilon: float, shares: tuple[float, ...] | None, seed: int) -> float:
        return score(fit("privatree", data, epsilon=epsilon, max_depth=depth, seed=seed, shares=shares).model, data)

    for epsilon in epsilons:
        for parts in (*SIXTHS, None):
            shares = None if parts is None else tuple(map(float, parts))
            x = "its rule" if parts is None else f"{parts[0]}/6, {parts[1]}/6, {parts[2]}/6"
            series, of = f"epsilon {epsilon:g}, depth {depth}", partial(run, epsilon, shares)
            yield point("PrivaTree 2", name, series, x, "training accuracy", of, max(runs, least))


def figure_5b(runs: int) -> Iterator[Point]:
    """Mean of e^(-j eps) over leaves with rows, j being the lead of the largest class, eps what a tree has."""

    def run(name: str, disjoint: bool, seed: int) -> float:
        data, shape = synthetic(name, seed=0), ForestShape(FOREST_TREES, min(8, theorem_2_depth(_schema(name))), disjoint)
        epsilon = 1.0 if disjoint else 1 / FOREST_TREES
        *_, found = fit_packed(counter_of(data), shape, SmoothMajority(epsilon), Simulation(seed))
        ordered = np.sort(found[found.any(axis=1)], axis=1)
        return float(np.exp(-epsilon * (ordered[:, -1] - ordered[:, -2])).mean())

    for name, disjoint in product(TABLE_1, (True, False)):
        series = "disjoint rows" if disjoint else "shared rows"
        yield point("forest 5b", name, series, float(FOREST_TREES), "smooth sensitivity", partial(run, name, disjoint), runs)


def _schema(name: str) -> Any:
    return synthetic(name, seed=0, n_rows=200).schema


def figures_7_and_8(runs: int) -> Iterator[Point]:
    """Accuracy at two epsilons, and flipped labels at 1, against the number of trees."""
    for name in TABLE_1:
        data = synthetic(name, seed=0)
        for epsilon, trees in product(TREE_EPSILONS, TREES):
            run = partial(_forest, data, epsilon, trees)
            yield point("forest 7", name, f"epsilon {epsilon:g}", float(trees), "test accuracy", run, runs)
        for trees in TREES:
            yield point("forest 8", name, "epsilon 1", float(trees), "flipped labels", partial(_flipped_share, data, trees), runs)


def _forest(data: EncodedDataset, epsilon: float, trees: int, seed: int) -> float:
    asked = {"max_depth": MAX_DEPTH, "trees": trees, "publishable": False}
    return _held_out("smooth-forest", data, epsilon, seed, **asked)


def _flipped_share(data: EncodedDataset, trees: int, seed: int) -> float:
    shape = ForestShape(trees, min(MAX_DEPTH, theorem_2_depth(data.schema)), disjoint=True)
    return forest_trace(data, shape, SmoothMajority(1.0), Simulation(seed)).flipped_share


def forest_figure_9(runs: int) -> Iterator[Point]:
    """SynthF with fewer and more rows."""
    for rows in ROWS:
        data = synthetic("SynthF", seed=0, n_rows=rows)
        for epsilon in ROW_EPSILONS:
            run = partial(_forest, data, epsilon, FOREST_TREES)
            yield point("forest 9", "SynthF", f"epsilon {epsilon:g}", float(rows), "test accuracy", run, runs)


def forest_figure_10(data: EncodedDataset, runs: int) -> Iterator[Point]:
    """Adult: the smooth forest, the sound one beside it, the same without noise, and an ordinary random forest."""
    forests: tuple[tuple[str, str, tuple[float, ...], dict[str, Any]], ...] = (
        ("smooth forest", "smooth-forest", (*ADULT_EPSILONS, NO_NOISE), {"publishable": False}),
        ("PF-forest", "pf-forest", ADULT_EPSILONS, {}),
        ("PF-forest, 100 trees", "pf-forest", ADULT_EPSILONS, {"trees": FOREST_TREES}),
        ("random forest", "random-forest", (1.0,), {}),
    )
    for title, learner, epsilons, given in forests:
        for epsilon in epsilons:
            run = partial(_held_out, learner, data, epsilon, max_depth=MAX_DEPTH, **given)
            spends = get_learner(learner).spends_epsilon
            yield point("forest 10", "Adult", title, epsilon if spends else math.inf, "test accuracy", run, runs)


def sgbdt_figure_3(data: EncodedDataset, runs: int) -> Iterator[Point]:
    """Individual losses at epsilon 1, all rows in every round: sorted, and their mean."""

    @cache
    def losses(seed: int) -> dict[str, np.ndarray]:
        train, _ = data.split(TEST_SHARE, seed=seed)
        fitted = fit("s-gbdt-published", train, epsilon=1.0, delta=DELTA, sampling=1.0, extra_rounds=EXTRA_ROUNDS, seed=seed)
        names = ("no filter", f"filter, {EXTRA_ROUNDS} extra rounds")
        return {name: individual_losses(fitted, train, filtered=bool(place)) for place, name in enumerate(names)}

    def run(series: str, x: str, seed: int) -> float:
        found = losses(seed)[series]
        return float(found.mean() if x == "mean" else np.quantile(found, ROWS_SORTED[x]))

    for series, x in product(losses(0), (*ROWS_SORTED, "mean")):
        yield point("S-GBDT 3", "abalone", series, x, "individual epsilon", partial(run, series, x), runs)
