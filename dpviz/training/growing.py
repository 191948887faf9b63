"""Growing a tree: a learner's step decides what one node becomes, and growing does the rest.

Nodes and events are returned together, so the ledger has the shape of the tree: Sequential(select, Parallel(left, right)). The
children hold disjoint rows, therefore Parallel; all steps at one node touch the same rows, therefore Sequential.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, NoCost, Parallel, Sequential
from dpviz.models.tree import Branch, Halves, Leaf, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid
from dpviz.training.histograms import NodeRows


@dataclass(frozen=True, slots=True)
class Label:
    """The node becomes a leaf."""

    label: int
    event: Event


@dataclass(frozen=True, slots=True)
class Split:
    """The node splits by candidate `index` of `feature`, and both children are grown."""

    feature: int
    index: int
    event: Event


@dataclass(frozen=True, slots=True)
class LabelledSplit:
    """The node splits, and both children are leaves with these labels."""

    feature: int
    index: int
    labels: tuple[int, int]
    event: Event


@dataclass(frozen=True, eq=False)
class OrderedSplit:
    """The node splits a categorical feature by any set of its bins (prefixes of an order found at the node)."""

    feature: int
    left_bins: np.ndarray
    event: Event


@dataclass(frozen=True, slots=True)
class HalvingSplit:
    """The node splits, with the lower half of its numbers meant for one side. `ends`: both children are leaves."""

    feature: int
    index: int
    halves: Halves
    ends: bool
    event: Event


Decision = Label | Split | LabelledSplit | OrderedSplit | HalvingSplit
Step = Callable[[NodeRows], Decision]
#: The exact distribution of a step: every decision with its probability, and the mass cut off where noise is unbounded.
StepDistribution = Callable[[NodeRows], tuple[list[tuple[Decision, float]], float]]
#: The event of a decision that is enumerated, not drawn.
UNPRICED = NoCost("distribution")


@dataclass(frozen=True, eq=False)
class TreeRecipe:
    """How to grow a tree: its root, the learner's step, and what was spent before.

    `distribution` is given where a step draws unbounded noise, so that trying every draw cannot enumerate its decisions.
    """

    root: NodeRows
    step: Step
    before: tuple[Event, ...] = ()
    disclosures: tuple[Disclosure, ...] = ()
    distribution: StepDistribution | None = None


def grow(node: NodeRows, step: Step, source: NoiseSource, place: int = 1) -> tuple[Node, Event]:
    """Grow the subtree of `node`, which stands at `place`; returns it with its event. `source` is told of every place."""
    grid = node.binned.grid
    source.enter(place)
    match step(node):
        case Label(label, event):
            return Leaf(label), event
        case LabelledSplit(feature, index, (left, right), event):
            return Branch(rule_of(grid, feature, index), Leaf(left), Leaf(right)), event
        case Split(feature, index, event):
            rule = rule_of(grid, feature, index)
            branch, whole = _branch(node, rule, grid.features[feature].left_bins(index), event, step, source, place)
            return _cut_below(grid, branch, index), whole
        case HalvingSplit(feature, index, halves, ends, event):
            rule = rule_of(grid, feature, index)
            if ends:
                return Branch(rule, NumberLeaf(halves.median), NumberLeaf(halves.median), halves), event
            branch, whole = _branch(node, rule, grid.features[feature].left_bins(index), event, step, source, place)
            return replace(branch, halves=halves), whole
        case OrderedSplit(feature, left_bins, event):
            return _branch(node, subset_rule(feature, left_bins), left_bins, event, step, source, place)


def _branch(
    node: NodeRows, rule: Rule, left_bins: np.ndarray, event: Event, step: Step, source: NoiseSource, place: int
) -> tuple[Branch, Event]:
    left_rows, right_rows = node.children(rule.feature, left_bins)
    left, left_event = grow(left_rows, step, source, 2 * place)
    right, right_event = grow(right_rows, step, source, 2 * place + 1)
    return Branch(rule, left, right), Sequential((event, Parallel((left_event, right_event))))


def _cut_below(grid: CandidateGrid, branch: Branch, index: int) -> Branch:
    """The branch; where a numeric candidate also has a lower end, with a second rule inside, and the right side on both sides."""
    candidates = grid.features[branch.rule.feature]
    if candidates.thresholds is None or not candidates.starts[index]:
        return branch
    below = ThresholdRule(branch.rule.feature, float(candidates.thresholds[candidates.starts[index] - 1]))
    return Branch(branch.rule, Branch(below, branch.right, branch.left), branch.right)


def leaf_distribution(mechanism: PermuteAndFlip, node: NodeRows) -> tuple[list[tuple[Decision, float]], float]:
    """The exact distribution of a leaf's label by permute-and-flip on its class counts; nothing is cut off."""
    chances = mechanism.probabilities(node.class_counts)
    return [(Label(label, UNPRICED), float(chance)) for label, chance in enumerate(chances)], 0.0


def rule_of(grid: CandidateGrid, feature: int, index: int) -> Rule:
    """The rule of candidate `index` of `feature`."""
    candidates = grid.features[feature]
    if candidates.thresholds is not None:
        return ThresholdRule(feature, float(candidates.thresholds[candidates.ends[index] - 1]))
    return subset_rule(feature, candidates.left_bins(index))


def subset_rule(feature: int, left_bins: np.ndarray) -> SubsetRule:
    """The rule that sends these bins (bool of shape (n_bins,)) left."""
    return SubsetRule(feature, tuple(np.flatnonzero(left_bins).tolist()))
