"""Shares of epsilon and the share map: pictures, sentences and tables against the plan, the ledger and the map's numbers."""

import numpy as np
import pytest

from dpviz.charts.budget import (
    FULL,
    LEAST_SPREAD,
    map_chart,
    spending_rows,
)
from dpviz.charts.theme import BLUE
from dpviz.evaluation.shares import MovableShares, ShareMap
from dpviz.learners import FitRequest
from dpviz.randomness import generator
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.fits import fitted
from tests.support.golden_charts import assert_golden

SCHEMA = Schema((NumericFeature("a", 0, 16),), ClassTarget("y", ("no", "yes")), n_public=400)


def movable(name: str, depth: int = 3) -> MovableShares:
    one_by_one = {"lookahead": 1} if name == "pf-tree" else {}
    found = MovableShares.of(FitRequest.of(name, epsilon=1.0, max_depth=depth, depth=depth, **one_by_one), SCHEMA)
    assert found is not None
    return found


def made(name: str = "privatree", depth: int = 3, n_rows: int = 400, peak: float = 0.5, noise: float = 0.002) -> ShareMap:
    """Accuracy falls with the distance of the last share from `peak`."""
    asked = movable(name, depth)
    scores = np.array([[0.9 - abs(point[-1] - peak)] for point in asked.points])
    scores = scores + generator(1).normal(0, noise, (len(asked.points), 20))
    return ShareMap(asked, n_rows, asked.points, scores, tuple(range(len(asked.points))), 20)


REVIEWED = {
    "map": lambda: map_chart(made(noise=0), current=(20.0, 30.0, 50.0)),
    "map-line": lambda: map_chart(made("pf-tree", 5, noise=0), current=made("pf-tree", 5).points[0]),
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"budget-{name}", REVIEWED[name]())


@pytest.mark.parametrize("name", ["pf-tree", "privatree", "s-gbdt", "cart"])
def test_the_table_of_what_is_paid_is_the_ledger(name):
    result = fitted(name)
    paid = [float(row["ε (add/remove one row)"].replace("∞", "inf")) for row in spending_rows(result.plan, result.ledger.spent())]
    assert sorted(paid) == pytest.approx(sorted(filter(None, result.ledger.spent().values())), rel=0.01)


def test_every_point_is_a_cell_at_its_shares_with_its_number_and_shade_and_noise_is_no_landscape():
    found = made()
    chart, spread = map_chart(found, current=None), max(LEAST_SPREAD, np.ptp(found.means))
    cells = chart.figure.data[0]
    for shares, text, colour, point, mean in zip(
        zip(cells.a, cells.b, cells.c, strict=True), cells.text, cells.marker.color, found.points, found.means, strict=True
    ):
        assert shares == pytest.approx(point)
        assert float(text) == pytest.approx(100 * mean, abs=0.06)
        assert (colour == BLUE) == (mean >= found.means.max() - (1 - FULL) * spread)
    lightness = [int(cells.marker.color[at][1:3], 16) for at in np.argsort(found.means)]
    assert lightness == sorted(lightness, reverse=True)
    assert chart.rows[found.best]["as good as the best"] == "yes"
    flat = ShareMap(found.movable, 400, found.points, 0.8 + found.scores / 1000, found.same_as, 20)
    assert set(map_chart(flat, current=None).figure.data[0].marker.color) == {BLUE}
    assert all("." not in text for text in map_chart(made(noise=0.2), current=None).figure.data[0].text)  # noise has no tenths
    found = made(peak=0.8)
    rule, said = found.nearest(found.movable.automatic), map_chart(found, current=None).summary
    assert "leaves (80%)" in said
    assert f"{100 * (found.means[found.best] - found.means[rule]):.1f} points less" in said


@pytest.mark.parametrize(("name", "depth"), [("privatree-corrected", 3), ("pf-tree", 2), ("pf-tree", 5)])
def test_two_shares_or_many_levels_are_a_line_through_every_mean(name, depth):
    found = made(name, depth)
    band, mean, _, mine = map_chart(found, current=found.points[0]).figure.data
    assert list(mean.y) == pytest.approx(list(100 * found.means))
    assert list(band.y[: len(found.points)]) == pytest.approx(list(100 * (found.means + 1.96 * found.errors)))
    assert mine.y[0] == pytest.approx(100 * found.means[0])
