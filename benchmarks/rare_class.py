"""A class that 17 in 1,000 rows have, as in fraud: how well a private tree ranks, without and with declared class weights.

The rows are simulated, so the best ranking there can be is known: that by the true probability.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.boosting.measure import Mean
from benchmarks.numbers import means_of, with_error
from dpviz.evaluation.measures import auc
from dpviz.learners import fit
from dpviz.randomness import child_seeds, generator
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.estimate.report import ClassReport

N_ROWS, N_TEST, DRAWS = 50_000, 200_000, 15
EPSILONS = (0.1, 0.5, 1.0, 3.0)
WEIGHTS = (1.0, 65.0)
#: Name of the column -> what is asked.
ASKED: dict[str, dict[str, Any]] = {
    "no weights": {"max_depth": 4},
    "weights (1, 65)": {"class_weights": WEIGHTS, "max_depth": 4},
    "weights, depth at most 3": {"class_weights": WEIGHTS, "max_depth": 3},
}
_SCHEMA = Schema(
    (
        *(NumericFeature(f"x{place}", -4.0, 4.0) for place in range(1, 5)),
        *(CategoricalFeature(f"c{place}", ("a", "b", "c", "d")) for place in (1, 2)),
    ),
    ClassTarget("event", ("no", "yes")),
    n_public=N_ROWS,
)


def rare_rows(n_rows: int, *, seed: int) -> tuple[EncodedDataset, np.ndarray]:
    """Simulated rows, and the true probability of "yes" of each. Half of the features say nothing."""
    rng = generator(seed)
    numbers = [rng.normal(0, 1, n_rows) for _ in range(4)]
    kinds = [rng.integers(0, 4, n_rows) for _ in range(2)]
    chance = 1 / (1 + np.exp(4.45 - 0.5 * numbers[0] - 0.5 * (numbers[1] > 0.8) - 0.4 * (kinds[0] == 2)))
    target = (rng.random(n_rows) < chance).astype(np.uint8)
    columns = [np.clip(column, -4, 4) for column in numbers] + [column.astype(np.uint8) for column in kinds]
    return EncodedDataset(_SCHEMA, tuple(columns), target), chance


@dataclass(frozen=True, slots=True)
class Ranked:
    """By what was asked: mean AUC on new rows, half the mean width of its private interval, and standard errors over draws."""

    epsilon: float
    found: dict[str, tuple[Mean, Mean]]


def rank(epsilon: float, train: EncodedDataset, test: EncodedDataset, draws: int = DRAWS) -> Ranked:
    """Fits with `draws` seeds each."""
    return Ranked(epsilon, {name: _mean(epsilon, train, test, draws, asked) for name, asked in ASKED.items()})


def _mean(epsilon: float, train: EncodedDataset, test: EncodedDataset, draws: int, asked: dict[str, Any]) -> tuple[Mean, Mean]:
    figures = []
    for place, seed in enumerate(child_seeds(3, draws)):
        result = fit("pf-tree", train, epsilon=epsilon, seed=seed, **asked)
        assert isinstance(result.test_report, ClassReport)
        estimate = result.test_report.auc
        assert estimate is not None
        figures.append((place, (auc(test.target, result.model.predict_proba(test)), (estimate.high - estimate.low) / 2)))
    area, width = means_of(figures)
    return area, width


def rare_section(epsilons: Iterable[float] = EPSILONS) -> str:
    """The section of the page, measured now."""
    train, (test, chance) = rare_rows(N_ROWS, seed=0)[0].with_cached_counts(), rare_rows(N_TEST, seed=1)
    best = auc(test.target, np.stack([1 - chance, chance], axis=1))
    ordinary = fit("cart", train, epsilon=1.0, max_depth=4, seed=0).model
    rows = "\n".join(_row(rank(epsilon, train, test)) for epsilon in epsilons)
    cart = auc(test.target, ordinary.predict_proba(test))
    return (
        f"## A rare class\n\n{N_ROWS:,} simulated rows, {train.target.mean():.1%} of them positive; {DRAWS} draws, AUC on "
        f"{N_TEST:,} new rows ± standard error over draws. The true probability\nreaches {best:.3f}, the ordinary tree of depth "
        f"4 {cart:.3f}. Without "
        "weights the trees mostly say one class everywhere, which\naccuracy would not show. In brackets: half the mean width of "
        "the private test's interval, ± its standard error.\n\n"
        f"| ε | {' | '.join(ASKED)} |\n|{'---|' * (len(ASKED) + 1)}\n{rows}\n"
    )


def _row(line: Ranked) -> str:
    return f"| {line.epsilon:g} | {' | '.join('{} ({})'.format(*map(with_error, cell)) for cell in line.found.values())} |"
