"""Growing a tree: a learner's step decides what one node becomes, and growing does the rest.

Nodes and events are returned together, so the ledger has the shape of the tree: Sequential(select, Parallel(left, right)). The
children hold disjoint rows, therefore Parallel; all steps at one node touch the same rows, therefore Sequential.

Published trees stop exactly: a node whose rows are few or of one class becomes a leaf. The shape of such a tree shows exact
counts, which no ledger covers: the rule is a disclosure, and its event is non-private.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, NoCost, NonPrivate, Parallel, Sequential
from dpviz.models.tree import Branch, Halves, Leaf, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid
from dpviz.training.histograms import CountedNode


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
Step = Callable[[CountedNode], Decision]
#: The exact distribution of a step: every decision with its probability, and the mass cut off where noise is unbounded.
StepDistribution = Callable[[CountedNode], tuple[list[tuple[Decision, float]], float]]
#: The event of a decision that is enumerated, not drawn.
UNPRICED = NoCost("distribution")


@dataclass(frozen=True, eq=False)
class TreeRecipe:
    """How to grow a tree: its root, the learner's step, and what was spent before.

    `distribution` is given where a step draws unbounded noise, so that trying every draw cannot enumerate its decisions.
    """

    root: CountedNode
    step: Step
    before: tuple[Event, ...] = ()
    disclosures: tuple[Disclosure, ...] = ()
    distribution: StepDistribution | None = None


def grow(node: CountedNode, step: Step, source: NoiseSource, place: int = 1) -> tuple[Node, Event]:
    """Grow the subtree of `node`, which stands at `place`; returns it with its event. `source` is told of every place.

    Level by level, so that whoever counts the rows can count all nodes of a level at once.
    """
    grid, decided, level = node.grid, dict[int, Decision](), [(node, place)]
    while level:
        below = []
        for here, at in level:
            source.enter(at)
            decided[at] = step(here)
            divided = _divided(grid, decided[at])
            if divided is not None:
                left, right = here.children(*divided)
                below += [(left, 2 * at), (right, 2 * at + 1)]
        level = below
    return _assembled(grid, decided, place)


def _divided(grid: CandidateGrid, decision: Decision) -> tuple[int, np.ndarray] | None:
    """(feature, bins that go left) where the children are grown too."""
    match decision:
        case Split(feature, index) | HalvingSplit(feature, index, _, False):
            return feature, grid.features[feature].left_bins(index)
        case OrderedSplit(feature, left_bins):
            return feature, left_bins
    return None


def _assembled(grid: CandidateGrid, decided: dict[int, Decision], place: int) -> tuple[Node, Event]:
    """The subtree at `place` of what was decided, with its event."""

    def below(event: Event, rule: Rule) -> tuple[Branch, Event]:
        (left, left_event), (right, right_event) = (_assembled(grid, decided, 2 * place + side) for side in (0, 1))
        return Branch(rule, left, right), Sequential((event, Parallel((left_event, right_event))))

    match decided[place]:
        case Label(label, event):
            return Leaf(label), event
        case LabelledSplit(feature, index, (left, right), event):
            return Branch(rule_of(grid, feature, index), Leaf(left), Leaf(right)), event
        case Split(feature, index, event):
            branch, whole = below(event, rule_of(grid, feature, index))
            return _cut_below(grid, branch, index), whole
        case HalvingSplit(feature, index, halves, True, event):
            ends = NumberLeaf(halves.median)
            return Branch(rule_of(grid, feature, index), ends, ends, halves), event
        case HalvingSplit(feature, index, halves, False, event):
            branch, whole = below(event, rule_of(grid, feature, index))
            return replace(branch, halves=halves), whole
        case OrderedSplit(feature, left_bins, event):
            return below(event, subset_rule(feature, left_bins))
    raise AssertionError(decided[place])


def _cut_below(grid: CandidateGrid, branch: Branch, index: int) -> Branch:
    """The branch; where a numeric candidate also has a lower end, with a second rule inside, and the right side on both sides."""
    candidates = grid.features[branch.rule.feature]
    if candidates.thresholds is None or not candidates.starts[index]:
        return branch
    below = ThresholdRule(branch.rule.feature, float(candidates.thresholds[candidates.starts[index] - 1]))
    return Branch(branch.rule, Branch(below, branch.right, branch.left), branch.right)


def leaf_distribution(mechanism: PermuteAndFlip, node: CountedNode) -> tuple[list[tuple[Decision, float]], float]:
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


STOPPING_DISCLOSURE = Disclosure(
    code="stopping-rule",
    what="A branch ends where the exact rows are few or of one class: the shape of the tree shows exact counts.",
    remedy="Use PF-tree, which grows every branch to the same depth.",
)


def is_finished(node: CountedNode, least_rows: int) -> bool:
    """True if the exact rows are of one class, or fewer than `least_rows`."""
    counts = node.class_counts
    return bool(np.count_nonzero(counts) <= 1 or counts.sum() < least_rows)


def looked(level: int) -> NonPrivate:
    """The event of evaluating `is_finished`, whatever the answer."""
    return NonPrivate("stopped (or went on) because of the exact classes and rows at the node", "stopping rule", level)


def stopped(leaf: Label, level: int) -> Label:
    """`leaf` where the rule ended its branch."""
    return Label(leaf.label, Sequential((looked(level), leaf.event)))
