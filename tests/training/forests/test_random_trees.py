"""Random trees: the published depths, how many leaves there are, what is drawn, and which rows each tree is given."""

from __future__ import annotations

from itertools import permutations, product
from math import prod

import numpy as np
import pytest

from dpviz.evaluation.audit.sources import Enumeration
from dpviz.models.hashed_forest import leaves_reached
from dpviz.models.packed_forest import LEAF, values_of
from dpviz.privacy.source import Simulation
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.forests import draw_trees, mean_leaves, rows_to_trees, theorem_2_depth
from tests.support.tables import reordered, schema_of, schema_with, table

#: Table 4: continuous features, discrete features, depth.
TABLE_4 = {
    "SynthA": (5, 0, 5),
    "SynthB": (10, 0, 8),
    "SynthC": (15, 0, 12),
    "SynthG": (20, 0, 15),
    "WallSensor": (4, 0, 4),
    "PenWritten": (16, 0, 12),
    "Adult": (6, 8, 9),
    "Mushroom": (0, 22, 11),
    "Claves": (0, 16, 8),
    "Nursery": (0, 8, 4),
}


def test_depths_are_those_of_table_4_and_mean_leaves_those_of_all_orders_and_of_drawn_trees() -> None:
    for numbers, categories, depth in TABLE_4.values():
        assert theorem_2_depth(schema_with(numbers, (3,) * categories)) == depth
    for sizes in [(2, 3, 5), (4,), (2, 2, 7, 3)]:
        for depth in range(len(sizes) + 3):
            orders = [prod(order[:depth]) for order in permutations(sizes)]
            assert mean_leaves(schema_with(0, sizes), depth) == pytest.approx(np.mean(orders))
    schema = schema_with(2, (3, 6, 1))
    splits = draw_trees(schema, 4000, 3, Simulation(0))
    counts = np.bincount(splits.tree[splits.leaves])
    assert abs(counts.mean() - mean_leaves(schema, 3)) < 4 * counts.std() / np.sqrt(len(counts))


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_boxes_shrink_along_a_path_and_categories_are_asked_once(kind: str) -> None:
    schema = schema_of(kind)
    splits = draw_trees(schema, 20, 5, Simulation(3))
    sizes, met = splits.n_children, 0
    for root in splits.roots:
        stack = [(int(root), [(f.low, f.high) if isinstance(f, NumericFeature) else None for f in schema.features], 0)]
        while stack:
            node, box, depth = stack.pop()
            met += 1
            feature = int(splits.feature[node])
            assert depth <= 5
            if feature == LEAF:
                assert depth == 5 or all(side in ("used", None) or side[0] == side[1] for side in box if side is not None)
                continue
            assert box[feature] != "used"
            for place in range(sizes[node]):
                inner = list(box)
                inner[feature] = "used" if box[feature] is None else _half(box[feature], splits.threshold[node], place)
                stack.append((int(splits.first_child[node]) + place, inner, depth + 1))
    assert met == len(splits.tree)


def _half(side: tuple[float, float], cut: float, place: int) -> tuple[float, float]:
    assert side[0] <= cut <= side[1]
    return (side[0], cut) if place == 0 else (cut, side[1])


def test_whole_numbers_are_cut_between_two_of_them_and_the_first_feature_is_uniform() -> None:
    schema = Schema((NumericFeature("k", 0, 3, whole=True),), ClassTarget("y", ("a", "b")))
    splits = draw_trees(schema, 300, 9, Simulation(1))
    cuts = splits.threshold[splits.feature != LEAF]
    assert set(cuts) == {0.5, 1.5, 2.5}
    assert np.bincount(splits.tree[splits.leaves]).tolist() == [4] * 300  # one leaf per number, whatever the cuts
    schema = schema_with(2, (3, 4))
    splits = draw_trees(schema, 8000, 1, Simulation(5))
    counts = np.bincount(splits.feature[splits.roots], minlength=4)
    assert abs(counts - 2000).max() < 4.5 * np.sqrt(8000 * 0.25 * 0.75)


def test_every_row_draws_its_tree_by_itself_wherever_it_stands(rng: np.random.Generator) -> None:
    data = table(schema_of(), 20_000)
    counts = np.bincount(rows_to_trees(data, 10, Simulation(0)), minlength=10)
    assert 0.8 < np.square(counts - 2000).sum() / 2000 < 30  # chi-square with 9 degrees of freedom: not by turns, not lopsided
    data = table(schema_of("numbers"), 60)
    order = rng.permutation(data.n_rows)
    trees = rows_to_trees(data, 5, Simulation(1))
    np.testing.assert_array_equal(rows_to_trees(reordered(data, order), 5, Simulation(1)), trees[order])


@pytest.mark.parametrize("n_trees", [1000, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_hashed_trees_divide_rows_as_drawn_trees_do(n_trees: int) -> None:
    # Two ways to the same distribution: the share of pairs of rows that one tree keeps together.
    data = table(schema_of("mixed"), 40)
    values = values_of(data)
    splits = draw_trees(data.schema, n_trees, 3, Simulation(4))
    keys = np.random.default_rng(6).integers(2**63, size=n_trees, dtype=np.uint64)
    drawn = [_together(splits.leaf_of(values, root)) for root in splits.roots]
    hashed = [_together(leaves_reached(data.schema, 3, values, np.full(40, key))) for key in keys]
    error = np.hypot(np.std(drawn), np.std(hashed)) / np.sqrt(n_trees)
    assert abs(np.mean(drawn) - np.mean(hashed)) < 4 * error
    assert np.std(drawn) == pytest.approx(np.std(hashed), rel=0.1)


@pytest.mark.slow
def test_a_row_reaches_its_leaf_whichever_rows_fall_with_it() -> None:
    """A hashed split is a function of its node: rows of other trees, of other kinds of features, change nothing."""
    for kind in ("numbers", "categories", "mixed"):
        data = table(schema_of(kind), 60)
        values, keys = values_of(data), np.random.default_rng(2).integers(2**63, size=60, dtype=np.uint64)
        alone = [leaves_reached(data.schema, 4, values[row : row + 1], keys[row : row + 1]) for row in range(60)]
        np.testing.assert_array_equal(leaves_reached(data.schema, 4, values, keys), np.concatenate(alone))


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("depth", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_law_of_a_random_tree_is_its_definition(depth: int, in_order: bool) -> None:
    """Features that can be split are as likely, and so are the cuts of each in what the path has left."""
    schema = Schema(
        (NumericFeature("k", 0, 2, whole=True), CategoricalFeature("c", ("a", "b", "d")), CategoricalFeature("one", ("u",))),
        ClassTarget("y", ("n", "p")),
    )
    source = Enumeration()
    found: dict[tuple, float] = {}
    for trees, chance in source.outcomes(lambda: draw_trees(schema, 1, depth, source, in_order=in_order)):
        key = tuple(zip(trees.feature.tolist(), np.nan_to_num(trees.threshold, nan=-1.0).tolist(), strict=True))
        found[key] = found.get(key, 0.0) + chance
    expected = {_breadth_first(tree): chance for tree, chance in _defined(((0, 2), (0, 2), (0, 0)), depth, in_order)}
    assert found.keys() == expected.keys()
    for key, chance in expected.items():
        assert found[key] == pytest.approx(chance, rel=1e-12)


def _defined(box: tuple[tuple[int, int], ...], depth: int, in_order: bool) -> list[tuple[tuple, float]]:
    """Every tree in a box, as (feature, cut, *children), with its chance; the features after the first are categories."""
    free = [place for place, (low, high) in enumerate(box) if low < high]
    if not free or not depth:
        return [((LEAF, -1.0), 1.0)]
    found = []
    for feature in free:
        low, high = box[feature]
        cuts = np.arange(low, high) + 0.5 if in_order or not feature else [-1.0]
        for cut in map(float, cuts):
            sides = [(place, place) for place in range(3)] if cut < 0 else [(low, int(cut)), (int(cut) + 1, high)]
            below = [_defined((*box[:feature], side, *box[feature + 1 :]), depth - 1, in_order) for side in sides]
            for children in product(*below):
                chance = prod(of_child for _, of_child in children) / len(free) / len(cuts)
                found.append(((feature, cut, *(child for child, _ in children)), chance))
    return found


def _breadth_first(tree: tuple) -> tuple:
    waiting = [tree]
    for node in waiting:
        waiting += node[2:]
    return tuple(node[:2] for node in waiting)


def _together(leaf: np.ndarray) -> float:
    _, counts = np.unique(leaf, return_counts=True)
    return float(np.square(counts).sum() / len(leaf) ** 2)
