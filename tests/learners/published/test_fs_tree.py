"""FS: one child per category, a price for every cut, stopped by noise alone."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.models.tree import Branch, SubsetRule
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.tables import schema_of, table

#: A cap that the rule of a learner stays below is asked for on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.WithoutEffect")


def test_numbers_make_every_question_dearer() -> None:
    for kind, numbers in [("numbers", 2), ("categories", 0), ("mixed", 2)]:
        result = dpviz.fit("fs-tree", table(schema_of(kind), 4000), epsilon=2.0, depth=2, seed=1)
        (part,) = {share.epsilon for share in result.plan.shares}
        assert part == pytest.approx(2.0 / ((2 + numbers) * 2 + 2))
        assert sum(share.composed for share in result.plan.shares) == pytest.approx(2.0)
        assert result.ledger.guarantee.epsilon == pytest.approx(2.0)


def test_depth_is_five_at_most_unless_set() -> None:
    data = table(schema_of("numbers"), 100)
    assert dpviz.fit("fs-tree", data, epsilon=1.0, max_depth=12, seed=1).plan.depth == 5
    assert dpviz.fit("fs-tree", data, epsilon=1.0, depth=7, max_depth=12, seed=1).plan.depth == 7


def test_with_much_epsilon_the_purest_cut_is_found() -> None:
    schema = Schema((NumericFeature("x", 0, 10), NumericFeature("z", 0, 10)), ClassTarget("y", ("a", "b")))
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 10, 500), rng.uniform(0, 10, 500)
    data = EncodedDataset(schema, (x, z), (x > 6).astype(np.uint8))
    root = dpviz.fit("fs-tree", data, epsilon=1000.0, depth=1, seed=1).model.root
    assert isinstance(root, Branch)
    assert root.rule.feature == 0
    assert x[x <= 6].max() <= root.rule.threshold <= x[x > 6].min()
    assert (root.left.label, root.right.label) == (0, 1)


def test_a_category_has_one_child_per_value() -> None:
    schema = Schema((CategoricalFeature("c", ("r", "g", "b", "w")),), ClassTarget("y", ("a", "b")))
    column = (np.arange(400) % 4).astype(np.uint8)
    data = EncodedDataset(schema, (column,), np.isin(column, (1, 3)).astype(np.uint8))
    tree = dpviz.fit("fs-tree", data, epsilon=100.0, depth=1, seed=1).model
    rules = [placed.node.rule for placed in tree.nodes() if isinstance(placed.node, Branch)]
    assert rules == [SubsetRule(0, (0,)), SubsetRule(0, (1,)), SubsetRule(0, (2,))]
    assert (tree.predict(data) == data.target).all()


def test_a_category_is_asked_once_on_a_path() -> None:
    schema = Schema((CategoricalFeature("c", ("r", "g")),), ClassTarget("y", ("a", "b")))
    column = (np.arange(1000) % 2).astype(np.uint8)
    tree = dpviz.fit("fs-tree", EncodedDataset(schema, (column,), column), epsilon=100.0, depth=5, max_depth=5, seed=1).model
    assert tree.depth == 1
