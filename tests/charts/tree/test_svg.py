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

from dpviz.charts.theme import N_STEPS
from dpviz.charts.tree.svg import NodeNotes, draw_tree
from dpviz.charts.tree.text import node_in_words
from dpviz.models.tree import Branch, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "tree.svg"
SVG = "{http://www.w3.org/2000/svg}"
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


def nodes(root: ElementTree.Element, kind: str = "node") -> list[ElementTree.Element]:
    return [node for node in root.findall(f"{SVG}g[@role='treeitem']") if kind in str(node.get("class")).split()]


def texts(root: ElementTree.Element, kind: str = "") -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text") if kind in str(text.get("class"))]


def sizes(root: ElementTree.Element, kind: str, side: str = "width") -> list[float]:
    return [float(str(rect.get(side))) for rect in root.iter(f"{SVG}rect") if rect.get("class") == kind]


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


def test_names_are_shown_as_they_are_and_the_file_stands_alone() -> None:
    shown = texts(draw(named("<b>", '"&"', "'<i>'")))
    assert {"<b> 1", 'is "&"', "'<i>'"} <= set(shown)
    svg = draw_tree(named("\u202ea\x1b", "\u2067b", "c\x00"), title="\u202et").standalone()
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", svg)
    svg.encode("utf-8")
    assert "שלום 2\u200e is c" in texts(draw(named("שלום", "c", "l"), narrow=True))
    drawing = draw_tree(named("n" * 200, "c", "l"), title="t").at_measured_width().standalone()
    fixed = [text for text in ElementTree.fromstring(drawing).iter(f"{SVG}text") if text.get("class") in ("name", "rule")]
    assert all(0 < float(str(text.get("textLength"))) < 400 for text in fixed)  # in any font
    root = draw(named("n" * 200, "c", "l"))  # cut in its box, whole for a screen reader
    assert any(f"Asks: {'n' * 200} 1 ≤ 5?" in str(title.text) for title in root.iter(f"{SVG}title"))
    assert not any("n" * 200 in words for words in texts(root))
    assert "prefers-color-scheme:dark" in svg
    assert not re.search(r"href|@import|url\(|<script|<image|foreignObject", svg)
    assert set(re.findall(r"https?://[^\"]+", svg)) == {"http://www.w3.org/2000/svg"}


def test_every_node_is_a_tree_item_in_words_edges_say_true_or_false_and_tab_goes_to_the_chosen_node(
    small_tree: Tree,
) -> None:
    root = draw(small_tree, marks={"L": "63%"})
    assert (root.get("role"), root.get("aria-label")) == ("tree", "Decision tree")
    assert [node.get("data-path") for node in nodes(root)] == [placed.id for placed in small_tree.nodes()]
    assert [node.get("aria-level") for node in nodes(root)] == [str(placed.depth + 1) for placed in small_tree.nodes()]
    labels = [str(node.get("aria-label")) for node in nodes(root)]
    assert labels[0] == "Asks: age ≤ 37.5 years? Depth 0, the root."
    assert labels[1] == "Asks: housing is rent or own? Depth 1, reached by true. 63%."
    assert labels[-1] == "Predicts yes, class B. Depth 1, reached by false."
    assert texts(root, "mark") == ["63%"]
    for narrow in (False, True):
        assert Counter(texts(draw(small_tree, narrow=narrow), "side")) == {"true": 3, "false": 3}
    for leaf in nodes(root, "leaf"):
        assert str(leaf.get("class")).endswith({"A": "c0", "B": "c1"}[texts(leaf, "letter")[0]])

    def stops(selected: str | None) -> list[str | None]:
        return [node.get("data-path") for node in nodes(draw(small_tree, selected=selected)) if node.get("tabindex") == "0"]

    assert stops(None) == ["root"]
    assert stops("root.L.R") == ["root.L.R"]
    assert stops("root.of.another.tree") == ["root"]
    root = draw(small_tree, selected="root.L.R")
    assert [node.get("data-path") for node in nodes(root) if node.get("aria-selected") == "true"] == ["root.L.R"]
    on = {edge.get("data-to") for edge in root.iter(f"{SVG}path") if edge.get("class") == "edge on"}
    assert on == {"root.L", "root.L.R"}


def test_edges_grow_with_their_share_and_have_the_ink_of_the_draws_in_which_their_node_comes_back(small_tree: Tree) -> None:
    def thickness(widths: dict[str, float]) -> dict[str, float]:
        edges = draw(small_tree, row_shares=widths).iter(f"{SVG}path")
        return {str(edge.get("data-to")): float(str(edge.get("stroke-width"))) for edge in edges}

    drawn = thickness({"L": 0.75, "R": 0.25, "LL": 7.0, "LR": -1.0})
    assert drawn["root.L"] > drawn["root.R"] > drawn["root.L.R"]
    assert drawn["root.L.L"] == max(drawn.values())
    assert len(set(thickness({}).values())) == 1

    counts = {placed.path: 30 - 9 * len(placed.path) for placed in small_tree.nodes()}
    root = draw(small_tree, rerun_counts=counts, n_draws=30)
    for node in nodes(root):
        count = counts["".join(str(node.get("data-path")).split(".")[1:])]
        assert f"Came back in {count} of 30 draws." in str(node.get("aria-label"))
        assert ("faint" in str(node.get("class")).split()) == (count < 10)
    inks = {str(edge.get("data-to")): float(str(edge.get("opacity"))) for edge in root.iter(f"{SVG}path")}
    assert all(inks[f"{place}"] == max(inks.values()) for place in ("root.L", "root.R"))
    assert len(set(inks.values())) == small_tree.depth
    everywhere = {placed.path: 30 for placed in small_tree.nodes()}
    near = draw(small_tree, rerun_counts=everywhere, n_draws=30, threshold_ranges={"": (30.0, 45.5)})
    assert "≤ 37.5 years (30 to 45.5)" in texts(near)

    def boxes(**notes: object) -> list[tuple[str | None, ...]]:
        drawn = draw(small_tree, n_draws=30, **notes)
        return [tuple(rect.get(side) for side in ("x", "y", "width", "height")) for rect in drawn.iter(f"{SVG}rect")]

    never = dict.fromkeys(everywhere, 0)  # every node stays in its place when draws arrive, however few bring it back
    for narrow in (False, True):
        for near in ({}, {"": (1.0, 90.0), "L": (2.0, 3.0)}):
            assert boxes(rerun_counts=never, threshold_ranges=near, narrow=narrow) == boxes(narrow=narrow)


def test_a_leaf_with_a_number_shows_it_with_gauge_and_interval_in_order(rents: Tree) -> None:
    root = draw(rents)
    assert [name for leaf in nodes(root, "leaf") for name in texts(leaf, "name")] == ["480", "725.5", "1250"]
    assert [str(leaf.get("class")).split()[-1] for leaf in nodes(root, "leaf")] == ["s0", "s1", f"s{N_STEPS - 1}"]
    levels = sizes(root, "level", "height")
    assert levels[0] == 0 < levels[1] < levels[2]
    assert len(sizes(root, "gauge")) == 3
    assert not sizes(root, "band")
    assert node_in_words(rents, "LR") == "Predicts 725.5. Depth 2, reached by false."
    both = Branch(ThresholdRule(0, 50.0), NumberLeaf(20.0, (10.0, 30.0)), NumberLeaf(50.0, (40.0, 60.0)))
    root = draw(Tree(rents.schema, both))
    (first, second), (track, _) = sizes(root, "band"), sizes(root, "track")
    assert first == second == pytest.approx(0.4 * track, abs=0.1)  # 20 of the 50 between the ends
    assert nodes(root, "leaf")[0].get("aria-label") == "Predicts 20, mean 10 to 30 (95%). Depth 1, reached by true."
    css = draw_tree(Tree(rents.schema, both), title="t").css
    assert re.search(r"\.s0 \.share[^{]*\{fill:", css)  # as bright as its leaf on every ground


def test_the_drawing_is_the_golden_one(small_tree: Tree) -> None:
    notes = NodeNotes({"L": 0.75, "R": 0.25}, rerun_counts={"": 19, "L": 12, "R": 12}, n_draws=30)
    drawing = draw_tree(small_tree, notes, selected="root.L", title="Decision tree for repaid")
    svg = drawing.standalone()
    assert drawing.embedded() == re.sub(r"<style>.*?</style>\n", "", svg, flags=re.S)
    if os.environ.get("DPVIZ_WRITE_GOLDEN") == "1":
        GOLDEN.write_text(svg, encoding="utf-8")
    assert svg == GOLDEN.read_text(encoding="utf-8")


def test_a_leaf_that_no_row_gets_to_says_so_in_place_of_a_probability(loans: Schema) -> None:
    excluded = Branch(ThresholdRule(0, 20.0), Leaf(0), Branch(ThresholdRule(0, 19.0), Leaf(1, (2.0, 8.0), (0.2, 0.8)), Leaf(0)))
    root = draw(Tree(loans, excluded), probabilities={"L": (0.8, 0.7, 0.9), "RL": (0.8, 0.7, 0.9), "RR": (0.6, 0.5, 0.7)})
    assert {"no 80%", "yes (no row)", "no 60%"} <= set(texts(root))
    labels = {node.get("data-path"): str(node.get("aria-label")) for node in nodes(root)}
    assert [path for path, words in labels.items() if "No row can get here." in words] == ["root.R.L"]
    assert "Probability" not in labels["root.R.L"]
    assert len(sizes(root, "track")) == 2


def test_leaf_bars_and_words_are_the_probability_and_a_label_its_counts_contradict_says_so(small_tree: Tree) -> None:
    leaf = next(placed for placed in small_tree.nodes() if not isinstance(placed.node, Branch))
    root = draw(small_tree, probabilities={leaf.path: (0.8, 0.7, 0.95)})
    (found,) = [node for node in nodes(root) if node.get("data-path") == leaf.id]
    (track,), (share,), (band,) = (sizes(found, kind) for kind in ("track", "share", "band"))
    assert (share, band) == pytest.approx((0.8 * track, 0.25 * track), abs=0.1)
    assert "Probability 80%, between 70% and 95%." in str(found.get("aria-label"))
    assert len(sizes(root, "track")) == 1

    def of_two(name: str, *counts: tuple[int, int], **notes: object) -> list[str]:
        schema = Schema((NumericFeature("age", 0, 9, whole=True),), ClassTarget("y", (name, "b")))
        ends = (Leaf(label, of, (of[0] / 100, of[1] / 100)) for label, of in enumerate(counts))
        bars = {path: (of[label] / 100, 0.3, 0.7) for label, (path, of) in enumerate(zip("LR", counts, strict=True))}
        return texts(draw(Tree(schema, Branch(ThresholdRule(0, 4.5), *ends)), probabilities=bars, **notes))

    assert {"a (only 40%)", "b 60%", "≤ 4"} <= set(of_two("a", (40, 60), (40, 60)))
    reruns = {"rerun_counts": {"": 30, "L": 30, "R": 30}, "n_draws": 30}
    named = "readmitted within a month"
    assert {f"{named} 60%", "30 of 30"} <= set(of_two(named, (60, 40), (40, 60), **reruns))  # a page has room for two leaves
    long = "readmitted to a ward within a month, or to another hospital"
    for counts, end in (((60, 40), "… 60%"), ((40, 60), "… (only 40%)")):
        said = of_two(long, counts, (40, 60), **reruns)
        assert next(words for words in said if words.startswith("readm")).endswith(end)
