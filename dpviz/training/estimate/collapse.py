"""A tree without the splits that its own released counts cannot tell apart: for reading; the model keeps the full tree.

Bottom up, two leaves become one when their shares differ by less than one standard deviation of what is known to blur them:
sampling, and the noise on every count. Its label is that of the side with more rows. Two leaves may also look alike because the
noise hides how they differ: they stay where that deviation, for the share of all rows on the smaller side, is above `MAX_LOSS`.
Post-processing: costs nothing.

Source: this project.
"""

import math
from dataclasses import replace
from typing import Any

from dpviz.accounting.plan import BudgetPlan
from dpviz.models.tree import Branch, Leaf, Node, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.training.estimate.report import share_of
from dpviz.training.growing import LEAF_COUNTS

#: Rows on the smaller side, as a share of all rows, times the deviation of its shares: what folding may cost. Chosen on public
#: benchmark data.
MAX_LOSS = 0.005


def collapse_leaves(tree: Tree, plan: BudgetPlan) -> Tree:
    """`tree` as it is shown: without honest leaves, `tree.merged()`. The first question stays, whatever depends on it."""
    held_out = plan.held_out_part(LEAF_COUNTS)
    return collapse_by_noise(tree, None if held_out is None else GeometricNoise(held_out.epsilon).variance)


def collapse_by_noise(tree: Tree, noise_variance: float | None) -> Tree:
    """The same, given the variance of the noise on each count. Leaves without counts merge where they are equal."""
    n_rows = max(sum(sum(leaf.counts or ()) for leaf in tree.leaves if isinstance(leaf, Leaf)), 1)

    def fold(node: Node) -> Node:
        if noise_variance is None:
            return Tree(tree.schema, node).merged().root
        return _collapse(node, noise_variance, n_rows)[0]

    root, whole = tree.root, fold(tree.root)
    if isinstance(root, Branch) and not isinstance(whole, Branch):  # each side of the first question by itself
        whole = replace(root, left=fold(root.left), right=fold(root.right))
    return Tree(tree.schema, whole)


def intervals(complete: Tree, shown: Tree, plan: BudgetPlan, rows_per_person: int = 1) -> dict[str, tuple[float, float, float]]:
    """By path of every leaf of `shown` with shares: the share of its label, and the ends of a 95% interval by its counts.

    `shown` is `complete` or a folded form of it: the noise on every count that was added up is known. The share is drawn towards
    those of the nodes above; an end moves to it where it lies beyond.
    """
    held_out = plan.held_out_part(LEAF_COUNTS)
    if held_out is None:
        return {}
    ends_by_path = {}
    for placed in shown.nodes():
        leaf = placed.node
        if not isinstance(leaf, Leaf) or leaf.shares is None or leaf.counts is None:
            continue
        noise = GeometricNoise(held_out.epsilon).variance * _n_leaves(complete.node(placed.path))
        share, here = leaf.shares[leaf.label], leaf.counts[leaf.label]
        there, others = sum(leaf.counts) - here, (len(leaf.counts) - 1) * noise
        ends = share_of((here, noise), (there, others), k=rows_per_person)
        ends_by_path[placed.path] = share, min(max(ends.low, 0.0), share), max(min(ends.high, 1.0), share)
    return ends_by_path


def _n_leaves(node: Node) -> int:
    return _n_leaves(node.left) + _n_leaves(node.right) if isinstance(node, Branch) else 1


def _collapse(node: Node, noise_variance: float, n_rows: int) -> tuple[Node, int]:
    """The subtree, folded from below, and how many released counts per class were added up in it, if it is a leaf."""
    if not isinstance(node, Branch):
        return node, 1
    (one, added), (other, more) = (_collapse(child, noise_variance, n_rows) for child in (node.left, node.right))
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        if one == other:
            return one, added
        counts = one.counts, other.counts
        if None not in counts and _are_alike(counts, (added, more), noise_variance, n_rows):
            return _merge_leaves(one, other), added + more
    return Branch(node.rule, one, other), 1


def _are_alike(counts: tuple[Any, Any], added: tuple[int, int], noise_variance: float, n_rows: int) -> bool:
    """Whether shares of two leaves differ by less than their deviation, and folding costs little."""
    rows = [max(sum(of_leaf), 1) for of_leaf in counts]
    pairs = list(zip(*counts, strict=True))
    deviations = []
    for first, second in pairs:
        share = min(max((first + second) / sum(rows), 0.0), 1.0)
        variance = 0.0  # of the share on either side: sampling, and the noise on the counts of all classes
        for n, times in zip(rows, added, strict=True):
            noise = noise_variance * times * ((1 - share) ** 2 + (len(pairs) - 1) * share**2)
            variance += share * (1 - share) / n + noise / n**2
        deviations.append(math.sqrt(variance))
    gaps = (abs(first / rows[0] - second / rows[1]) for first, second in pairs)
    unsure = math.sqrt(noise_variance * len(pairs) * max(added))
    most_lost = (min(rows) + unsure) / n_rows * max(deviations)
    return most_lost <= MAX_LOSS and all(gap <= deviation for gap, deviation in zip(gaps, deviations, strict=True))


def _merge_leaves(one: Leaf, other: Leaf) -> Leaf:
    """Counts added up; shares weighted by them."""
    assert one.counts is not None
    assert other.counts is not None
    label = one.label if sum(one.counts) >= sum(other.counts) else other.label
    counts = tuple(first + second for first, second in zip(one.counts, other.counts, strict=True))
    if one.shares is None or other.shares is None:
        return Leaf(label, counts)
    weights = [max(sum(leaf_counts), 1) for leaf_counts in (one.counts, other.counts)]
    pairs = zip(one.shares, other.shares, strict=True)
    return Leaf(label, counts, tuple((weights[0] * a + weights[1] * b) / sum(weights) for a, b in pairs))
