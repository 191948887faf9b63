import re
from collections.abc import Mapping

import numpy as np
import pytest

from dpviz.figures.tree.ladder import LEAST_SPAN, MARGIN, Step, beside_pinned, scale_of, step_in_words, strip_svg
from dpviz.figures.tree.pair import Side, pair_svg
from dpviz.models.tree import Leaf, Tree
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

TREE = Tree(Schema((NumericFeature("age", 0, 100),), ClassTarget("y", ("no", "yes"))), Leaf(1))
LINES = {"ordinary tree": 0.9, "constant": 0.5}


def step(score: float = 0.8, scores: tuple[float, ...] = (0.7, 0.75, 0.85), beside: Mapping[str, float] = LINES) -> Step:
    return Step(0.1, "<svg/>", "<svg/>", score, np.array(scores), beside, TREE, {"widths": None})


def places(svg: str, kind: str) -> list[float]:
    return [float(x) for x in re.findall(f'class="{kind}" (?:cx|x1)="([0-9.]+)%"', svg)]


def test_the_strip_has_a_dot_per_draw_the_tree_and_the_lines_in_order():
    scale = scale_of([step()])
    assert scale == (0.5, 0.9)
    svg = strip_svg(step(), scale)
    draws, (this,) = places(svg, "draw"), places(svg, "this")
    ordinary, constant = places(svg, "reference")
    assert constant < draws[0] < draws[1] < this < draws[2] < ordinary
    assert (constant, ordinary) == pytest.approx((MARGIN, 100 - MARGIN))


def test_an_r2_far_below_0_stands_at_the_lower_end():
    scale = scale_of([step(0.5, (-9.0, 0.4), {})])
    assert scale == (-0.2, 0.5)
    assert f'cx="{MARGIN:.2f}%"' in strip_svg(step(0.5, (-9.0, 0.4), {}), scale)


def test_all_steps_share_one_scale_and_chance_does_not_fill_it():
    low, high = scale_of([step(0.8, (0.8,), {}), step(0.801, (), {})])
    assert high - low >= LEAST_SPAN - 1e-9
    assert low < 0.8 < high


def test_what_has_no_value_is_left_out():
    missing = step(float("nan"), (float("nan"),), {})
    assert "circle" not in strip_svg(missing, scale_of([missing]))
    assert "–" in step_in_words(missing, "ε =", "R²")


def test_words_say_what_the_strip_shows():
    said = step_in_words(step(), "ε =", "test accuracy")
    assert said == "ε = 0.1: test accuracy 80.0%; 3 fresh draws: 70.0% to 85.0%; ordinary tree 90.0%; constant 50.0%"


def test_a_pinned_tree_stands_beside_every_step():
    pinned = Side("Pinned", Tree(TREE.schema, Leaf(0)), {"widths": None})
    both = beside_pinned(step(), "ε =", pinned)
    now = Side("Now: ε = 0.1", TREE, {"widths": None})
    for drawing, narrow in ((both.wide, False), (both.narrow, True)):
        whole = pair_svg(pinned, now, selected=None, narrow=narrow)
        assert "<style>" not in drawing
        assert drawing == re.sub("<style>.*</style>\\n", "", whole, flags=re.DOTALL)
    assert step_in_words(both, "ε =", "test accuracy").endswith("constant 50.0%. The tree now asks no question.")
