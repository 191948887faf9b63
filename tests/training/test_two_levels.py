"""Utilities of trees of two levels: against leaves counted one by one, and what one row changes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest

from dpviz.errors import DpvizError
from dpviz.privacy.sensitivity import BoundedRangeSensitivity
from dpviz.privacy.two_levels import TwoLevelChoice
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training import two_levels
from dpviz.training.counted_rows import counter_of
from dpviz.training.nodes import CountedNode
from dpviz.training.scores import SCALE, Weighing, label_pairs
from dpviz.training.two_levels import TreeScore
from tests.support.oracles import counts
from tests.support.tables import table

WEIGHTS = [None, (1.0, 3.0), (0.5, 1.0, 0.2)]


def rows(n_classes: int, n_rows: int = 30) -> EncodedDataset:
    features = (NumericFeature("n", 0, 3, whole=True), CategoricalFeature("c", ("p", "q", "r")))
    return table(Schema(features, ClassTarget("y", tuple("abc"[:n_classes])), n_public=30), n_rows)


def utilities(data: EncodedDataset, score: TreeScore) -> np.ndarray:
    """Of every tree, shape (n_roots, n_below, n_below)."""
    root = counter_of(data).root(multiscale_grid(data.schema))
    found = score.utilities(root)
    left, right = found.of_roots(slice(0, found.n_roots))
    assert left.shape == right.shape == (found.n_roots, found.n_below)
    assert left.dtype == right.dtype == np.int64
    return left[:, :, None] + right[:, None, :]


def by_hand(data: EncodedDataset, score: TreeScore, tree: tuple[int, int, int]) -> int:
    """The sum over the leaves of a tree, in fractions."""
    rules, n_classes = counts.rules_of(multiscale_grid(data.schema)), data.n_classes
    units = [1] * n_classes if score.weighing.units is None else score.weighing.units.tolist()
    total = 0
    goes = [[counts.goes_left(rule, data.columns[rule.feature][row]) for row in range(data.n_rows)] for rule in rules]
    for below, side in ((tree[1], True), (tree[2], False)):
        here = [row for row in range(data.n_rows) if goes[tree[0]][row] == side]
        pairs = list(zip(*label_pairs(n_classes), strict=True)) if score.repeats is not None else [(None, None)]
        pair, split = divmod(below, len(rules))
        if pair < len(pairs):
            parts = [
                ([row for row in here if goes[split][row] == left], label)
                for left, label in zip((True, False), pairs[pair], strict=True)
            ]
        else:
            parts = [(here, (below - len(pairs) * len(rules)) % n_classes)]
        for part, label in parts:
            held = [units[k] * sum(int(data.target[row]) == k for row in part) for k in range(n_classes)]
            n = sum(held)
            impure = Fraction(n * n - sum(k * k for k in held), 2 * n) if n else Fraction(0)
            right = 0 if label is None else score.correct * held[label]
            total += right - floor((SCALE - score.correct) * impure)
    return total


SCORES = [(0, None), (0, 2), (SCALE, 2), (700, 1)]


@pytest.mark.parametrize(("n_classes", "weights"), [(2, WEIGHTS[0]), (2, WEIGHTS[1]), (3, WEIGHTS[2])])
def test_a_utility_is_the_sum_over_the_leaves_of_the_tree(n_classes, weights):
    data = rows(n_classes)
    for correct, repeats in SCORES:
        score = TreeScore(Weighing.of(weights), correct, repeats)
        found = utilities(data, score)
        for tree in np.random.default_rng(1).integers(0, found.shape, (60, 3)).tolist() + [[0, found.shape[1] - 1, 0]]:
            assert found[tuple(tree)] == by_hand(data, score, tuple(tree))


def changes(score: TreeScore, n_classes: int) -> np.ndarray:
    """Of every utility, by a row of every kind on tables of 0 to 9 rows: shape (rows added, utilities)."""
    found = []
    kinds = list(product(range(4), range(3), range(n_classes)))
    whole = rows(n_classes, 9)
    for n_rows, (number, category, label) in product((0, 1, 4, 9), kinds):
        before = EncodedDataset(whole.schema, tuple(column[:n_rows] for column in whole.columns), whole.target[:n_rows])
        columns = [
            np.append(column, value).astype(column.dtype)
            for column, value in zip(before.columns, (number, category), strict=True)
        ]
        after = EncodedDataset(whole.schema, tuple(columns), np.append(before.target, label).astype(np.uint8))
        found.append((utilities(after, score) - utilities(before, score)).ravel())
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "weights"), [(2, WEIGHTS[0]), (3, WEIGHTS[2])])
@pytest.mark.parametrize(("correct", "repeats"), SCORES)
def test_one_row_changes_all_trees_within_the_width(n_classes, weights, correct, repeats):
    score = TreeScore(Weighing.of(weights), correct, repeats)
    largest, moved = 1 if weights is None else 100, changes(score, n_classes)
    assert score.width.value == SCALE * largest
    assert moved.max() <= correct * largest
    assert moved.min() >= (correct - SCALE) * largest
    assert np.ptp(moved, axis=1).max() > 0.55 * score.width.value, "half the width would do"


@pytest.mark.parametrize(("n_classes", "weights"), [(2, WEIGHTS[1]), (3, WEIGHTS[2])])
@pytest.mark.parametrize(("correct", "repeats"), [(0, None), (700, 1), (700, None)])
@pytest.mark.parametrize("closeness", [two_levels._CLOSE_IN_FLOAT32, 0.0], ids=["float32", "float64"])
def test_simulations_use_nearly_the_same_utilities(n_classes, weights, correct, repeats, closeness, monkeypatch):
    """Times the rate, and but for one number; what is rounded down is less than a unit per leaf."""
    monkeypatch.setattr(two_levels, "_CLOSE_IN_FLOAT32", closeness)
    data, score, rate = rows(n_classes), TreeScore(Weighing.of(weights), correct, repeats), 0.25
    found = score.utilities(counter_of(data).root(multiscale_grid(data.schema)))
    blocks, stands = found.log_weights(rate)
    sides: list[list[np.ndarray]] = [[], []]
    for block in blocks:
        for parts, rows_of_side in zip(block, sides, strict=True):
            assert {part.dtype for part, _ in parts} == {np.dtype(np.float32 if closeness else np.float64)}
            whole = [part[:, stands] if len(times) == stands.max() + 1 else np.tile(part, (1, times[0])) for part, times in parts]
            rows_of_side.append(np.concatenate(whole, axis=1).astype(float))
    left, right = (np.concatenate(rows_of_side)[stands] for rows_of_side in sides)
    about = left[:, :, None] + right[:, None, :]
    apart = about - rate * utilities(data, score)
    assert np.ptp(apart) <= rate * 4 + (0.05 if closeness else 1e-9) * rate * (weights is None or 100)


def test_a_simulation_weighs_roots_as_the_law_does():
    """Also where empty bins make candidates alike: each of these has the odds of the others."""
    data, choice = rows(2, 3), TwoLevelChoice(0.5, BoundedRangeSensitivity(SCALE, "test"))
    found = TreeScore(Weighing(), 700, 2).utilities(counter_of(data).root(multiscale_grid(data.schema)))
    blocks, stands = found.log_weights(float(choice.width.rate(0.5)))
    assert stands.max() + 1 < found.n_roots
    weights = np.exp(choice._log_sums(blocks, stands, found.n_below))
    expected = choice.probabilities(found).reshape(found.n_roots, -1).sum(axis=1)
    np.testing.assert_allclose(weights / weights.sum(), expected, rtol=1e-3)


@pytest.mark.parametrize("repeats", [None, 1])
def test_rows_whose_squares_overflow_are_refused_also_in_units(repeats):
    """50 million rows of a class that counts 100: n^2 would leave 64 bits, and one row could change anything."""
    node = counter_of(rows(2)).root(multiscale_grid(rows(2).schema))
    many = np.full((len(node.occupied_bins), len(node.occupied_bins), 2), 25_000_000)
    node.keep("pairs", many)
    with pytest.raises(DpvizError, match="can be scored exactly"):
        TreeScore(Weighing.of((1.0, 1.0)), SCALE // 2, repeats).utilities(node)
    assert TreeScore(Weighing(), SCALE // 2, repeats).utilities(node).n_roots == node.grid.n_candidates


def planted(cells: np.ndarray) -> CountedNode:
    """A node with so many rows of every number, category and class: `cells` has shape (4, 3, n_classes)."""
    data = rows(cells.shape[2])
    node = counter_of(data).root(multiscale_grid(data.schema))
    assert len(node.occupied_bins) == 7
    pairs = np.zeros((7, 7, cells.shape[2]), dtype=np.int64)
    pairs[:4, 4:], pairs[4:, :4] = cells, cells.swapaxes(0, 1)
    pairs[range(4), range(4)], pairs[range(4, 7), range(4, 7)] = cells.sum(axis=1), cells.sum(axis=0)
    node.keep("pairs", pairs)
    return node


@pytest.mark.parametrize(("n_rows", "n_kinds"), [((1 << 24) + 1, 1), (90_000_000, 24), (2_900_000_000, 24)])
@pytest.mark.parametrize("repeats", [None, 1])
def test_one_row_of_many_changes_all_trees_within_the_width(n_rows, n_kinds, repeats):
    """From 2^24 on float32 holds not every whole number: sums in it change by more than the row that is added."""
    rng, score = np.random.default_rng(3), TreeScore(Weighing(), 700, repeats)
    cells = np.zeros(24, dtype=np.int64)
    cells[:n_kinds] = rng.multinomial(n_rows, rng.dirichlet(np.ones(n_kinds)))
    cells = cells.reshape(4, 3, 2)
    before = score.utilities(planted(cells)).of_roots(slice(None))
    for row in np.ndindex(cells.shape):
        more = cells.copy()
        more[row] += 1
        after = score.utilities(planted(more)).of_roots(slice(None))
        left, right = (now - then for now, then in zip(after, before, strict=True))
        lowest, highest = (left.min(axis=1) + right.min(axis=1)).min(), (left.max(axis=1) + right.max(axis=1)).max()
        assert 700 - SCALE <= lowest <= highest <= 700
