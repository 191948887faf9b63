import math
import re

import numpy as np
import pytest

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.figures.budget.rounds import rounds_figure, rounds_rows, rounds_sentence
from dpviz.figures.budget.spending import (
    IN_ALL,
    deciders,
    share_rows,
    shares_sentence,
    spending_figure,
    spending_rows,
    spending_sentence,
    steps,
)
from dpviz.learners import get_learner, learner_names
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
    return spending_figure(plan, spent, claim or claimed(), PrivacyLoss(sum(spent.values())))


def bars(figure):
    return [trace for trace in figure.data if trace.type == "bar"]


def sentence_of(plan, spent, claim=None):
    return spending_sentence(plan, spent, claim or claimed(), PrivacyLoss(sum(spent.values())))


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
    figure = spending_figure(plan, planned(plan), claimed(verdict=verdict), PrivacyLoss(composed))
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
    figure = spending_figure(*given)
    assert "one &lt;i&gt;patient: 3; one row: 1" in str(bars(figure)[-1].text)
    assert bars(figure)[-1].textposition == "inside"  # beside it, a telephone would cut the words
    assert [note.text for note in figure.layout.annotations if "claimed" in note.text] == ["claimed, one row: 1"]
    said = "One <i>patient pays ε = 3 (one row: ε = 1) in all."
    assert spending_sentence(*given) == f"{said} Claimed is the same, which holds."


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
    rounds, epsilons = np.array([0, 10, 20]), np.array([0.0, 0.6, 1.0])
    (line,) = rounds_figure(rounds, epsilons).data
    assert (line.x.tolist(), line.y.tolist()) == ([0, 10, 20], [0.0, 0.6, 1.0])
    assert rounds_rows(rounds, epsilons)[1] == {"rounds": "10", "ε (add/remove one row)": "0.6"}
    said = rounds_sentence(rounds, epsilons, 5e-8)
    assert "All 20 rounds cost ε = 1 at δ = 5e-08 (add/remove one row), half of them ε = 0.6" in said
