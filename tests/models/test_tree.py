"""Trees: predictions against one row at a time, merging, walking, and rules in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import NoProbabilities, ParameterError, SchemaError
from dpviz.models.constant import Constant
from dpviz.models.tree import (
    Branch,
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


nodes = st.recursive(
    st.builds(Leaf, st.integers(0, 2)),
    lambda children: st.builds(Branch, rules(), children, children),
    max_leaves=20,
)


@given(nodes, st.integers(0, 10**6))
def test_predictions_are_those_of_every_single_row(root, seed):
    data = table(SCHEMA, 40, seed)
    tree = Tree(SCHEMA, root)
    predicted = tree.predict(data)
    assert predicted.dtype == np.uint8
    assert predicted.tolist() == trees.predict(tree, data)


@given(nodes)
def test_merging_keeps_every_prediction_and_leaves_no_siblings_of_one_label(root):
    tree = Tree(SCHEMA, root)
    merged = tree.merged()
    data = table(SCHEMA, 200)
    np.testing.assert_array_equal(merged.predict(data), tree.predict(data))
    for placed in merged.nodes():
        if isinstance(placed.node, Branch) and isinstance(placed.node.left, Leaf):
            assert placed.node.left != placed.node.right
    assert merged.merged() == merged
    assert merged.n_leaves <= tree.n_leaves


@given(nodes)
def test_nodes_come_parents_first_and_left_before_right(root):
    tree = Tree(SCHEMA, root)
    placed = list(tree.nodes())
    assert [item.path for item in placed] == sorted(item.path for item in placed)  # "" < "L" < "LL" < "LR" < "R"
    assert placed[0].node is root
    assert all(tree.node(item.path) is item.node for item in placed)
    assert [item.depth for item in placed] == [len(item.path) for item in placed]
    assert tree.depth == max(item.depth for item in placed)
    assert tree.n_leaves == (len(placed) + 1) // 2


def test_a_path_the_tree_lacks_is_a_key_error():
    for path in ["LL", "RRR", "RLL"]:
        tree = Tree(SCHEMA, Branch(ThresholdRule(0, 0.0), Leaf(0), Branch(ThresholdRule(0, 1.0), Leaf(1), Leaf(2))))
        with pytest.raises(KeyError, match=path):
            tree.node(path)


def test_on_the_threshold_goes_left():
    rule = ThresholdRule(0, 0.1)
    assert rule.goes_left(np.array([0.1, np.nextafter(0.1, 1)])).tolist() == [True, False]
    assert ThresholdRule(0, 2.5).goes_left(np.array([2, 3], dtype=np.int16)).tolist() == [True, False]


def test_subsets_of_codes_in_any_unsigned_type():
    for codes in [(), (0,), (1, 3), (0, 1, 2, 3), (250,)]:
        for dtype in (np.uint8, np.uint16):
            values = np.array([0, 1, 2, 3, 200], dtype=dtype)
            assert SubsetRule(0, codes).goes_left(values).tolist() == [int(value) in codes for value in values]
            assert SubsetRule(0, codes).goes_left(values[:0]).tolist() == []


def test_probabilities_are_the_shares_of_the_leaf_a_row_reaches():
    rule = ThresholdRule(0, MIDDLE)
    tree = Tree(SCHEMA, Branch(rule, Leaf(0, (5, -1, 2), (0.75, 0.0, 0.25)), Leaf(2, None, (0.25, 0.25, 0.5))))
    data = table(SCHEMA, 30)
    found = tree.predict_proba(data)
    assert found.dtype == np.float64
    expected = [(0.75, 0.0, 0.25) if left else (0.25, 0.25, 0.5) for left in rule.goes_left(data.columns[0])]
    assert found.tolist() == [list(shares) for shares in expected]
    assert len(set(expected)) == 2


def test_a_model_without_probabilities_says_so():
    for model in [
        Constant(SCHEMA, 0),
        Tree(SCHEMA, Leaf(0, (1, 2, 3))),
        Tree(SCHEMA, Branch(ThresholdRule(0, 1.0), Leaf(0), Leaf(1))),
    ]:
        with pytest.raises(NoProbabilities, match="holds no probabilities") as caught:
            model.predict_proba(table(SCHEMA, 3))
        assert caught.value.kind == model.kind


def test_labels_of_least_expected_cost():
    rule = ThresholdRule(0, MIDDLE)
    tree = Tree(SCHEMA, Branch(rule, Leaf(0, (6, 3, 1), (0.6, 0.3, 0.1)), Leaf(0, None, (0.98, 0.01, 0.01))))
    missed_last = [[0, 1, 1], [1, 0, 1], [9, 9, 0]]  # to miss the last class costs nine times as much
    changed = tree.relabelled(missed_last)
    assert [leaf.label for leaf in changed.leaves] == [2, 0]
    assert [(leaf.counts, leaf.shares) for leaf in changed.leaves] == [(leaf.counts, leaf.shares) for leaf in tree.leaves]
    assert tree.relabelled(1 - np.eye(3)) == tree
    with pytest.raises(NoProbabilities):
        Tree(SCHEMA, Branch(rule, Leaf(0), Leaf(1))).relabelled(missed_last)
    with pytest.raises(ParameterError, match="must be 3 rows of 3 finite numbers"):
        tree.relabelled([[0, 1], [1, 0]])


def test_merging_keeps_leaves_of_one_label_whose_probabilities_differ():
    rule = ThresholdRule(0, MIDDLE)
    near = Branch(rule, Leaf(0, None, (0.8, 0.1, 0.1)), Leaf(0, None, (0.7, 0.2, 0.1)))
    assert Tree(SCHEMA, near).merged().root == near


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


def test_another_declared_range_is_no_obstacle():
    _, *rest = SCHEMA.features
    wider = other(NumericFeature("height", -100, 100), *rest)
    assert Tree(SCHEMA, Leaf(1)).predict(wider).tolist() == [1, 1, 1]


def test_numbers_are_written_short_and_grouped():
    for value, text in [
        (0.0, "0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (37.5, "37.5"),
        (-2.25, "-2.25"),
        (1234.5, "1234.5"),
        (2007.5, "2007.5"),
        (9999.997, "10,000"),
        (10000.0, "10,000"),
        (999999.5, "999,999.5"),
        (999999.7, "1,000,000"),
        (123456.789, "123,457"),
        (1_000_000.0, "1,000,000"),
        (-2_500_000.0, "-2,500,000"),
        (1234567.5, "1,234,567.5"),
        (123456.5, "123,456.5"),
        (1234567.25, "1,234,567"),
        (-0.0, "0"),
        (3, "3"),
        (0.000123456789, "0.000123457"),
        (0.00001, "0.00001"),
        (3 / 32768, "0.0000916"),
        (-0.00000025, "-0.00000025"),
        (0.00000001, "1e-08"),
        (0.30000000000000004, "0.3"),
        (1e14, "100,000,000,000,000"),
        (1e15, "1e+15"),
        (1e22, "1e+22"),
    ]:
        assert format_number(value) == text


def test_rules_in_words():
    schema = Schema(
        (
            NumericFeature("height", 0, 3, unit="m"),
            NumericFeature("income", 0, 1e6),
            CategoricalFeature("colour", ("red", "green", "blue")),
        ),
        ClassTarget("y", ("n", "p")),
    )
    assert rule_in_words(schema, ThresholdRule(0, 1.75)) == "height ≤ 1.75 m"
    assert rule_in_words(schema, ThresholdRule(0, 1.7534)) == "height ≤ 1.753 m"
    assert rule_in_words(schema, ThresholdRule(1, 50000.0)) == "income ≤ 50,000"
    assert rule_in_words(schema, ThresholdRule(1, 51_234.56)) == "income ≤ 51,000"
    assert rule_in_words(schema, SubsetRule(2, (0, 2))) == "colour is red or blue"
    assert rule_in_words(schema, SubsetRule(2, (1,))) == "colour is green"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_threshold_is_said_within_a_thousandth_of_the_declared_range_and_never_outside_it(low, width, share):
    feature = NumericFeature("x", low, low + width)
    threshold = low + share * (feature.high - low)
    said = declared_precision(feature, threshold)
    assert abs(said - threshold) <= (feature.high - low) / 1000
    assert low <= said <= feature.high
    assert declared_precision(feature, said) == said


def test_a_question_about_hundreds_of_categories_names_eight_at_most():
    schema = Schema((CategoricalFeature("town", tuple(f"t{k}" for k in range(200))),), ClassTarget("y", ("n", "p")))
    assert rule_in_words(schema, SubsetRule(0, tuple(range(8)))) == "town is t0 or t1 or t2 or t3 or t4 or t5 or t6 or t7"
    assert rule_in_words(schema, SubsetRule(0, tuple(range(150)))) == "town is t0 or t1 or t2 or t3 or t4 or t5 or t6 or 143 more"


PRICES = Schema(SCHEMA.features, NumericTarget("price", 0, 100), n_public=100)
values = st.floats(-1e6, 1e6)
number_nodes = st.recursive(
    st.builds(NumberLeaf, values),
    lambda children: st.builds(Branch, rules(), children, children),
    max_leaves=20,
)


@given(number_nodes, st.integers(0, 10**6))
def test_a_tree_of_numbers_predicts_the_number_of_every_single_row(root, seed):
    rows = table(SCHEMA, 40, seed)
    data = EncodedDataset(PRICES, rows.columns, rows.target.astype(np.float64))
    tree = Tree(PRICES, root)
    predicted = tree.predict(data)
    assert predicted.dtype == np.float64
    assert predicted.tolist() == trees.predict(tree, data)
    assert tree.values == tuple(placed.node.value for placed in tree.nodes() if isinstance(placed.node, NumberLeaf))
    assert len(tree.values) == tree.n_leaves
    np.testing.assert_array_equal(tree.merged().predict(data), predicted)


def test_leaves_of_one_number_merge_and_near_ones_do_not():
    rule = ThresholdRule(0, 0.0)
    assert Tree(PRICES, Branch(rule, NumberLeaf(2.5), NumberLeaf(2.5))).merged().root == NumberLeaf(2.5)
    near = Branch(rule, NumberLeaf(2.5), NumberLeaf(2.5000001))
    assert Tree(PRICES, near).merged().root == near
    with pytest.raises(KeyError):
        Tree(PRICES, NumberLeaf(2.5)).node("L")


def test_a_predicted_number_is_said_in_few_digits():
    for value, said in [
        (0.0, "0"),
        (-0.0, "0"),
        (12.3456, "12.35"),
        (999.96, "1000"),
        (1234.5678, "1235"),
        (9999.7, "10,000"),
        (-1234567.8, "-1,234,568"),
        (1.23e-7, "1.23e-07"),
    ]:
        assert leaf_in_words(PRICES, NumberLeaf(value)) == said
