"""The lessons' pictures, and published epsilons, against the numbers they are drawn from."""

from __future__ import annotations

import csv
import math
from statistics import median

import pytest

from dpviz.evaluation.learn.deployments import FILE, deployments
from dpviz.evaluation.learn.growing import growing_tree
from dpviz.evaluation.learn.lessons import PoisonedStump, noisy_choice, noisy_counts
from dpviz.figures import learn
from dpviz.figures.wording import chance
from dpviz.installation import bundled
from dpviz.results.wording import rounded_up
from tests.support.audits import HOLDS, VIOLATED


@pytest.fixture
def stump():
    import numpy as np

    return PoisonedStump((np.array([0.4, 0.8]), np.array([0.01, 1.0])), 0.1, 500, 0.6)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_a_hundred_guesses_are_a_hundred_dots(epsilon):
    coin, tree, top, wrong = learn.guesses_chart(epsilon, (1.0,)).figure.data
    right, by_tree = math.ceil(learn.guesses(epsilon)), math.ceil(learn.guesses_by_tree(epsilon))
    assert [len(part.x) for part in (coin, tree, top, wrong)] == [50, by_tree - 50, right - by_tree, 100 - right]
    places = {(x, y) for part in (coin, tree, top, wrong) for x, y in zip(part.x, part.y, strict=True)}
    assert len(places) == 100


def test_the_sentence_of_the_guesses_says_odds_and_guesses():
    chart = learn.guesses_chart(1.0, [1.0])
    said = chart.summary
    assert "add/remove one row" in said
    assert "2.72 to 1" in said
    by_tree = learn.guesses_by_tree(1.0)
    assert 60 < by_tree <= 63
    assert f"74 of 100 guesses are right, whatever the algorithm. What PF-tree does allows {math.ceil(by_tree)}" in said
    (row,) = chart.rows
    assert list(row.values()) == ["1", "2.72 to 1", "73.2", rounded_up(by_tree, 1)]


def test_two_counts_are_drawn_with_their_ratio_between_the_bounds():
    noisy = noisy_counts((5, 4), 1, 1.0)
    chart = learn.counts_chart(noisy, (5, 4))
    figure = chart.figure
    first, second, ratio = figure.data
    assert list(first.y) == list(noisy.first)
    assert list(second.y) == list(noisy.second)
    assert max(ratio.y) <= noisy.bound * (1 + 1e-9)
    assert sorted(shape.y0 for shape in figure.layout.shapes) == [1 / noisy.bound, noisy.bound]
    assert "2.72 times" in chart.summary
    assert len(chart.rows) == len(noisy.outcomes)


def test_both_choices_stand_side_by_side():
    names, noisy = ["a", "b"], noisy_choice((3, 1), 1.0)
    chart = learn.choice_chart(names, noisy, 1.0)
    flip, exponential = chart.figure.data
    assert list(flip.y) == list(noisy.flip)
    assert list(exponential.y) == list(noisy.exponential)
    assert chance(noisy.flip_best) in chart.summary
    assert [row["option"] for row in chart.rows] == names


def test_a_refuted_claim_is_hatched_and_said_and_one_that_holds_is_not():
    found, own = VIOLATED, HOLDS
    chart = learn.adding_chart(found, own, 4, [(4, found)])
    (bars,) = chart.figure.data
    assert list(bars.x) == [found.claimed, found.log_ratio, found.composed]
    assert bars.marker.pattern.shape[1] == "/"
    said = chart.summary
    assert "4 features" in said
    assert "ε = 1," in said
    assert "add/remove one row" in said
    assert chart.rows[0]["features"] == "4"
    chart = learn.adding_chart(own, own, 1, [])
    (bars,) = chart.figure.data
    assert bars.marker.pattern.shape[1] == ""
    assert "one feature" in chart.summary


def test_the_drawn_option_is_marked_wherever_it_stands_and_nothing_before_a_draw():
    for seed in range(1, 20):
        node = growing_tree(0.3, seed, 2).nodes[1]
        chart = learn.options_chart(node)
        bars, words = chart.figure.data
        marked = [name for name in words.text if name.startswith("▶ ")]
        assert marked == [f"▶ {node.drawn.words} · {chance(node.drawn.probability)}"]
        assert bars.marker.pattern.shape.index("/") == words.text.index(marked[0])
        assert sum(bars.x) == pytest.approx(1)
        assert len(bars.x) == len(words.text) <= learn.MOST_OPTIONS + 2
        assert node.drawn.words in chart.summary
    (root,) = growing_tree(2.0, 1, 0).waiting
    chart = learn.options_chart(root)
    _, words = chart.figure.data
    assert not any(name.startswith("▶") for name in words.text)
    assert "drawn:" not in chart.summary
    assert len(chart.rows) == len(root.options)


def test_the_poison_curves_are_the_bounds(stump):
    chart = learn.poison_chart(stump, (0, 10))
    tight, published, majority = chart.figure.data
    assert list(tight.y) == [stump.tight(0), stump.tight(10)]
    assert list(published.y) == [stump.published(0), stump.published(10)]
    assert set(majority.y) == {0.6}
    assert f"up to {stump.protected} rows of 500" in chart.summary
    assert chart.rows[0]["rows added or removed"] == "0"
    hopeless = PoisonedStump(stump.distribution, stump.epsilon, stump.n_train, 0.99)
    assert "nothing better" in learn.poison_chart(hopeless, (0, 10)).summary


def test_every_entry_is_there_and_every_epsilon_is_a_dot_in_the_line_of_its_unit() -> None:
    with bundled(FILE).open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    found = deployments()
    assert sorted(item.name for item in found) == sorted(line["name"] for line in lines)
    chart = learn.deployments_chart(found, mine=1.0)
    figure = chart.figure
    drawn = {(x, y) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True)}
    assert drawn == {(float(line["epsilon"]), learn.UNITS[_of(line["name"]).protects]) for line in lines if line["epsilon"]}
    assert len(chart.rows) == len(lines)


def _of(name: str):
    return next(item for item in deployments() if item.name == name)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Community Mobility Place Visits", "day"),
        ("Audience Engagement API", "month"),
        ("LinkedIn Hiring Reports", "month"),
        ("Popular Emojis", "day"),
        ("AutoPlay Intent", "person"),
        ("FLEX", "other"),
    ],
)
def test_a_part_of_a_persons_data_is_not_the_person_and_nothing_is_called_reviewed(name: str, kind: str) -> None:
    assert _of(name).protects == kind
    assert _of(name).status in ("Pending", "Draft")


@pytest.mark.parametrize("mine", [0.001, 1.0, 100.0])
def test_the_sentence_counts_what_is_drawn(mine: float) -> None:
    shown = learn.with_epsilon(deployments())
    chart = learn.deployments_chart(deployments(), mine=mine)
    said = chart.summary
    assert said.startswith(f"{len(shown)} entries give an ε")
    assert f"; {sum(item.epsilon < mine for item in shown)} of them are below" in said
    persons = [item.epsilon for item in shown if item.protects == "person"]
    assert f"the median of {len(persons)} is {median(persons):.3g}" in said
    figure = chart.figure
    assert [shape.x0 for shape in figure.layout.shapes] == [mine]
