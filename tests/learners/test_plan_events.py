"""A plan's event is all that may be done to a row: no ledger of a fit costs more, for one row and for several."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpviz.accounting.costs import cost_of
from dpviz.accounting.guarantee import guarantee
from dpviz.accounting.profile import Group, profile
from dpviz.accounting.risk import Risk
from dpviz.learners import FitRequest, registry
from tests.support.numbers import rows_of
from tests.support.tables import schema_of, table

#: Beside the usual parameters.
MORE = {
    "pf-tree": ({"leaves": "labels"}, {"lookahead": "1"}, {"test_share": 0.2}, {"depth": 3}),
    "s-gbdt": ({"histogram_share": 0.0, "rounds": 6},),
    "s-gbdt-published": ({"filter": False, "rounds": 4}, {"sampling": 1.0, "rounds": 4}),
    "dpboost": ({"trees": 3, "ensembles": 2},),
    "privatree": ({"grow_complete": True},),
    "smooth-forest": ({"smooth": False, "trees": 3}, {"smooth": False, "trees": 3, "disjoint": False}),
    "pf-forest": ({"trees": 3, "disjoint": False},),
    "rgv-forest": ({"trees": 1},),
}
SMALL = {"s-gbdt": {"rounds": 6}, "s-gbdt-published": {"rounds": 4}, "rgv-forest": {"trees": 3}, "smooth-forest": {"trees": 3}}
#: Stop by noisy counts of the rows.
STOP_EARLY = ("fs-tree",)
CASES = [
    (name, {**SMALL.get(name, {}), **given}, n_classes)
    for name, spec in registry().items()
    for given in ({}, {"test_share": 0.1}, *MORE.get(name, ()))
    for n_classes in (2, 7, 0)  # 0: a number
    if spec.spends_epsilon and ("classes" if n_classes else "number") in spec.tasks
    if n_classes or "leaves" not in given  # shares of rows of a class
]


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in CASES))
def test_no_ledger_is_above_its_plan(name):
    n_cheaper = sum(cheaper_ledgers(name, given, n_classes) for learner, given, n_classes in CASES if learner == name)
    assert n_cheaper or name not in STOP_EARLY


def cheaper_ledgers(name, given, n_classes):
    """How many ledgers differ from the plan; no profile of one is above the plan's."""
    request = FitRequest.of(name, epsilon=1.0, max_depth=3, seed=3, **given)
    fits = [request.fit(rows_of("mixed", n_classes, n_rows)) for n_rows in (60, 0, 1)]
    planned = request.plan(fits[0].schema).event()
    loss, costs = guarantee(planned), cost_of(planned)
    seen = [costs]
    for result in fits:
        spent = result.ledger.guarantee
        assert spent.epsilon <= loss.epsilon
        assert spent.delta <= loss.delta
        if name not in STOP_EARLY and result.claim.verdict == "holds":
            assert (spent.epsilon, spent.delta) == (loss.epsilon, loss.delta)
        own = cost_of(result.ledger.event)
        if not math.isfinite(loss.epsilon) or result.claim.verdict != "holds" or own in seen:
            continue
        seen.append(own)
        for group in (Group(1), Group(3), Group(1, 3)):
            above, below = profile(costs, group), profile(own, group)
            for loss_at in np.linspace(0, 2, 9):
                assert below.at(loss_at) <= above.at(loss_at) + 1e-6
                assert below.of_absence.at(loss_at) <= above.of_absence.at(loss_at) + 1e-6
    return len(seen) - 1


def test_the_risk_of_a_result_is_that_of_its_plan_whatever_the_rows_stopped():
    schema = schema_of("mixed")
    request = FitRequest.of("fs-tree", epsilon=1.0, max_depth=4, seed=0)
    result = request.fit(table(schema, 12))
    assert result.ledger.guarantee.epsilon < 0.9 < result.guarantee.epsilon <= 1.0
    assert result.risk.guesses() == request.risk(schema).guesses() > Risk(result.ledger.event).guesses()
