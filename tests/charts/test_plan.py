"""Plan's pictures and words against answers of searches and consequences made by hand."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from dpviz.charts import plan as drawn
from dpviz.charts.chart import Chart
from dpviz.charts.plan import AtRisk, answer_headline, answer_sentence, search_chart
from dpviz.evaluation.plan import Consequence, Consequences, Goal, SearchAnswer, judge_point
from dpviz.evaluation.simulate import STRENGTHS as SIGNALS
from dpviz.evaluation.simulate import ExpectedScores
from dpviz.learners import FitRequest
from dpviz.results.verdict import ROW, Unit
from dpviz.results.wording import number_text, rounded_up
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.curves import DRAWS, certified
from tests.support.golden_charts import assert_golden

WISH = Goal("accuracy", 0.8)
FAIR = AtRisk(lambda epsilon: 50.0)
PATIENT = Unit(3, "one patient")
OF_PERSON = AtRisk({0.01: 50.3, 0.1: 52.4, 1.0: 61.2}.__getitem__, PATIENT)
SCHEMA = Schema((NumericFeature("a", 0, 8), NumericFeature("b", 0, 8)), ClassTarget("y", ("no", "yes")), n_public=1000)
EPSILONS = (0.01, 0.1, 1.0)


def point(place: float, successes: int, draws: int):
    return judge_point(place, np.array([0.9] * successes + [0.5] * (draws - successes)), 0.8, 0.9, 0.001)


def answer(*points, grid=EPSILONS, complete=True) -> SearchAnswer:
    return SearchAnswer(grid, points, 0.9, 0.95, complete)


def consequences(learner: str = "pf-tree", reason: str = "", draws: np.ndarray = DRAWS, rows: int = 1) -> Consequences:
    schema = replace(SCHEMA, rows_per_person=rows)

    def at(epsilon: float) -> Consequence:
        risk = FitRequest.of(learner, epsilon=epsilon, max_depth=2, depth=2).risk(schema).for_rows(rows)
        return Consequence(epsilon, certified(learner, epsilon, reason=reason, draws=draws).table, risk)

    return Consequences(tuple(map(at, EPSILONS)), len(DRAWS))


FOUND = answer(point(0.01, 3, 30), point(0.1, 450, 500), point(1.0, 200, 200))
LOOKED = answer(point(0.01, 8, 10), point(0.1, 450, 500), point(1.0, 10, 10), complete=False)
ROWS = answer(point(5_000, 200, 200), grid=(100, 5_000))
REFUTED, OPEN = answer(point(1.0, 3, 30)), answer(point(1.0, 450, 500))
STRENGTHS = (ExpectedScores("little", 0.3, 0.76, 0.76, 0.02, 0.0, 40), ExpectedScores("much", 0.9, 0.76, 0.85, 0.6, 0.95, 40))


def panels(found: Consequences, cursor: float = 1.0, unit: Unit = ROW) -> Chart:
    return drawn.consequences_chart(found, cursor=cursor, unit=unit)


REVIEWED = {
    "search": lambda: search_chart(FOUND, "epsilon", "So.", FAIR),
    "search-person": lambda: search_chart(FOUND, "epsilon", "So.", OF_PERSON),
    "search-first-look": lambda: search_chart(LOOKED, "epsilon", "So.", FAIR),
    "expected": lambda: drawn.expected_chart(STRENGTHS, "repaid", "default"),
    "words": lambda: [
        *(answer_headline(found, "epsilon") for found in (FOUND, REFUTED, OPEN, answer(complete=False))),
        *(answer_headline(found, "epsilon", OF_PERSON) for found in (FOUND, REFUTED)),
        answer_headline(FOUND, "epsilon", AtRisk(lambda epsilon: math.inf)),
        answer_headline(ROWS, "n_rows"),
        answer_headline(answer(point(3, 200, 200), grid=(4, 3)), "max_depth"),
        *(answer_sentence(found, "epsilon", WISH) for found in (FOUND, REFUTED, answer(*FOUND.points, point(2.0, 10, 10)))),
    ],
}


def test_names_that_others_gave_are_plain_text_in_a_picture_and_short_in_its_legend():
    bold, long = "<b>yes</b>", "<i>" + "no " * 60
    names = [bars.name for bars in drawn.expected_chart(STRENGTHS, bold, long).figure.data]
    assert names[0].endswith("&lt;b&gt;yes&lt;/b&gt;")
    assert names[1].startswith("&lt;i&gt;no no")
    assert max(map(len, names)) < 80
    pictures = (
        search_chart(FOUND, "epsilon", "So.", replace(OF_PERSON, unit=Unit(3, bold))),
        panels(consequences(), unit=Unit(3, bold)),
    )
    for picture in pictures:
        assert "&lt;b&gt;yes" in str(picture.figure.to_dict())
        assert bold not in str(picture.figure.to_dict())


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"plan-{name}", REVIEWED[name]())


def uprights(chart: Chart) -> list[float]:
    return [shape.x0 for shape in chart.figure.layout.shapes if shape.x0 == shape.x1]


def test_limits_and_the_answer_are_those_that_were_found():
    chart = search_chart(FOUND, "epsilon", "", FAIR)
    for trace, found in zip(chart.figure.data, FOUND.points, strict=True):
        assert trace.y[0] + trace.error_y.array[0] == pytest.approx(100 * found.high)
        assert trace.y[0] - trace.error_y.arrayminus[0] == pytest.approx(100 * found.low)
    assert uprights(chart) == [FOUND.first_success.place]
    assert not uprights(search_chart(replace(FOUND, points=FOUND.points[:1]), "epsilon", "", FAIR))
    assert "right guesses" not in str(search_chart(FOUND, "n_rows", "", OF_PERSON).rows())
    assert answer_headline(ROWS, "n_rows", OF_PERSON) == answer_headline(ROWS, "n_rows")


@pytest.mark.slow
def test_the_words_of_three_panels_carry_the_numbers_of_one_epsilon_of_a_row_and_of_a_person():
    found = consequences()
    item = found.at(1.0)
    accuracy, risk, poison = drawn.consequence_sentences(found, 1.0)
    assert float(re.search(r"right on ([\d.]+)%", accuracy)[1]) == pytest.approx(100 * item.accuracy(0.5), abs=0.06)
    assert f"at most {number_text(100 * item.right_guesses)} to be right; without the tree, 50" in risk
    assert f"{item.certificate.protected_rows():,} poisoned" in poison
    hopeless = consequences(draws=DRAWS - 0.2)  # no better than one class
    assert drawn.consequence_sentences(hopeless, 1.0)[2].startswith("No protection is shown")
    of_three = consequences(rows=3)
    of_person = rounded_up(100 * of_three.at(1.0).right_guesses, 1)
    person = drawn.consequence_sentences(of_three, 1.0, PATIENT)[1]
    assert f"whether one patient was used, what this algorithm does allows at most {of_person} to be right;" in person
    (*_, cells) = panels(of_three, unit=PATIENT).rows()
    assert [text for name, text in cells.items() if name.startswith("right guesses")] == [of_person, "73.2"]


@pytest.mark.slow
def test_three_panels_share_their_axis_and_cursor_of_a_row_or_of_a_person_and_without_privacy_nothing_is_guaranteed():
    found = consequences()
    of_person, of_row = panels(found, unit=PATIENT), panels(found, cursor=0.1)
    assert of_person.figure.layout.xaxis3.title.text == "ε (add/remove one patient, up to 3 rows)"
    assert list(of_person.figure.data[1].x) == list(EPSILONS)
    assert set(uprights(of_person)) == {1.0}
    assert set(uprights(of_row)) == {0.1}
    axes = of_row.figure.layout
    assert axes.xaxis.range == axes.xaxis2.range == axes.xaxis3.range
    assert len(of_row.rows()) == len(EPSILONS)
    found = consequences("cart", "Nothing is claimed.")
    _, risk, poison = drawn.consequence_sentences(found, 1.0)
    assert "nothing limits" in risk
    assert "No protection is proved" in poison
    assert all(value == 100 for value in panels(found).figure.data[2].y)


@pytest.mark.parametrize(
    ("better", "words"),
    [
        ((1.0, 1.0, 1.0), "Better than always"),
        ((0.4, 1.0, 1.0), "If features say little, not reliably"),
        ((0.4, 0.89, 1.0), "If features say little or something, not reliably"),
        ((0.4, 0.5, 0.6), "Not reliably"),
    ],
)
def test_the_headline_never_calls_better_what_is_not_reliably_so(better, words):
    found = [ExpectedScores(name, 0.8, 0.8, 0.85, 0.6, share, 10) for name, share in zip(SIGNALS, better, strict=True)]
    assert drawn.expected_headline(found, "home").startswith(words)
    assert "80%" in drawn.expected_headline(found, "home")
    assert drawn.is_worth_it(tuple(found)) == (better[1] == 1.0)
