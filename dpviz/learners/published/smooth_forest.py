"""Smooth random forest: random trees on disjoint rows, leaves labelled by the exponential mechanism with smooth sensitivity.

The rule of the leaves is not private: the odds of the majority grow without limit from one row to the next
(`dpviz/privacy/smooth.py`), for every finite epsilon. Its author withdrew it in August 2021; `pf-forest` is what replaced it.
Switches: the global sensitivity (sound, and hardly better than a coin), rows shared by all trees for epsilon / trees each,
depth half of the features or all of them, and trees of the full published depth, whose tens of millions of leaves cannot be
written down.

Source: Fletcher & Islam 2017, Expert Systems with Applications 78.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.accounting.claim import Claim, Verdict
from dpviz.accounting.events import Event, NonPrivate, Select
from dpviz.accounting.plan import BudgetPlan
from dpviz.learners.ours.pf_forest import label_plan, published_depth
from dpviz.privacy.leaf_labels import GlobalMajority, LabelRule
from dpviz.privacy.smooth import REASON, SmoothMajority
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.forests.forest import MOST_LEAVES, Plot, fit_hashed, fit_packed, forest_event
from dpviz.training.forests.random_boxes import declared_box
from dpviz.training.forests.random_trees import mean_leaves, theorem_2_depth
from dpviz.training.params import Settings, control

NAME = "smooth-forest"
DEPTHS = ("theorem 2", "half of the features", "all features")


@dataclass(frozen=True, slots=True)
class Params:
    """Trees, and the paper's ablations."""

    trees: int = control(100, label="Trees", help="Each has one vote.", kind="whole", low=1, high=1000)
    smooth: bool = control(
        True,
        label="Smooth sensitivity",
        help="The paper's rule, which is not private. Off: the global sensitivity, which is.",
        kind="flag",
    )
    disjoint: bool = control(
        True,
        label="Rows divided among the trees",
        help="Each tree has its own rows and all of epsilon. Off: every tree sees every row, for its part of epsilon.",
        kind="flag",
    )
    depth_rule: str = control(
        DEPTHS[0], label="Depth rule", help="The paper's Theorem 2, or its two comparisons.", kind="choice", options=DEPTHS
    )
    publishable: bool = control(
        True,
        label="Small enough to publish",
        help="Off: the full depth, even where a tree has tens of millions of leaves. Such a forest cannot be saved.",
        kind="flag",
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon for the labels; depth by the chosen rule, no deeper than asked for."""
    declared_box(schema)
    rule = _depth(schema, params.depth_rule)
    depth, notes = published_depth(schema, settings, rule, params.trees)
    if not params.publishable:
        depth = min(rule, settings.max_depth) if settings.depth == "auto" else int(settings.depth)
        notes = (f"Depth {depth} (rule {rule}, at most {settings.max_depth}), published or not.",)
    return label_plan(settings.epsilon, depth, params.trees, params.disjoint, notes)


def _depth(schema: Schema, rule: str) -> int:
    halves = {DEPTHS[1]: max(1, schema.n_features // 2), DEPTHS[2]: schema.n_features}
    return halves.get(rule) or theorem_2_depth(schema)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees and label their leaves."""
    plot, epsilon = Plot(params.trees, plan.depth, params.disjoint), plan.of("leaf", plan.depth)
    can_be_held = mean_leaves(data.schema, plan.depth) * params.trees <= MOST_LEAVES or plan.depth == 1
    forest, _ = (fit_packed if can_be_held else fit_hashed)(data, plot, label_rule(epsilon, params.smooth), source)
    return FitOutput(forest, forest_event(plot, _label_event(epsilon, plan.depth, params.smooth)))


def label_rule(epsilon: float, smooth: bool) -> LabelRule:
    """The rule of the leaves."""
    return SmoothMajority(epsilon) if smooth else GlobalMajority(epsilon)


def _label_event(epsilon: float, depth: int, smooth: bool) -> Event:
    return NonPrivate(REASON, "leaf", depth) if smooth else Select(epsilon, GlobalMajority.title, "leaf", depth)


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """The paper's epsilon; violated with smooth sensitivity."""
    source = "Fletcher & Islam 2017"
    if params.smooth:
        because = (
            "One more row can multiply the odds of a leaf's label without limit: smooth sensitivity does not scale the "
            "exponential mechanism. The author withdrew the rule in 2021."
        )
        return Claim(plan.epsilon, source, "violated", because)
    verdict: Verdict = "holds" if params.publishable else "unproven"
    because = "With the global sensitivity every label is one exponential mechanism; rows and trees compose as claimed."
    return Claim(plan.epsilon, source, verdict, because)


LEARNER = LearnerSpec(
    name=NAME,
    title="Smooth random forest",
    idea="Random trees on disjoint rows; leaves labelled with smooth sensitivity.",
    citation="Fletcher & Islam 2017, arXiv 1606.03572",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
    exact=False,
)
