"""PrivaTree as published: private quantile bins, noisy class histograms of every feature at every node, permute-and-flip labels.

Discloses exact counts through its stopping rule (a node with one class or at most one row becomes a leaf), unless grown complete.
PrivaTree* has exact quantiles of the data in place of private ones, and discloses these too.

Counterexamples. *One row against two*: one row is always a leaf; with a second row of another class the root may split. So a
split has probability 0 on one table only, at every epsilon. *Grown complete, on features of two categories each*: equal rows of
one class against the same rows and one of the other class. All features look alike, so the last one is chosen only if the noise
of *all* others makes them worse, which the added row makes likelier once per feature. `last_feature_loss` is the exact loss of
choosing it at every level and then the other class. On other features no counterexample is known.

Source: Vos, Vos, Li, Erkin & Verwer 2023 (arXiv 2305.15394), Algorithm 1; the column PrivaTree* of Tables II, VI and VII.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.events import Event, Step
from dpviz.accounting.plan import BudgetPlan
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.quantiles import JointQuantiles, Trellis
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset, Memo
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training import growing
from dpviz.training.contract import FitByGrowing, LearnerSpec, always_claims
from dpviz.training.growing import TreeRecipe
from dpviz.training.noisy_histograms import NoisyHistogramGrower, least_gini_distribution, quantile_grid
from dpviz.training.params import Settings, flag
from dpviz.training.privatree_budget import PrivaTreeParams, privatree_plan, split_epsilon

NAME, STAR = "privatree", "privatree-star"
_TRELLISES: Memo[dict[JointQuantiles, Trellis]] = Memo()
#: Equal rows in the counterexample to the complete tree.
ROWS = 3
STOPPING_DISCLOSURE = Disclosure(
    code="stopping-rule",
    what="A branch ends where the exact rows are of one class or at most one is left: the shape of the tree shows exact counts.",
    remedy="Grow the tree complete, or use PF-tree.",
)
QUANTILE_DISCLOSURE = Disclosure(
    code="exact-quantiles",
    what="Every threshold is an exact quantile, that is, a value of some row.",
    remedy="Use PF-tree, whose thresholds come from the schema.",
)


@dataclass(frozen=True, slots=True)
class Params(PrivaTreeParams):
    """PrivaTree's parameters."""

    grow_complete: bool = flag(False, "Never stop early", "Exact counts then do not show in the shape of the tree.")


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Equations (7) to (10), or the given shares."""
    split = split_epsilon(NAME, schema, settings, params.shares, params.max_leaf_error, quantiles=True)
    return privatree_plan(schema, settings, split, stops=not params.grow_complete, exact=False)


def prepare(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> TreeRecipe:
    """Quantiles, then the tree."""
    thresholds, events = {}, []
    for feature, column in zip(data.schema.features, data.columns, strict=True):
        if isinstance(feature, NumericFeature):
            quantiles = JointQuantiles(
                plan.of("quantile", None, "numeric"), feature.low, feature.high, n_quantiles=params.bins - 1
            )
            released = quantiles.release(_values_of(data, feature.name, column, quantiles), source=source, part="quantile")
            thresholds[feature.name] = released.value
            events.append(released.event)
    grower = NoisyHistogramGrower(quantile_grid(data.schema, thresholds, NAME), plan, params.grow_complete, source)
    return grower.recipe(data, tuple(events), () if params.grow_complete else (STOPPING_DISCLOSURE,))


def _values_of(data: EncodedDataset, name: str, column: np.ndarray, quantiles: JointQuantiles) -> np.ndarray | Trellis:
    """The column, or of rows that many fits share its trellis, made once as long as they ask for the same quantiles."""
    if not data.caches_counts:
        return column
    kept = _TRELLISES.of(data, name, dict)
    if quantiles not in kept:
        kept.clear()  # of other epsilons: a trellis may be larger than its column
        kept[quantiles] = quantiles.trellis(column)
    return kept[quantiles]


def _plan_star(schema: Schema, settings: Settings, params: PrivaTreeParams) -> BudgetPlan:
    """Equations (7) to (10) with no quantile budget."""
    split = split_epsilon(STAR, schema, settings, params.shares, params.max_leaf_error, quantiles=False)
    return privatree_plan(schema, settings, split, stops=True, exact=True)


def _prepare_star(data: EncodedDataset, plan: BudgetPlan, params: PrivaTreeParams, source: NoiseSource) -> TreeRecipe:
    """Exact quantiles, then the tree."""
    levels = np.arange(1, params.bins) / params.bins
    columns = data.columns if data.n_rows else [np.zeros(1)] * data.n_features
    numeric = [(f, column) for f, column in zip(data.schema.features, columns, strict=True) if isinstance(f, NumericFeature)]
    thresholds = {feature.name: np.quantile(column, levels, method="inverted_cdf") for feature, column in numeric}
    grower = NoisyHistogramGrower(quantile_grid(data.schema, thresholds, STAR), plan, False, source)
    exact: tuple[Event, ...] = (Step.unbounded("exact quantiles of the numeric features", "quantile"),) if numeric else ()
    disclosures = (QUANTILE_DISCLOSURE, growing.STOPPING_DISCLOSURE) if numeric else (growing.STOPPING_DISCLOSURE,)
    return grower.recipe(data, exact, disclosures)


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Theorem 3 claims epsilon, but its proof composes features in parallel, and the stopping rule is exact."""
    source, here = "Vos et al. 2023, Theorem 3", "dpviz/learners/published/privatree.py"
    if not params.grow_complete:
        because = "One row is always a leaf, two mixed rows may split: some trees are possible for one data set only."
        return Claim(plan.epsilon, source, "violated", because, evidence=f"{here}: one row against two")
    if schema.n_features == 1:
        because = "With a single feature every row is counted once per level."
        return Claim(plan.epsilon, source, "holds", because, evidence="dpviz/learners/published/privatree.py; McSherry 2009")
    because = "Features of one row are not disjoint data: costs add up."
    loss = last_feature_loss(plan, schema)
    if loss <= plan.epsilon:
        because = f"{because} With few levels and features of two categories a counterexample is known, here none is."
        return Claim(plan.epsilon, source, "unproven", because)
    because = f"{because} One row more changes the probability of a tree by a factor of at least exp({loss:.4g})."
    return Claim(plan.epsilon, source, "violated", because, evidence=f"{here}: last_feature_loss")


def last_feature_loss(plan: BudgetPlan, schema: Schema) -> float:
    """A lower bound on the loss of the plan, from `ROWS` equal rows of class 0 against the same and one of class 1.

    0 unless there are two classes and every feature has two categories: only then the distribution of a split is known exactly.
    """
    binary = all(isinstance(feature, CategoricalFeature) and len(feature.categories) == 2 for feature in schema.features)
    if not binary or len(schema.classes) != 2:
        return 0.0
    leaf = PermuteAndFlip(plan.of("leaf", plan.depth), COUNT).probabilities(np.array([[ROWS, 0], [ROWS, 1]]))[:, 1]
    labels = math.log(leaf[1] / leaf[0]) if leaf[0] else 0.0  # 0: below the floating-point range
    return plan.depth * _last_split_loss(plan.of("node", 0, "categorical"), schema.n_features) + labels


@lru_cache(maxsize=256)
def _last_split_loss(epsilon: float, n_features: int) -> float:
    """ln P(the last of equal features splits, rows to the right | one row more) / P(the same | without), rounded down.

    At least 0: of all splits, which all keep the rows together, one is no less likely with the row.
    """
    noise = GeometricNoise(epsilon)
    chances = []
    for other_class in (0, 1):
        histogram = np.tile([[ROWS, other_class], [0, 0]], (n_features, 1))
        decisions, cut = least_gini_distribution(histogram, (2,) * n_features, noise)
        chances.append((decisions[-1][1], cut))
    (without, cut), (with_row, _) = chances
    return math.log(max(1.0, with_row / (without + cut)))


LEARNER = LearnerSpec(
    name=NAME,
    title="PrivaTree",
    idea="Noisy class histograms of every feature at every node; the least Gini impurity splits.",
    citation="Vos, Vos, Li, Erkin & Verwer 2023, arXiv 2305.15394",
    plan=plan,
    fit=FitByGrowing(prepare),
    claim=claim,
    Params=Params,
)
LEARNER_STAR = LearnerSpec(
    name=STAR,
    title="PrivaTree*",
    idea="PrivaTree with exact quantiles: shows what private quantiles cost.",
    citation="Vos, Vos, Li, Erkin & Verwer 2023, arXiv 2305.15394",
    plan=_plan_star,
    fit=FitByGrowing(_prepare_star),
    claim=always_claims(
        "Vos et al. 2023, Table II",
        "violated",
        "Thresholds are values of rows (the paper says so), and the stopping rule is exact.",
        evidence="dpviz/learners/published/privatree.py: one row against two",
    ),
    Params=PrivaTreeParams,
)
