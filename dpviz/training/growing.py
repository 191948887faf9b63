"""Growing a tree: a learner's step decides what one node becomes, and growing does the rest.

Nodes and events are returned together, so the ledger has the shape of the tree: Sequential(select, Parallel(left, right)). The
children hold disjoint rows, therefore Parallel; all steps at one node touch the same rows, therefore Sequential. A choice of two
levels pays for its children too, so what stands below it is Sequential(select, Parallel(Parallel(LL, LR), Parallel(RL, RR))).

Published trees stop exactly: a node whose rows are few or of one class becomes a leaf. The shape of such a tree shows exact
counts, which no ledger covers: the rule is a disclosure, and its event is non-private.

Where rows are held out at random from growing, `grow_honestly` releases the leaves' counts and a test from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import NO_STEP, Event, Free, Parallel, Sequential, Step
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.tree import Branch, Leaf, MedianSplit, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import NoiseSource
from dpviz.results.result import TestReport
from dpviz.table.candidates import CandidateGrid
from dpviz.table.schema import NumericTarget
from dpviz.training.counted_rows import CountedRows
from dpviz.training.estimate.leaf_means import LEAF_SUMS, estimate_leaf_means
from dpviz.training.estimate.number_report import TEST_PART, errors_of_leaves, release_sums
from dpviz.training.estimate.report import divide_by_groups, estimate_leaf_probabilities, names_of, release_counts
from dpviz.training.nodes import CountedNode, Kind


@dataclass(frozen=True, slots=True)
class Label:
    """The node becomes a leaf with a class; with `number`, where there is one."""

    label: int
    event: Event
    number: float | None = None

    @property
    def leaf(self) -> Leaf | NumberLeaf:
        """What it becomes."""
        return Leaf(self.label) if self.number is None else NumberLeaf(self.number)


@dataclass(frozen=True, slots=True)
class Split:
    """The node splits by candidate `index` of `feature`, and both children are grown.

    `below`: what they become was chosen, and paid for, with it; their events are `NO_STEP`. `median_split`: the lower half of its
    numbers is meant for one side. `codes`: instead of a candidate, the categories that go left.
    """

    feature: int
    index: int
    event: Event
    below: tuple[Label | Split, Label | Split] | None = None
    median_split: MedianSplit | None = None
    codes: tuple[int, ...] | None = None

    @classmethod
    def with_labels(cls, feature: int, index: int, labels: tuple[int, int], event: Event) -> Split:
        """Both children are leaves with these labels."""
        return cls(feature, index, event, (Label(labels[0], NO_STEP), Label(labels[1], NO_STEP)))


Decision = Label | Split
Decide = Callable[[CountedNode], Decision]
#: The exact distribution of a step: every decision with its probability, and the mass cut off where noise is unbounded.
StepDistribution = Callable[[CountedNode], tuple[list[tuple[Decision, float]], float]]
#: The event of a decision that is enumerated, not drawn.
ENUMERATION = Step(Free(), "distribution")


@dataclass(frozen=True, eq=False)
class TreeRecipe:
    """How to grow a tree: its root, the learner's step, and what was spent before.

    `distribution` is given where a step draws unbounded noise, so that trying every draw cannot enumerate its decisions. `kind`
    says which counts the step needs on a level: a source counts it before the first step.
    """

    root: CountedNode
    step: Decide
    before: tuple[Event, ...] = ()
    disclosures: tuple[Disclosure, ...] = ()
    distribution: StepDistribution | None = None
    kind: Callable[[int], Kind] = lambda level: "bins"

    def grow(self, source: NoiseSource, held_out: np.ndarray | None = None) -> tuple[Node, Event]:
        """The tree with its event; of the rows where `held_out`, by row, is 0."""
        return grow(self.root if held_out is None else self.root.without(held_out), self.step, source, kind=self.kind)


def grow(
    node: CountedNode, step: Decide, source: NoiseSource, place: int = 1, *, kind: Callable[[int], Kind] = lambda level: "bins"
) -> tuple[Node, Event]:
    """Grow the subtree of `node`, which stands at `place`; returns it with its event. `source` is told of every place.

    Level by level, so that a source counts all nodes of a level at once.
    """
    grid, decisions, level = node.grid, dict[int, Decision](), [(node, place)]
    while level:
        below: list[tuple[CountedNode, int]] = []
        level[0][0].count_level([here for here, _ in level], kind(level[0][0].level))
        for here, at in level:
            source.enter(at)
            below += _record(here, at, step(here), decisions)
        level = below
    return _assemble(grid, decisions, place)


def _record(
    node: CountedNode | None, place: int, decision: Decision, decisions: dict[int, Decision]
) -> Iterator[tuple[CountedNode, int]]:
    """Note what is decided at a node, and what was decided with it; the nodes below that are open, with their places.

    Without a node nothing is open there: its rows need not be counted.
    """
    decisions[place] = decision
    if isinstance(decision, Label):
        return
    children: tuple[CountedNode | None, CountedNode | None] = None, None
    if node and _is_open(decision):
        candidates, codes = node.grid.features[decision.feature], decision.codes
        left = candidates.left_bins(decision.index) if codes is None else np.isin(np.arange(candidates.n_bins), codes)
        children = node.children(decision.feature, left)
    for side, child in enumerate(children):
        if decision.below is not None:
            yield from _record(child, 2 * place + side, decision.below[side], decisions)
        elif child is not None:
            yield child, 2 * place + side


def _is_open(decision: Decision) -> bool:
    """Whether anything below is still to be decided."""
    if isinstance(decision, Label):
        return False
    return decision.below is None or any(map(_is_open, decision.below))


def _assemble(grid: CandidateGrid, decisions: dict[int, Decision], place: int) -> tuple[Node, Event]:
    """The subtree at `place` of what was decided, with its event."""
    decision = decisions[place]
    if isinstance(decision, Label):
        return decision.leaf, decision.event
    (left, left_event), (right, right_event) = (_assemble(grid, decisions, 2 * place + side) for side in (0, 1))
    event = _branch_event(decision.event, left_event, right_event)
    if decision.codes is not None:
        return Branch(SubsetRule(decision.feature, decision.codes), left, right), event
    rule, candidates = rule_of(grid, decision.feature, decision.index), grid.features[decision.feature]
    if candidates.thresholds is not None and candidates.starts[decision.index]:
        # it has a lower end too: a second rule inside, and the right side on both sides
        lower = ThresholdRule(decision.feature, float(candidates.thresholds[candidates.starts[decision.index] - 1]))
        return Branch(rule, Branch(lower, right, left), right), event
    return Branch(rule, left, right, decision.median_split), event


def _branch_event(event: Event, left: Event, right: Event) -> Event:
    """`event`, then what was done to either half of the rows; without what is included in `event`."""
    below = Parallel(tuple(part for part in (left, right) if part != NO_STEP))
    steps = tuple(step for step in (event, below) if step not in (NO_STEP, Parallel(())))
    return steps[0] if len(steps) == 1 else Sequential(steps)


def leaf_distribution(mechanism: PermuteAndFlip, node: CountedNode) -> tuple[list[tuple[Decision, float]], float]:
    """The exact distribution of a leaf's label by permute-and-flip on its class counts; nothing is cut off."""
    chances = mechanism.probabilities(node.class_counts)
    return [(Label(label, ENUMERATION), float(chance)) for label, chance in enumerate(chances)], 0.0


def rule_of(grid: CandidateGrid, feature: int, index: int) -> Rule:
    """The rule of candidate `index` of `feature`."""
    candidates = grid.features[feature]
    if candidates.thresholds is not None:
        return ThresholdRule(feature, float(candidates.thresholds[candidates.ends[index] - 1]))
    return SubsetRule(feature, tuple(np.flatnonzero(candidates.left_bins(index)).tolist()))


STOPPING_DISCLOSURE = Disclosure(
    code="stopping-rule",
    what="A branch ends where the exact rows are few or of one class: the shape of the tree shows exact counts.",
    remedy="Use PF-tree, which grows every branch to the same depth.",
)


def meets_stopping_rule(node: CountedNode, min_rows: int) -> bool:
    """True if the exact rows are of one class, or fewer than `min_rows`."""
    counts = node.class_counts
    return bool(np.count_nonzero(counts) <= 1 or counts.sum() < min_rows)


def stopping_event(level: int | None) -> Step:
    """The event of evaluating `meets_stopping_rule`, whatever the answer."""
    return Step.unbounded("stopped (or went on) because of the exact classes and rows at the node", "stopping rule", level)


def stopped_leaf(leaf: Label, level: int) -> Label:
    """`leaf` where the rule ended its branch."""
    return Label(leaf.label, Sequential((stopping_event(level), leaf.event)))


# --- honest leaves


#: The part of the plan and of the ledger.
LEAF_COUNTS = "leaf counts"
#: The place of what is drawn after growing (`NoiseSource.enter`); nodes count from 1.
AFTER_GROWING = 0


def grow_honestly(
    rows: CountedRows, plan: BudgetPlan, recipe: TreeRecipe, source: NoiseSource
) -> tuple[Tree, Event, TestReport | None]:
    """The tree of `recipe`, grown, counted and tested on the rows that the plan sets aside for each.

    A random assignment says of each row whether the tree grows from it, whether it is counted in its leaf, or whether it is
    kept for a test. The parts hold different rows and the assignment looks at no row, so each part may spend all of epsilon
    and the whole costs the largest, not the sum (`dpviz/privacy/random_assignment.py`); where a column names persons, all rows of
    one go to the same part, else they may spread over several (`accounting.guarantee`). That the counts depend on the tree,
    and a test on both, changes nothing. The tree never saw the rows that are counted, so the counts say without bias how its
    labels fare; the shares made of them never saw the rows of the test.

    A row is in one leaf and has one class: it changes one count by one. Two-sided geometric noise, sensitivity 1. For a numeric
    target sums take the place of counts (`estimate/leaf_means.py`, `estimate/number_report.py`).

    Source: this project; honest trees without privacy, Athey & Imbens 2016.
    """
    assignment = RandomAssignment(tuple(held_out.share for held_out in plan.held_out))
    parts, shared = rows.assign(assignment, source), rows.rows_per_person is not None
    root, grown = recipe.grow(source, parts)
    source.enter(AFTER_GROWING)
    if isinstance(rows.schema.target, NumericTarget):
        tree, held_out_events, tested = _of_numbers(rows, plan, root, parts, source)
        return tree, assignment.event((grown, *held_out_events), shared=shared), tested
    tree, events = Tree(rows.schema, root), [grown]
    report: TestReport | None = None
    groups = "".join(held_out.groups for held_out in plan.held_out)  # of the test alone
    cells = rows.leaf_counts(divide_by_groups(root, rows.schema, groups), parts, len(plan.held_out))
    for held_out, exact in zip(plan.held_out, cells, strict=True):
        if held_out.part == LEAF_COUNTS:
            noise = GeometricNoise(held_out.epsilon)
            whole = exact.reshape(-1, len(names_of(rows.schema, groups)), exact.shape[-1]).sum(axis=1)
            counts = noise.release(whole, source=source, part=held_out.part)
            tree, event = Tree(rows.schema, estimate_leaf_probabilities(root, counts.value, noise.variance)), counts.event
        else:
            leaves = [leaf for leaf in tree.leaves if isinstance(leaf, Leaf)]
            counted = tuple(leaf.counts for leaf in leaves if leaf.counts is not None)
            report, event = release_counts(rows.schema, held_out, leaves, exact, source, counted or None)
        events.append(event)
    return tree, assignment.event(events, shared=shared), report


def _of_numbers(
    rows: CountedRows, plan: BudgetPlan, root: Node, parts: np.ndarray, source: NoiseSource
) -> tuple[Tree, list[Event], TestReport | None]:
    """Values of the leaves, then a test of these: `plan.held_out` lists the sums first, then the test if there is one."""
    (summing, *testing) = plan.held_out
    assert summing.part == LEAF_SUMS
    tree, summed, window = estimate_leaf_means(root, rows, parts, summing, source)
    events, report = [summed], None
    for held_out in testing:
        exact = rows.sums(partial(errors_of_leaves, window, tree.values), tree.root, parts, TEST_PART).sum(axis=0)
        report, tested = release_sums(rows.schema, held_out, window, exact, source)
        events.append(tested)
    return tree, events, report
