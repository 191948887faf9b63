"""Trees to draw."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema


@pytest.fixture
def loans() -> Schema:
    return Schema(
        (
            NumericFeature("age", 18, 90, unit="years"),
            CategoricalFeature("housing", ("rent", "own", "mortgage", "other")),
        ),
        ClassTarget("repaid", ("no", "yes")),
    )


@pytest.fixture
def small_tree(loans: Schema) -> Tree:
    """age <= 37.5 ? (housing is rent or own ? (age <= 20 ? no : yes) : no) : yes."""
    young = Branch(SubsetRule(1, (0, 1)), Branch(ThresholdRule(0, 20.0), Leaf(0), Leaf(1)), Leaf(0))
    return Tree(loans, Branch(ThresholdRule(0, 37.5), young, Leaf(1)))


@pytest.fixture
def complete(loans: Schema) -> Callable[[int], Tree]:
    """A complete tree of a depth."""

    def grow(depth: int) -> Node:
        return Leaf(depth % 2) if depth == 0 else Branch(ThresholdRule(0, 20.0 + depth), grow(depth - 1), grow(depth - 1))

    return lambda depth: Tree(loans, grow(depth))


@pytest.fixture
def chain(loans: Schema) -> Callable[[int], Tree]:
    """A tree that goes down on the right side only."""

    def grow(depth: int) -> Node:
        return Leaf(0) if depth == 0 else Branch(ThresholdRule(0, 20.0 + depth), Leaf(1), grow(depth - 1))

    return lambda depth: Tree(loans, grow(depth))


@pytest.fixture
def rents() -> Tree:
    """A tree of numbers: area <= 50 ? (area <= 30 ? 480 : 725.5) : 1250."""
    schema = Schema((NumericFeature("area", 10, 200, unit="m²"),), NumericTarget("rent", 0, 5000))
    small = Branch(ThresholdRule(0, 30.0), NumberLeaf(480.0), NumberLeaf(725.5))
    return Tree(schema, Branch(ThresholdRule(0, 50.0), small, NumberLeaf(1250.0)))
