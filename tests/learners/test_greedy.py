"""Without noise a greedy tree is the one that a loop over rows finds: the best rule at every node, the largest class below."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpviz
from dpviz.models.tree import Leaf, SubsetRule, ThresholdRule
from dpviz.table.candidates import equal_width_grid, multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.scores import SCALE
from tests.support.oracles import counts, trees
from tests.support.recording import Recording
from tests.support.tables import schema_of, table

KINDS = ("numbers", "categories", "mixed")


def gini(left, right):
    """Minus the weighted Gini: a utility."""
    return -counts.weighted_gini(left, right)


def impurity(left, right):
    return -counts.half_impurity(left, SCALE) - counts.half_impurity(right, SCALE)


def majorities(left, right):
    return max(left) + max(right)


def require_greedy(
    model, data: EncodedDataset, depth: int, rules_at: Callable[[list[int]], list], utility=gini, fewest: int | None = None
) -> None:
    """`fewest`: nodes with fewer rows, or with rows of one class, are leaves; None: no node is one before the depth."""
    for level, node, rows in trees.rows_by_node(model, data):
        held = counts.class_counts(data, rows)
        stops = fewest is not None and (len(rows) < fewest or (held > 0).sum() < 2)
        assert isinstance(node, Leaf) == (level == depth or stops)
        if isinstance(node, Leaf):
            assert held[node.label] == held.max()
        else:
            best = trees.best(rules_at(rows), data, rows, utility)
            assert trees.utility_of(node.rule, data, rows, utility) == pytest.approx(best, abs=1e-12)


def by_share_of_second_class(data: EncodedDataset, rows: list[int], thresholds: dict[int, Any]) -> list:
    """The rules of PrivaTree where its counts are exact: categories in the order of their second class."""

    def share(position: int, code: int) -> float:
        inside = [int(data.target[row]) for row in rows if data.columns[position][row] == code]
        return sum(inside) / len(inside) if inside else 0.0

    rules: list = []
    for position, feature in enumerate(data.schema.features):
        if isinstance(feature, NumericFeature):
            rules += [ThresholdRule(position, float(cut)) for cut in np.unique(thresholds[position])]
            continue
        order = sorted(range(len(feature.categories)), key=lambda code: share(position, code) if data.n_classes == 2 else 0)
        rules += [SubsetRule(position, tuple(sorted(order[:end]))) for end in range(1, len(order))]
    return rules


def exact_deciles(column) -> list[float]:
    ordered = sorted(float(value) for value in column)
    return [ordered[math.ceil(len(ordered) * j / 10) - 1] for j in range(1, 10)]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_each_form_of_privatree_on_its_bins(kind, n_classes):
    data, source = table(schema_of(kind, n_classes), 80), Recording(5)
    numeric = [place for place, feature in enumerate(data.schema.features) if isinstance(feature, NumericFeature)]
    result = dpviz.fit("privatree", data, epsilon=1e6, depth=2, source=source, shares=(1, 1, 1))
    drawn = [value for mechanism, _, value in source.draws if mechanism.title == "joint exponential quantiles"]
    bins = dict(zip(numeric, drawn, strict=True))
    require_greedy(result.model, data, 2, lambda rows: by_share_of_second_class(data, rows, bins), fewest=0)
    star = dpviz.fit("privatree-star", data, epsilon=1e6, depth=2, seed=5, shares=(1, 1, 1))
    deciles = {place: exact_deciles(data.columns[place]) for place in numeric}
    require_greedy(star.model, data, 2, lambda rows: by_share_of_second_class(data, rows, deciles), fewest=0)
    corrected = dpviz.fit("privatree-corrected", data, epsilon=1e6, depth=2, seed=3, shares=(1, 1))
    rules = counts.rules_of(equal_width_grid(data.schema, 10))
    require_greedy(corrected.model, data, 2, lambda rows: rules)


@pytest.mark.parametrize(("name", "n_classes", "depth", "fewest"), [("dpgdf", 2, 4, 11), ("bdpt", 3, 3, 2)])
def test_one_category_against_the_rest_until_rows_are_few_or_pure(name, n_classes, depth, fewest):
    data = table(schema_of("categories", n_classes), 200)
    model = dpviz.fit(name, data, epsilon=1e6, depth=depth, seed=0).model
    sizes = [len(feature.categories) for feature in data.schema.features if isinstance(feature, CategoricalFeature)]
    rules = [SubsetRule(position, (code,)) for position, size in enumerate(sizes) for code in range(size)]
    require_greedy(model, data, depth, lambda rows: rules, fewest=fewest)
    if name == "dpgdf":
        assert min(placed.depth for placed in model.nodes() if isinstance(placed.node, Leaf)) < depth


@pytest.mark.parametrize("kind", KINDS)
def test_levels_of_pf_tree_chosen_one_by_one(kind):
    """By impurity; the last by rows that its labels name rightly."""
    for depth, n_classes in [(1, 2), (1, 7), (2, 3), (3, 2), (3, 7)]:
        data = table(schema_of(kind, n_classes), 60)
        model = dpviz.fit("pf-tree", data, epsilon=1e6, depth=depth, seed=3, lookahead=1, leaves="labels").model
        rules = counts.rules_of(multiscale_grid(data.schema))
        found = []
        for level, node, rows in trees.rows_by_node(model, data):
            found += [level] if level < depth else []
            if level < depth - 1:
                assert trees.utility_of(node.rule, data, rows, impurity) == trees.best(rules, data, rows, impurity)
            elif level == depth - 1:
                right = sum(int(data.target[row]) == trees.predict_row(node, data, row) for row in rows)
                assert right == trees.best(rules, data, rows, majorities)
        assert len(found) == 2**depth - 1


def small(n_classes: int) -> EncodedDataset:
    features = (NumericFeature("n", 0, 3, whole=True), CategoricalFeature("c", ("p", "q", "r")))
    return table(Schema(features, ClassTarget("y", tuple("abcdefg"[:n_classes])), n_public=40), 40)


def of_all_trees(data: EncodedDataset) -> dict[tuple[int, int, int], tuple[int, int]]:
    """By (root, left, right): rows of the leaves' largest classes, and minus half the impurity of the leaves, in units."""
    rules = counts.rules_of(multiscale_grid(data.schema))
    goes = np.array([[counts.goes_left(rule, data.columns[rule.feature][row]) for row in range(data.n_rows)] for rule in rules])
    sides, places = (True, False), range(len(rules))
    leaves = {
        (root, side, rule, left): np.bincount(data.target[(goes[root] == side) & (goes[rule] == left)], minlength=data.n_classes)
        for root, side, rule, left in product(places, sides, places, sides)
    }
    found = {}
    for root, below, beyond in product(places, repeat=3):
        of_tree = [leaves[root, side, rule, left] for side, rule in ((True, below), (False, beyond)) for left in sides]
        found[root, below, beyond] = sum(map(max, of_tree)), -sum(counts.half_impurity(leaf, SCALE) for leaf in of_tree)
    return found


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_two_levels_of_pf_tree_are_the_best_of_all_trees(n_classes):
    data, asked = small(n_classes), {"leaves": "labels", "seed": 1}
    scarce = EncodedDataset(data.schema.declare(n_public=1), data.columns, data.target)  # correct rows alone count
    model = dpviz.fit("pf-tree", scarce, epsilon=900.0, depth=2, **asked).model
    found = of_all_trees(data)
    assert int((model.predict(data) == data.target).sum()) == max(correct for correct, _ in found.values())
    if n_classes == 2:  # the block above another one goes by impurity
        rules = counts.rules_of(multiscale_grid(data.schema))
        root = dpviz.fit("pf-tree", data, epsilon=1e5, depth=4, **asked).model.root
        chosen = tuple(rules.index(node.rule) for node in (root, root.left, root.right))
        assert found[chosen][1] == max(impure for _, impure in found.values())
