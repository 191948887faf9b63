"""PF-forest: random trees on disjoint rows, every leaf labelled by permute-and-flip on its counts. The sound twin.

The authors of the smooth random forest withdrew its rule in an addendum of August 2021 and put this one in its place:
counts are monotone, a row changes one of them by one, so permute-and-flip with all of epsilon labels a leaf. Trees hold
disjoint rows: every row draws its tree, independently of all others, so that a row more moves no other row. (Giving out rows
by position, as has been done, lets a new row push others into other trees, and parallel composition no longer applies.)

Every leaf is published with a label, with rows or without: a list of leaves that held rows would say where rows are. The
depth is therefore also held to what can be written down. Discloses nothing.

Source: Fletcher & Islam 2017 and its addendum of August 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import round_down
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.forests.forest import MOST_LEAVES, Plot, fit_packed, forest_event
from dpviz.training.forests.random_boxes import declared_box
from dpviz.training.forests.random_trees import deepest_within, theorem_2_depth
from dpviz.training.params import Settings, control

NAME = "pf-forest"
#: Rows per tree in the rule for how many trees, at epsilon 1, two classes and two children per split. Chosen, as the rule was,
#: on the twelve data sets of `benchmarks.forests`; papers have 100. With as many trees each, permute-and-flip was .02 to
#: .25 points behind the smooth rule on average: soundness has a small price, which the right number of trees more than pays.
ROWS_PER_TREE = 100
FEWEST_TREES, MOST_TREES = 10, 400
#: Without a public row count, and of trees that share rows and epsilon (as many as JPW has).
TREES_UNKNOWN, TREES_SHARED = 50, 10


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees, and whether they share rows."""

    trees: int = control(
        0,
        label="Trees",
        help="Each has one vote, and its part of the rows. 0: as many as a public rule finds good.",
        kind="whole",
        low=0,
        high=1000,
    )
    disjoint: bool = control(
        True,
        label="Rows divided among the trees",
        help="Each tree has its own rows and all of epsilon. Off: every tree sees every row, for its part of epsilon.",
        kind="flag",
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon for the labels; depth by Theorem 2, no deeper than asked for and than can be published."""
    declared_box(schema)
    n_trees = trees_of(schema, settings.epsilon, params)
    depth, notes = published_depth(schema, settings, theorem_2_depth(schema), n_trees)
    how = "set by you" if params.trees else "by the public rule"
    return label_plan(settings.epsilon, depth, n_trees, params.disjoint, (*notes, f"{n_trees} trees ({how})."))


def trees_of(schema: Schema, epsilon: float, params: Params) -> int:
    """As many as asked for, else by a rule of public things: fewer rows per tree are enough where epsilon is larger, more are
    needed where more classes and more children per split spread them thinner.
    """
    if params.trees:
        return params.trees
    if not params.disjoint:
        return TREES_SHARED
    if schema.n_public is None:
        return TREES_UNKNOWN
    children = [len(feature.categories) if isinstance(feature, CategoricalFeature) else 2 for feature in schema.features]
    thinner = max(1.0, len(schema.classes) / 2) * max(1.0, sum(children) / len(children) / 2)
    found = schema.n_public * math.sqrt(epsilon) / (ROWS_PER_TREE * thinner)
    return round(min(max(found, FEWEST_TREES), MOST_TREES))


def published_depth(schema: Schema, settings: Settings, rule: int, n_trees: int) -> tuple[int, tuple[str, ...]]:
    """(depth, how it came about): by the rule or as set, no deeper than a forest of this size can be written down."""
    wanted = min(rule, settings.max_depth) if settings.depth == "auto" else int(settings.depth)
    depth = deepest_within(schema, wanted, MOST_LEAVES / n_trees)
    how = f"rule {rule}, at most {settings.max_depth}" if settings.depth == "auto" else f"set by you: {settings.depth}"
    limit = f", held to what {MOST_LEAVES:,} leaves can hold" if depth < wanted else ""
    return depth, (f"Depth {depth} ({how}{limit}).",)


def label_plan(epsilon: float, depth: int, n_trees: int, disjoint: bool, notes: tuple[str, ...]) -> BudgetPlan:
    """Labels of disjoint trees have all of epsilon each; trees that share rows have equal parts of it."""
    if disjoint:
        share = Share("leaf", depth, epsilon, set_by="rule: splits are free, trees hold disjoint rows")
    else:
        part = round_down(Fraction(epsilon) / n_trees)
        share = Share("leaf", depth, part, n_compositions=n_trees, set_by="rule: equal parts, trees share rows")
    return BudgetPlan(epsilon, depth, (share,), notes)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees and label their leaves."""
    n_trees = trees_of(data.schema, plan.epsilon, params)
    plot, epsilon = Plot(n_trees, plan.depth, params.disjoint), plan.of("leaf", plan.depth)
    rule = PermuteAndFlip(epsilon, COUNT)
    forest, _ = fit_packed(data, plot, rule, source)
    return FitOutput(forest, forest_event(plot, COUNT.event(epsilon, rule.title, "leaf", plan.depth)))


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Epsilon, and it holds."""
    divided = "every row draws one tree by itself" if params.disjoint else "the parts of epsilon add up over the trees"
    because = f"Splits look at no row, every leaf is labelled by one permute-and-flip on counts, and {divided}."
    return Claim(plan.epsilon, "Fletcher 2021, addendum to Fletcher & Islam 2017", "holds", because)


LEARNER = LearnerSpec(
    name=NAME,
    title="PF-forest",
    idea="Random trees on disjoint rows; every leaf labelled by permute-and-flip, and the trees vote.",
    citation="Fletcher & Islam 2017, arXiv 1606.03572, with its addendum of August 2021",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
)
