"""Several owners boosting together (Algorithm 9) beside one trainer who has all rows and starts from 0 as they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.boosting.entrants import MAX_DEPTH
from benchmarks.boosting.measure import DELTA, Plan, mean_of
from benchmarks.page import markdown_table
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.compare.metrics import metrics
from dpviz.learners import fit
from dpviz.owners.federated import train_federated
from dpviz.randomness import seed_from
from dpviz.table.dataset import EncodedDataset

EPSILON = 0.54
#: The tables it is measured on.
OWNED = ("Abalone",)


#: How many owners; 1 is a trainer with all rows who starts from 0 as owners do.
OWNERS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Owned:
    """One training on one fold: R² or accuracy."""

    owners: int
    fold: int
    score: float


def measure_owners(data: EncodedDataset, plan: Plan) -> list[Owned]:
    """Every number of owners on every fold; owners hold random parts of equal size."""
    folds = list(enumerate(data.folds(plan.folds, seed=0)))
    return [_train(owners, fold, *pair) for owners in OWNERS for fold, pair in folds]


def _train(owners: int, fold: int, train: EncodedDataset, test: EncodedDataset) -> Owned:
    seed = seed_from(fold, 0)
    asked: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "max_depth": MAX_DEPTH, "seed": seed}
    if owners == 1:
        model = fit("s-gbdt-published", train, initial_share=0.0, **asked).model
    else:
        parts = [train.take(np.arange(owner, train.n_rows, owners), share=1 / owners) for owner in range(owners)]
        model = train_federated(parts, public_seed=seed, **asked).model
    found = metrics(model, train, test)
    return Owned(owners, fold, found["r2"] if "r2" in found else found["accuracy"])


def owners_part(name: str, found: Sequence[Owned]) -> str:
    """The part of the page about one table; empty without measurements."""
    if not found:
        return ""
    rows = []
    for owners in dict.fromkeys(row.owners for row in found):
        score = mean_of([(row.fold, row.score) for row in found if row.owners == owners])
        rows.append(["one trainer" if owners == 1 else f"{owners} owners", score.text(3)])
    words = (
        f"At epsilon {EPSILON:g} ({NEIGHBOURS}), `s-gbdt-published` started from 0. Every owner releases a tree's leaves from "
        "its own rows, with the whole noise; the model holds the means. Nobody trusts anybody; more owners mean more noise."
    )
    return f"## {name}: several owners (Algorithm 9)\n\n{words}\n\n{markdown_table(['who trains', 'R²'], rows)}"
