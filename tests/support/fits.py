"""Fits of which promises are asked: models of many trees with a few of them, and each fit that is only read made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import dpviz
from dpviz.accounting.events import GaussianRounds, walk
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from tests.support.tables import schema_of, table

#: Of many trees these many are enough to see a promise; cases at full size take as many as a user gets.
FEW: dict[str, dict[str, Any]] = {
    "dpboost": {"trees": 4},
    "gbdt": {"trees": 5},
    "jpw-forest": {"trees": 4},
    "pf-forest": {"trees": 5},
    "random-forest": {"trees": 5},
    "rgv-forest": {"trees": 5},
    "s-gbdt": {"rounds": 6},
    "s-gbdt-published": {"rounds": 5, "extra_rounds": 1},
    "smooth-forest": {"trees": 12},
}


def fit(name: str, data: EncodedDataset, **asked: Any) -> FitResult:
    """A learner with few trees at epsilon 1, depth at most 3, seed 7, or as asked."""
    return dpviz.fit(name, data, **({"epsilon": 1.0, "max_depth": 3, "seed": 7} | FEW.get(name, {}) | asked))


@cache
def fitted(name: str, kind: str = "mixed", n_classes: int = 2, n_rows: int = 120, **asked: Any) -> FitResult:
    """The same on rows of `schema_of(kind, n_classes)`: one result for all who only read it."""
    return fit(name, table(schema_of(kind, n_classes), n_rows), **asked)


def rounds_of(result: FitResult) -> GaussianRounds:
    """The one step of a fit that is rounds of Gaussian noise."""
    (cost,) = (step.cost for _, step in walk(result.ledger.event) if isinstance(step.cost, GaussianRounds))
    return cost
