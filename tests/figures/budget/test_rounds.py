"""The charts of boosting's budget say in words and tables what they draw."""

import numpy as np

from dpviz.figures.budget.rounds import rounds_figure, rounds_rows, rounds_sentence


def test_rounds_are_drawn_listed_and_said():
    rounds, epsilons = np.array([0, 10, 20]), np.array([0.0, 0.6, 1.0])
    (line,) = rounds_figure(rounds, epsilons).data
    assert (line.x.tolist(), line.y.tolist()) == ([0, 10, 20], [0.0, 0.6, 1.0])
    assert rounds_rows(rounds, epsilons)[1] == {"rounds": "10", "ε (add/remove one row)": "0.6"}
    said = rounds_sentence(rounds, epsilons, 5e-8)
    assert "All 20 rounds cost ε = 1 at δ = 5e-08 (add/remove one row), half of them ε = 0.6" in said
