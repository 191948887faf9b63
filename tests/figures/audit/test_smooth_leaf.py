"""The pictures of one leaf: three rules, told apart without colour, and words that name the first broken promise."""

import math

import pytest

from dpviz.evaluation.audit.smooth_leaf import RULES, delta_needed, first_violation, leaf_curve
from dpviz.figures.audit.smooth_leaf import STYLES, gaps_to_show, leaf_figure, leaf_rows, leaf_sentence
from dpviz.results.wording import number_text


def curves(epsilon):
    return [leaf_curve(rule, epsilon, gaps_to_show(epsilon)) for rule in RULES]


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0])
def test_losses_are_drawn_in_epsilons_with_the_first_broken_gap_told_apart_without_colour(epsilon):
    drawn = leaf_figure(curves(epsilon)).data
    assert len(drawn) == 2 * len(RULES)
    smooth, fair = drawn[1], drawn[5]
    assert smooth.name == STYLES["smooth"][0]
    assert smooth.y[first_violation("smooth", epsilon)] > 1
    assert max(fair.y) == pytest.approx(1)
    assert first_violation("smooth", epsilon) < gaps_to_show(epsilon)
    assert len({(trace.line.dash, trace.marker.symbol) for trace in drawn[::2]}) == len(RULES)


def test_words_and_table_have_every_gap_and_the_delta():
    said = leaf_sentence(0.1)
    assert f"from gap {first_violation('smooth', 0.1)} on" in said
    assert f"δ = {number_text(delta_needed('smooth', 0.1)[0])}" in said
    assert "ε = 0.1 (add/remove one row)" in said
    rows = leaf_rows(curves(1.0))
    assert [row["gap"] for row in rows] == [str(gap) for gap in range(gaps_to_show(1.0) + 1)]
    assert rows[0]["flips, permute-and-flip"] == "50%"
    assert float(rows[1]["reveals, smooth (published)"].split()[0]) == pytest.approx(_loss_at_one(), rel=0.01)


def _loss_at_one():
    """By hand: odds exp(eps/2 e^(j eps)) of the larger class, gap 1 against 2."""
    odds = [0.5 * math.exp(gap) for gap in (1, 2)]
    return math.log((1 + math.exp(odds[1])) / (1 + math.exp(odds[0])))
