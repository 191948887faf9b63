"""Trees in words: names that reach no further than themselves, texts cut to a width, rules, paths."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from dpviz.charts.tree.text import ELLIPSIS, fit_pair, fit_text, path_in_words, rule_list, rule_parts, text_width, visible
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema

ANY_TEXT = st.text(st.characters(), max_size=60)


@given(ANY_TEXT)
def test_what_could_reach_beyond_a_name_is_gone_and_the_rest_is_one_line_of_xml(name: str) -> None:
    shown = {"age": "age", "two\nlines\tand\x00nul": "two lines and nul", "\u202eevil\u202c": "evil", "\ud800": "�"}
    shown |= {"a\u2066b\u2069c\u200e\ufeff": "abc", "x\ufffe\uffff": "x��", "\u200b": "�", "👩\u200d🔬": "👩\u200d🔬"}
    shown |= {"e" + "\u0301" * 50: "e" + "\u0301" * 4}
    assert {name: visible(name) for name in shown} == shown
    shown = visible(name)
    assert shown
    assert all(unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp") for c in shown)
    assert all(c in "\u200c\u200d" for c in shown if unicodedata.category(c) == "Cf")
    shown.encode("utf-8")


@given(ANY_TEXT, st.floats(30, 300))
def test_a_fitted_text_fits_and_starts_like_the_whole(name: str, width: float) -> None:
    whole = visible(name)
    shown = fit_text(whole, width, 13)
    assert text_width(shown, 13) <= width + 1e-9
    assert shown == whole or (shown.endswith(ELLIPSIS) and whole.startswith(shown.removesuffix(ELLIPSIS)))


def test_widths_and_cuts_respect_characters_marks_and_thresholds() -> None:
    name = "e\u0301" * 40
    assert fit_text(name, 60, 13).removesuffix(ELLIPSIS).endswith("\u0301")
    assert text_width("年年", 13) > 1.5 * text_width("ab", 13)
    assert text_width("e\u0301", 13) == text_width("e", 13)
    assert text_width("age", 13, bold=True) > text_width("age", 13)
    name, asked = fit_pair("a very long feature name", "≤ 12,345.6 per year", 120, 13, is_number=True)
    assert asked == "≤ 12,345.6"
    assert name.endswith(ELLIPSIS)
    assert fit_pair("age", "≤ 37.5 years", 120, 13, is_number=True) == ("age", "≤ 37.5 years")


@given(ANY_TEXT, ANY_TEXT, st.floats(80, 300), st.booleans())
def test_a_pair_fits(name: str, rest: str, width: float, is_number: bool) -> None:
    name, rest = fit_pair(visible(name), visible(rest), width, 13, is_number=is_number)
    assert text_width(name, 13, bold=True) + text_width(" ", 13) + text_width(rest, 13) <= width + 1e-9


def test_rules_have_a_name_and_a_question_are_short_and_one_per_leaf(
    small_tree: Tree, loans: Schema, complete: Callable[[int], Tree]
) -> None:
    assert rule_parts(loans, ThresholdRule(0, 37.5)) == ("age", "≤ 37.5 years")
    assert rule_parts(loans, SubsetRule(1, (0, 2))) == ("housing", "is rent or mortgage")

    assert [line.text for line in rule_list(small_tree)] == [
        "age ≤ 20 years and housing is rent or own → no",
        "20 < age ≤ 37.5 years and housing is rent or own → yes",
        "age ≤ 37.5 years and housing is mortgage or other → no",
        "age > 37.5 years → yes",
    ]
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


def test_nodes_and_paths_have_words_whose_names_are_made_visible(small_tree: Tree, rents: Tree) -> None:
    schema = Schema((CategoricalFeature("\u202ea\n", ("x", "y\x00")),), ClassTarget("t", ("\u202ec", "d")))
    tree = Tree(schema, Branch(SubsetRule(0, (0,)), Leaf(0), Leaf(1)))
    words = [rule_list(tree)[0].text, path_in_words(tree, "L")]
    assert words == ["a is x → c", "a is x: true"]
    assert path_in_words(small_tree, "LR") == "age ≤ 37.5 years: true, then housing is rent or own: false"
    assert path_in_words(small_tree, "") == "the root, where every row starts"
    assert [line.text for line in rule_list(rents)] == ["area ≤ 30 m² → 480", "30 < area ≤ 50 m² → 725.5", "area > 50 m² → 1250"]
