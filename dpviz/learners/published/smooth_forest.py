"""The smooth random forest: random trees on disjoint rows, whose leaves are labelled with smooth sensitivity.

That rule is not private: for every finite epsilon, one row can change the odds of the majority without limit
(`dpviz/privacy/leaf_labels.py`). Its author withdrew it in an addendum of August 2021; `pf_forest.py` is its sound twin.

Options: the global sensitivity (sound, but hardly better than a coin flip), trees that share all rows at epsilon / trees each, a
depth of half or all of the features, and trees of the full published depth, whose tens of millions of leaves cannot be published.

Source: Fletcher & Islam 2017, Expert Systems with Applications 78.
"""

from dataclasses import dataclass

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import BoundedRange, Unbounded
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.boxes import split_features
from dpviz.privacy.leaf_labels import GlobalMajority, LabelRule, SmoothMajority
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.counted_rows import counter_of
from dpviz.training.forests import (
    MAX_LEAVES,
    ForestShape,
    disjoint_field,
    fit_hashed,
    fit_packed,
    label_plan,
    mean_leaves,
    publishable_depth,
    theorem_2_depth,
)
from dpviz.training.params import Settings, choice, flag, whole

NAME = "smooth-forest"
DEPTHS = ("theorem 2", "half of the features", "all features")


@dataclass(frozen=True, slots=True)
class Params:
    """Trees, and the paper's ablations."""

    trees: int = whole(100, "Trees", "Each has one vote.", low=1, high=1000)
    smooth: bool = flag(
        True, "Smooth sensitivity", "The paper's rule, which is not private. Off: the global sensitivity, which is."
    )
    disjoint: bool = disjoint_field()
    depth_rule: str = choice(DEPTHS, "Depth rule", "The paper's Theorem 2, or its two comparisons.")
    publishable: bool = flag(
        True,
        "Small enough to publish",
        "Off: the full depth, even where a tree has tens of millions of leaves. Such a forest cannot be saved.",
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon for the labels; depth by the chosen rule, no deeper than asked for."""
    split_features(schema)
    rule = _depth(schema, params.depth_rule)
    depth, notes, replaced = publishable_depth(schema, settings, rule, params.trees)
    if not params.publishable:
        depth = min(rule, settings.max_depth) if settings.depth == "auto" else int(settings.depth)
        notes, replaced = (f"Depth {depth} (rule {rule}, at most {settings.max_depth}), published or not.",), ()
    # smooth sensitivity has no exact sampler, and what is one parameter away from it is no release either
    kind = Unbounded if params.smooth else BoundedRange
    return label_plan(settings.epsilon, ForestShape(params.trees, depth, params.disjoint), notes, replaced, kind, exact=False)


def _depth(schema: Schema, rule: str) -> int:
    halves = {DEPTHS[1]: max(1, schema.n_features // 2), DEPTHS[2]: schema.n_features}
    return halves.get(rule) or theorem_2_depth(schema)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees and label their leaves."""
    shape, epsilon = ForestShape(params.trees, plan.depth, params.disjoint), plan.of("leaf", plan.depth)
    rule: LabelRule = SmoothMajority(epsilon) if params.smooth else GlobalMajority(epsilon)
    can_be_held = mean_leaves(data.schema, plan.depth) * params.trees <= MAX_LEAVES or plan.depth == 1
    if can_be_held:
        return FitOutput(*fit_packed(counter_of(data), shape, rule, source)[:2])
    return FitOutput(*fit_hashed(data, shape, rule, source)[:2])


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """The paper's epsilon; violated with smooth sensitivity."""
    source = "Fletcher & Islam 2017"
    if params.smooth:
        because = (
            "One more row can multiply the odds of a leaf's label without limit: smooth sensitivity does not scale the "
            "exponential mechanism. The author withdrew the rule in 2021."
        )
        evidence = "dpviz/privacy/leaf_labels.py; addendum of August 2021 to Fletcher & Islam 2017"
        return Claim(plan.epsilon, source, "violated", because, evidence=evidence)
    because = "With the global sensitivity every label is one exponential mechanism; rows and trees compose as claimed."
    if not params.publishable:
        return Claim(plan.epsilon, source, "unproven", f"{because} But the forest in memory lists the leaves that hold rows.")
    return Claim(plan.epsilon, source, "holds", because, evidence="dpviz/privacy/leaf_labels.py")


LEARNER = LearnerSpec(
    name=NAME,
    title="Smooth random forest",
    idea="Random trees on disjoint rows; leaves labelled with smooth sensitivity.",
    citation="Fletcher & Islam 2017, arXiv 1606.03572",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
)
