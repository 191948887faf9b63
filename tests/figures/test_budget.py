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
    spending_rows,
)
from dpviz.figures.split import steps
from dpviz.figures.theme import BLUE
from dpviz.learners import FitRequest, get_learner, learner_names
from dpviz.randomness import generator
from dpviz.results.verdict import Unit
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.params import Settings, make_params

ADULT_LIKE = Schema(
    (
        *(NumericFeature(f"number {i}", 0, 100) for i in range(6)),
        *(CategoricalFeature(f"category {i}", ("a", "b", "c")) for i in range(8)),
    ),
    ClassTarget("income", ("low", "high")),
    n_public=45_000,
)


def plan_of(name, epsilon=0.1, depth=4, **params):
    spec = get_learner(name)
    return spec.plan(ADULT_LIKE, Settings(epsilon=epsilon, max_depth=depth, depth=depth), make_params(spec.Params, name, params))


def planned(plan):
    """What a ledger without surprises says: every share on one path."""
    spent = {}
    for share in plan.shares:
        spent[share.part, share.level] = spent.get((share.part, share.level), 0.0) + share.composed
    return spent


def claimed(epsilon=0.1, verdict="holds"):
    return Claim(epsilon, "a paper", verdict, "So.")


def figure_of(plan, spent, claim=None):
    return spending_chart(plan, spent, claim or claimed(), PrivacyLoss(sum(spent.values()))).figure


def bars(figure):
    return [trace for trace in figure.data if trace.type == "bar"]


def sentence_of(plan, spent, claim=None):
    return spending_chart(plan, spent, claim or claimed(), PrivacyLoss(sum(spent.values()))).summary


def test_one_row_pays_twelve_times_the_claim_of_privatree_and_what_a_sound_learner_claims():
    plan = plan_of("privatree", grow_complete=True)
    spent = planned(plan)
    total = bars(figure_of(plan, spent, claimed(verdict="unproven")))[-1]
    assert total.y[0] == IN_ALL
    assert total.x[0] == pytest.approx(1.2, abs=0.1)
    said = sentence_of(plan, spent, claimed(verdict="unproven"))
    assert f"One row pays ε = {total.x[0]:.2f}".rstrip("0") in said
    assert said.endswith("Claimed is ε = 0.1, which is not proven. The paper counts one feature of each kind.")
    plan = plan_of("pf-tree")
    total = bars(figure_of(plan, planned(plan)))[-1]
    assert total.x[0] == pytest.approx(0.1)
    assert "Claimed is ε = 0.1, which holds." in sentence_of(plan, planned(plan))


@pytest.mark.parametrize("name", [name for name in learner_names() if math.isfinite(plan_of(name).epsilon)])
def test_every_bar_begins_where_the_one_before_ends_and_the_last_one_is_their_sum(name):
    plan = plan_of(name)
    spent = planned(plan)
    *path, total = bars(figure_of(plan, spent))
    paid = 0.0
    for drawn in path:
        assert drawn.base == pytest.approx(paid)
        paid += drawn.x[0]
    assert total.x[0] == pytest.approx(paid)
    assert paid == pytest.approx(sum(spent.values()))


def test_levels_claim_and_neighbours_stand_on_the_axes_and_parts_look_alike_everywhere():
    plan = plan_of("privatree", grow_complete=True)
    order = list(dict.fromkeys(step.level for step in steps(plan, planned(plan))))
    assert order == ["before the tree", "root", "depth 1", "depth 2", "depth 3", "leaves"]
    assert list(figure_of(plan, planned(plan)).layout.yaxis.categoryarray) == [*order, IN_ALL]
    plan = plan_of("pf-tree")
    layout = figure_of(plan, planned(plan)).layout
    assert [shape.x0 for shape in layout.shapes] == [0.1]
    assert "add/remove one row" in layout.xaxis.title.text
    assert [(note.text, note.xanchor) for note in layout.annotations] == [("claimed: 0.1", "right")]
    plan = plan_of("privatree")
    *drawn, _ = bars(figure_of(plan, planned(plan)))
    names = [trace.name for trace in drawn if trace.showlegend]
    assert sorted(names) == sorted({trace.name for trace in drawn})
    looks = {trace.name: (trace.marker.color, trace.marker.pattern.shape) for trace in drawn}
    assert all(looks[trace.name] == (trace.marker.color, trace.marker.pattern.shape) for trace in drawn)


def test_an_infinite_step_is_an_open_hatched_bar_with_a_sign_and_words():
    plan = plan_of("privatree")
    spent = {**planned(plan), ("stopping rule", 0): math.inf}
    figure = figure_of(plan, spent, claimed(verdict="violated"))
    (endless,) = [trace for trace in figure.data if trace.name == "stopping rule"]
    total = bars(figure)[-1]
    for drawn in (endless, total):
        assert drawn.marker.pattern.fillmode == "replace"
        assert drawn.marker.pattern.bgcolor == "rgba(0,0,0,0)"
        assert math.isfinite(drawn.x[0])
    assert endless.text[0].strip() == "∞"
    assert total.text[0].strip() == "∞: no bound"
    said = sentence_of(plan, spent, claimed(verdict="violated"))
    assert "One row pays ε = ∞" in said
    assert "without the exact steps it would pay" in said
    assert "which is violated" in said
    plan = BudgetPlan(math.inf, 4, (Share("tree", None, math.inf, set_by="no privacy"),))
    nothing = claimed(math.inf, "none")
    figure = figure_of(plan, {("tree", None): math.inf}, nothing)
    assert all(math.isfinite(drawn.x[0]) for drawn in bars(figure))
    assert not figure.layout.shapes
    assert sentence_of(plan, {("tree", None): math.inf}, nothing).endswith("in all. Nothing is claimed.")
    assert [drawn.x[0] for drawn in bars(figure_of(BudgetPlan(1.0, 0, ()), {}))] == [0]


@pytest.mark.parametrize(
    ("verdict", "composed", "is_hatched"),
    [("holds", 0.1, False), ("unproven", 1.2, False), ("violated", 1.2, False), ("violated", 0.1, True)],
)
def test_only_what_can_be_relied_on_is_drawn_plain(verdict, composed, is_hatched):
    plan = plan_of("pf-tree")
    figure = spending_chart(plan, planned(plan), claimed(verdict=verdict), PrivacyLoss(composed)).figure
    assert bool(bars(figure)[-1].marker.pattern.shape) == is_hatched


def test_tables_say_what_the_figure_says_and_who_set_it():
    plan = plan_of("privatree")
    rows = share_rows(plan)
    assert len(rows) == len(plan.shares)
    assert {row["set by"] for row in rows} == {share.set_by for share in plan.shares}
    assert rows[0]["times a row meets it"] == 6
    path = steps(plan, planned(plan))
    assert [(row["where"], row["for"]) for row in spending_rows(plan, planned(plan))] == [(s.level, s.part) for s in path]
    assert deciders(plan_of("privatree", shares=(1, 2, 1))) == {"set by you": ("quantile", "node", "leaf")}
    (who,) = deciders(BudgetPlan(1, 1, (Share("leaf", 0, 1.0, set_by="rule: x"),)))
    assert "public rule" in who


@pytest.mark.slow
def test_a_person_with_three_rows_leads_the_picture_and_the_sentence():
    unit, plan = Unit(3, "one <i>patient"), plan_of("pf-tree", epsilon=1.0)
    given = (plan, planned(plan), claimed(1.0), PrivacyLoss(1.0), unit)
    chart = spending_chart(*given)
    figure = chart.figure
    assert "one &lt;i&gt;patient: 3; one row: 1" in str(bars(figure)[-1].text)
    assert bars(figure)[-1].textposition == "inside"  # beside it, a telephone would cut the words
    assert [note.text for note in figure.layout.annotations if "claimed" in note.text] == ["claimed, one row: 1"]
    said = "One <i>patient pays ε = 3 (one row: ε = 1) in all."
    assert chart.summary == f"{said} Claimed is the same, which holds."


def test_the_shares_of_privatree_are_told_as_it_counts_them():
    """A path has one quantile search, a node per level and a leaf; their shares add up to epsilon."""
    spec = get_learner("privatree")
    plan = spec.plan(ADULT_LIKE, Settings(epsilon=0.5), spec.Params())
    said = shares_sentence(spec.title, plan)
    found = [float(share) for share in re.findall(r"([\d.]+)%", said)]
    assert [word in said for word in ("quantile", "node", "leaf")] == [True] * 3
    assert sum(found) == pytest.approx(100, abs=0.2)
    assert found[1] == pytest.approx(plan.depth * found[0], abs=0.3)


def test_rounds_are_drawn_listed_and_said():
    chart = rounds_chart(np.array([0, 10, 20]), np.array([0.0, 0.6, 1.0]), 5e-8)
    (line,) = chart.figure.data
    assert (line.x.tolist(), line.y.tolist()) == ([0, 10, 20], [0.0, 0.6, 1.0])
    assert chart.rows[1] == {"rounds": "10", "ε (add/remove one row)": "0.6"}
    assert all(said in chart.summary for said in ("20 rounds", "ε = 1 ", "5e-08", "add/remove one row", "ε = 0.6"))


SCHEMA = Schema((NumericFeature("a", 0, 16),), ClassTarget("y", ("no", "yes")), n_public=400)


def movable(name: str, depth: int = 3) -> MovableShares:
    one_by_one = {"lookahead": 1} if name == "pf-tree" else {}
    found = MovableShares.of(FitRequest.of(name, epsilon=1.0, max_depth=depth, depth=depth, **one_by_one), SCHEMA)
    assert found is not None
    return found


def made(name: str = "privatree", depth: int = 3, n_rows: int = 400, peak: float = 0.5) -> ShareMap:
    """Accuracy falls with the distance of the last share from `peak`."""
    asked = movable(name, depth)
    noise = generator(1).normal(0, 0.002, (len(asked.points), 20))
    scores = np.array([[0.9 - abs(point[-1] - peak)] for point in asked.points]) + noise
    return ShareMap(asked, n_rows, asked.points, scores, tuple(range(len(asked.points))), 20)


def cells(chart):
    """Per point (its three shares, its number, its colour)."""
    drawn = chart.figure.data[0]
    points = zip(drawn.a, drawn.b, drawn.c, drawn.text, drawn.marker.color, strict=True)
    return [((a, b, c), float(text), colour) for a, b, c, text, colour in points]


def test_every_point_is_a_cell_at_its_shares_with_its_number_and_its_shade():
    found = made()
    spread = common_spread([found])
    drawn = cells(map_chart(found, current=None, spread=spread))
    assert len(drawn) == 36
    for at, (shares, number, colour) in enumerate(drawn):
        assert shares == pytest.approx(found.points[at])
        assert number == pytest.approx(100 * found.means[at], abs=0.06)
        assert (colour == BLUE) == (found.means[at] >= found.means.max() - (1 - FULL) * spread)
    lightness = [int(drawn[at][2][1:3], 16) for at in np.argsort(found.means)]
    assert lightness == sorted(lightness, reverse=True)
    assert drawn[found.best][2] == BLUE
    *_, rule, mine = map_chart(found, current=(20.0, 30.0, 50.0)).figure.data
    assert (rule.name, mine.name) == ("automatic choice", "in use")
    assert (rule.a[0], rule.b[0], rule.c[0]) == pytest.approx(found.movable.automatic)
    assert (mine.a[0], mine.b[0], mine.c[0]) == pytest.approx((0.2, 0.3, 0.5))
    assert len(map_chart(found, current=None).figure.data) == 2


def test_maps_side_by_side_share_a_scale_on_which_small_differences_stay_small():
    flat, steep = made(peak=0.5), made(peak=0.9)
    flat = ShareMap(flat.movable, 400, flat.points, 0.8 + flat.scores / 1000, flat.same_as, 20)
    assert common_spread([flat]) == LEAST_SPREAD
    spread = common_spread([flat, steep])
    assert spread == np.ptp(steep.means)
    assert {colour for *_, colour in cells(map_chart(flat, current=None, spread=spread))} == {BLUE}
    assert f"lightest: {100 * spread:.0f} points" in scale_text(spread)
    assert decimals(made()) == 1
    noisy = made()
    scores = noisy.scores + generator(2).normal(0, 0.2, noisy.scores.shape)
    assert decimals(ShareMap(noisy.movable, 400, noisy.points, scores, noisy.same_as, 20)) == 0


def test_sentences_and_tables_say_the_best_point_what_the_rule_loses_and_the_crossover():
    found = made(peak=0.8)
    sentence = map_sentence(found)
    rule = found.nearest(found.movable.automatic)
    assert "leaves (80%)" in sentence
    assert f"{100 * (found.means[found.best] - found.means[rule]):.1f} points less" in sentence
    small, large = made(n_rows=800, peak=0.6), made(n_rows=20_000, peak=0.1)
    said = crossover_sentence(large, small)
    assert said == crossover_sentence(small, large)
    assert all(words in said for words in ("falls", "60%", "800 rows", "10%", "20,000 rows"))
    assert "rises" in crossover_sentence(made(n_rows=800, peak=0.2), made(n_rows=9_000, peak=0.7))
    assert "no crossover here" in crossover_sentence(made(n_rows=800), made(n_rows=9_000))
    found = made()
    rows = map_chart(found, current=None).rows
    assert len(rows) == 36
    assert rows[found.best]["as good as the best"] == "yes"
    assert {row["as good as the best"] for row in rows} == {"yes", "no"}


@pytest.mark.parametrize(("name", "depth"), [("privatree-corrected", 3), ("pf-tree", 2), ("pf-tree", 5)])
def test_two_shares_or_many_levels_are_a_line_with_both_choices_marked(name, depth):
    found = made(name, depth)
    current = found.points[0]
    figure = map_chart(found, current=current).figure
    band, mean, rule, mine = figure.data
    assert list(mean.y) == pytest.approx(list(100 * found.means))
    assert len(band.x) == 2 * len(found.points)
    assert (rule.name, mine.name) == ("automatic choice", "in use")
    assert mine.y[0] == pytest.approx(100 * found.means[0])
    assert len(map_chart(found, current=None).figure.data) == 3


GAINS = (
    StepGain("quantile", (0.3, 0.3, 0.4), -0.02, -0.03, -0.01, 200),
    StepGain("node", (0.2, 0.4, 0.4), 0.001, -0.004, 0.006, 200),
    StepGain("leaf", (0.2, 0.2, 0.6), 0.02, 0.01, 0.03, 200),
)


def test_gains_are_drawn_and_told_with_their_interval_and_only_shown_ones_pay():
    chart = gains_chart(movable("privatree"), GAINS)
    assert "leaves: +2.0 points (95%: +1.0 to +3.0)" in chart.summary
    assert chart.summary.endswith("It pays for leaves.")
    assert gains_chart(movable("privatree"), GAINS[:2]).summary.endswith("No step is shown to help.")
    assert "add/remove one row" in chart.summary
    assert len({trace.marker.symbol for trace in chart.figure.data}) == 3
    assert chart.figure.data[2].error_x.array[0] == pytest.approx(1.0)
    assert [row["one step more for"] for row in chart.rows] == ["quantiles", "nodes", "leaves"]
