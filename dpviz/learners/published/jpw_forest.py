"""JPW forest: ten shallow random trees that share all rows, with noisy class counts at every leaf.

Each tree has a tenth of epsilon, and its leaves hold disjoint rows. The trees add up their counts, so an empty leaf is as
confident as its noise. The depth is min(m/2, log_b n - 1) for m features of b values on average (a number counts as two), where n
is the public row count. Discloses nothing.

Source: Jagannathan, Pillaipakkamnatt & Wright 2012, Transactions on Data Privacy 5; as compared by Fletcher & Islam 2017.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.models.boxes import split_features
from dpviz.models.packed_forest import PackedForest, children_by_feature
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims, n_public_of
from dpviz.training.counted_rows import counter_of
from dpviz.training.forests import ForestShape, draw_trees, label_plan, publishable_depth
from dpviz.training.params import Settings, whole

NAME = "jpw-forest"


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees share epsilon."""

    trees: int = whole(10, "Trees", "Each has its part of epsilon and sees every row.", low=1, high=1000)


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Equal parts of epsilon; depth by the paper's rule."""
    split_features(schema)
    rule = 1
    if settings.depth == "auto":
        rule = jpw_depth(schema, n_public_of(schema, NAME, "give the depth as a number (depth=3)"))
    depth, notes, replaced = publishable_depth(schema, settings, rule, params.trees)
    return label_plan(settings.epsilon, ForestShape(params.trees, depth, disjoint=False), notes, replaced)


def jpw_depth(schema: Schema, n_public: int) -> int:
    """min(m/2, log_b n - 1), rounded down; at least 1."""
    base = max(2.0, float(children_by_feature(schema).mean()))
    return max(1, int(min(schema.n_features / 2, math.log(n_public, base) - 1)))


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees and release the counts of their leaves."""
    shape = ForestShape(params.trees, plan.depth, disjoint=False)
    splits = draw_trees(data.schema, shape.n_trees, shape.depth, source)
    counts = counter_of(data).forest_counts(splits, None)
    noisy = GeometricNoise(plan.of("leaf", plan.depth)).release(counts, source=source, part="leaf", level=plan.depth)
    forest = PackedForest(splits, np.argmax(noisy.value, axis=1).astype(np.uint8), noisy.value.astype(np.int64))
    return FitOutput(forest, shape.event(noisy.event))


LEARNER = LearnerSpec(
    name=NAME,
    title="JPW forest",
    idea="Ten shallow random trees with noisy counts at every leaf.",
    citation="Jagannathan, Pillaipakkamnatt & Wright 2012, Transactions on Data Privacy 5",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Jagannathan et al. 2012",
        "holds",
        "Splits look at no row; a row changes one count per tree by one, and the trees' parts of epsilon add up.",
        evidence="dpviz/learners/published/jpw_forest.py; Ghosh et al. 2009",
    ),
    Params=Params,
)
