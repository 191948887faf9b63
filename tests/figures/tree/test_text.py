from __future__ import annotations

from collections.abc import Callable

from dpviz.figures.tree.text import node_in_short, path_in_words, rule_list
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema


def test_rules_are_short_and_one_per_leaf(small_tree: Tree, loans: Schema, complete: Callable[[int], Tree]) -> None:
    assert [line.text for line in rule_list(small_tree)] == [
        "age ≤ 20 years and housing is rent or own → no",
        "20 < age ≤ 37.5 years and housing is rent or own → yes",
        "age ≤ 37.5 years and housing is mortgage or other → no",
        "age > 37.5 years → yes",
    ]
    assert [line.path for line in rule_list(small_tree)] == ["LLL", "LLR", "LR", "R"]
    lines = rule_list(Tree(loans, Branch(SubsetRule(1, (2,)), Leaf(0), Leaf(1))))
    assert [line.conditions for line in lines] == [("housing is mortgage",), ("housing is not mortgage",)]
    numeric = Tree(loans, Branch(ThresholdRule(0, 20.0), Branch(ThresholdRule(0, 40.0), Leaf(0), Leaf(1)), Leaf(1)))
    assert [line.possible for line in rule_list(numeric)] == [True, False, True]
    assert rule_list(numeric)[1].text == "40 < age ≤ 20 years → yes (no row can get here)"
    subset = SubsetRule(1, (0,))
    categorical = Tree(loans, Branch(subset, Branch(subset, Leaf(0), Leaf(1)), Leaf(1)))
    assert [line.possible for line in rule_list(categorical)] == [True, False, True]
    assert rule_list(categorical)[1].conditions == ("housing is none of its categories",)
    assert len(rule_list(complete(5))) == 32


def test_nodes_and_paths_have_words(small_tree: Tree, rents) -> None:
    assert node_in_short(small_tree, small_tree.root) == "age ≤ 37.5 years"
    assert node_in_short(small_tree, small_tree.node("R")) == "→ yes"
    assert path_in_words(small_tree, "LR") == "age ≤ 37.5 years: true, then housing is rent or own: false"
    assert path_in_words(small_tree, "") == "the root, where every row starts"
    assert [line.text for line in rule_list(rents)] == ["area ≤ 30 m² → 480", "30 < area ≤ 50 m² → 725.5", "area > 50 m² → 1250"]
    assert node_in_short(rents, rents.node("R")) == "→ 1250"


def test_names_are_made_visible() -> None:
    schema = Schema(
        (CategoricalFeature("\u202ea\n", ("x", "y\x00")), NumericFeature("\u2067b", 0, 1)),
        ClassTarget("t", ("\u202ec", "d")),
    )
    tree = Tree(schema, Branch(SubsetRule(0, (0,)), Leaf(0), Leaf(1)))
    assert rule_list(tree)[0].text == "a is x → c"
    assert node_in_short(tree, tree.root) == "a is x"
    assert path_in_words(tree, "L") == "a is x: true"
