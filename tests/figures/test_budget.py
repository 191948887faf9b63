"""Where epsilon went and the share map: pictures, sentences and tables against the plan, the ledger and the map's numbers."""

import math
import re

import numpy as np
import pytest

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.evaluation.budget.lab import ShareMap, StepGain
from dpviz.evaluation.budget.shares import MovableShares
from dpviz.figures.budget import (
    FULL,
    IN_ALL,
    LEAST_SPREAD,
    common_spread,
    crossover_sentence,
    deciders,
    decimals,
    gains_chart,
    map_chart,
    map_sentence,
    rounds_chart,
    scale_text,
    share_rows,
    shares_sentence,
    spending_chart,
)
from dpviz.figures.charts import Chart
from dpviz.figures.theme import BLUE
from dpviz.learners import FitRequest, get_learner, learner_names
from dpviz.randomness import generator
from dpviz.results.verdict import ROW, Unit
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.params import Settings, make_params
from tests.support.golden_charts import assert_golden

ADULT_LIKE = Schema(
    (
        *(NumericFeature(f"number {i}", 0, 100) for i in range(6)),
        *(CategoricalFeature(f"category {i}", ("a", "b", "c")) for i in range(8)),
    ),
    ClassTarget("income", ("low", "high")),
    n_public=45_000,
)
SCHEMA = Schema((NumericFeature("a", 0, 16),), ClassTarget("y", ("no", "yes")), n_public=400)
GAINS = (
    StepGain("quantile", (0.3, 0.3, 0.4), -0.02, -0.03, -0.01, 200),
    StepGain("node", (0.2, 0.4, 0.4), 0.001, -0.004, 0.006, 200),
    StepGain("leaf", (0.2, 0.2, 0.6), 0.02, 0.01, 0.03, 200),
)
NO_PRIVACY = BudgetPlan(math.inf, 4, (Share("tree", None, math.inf, set_by="no privacy"),))


def plan_of(name: str, epsilon: float = 0.1, **params) -> BudgetPlan:
    spec = get_learner(name)
    return spec.plan(ADULT_LIKE, Settings(epsilon=epsilon, max_depth=4, depth=4), make_params(spec.Params, name, params))


def spending(plan: BudgetPlan, verdict: str = "holds", *, unit: Unit = ROW, composed: float | None = None, **more) -> Chart:
    """What a ledger without surprises says: every share on one path; `more`: what other parts spent."""
    spent = {(part, 0): epsilon for part, epsilon in more.items()}
    for share in plan.shares:
        spent[share.part, share.level] = spent.get((share.part, share.level), 0.0) + share.composed
    loss = PrivacyLoss(sum(spent.values()) if composed is None else composed)
    return spending_chart(plan, spent, Claim(plan.epsilon, "a paper", verdict, "So."), loss, unit)


def bars(chart: Chart) -> list:
    return [trace for trace in chart.figure.data if trace.type == "bar"]


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


CHARTS = {
    "holds": lambda: spending(plan_of("pf-tree")),
    "unproven": lambda: spending(plan_of("privatree", grow_complete=True), "unproven"),
    "infinite": lambda: spending(plan_of("privatree"), "violated", **{"stopping rule": math.inf}),
    "no-privacy": lambda: spending(NO_PRIVACY, "none"),
    "person": lambda: spending(plan_of("pf-tree", epsilon=1.0), unit=Unit(3, "one <i>patient")),
    "rounds": lambda: rounds_chart(np.array([0, 10, 20]), np.array([0.0, 0.6, 1.0]), 5e-8),
    "map": lambda: map_chart(made(noise=0), current=(20.0, 30.0, 50.0)),
    "map-line": lambda: map_chart(made("pf-tree", 5, noise=0), current=made("pf-tree", 5).points[0]),
    "gains": lambda: gains_chart(movable("privatree"), GAINS),
    "shares": lambda: share_rows(plan_of("privatree")),
}


@pytest.mark.parametrize("name", CHARTS)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"budget-{name}", CHARTS[name]())


@pytest.mark.parametrize("name", [name for name in learner_names() if math.isfinite(plan_of(name).epsilon)])
def test_every_bar_begins_where_the_one_before_ends_and_the_last_one_is_what_one_row_pays(name):
    plan = plan_of(name)
    chart = spending(plan)
    *path, total = bars(chart)
    paid = 0.0
    for drawn in path:
        assert drawn.base == pytest.approx(paid)
        paid += drawn.x[0]
    assert total.y[0] == IN_ALL
    assert total.x[0] == pytest.approx(paid) == pytest.approx(sum(share.composed for share in plan.shares))
    assert len(chart.rows) == len(path)
    looks = {trace.name: (trace.marker.color, trace.marker.pattern.shape) for trace in path}
    assert all(looks[trace.name] == (trace.marker.color, trace.marker.pattern.shape) for trace in path)


@pytest.mark.parametrize(
    ("verdict", "composed", "is_hatched"),
    [("holds", 0.1, False), ("unproven", 1.2, False), ("violated", 1.2, False), ("violated", 0.1, True)],
)
def test_only_what_can_be_relied_on_is_drawn_plain(verdict, composed, is_hatched):
    assert bool(bars(spending(plan_of("pf-tree"), verdict, composed=composed))[-1].marker.pattern.shape) == is_hatched


def test_nothing_spent_is_a_bar_of_nothing_and_nothing_infinite_is_drawn_to_scale():
    assert [bar.x[0] for bar in bars(spending(BudgetPlan(1.0, 0, ())))] == [0]
    for chart in (CHARTS["infinite"](), CHARTS["no-privacy"]()):
        assert all(math.isfinite(bar.x[0]) for bar in bars(chart))


def test_who_set_a_share_is_said():
    assert deciders(plan_of("privatree", shares=(1, 2, 1))) == {"set by you": ("quantile", "node", "leaf")}
    (who,) = deciders(BudgetPlan(1, 1, (Share("leaf", 0, 1.0, set_by="rule: x"),)))
    assert "public rule" in who


def test_the_shares_of_privatree_are_told_as_it_counts_them():
    """A path has one quantile search, a node per level and a leaf; their shares add up to epsilon."""
    plan = plan_of("privatree", epsilon=0.5)
    quantile, node, leaf = map(float, re.findall(r"([\d.]+)%", shares_sentence("PrivaTree", plan)))
    assert quantile + node + leaf == pytest.approx(100, abs=0.2)
    assert node == pytest.approx(plan.depth * quantile, abs=0.3)


def cells(chart: Chart) -> list:
    """Per point (its three shares, its number, its colour)."""
    drawn = chart.figure.data[0]
    points = zip(drawn.a, drawn.b, drawn.c, drawn.text, drawn.marker.color, strict=True)
    return [((a, b, c), float(text), colour) for a, b, c, text, colour in points]


def test_every_point_is_a_cell_at_its_shares_with_its_number_and_its_shade():
    found = made()
    spread = common_spread([found])
    drawn = cells(map_chart(found, current=None, spread=spread))
    for (shares, number, colour), point, mean in zip(drawn, found.points, found.means, strict=True):
        assert shares == pytest.approx(point)
        assert number == pytest.approx(100 * mean, abs=0.06)
        assert (colour == BLUE) == (mean >= found.means.max() - (1 - FULL) * spread)
    lightness = [int(drawn[at][2][1:3], 16) for at in np.argsort(found.means)]
    assert lightness == sorted(lightness, reverse=True)
    assert len(map_chart(found, current=None).figure.data) == 2
    rows = map_chart(found, current=None).rows
    assert rows[found.best]["as good as the best"] == "yes"


def test_maps_side_by_side_share_a_scale_on_which_small_differences_stay_small():
    flat, steep = made(peak=0.5), made(peak=0.9)
    flat = ShareMap(flat.movable, 400, flat.points, 0.8 + flat.scores / 1000, flat.same_as, 20)
    assert common_spread([flat]) == LEAST_SPREAD
    spread = common_spread([flat, steep])
    assert spread == np.ptp(steep.means)
    assert {colour for *_, colour in cells(map_chart(flat, current=None, spread=spread))} == {BLUE}
    assert f"lightest: {100 * spread:.0f} points" in scale_text(spread)
    assert [decimals(made()), decimals(made(noise=0.2))] == [1, 0]


def test_sentences_say_the_best_point_what_the_rule_loses_and_the_crossover():
    found = made(peak=0.8)
    rule = found.nearest(found.movable.automatic)
    assert "leaves (80%)" in map_sentence(found)
    assert f"{100 * (found.means[found.best] - found.means[rule]):.1f} points less" in map_sentence(found)
    small, large = made(n_rows=800, peak=0.6), made(n_rows=20_000, peak=0.1)
    said = crossover_sentence(large, small)
    assert said == crossover_sentence(small, large)
    assert all(words in said for words in ("falls", "60%", "800 rows", "10%", "20,000 rows"))
    assert "rises" in crossover_sentence(made(n_rows=800, peak=0.2), made(n_rows=9_000, peak=0.7))
    assert "no crossover here" in crossover_sentence(made(n_rows=800), made(n_rows=9_000))


@pytest.mark.parametrize(("name", "depth"), [("privatree-corrected", 3), ("pf-tree", 2), ("pf-tree", 5)])
def test_two_shares_or_many_levels_are_a_line_through_every_mean(name, depth):
    found = made(name, depth)
    band, mean, _, mine = map_chart(found, current=found.points[0]).figure.data
    assert list(mean.y) == pytest.approx(list(100 * found.means))
    assert len(band.x) == 2 * len(found.points)
    assert mine.y[0] == pytest.approx(100 * found.means[0])
    assert len(map_chart(found, current=None).figure.data) == 3


def test_only_a_step_that_is_shown_to_help_pays():
    assert gains_chart(movable("privatree"), GAINS[:2]).summary.endswith("No step is shown to help.")
