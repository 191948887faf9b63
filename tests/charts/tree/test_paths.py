import re
from collections.abc import Mapping

import pytest

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.tree.paths import (
    CONSTANT_AT,
    MARGIN,
    DrawnStep,
    guarantee_words,
    headline,
    packed_steps,
    scale_of,
    shape_in_words,
    step_in_words,
    strip_svg,
)
from dpviz.learners import FitRequest
from dpviz.models.tree import Leaf, Tree
from dpviz.results.verdict import Verdict, verdict
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

TREE = Tree(Schema((NumericFeature("age", 0, 100),), ClassTarget("y", ("no", "yes")), n_public=1000), Leaf(1))
VERDICT = Verdict("would", "", "", PrivacyLoss(0.5))
#: Pixels: the narrowest strip and the size of its letters, of which one is about half as wide.
NARROWEST, LETTER = 200, 13
LINES = {"ordinary tree": 0.9, "constant": 0.5}


SCORES = (0.7, 0.75, 0.85)


def step(score: float = 0.8, beside: Mapping[str, float] = LINES) -> DrawnStep:
    return DrawnStep(0.1, "<svg/>", "<svg/>", score, beside, guarantee_words(VERDICT), "63")


def places(svg: str, kind: str) -> list[float]:
    return [float(x) for x in re.findall(f'class="{kind}" (?:cx|x1)="([0-9.]+)%"', svg)]


def strip(one: DrawnStep, measure: str = "test accuracy", scores: tuple[float, ...] = SCORES) -> str:
    return strip_svg(one.score, scores, one.beside, measure)


def test_the_strip_has_a_dot_per_draw_the_tree_and_the_lines_in_order():
    svg = strip(step())
    draws, (this,) = places(svg, "draw"), places(svg, "this")
    ordinary, constant = places(svg, "reference")
    assert constant < draws[0] < draws[1] < this < draws[2] < ordinary
    assert ">ordinary tree 90.0%</text>" in svg
    assert f'cx="{MARGIN:.2f}%"' in strip(step(0.5, {"constant": 0.0}), "R²", (-9.0, 0.4))
    for constant in (0.1, 0.5, 0.95, 0.0):  # the scale is the same for all settings of a table
        low, high = scale_of(constant)
        assert high == 1.0
        assert (constant - low) / (high - low) == pytest.approx(CONSTANT_AT)
        lines = {"constant": constant}
        assert len({tuple(places(strip(step(score, lines)), "reference")) for score in (constant, 0.97, 1.0)}) == 1
    assert places(strip(step(1.0, {"constant": 1.0}), scores=()), "this") == [50.0], "a few test rows of one class have no scale"


@pytest.mark.parametrize("measure", ["test accuracy", "R²"])
@pytest.mark.parametrize("ordinary", [0.0, 0.4, 0.495, 0.5, 0.505, 0.51, 0.66, 0.8, 1.0])
def test_labels_never_meet_nor_leave_the_strip(ordinary, measure):
    svg = strip(step(beside={"ordinary tree": ordinary, "constant": 0.5}), measure)
    labels = re.findall('<text x="([0-9.]+)%" y="([0-9.]+)" text-anchor="([a-z]+)">([^<]+)', svg)
    (_, first, *_), (_, second, *_) = labels
    assert abs(float(first) - float(second)) > 2 * LETTER
    for x, _, anchor, words in labels:
        at, width = float(x) / 100 * NARROWEST, len(words) * LETTER / 2
        start = {"start": at, "middle": at - width / 2, "end": at - width}[anchor]
        assert 0 <= start <= start + width <= NARROWEST


def test_words_and_headline_say_what_the_strip_shows():
    said = step_in_words(step(), "test accuracy")
    assert said == "ε = 0.1: test accuracy 80.0%; ordinary tree 90.0%; constant 50.0%; right guesses of 100, at most: 63"
    said = headline(0.8, (0.7, 0.75, 0.85), "test accuracy", "right on 9 rows")
    assert (said["lead"], said["tested"]) == ("77.5%", "right on 9 rows, mean of 4 trees")
    assert re.findall(r"[0-9.]+%", said["spread"]) == ["70.0%", "85.0%", "80.0%"]
    assert headline(0.8, (), "test accuracy", "x") == {"lead": "80.0%", "tested": "x", "spread": ""}
    missing = step(float("nan"), {"constant": 0.0})
    assert "circle" not in strip(missing, "R²", (float("nan"),))
    assert "–" in step_in_words(missing, "R²")
    assert headline(missing.score, (float("nan"),), "R²", "on 9 rows") == {"lead": "–", "tested": "on 9 rows", "spread": ""}


def test_the_line_above_a_tree_says_the_odds_and_its_shape_and_the_same_steps_are_packed_alike_at_any_time(monkeypatch):
    odds = {1.0: "At most 74", 0.01: "Fewer than 51", 10.0: "More than 99"}
    for epsilon, most in odds.items():
        said = guarantee_words(verdict(Claim(epsilon, "somebody", "holds", "Because."), PrivacyLoss(epsilon), released=False))
        guesses = f"{most} of 100 guesses about one row can be right, 50 by chance"
        assert said["words"] == f"Preview: ε = {epsilon:g} (add/remove one row). {guesses}."
    plans = {name: FitRequest.of(name, epsilon=1.0, max_depth=3, depth=3).plan(TREE.schema) for name in ("pf-tree", "privatree")}
    shapes = {"pf-tree": "depth 3, two levels at once", "privatree": "depth 3, one level at once"}
    assert {name: shape_in_words(plan) for name, plan in plans.items()} == shapes
    now = iter((1.0e9, 1.1e9))
    monkeypatch.setattr("time.time", lambda: next(now, 1.2e9))
    first, again = (packed_steps([step()], "test accuracy", "on 9 rows") for _ in range(2))
    assert first == again != ""
