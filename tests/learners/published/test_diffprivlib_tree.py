"""The DiffPrivLib tree: its exact distribution, splits that look at no row, and what it owes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpviz
from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, SubsetRule
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.oracles import mechanisms as oracle
from tests.support.oracles import trees
from tests.support.tables import schema_of, table

TWO = ClassTarget("y", ("n", "p"))
SMALL = Schema((CategoricalFeature("c", ("a", "b", "d")), NumericFeature("w", 0, 1, whole=True)), TWO)


def rows(schema: Schema, *given: tuple[int, ...]) -> EncodedDataset:
    cells = np.array(given, dtype=np.int64).reshape(len(given), schema.n_features + 1)
    columns = tuple(
        cells[:, k].astype(np.uint8 if isinstance(feature, CategoricalFeature) else np.int32)
        for k, feature in enumerate(schema.features)
    )
    return EncodedDataset(schema, columns, cells[:, -1].astype(np.uint8))


def distribution(data: EncodedDataset, epsilon: float, depth: int) -> dict[str, tuple[object, float]]:
    """Every tree the learner can release with its probability, by trying every draw."""
    source = Enumeration()
    found: dict[str, tuple[object, float]] = {}
    run = lambda: dpviz.fit("diffprivlib-tree", data, epsilon=epsilon, depth=depth, source=source).model  # noqa: E731
    for model, chance in source.outcomes(run):
        key = repr(model_body(model))
        found[key] = model, found.get(key, (model, 0.0))[1] + chance
    return found


def test_the_distribution_of_a_stump_is_its_definition():
    # c splits after a or after b, w in one way; a feature has chance 1/2, its cut 1 over the number of cuts
    data = rows(SMALL, (0, 0, 0), (0, 1, 0), (1, 0, 1), (2, 1, 1), (2, 1, 0))
    found = distribution(data, 0.7, 1)
    assert len(found) == 3 * 4
    for model, chance in found.values():
        rule = model.root.rule
        expected = 0.5 * (0.5 if isinstance(rule, SubsetRule) else 1.0)
        for depth, node, inside in trees.rows_by_node(model, data):
            if isinstance(node, Leaf):
                counts = [sum(int(data.target[row]) == k for row in inside) for k in (0, 1)]
                expected *= oracle.permute_and_flip(counts, 0.7)[node.label]
                assert depth == 1
        assert chance == pytest.approx(expected, rel=1e-12)
    assert sum(chance for _, chance in found.values()) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.slow
def test_one_more_row_moves_no_tree_by_more_than_epsilon(epsilon):
    base = ((0, 0, 0), (1, 1, 1))
    here = distribution(rows(SMALL, *base), epsilon, 2)
    worst = 0.0
    for extra in ((0, 0, 0), (0, 0, 1), (2, 1, 1)):
        there = distribution(rows(SMALL, *base, extra), epsilon, 2)
        assert here.keys() == there.keys()
        worst = max(worst, *(abs(math.log(here[key][1] / there[key][1])) for key in here))
    assert 0.5 * epsilon < worst <= epsilon * (1 + 1e-12)


def test_splits_do_not_look_at_rows():
    for kind in ["numbers", "categories", "mixed"]:
        schema = schema_of(kind, 3)
        first, other = (
            dpviz.fit("diffprivlib-tree", table(schema, n, seed=n), epsilon=1.0, depth=4, seed=5).model for n in (0, 400)
        )
        rules = [[(p.path, p.node.rule) for p in model.nodes() if isinstance(p.node, Branch)] for model in (first, other)]
        assert rules[0] == rules[1]
        assert len(rules[0]) > 5


def test_a_path_ends_where_no_feature_has_two_values_left():
    model = dpviz.fit("diffprivlib-tree", rows(SMALL, (0, 0, 0)), epsilon=1.0, depth=6, max_depth=6, seed=1).model
    assert model.n_leaves == 3 * 2
    boundless = Schema((NumericFeature("x", 0, 1),), TWO)
    complete = dpviz.fit("diffprivlib-tree", table(boundless, 30), epsilon=1.0, depth=6, max_depth=6, seed=1).model
    assert complete.n_leaves == 2**6
