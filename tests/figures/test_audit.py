"""Audit's pictures and words against the stored run and results made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpviz.app.audit.results import Known, audit_lines, subject_key
from dpviz.evaluation.audit.findings import AuditResult, WorstPair
from dpviz.evaluation.audit.smooth_leaf import RULES, delta_needed, first_violation, leaf_curve
from dpviz.evaluation.audit.universe import Universe
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.evaluation.audit.verify import verify
from dpviz.evaluation.audit.white_box import Ceiling
from dpviz.figures import audit
from dpviz.figures.audit import (
    ATTACKED,
    BADGES,
    END,
    SEARCHED,
    STYLES,
    AuditLine,
    against_claim,
    at_least_text,
    attack_sentence,
    attack_source,
    audit_chart,
    chance_chart,
    chance_text,
    extra_row,
    gaps_to_show,
    lead_sentence,
    leaf_chart,
    line_in_words,
    output_in_words,
    output_tree,
    pair_rows,
    pair_sentence,
    search_sentence,
    times_text,
    tried_sentence,
)
from dpviz.figures.charts import Chart
from dpviz.figures.theme import UNSOUND
from dpviz.figures.tree.svg import draw_tree
from dpviz.models.tree import ThresholdRule
from dpviz.results.wording import number_text
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
    line,
    pair,
    split,
)

NEIGHBOURS = "add/remove one row"
#: Of a lower bound that was found.
LOWER = ("within", "beyond", "nothing")


def drawn(*lines: AuditLine, epsilon: float = 1.0, is_of_guesses: bool = False, selected: str = "") -> Chart:
    return audit_chart(lines, epsilon=epsilon, is_of_guesses=is_of_guesses, selected=selected or lines[0].key)


def places(chart: Chart, key: str) -> dict[str, float]:
    """Sign -> where it stands for the line of this key."""
    found = {}
    for trace in chart.figure.data[:-1]:
        sign = next(sign for sign, words in audit.SIGNS.items() if trace.name in words)
        base = trace.base if trace.type == "bar" else 0
        found.update((sign, base + x) for x, of in zip(trace.x, trace.customdata, strict=True) if of == key)
    return found


def beyond_the_end(chart: Chart) -> list[str]:
    return list(chart.figure.data[-1].text)


class TestAxis:
    def test_every_sign_stands_at_its_number_or_is_an_arrow_with_it(self) -> None:
        shown = line("violated", composed=1.5, attacked=replace(BOUND, bound=0.25))
        assert places(drawn(shown), shown.key) == pytest.approx(
            {"composed": 1.5, "claimed": 1.0, "searched": math.log(4), "attacked": 0.25}
        )
        shown = line("violated", composed=math.inf, found=IMPOSSIBLE, attacked=replace(BOUND, bound=5.6))
        assert places(drawn(shown), shown.key) == {"composed": END, "claimed": 1.0}
        assert beyond_the_end(drawn(shown)) == ["→∞ ●∞ ◇5.6"]

    @pytest.mark.parametrize(
        ("shown", "beyond"),
        [
            (line("holds", attacked=BOUND), 0),
            (line("violated", attacked=BOUND), 1),
            (line("holds", found=BUG), 1),
            (line("none", claimed=math.inf, attacked=replace(BOUND, claimed=math.inf, composed=math.inf, bound=2.0)), 0),
        ],
    )
    def test_only_what_exceeds_the_claim_has_the_colour_of_what_cannot_be_relied_on(self, shown: AuditLine, beyond: int) -> None:
        assert sum(hue == UNSOUND for trace in drawn(shown).figure.data[1:-1] for hue in trace.marker.color) == beyond

    @pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
    def test_the_stored_run_is_drawn_and_tabulated_as_it_is(self, epsilon: float) -> None:
        run = stored_run()
        lines = audit_lines(Known(run, {}), epsilon)
        by_key = {item.key: item for item in lines}
        for facts in (facts for facts in run.facts if facts.epsilon == epsilon):
            key = subject_key(facts.learner, facts.params)
            chart = drawn(*lines, epsilon=epsilon, selected=key)
            at, far = places(chart, key), " ".join(beyond_the_end(chart))
            values = {"claimed": facts.claim.epsilon, "composed": facts.composed.epsilon}
            values |= {"searched": facts.searched.log_ratio} if facts.searched else {}
            values |= {"attacked": facts.attacked.bound} if facts.attacked else {}
            for sign, value in values.items():
                if value <= END * epsilon:
                    assert at[sign] == pytest.approx(value, abs=1e-9)
                elif sign != "claimed":
                    assert number_text(value) in far
            row = chart.rows[lines.index(by_key[key])]
            assert row["steps add up to"] == number_text(facts.composed.epsilon)
        assert len(chart.rows) == len(lines)

    def test_over_right_guesses_every_sign_stands_between_a_coin_and_certainty(self) -> None:
        bound = replace(BOUND, hits=(100, 600), n_tested=1000, n_done=2000)
        shown = line("holds", attacked=bound)
        chart = drawn(shown, is_of_guesses=True)
        assert places(chart, shown.key) == pytest.approx({"claimed": 73.1, "attacked": bound.right_guesses, "composed": 61.0})
        assert beyond_the_end(chart) == []

    def test_groups_count_their_learners_and_only_the_chosen_one_unfolds(self) -> None:
        default = line("violated")
        others = [replace(line("holds", "one tree"), title=default.title), replace(default, key="more", setting="big")]
        lines = (default, *others, line("holds"), line("none"), line(""))
        chart = drawn(*lines, selected=lines[3].key)
        assert [note.text.rpartition(" ")[2] for note in chart.figure.layout.annotations] == ["(1)", "(1)"]
        assert len(chart.figure.layout.yaxis.tickvals) == 2
        for key, n_lines in ((default.key, 4), ("more", 4), (line("none").key, 3)):
            chart = drawn(*lines, selected=key)
            assert len(chart.figure.layout.yaxis.tickvals) == n_lines
            assert len(chart.figure.layout.shapes) == 1
        assert len(chart.rows) == len(lines)

    @pytest.mark.parametrize("verdict", BADGES)
    def test_a_line_has_words_for_everything_it_draws(self, verdict: str) -> None:
        words = line_in_words(line(verdict, composed=math.inf, found=HOLDS, attacked=replace(BOUND, bound=0.25)))
        assert all(said in words for said in (BADGES[verdict].word, "≥ 0.5", "≥ 0.25", "∞", NEIGHBOURS, "61"))
        nothing = line("", **dict.fromkeys(("claimed", "composed", "claimed_guesses", "guesses", "found", "attacked")))
        assert places(drawn(nothing), nothing.key) == {}
        assert not any(character.isdigit() for character in line_in_words(nothing))


class TestSentences:
    def test_the_lead_counts_each_of_the_three_facts_of_default_settings_and_says_when_dpviz_is_wrong(self) -> None:
        beyond = replace(BOUND, bound=1.5, composed=110.0)
        lines = [line("holds", attacked=BOUND), line("violated", attacked=beyond), line("violated", found=None), line("unproven")]
        lines += [line("none"), line("")]
        assert lead_sentence(lines) == "1 of 4 private algorithms provably keep the ε they claim: 1 unproven, 2 violated."
        assert tried_sentence(lines) == (
            "3 were searched, 1 of them beyond their claim. 2 were attacked, 1 of them beyond their claim."
        )
        lines = [line("holds"), line("violated", "grow complete")]
        assert lead_sentence(lines) == "1 of 1 private algorithms provably keep the ε they claim."
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


class TestWorstPair:
    @pytest.mark.parametrize("name", EVERY)
    def test_bars_are_as_long_as_the_probabilities_and_only_too_much_is_hatched(self, name: str) -> None:
        result = EVERY[name]
        chart, chances = chance_chart(result), result.worst_pair.probabilities  # type: ignore[union-attr]
        (bars,) = chart.figure.data
        assert (bars.x, bars.text) == (chances, tuple(map(chance_text, chances)))
        assert all(number in chart.summary for number in bars.text)
        is_hatched = [shape == "/" for shape in bars.marker.pattern.shape]
        assert is_hatched == [audit.is_beyond(result) and chance == max(chances) for chance in chances]

    def test_the_line_stands_at_what_the_claim_allows_or_nowhere(self) -> None:
        (mark,) = chance_chart(VIOLATED).figure.layout.shapes
        assert mark.x0 == mark.x1 == pytest.approx(0.0016 * math.e)
        assert "1 in 230" in chance_chart(VIOLATED).summary
        assert chance_chart(IMPOSSIBLE).figure.layout.shapes[0].x0 == 0
        for result in (NONE, replace(HOLDS, worst_pair=pair(0.5, 0.6))):
            assert audit.allowed_chance(result) is None
            assert not chance_chart(result).figure.layout.shapes

    def test_one_table_has_both_data_sets_with_the_extra_row_last_and_equal_columns_once(self) -> None:
        rows = pair_rows(pair(0.1, 0.2))
        assert extra_row(pair(0.1, 0.2)) == ("a=0", "b=0", "y")
        assert [list(row.values()) for row in rows] == [["0", "1", "x", "2", "2"], ["0", "0", "y", "0", "1 (+ 1 added)"]]
        row, other = ("a0=1", "a1=1", "x"), ("a0=0", "a1=0", "y")
        found = WorstPair(("a0", "a1", "class"), (row,) * 6 + (other,) * 6, (row,) * 7 + (other,) * 6, (0.1, 0.2))
        assert [list(row.values()) for row in pair_rows(found)] == [["0", "y", "6", "6"], ["1", "x", "6", "7 (+ 1 added)"]]
        assert next(iter(pair_rows(found)[0])) == "a0 to a1 (identical)"
        rows = (("a0=1", "a1=1", "x"), ("a0=0", "a1=1", "x"))
        assert "identical" not in str(pair_rows(WorstPair(("a0", "a1", "class"), rows[:1], rows, (0.1, 0.2))))

    def test_verdicts_and_the_three_facts_have_signs_of_their_own(self) -> None:
        assert len({look.icon for look in BADGES.values()}) == len({look.word for look in BADGES.values()}) == len(BADGES)
        signs = [{kind[key].icon for key in keys} for kind, keys in ((BADGES, BADGES), (SEARCHED, LOWER), (ATTACKED, LOWER))]
        assert not (signs[0] & signs[1])
        assert not (signs[0] & signs[2])
        assert not (signs[1] & signs[2])
        assert SEARCHED.keys() == ATTACKED.keys()


class TestOutput:
    def test_the_tree_that_separates_is_drawn_whatever_its_rules(self) -> None:
        tree = output_tree(VIOLATED)
        assert tree is not None
        drawing = draw_tree(tree, title="t").standalone()
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


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0])
def test_losses_of_a_leaf_are_drawn_in_epsilons_with_the_first_broken_gap_told_apart_without_colour(epsilon):
    chart = leaf_chart([leaf_curve(rule, epsilon, gaps_to_show(epsilon)) for rule in RULES])
    traces = chart.figure.data
    assert len(traces) == 2 * len(RULES)
    broken = first_violation("smooth", epsilon)
    assert traces[1].y[broken] > 1
    assert max(traces[5].y) == pytest.approx(1)
    assert broken < gaps_to_show(epsilon)
    assert len({(trace.line.dash, trace.marker.symbol) for trace in traces[::2]}) == len(RULES)
    for said in (f"gap {broken} ", f"δ = {number_text(delta_needed('smooth', epsilon)[0])}", NEIGHBOURS):
        assert said in chart.summary
    assert [row["gap"] for row in chart.rows] == [str(gap) for gap in range(gaps_to_show(epsilon) + 1)]
    assert chart.rows[0]["flips, permute-and-flip"] == "50%"


def test_the_loss_at_gap_one_by_hand():
    """Odds exp(eps/2 e^(j eps)) of the larger class, gap 1 against 2."""
    odds = [0.5 * math.exp(gap) for gap in (1, 2)]
    loss = math.log((1 + math.exp(odds[1])) / (1 + math.exp(odds[0])))
    row = leaf_chart([leaf_curve(rule, 1.0, 3) for rule in RULES]).rows[1]
    assert float(row[f"reveals, {STYLES['smooth'][0]}"].split()[0]) == pytest.approx(loss, rel=0.01)
