"""Trees: predictions against one row at a time, merging, walking, and rules in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import ParameterError, SchemaError, UnsupportedError
from dpviz.models.effects import feature_importances
from dpviz.models.tree import (
    Branch,
    Constant,
    Leaf,
    NumberLeaf,
    SubsetRule,
    ThresholdRule,
    Tree,
    declared_precision,
    format_number,
    leaf_in_words,
    rule_in_words,
)
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.oracles import trees
from tests.support.tables import schema_of, table

SCHEMA = schema_of("mixed", 3)
MIDDLE = (SCHEMA.features[0].low + SCHEMA.features[0].high) / 2


@st.composite
def rules(draw):
    position = draw(st.integers(0, SCHEMA.n_features - 1))
    feature = SCHEMA.features[position]
    if isinstance(feature, CategoricalFeature):
        codes = draw(st.sets(st.integers(0, len(feature.categories) - 1)))
        return SubsetRule(position, tuple(sorted(codes)))
    return ThresholdRule(position, draw(st.floats(feature.low - 1, feature.high + 1)))


def trees_of(schema, leaves):
    deeper = st.recursive(leaves, lambda children: st.builds(Branch, rules(), children, children), max_leaves=20)
    return st.builds(Tree, st.just(schema), deeper)


PRICES = Schema(SCHEMA.features, NumericTarget("price", 0, 100), n_public=100)
ANY = trees_of(SCHEMA, st.builds(Leaf, st.integers(0, 2))) | trees_of(PRICES, st.builds(NumberLeaf, st.floats(-1e6, 1e6)))


def rows_of(schema, n_rows=40, seed=5) -> EncodedDataset:
    data = table(SCHEMA, n_rows, seed)
    return data if schema is SCHEMA else EncodedDataset(PRICES, data.columns, data.target.astype(np.float64))


@given(ANY, st.integers(0, 10**6))
def test_predictions_are_those_of_every_single_row_also_when_merged(tree, seed):
    data = rows_of(tree.schema, seed=seed)
    predicted, merged = tree.predict(data), tree.merged()
    assert predicted.dtype == (np.uint8 if tree.schema is SCHEMA else np.float64)
    assert predicted.tolist() == trees.predict(tree, data) == merged.predict(data).tolist()
    for placed in merged.nodes():
        if isinstance(placed.node, Branch) and not isinstance(placed.node.left, Branch):
            assert placed.node.left != placed.node.right
    assert merged.merged() == merged
    assert merged.n_leaves <= tree.n_leaves


@given(ANY)
def test_nodes_come_parents_first_and_left_before_right(tree):
    placed = list(tree.nodes())
    assert [item.path for item in placed] == sorted(item.path for item in placed)  # "" < "L" < "LL" < "LR" < "R"
    assert placed[0].node is tree.root
    assert all(tree.node(item.path) is item.node for item in placed)
    assert [item.depth for item in placed] == [len(item.path) for item in placed]
    assert tree.depth == max(item.depth for item in placed)
    assert tree.n_leaves == (len(placed) + 1) // 2
    leaves = [item.path for item in placed if not isinstance(item.node, Branch)]
    for path in (*(path + "L" for path in leaves), "R" * 64):
        with pytest.raises(KeyError, match=path):
            tree.node(path)
    if tree.schema is PRICES:
        assert tree.values == tuple(tree.node(path).value for path in leaves)


def test_merging_keeps_leaves_that_differ_and_a_threshold_goes_left():
    rule = ThresholdRule(0, MIDDLE)
    for schema, near in [
        (SCHEMA, Branch(rule, Leaf(0, None, (0.8, 0.1, 0.1)), Leaf(0, None, (0.7, 0.2, 0.1)))),
        (PRICES, Branch(rule, NumberLeaf(2.5), NumberLeaf(2.5000001))),
    ]:
        assert Tree(schema, near).merged().root == near
    assert Tree(PRICES, Branch(rule, NumberLeaf(2.5), NumberLeaf(2.5))).merged().root == NumberLeaf(2.5)
    # On the threshold goes left; codes in any unsigned type.
    assert ThresholdRule(0, 0.1).goes_left(np.array([0.1, np.nextafter(0.1, 1)])).tolist() == [True, False]
    assert ThresholdRule(0, 2.5).goes_left(np.array([2, 3], dtype=np.int16)).tolist() == [True, False]
    for codes in [(), (0,), (1, 3), (0, 1, 2, 3), (250,)]:
        for dtype in (np.uint8, np.uint16):
            values = np.array([0, 1, 2, 3, 200], dtype=dtype)
            assert SubsetRule(0, codes).goes_left(values).tolist() == [int(value) in codes for value in values]
            assert SubsetRule(0, codes).goes_left(values[:0]).tolist() == []


def test_counts_that_noise_brought_below_zero_are_no_rows_where_splits_gain():
    def of(*counts):
        left, right, last = (Leaf(0, each) for each in counts)
        return feature_importances(Tree(SCHEMA, Branch(ThresholdRule(0, MIDDLE), left, Branch(SubsetRule(2, (0,)), right, last))))

    found = of((50, -20, 0), (-30, 40, 5), (0, 10, -9))
    np.testing.assert_array_equal(found, of((50, 0, 0), (0, 40, 5), (0, 10, 0)))
    assert found[0] > found[2] > 0


def test_probabilities_are_the_shares_of_the_leaf_a_row_reaches_or_there_are_none():
    rule = ThresholdRule(0, MIDDLE)
    tree = Tree(SCHEMA, Branch(rule, Leaf(0, (5, -1, 2), (0.75, 0.0, 0.25)), Leaf(2, None, (0.25, 0.25, 0.5))))
    data = table(SCHEMA, 30)
    found = tree.predict_proba(data)
    assert found.dtype == np.float64
    expected = [(0.75, 0.0, 0.25) if left else (0.25, 0.25, 0.5) for left in rule.goes_left(data.columns[0])]
    assert found.tolist() == [list(shares) for shares in expected]
    assert len(set(expected)) == 2
    for model in [
        Constant(SCHEMA, 0),
        Tree(SCHEMA, Leaf(0, (1, 2, 3))),
        Tree(SCHEMA, Branch(ThresholdRule(0, 1.0), Leaf(0), Leaf(1))),
    ]:
        with pytest.raises(UnsupportedError, match=rf"This model \({model.kind}\) .* holds no probabilities"):
            model.predict_proba(table(SCHEMA, 3))


def test_labels_of_least_expected_cost():
    rule = ThresholdRule(0, MIDDLE)
    tree = Tree(SCHEMA, Branch(rule, Leaf(0, (6, 3, 1), (0.6, 0.3, 0.1)), Leaf(0, None, (0.98, 0.01, 0.01))))
    missed_last = [[0, 1, 1], [1, 0, 1], [9, 9, 0]]  # to miss the last class costs nine times as much
    changed = tree.relabelled(missed_last)
    assert [leaf.label for leaf in changed.leaves] == [2, 0]
    assert [(leaf.counts, leaf.shares) for leaf in changed.leaves] == [(leaf.counts, leaf.shares) for leaf in tree.leaves]
    assert tree.relabelled(1 - np.eye(3)) == tree
    with pytest.raises(UnsupportedError):
        Tree(SCHEMA, Branch(rule, Leaf(0), Leaf(1))).relabelled(missed_last)
    with pytest.raises(ParameterError, match="must be 3 rows of 3 finite numbers"):
        tree.relabelled([[0, 1], [1, 0]])


def other(*features, classes=("c0", "c1", "c2")) -> EncodedDataset:
    schema = Schema(features, ClassTarget("y", classes))
    return table(schema, 3)


@pytest.mark.parametrize("model", [Tree(SCHEMA, Leaf(0)), Constant(SCHEMA, 0)])
def test_rows_that_do_not_fit_are_refused_with_the_reason(model):
    height, colour, age, town = SCHEMA.features
    with pytest.raises(SchemaError, match=r"The rows lack the model's columns \['height', 'town'\]"):
        model.predict(other(colour, age))
    with pytest.raises(SchemaError, match="The rows have other columns than the model"):
        model.predict(other(colour, height, age, town))
    with pytest.raises(SchemaError, match="colour: Its categories differ from the model's"):
        model.predict(other(height, CategoricalFeature("colour", ("red", "blue", "green", "grey")), age, town))
    with pytest.raises(SchemaError, match="height: Its declaration differs from the model's"):
        model.predict(other(CategoricalFeature("height", ("1",)), colour, age, town))
    with pytest.raises(SchemaError, match="y: Its declaration differs"):
        model.predict(other(*SCHEMA.features, classes=("c0", "c1", "c3")))
    wider = other(NumericFeature("height", -100, 100), colour, age, town)  # another declared range is no obstacle
    assert model.predict(wider).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("say", "cases"),
    [
        (
            format_number,
            [
                *[(0.0, "0"), (-0.0, "0"), (3, "3"), (0.5, "0.5"), (-2.25, "-2.25"), (1234.5, "1234.5"), (9999.997, "10,000")],
                *[(999999.5, "999,999.5"), (999999.7, "1,000,000"), (123456.789, "123,457"), (-2_500_000.0, "-2,500,000")],
                *[(1234567.25, "1,234,567"), (0.000123456789, "0.000123457"), (3 / 32768, "0.0000916"), (1e-8, "1e-08")],
                *[(0.30000000000000004, "0.3"), (1e14, "100,000,000,000,000"), (1e15, "1e+15")],
            ],
        ),
        (
            lambda value: leaf_in_words(PRICES, NumberLeaf(value)),
            [
                (-0.0, "0"),
                (12.3456, "12.35"),
                (999.96, "1000"),
                (9999.7, "10,000"),
                (-1234567.8, "-1,234,568"),
                (1.23e-7, "1.23e-07"),
            ],
        ),
    ],
)
def test_numbers_are_written_short_and_grouped(say, cases):
    assert [say(value) for value, _ in cases] == [text for _, text in cases]


def test_rules_in_words():
    features = (
        *(NumericFeature("height", 0, 3, unit="m"), NumericFeature("income", 0, 1e6)),
        *(CategoricalFeature("colour", ("red", "green", "blue")), CategoricalFeature("town", tuple(f"t{k}" for k in range(200)))),
    )
    schema = Schema(features, ClassTarget("y", ("n", "p")))
    eight = "town is t0 or t1 or t2 or t3 or t4 or t5 or t6 or"
    for rule, words in [
        (ThresholdRule(0, 1.75), "height ≤ 1.75 m"),
        (ThresholdRule(0, 1.7534), "height ≤ 1.753 m"),
        (ThresholdRule(1, 50000.0), "income ≤ 50,000"),
        (ThresholdRule(1, 51_234.56), "income ≤ 51,000"),
        (SubsetRule(2, (0, 2)), "colour is red or blue"),
        (SubsetRule(2, (1,)), "colour is green"),
        (SubsetRule(3, tuple(range(8))), f"{eight} t7"),
        (SubsetRule(3, tuple(range(150))), f"{eight} 143 more"),
    ]:
        assert rule_in_words(schema, rule) == words


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_threshold_is_said_within_a_thousandth_of_the_declared_range_and_never_outside_it(low, width, share):
    feature = NumericFeature("x", low, low + width)
    threshold = low + share * (feature.high - low)
    said = declared_precision(feature, threshold)
    assert abs(said - threshold) <= (feature.high - low) / 1000
    assert low <= said <= feature.high
    assert declared_precision(feature, said) == said
