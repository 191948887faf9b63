"""JPW forest: ten shallow random trees that share all rows, with noisy class counts at every leaf.

Each tree has a tenth of epsilon, and its leaves hold disjoint rows. The trees add up their counts. An empty leaf is as
confident as its noise. Depth min(m/2, log_b n - 1) for m features of b values on average (a number counts as two); n is the
public row count.

Two differences: noise is geometric in place of Laplace, so that it can be released, and the cut of a number is as in the
smooth random forest.

Source: Jagannathan, Pillaipakkamnatt & Wright 2012, Transactions on Data Privacy 5; as compared by Fletcher & Islam 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import Noise
from dpviz.accounting.plan import BudgetPlan
from dpviz.learners.ours.pf_forest import label_plan, published_depth
from dpviz.models.packed_forest import PackedForest
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.training.contract import FitOutput, LearnerSpec, n_public_of
from dpviz.training.forests.forest import Plot, forest_event, leaf_counts
from dpviz.training.forests.random_boxes import declared_box
from dpviz.training.forests.random_trees import draw_trees
from dpviz.training.params import Settings, control

NAME = "jpw-forest"


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees share epsilon."""

    trees: int = control(
        10, label="Trees", help="Each has its part of epsilon and sees every row.", kind="whole", low=1, high=1000
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Equal parts of epsilon; depth by the paper's rule."""
    declared_box(schema)
    rule = 1
    if settings.depth == "auto":
        rule = jpw_depth(schema, n_public_of(schema, NAME, "give the depth as a number (depth=3)"))
    depth, notes = published_depth(schema, settings, rule, params.trees)
    return label_plan(settings.epsilon, depth, params.trees, False, notes)


def jpw_depth(schema: Schema, n_public: int) -> int:
    """min(m/2, log_b n - 1), rounded down; at least 1."""
    sizes = [len(f.categories) if isinstance(f, CategoricalFeature) else 2 for f in schema.features]
    base = max(2.0, sum(sizes) / len(sizes))
    return max(1, int(min(len(sizes) / 2, math.log(n_public, base) - 1)))


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees and release the counts of their leaves."""
    plot, epsilon = Plot(params.trees, plan.depth, disjoint=False), plan.of("leaf", plan.depth)
    splits = draw_trees(data.schema, plot.n_trees, plot.depth, source)
    counts = leaf_counts(data, splits, plot.disjoint, source).dense()
    noise = GeometricNoise(epsilon)
    noisy = noise.release(counts, source=source, part="leaf", level=plan.depth).value
    forest = PackedForest(splits, np.argmax(noisy, axis=1).astype(np.uint8), noisy.astype(np.int64))
    return FitOutput(forest, forest_event(plot, Noise(epsilon, noise.title, "leaf", plan.depth)))


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Epsilon, and it holds."""
    because = "Splits look at no row; a row changes one count per tree by one, and the trees' parts of epsilon add up."
    return Claim(plan.epsilon, "Jagannathan et al. 2012", "holds", because)


LEARNER = LearnerSpec(
    name=NAME,
    title="JPW forest",
    idea="Ten shallow random trees with noisy counts at every leaf.",
    citation="Jagannathan, Pillaipakkamnatt & Wright 2012, Transactions on Data Privacy 5",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
)
