"""PrivaTree as published: private quantile bins, noisy class histograms of every feature at every node, permute-and-flip labels.

Discloses exact counts through its stopping rule (a node with one class or at most one row becomes a leaf), unless grown complete.

Source: Vos, Vos, Li, Erkin & Verwer 2023 (arXiv 2305.15394), Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.plan import BudgetPlan
from dpviz.privacy.quantiles import JointQuantiles
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, Schema
from dpviz.training.contract import LearnerSpec, fit_by_growing
from dpviz.training.growing import TreeRecipe
from dpviz.training.noisy_histograms import NoisyHistogramGrower, quantile_grid
from dpviz.training.params import Settings, flag
from dpviz.training.privatree_budget import QuantileParams, epsilon_split_of, privatree_plan, split_epsilon

NAME = "privatree"
STOPPING_DISCLOSURE = Disclosure(
    code="stopping-rule",
    what="A branch ends where the exact rows are of one class or at most one is left: the shape of the tree shows exact counts.",
    remedy="Grow the tree complete, or use PF-tree.",
)


@dataclass(frozen=True, slots=True)
class Params(QuantileParams):
    """PrivaTree's parameters."""

    grow_complete: bool = flag(
        False, "Grow complete", "Never stop early, so that exact counts do not show in the shape of the tree."
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Equations (7) to (10), or the given shares."""
    split = split_epsilon(NAME, schema, settings, params.shares, params.max_leaf_error, quantiles=True)
    return privatree_plan(schema, settings, split)


def prepare(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> TreeRecipe:
    """Quantiles, then the tree."""
    split = epsilon_split_of(plan)
    thresholds, events = {}, []
    for feature, column in zip(data.schema.features, data.columns, strict=True):
        if isinstance(feature, NumericFeature):
            quantiles = JointQuantiles(split.quantile, feature.low, feature.high, n_quantiles=params.bins - 1)
            released = quantiles.release(column, source=source, part="quantile")
            thresholds[feature.name] = released.value
            events.append(released.event)
    grower = NoisyHistogramGrower(quantile_grid(data.schema, thresholds, NAME), split, plan.depth, params.grow_complete, source)
    return grower.recipe(data, tuple(events), () if params.grow_complete else (STOPPING_DISCLOSURE,))


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Theorem 3 claims epsilon, but its proof composes features in parallel, and the stopping rule is exact."""
    source = "Vos et al. 2023, Theorem 3"
    if not params.grow_complete:
        because = "One row is always a leaf, two mixed rows may split: some trees are possible for one data set only."
        return Claim(plan.epsilon, source, "violated", because)
    if schema.n_features == 1:
        return Claim(plan.epsilon, source, "holds", "With a single feature every row is counted once per level.")
    because = "Features of one row are not disjoint data: costs add up. Two features of two categories are a counterexample."
    return Claim(plan.epsilon, source, "violated", because)


LEARNER = LearnerSpec(
    name=NAME,
    title="PrivaTree",
    idea="Noisy class histograms of every feature at every node; the least Gini impurity splits.",
    citation="Vos, Vos, Li, Erkin & Verwer 2023, arXiv 2305.15394",
    plan=plan,
    fit=fit_by_growing(prepare),
    prepare=prepare,
    claim=claim,
    Params=Params,
    exact=False,
    published=("arXiv", "PrivaTree"),
)
