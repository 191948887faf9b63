"""The audit's figures, tables and sentences, looked into."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from dpviz.evaluation.audit.findings import AuditResult, WorstPair
from dpviz.evaluation.audit.universe import Universe
from dpviz.evaluation.audit.verify import verify
from dpviz.evaluation.audit.white_box import Ceiling
from dpviz.figures.audit import worst_pair as audit
from dpviz.figures.audit.separating_output import output_in_words, output_tree
from dpviz.figures.audit.text import (
    ATTACKED,
    BADGES,
    SEARCHED,
    against_claim,
    at_least_text,
    attack_sentence,
    attack_source,
    chance_text,
    lead_sentence,
    pair_sentence,
    search_sentence,
    times_text,
    tried_sentence,
)
from dpviz.figures.audit.worst_pair import extra_row, pair_tables
from dpviz.figures.tree.svg import tree_svg
from dpviz.models.tree import ThresholdRule
from tests.support.audits import (
    BOUND,
    BUG,
    EVERY,
    HOLDS,
    IMPOSSIBLE,
    NONE,
    NOTHING,
    UNPROVEN,
    VIOLATED,
    Reader,
    line,
    pair,
    split,
)

NEIGHBOURS = "add/remove one row"
#: Of a lower bound that was found.
LOWER = ("within", "beyond", "nothing")


class TestSentences:
    def test_the_lead_counts_each_of_the_three_facts_of_default_settings_and_says_when_dpviz_is_wrong(self) -> None:
        beyond = replace(BOUND, bound=1.5, composed=110.0)
        lines = [line("holds", attacked=BOUND), line("violated", attacked=beyond), line("violated", found=None), line("unproven")]
        lines += [line("none"), line("")]
        assert lead_sentence(lines) == "1 of 4 private algorithms are proved to keep the ε they claim: 1 unproven, 2 violated."
        assert tried_sentence(lines) == (
            "3 were searched, 1 of them beyond their claim. 2 were attacked, 1 of them beyond their claim."
        )
        lines = [line("holds"), line("violated", "grow complete")]
        assert lead_sentence(lines) == "1 of 1 private algorithms are proved to keep the ε they claim."
        assert tried_sentence(lines).startswith("1 were searched")
        assert lead_sentence([line("none"), line("")]) == "Nothing is stored yet."
        for bug in (line("holds", found=BUG), line("holds", attacked=replace(BOUND, bound=2.0))):
            assert lead_sentence([bug]).endswith("that is a bug in dpviz.")

    @pytest.mark.parametrize(
        ("result", "key"), [(HOLDS, "within"), (VIOLATED, "beyond"), (BUG, "bug"), (NONE, "nothing"), (UNPROVEN, "within")]
    )
    def test_a_lower_bound_is_within_the_claim_beyond_it_or_a_bug(self, result: AuditResult, key: str) -> None:
        assert against_claim(result.log_ratio, result) == key

    @pytest.mark.parametrize(
        ("bound", "words"),
        [
            (0.99999, "≥ 0.999"),
            (1.0, "≥ 1"),
            (1.0 - 1e-12, "≥ 1"),
            (2.3567, "≥ 2.35"),
            (0.01239, "≥ 0.0123"),
            (0.0, "≥ 0"),
            (13.19, "≥ 13.1"),
            (math.inf, "∞"),
        ],
    )
    def test_a_lower_bound_is_rounded_down(self, bound: float, words: str) -> None:
        assert at_least_text(bound) == words

    def test_attacks_and_searches_carry_bound_confidence_delta_and_what_could_be_shown(self) -> None:
        said = attack_sentence(replace(BOUND, delta=1e-5))
        assert all(words in said for words in ("ε ≥ 0.4", "δ = 0.00001", "add/remove", "95%"))
        assert all(
            words in attack_source(replace(BOUND, canaries=8, hits=(3, 7))) for words in ("7 of 10", "8 canaries", "20 draws")
        )
        found = replace(BOUND, bound=0.8079, strength=0.8079, ceiling=Ceiling(0.913, 160_000))
        assert all(words in attack_sentence(found) for words in ("≥ 0.807", ": 80%", "160,000", "91%"))
        assert "nothing" in attack_sentence(replace(BOUND, ceiling=Ceiling(0.0, 3200)))
        assert "1.38" in search_sentence(VIOLATED)
        assert "No finite" in search_sentence(IMPOSSIBLE)

    @pytest.mark.parametrize(
        ("chance", "words"),
        [
            (0.0, "impossible"),
            (1.0, "certain"),
            (0.0947, "9.47%"),
            (0.01, "1%"),
            (1 / 199, "1 in 199"),
            (0.00047704864812695607, "1 in 2,100"),
            (2.8474029794758807e-10, "1 in 3,510,000,000"),
        ],
    )
    def test_a_probability_is_said_for_people(self, chance: float, words: str) -> None:
        assert chance_text(chance) == words

    def test_a_pair_is_told_by_its_ratio_and_infinity_is_words(self) -> None:
        said = f"Adding the marked row makes this tree 4 times as likely; ε = 1 ({NEIGHBOURS}) allows 2.72 times."
        assert pair_sentence(VIOLATED) == said
        assert pair_sentence(BUG).startswith("Taking the marked row away makes this tree 3.49 times as likely;")
        assert pair_sentence(IMPOSSIBLE).startswith(
            "This tree is possible with the marked row and impossible without it. No finite ε"
        )
        other = replace(IMPOSSIBLE, worst_pair=pair(0.25, 0.0))
        assert pair_sentence(other).startswith("This tree is possible without the marked row and impossible with it.")
        assert pair_sentence(NONE).endswith("Nothing was promised.")
        assert times_text(math.inf) == times_text(1e6) == "without limit"

    @pytest.mark.parametrize("name", EVERY)
    def test_an_epsilon_in_a_sentence_has_its_neighbours(self, name: str) -> None:
        said = pair_sentence(EVERY[name])
        assert "ε" not in said or NEIGHBOURS in said


class TestFigures:
    @pytest.mark.parametrize("name", EVERY)
    def test_bars_are_as_long_as_the_probabilities_and_carry_their_numbers(self, name: str) -> None:
        markup, chances = audit.chance_bars(EVERY[name]), EVERY[name].worst_pair.probabilities  # type: ignore[union-attr]
        widths = [float(width) for width in re.findall(r'class="dpa-bar[^>]*width:(.*?)%', markup)]
        assert [width * max(chances) for width in widths] == pytest.approx([chance * max(widths) for chance in chances], rel=1e-3)
        assert re.findall(r"<span>(.*?)</span>", markup) == ["without the row", "with the row"]
        numbers = re.findall(r"<b>(.*?)</b>", markup)
        assert numbers == list(map(chance_text, chances))
        assert all(number in audit.probability_sentence(EVERY[name]) for number in numbers)

    def test_the_mark_stands_at_what_the_claim_allows_inside_the_picture_or_nowhere(self) -> None:
        _, likelier = audit.chance_bars(VIOLATED).split("with the row</span>")
        (place,), (width,) = (re.findall(rf"{side}:(.*?)%", likelier) for side in ("left", "width"))
        assert float(place) / float(width) == pytest.approx(0.0016 * math.e / VIOLATED.worst_pair.probabilities[1], rel=1e-3)  # type: ignore[union-attr]
        assert "1 in 230" in audit.limit_note(VIOLATED)
        assert audit.allowed_chance(IMPOSSIBLE) == 0
        assert "0%" in audit.limit_note(IMPOSSIBLE)
        markup = audit.chance_bars(replace(HOLDS, worst_pair=pair(0.01, 0.011)))
        assert 'class="dpa-limit" style="left:100%"' in markup
        likely = replace(HOLDS, worst_pair=pair(0.5, 0.6))
        for result in (NONE, likely):
            assert audit.allowed_chance(result) is None
            assert audit.limit_note(result) == ""
            assert "dpa-limit" not in audit.chance_bars(result)

    def test_only_too_much_is_hatched(self) -> None:
        for name, hatched in (("holds", [""] * 2), ("unproven", [""] * 2), ("violated", ["", "yond"]), ("bug", ["yond", ""])):
            assert re.findall(r'class="dpa-bar(?: dpa-be)?(.*?)"', audit.chance_bars(EVERY[name])) == hatched


class TestTables:
    def test_verdicts_and_the_three_facts_have_signs_of_their_own(self) -> None:
        assert len({look.icon for look in BADGES.values()}) == len({look.word for look in BADGES.values()}) == len(BADGES)
        signs = [{kind[key].icon for key in keys} for kind, keys in ((BADGES, BADGES), (SEARCHED, LOWER), (ATTACKED, LOWER))]
        assert not signs[0] & signs[1]
        assert not signs[0] & signs[2]
        assert not signs[1] & signs[2]
        assert SEARCHED.keys() == ATTACKED.keys()

    def test_only_the_extra_row_is_marked_it_stands_last_and_names_are_escaped(self) -> None:
        shown = pair(0.1, 0.2)
        assert extra_row(shown) == ("a=0", "b=0", "y")
        markup = pair_tables(shown)
        assert markup.count("+ added") == markup.count("dpa-extra") == 1
        rows = re.findall(r"<tr class=\"(.*?)\">(.*?)</tr>", markup)
        assert [kind for kind, _ in rows] == ["", "", "", "", "dpa-extra"]
        assert re.findall(r"<td>(.*?)</td>", rows[-1][1]) == ["0", "0", "y"]
        row = ("a=0", "x")
        assert extra_row(WorstPair(("a", "class"), (row,), (row, row), (0.1, 0.2))) == row
        cells = WorstPair(("<i>", "class"), (), (("<i>=<u>", "<s>"),), (0.0, 1.0))
        assert not {"i", "u", "s"} & {tag for tag, _ in Reader(pair_tables(cells)).tags}

    def test_equal_columns_and_rows_stand_once_with_their_count(self) -> None:
        columns = ("a0", "a1", "b0", "b1", "class")
        row = ("a0=1", "a1=1", "b0=1", "b1=1", "x")
        heads = re.findall(r'<th scope="col">([^<]+)</th>', pair_tables(WorstPair(columns, (), (row,), (0.1, 0.2))))
        assert heads == ["a0 to a1 (identical)", "b0 to b1 (identical)", "class"] * 2
        rows = (("a0=1", "a1=1", "x"), ("a0=0", "a1=1", "x"))
        assert "identical" not in pair_tables(WorstPair(("a0", "a1", "class"), rows[:1], rows, (0.1, 0.2)))
        row, other = ("a=0", "x"), ("a=1", "y")
        markup = pair_tables(WorstPair(("a", "class"), (row,) * 6 + (other,) * 6, (row,) * 7 + (other,) * 6, (0.1, 0.2)))
        assert markup.count("× 6") == 4
        assert "(12 rows)" in markup
        assert "(13 rows)" in markup


class TestOutput:
    def test_the_tree_that_separates_is_drawn_whatever_its_rules(self) -> None:
        tree = output_tree(VIOLATED)
        assert tree is not None
        drawing = tree_svg(tree, widths=None, selected=None, title="t")
        assert "is 0" in drawing
        assert "a=0" not in drawing
        assert output_in_words(VIOLATED) == "If a is 0: x; otherwise: y."
        inner = {"feature": "b", "op": "<=", "threshold": 0.5, "left": {"leaf": "x"}, "right": {"leaf": "z"}}
        body = split("x", "y")["root"] | {"right": inner}
        rows = (("a=0", "0", "x"), ("a=1", "1", "y"))
        result = replace(VIOLATED, output={"root": body}, worst_pair=WorstPair(("a", "b", "class"), rows[:1], rows, (0.1, 0.2)))
        tree = output_tree(result)
        assert tree is not None
        assert tree.schema.classes == ("x", "y", "z")
        assert tree.root.right.rule == ThresholdRule(1, 0.5)  # type: ignore[union-attr]
        assert output_in_words(result) == "If a is 0: x; otherwise: (If b ≤ 0.5: x; otherwise: z)."
        result = replace(NONE, output={"leaf": "y"})
        tree = output_tree(result)
        assert tree is not None
        assert tree.n_leaves == 1
        assert output_in_words(result) == "Always y."

    @pytest.mark.parametrize("result", [NOTHING, replace(HOLDS, output={"counts": "3"}), replace(UNPROVEN, output={"root": 3})])
    def test_what_is_no_tree_is_not_drawn(self, result: AuditResult) -> None:
        assert output_tree(result) is None
        assert "If" not in output_in_words(result)


@pytest.mark.verify
def test_a_tree_of_numbers_is_a_tree_and_a_sentence():
    found = verify("pf-tree", epsilon=1.0, universes=(Universe((2,), n_classes=0, depth=1, max_rows=2),))
    tree = output_tree(found)
    assert tree.values == (0.5, 0.5)
    assert tree.schema.target.name == "number"
    assert output_in_words(found).startswith("If a is 0: 0.5; otherwise: 0.5.")
