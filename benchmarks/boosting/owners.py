"""Several owners boosting together (Algorithm 9) beside one trainer who has all rows and starts from 0 as they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks.boosting.entrants import MAX_DEPTH
from benchmarks.boosting.measure import DELTA, Plan, mean_of
from benchmarks.page import markdown_table
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.compare.metrics import metrics
from dpviz.learners import fit
from dpviz.models.base import Model
from dpviz.owners.federated import train_federated
from dpviz.randomness import seed_from
from dpviz.table.dataset import EncodedDataset

EPSILON = 0.54
#: The tables it is measured on.
OWNED = ("Abalone",)


@dataclass(frozen=True, slots=True)
class Case:
    """How many owners (1: a trainer with all rows), how many may collude, and the tree at which one goes (None: nobody)."""

    owners: int
    colluding: int = 0
    leaves_at: int | None = None

    @property
    def words(self) -> str:
        """For a table."""
        if self.owners == 1:
            return "one trainer"
        colluding = f", {self.colluding} may collude" if self.colluding else ""
        return f"{self.owners} owners{colluding}{'' if self.leaves_at is None else f', one goes at tree {self.leaves_at + 1}'}"


CASES = (Case(1), Case(2), Case(5), Case(5, colluding=2), Case(5, leaves_at=128))


@dataclass(frozen=True, slots=True)
class Owned:
    """One training on one fold: R² or accuracy, seconds by the clock, and void rounds."""

    case: Case
    fold: int
    score: float
    seconds: float
    void: int


def measure_owners(data: EncodedDataset, plan: Plan) -> list[Owned]:
    """Every case on every fold; owners hold random parts of equal size."""
    return [_train(case, fold, *pair) for case in CASES for fold, pair in enumerate(data.folds(plan.folds, seed=0))]


def _train(case: Case, fold: int, train: EncodedDataset, test: EncodedDataset) -> Owned:
    seed, started = seed_from(fold, 0), perf_counter()
    model, void = _alone(train, seed) if case.owners == 1 else _together(case, train, seed)
    seconds, found = perf_counter() - started, metrics(model, train, test)
    return Owned(case, fold, found["r2"] if "r2" in found else found["accuracy"], seconds, void)


def _alone(train: EncodedDataset, seed: int) -> tuple[Model, int]:
    asked = {"epsilon": EPSILON, "delta": DELTA, "seed": seed, "initial_share": 0.0, "histogram_share": 0.0}
    return fit("s-gbdt", train, max_depth=MAX_DEPTH, **asked).model, 0  # type: ignore[arg-type]


def _together(case: Case, train: EncodedDataset, seed: int) -> tuple[Model, int]:
    parts = [train.take(np.arange(owner, train.n_rows, case.owners), share=1 / case.owners) for owner in range(case.owners)]
    result = train_federated(
        parts,
        epsilon=EPSILON,
        delta=DELTA,
        max_depth=MAX_DEPTH,
        public_seed=seed,
        seed=seed,
        colluding=case.colluding,
        leaving={} if case.leaves_at is None else {0: case.leaves_at},
    )
    return result.model, len(result.void)


def owners_part(name: str, found: Sequence[Owned]) -> str:
    """The part of the page about one table; empty without measurements."""
    if not found:
        return ""
    rows = []
    for case in dict.fromkeys(row.case for row in found):
        here = [row for row in found if row.case == case]
        score, seconds, void = (
            mean_of([(row.fold, getattr(row, what)) for row in here]) for what in ("score", "seconds", "void")
        )
        rows.append([case.words, score.text(3), seconds.text(1), void.text(1)])
    words = (
        f"At epsilon {EPSILON:g} ({NEIGHBOURS}). Every owner is a process of its own, sees only its rows, and sends masked noisy "
        "sums; the model follows the law of one trainer who starts from 0 and cuts declared ranges as they do. Where owners may "
        "collude, the others' noise covers for theirs. An owner who goes voids one round and takes its rows along."
    )
    table = markdown_table(["who trains", "R²", "seconds", "void rounds"], rows)
    return f"## {name}: several owners (Algorithm 9)\n\n{words}\n\n{table}"
