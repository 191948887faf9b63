"""DPBoost at the level its rivals print: what closes the gap and what does not, one change at a time.

Kirschte et al. 2023 take its best of many settings at each epsilon, on the rows it is tested on; `boosting` does so with a few.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.arguments import add_data, add_out
from benchmarks.boosting.entrants import OTHERS, RIVAL_BEST
from benchmarks.boosting.measure import TABLES, boosting_data, mean_of
from benchmarks.page import made_by, markdown_table, show_page
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.evaluation.measures import auc
from dpviz.learners import fit
from dpviz.learners.published.boosted import dpboost
from dpviz.models.base import Model
from dpviz.privacy.source import NoiseSource
from dpviz.randomness import generator, seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.boosting.loss import Loss

EPSILONS = (0.1, 1.0, 10.0)
#: What the paper says of it (Figures 1 and 4), by table and epsilon; its .12 stands at .1.
STATED = {"Adult": {0.1: "24.7% (at .12)", 1.0: "18.7%"}, "Abalone": {0.1: ".25", 10.0: ".39"}}
FOLDS, DEPTH = 5, 5
OLD: dict[str, Any] = {"trees": 20, "ridge": 200.0}
LI: dict[str, Any] = {"trees": 50, "learning_rate": 0.1, "ridge": 0.1, "clip": 1.0, "filter": True, "leaf_clipping": True}


def _from_log_odds() -> AbstractContextManager[Any]:
    """Classes start from the exact log-odds of their share, which costs nothing: a bound on what a private start could do."""

    def start(loss: Loss, target: np.ndarray, *_: Any) -> tuple[float, tuple[()]]:
        return loss.initial(float(loss.centred(target).mean())), ()

    return patch.object(dpboost, "initial_score", start)


def _falling_rows() -> AbstractContextManager[Any]:
    """Every tree has seven tenths of the rows of the one before, as with a learning rate of .3 in Algorithm 2 of Li et al."""

    def rows_to_trees(rows: EncodedDataset, n_trees: int, _: NoiseSource) -> np.ndarray:
        chances = 0.7 ** np.arange(n_trees)
        return generator(rows.n_rows).choice(n_trees, rows.n_rows, p=chances / chances.sum())

    return patch.object(dpboost, "rows_to_trees", rows_to_trees)


@dataclass(frozen=True, slots=True)
class Variant:
    """DPBoost with parameters under a title, or inside `changed`; `tables` it is measured on."""

    title: str
    params: dict[str, Any] = field(default_factory=dict)
    depth: int = DEPTH
    changed: Callable[[], AbstractContextManager[Any]] = nullcontext
    tables: tuple[str, ...] = tuple(TABLES)


VARIANTS = (
    Variant("the defaults"),
    Variant("20 trees, ridge 200", OLD),
    Variant("20 trees, ridge 200, from the log-odds", OLD, changed=_from_log_odds, tables=("Adult",)),
    Variant("from the log-odds", changed=_from_log_odds, tables=("Adult",)),
    Variant("one tree", {"trees": 1}),
    Variant("5 trees", {"trees": 5}),
    Variant("5 trees, learning rate .3", {"trees": 5, "learning_rate": 0.3}),
    Variant("the same, and every tree has fewer rows", {"trees": 5, "learning_rate": 0.3}, changed=_falling_rows),
    Variant("two ensembles", {"ensembles": 2}),
    Variant("depth 3", depth=3),
    Variant("a number weighs as much as a category", {"numeric_weight": 1.0}),
    Variant("a number weighs as much as 100 categories", {"numeric_weight": 100.0}),
    Variant("gradients filtered", {"filter": True}),
    Variant("no noisy start", {"initial_share": 0.0}, tables=("Abalone",)),
    Variant("50 trees and the settings of Li et al.", LI, depth=6),
)


def variants_of(data: str) -> list[Variant]:
    """Those of the table, and the settings among which `boosting` takes the best at each epsilon."""
    best = [Variant(", ".join(_told(e.max_depth, e.params)), e.params, e.max_depth) for e in OTHERS[RIVAL_BEST][data]]
    return [*(variant for variant in VARIANTS if data in variant.tables), *best]


def _told(depth: int, params: dict[str, Any]) -> list[str]:
    return [f"depth {depth}", *(f"{name.replace('_', ' ')} {value:g}" for name, value in params.items())]


def measure(data: EncodedDataset, variant: Variant, epsilon: float) -> list[tuple[int, tuple[float, ...]]]:
    """(fold, figures): R², or the error at one half, at the threshold that is best on the test rows, and AUC."""
    found = []
    for fold, (train, test) in enumerate(data.folds(FOLDS, seed=0)):
        with variant.changed():
            asked: dict[str, Any] = {"epsilon": epsilon, "max_depth": variant.depth, "seed": seed_from(fold, 0)}
            model = fit("dpboost", train, **asked, **variant.params).model
        found.append((fold, figures(model, test)))
    return found


def figures(model: Model, test: EncodedDataset) -> tuple[float, ...]:
    """As in `measure`, of one model."""
    if isinstance(test.schema.target, NumericTarget):
        return (1 - float(np.mean((model.predict(test) - test.target) ** 2) / np.var(test.target)),)
    shares = model.predict_proba(test)
    wrong = float(np.mean(model.predict(test) != test.target))
    return wrong, least_error(shares[:, 1], test.target), auc(test.target, shares)


def least_error(scores: np.ndarray, target: np.ndarray) -> float:
    """The smallest share of wrong classes over all thresholds."""
    order = np.argsort(-scores, kind="stable")
    positives = np.concatenate([[0], np.cumsum(target[order] == 1)])
    wrong = np.arange(len(target) + 1) - positives + (positives[-1] - positives)
    between = np.concatenate([[True], np.diff(scores[order]) != 0, [True]])
    return float(wrong[between].min() / len(target))


def rival_table(name: str, data: EncodedDataset) -> str:
    """The part of the page about one table."""
    is_number = isinstance(data.schema.target, NumericTarget)
    rows = []
    for variant in variants_of(name):
        cells = [_cell(measure(data, variant, epsilon), is_number) for epsilon in EPSILONS]
        rows.append([variant.title, *cells])
    stated = ["stated for its best of many settings", *(STATED[name].get(epsilon, "-") for epsilon in EPSILONS)]
    shows = "R²" if is_number else "error, at the best threshold, AUC"
    head = ["what is changed", *(f"{epsilon:g}: {shows}" for epsilon in EPSILONS)]
    return f"## {name}\n\n{markdown_table(head, [stated, *rows])}"


def _cell(found: Sequence[tuple[int, tuple[float, ...]]], is_number: bool) -> str:
    means = [mean_of([(fold, values[place]) for fold, values in found]) for place in range(len(found[0][1]))]
    digits, factors = (3, (1,)) if is_number else (1, (100, 100, 100))
    assert not any(math.isnan(mean.mean) for mean in means)
    return ", ".join(f"{f * mean.mean:.{digits}f} ± {f * mean.error:.{digits}f}" for mean, f in zip(means, factors, strict=True))


def add_arguments(parser: ArgumentParser) -> None:
    """Where the data are, and where to write."""
    add_data(parser, only="")
    add_out(parser, run_rival)


def run_rival(args: Namespace) -> int:
    """`dpboost`: measure, print, and write where --out says."""
    tables = []
    for name, data in boosting_data(args.data, None):
        console.doing(f"Measuring on {name}")
        tables.append(rival_table(name, data))
    return show_page("\n\n".join([_head(made_by()), *tables]) + "\n", args.out)


def _head(made: str) -> str:
    return f"""# DPBoost at its published level

Kirschte et al. 2023 compare with a DPBoost of their own tuning. {FOLDS}-fold cross-validation, one draw per fold, the folds of
[boosted trees](boosting.md); mean ± standard error over folds; epsilon for {NEIGHBOURS}; errors and AUC in percent. Depth {DEPTH}
where nothing else is said. The defaults were chosen on other tables (magic, electricity, bank-marketing,
default-of-credit-card-clients, loans; rents, and columns of california, magic, electricity and pendigits as targets). The
settings at the end of each table come from a random search on the same table with other folds: among these and the defaults
`boosting` takes the best at each epsilon on the rows it is tested on, as the paper does, which flatters them.

- *What closes the gap on Adult* is a start from even odds and few trees. Steps of one gradient from the log-odds of the classes
  leave all rows in the larger class, however well they are ranked; and the rows of many trees are too few to choose splits by.
- *What does not*: the weights of categories, geometrically falling rows, filtered gradients, the settings of Li et al.
- *The threshold.* Results that the authors released later give, beside accuracy at one half, that at the threshold which is best
  on the test rows. Whether the figures of the paper are such numbers it does not say; until 2026-11-22 our settings (20 trees,
  ridge 200, from the log-odds) reached the stated error there and nowhere else.
- *On Abalone* the stated numbers are within two standard errors of the best settings.

{made} Rerun: `python -m benchmarks dpboost --data DIR`."""
