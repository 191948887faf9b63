from itertools import pairwise
from xml.etree import ElementTree

import pytest

from dpviz.charts.theme import DIFFERENCES
from dpviz.charts.tree.layout import align, outline
from dpviz.charts.tree.pair import Side, differences, draw_pair, pair_sentence
from dpviz.charts.tree.svg import NodeNotes
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, ThresholdRule, Tree
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

SCHEMA = Schema((NumericFeature("age", 0, 100), NumericFeature("debt", 0, 100)), ClassTarget("y", ("no", "yes")))
NO, YES = Leaf(0), Leaf(1)


def age(threshold: float, left: Node, right: Node) -> Branch:
    return Branch(ThresholdRule(0, threshold), left, right)


def debt(threshold: float, left: Node, right: Node) -> Branch:
    return Branch(ThresholdRule(1, threshold), left, right)


def tree(root: Node) -> Tree:
    return Tree(SCHEMA, root)


def side(root: Node, name: str = "Now") -> Side:
    return Side(name, tree(root), NodeNotes())


OLD = age(30, debt(5, NO, YES), NO)
NEW = age(40, debt(5, NO, age(7, YES, NO)), YES)


def test_nodes_are_the_same_changed_different_or_about_other_rows_and_the_sentence_counts_questions():
    assert differences(tree(NEW), tree(OLD)) == {
        "": "changed",
        "L": "",
        "LL": "",
        "LR": "different",
        "LRL": "only here",
        "LRR": "only here",
        "R": "different",
    }
    assert set(differences(tree(OLD), tree(OLD)).values()) == {""}
    found = differences(tree(age(30, NO, YES)), tree(debt(30, NO, YES)))
    assert found == {"": "different", "L": "other rows", "R": "other rows"}
    numbers = [Tree(SCHEMA, NumberLeaf(value)) for value in (700.1, 700.1001, 800.0)]
    assert differences(numbers[0], numbers[1]) == {"": ""}
    assert differences(numbers[0], numbers[2]) == {"": "changed"}
    assert pair_sentence(side(OLD), side(NEW)) == "Of 3 questions now: 1 as in the pinned tree, 1 changed, 1 different."
    assert pair_sentence(side(OLD), side(OLD)) == "Both trees are the same."
    assert pair_sentence(side(OLD), side(NO)) == "The tree now asks no question."


def test_the_same_place_stands_at_the_same_height_and_nothing_overlaps():
    first, second = align(outline(tree(OLD)), outline(tree(NEW)))
    shared = first.by_path.keys() & second.by_path.keys()
    assert {first.by_path[path].y for path in shared} == {second.by_path[path].y for path in shared}
    for layout in (first, second):
        tops = sorted((placed.y, placed.bottom) for placed in layout.nodes)
        assert all(bottom < top for (_, bottom), (top, _) in pairwise(tops))
        assert all(placed.bottom < layout.height for placed in layout.nodes)


@pytest.mark.parametrize("narrow", [False, True])
def test_both_trees_are_trees_with_names_whose_nodes_say_how_they_differ(narrow: bool):
    drawn = ElementTree.fromstring(draw_pair(side(OLD, "Pinned: <1>"), side(NEW), selected="root.L", narrow=narrow).standalone())
    trees = [element for element in drawn.iter() if element.get("role") == "tree"]
    assert [element.get("aria-label") for element in trees] == (["Now", "Pinned: <1>"] if narrow else ["Pinned: <1>", "Now"])
    of_side = {"pinned": differences(tree(OLD), tree(NEW)), "now": differences(tree(NEW), tree(OLD))}
    for element in trees:
        notes = of_side[element.get("data-side")]
        nodes = {node.get("data-path"): node for node in element.iter() if node.get("data-path")}
        assert list(nodes) == [".".join(("root", *path)) for path in sorted(notes)]
        for path, note in notes.items():
            node = nodes[".".join(("root", *path))]
            assert note in node.get("aria-label").split(". ")[-1]
            assert (note in DIFFERENCES) == bool(DIFFERENCES.keys() & set(node.get("class").split()))
        assert [path for path, node in nodes.items() if node.get("aria-selected") == "true"] == ["root.L"]
    assert float(drawn.get("width")) <= (340 if narrow else 960)
