"""Trees of the papers: their exact laws from definitions, the greedy trees they are without noise, splits that look at no row."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpviz
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.oracles import counts as counted
from tests.support.oracles import mechanisms as oracle
from tests.support.oracles import trees
from tests.support.recording import Recording
from tests.support.tables import schema_of, table

#: A cap that the rule of a learner stays below is asked for on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.SettingWarning")

TWO = ClassTarget("y", ("n", "p"))
SMALL = Schema((CategoricalFeature("c", ("a", "b", "d")), NumericFeature("w", 0, 1, whole=True)), TWO)


def of_columns(target, *columns: tuple) -> EncodedDataset:
    """Rows of (feature, its column) and classes."""
    features, cells = zip(*columns, strict=True)
    return EncodedDataset(Schema(features, TWO), cells, np.asarray(target).astype(np.uint8))


def small_rows(*given: tuple[int, ...]) -> EncodedDataset:
    cells = np.array(given, dtype=np.int64).reshape(len(given), 3)
    columns = (cells[:, 0].astype(np.uint8), cells[:, 1].astype(np.int32))
    return EncodedDataset(SMALL, columns, cells[:, 2].astype(np.uint8))


def law(name: str, data: EncodedDataset, epsilon: float, depth: int) -> dict[str, tuple[object, float]]:
    """Every tree the learner can release with its probability, by trying every draw."""
    source, found = Enumeration(), {}
    for model, chance in source.outcomes(lambda: dpviz.fit(name, data, epsilon=epsilon, depth=depth, source=source).model):
        key = repr(model_body(model))
        found[key] = model, found.get(key, (model, 0.0))[1] + chance
    return found


# --- DiffPrivLib


def test_the_law_of_a_diffprivlib_stump_is_its_definition():
    # c splits after a or after b, w in one way; a feature has chance 1/2, its cut 1 over the number of cuts
    data = small_rows((0, 0, 0), (0, 1, 0), (1, 0, 1), (2, 1, 1), (2, 1, 0))
    found = law("diffprivlib-tree", data, 0.7, 1)
    assert len(found) == 3 * 4
    for model, chance in found.values():
        expected = 0.25 if isinstance(model.root.rule, SubsetRule) else 0.5
        for _, node, inside in trees.rows_by_node(model, data):
            if isinstance(node, Leaf):
                counts = [sum(int(data.target[row]) == k for row in inside) for k in (0, 1)]
                expected *= oracle.permute_and_flip(counts, 0.7)[node.label]
        assert chance == pytest.approx(expected, rel=1e-12)
    assert sum(chance for _, chance in found.values()) == pytest.approx(1)


def test_splits_of_diffprivlib_do_not_look_at_rows_and_end_where_no_feature_has_two_values_left():
    for kind in ["numbers", "categories", "mixed"]:
        rules = []
        for n_rows in (0, 400):
            data = table(schema_of(kind, 3), n_rows, seed=n_rows)
            model = dpviz.fit("diffprivlib-tree", data, epsilon=1.0, depth=4, seed=5).model
            rules.append([(p.path, p.node.rule) for p in model.nodes() if isinstance(p.node, Branch)])
        assert rules[0] == rules[1]
        assert len(rules[0]) > 5
    boundless = table(Schema((NumericFeature("x", 0, 1),), TWO), 30)
    for data, leaves in ((small_rows((0, 0, 0)), 3 * 2), (boundless, 2**6)):
        assert dpviz.fit("diffprivlib-tree", data, epsilon=1.0, depth=6, max_depth=6, seed=1).model.n_leaves == leaves


# --- DPGDF


def smooth_majority(counts, epsilon: float) -> np.ndarray:
    best, second = sorted(counts, reverse=True)[:2]
    weight = math.exp(epsilon / 2 * math.exp(epsilon * (best - second)))
    odds = [weight if count == best else 1.0 for count in counts]
    return np.array(odds) / sum(odds)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_law_of_a_dpgdf_stump_is_its_definition(epsilon):
    """It ignores numbers; a category is told apart from the rest."""
    features = (CategoricalFeature("c", ("a", "b", "d")), NumericFeature("x", 0, 1), CategoricalFeature("e", ("u", "v")))
    data = table(Schema(features, TWO), 12, seed=3)
    rules = [SubsetRule(0, (0,)), SubsetRule(0, (1,)), SubsetRule(0, (2,)), SubsetRule(2, (0,)), SubsetRule(2, (1,))]
    left, total = counted.left_counts(rules, data, range(12)), counted.class_counts(data, range(12))
    utilities = [0.5 - float(counted.weighted_gini(side, total - side)) for side in left]
    splits = oracle.exponential_mechanism(utilities, epsilon / 2, [1.0] * len(rules))  # eps/2 over 2 * 1/2
    expected = {
        (rule, first, second): split * labels[0][first] * labels[1][second]
        for rule, split, labels in zip(
            rules,
            splits,
            [[smooth_majority(part, epsilon / 2) for part in (side, total - side)] for side in left],
            strict=True,
        )
        for first in (0, 1)
        for second in (0, 1)
    }
    found = law("dpgdf", data, epsilon, 1).values()
    assert {(tree.root.rule, tree.root.left.label, tree.root.right.label): chance for tree, chance in found} == pytest.approx(
        expected, rel=1e-10
    )


# --- BDPT


def candidates_by_hand(data: EncodedDataset) -> list[tuple[int, set[float]]]:
    """(feature, values told apart from the rest): a category, or five neighbouring numbers."""
    found = []
    for position, (feature, column) in enumerate(zip(data.schema.features, data.columns, strict=True)):
        if isinstance(feature, CategoricalFeature):
            found += [(position, {float(code)}) for code in range(len(feature.categories))]
        else:
            values = sorted({float(value) for value in column})
            found += [(position, set(values[start : start + 5])) for start in range(0, len(values), 5)]
    return found


def apart(data: EncodedDataset, rows, feature: int, values: set[float]) -> float:
    """0.5 minus the weighted Gini of a candidate."""
    inside = [row for row in rows if float(data.columns[feature][row]) in values]
    left, total = counted.class_counts(data, inside), counted.class_counts(data, rows)
    return 0.5 - float(counted.weighted_gini(left, total - left))


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_every_draw_of_bdpt_at_the_root_is_its_definition_and_the_chosen_value_is_told_apart(kind):
    for n_classes in [2, 3]:
        data, source, epsilon, depth = table(schema_of(kind, n_classes), 60), Recording(2), 0.9, 3
        dpviz.fit("bdpt", data, epsilon=epsilon, depth=depth, source=source)
        (count, rows, noisy), (choice, utilities, _) = source.draws[:2]
        ratio, n = 2 ** (1 / 3), max(1.0, float(noisy[0]))
        assert count.epsilon == pytest.approx((1 - ratio) / (1 - ratio ** (depth + 1)) * epsilon / 2)
        assert rows.tolist() == [60]
        assert choice.epsilon == pytest.approx(epsilon / (2 * depth))
        assert choice.sensitivity.value == pytest.approx(1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2)
        assert not choice.sensitivity.is_bound
        np.testing.assert_allclose(utilities, [apart(data, range(60), *candidate) for candidate in candidates_by_hand(data)])
    data = table(schema_of(kind), 80)
    for seed in range(12):
        source = Recording(seed)
        model = dpviz.fit("bdpt", data, epsilon=1e5, depth=1, source=source).model
        _, utilities, number = source.draws[1]
        assert utilities[number] == pytest.approx(utilities.max())
        feature, values = candidates_by_hand(data)[number]
        sides = {True: set(), False: set()}
        for row in range(80):
            sides[float(data.columns[feature][row]) in values].add(trees.predict_row(model.root, data, row))
        assert all(len(side) == 1 for side in sides.values())


def test_a_group_in_the_middle_takes_bdpt_two_rules_and_one_level():
    x = np.repeat(np.arange(15.0), 10)
    data = of_columns((x >= 5) & (x <= 9), (NumericFeature("x", 0, 20), x))
    inner = Branch(ThresholdRule(0, 4.0), Leaf(0), Leaf(1))
    assert dpviz.fit("bdpt", data, epsilon=1e5, depth=1, seed=0).model.root == Branch(ThresholdRule(0, 9.0), inner, Leaf(0))


# --- FS


def test_numbers_make_every_question_of_fs_dearer_and_its_depth_is_five_at_most_unless_set():
    for kind, numbers in [("numbers", 2), ("categories", 0), ("mixed", 2)]:
        plan = dpviz.fit("fs-tree", table(schema_of(kind), 4000), epsilon=2.0, depth=2, seed=1).plan
        (part,) = {share.epsilon for share in plan.shares}
        assert part == pytest.approx(2.0 / ((2 + numbers) * 2 + 2))
        assert sum(share.composed for share in plan.shares) == pytest.approx(2.0)
    for asked, depth in (({}, 5), ({"depth": 7}, 7)):
        data = table(schema_of("numbers"), 100)
        assert dpviz.fit("fs-tree", data, epsilon=1.0, max_depth=12, seed=1, **asked).plan.depth == depth


def test_with_much_epsilon_fs_finds_the_purest_cut_and_asks_a_category_once_with_a_child_per_value():
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 10, 500), rng.uniform(0, 10, 500)
    root = dpviz.fit(
        "fs-tree",
        of_columns(x > 6, (NumericFeature("x", 0, 10), x), (NumericFeature("z", 0, 10), z)),
        epsilon=1000.0,
        depth=1,
        seed=1,
    ).model.root
    assert root.rule.feature == 0
    assert x[x <= 6].max() <= root.rule.threshold <= x[x > 6].min()
    assert (root.left.label, root.right.label) == (0, 1)
    codes = (np.arange(400) % 4).astype(np.uint8)
    data = of_columns(codes % 2, (CategoricalFeature("c", ("r", "g", "b", "w")), codes))
    tree = dpviz.fit("fs-tree", data, epsilon=100.0, depth=5, max_depth=5, seed=1).model
    rules = [placed.node.rule for placed in tree.nodes() if isinstance(placed.node, Branch)]
    assert rules == [SubsetRule(0, (0,)), SubsetRule(0, (1,)), SubsetRule(0, (2,))]
    assert (tree.predict(data) == data.target).all()


@pytest.mark.parametrize("bands", [(5.0, 8.0), (2.0, 5.0)])
def test_every_cut_of_fs_lies_within_what_the_cuts_above_have_left_and_finds_what_is_left_to_find(bands):
    rng = np.random.default_rng(4)
    x, z = rng.uniform(0, 10, (2, 2000))
    data = of_columns(np.searchsorted(bands, x) % 2, (NumericFeature("x", 0, 10), x), (NumericFeature("z", 0, 10), z))
    for epsilon, depth in ((3.0, 4), (3000.0, 2)):
        tree = dpviz.fit("fs-tree", data, epsilon=epsilon, depth=depth, seed=1).model
        left = {"": ((0.0, 10.0), (0.0, 10.0))}
        for placed in tree.nodes():
            if isinstance(placed.node, Branch):
                rule, ends = placed.node.rule, left[placed.path]
                low, high = ends[rule.feature]
                assert low < rule.threshold < high
                for side, kept in (("L", (low, rule.threshold)), ("R", (rule.threshold, high))):
                    left[placed.path + side] = (kept, ends[1]) if rule.feature == 0 else (ends[0], kept)
        assert tree.depth == depth
    assert (tree.predict(data) == data.target).mean() > 0.99
