"""RGV: every tree spends epsilon again, and it says what it does not protect."""

from __future__ import annotations

from math import isqrt

import pytest

import dpviz
from tests.support.tables import schema_of, table


def test_its_trees_add_up_against_adding_or_removing_a_row() -> None:
    result = dpviz.fit("rgv-forest", table(schema_of()), epsilon=0.5, seed=1, trees=7, depth=2)
    assert result.ledger.guarantee.epsilon == pytest.approx(3.5)
    assert result.claim.verdict == "violated"
    assert "not whether it is there" in result.claim.because
    assert "weaker definition" in result.claim.source


def test_a_single_tree_keeps_its_epsilon() -> None:
    result = dpviz.fit("rgv-forest", table(schema_of()), epsilon=0.5, seed=1, trees=1, depth=2)
    assert result.claim.verdict == "holds"
    assert result.ledger.guarantee.epsilon <= 0.5


def test_every_node_looks_at_some_features_only() -> None:
    data = table(schema_of("mixed"), 500)
    model = dpviz.fit("rgv-forest", data, epsilon=1e5, seed=1, trees=40, depth=1).model
    features = {tree.root.rule.feature for tree in model.trees}
    assert len(features) > isqrt(4)  # without noise, one feature would be best everywhere


def test_its_trees_vote() -> None:
    data = table(schema_of("numbers", 3), 2000)
    model = dpviz.fit("rgv-forest", data, epsilon=1.0, seed=1, trees=25).model
    assert len(model.trees) == 25
    assert (model.votes(data).sum(axis=1) == 25).all()
    assert (model.predict(data) == data.target).mean() > 0.7
