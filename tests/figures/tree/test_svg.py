"""The drawing: golden file, meaning for screen readers, and no way for a name to become markup.

After a wanted change run it with DPVIZ_WRITE_GOLDEN=1, look at tests/golden/tree.svg, and commit that.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.figures.theme import N_STEPS
from dpviz.figures.tree.svg import NodeNotes, draw_tree
from dpviz.figures.tree.text import node_in_words
from dpviz.models.tree import Branch, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "tree.svg"
SVG = "{http://www.w3.org/2000/svg}"
BARS = ("track", "share", "band")
HOSTILE = [
    "<script>alert(1)</script>",
    '" onload="alert(1)',
    "' onclick='alert(1)",
    "</text><svg onload=alert(1)>",
    "</style><image href='http://example.org/x.png'/>",
    "]]><!--&amp;&lt;",
    "&xxe;",
    "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]>",
    "\u202egnp.exe\u202c",
    "ctrl\x00\x1b[31m\x7f\n\r\t",
    "👨\u200d👩\u200d👧 emoji",
    "\ud83d broken",
    "﷽" * 20,
    "x" * 200,
    "שלום",
]


def draw(tree: Tree, **options: object) -> ElementTree.Element:
    """With `options` of `draw_tree`, or of its notes."""
    notes = NodeNotes(**{field.name: options.pop(field.name) for field in fields(NodeNotes) if field.name in options})  # type: ignore[arg-type]
    return ElementTree.fromstring(draw_tree(tree, notes, **{"title": "Decision tree", **options}).standalone())  # type: ignore[arg-type]


def named(name: str, category: str, label: str, unit: str = "") -> Tree:
    """A tree in which every name is this one."""
    features = (NumericFeature(name + " 1", 0, 100, unit=unit), CategoricalFeature(name + " 2", (category, "other")))
    schema = Schema(features, ClassTarget("y", (label, "other")))
    return Tree(schema, Branch(ThresholdRule(0, 5.0), Branch(SubsetRule(1, (0,)), Leaf(0), Leaf(1)), Leaf(0)))


def markup(root: ElementTree.Element) -> Counter[tuple[str, tuple[str, ...]]]:
    """Elements with the names of their attributes."""
    return Counter((element.tag, tuple(sorted(element.attrib))) for element in root.iter())


def nodes(root: ElementTree.Element) -> list[ElementTree.Element]:
    return root.findall(f"{SVG}g[@role='treeitem']")


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_add_no_element_and_no_attribute(name: str, narrow: bool) -> None:
    marks = {"": name, "L": name, "LL": name}
    drawn = draw(named(name, name, name, unit=name), narrow=narrow, marks=marks, title=name)
    harmless = draw(named("n", "c", "l", unit="u"), narrow=narrow, marks=dict.fromkeys(marks, "m"), title="t")
    assert markup(drawn) == markup(harmless)


@given(st.text(min_size=1, max_size=40).filter(str.strip))
def test_any_name_gives_valid_xml_of_the_same_shape(name: str) -> None:
    assert markup(draw(named(name, name, name + "!"))) == markup(draw(named("n", "c", "l")))


def test_names_are_shown_as_they_are_and_no_control_reaches_the_file() -> None:
    root = draw(named("<b>", '"&"', "'<i>'"))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "<b> 1" in texts
    assert 'is "&"' in "\n".join(texts)
    assert "'<i>'" in texts
    svg = draw_tree(named("\u202ea\x1b", "\u2067b", "c\x00"), title="\u202et").standalone()
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", svg)
    svg.encode("utf-8")
    lines = ["".join(text.itertext()) for text in draw(named("שלום", "c", "l"), narrow=True).iter(f"{SVG}text")]
    assert "שלום 2\u200e is c" in lines
    name = "n" * 200
    root = draw(named(name, "c", "l"))
    assert any(f"Asks: {name} 1 ≤ 5?" in str(title.text) for title in root.iter(f"{SVG}title"))
    assert not any(name in "".join(text.itertext()) for text in root.iter(f"{SVG}text"))


def test_the_file_stands_alone() -> None:
    svg = draw_tree(named("a", "b", "c"), title="Tree").standalone()
    assert "prefers-color-scheme:dark" in svg
    assert not re.search(r"href|@import|url\(|<script|<image|foreignObject", svg)
    assert set(re.findall(r"https?://[^\"]+", svg)) == {"http://www.w3.org/2000/svg"}


def test_every_node_is_a_tree_item_in_words_and_edges_say_true_or_false(small_tree: Tree) -> None:
    root = draw(small_tree)
    assert (root.get("role"), root.get("aria-label")) == ("tree", "Decision tree")
    assert [node.get("data-path") for node in nodes(root)] == [placed.id for placed in small_tree.nodes()]
    assert [node.get("aria-label") for node in nodes(root)][:3] == [
        "Asks: age ≤ 37.5 years? Depth 0, the root.",
        "Asks: housing is rent or own? Depth 1, reached by true.",
        "Asks: age ≤ 20 years? Depth 2, reached by true.",
    ]
    assert nodes(root)[-1].get("aria-label") == "Predicts yes, class B. Depth 1, reached by false."
    assert [node.get("aria-level") for node in nodes(root)] == [str(placed.depth + 1) for placed in small_tree.nodes()]
    assert node_in_words(small_tree, "LLR") == "Predicts yes, class B. Depth 3, reached by false."
    for narrow in (False, True):
        texts = [text.text for text in draw(small_tree, narrow=narrow).iter(f"{SVG}text") if "side" in str(text.get("class"))]
        assert Counter(texts) == {"true": 3, "false": 3}
    leaves = [node for node in nodes(draw(small_tree)) if "leaf" in str(node.get("class"))]
    for leaf in leaves:
        letter = next(text.text for text in leaf.iter(f"{SVG}text") if text.get("class") == "letter")
        assert str(leaf.get("class")).endswith({"A": "c0", "B": "c1"}[str(letter)])
    root = draw(small_tree, marks={"L": "63%"})
    assert "63%" in str(nodes(root)[1].get("aria-label"))
    assert [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "mark"] == ["63%"]


def test_the_chosen_node_is_where_the_tab_key_goes_and_its_path_is_marked(small_tree: Tree) -> None:
    def stops(selected: str | None) -> list[str | None]:
        return [node.get("data-path") for node in nodes(draw(small_tree, selected=selected)) if node.get("tabindex") == "0"]

    assert stops(None) == ["root"]
    assert stops("root.L.R") == ["root.L.R"]
    assert stops("root.of.another.tree") == ["root"]
    root = draw(small_tree, selected="root.L.R")
    assert [node.get("data-path") for node in nodes(root) if node.get("aria-selected") == "true"] == ["root.L.R"]
    on = {edge.get("data-to") for edge in root.iter(f"{SVG}path") if edge.get("class") == "edge on"}
    assert on == {"root.L", "root.L.R"}


def test_edges_grow_with_their_share(small_tree: Tree) -> None:
    def thickness(widths: dict[str, float]) -> dict[str, float]:
        edges = draw(small_tree, widths=widths).iter(f"{SVG}path")
        return {str(edge.get("data-to")): float(str(edge.get("stroke-width"))) for edge in edges}

    drawn = thickness({"L": 0.75, "R": 0.25, "LL": 7.0, "LR": -1.0})
    assert drawn["root.L"] > drawn["root.R"] > drawn["root.L.R"]
    assert drawn["root.L.L"] == max(drawn.values())
    assert len(set(thickness({}).values())) == 1


def test_a_node_has_the_ink_of_the_draws_in_which_it_comes_back_and_says_their_thresholds(small_tree: Tree) -> None:
    paths = [placed.path for placed in small_tree.nodes()]
    counts = {path: 30 - 9 * len(path) for path in paths}
    root = draw(small_tree, came_back=counts, n_draws=30)
    for node in nodes(root):
        count = counts["".join(str(node.get("data-path")).split(".")[1:])]
        assert f"Came back in {count} of 30 draws." in str(node.get("aria-label"))
        assert ("faint" in str(node.get("class")).split()) == (count < 10)
    inks = {str(edge.get("data-to")): float(str(edge.get("opacity"))) for edge in root.iter(f"{SVG}path")}
    assert all(inks[f"{place}"] == max(inks.values()) for place in ("root.L", "root.R"))
    assert len(set(inks.values())) == small_tree.depth
    wide = {"came_back": {placed.path: 30 for placed in small_tree.nodes()}, "n_draws": 30}
    said = [text.text for text in draw(small_tree, **wide, between={"": (30.0, 45.5)}).iter(f"{SVG}text")]
    assert "≤ 37.5 years (30 to 45.5)" in said


def boxes(root: ElementTree.Element) -> list[tuple[str | None, ...]]:
    return [tuple(rect.get(side) for side in ("x", "y", "width", "height")) for rect in root.iter(f"{SVG}rect")]


@pytest.mark.parametrize("narrow", [False, True])
def test_every_node_stays_in_its_place_when_draws_arrive_however_few_bring_it_back(small_tree: Tree, narrow: bool) -> None:
    never = {placed.path: 0 for placed in small_tree.nodes()}
    before = draw(small_tree, n_draws=30, narrow=narrow)
    for near in ({}, {"": (1.0, 90.0), "L": (2.0, 3.0)}):
        assert boxes(draw(small_tree, n_draws=30, came_back=never, between=near, narrow=narrow)) == boxes(before)


def test_a_leaf_with_a_number_shows_it_with_gauge_and_interval_in_order(rents: Tree) -> None:
    leaves = [node for node in nodes(draw(rents)) if "leaf" in str(node.get("class"))]
    assert [next(text.text for text in leaf.iter(f"{SVG}text") if text.get("class") == "name") for leaf in leaves] == [
        "480",
        "725.5",
        "1250",
    ]
    assert [str(leaf.get("class")).split()[-1] for leaf in leaves] == ["s0", "s1", f"s{N_STEPS - 1}"]
    levels = [
        float(str(rect.get("height"))) for leaf in leaves for rect in leaf.iter(f"{SVG}rect") if rect.get("class") == "level"
    ]
    gauges = [rect for leaf in leaves for rect in leaf.iter(f"{SVG}rect") if rect.get("class") == "gauge"]
    assert levels == sorted(levels)
    assert levels[0] == 0 < levels[1] < levels[2]
    assert len(gauges) == 3
    assert node_in_words(rents, "LR") == "Predicts 725.5. Depth 2, reached by false."
    root = draw(Tree(rents.schema, NumberLeaf(3.0)))
    assert [str(node.get("class")).split()[-1] for node in nodes(root)] == [f"s{N_STEPS // 2}"]
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 100))
    both = Branch(ThresholdRule(0, 0.5), NumberLeaf(20.0, (10.0, 30.0)), NumberLeaf(50.0, (40.0, 60.0)))
    svg = draw_tree(Tree(schema, both), title="t").standalone()
    assert svg.count('class="band"') == 2
    assert "Predicts 20, mean 10 to 30 (95%). Depth 1, reached by true." in svg
    plain = Branch(ThresholdRule(0, 0.5), NumberLeaf(20.0), NumberLeaf(50.0))
    assert 'class="band"' not in draw_tree(Tree(schema, plain), title="t").standalone()


def test_the_drawing_is_the_golden_one(small_tree: Tree) -> None:
    notes = NodeNotes({"L": 0.75, "R": 0.25}, came_back={"": 19, "L": 12, "R": 12}, n_draws=30)
    drawing = draw_tree(small_tree, notes, selected="root.L", title="Decision tree for repaid")
    svg = drawing.standalone()
    assert drawing.embedded() == re.sub(r"<style>.*?</style>\n", "", svg, flags=re.S)
    if os.environ.get("DPVIZ_WRITE_GOLDEN") == "1":
        GOLDEN.write_text(svg, encoding="utf-8")
    assert svg == GOLDEN.read_text(encoding="utf-8")


def test_leaf_bars_and_words_are_the_probability_and_a_label_its_counts_contradict_says_so(small_tree: Tree) -> None:
    leaf = next(placed for placed in small_tree.nodes() if not isinstance(placed.node, Branch))
    root = draw(small_tree, bars={leaf.path: (0.8, 0.7, 0.95)})
    (found,) = [node for node in nodes(root) if node.get("data-path") == leaf.id]
    width = {kind: [float(str(r.get("width"))) for r in found.iter(f"{SVG}rect") if r.get("class") == kind] for kind in BARS}
    (track,), (share,), (band,) = (width[kind] for kind in BARS)
    assert share == pytest.approx(0.8 * track, abs=0.1)
    assert band == pytest.approx(0.25 * track, abs=0.1)
    assert "Probability 80%, between 70% and 95%." in str(found.get("aria-label"))
    assert sum(rect.get("class") == "track" for rect in root.iter(f"{SVG}rect")) == 1
    schema = Schema((NumericFeature("age", 0, 9, whole=True),), ClassTarget("y", ("a", "b")))
    leaves = Leaf(0, (40, 60), (0.4, 0.6)), Leaf(1, (40, 60), (0.4, 0.6))
    tree = Tree(schema, Branch(ThresholdRule(0, 4.5), *leaves))
    said = [text.text for text in draw(tree, bars={"L": (0.4, 0.3, 0.5), "R": (0.6, 0.5, 0.7)}).iter(f"{SVG}text")]
    assert {"a (only 40%)", "b 60%", "≤ 4"} <= set(said)
    schema = Schema((NumericFeature("age", 0, 9, whole=True),), ClassTarget("y", ("readmitted to a ward within a month", "b")))
    tree = Tree(schema, Branch(ThresholdRule(0, 4.5), Leaf(0, (60, 40), (0.6, 0.4)), Leaf(1, (40, 60), (0.4, 0.6))))
    root = draw(tree, bars={"L": (0.6, 0.5, 0.7), "R": (0.6, 0.5, 0.7)}, came_back={"": 30, "L": 30, "R": 30}, n_draws=30)
    (words,) = [str(text.text) for text in root.iter(f"{SVG}text") if str(text.text).startswith("readm")]
    assert words.endswith("… 60%")
