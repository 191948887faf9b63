"""DPBoost: its budget over ensembles, levels and leaves; its switches; that it learns where there is budget."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.learners.published.boosted.dpboost import Params, _Boosting, plan
from dpviz.training.boosting.loss import loss_of
from dpviz.training.params import Settings
from tests.support.prices import classes, prices
from tests.support.recording import Recording


def fit(data, epsilon=5.0, seed=3, **asked):
    return dpviz.fit("dpboost", data, epsilon=epsilon, seed=seed, **({"max_depth": 3, "ridge": 20} | asked))


@pytest.mark.parametrize("make", [prices, classes])
def test_it_learns_with_much_budget(make):
    assert fit(make(4000), 30.0).score(make(seed=2)) > 0.55


def test_more_classes_get_as_many_trees_each():
    result = fit(classes(300, n_classes=3), trees=10)
    assert result.model.splits.n_trees == 12
    assert [share.part for share in result.plan.shares] == ["node", "node", "node", "leaf"]


def test_the_switches_change_what_is_trained_and_not_what_it_costs():
    usual = fit(prices(400), 2.0)
    for asked in ({"filter": True}, {"leaf_clipping": True, "learning_rate": 0.3}, {"clip": 1.0}, {"ridge": 0.0}):
        other = fit(prices(400), 2.0, **asked)
        assert other.model != usual.model
        assert other.ledger.guarantee == usual.ledger.guarantee


def test_geometric_limits_bound_the_leaves_of_late_trees():
    asked = {"leaf_clipping": True, "learning_rate": 0.5, "trees": 12, "clip": 1.0}
    model = fit(prices(3000), 1e5, **asked).model
    leaves_of = model.splits.tree[model.splits.leaves]
    half = 40.0
    for tree in range(12):
        limit = half * 0.5 * 1.0 * 0.5**tree
        assert np.abs(model.values[leaves_of == tree]).max() <= limit * 1.02


def test_noise_covers_a_leaf_that_goes_from_one_end_of_a_close_limit_to_the_other():
    data = prices(10)
    asked = Params(leaf_clipping=True, learning_rate=0.9, ridge=0.0, clip=1.0)
    source = Recording(1)
    boosting = _Boosting(data, loss_of(data.schema, newton=False), 0.0, plan(data.schema, Settings(), asked), asked, source)
    boosting.values = [np.zeros(1)]  # one tree came before
    before, after = np.array([-0.15, -0.15]), np.array([-0.15, -0.15, 1.0])
    for gradients in (before, after):
        boosting._leaf_means([gradients], 1.0)
    (first, low, _), (second, high, _) = source.draws
    assert abs(high - low) == pytest.approx([0.2])
    assert first.l1 == second.l1 == pytest.approx(0.2)


def test_a_row_above_the_limit_leaves_the_tree_when_filtered():
    data = classes(400)
    result = fit(data, 1e5, filter=True, clip=0.3, trees=1, initial_share=0)  # every gradient is one half
    np.testing.assert_allclose(result.model.values, 0, atol=1e-3)
    cut = fit(data, 1e5, filter=False, clip=0.3, trees=1, initial_share=0)
    assert np.abs(cut.model.values).max() > 0.05
