"""The split of ε and the share map: their numbers are those of plan, claim, ledger and map; what fails is no look-alike."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from dpviz.accounting.claim import Disclosure
from dpviz.charts.budget import (
    FULL,
    HALF,
    MIN_SPREAD,
    map_chart,
    part_name,
    spending_rows,
    split_html,
    split_of,
    split_sentence,
    widths,
)
from dpviz.charts.theme import BLUE
from dpviz.evaluation.shares import MovableShares, ShareMap
from dpviz.learners import FitRequest, learner_names
from dpviz.randomness import generator
from dpviz.results.wording import number_text
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.fits import fitted
from tests.support.golden_charts import assert_golden

NAMES = [name for name in learner_names() if name not in ("cart-regression", "dp-mean")]
#: One look at every kind: what holds, fails without a bound, fails with one, refutes its own steps, claims nothing.
KINDS = {"pf-tree": True, "privatree": False, "rgv-forest": False, "smooth-forest": False, "cart": False}


def bars(html: str) -> list[str]:
    return re.findall(r'<div class="line ([a-z ]+)"', html)


def drawn_widths(html: str) -> list[list[float]]:
    """Of the pieces of every bar, in percent."""
    found = (re.findall(r'width:([0-9.]+)%"><b>', bar) for bar in re.findall('<div class="bar">(.*?)</div>', html))
    return [[float(width) for width in bar] for bar in found]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_makes_the_claim_what_is_paid_is_the_ledger_and_a_claim_that_fails_is_drawn_unlike_one_that_holds(name):
    result = fitted(name)
    split = split_of(result)
    if result.claim.is_private:
        assert sum(step.epsilon for step in split.asked) == pytest.approx(result.claim.epsilon)
    else:
        assert split.asked == ()
    rows = spending_rows(result.plan, result.ledger.spent())
    said = [float(row["ε (add/remove one row)"].replace("∞", "inf")) for row in rows]
    assert sorted(said) == pytest.approx(sorted(filter(None, result.ledger.spent().values())), rel=0.01)
    paid = {(step.part, step.epsilon) for step in split.paid if step.level}
    assert paid == {(part, epsilon) for (part, _), epsilon in result.ledger.spent().items() if epsilon}
    assert split.is_sound == (result.claim.is_sound and not result.disclosures) == KINDS.get(name, split.is_sound)
    html = split_html(split)
    for bar in drawn_widths(html):
        assert all(0 < width <= 100 for width in bar)
        assert sum(bar) <= 100.1
    asked = ["asked unsound"] if split.asked else []
    assert bars(html) == (["asked"] if split.is_sound else [*asked, "paid unsound"])
    has_bound = result.ledger.guarantee.is_finite and (result.claim.is_sound or split.proven.is_finite)
    assert ("∞" in html or "no bound" in html) == (not has_bound)
    assert "nan" not in html.lower()
    keys = re.findall("</i>([^<]+)</span>", html)
    for part in {step.part for step in split.paid if not split.is_sound}:  # the legend says what is paid, not what is asked
        costs = {number_text(step.epsilon) for step in split.paid if step.part == part}
        said = {"∞"} if "∞" in costs else costs
        assert any(key.startswith(f"{part_name(part)} ") and all(cost in key for cost in said) for key in keys), part


def test_quantiles_are_a_part_of_the_bar_and_rows_held_out_pay_for_theirs_instead():
    split = split_of(fitted("privatree"))
    share = fitted("privatree").plan.of("quantile", None, "numeric")
    assert [step.epsilon for step in split.asked if step.part == "quantile"] == [share]
    assert "quantiles" in split_html(split)
    result = fitted("pf-tree", n_rows=2000)
    split = split_of(result)
    assert {part.part for part in split.held_out} == {"leaf counts", "test"}
    assert split_html(split).count('class="bar kept"') == 2
    assert all(part.epsilon == result.claim.epsilon for part in split.held_out)


def test_what_was_read_from_the_rows_has_no_bound():
    result = replace(fitted("pf-tree"), disclosures=(Disclosure("schema-range", "Read.", "Declare it."),))
    split = split_of(result)
    assert not split.is_sound
    assert math.isinf(split.paid[-1].epsilon)
    assert "asked unsound" in split_html(split)
    assert sum(widths(split.paid, split)) <= 100
    assert "no bound" in split_sentence(split)
    split = split_of(fitted("bdpt"))
    pieces = zip(split.paid, widths(split.paid, split), strict=True)
    assert sum(width for step, width in pieces if math.isinf(step.epsilon)) <= HALF + 1e-9


# --- the share map

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
    return ShareMap(asked, n_rows, asked.points, scores, 20)


REVIEWED = {
    "map": lambda: map_chart(made(noise=0), current=(20.0, 30.0, 50.0)),
    "map-line": lambda: map_chart(made("pf-tree", 5, noise=0), current=made("pf-tree", 5).points[0]),
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"budget-{name}", REVIEWED[name]())


def test_every_point_is_a_cell_at_its_shares_with_its_number_and_shade_and_noise_is_no_landscape():
    found = made()
    chart, spread = map_chart(found, current=None), max(MIN_SPREAD, np.ptp(found.means))
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
    flat = ShareMap(found.movable, 400, found.points, 0.8 + found.scores / 1000, 20)
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
