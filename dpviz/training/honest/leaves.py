"""Honest leaves: coins keep some rows away from growing, and the leaves' counts are released from these.

Each row's coin says whether the tree grows from it, whether it is counted in its leaf, or whether it is kept for a test. The
parts hold different rows and a coin looks at no row, so each part may spend all of epsilon and the whole costs the largest,
not the sum (`dpviz/privacy/coins.py`); that the counts depend on the tree, and a test on both, changes nothing. The tree
never saw the rows that are counted, so the counts say without bias how its labels fare; the shares made of them never saw the
rows of the test.

A row is in one leaf and has one class: it changes one count by one. Two-sided geometric noise, sensitivity 1. For a numeric
target sums take the place of counts (`numbers.py`, `number_report.py`).

Source: this project; honest trees without privacy, Athey & Imbens 2016.
"""

import numpy as np

from dpviz.accounting.events import Event, Parallel
from dpviz.accounting.plan import Aside, BudgetPlan
from dpviz.models.tree import Leaf, Node, Tree
from dpviz.privacy.coins import Coins
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import NumericTarget
from dpviz.training.counting.contract import CountedRows
from dpviz.training.growing import TreeRecipe, grow
from dpviz.training.honest.number_report import NumberReport, released_leaf_test
from dpviz.training.honest.numbers import LEAF_SUMS, with_values
from dpviz.training.honest.report import TestReport
from dpviz.training.honest.shares import with_counts

LEAF_COUNTS = "leaf counts"
#: The place of what is drawn after growing (`NoiseSource.enter`); nodes count from 1.
AFTER_GROWING = 0


def grow_honestly(
    rows: CountedRows, plan: BudgetPlan, recipe: TreeRecipe, source: NoiseSource
) -> tuple[Tree, Event, TestReport | NumberReport | None]:
    """The tree of `recipe`, grown, counted and tested on the rows that the plan sets aside for each."""
    parts = Coins(tuple(aside.share for aside in plan.aside)).flip(rows.n_rows, source=source)
    root, grown = grow(recipe.root.of_part_0(parts), recipe.step, source)
    source.enter(AFTER_GROWING)
    if isinstance(rows.schema.target, NumericTarget):
        return _of_numbers(rows, plan, root, grown, parts, source)
    tree, events, report = Tree(rows.schema, root), [grown], None
    for aside, exact in zip(plan.aside, rows.leaf_counts(root, parts, len(plan.aside)), strict=True):
        noise = GeometricNoise(aside.epsilon)
        counts = noise.release(exact, source=source, part=aside.part)
        events.append(counts.event)
        if aside.part == LEAF_COUNTS:
            tree = Tree(rows.schema, with_counts(root, counts.value, noise.variance))
        else:
            report = _report(tree, aside, counts.value)
    return tree, Parallel(tuple(events)), report


def _of_numbers(
    rows: CountedRows, plan: BudgetPlan, root: Node, grown: Event, parts: np.ndarray, source: NoiseSource
) -> tuple[Tree, Event, NumberReport | None]:
    """Values of the leaves, then a test of these: `plan.aside` lists the sums first, then the test if there is one."""
    (summing, *testing) = plan.aside
    assert summing.part == LEAF_SUMS
    tree, summed, window = with_values(root, rows, parts, summing, source)
    events, report = [grown, summed], None
    for aside in testing:
        report, tested = released_leaf_test(tree, rows, parts, aside, window, source)
        events.append(tested)
    return tree, Parallel(tuple(events)), report


def _report(tree: Tree, aside: Aside, counts: np.ndarray) -> TestReport:
    leaves = [leaf for leaf in tree.leaves if isinstance(leaf, Leaf)]
    pairs = zip(leaves, counts.tolist(), strict=True)
    table = tuple(Leaf(leaf.label, tuple(row), leaf.shares) for leaf, row in pairs)
    counted = tuple(leaf.counts for leaf in leaves if leaf.counts is not None)
    return TestReport(tree.schema, aside.share, aside.epsilon, table, counted or None)
