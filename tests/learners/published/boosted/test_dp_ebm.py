"""DP-EBM: there only where its package is, asked for what the schema declares, its curves taken over as they are.

A stand-in with the package's interface takes its place, so these tests run everywhere.
"""

from __future__ import annotations

import importlib.machinery
import json
import sys
import types

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import Approximate
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import DpvizError, NotReleasable, SchemaError
from dpviz.learners import declared, registry
from dpviz.learners.published.boosted.dp_ebm import LEARNER
from dpviz.table.dataset import EncodedDataset
from tests.contract.tables import schema_of, table


class StandIn:
    """What DPExplainableBoostingClassifier is asked and what it leaves: two bins per number, one category never met."""

    last = None

    def __init__(self, **asked) -> None:
        self.asked = asked
        StandIn.last = self

    def fit(self, x, y):
        self.x, self.y = x, y
        self.bins_, self.term_scores_, self.term_features_ = [], [], []
        for k, kind in enumerate(self.asked["feature_types"]):
            met = {str(code): code + 1 for code in range(int(x[:, k].max()))}
            self.bins_.append([np.array([x[:, k].mean()])] if kind == "continuous" else [met])
            size = 2 if kind == "continuous" else len(met)
            self.term_scores_.append(np.array([99.0, *(10 * k + np.arange(size)), -1.0 - k]))
            self.term_features_.append((k,))
        self.intercept_ = np.array([0.5 + self.asked["random_state"] % 7])
        return self


@pytest.fixture
def learner(monkeypatch):
    """The registry as it is where the package is installed."""
    package, privacy = types.ModuleType("interpret"), types.ModuleType("interpret.privacy")
    package.__spec__ = importlib.machinery.ModuleSpec("interpret", None)
    privacy.DPExplainableBoostingClassifier = StandIn
    monkeypatch.setitem(sys.modules, "interpret", package)
    monkeypatch.setitem(sys.modules, "interpret.privacy", privacy)
    registry.cache_clear()
    yield LEARNER
    monkeypatch.undo()
    registry.cache_clear()


def test_it_is_a_learner_only_where_its_package_is(monkeypatch):
    monkeypatch.setattr("dpviz.learners.catalogue.find_spec", lambda name: None)
    registry.cache_clear()
    try:
        assert "dp-ebm" not in registry()
        assert LEARNER in declared()
    finally:
        monkeypatch.undo()
        registry.cache_clear()


def test_where_it_is_it_can_be_fitted_by_name(learner):
    assert "dp-ebm" in dpviz.learner_names()
    data = table(schema_of("mixed"), 60)
    result = dpviz.fit("dp-ebm", data, epsilon=0.5, seed=1)
    assert dpviz.model_from_json(result.to_json()) == result.model
    assert json.loads(result.to_json())["privacy"]["guarantee"] == {"epsilon": 0.5, "delta": 1e-5}


def test_the_package_is_told_what_is_declared_and_no_more(learner):
    data = table(schema_of("mixed"), 60)
    dpviz.fit("dp-ebm", data, epsilon=0.5, delta=1e-7, seed=1, rounds=20, bins=8)
    asked = dict(StandIn.last.asked)
    assert isinstance(asked.pop("random_state"), int)
    assert asked == {
        "feature_types": ["continuous", "nominal", "continuous", "nominal"],
        "privacy_bounds": {0: (-2.5, 7.5), 2: (0.0, 90.0)},
        "epsilon": 0.5,
        "delta": 1e-7,
        "max_rounds": 20,
        "max_bins": 8,
        "n_jobs": 1,
    }
    assert sorted(map(tuple, StandIn.last.x)) == sorted(zip(*(column.astype(float) for column in data.columns), strict=True))


def test_its_curves_are_taken_over(learner):
    data = table(schema_of("mixed"), 60)
    model = dpviz.fit("dp-ebm", data, epsilon=0.5, seed=1).model
    met = int(data.columns[1].max())
    assert model.cuts[0] == (pytest.approx(data.columns[0].mean()),)
    assert model.values[0] == (0.0, 1.0)
    assert model.values[1] == (*(10.0 + code for code in range(met)), *[-2.0] * (4 - met))  # never met: the package's "unknown"
    assert model.offset == StandIn.last.intercept_[0]


def test_epsilon_and_delta_are_shown_as_such_and_nothing_is_promised(learner):
    data = table(schema_of("numbers"), 60)
    result = dpviz.fit("dp-ebm", data, epsilon=0.5, delta=1e-7, seed=1)
    assert result.ledger.event == Approximate(0.5, 1e-7, "explainable boosting", "model")
    assert result.ledger.guarantee == PrivacyLoss(0.5, 1e-7)
    assert (result.claim.epsilon, result.claim.delta, result.claim.verdict) == (0.5, 1e-7, "unproven")
    assert [item.code for item in result.disclosures] == ["exact-row-count"]
    assert result.plan.notes == ("Delta = 1e-07.",)
    unasked = dpviz.fit("dp-ebm", data, epsilon=0.5, seed=1).plan
    assert (unasked.delta, unasked.notes) == (1e-5, ("Delta = 1e-05, its package's default; none was asked for.",))


def test_the_order_of_rows_does_not_matter_and_a_seed_repeats_it(learner, rng):
    data = table(schema_of("mixed"), 60)
    order = rng.permutation(60)
    shuffled = EncodedDataset(data.schema, tuple(column[order] for column in data.columns), data.target[order])
    first, again = (dpviz.fit("dp-ebm", rows, epsilon=0.5, seed=1).to_json() for rows in (data, shuffled))
    assert first == again
    assert len({dpviz.fit("dp-ebm", data, epsilon=0.5, seed=seed).model.offset for seed in range(10)}) > 1


def test_what_it_cannot_do_is_refused_by_name(learner):
    with pytest.raises(SchemaError, match="'dp-ebm' tells two classes apart, and there are 3"):
        dpviz.fit("dp-ebm", table(schema_of("mixed", 3)), epsilon=0.5, seed=1)
    data = table(schema_of("numbers"), 20)
    one_class = EncodedDataset(data.schema, data.columns, np.zeros(20, dtype=np.uint8))
    with pytest.raises(DpvizError, match="'dp-ebm' needs rows of both classes"):
        dpviz.fit("dp-ebm", one_class, epsilon=0.5, seed=1)
    with pytest.raises(NotReleasable, match="has no exact sampler"):
        dpviz.fit("dp-ebm", data, epsilon=0.5, seed=None, accept_rows=True)
