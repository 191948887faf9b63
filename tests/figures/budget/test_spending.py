import math

import pytest

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.figures.budget.spending import (
    AXIS,
    PAID,
    PART_STYLES,
    claim_figure,
    claim_rows,
    claim_sentence,
    deciders,
    level_segments,
    levels_figure,
    levels_sentence,
    share_rows,
    split_figure,
    split_rows,
    split_segments,
    split_sentence,
)
from dpviz.learners import get_learner, learner_names
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


def per_bar(segments):
    total = {}
    for segment in segments:
        total[segment.bar] = total.get(segment.bar, 0.0) + segment.epsilon
    return total


def drawn(figure):
    """Bar -> drawn length."""
    lengths = {}
    for trace in figure.data:
        if trace.type == "bar":
            name, length = (trace.y[0], trace.x[0]) if trace.orientation == "h" else (trace.x[0], trace.y[0])
            lengths[name] = lengths.get(name, 0.0) + length
    return lengths


def test_on_adult_like_data_one_row_pays_about_twelve_times_the_claim():
    plan = plan_of("privatree", grow_complete=True)
    totals = per_bar(split_segments(plan, planned(plan)))
    paid = totals.pop(PAID)
    assert list(totals.values()) == pytest.approx([0.1, 0.1])
    assert paid == pytest.approx(1.2, abs=0.1)
    assert f"One row pays ε = {paid:.2f}".rstrip("0") in split_sentence(plan, planned(plan))
    assert "The paper counts one feature of each kind: 0.1." in split_sentence(plan, planned(plan))


def test_a_sound_learner_pays_what_was_planned():
    plan = plan_of("pf-tree")
    assert per_bar(split_segments(plan, planned(plan))) == pytest.approx({"as planned": 0.1, PAID: 0.1})


@pytest.mark.parametrize("name", [name for name in learner_names() if math.isfinite(plan_of(name).epsilon)])
def test_bars_are_as_long_as_their_segments(name):
    plan = plan_of(name)
    assert drawn(split_figure(plan, planned(plan))) == pytest.approx(per_bar(split_segments(plan, planned(plan))))
    assert drawn(levels_figure(plan)) == pytest.approx(per_bar(level_segments(plan)))


def test_levels_add_up_to_what_one_row_pays():
    plan = plan_of("privatree", grow_complete=True)
    assert sum(per_bar(level_segments(plan)).values()) == pytest.approx(per_bar(split_segments(plan, planned(plan)))[PAID])
    assert list(per_bar(level_segments(plan))) == ["before<br>the tree", "root", "depth 1", "depth 2", "depth 3", "leaves"]


def test_an_infinite_step_is_an_open_hatched_bar_with_a_sign_and_words():
    plan = plan_of("privatree")
    spent = {**planned(plan), ("stopping rule", 0): math.inf}
    figure = split_figure(plan, spent)
    (bar,) = [trace for trace in figure.data if trace.name == "stopping rule"]
    assert bar.marker.pattern.fillmode == "replace"
    assert bar.marker.pattern.bgcolor == "rgba(0,0,0,0)"
    assert math.isfinite(bar.x[0])
    (totals,) = [trace for trace in figure.data if trace.type == "scatter"]
    assert totals.text[-1].strip() == "∞ (stopping rule)"
    assert "One row pays ε = ∞" in split_sentence(plan, spent)
    assert "without the exact steps" in split_sentence(plan, spent)


def test_a_plan_that_is_all_exact_can_be_drawn():
    plan = BudgetPlan(math.inf, 4, (Share("tree", None, math.inf, set_by="no privacy"),))
    figure = split_figure(plan, {("tree", None): math.inf})
    assert all(math.isfinite(length) for length in drawn(figure).values())
    assert all(math.isfinite(length) for length in drawn(levels_figure(plan)).values())
    assert "without the exact steps" not in split_sentence(plan, {("tree", None): math.inf})


def test_nothing_spent_can_be_drawn():
    plan = BudgetPlan(1.0, 0, ())
    assert drawn(split_figure(plan, {})) == {}
    assert drawn(levels_figure(plan)) == {}


def test_every_axis_of_epsilon_names_the_neighbours():
    plan = plan_of("pf-tree")
    claimed = Claim(0.1, "x", "holds", "y")
    assert split_figure(plan, planned(plan)).layout.xaxis.title.text == AXIS
    assert levels_figure(plan).layout.yaxis.title.text == AXIS
    assert claim_figure(claimed, PrivacyLoss(0.1)).layout.xaxis.title.text == AXIS
    assert "add/remove one row" in AXIS
    for sentence in (split_sentence(plan, planned(plan)), levels_sentence(plan), claim_sentence(claimed, PrivacyLoss(0.1))):
        assert "add/remove one row" in sentence


def test_a_part_is_named_once_in_the_legend_and_always_looks_the_same():
    plan = plan_of("privatree")
    bars = [trace for trace in split_figure(plan, planned(plan)).data if trace.type == "bar"]
    names = [trace.name for trace in bars if trace.showlegend]
    assert sorted(names) == sorted({trace.name for trace in bars})
    looks = {trace.name: (trace.marker.color, trace.marker.pattern.shape) for trace in bars}
    assert all(looks[trace.name] == (trace.marker.color, trace.marker.pattern.shape) for trace in bars)


def test_no_two_parts_look_alike():
    alike = {part: style for part, style in PART_STYLES.items() if part != "node, numeric"}  # the node share of a mixed table
    assert len(set(alike.values())) == len(alike)


@pytest.mark.parametrize(
    ("verdict", "composed", "claimed_hatched", "composed_hatched"),
    [("holds", 0.1, False, False), ("unproven", 1.2, True, False), ("violated", 1.2, True, False), ("violated", 0.1, True, True)],
)
def test_only_what_can_be_relied_on_is_drawn_plain(verdict, composed, claimed_hatched, composed_hatched):
    figure = claim_figure(Claim(0.1, "x", verdict, "y"), PrivacyLoss(composed))
    claimed, added_up = figure.data
    assert bool(claimed.marker.pattern.shape) == claimed_hatched
    assert bool(added_up.marker.pattern.shape) == composed_hatched
    assert (claimed.marker.color != added_up.marker.color) == (claimed_hatched != composed_hatched)


def test_an_infinite_guarantee_is_longer_than_its_claim_and_says_so():
    figure = claim_figure(Claim(0.1, "x", "violated", "y"), PrivacyLoss(math.inf))
    claimed, added_up = figure.data
    assert added_up.x[0] > claimed.x[0]
    assert added_up.text[0].strip() == "∞: no bound"
    assert claimed.text[0].strip() == "0.1: violated"
    assert figure.layout.xaxis.range[1] > added_up.x[0]


def test_nothing_claimed_is_said_in_words():
    nothing = Claim(math.inf, "none", "none", "Exact.")
    assert claim_figure(nothing, PrivacyLoss(math.inf)).data[0].text[0].strip() == "∞: nothing is claimed"
    assert claim_sentence(nothing, PrivacyLoss(math.inf)).startswith("Nothing is claimed")


def test_tables_say_what_the_figures_say():
    plan = plan_of("privatree")
    rows = share_rows(plan)
    assert len(rows) == len(plan.shares)
    assert {row["set by"] for row in rows} == {share.set_by for share in plan.shares}
    assert rows[0]["times a row meets it"] == 6
    assert len(split_rows(plan, planned(plan))) == len(split_segments(plan, planned(plan)))
    claimed, composed = claim_rows(Claim(0.1, "a paper", "violated", "y"), PrivacyLoss(math.inf))
    assert (claimed[AXIS], composed[AXIS]) == ("0.1", "∞")


def test_who_decided_lists_every_part_under_whoever_set_it():
    assert deciders(plan_of("privatree", shares=(1, 2, 1))) == {"you": ("quantile", "node", "leaf")}
    assert deciders(BudgetPlan(1, 1, (Share("leaf", 0, 1.0),))) == {"the learner": ("leaf",)}
