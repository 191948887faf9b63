"""The charts of boosting's budget say in words and tables what they draw."""

import numpy as np
import pytest

from dpviz.evaluation.budget.boosting import IndividualLosses
from dpviz.figures.budget.rounds import losses_figure, losses_rows, losses_sentence, rounds_figure, rounds_rows, rounds_sentence

FOUND = IndividualLosses(0.95, np.linspace(0.1, 0.5, 1001), np.linspace(0.2, 0.9, 1001))


def test_rounds_are_drawn_listed_and_said():
    rounds, epsilons = np.array([0, 10, 20]), np.array([0.0, 0.6, 1.0])
    (line,) = rounds_figure(rounds, epsilons).data
    assert (line.x.tolist(), line.y.tolist()) == ([0, 10, 20], [0.0, 0.6, 1.0])
    assert rounds_rows(rounds, epsilons)[1] == {"rounds": "10", "ε (add/remove one row)": "0.6"}
    said = rounds_sentence(rounds, epsilons, 5e-8)
    assert "All 20 rounds cost ε = 1 at δ = 5e-08 (add/remove one row), half of them ε = 0.6" in said


def test_losses_stand_below_the_promise_and_differ_in_dash():
    figure = losses_figure(FOUND)
    plain, filtered = figure.data
    assert plain.line.dash != filtered.line.dash
    assert plain.y[-1] == pytest.approx(0.5)
    assert figure.layout.shapes[0].y0 == 0.95
    assert max(figure.layout.yaxis.range) > 0.95


def test_the_middle_row_is_named_in_the_words_and_the_table():
    said = losses_sentence(FOUND)
    assert "the middle row loses ε = 0.3; with the individual filter" in said
    middle = next(row for row in losses_rows(FOUND) if row["share of rows"] == "50%")
    assert (middle["own ε, without the filter"], middle["own ε, with the filter"]) == ("0.3", "0.55")
