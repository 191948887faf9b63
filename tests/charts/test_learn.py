"""The lessons' pictures, and published epsilons, against the numbers they are drawn from."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

from dpviz.charts import learn
from dpviz.charts.wording import chance
from dpviz.evaluation.deployments import FILE, deployments
from dpviz.evaluation.lessons import Flip, PoisonedStump, growing_tree, noisy_choice, noisy_counts
from dpviz.installation import bundled
from tests.support.audits import HOLDS, VIOLATED
from tests.support.golden_charts import assert_golden

STUMP = PoisonedStump((np.array([0.4, 0.8]), np.array([0.01, 1.0])), 0.1, 500, 0.6)
FLIPS = (Flip(1, 2, 0.37, False), Flip(0, 0, 1.0, True))
REVIEWED = {
    "guesses": lambda: learn.guesses_chart(1.0, (0.1, 1.0)),
    "counts": lambda: learn.counts_chart(noisy_counts((5, 4), 1, 1.0), (5, 4)),
    "choice": lambda: learn.choice_chart(["a", "b"], noisy_choice((3, 1), 1.0), 1.0),
    "coins": lambda: learn.coin_sentences(["a", "b"], FLIPS),
    "adding": lambda: learn.adding_chart(VIOLATED, HOLDS, 4),
    "adding-one": lambda: learn.adding_chart(HOLDS, HOLDS, 1),
    "options": lambda: learn.options_chart(growing_tree(0.3, 1, 2).nodes[1]),
    "poison": lambda: learn.poison_chart(STUMP, (0, 10)),
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"learn-{name}", REVIEWED[name]())


def test_curves_and_bars_are_what_the_lessons_compute():
    noisy, chosen = noisy_counts((5, 4), 1, 1.0), noisy_choice((3, 1), 1.0)
    first, second, ratio = REVIEWED["counts"]().figure.data
    assert [list(first.y), list(second.y)] == [list(noisy.first), list(noisy.second)]
    assert max(ratio.y) <= noisy.bound * (1 + 1e-9)
    assert [list(bars.y) for bars in REVIEWED["choice"]().figure.data] == [list(chosen.flip), list(chosen.exponential)]
    tight, published, _ = REVIEWED["poison"]().figure.data
    assert list(tight.y) == [STUMP.tight(0), STUMP.tight(10)]
    assert list(published.y) == [STUMP.published(0), STUMP.published(10)]
    assert "nothing better" in learn.poison_chart(replace(STUMP, majority=0.99), (0, 10)).summary
    for epsilon in (0.01, 1.0, 10.0):  # a hundred guesses are a hundred dots
        parts = learn.guesses_chart(epsilon, (1.0,)).figure.data
        right, by_tree = math.ceil(learn.guesses(epsilon)), math.ceil(learn.guesses_by_tree(epsilon))
        assert [len(part.x) for part in parts] == [50, by_tree - 50, right - by_tree, 100 - right]
        assert len({(x, y) for part in parts for x, y in zip(part.x, part.y, strict=True)}) == 100


@pytest.mark.slow
def test_the_drawn_option_is_marked_wherever_it_stands_and_nothing_before_a_draw():
    for seed in range(1, 20):
        node = growing_tree(0.3, seed, 2).nodes[1]
        chart = learn.options_chart(node)
        bars, words = chart.figure.data
        marked = [name for name in words.text if name.startswith("▶ ")]
        assert marked == [f"▶ {node.drawn.words} · {chance(node.drawn.probability)}"]
        assert bars.marker.pattern.shape.index("/") == words.text.index(marked[0])
        assert sum(bars.x) == pytest.approx(1)
    (root,) = growing_tree(2.0, 1, 0).waiting
    chart = learn.options_chart(root)
    _, words = chart.figure.data
    assert not any(name.startswith("▶") for name in words.text)


def test_every_entry_is_there_every_epsilon_a_dot_in_the_line_of_its_unit_and_a_part_of_a_person_is_not_the_person():
    with bundled(FILE).open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    found, mine = {item.name: item for item in deployments()}, 1.0
    chart = learn.deployments_chart(tuple(found.values()), mine=mine)
    drawn = sorted((x, y) for trace in chart.figure.data for x, y in zip(trace.x, trace.y, strict=True))
    known = ((float(line["epsilon"]), learn.UNITS[found[line["name"]].protects]) for line in lines if line["epsilon"])
    assert drawn == sorted(known)
    assert sorted(row["what"] for row in chart.rows) == sorted(line["name"] for line in lines)
    assert f"; {sum(epsilon < mine for epsilon, _ in drawn)} of them are below" in chart.summary
    persons = [epsilon for epsilon, line in drawn if line == learn.UNITS["person"]]
    assert f"the median of {len(persons)} is {median(persons):.3g}" in chart.summary
    kinds = {"Community Mobility Place Visits": "day", "Audience Engagement API": "month", "LinkedIn Hiring Reports": "month"}
    kinds |= {"Popular Emojis": "day", "AutoPlay Intent": "person", "FLEX": "other"}
    assert {name: found[name].protects for name in kinds} == kinds
