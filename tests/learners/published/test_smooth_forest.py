"""The smooth random forest: its claim fails on small data sets, its ablations behave, its full depth is not written down."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpviz
from benchmarks.forest_trace import forest_trace
from dpviz.errors import DpvizError, NotReleasable
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verify import verify_each
from dpviz.learners.published import smooth_forest
from dpviz.models.hashed_forest import HashedForest
from dpviz.models.packed_forest import PackedForest
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema
from dpviz.training.forests.forest import ForestShape
from tests.support.tables import schema_of, table

#: A cap that the rule of a learner stays below is asked for on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.WithoutEffect")

UNIVERSE = Universe((2,), depth=1, max_rows=4)


@pytest.mark.parametrize("smooth", [True, False])
def test_neither_form_is_released(smooth: bool) -> None:
    with pytest.raises(NotReleasable, match="no exact sampler"):
        dpviz.fit("smooth-forest", table(schema_of("mixed"), 60), epsilon=1.0, trees=3, smooth=smooth, accept_rows=True)


def test_its_claim_fails_at_a_gap_of_one() -> None:
    (result,) = verify_each("smooth-forest", epsilon=1.0, universes=[UNIVERSE], trees=1)
    assert result.verdict == "violated"
    assert result.log_ratio > 6
    assert result.composed == math.inf


def test_with_the_global_sensitivity_it_holds() -> None:
    (result,) = verify_each("smooth-forest", epsilon=1.0, universes=[UNIVERSE], trees=1, smooth=False)
    assert result.verdict == "holds"
    assert 0 < result.log_ratio <= 1


def test_the_switch_changes_what_is_said() -> None:
    for smooth, verdict, finite in [(True, "violated", False), (False, "holds", True)]:
        result = dpviz.fit("smooth-forest", table(schema_of()), epsilon=0.5, seed=1, smooth=smooth)
        assert result.claim.verdict == verdict
        assert result.ledger.guarantee.is_finite is finite
        assert not finite or result.ledger.guarantee.epsilon == 0.5


def test_trees_that_share_rows_have_parts_of_epsilon() -> None:
    plan = dpviz.fit("smooth-forest", table(schema_of()), epsilon=0.5, seed=1, disjoint=False, trees=10).plan
    (share,) = plan.shares
    assert share.epsilon == pytest.approx(0.05)
    assert share.n_compositions == 10


def test_the_depth_follows_its_rule() -> None:
    for rule, depth in [("theorem 2", 4), ("half of the features", 2), ("all features", 4)]:
        result = dpviz.fit("smooth-forest", table(schema_of("mixed")), epsilon=1.0, max_depth=12, seed=1, depth_rule=rule)
        assert result.plan.depth == depth  # two numbers, two categories: 1 + 2 + 1


def test_smooth_labels_are_exact_with_many_rows_and_global_ones_hardly_better_than_a_coin() -> None:
    data = table(schema_of("numbers"), 6000)
    flips = []
    for smooth in (True, False):
        shape, rule = ForestShape(100, 2, disjoint=False), smooth_forest.label_rule(1.0, smooth)
        flips.append(forest_trace(data, shape, rule, Simulation(1)).flipped_share)
    assert flips[0] < 0.02
    assert 0.3 < flips[1] < 0.45  # 1 / (1 + exp(1/2)) = 0.378


class TestFullDepth:
    features = tuple(CategoricalFeature(f"c{i}", tuple(f"v{k}" for k in range(30))) for i in range(10))
    schema = Schema(features, ClassTarget("y", ("a", "b")), n_public=1000)

    def rows(self) -> EncodedDataset:
        rng = np.random.default_rng(1)
        columns = tuple(rng.integers(0, 30, 500).astype(np.uint8) for _ in self.features)
        return EncodedDataset(self.schema, columns, (columns[0] < 15).astype(np.uint8))

    @pytest.mark.slow
    def test_a_forest_of_millions_of_leaves_per_tree_predicts_and_is_not_written_down(self) -> None:
        data = self.rows()
        result = dpviz.fit("smooth-forest", data, epsilon=3.0, max_depth=12, seed=1, publishable=False)
        assert isinstance(result.model, HashedForest)
        assert result.plan.depth == 5
        assert result.model.predict(data).tolist() == result.model.predict(data).tolist()
        with pytest.raises(DpvizError, match="publishable=True"):
            result.to_json()

    @pytest.mark.slow
    def test_small_enough_to_publish_it_is_held(self) -> None:
        result = dpviz.fit("smooth-forest", self.rows(), epsilon=3.0, max_depth=12, seed=1)
        assert isinstance(result.model, PackedForest)
        assert result.plan.depth == 3

    def test_rows_shared_by_all_trees_fit_too(self) -> None:
        data = self.rows()
        model = dpviz.fit(
            "smooth-forest", data, epsilon=300.0, depth=4, seed=1, publishable=False, disjoint=False, trees=20
        ).model
        assert isinstance(model, HashedForest)
        assert np.mean(model.predict(data) == data.target) > 0.95
