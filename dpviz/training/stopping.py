"""The exact stopping rule of published trees: a node whose rows are few or of one class becomes a leaf.

The shape of such a tree shows exact counts, which no ledger covers: the rule is a disclosure, and its event is non-private.
"""

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import NonPrivate, Sequential
from dpviz.training.growing import Label
from dpviz.training.histograms import CountedNode

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
