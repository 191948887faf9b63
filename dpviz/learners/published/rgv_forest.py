"""RGV forest: many greedy trees, each with all of epsilon. Its privacy is of a weaker kind.

The trees resemble those of FS: a random choice of features at every node, splits by the exponential mechanism, noisy class counts
at the leaves. Each tree spends all of epsilon on all rows. The paper's definition protects the *values* of a row, but not whether
the row is present; against adding or removing one row, the trees add up to trees times epsilon. Discloses nothing.

Counterexample. n equal rows against n + 1. The splits tell nothing, but in every tree the label of their leaf loses a part of
epsilon, epsilon / (depth + 1), in the limit of large n; trees draw independent noise, so these losses add up. With more than
depth + 1 trees that is more than epsilon (`labels_loss` is exact for every n). One tree holds: its levels and its leaf add up. In
between, neither a proof nor a counterexample is known; two trees on one feature of two categories lose at most .97 of epsilon.

A reconstruction: the paper itself was not available, only its description by Fletcher & Islam ("built similarly to FS, with some
modifications"). What it leaves open was chosen here: see `data/benchmarks/differences.md`.

Source: Rana, Gupta & Venkatesh 2015, ICDM, "Differentially private random forest with high utility"; as compared by Fletcher
& Islam 2017.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import BoundedRange, Event, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.tree import Forest, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import ExponentialMechanism
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformChoice
from dpviz.table.candidates import CandidateGrid, equal_width_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.counted_rows import counter_of
from dpviz.training.growing import Decision, Label, Split, grow
from dpviz.training.nodes import CountedNode
from dpviz.training.params import Settings, whole
from dpviz.training.scores import best_correct_rows

NAME = "rgv-forest"
TREES = 110
BINS = 10
MAX = Sensitivity(1.0, monotone=False, source="a row changes the rows of the largest class of one child by at most one")


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees."""

    trees: int = whole(
        TREES,
        "Trees",
        "Each spends all of epsilon again: against adding or removing a row, epsilon counts that many times.",
        low=1,
        high=1500,
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon in every tree, in equal parts over its levels and its leaves."""
    equal_width_grid(schema, BINS)
    depth = settings.fixed_or_max_depth
    parts = split_budget(settings.epsilon, (1.0,) * (depth + 1))
    rule = "rule: all of epsilon in every tree"
    nodes = (Share("node", n, part, params.trees, rule, costs=(BoundedRange(part),)) for n, part in enumerate(parts[:-1]))
    shares = (*nodes, Share("leaf", depth, parts[-1], params.trees, rule))
    each = f"{params.trees} trees of epsilon {settings.epsilon * schema.rows_per_person:g} each"
    note = f"{each}: its definition does not protect whether a row is there."
    return BudgetPlan(settings.epsilon, depth, shares, (note,))


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Grow one tree after another."""
    grid = equal_width_grid(data.schema, BINS)
    root = counter_of(data).root(grid)
    first = 1 << params.trees.bit_length()  # places of their own, so that no two trees share noise
    grown = [grow(root, lambda node: _step(grid, node, plan, source), source, first + tree) for tree in range(params.trees)]
    forest = Forest(data.schema, tuple(Tree(data.schema, node) for node, _ in grown))
    return FitOutput(forest, Sequential(tuple(event for _, event in grown)))


def _step(grid: CandidateGrid, node: CountedNode, plan: BudgetPlan, source: NoiseSource) -> Decision:
    if node.level == plan.depth:
        noise = GeometricNoise(plan.of("leaf", plan.depth))
        counts = noise.release(node.class_counts, source=source, part="leaf", level=node.level)
        return Label(int(counts.value.argmax()), counts.event)
    candidates, chance = _candidates(grid, node.level, source)
    mechanism = ExponentialMechanism(plan.of("node", node.level), MAX)
    utilities = best_correct_rows(node.left_counts[candidates], node.class_counts)
    chosen = mechanism.release(utilities, source=source, part="node", level=node.level)
    feature, index = grid.locate(int(candidates[chosen.value]))
    return Split(feature, index, Sequential((chance, chosen.event)))


def _candidates(grid: CandidateGrid, level: int, source: NoiseSource) -> tuple[np.ndarray, Event]:
    """The candidates of sqrt(n_features) random features, and the event of choosing these features, which costs nothing."""
    bounds = grid.first_candidates
    able = [feature for feature in range(len(bounds) - 1) if bounds[feature] < bounds[feature + 1]]
    chosen, event = [], None
    for _ in range(max(1, math.isqrt(len(able)))):
        drawn = UniformChoice().release(len(able), source=source, part="node", level=level)
        chosen.append(able.pop(drawn.value))
        event = drawn.event
    assert event is not None
    return np.concatenate([np.arange(bounds[feature], bounds[feature + 1]) for feature in sorted(chosen)]), event


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """The paper's epsilon, under another definition; violated under add/remove one row."""
    source, here = "Rana, Gupta & Venkatesh 2015 (weaker definition)", "dpviz/learners/published/rgv_forest.py"
    if params.trees == 1:
        because = "One tree: its levels and its leaf add up to epsilon, and the rows of a level are disjoint."
        return Claim(plan.epsilon, source, "holds", because, evidence=f"{here}; McSherry 2009")
    because = (
        "The paper's definition protects the values of a row, not whether it is there; "
        f"against adding or removing one row its {params.trees} trees add up."
    )
    if params.trees <= plan.depth + 1:
        return Claim(plan.epsilon, source, "unproven", f"{because} With so few trees no counterexample is known.")
    return Claim(plan.epsilon, source, "violated", because, evidence=f"{here}: n equal rows against n + 1")


def labels_loss(n_rows: int, trees: int, epsilon: float) -> float:
    """ln P(every tree labels its leaf with the other class | n equal rows) / P(the same | n + 1), for two classes.

    `epsilon` is that of one leaf. Class 1 needs noise that is ahead by more than n rows. The difference of two geometric noises
    of decay a is at least m >= 1 with probability a^m g(m) / (1 + a)^2, g(m) = m (1 - a) + (1 + a + 2 a^2) / (1 + a).
    """
    decay = math.exp(-epsilon)
    least = (1 + decay + 2 * decay**2) / (1 + decay)
    without, with_row = (rows * (1 - decay) + least for rows in (n_rows + 1, n_rows + 2))
    return trees * (epsilon + math.log(without / with_row))


LEARNER = LearnerSpec(
    name=NAME,
    title="RGV forest (weaker privacy)",
    idea="Many greedy trees, each with all of epsilon; protects the values of a row, not whether it is there.",
    citation="Rana, Gupta & Venkatesh 2015, ICDM, Differentially private random forest with high utility",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
)
