"""Audit's pictures and words against the stored run and results made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpviz.app.audit import AuditFacts, audit_lines, subject_key
from dpviz.charts import audit
from dpviz.charts.audit import AuditLine
from dpviz.charts.chart import Chart
from dpviz.charts.theme import UNSOUND
from dpviz.charts.tree.svg import draw_tree
from dpviz.evaluation.audit.evidence import WorstPair
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.evaluation.audit.verify import UNIVERSES, verify
from dpviz.models.tree import ThresholdRule
from dpviz.results.wording import number_text
from tests.support.audits import BOUND, BUG, EVERY, HOLDS, IMPOSSIBLE, NONE, NOTHING, UNPROVEN, VIOLATED, line, pair
from tests.support.golden_charts import assert_golden

PERSONS = "add/remove one person"
#: Of a lower bound that was found.
LOWER = ("within", "beyond", "nothing")
LINES = [
    line("holds", attacked=BOUND),
    line("violated", attacked=replace(BOUND, bound=1.5, composed=110.0)),
    line("violated", "grow complete", composed=math.inf, searched=IMPOSSIBLE, attacked=replace(BOUND, bound=5.6)),
    line("unproven", searched=None),
    line("none"),
    line(""),
]


def drawn(*lines: AuditLine, epsilon: float = 1.0, selected: str = "") -> Chart:
    return audit.audit_chart(lines, epsilon=epsilon, selected=selected or lines[0].key)


REVIEWED = {
    "lines": lambda: drawn(*LINES, selected=LINES[2].key),
    "chances": lambda: audit.chance_chart(VIOLATED),
    "words": lambda: [
        audit.lead_sentence(LINES),
        audit.lead_sentence([line("none"), line("")]),
        *map(audit.pair_sentence, (*EVERY.values(), replace(IMPOSSIBLE, worst_pair=pair(0.25, 0.0)))),
        *map(audit.output_in_words, (*EVERY.values(), NOTHING)),
        *map(audit.search_sentence, (VIOLATED, IMPOSSIBLE)),
        audit.attack_sentence(replace(BOUND, delta=1e-5)),
        audit.attack_sentence(replace(BOUND, delta=1e-5, right=0.52, any_noise=0.01, perfect=0.5)),
        audit.attack_source(replace(BOUND, delta=1e-5, right=0.52, any_noise=0.01, perfect=0.5)),
        audit.attack_sentence(replace(BOUND, bound=0.8079)),
        audit.attack_sentence(replace(BOUND, bound=0.0, perfect=0.0)),
        audit.attack_source(replace(BOUND, hits=(3, 7))),
        *map(audit.at_least_text, (0.99999, 1.0, 1.0 - 1e-12, 2.3567, 0.01239, 0.0)),
        *map(audit.chance_text, (0.0, 1.0, 0.0947, 1 / 199, 2.8474029794758807e-10)),
    ],
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name: str) -> None:
    assert_golden(f"audit-{name}", REVIEWED[name]())


def places(chart: Chart, key: str) -> dict[str, float]:
    """Sign -> where it stands for the line of this key."""
    found = {}
    for trace in chart.figure.data[:-1]:
        sign = next(sign for sign, words in audit.SIGNS.items() if trace.name == words)
        found.update((sign, x) for x, of in zip(trace.x, trace.customdata, strict=True) if of == key)
    return found


@pytest.mark.slow
def test_every_number_of_the_stored_run_is_at_its_place_or_an_arrow_with_it() -> None:
    run = stored_run()
    by_epsilon = {facts.epsilon: audit_lines(AuditFacts(run, {}), facts.epsilon) for facts in run.facts}
    for facts in run.facts:
        lines, key = by_epsilon[facts.epsilon], subject_key(facts.learner, facts.params)
        place = [item.key for item in lines].index(key)
        chart = drawn(*lines, epsilon=facts.epsilon, selected=key)
        at, far = places(chart, key), " ".join(chart.figure.data[-1].text)
        composed = max(facts.composed.epsilon, facts.searched.composed if facts.searched else 0.0)  # of proof and search
        values = {"claimed": facts.claim.epsilon, "composed": composed}
        values |= {"searched": facts.searched.log_ratio} if facts.searched else {}
        values |= {"attacked": facts.attacked.bound} if facts.attacked else {}
        for sign, value in values.items():
            if value <= audit.END * facts.epsilon:
                assert at[sign] == pytest.approx(value, abs=1e-9)
            elif sign != "claimed":
                text = number_text(value) if sign == "composed" else audit.at_least_text(value)  # as the table has it
                assert text.removeprefix("≥ ") in far
        assert chart.rows[place]["steps add up to"] == number_text(composed)
        assert (len(chart.rows), lines[place].verdict) == (len(lines), facts.claim.verdict)


def test_only_what_exceeds_the_claim_has_the_colour_of_what_cannot_be_relied_on_and_nothing_known_is_nothing_drawn() -> None:
    endless = replace(BOUND, claimed=math.inf, composed=math.inf, bound=2.0)
    for shown, beyond in (
        (line("holds", attacked=BOUND), 0),
        (line("violated", attacked=BOUND), 1),
        (line("holds", searched=BUG), 1),
        (line("none", claimed=math.inf, attacked=endless), 0),
    ):
        assert sum(hue == UNSOUND for trace in drawn(shown).figure.data[1:-1] for hue in trace.marker.color) == beyond
    nothing = line("", **dict.fromkeys(("claimed", "composed", "guesses", "searched", "attacked")))
    assert places(drawn(nothing), nothing.key) == {}
    (nothing_known,) = drawn(nothing).rows
    assert not any(character.isdigit() for words in nothing_known.values() for character in words)


def test_groups_count_their_learners_and_only_the_chosen_one_unfolds() -> None:
    default = line("violated")
    others = [replace(line("holds", "one tree"), title=default.title), replace(default, key="more", setting="big")]
    lines = (default, *others, line("holds"), line("none"), line(""))
    for key, n_lines in ((lines[3].key, 2), (default.key, 4), ("more", 4), (line("none").key, 3)):
        assert len(drawn(*lines, selected=key).figure.layout.yaxis.tickvals) == n_lines


def test_bounds_are_told_from_claims_rounded_down_and_probabilities_said_for_people() -> None:
    for bug in (line("holds", searched=BUG), line("holds", attacked=replace(BOUND, bound=2.0))):
        assert audit.lead_sentence([bug]).endswith("that is a bug in dpviz.")
    keys = {"within": HOLDS, "beyond": VIOLATED, "bug": BUG, "nothing": NONE}
    assert {key: audit.against_claim(result.log_ratio, result) for key, result in keys.items()} == {key: key for key in keys}
    assert audit.against_claim(UNPROVEN.log_ratio, UNPROVEN) == "within"
    assert audit.ratio_text(math.inf) == audit.ratio_text(1e6) == "without limit"
    kinds = (audit.BADGES.values(), *([kind[key] for key in LOWER] for kind in (audit.SEARCH_BADGES, audit.ATTACK_BADGES)))
    icons = [icon for kind in kinds for icon in {look.icon for look in kind}]
    assert len(icons) == len(set(icons))  # a verdict is told without its colour


def test_bars_are_as_long_as_the_probabilities_only_too_much_is_hatched_and_an_epsilon_has_its_neighbours() -> None:
    for result in EVERY.values():
        chart, chances = audit.chance_chart(result), result.worst_pair.probabilities  # type: ignore[union-attr]
        (bars,) = chart.figure.data
        assert (bars.x, bars.text) == (chances, tuple(map(audit.chance_text, chances)))
        is_hatched = [shape == "/" for shape in bars.marker.pattern.shape]
        assert is_hatched == [audit.is_beyond(result) and chance == max(chances) for chance in chances]
        assert "ε" not in audit.pair_sentence(result) or PERSONS in audit.pair_sentence(result)
        marks = [mark.x0 for mark in chart.figure.layout.shapes]
        limit = math.exp(result.claimed) * min(chances) if math.isfinite(result.claimed) else math.inf
        assert marks == ([pytest.approx(limit)] if limit < 1 else [])  # what the claim allows, or nowhere


def test_one_table_has_both_data_sets_with_the_extra_row_last_and_equal_columns_once() -> None:
    rows = audit.pair_rows(pair(0.1, 0.2))
    assert [list(row.values()) for row in rows] == [["0", "1", "x", "2", "2"], ["0", "0", "y", "0", "1 (1 added)"]]
    row, other = ("a0=1", "a1=1", "x"), ("a0=0", "a1=0", "y")
    found = audit.pair_rows(WorstPair(("a0", "a1", "class"), (row,) * 6 + (other,) * 6, (row,) * 7 + (other,) * 6, (0.1, 0.2)))
    assert [list(line.values()) for line in found] == [["0", "y", "6", "6"], ["1", "x", "6", "7 (1 added)"]]


def test_the_tree_that_separates_is_drawn_whatever_its_rules_and_what_is_no_tree_is_not() -> None:
    drawing = draw_tree(audit.output_tree(VIOLATED), title="t").standalone()
    assert "is 0" in drawing
    assert "a=0" not in drawing
    universe = next(place for place in UNIVERSES if place.numeric)
    body = {"feature": "a", "op": "<=", "threshold": 0.5, "left": {"leaf": "x"}, "right": {"leaf": "y"}}
    of_numbers = WorstPair(("a", "class"), (("0", "x"),), (("0", "x"), ("2", "y")), (0.1, 0.2))
    result = replace(VIOLATED, output={"root": body}, searched=universe.title, worst_pair=of_numbers)
    assert audit.output_tree(result).root.rule == ThresholdRule(0, 0.5)
    assert audit.output_in_words(result).startswith("a ≤ ")
    assert audit.output_tree(replace(NONE, output={"leaf": "y"})).n_leaves == 1
    for result in (NOTHING, replace(HOLDS, output={"counts": "3"}), replace(UNPROVEN, output={"root": 3})):
        assert audit.output_tree(result) is None
        assert "→" not in audit.output_in_words(result)


@pytest.mark.verify
def test_a_tree_of_numbers_is_a_tree_and_a_sentence() -> None:
    found = verify("pf-tree", epsilon=1.0, universes=(Universe((2,), n_classes=0, depth=1, max_rows=2),))
    tree = audit.output_tree(found)
    assert (tree.values, tree.schema.target.name) == ((0.5, 0.5), "number")
    assert audit.output_in_words(found).startswith("a is 0 → 0.5; ")
