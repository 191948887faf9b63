"""PF-forest, the sound twin of the smooth random forest: random trees on disjoint rows, whose leaves are labelled privately.

In an addendum of August 2021 the author of the smooth forest put this rule in the place of his own: counts are monotone and a row
changes one of them by one, so permute-and-flip labels a leaf with all of epsilon. Trees hold disjoint rows. Each row draws its
tree independently, so that one more row moves no other row. (Assigning rows by position, as some implementations do, lets a new
row push others into other trees, and parallel composition no longer applies.)

Every leaf is published with a label, with or without rows: a list of the leaves that hold rows would reveal where rows are. The
depth is therefore limited to what can be published. Discloses nothing.

Source: Fletcher & Islam 2017, Expert Systems with Applications 78, and its addendum of August 2021.
"""

import math
from dataclasses import dataclass

from dpviz.accounting.claim import Claim
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.boxes import split_features
from dpviz.models.packed_forest import children_by_feature
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.counted_rows import Rows, counter_of
from dpviz.training.forests import ForestShape, disjoint_field, fit_packed, label_plan, publishable_depth, theorem_2_depth
from dpviz.training.params import Settings, whole

NAME = "pf-forest"
#: Rows per tree at epsilon 1, two classes and two children per split. Chosen, like the rule itself, on the twelve data sets of
#: `benchmarks.forests`. With the papers' 100 trees for both, permute-and-flip was .02 to .25 points behind the smooth rule on
#: average: soundness has a small price, and the right number of trees more than makes up for it.
ROWS_PER_TREE = 100
MIN_TREES, MAX_TREES = 10, 400
#: Without a public row count, and for trees that share rows and epsilon (as many as in the JPW forest).
TREES_UNKNOWN, TREES_SHARED = 50, 10


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees, and whether they share rows."""

    trees: int = whole(
        0, "Trees", "Each has one vote, and its part of the rows. 0: as many as a public rule finds good.", low=0, high=1000
    )
    disjoint: bool = disjoint_field()


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon for the labels; depth by Theorem 2, no deeper than asked for and than can be published."""
    split_features(schema)
    n_trees = trees_of(schema, settings.epsilon, params)
    depth, notes, replaced = publishable_depth(schema, settings, theorem_2_depth(schema), n_trees)
    how = "set by you" if params.trees else "by the public rule"
    shape = ForestShape(n_trees, depth, params.disjoint)
    return label_plan(settings.epsilon, shape, (*notes, f"{n_trees} trees ({how})."), replaced)


def trees_of(schema: Schema, epsilon: float, params: Params) -> int:
    """As many as asked for, else by a rule of public values.

    A larger epsilon needs fewer rows per tree; more classes and more children per split need more rows.
    """
    if params.trees:
        return params.trees
    if not params.disjoint:
        return TREES_SHARED
    if schema.n_public is None:
        return TREES_UNKNOWN
    thinner = max(1.0, len(schema.classes) / 2) * max(1.0, float(children_by_feature(schema).mean()) / 2)
    n_trees = schema.n_public * math.sqrt(epsilon) / (ROWS_PER_TREE * thinner)
    return round(min(max(n_trees, MIN_TREES), MAX_TREES))


def fit(data: Rows, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees and label their leaves."""
    shape = ForestShape(trees_of(data.schema, plan.epsilon, params), plan.depth, params.disjoint)
    model, event, _ = fit_packed(counter_of(data), shape, PermuteAndFlip(plan.of("leaf", plan.depth), COUNT), source)
    return FitOutput(model, event)


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Epsilon, and it holds."""
    divided = "every row draws one tree by itself" if params.disjoint else "the parts of epsilon add up over the trees"
    because = f"Splits look at no row, every leaf is labelled by one permute-and-flip on counts, and {divided}."
    evidence = "dpviz/learners/published/pf_forest.py; McKenna & Sheldon 2020"
    return Claim(plan.epsilon, "Fletcher 2021, addendum to Fletcher & Islam 2017", "holds", because, evidence=evidence)


LEARNER = LearnerSpec(
    name=NAME,
    title="Smooth random forest (sound)",
    idea="The sound twin of the smooth random forest: leaves labelled by permute-and-flip, as its addendum asks.",
    citation="Fletcher & Islam 2017, arXiv 1606.03572, as corrected in its addendum of August 2021",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
    counts=frozenset({"leaves of forests"}),
)
