"""Fits of which promises are asked: models of many trees with a few of them, and each fit that is only read made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import dpviz
from dpviz.accounting.events import GaussianRounds, walk
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.training.params import Control
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


def other_values(control: Control, default: Any, n_classes: int = 2) -> list[Any]:
    """Values of a parameter that are not its default."""
    match control.kind:
        case "flag":
            values = [not default]
        case "choice":
            values = list(control.options)
        case "shares":
            values = [(3.0, 1.0, 2.5)[: len(control.parts) or 3]]
        case "classes":
            values = [(9.0, *[1.0] * (n_classes - 1))]
        case "whole":
            values = [int(control.low) + 1, default + 3]
        case _:
            values = [default * 0.3, default + 0.2, default + 30]
    return [value for value in values if value != default and control.accepts(value)]


def rounds_of(result: FitResult) -> GaussianRounds:
    """The one step of a fit that is rounds of Gaussian noise."""
    (cost,) = (step.cost for _, step in walk(result.ledger.event) if isinstance(step.cost, GaussianRounds))
    return cost
