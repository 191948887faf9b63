"""One row on its way through a boosted model."""

import numpy as np
import pytest

from dpviz.figures.tree.boosted import (
    score_name,
    scores_in_words,
    steps_chart,
    steps_of,
)
from tests.support.boosted import NUMBER, THREE, TREES, read, rows
from tests.support.golden_charts import assert_golden


def one(schema=NUMBER, place=3):
    return rows(schema).take(slice(place, place + 1), share=1.0)


def test_the_steps_lead_from_the_start_to_the_score_and_the_sentence_adds_up():
    model, row = read(initial=2.0), one()
    steps = steps_of(model, row)
    assert (steps.unit, steps.start, steps.trees) == ("y", 2.0, (1, 2, 3, 4))
    np.testing.assert_allclose(steps.added, model.contributions(row)[0])
    assert steps.end == pytest.approx(float(model.scores(row)[0]))
    upper, lower = steps_chart(steps).figure.data
    assert tuple(upper.y) == pytest.approx((2.0, *steps.totals))
    assert tuple(lower.y) == steps.added
    assert_golden("tree-steps", steps_chart(steps_of(read(trees=("=1.5", "=-0.25", "=2.0")), one())))


def test_with_more_classes_each_has_its_own_trees():
    model, row = read(THREE, (*TREES, "=0.25", "=-3.0")), one(THREE)
    scores = model.scores(row)[0]
    for code in range(3):
        steps = steps_of(model, row, code)
        assert steps.trees == (code + 1, code + 4)
        assert steps.end == pytest.approx(scores[code])
    assert score_name(THREE, 2) == "score of c"
    said = [words.rsplit(" ", 1)[0] for words in scores_in_words(model, scores.tolist())]
    assert said == ["score of a", "score of b", "score of c"]
