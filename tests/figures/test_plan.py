import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dpviz.evaluation.plan.consequences import Consequences, consequences_steps
from dpviz.evaluation.plan.planner import Goal
from dpviz.evaluation.plan.search import SearchAnswer, judge_point
from dpviz.evaluation.plan.simulate import plant
from dpviz.figures import plan as drawn
from dpviz.figures.plan import (
    AtRisk,
    answer_headline,
    answer_sentence,
    check_sentence,
    search_chart,
    so_far_headline,
)
from dpviz.learners import FitRequest
from dpviz.results.verdict import Unit
from dpviz.results.wording import number_text, rounded_up
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

WISH = Goal("accuracy", 0.8)
FAIR = AtRisk(lambda epsilon: 50.0)


def point(place: float, successes: int, draws: int):
    return judge_point(place, np.array([0.9] * successes + [0.5] * (draws - successes)), 0.8, 0.9, 0.001)


def answer(*points, grid=(0.01, 0.1, 1.0), complete=True) -> SearchAnswer:
    return SearchAnswer(grid, points, 0.9, 0.95, complete)


FOUND = answer(point(0.01, 3, 30), point(0.1, 450, 500), point(1.0, 200, 200))


def test_an_answer_says_what_is_enough_what_is_not_what_is_open_and_unreachable_only_where_shown():
    assert answer_headline(FOUND, "epsilon") == "ε = 1 (add/remove one row) is enough"
    said = answer_sentence(FOUND, "epsilon", WISH)
    assert "With ε = 1, 200 of 200 trees reached it." in said
    assert "With ε = 0.01, 3 of 30 did: shown not to be enough." in said
    assert "Undecided: ε = 0.1." in said
    assert "95% confidence" in said
    assert answer_headline(answer(point(1.0, 3, 30)), "epsilon") == "Not reachable, not even with ε = 1 (add/remove one row)"
    assert answer_headline(answer(point(1.0, 450, 500)), "epsilon").startswith("Not shown to be reachable")
    assert answer_headline(answer(complete=False), "epsilon").startswith("Stopped")
    assert "middle tree there had 50%" in answer_sentence(answer(point(1.0, 3, 30)), "epsilon", WISH)
    rows = answer(point(5_000, 200, 200), grid=(100, 5_000))
    assert answer_headline(rows, "n_rows") == "5,000 rows are enough"
    assert answer_headline(answer(point(3, 200, 200), grid=(4, 3)), "max_depth") == "Depth 3 still works"


def test_an_epsilon_is_told_by_what_it_lets_others_guess():
    of_person = AtRisk({0.01: 50.3, 0.1: 52.4, 1.0: 61.2}.__getitem__, Unit(3, "one patient"))
    three = "ε = 3 (add/remove one patient, up to 3 rows; one row: ε = 1)"
    said = f"At most 62 of 100 guesses about one patient may be right: {three} is enough"
    assert answer_headline(FOUND, "epsilon", of_person) == said
    refuted = answer_headline(answer(point(1.0, 3, 30)), "epsilon", of_person)
    assert refuted.endswith(f"{three}, where at most 62 of 100 guesses about one patient may be right")
    assert f"{three}, where at most 62 of 100" in so_far_headline(FOUND, "epsilon", of_person)
    rows = search_chart(FOUND, "epsilon", "", of_person).rows()
    assert [row["ε (add/remove one patient, up to 3 rows)"] for row in rows] == ["0.03", "0.3", "3"]
    assert [row["right guesses of 100, one patient"] for row in rows] == ["50.3", "52.4", "61.2"]
    unbounded = AtRisk(lambda epsilon: math.inf)
    assert answer_headline(FOUND, "epsilon", unbounded).startswith("Nothing limits what can be learned about one row: ε = 1")
    assert "right guesses" not in str(search_chart(FOUND, "n_rows", "", of_person).rows())
    assert answer_headline(answer(point(5_000, 200, 200), grid=(100, 5_000)), "n_rows", of_person) == "5,000 rows are enough"


def test_the_figure_marks_every_point_by_shape_its_limits_and_the_answer():
    figure = search_chart(FOUND, "epsilon", "", FAIR).figure
    assert [trace.marker.symbol for trace in figure.data] == ["triangle-down", "diamond", "triangle-up"]
    for trace, found in zip(figure.data, FOUND.points, strict=True):
        assert trace.y[0] + trace.error_y.array[0] == pytest.approx(100 * found.high)
        assert trace.y[0] - trace.error_y.arrayminus[0] == pytest.approx(100 * found.low)
    assert "add/remove one row" in figure.layout.xaxis.title.text
    figure = search_chart(FOUND, "epsilon", "", FAIR).figure
    assert [trace.name for trace in figure.data if trace.showlegend] == ["not enough", "undecided", "enough"]
    (answer,) = [shape for shape in figure.layout.shapes if shape.x0 == shape.x1]
    assert answer.x0 == FOUND.reached.place
    (name,) = [note for note in figure.layout.annotations if note.text == f" <b>ε = {FOUND.reached.place:g}</b>"]
    assert name.x == pytest.approx(math.log10(FOUND.reached.place))  # where plotly wants it on such an axis
    refuted = replace(FOUND, points=FOUND.points[:1])
    assert not [shape for shape in search_chart(refuted, "epsilon", "", FAIR).figure.layout.shapes if shape.x0 == shape.x1]
    assert [row["verdict"] for row in search_chart(FOUND, "epsilon", "", FAIR).rows()] == ["not enough", "undecided", "enough"]


def test_what_was_only_looked_at_is_no_verdict_and_has_no_limits_drawn():
    found = answer(point(0.01, 8, 10), point(0.1, 450, 500), point(1.0, 10, 10), complete=False)
    assert [row["verdict"] for row in search_chart(found, "epsilon", "", FAIR).rows()] == [
        "first look",
        "undecided",
        "first look",
    ]
    look, undecided = search_chart(found, "epsilon", "", FAIR).figure.data
    assert look.error_y.array is None
    assert list(look.x) == [0.01, 1.0]
    assert undecided.error_y.array[0] > 0
    assert so_far_headline(found, "epsilon").startswith("Every value has had a first look")
    assert so_far_headline(FOUND, "epsilon").startswith("Enough: ε = 1 (add/remove one row).")
    assert "Undecided: ε = 0.1." in answer_sentence(answer(*FOUND.points, point(2.0, 10, 10)), "epsilon", WISH)


def test_a_check_says_when_the_answer_did_not_hold():
    assert "did not hold" in check_sentence(point(1.0, 3, 30), "epsilon", WISH)
    assert "held, by more than chance" in check_sentence(point(1.0, 200, 200), "epsilon", WISH)
    assert "In line" in check_sentence(point(1.0, 450, 500), "epsilon", WISH)


SCHEMA = Schema((NumericFeature("a", 0, 8), NumericFeature("b", 0, 8)), ClassTarget("y", ("no", "yes")))


WORLD = plant(SCHEMA, n_rows=2_000, strength=0.8, depth=1, seed=1)


@cache
def consequences(learner: str = "pf-tree") -> Consequences:
    setup = FitRequest.of(learner, epsilon=1.0, max_depth=2, depth=2)
    *_, found = consequences_steps(WORLD, setup, seed=1, epsilons=(0.01, 0.1, 1.0), draws=60)
    return found


class TestConsequences:
    @pytest.mark.slow
    def test_the_words_of_three_panels_carry_the_numbers_of_one_epsilon_of_a_row_and_of_a_person(self):
        found = consequences()
        item = found.at(1.0)
        accuracy, risk, poison = drawn.consequence_sentences(item, found, candidates=2, above=found.majority)
        said = float(re.search(r"right on ([\d.]+)%", accuracy)[1])
        assert said == pytest.approx(100 * item.accuracy(0.5), abs=0.06)
        assert f"at most {number_text(100 * item.right_guesses())} to be right; without the tree, 50" in risk
        assert f"{item.protected(found.majority):,} poisoned" in poison
        item = consequences().at(1.0)
        fair, many = (drawn.risk_sentence(item, candidates) for candidates in (2, 48_842))
        assert "whether one row was used" in fair
        assert "at most 0.00557 to be right" in many
        person = drawn.risk_sentence(item, 2, Unit(3, "one patient"))
        of_person, of_row = (rounded_up(100 * item.right_guesses(rows=rows), 1) for rows in (3, 1))
        assert f"whether one patient was used, what this algorithm does allows at most {of_person}" in person
        assert f"(one row: {of_row})" in person
        (*_, cells) = drawn.consequences_chart(
            consequences(), cursor=1.0, candidates=2, above=0.5, unit=Unit(3, "one patient")
        ).rows()
        said = {name: text for name, text in cells.items() if name.startswith("right guesses")}
        assert list(said.values())[:2] == [of_person, of_row]
        assert said["right guesses of 100, any algorithm"] == "95.3"

    @pytest.mark.slow
    def test_three_panels_share_their_axis_and_cursor_of_a_row_or_of_a_person(self):
        unit, found = Unit(3, "one patient"), consequences()
        figure = drawn.consequences_chart(found, cursor=1.0, candidates=2, above=found.majority, unit=unit).figure
        assert figure.layout.xaxis3.title.text == "ε (add/remove one patient, up to 3 rows)"
        assert list(figure.data[1].x) == pytest.approx([3 * item.epsilon for item in found.found])
        assert [shape for shape in figure.layout.shapes if shape.x0 == shape.x1 == 3.0]
        searched = search_chart(FOUND, "epsilon", "", AtRisk(FAIR.guesses, unit)).figure
        assert searched.layout.xaxis.title.text == figure.layout.xaxis3.title.text
        assert sorted(x for trace in searched.data for x in trace.x) == pytest.approx([0.03, 0.3, 3.0])
        assert "With ε = 3 (one row: ε = 1)," in answer_sentence(FOUND, "epsilon", WISH, unit)
        found = consequences()
        figure = drawn.consequences_chart(found, cursor=0.1, candidates=2, above=found.majority).figure
        (cursor,) = [shape for shape in figure.layout.shapes if shape.x0 == shape.x1 == 0.1]
        assert (cursor.yref, cursor.y0, cursor.y1) == ("paper", 0, 1)
        assert figure.layout.xaxis.range == figure.layout.xaxis2.range == figure.layout.xaxis3.range
        assert len(drawn.consequences_chart(found, cursor=1.0, candidates=2, above=found.majority).rows()) == 3

    @pytest.mark.slow
    def test_epsilons_that_withstand_are_a_range_or_not_reachable(self):
        found = consequences()
        rows = found.at(0.1).protected(found.majority)
        headline, explanation = drawn.protecting_sentence(found, rows, found.majority)
        assert headline.startswith("ε ")
        assert f"withstands {rows:,} poisoned" in headline
        assert "95% confidence" in explanation
        assert drawn.protecting_sentence(found, 100_000, found.majority)[0].startswith("Not reachable: no ε between 0.01 and 1")

    def test_a_learner_without_privacy_gets_no_guarantee_anywhere(self):
        found = consequences("cart")
        _, risk, poison = drawn.consequence_sentences(found.at(1.0), found, candidates=2, above=found.majority)
        assert "nothing limits" in risk
        assert "No protection is proved" in poison
        assert drawn.protecting_sentence(found, 1, 0.5) == ("No guarantee", found.reason)
        figure = drawn.consequences_chart(found, cursor=1.0, candidates=2, above=found.majority).figure
        assert all(value == 100 for value in figure.data[2].y)
