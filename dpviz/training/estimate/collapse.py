"""A tree without the splits that its own released counts cannot tell apart: for reading; the model keeps the full tree.

Bottom up, two leaves become one when their shares differ by less than one standard deviation of what is known to blur them:
sampling, and the noise on every count. Its label is that of the side with more rows. Two leaves may also look alike because the
noise hides how they differ: they stay where that deviation, for the share of all rows on the smaller side, is above `MOST_LOST`.
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
MOST_LOST = 0.005


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
        return _collapsed(node, noise_variance, n_rows)[0]

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
    noise = GeometricNoise(held_out.epsilon).variance
    leaves = ((placed.path, placed.node) for placed in shown.nodes())
    return {
        path: _interval(leaf, noise * _n_leaves(complete.node(path)), rows_per_person)
        for path, leaf in leaves
        if isinstance(leaf, Leaf) and leaf.shares is not None
    }


def _interval(leaf: Leaf, noise_variance: float, rows_per_person: int) -> tuple[float, float, float]:
    assert leaf.counts is not None
    assert leaf.shares is not None
    share, here = leaf.shares[leaf.label], leaf.counts[leaf.label]
    there, others = sum(leaf.counts) - here, (len(leaf.counts) - 1) * noise_variance
    found = share_of((here, noise_variance), (there, others), k=rows_per_person)
    return share, min(max(found.low, 0.0), share), max(min(found.high, 1.0), share)


def _share_variance(share: float, n_classes: int, n_rows: int, noise_variance: float) -> float:
    """Of a share of `n_rows` rows: sampling, and the noise on the counts of all classes."""
    noise = noise_variance * ((1 - share) ** 2 + (n_classes - 1) * share**2)
    return share * (1 - share) / n_rows + noise / n_rows**2


def _n_leaves(node: Node) -> int:
    return _n_leaves(node.left) + _n_leaves(node.right) if isinstance(node, Branch) else 1


def _collapsed(node: Node, noise_variance: float, n_rows: int) -> tuple[Node, int]:
    """The subtree, folded from below, and how many released counts per class were added up in it, if it is a leaf."""
    if not isinstance(node, Branch):
        return node, 1
    (one, added), (other, more) = (_collapsed(child, noise_variance, n_rows) for child in (node.left, node.right))
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        if one == other:
            return one, added
        counts = one.counts, other.counts
        if None not in counts and _are_alike(counts, (added, more), noise_variance, n_rows):
            return _together(one, other), added + more
    return Branch(node.rule, one, other), 1


def _are_alike(counts: tuple[Any, Any], added: tuple[int, int], noise_variance: float, n_rows: int) -> bool:
    """Whether shares of two leaves differ by less than their deviation, and folding costs little."""
    rows = [max(sum(of_leaf), 1) for of_leaf in counts]
    pairs = list(zip(*counts, strict=True))
    deviations = []
    for first, second in pairs:
        share = min(max((first + second) / sum(rows), 0.0), 1.0)
        sides = zip(rows, added, strict=True)
        deviations.append(math.sqrt(sum(_share_variance(share, len(pairs), n, noise_variance * times) for n, times in sides)))
    gaps = (abs(first / rows[0] - second / rows[1]) for first, second in pairs)
    unsure = math.sqrt(noise_variance * len(pairs) * max(added))
    most_lost = (min(rows) + unsure) / n_rows * max(deviations)
    return most_lost <= MOST_LOST and all(gap <= deviation for gap, deviation in zip(gaps, deviations, strict=True))


def _together(one: Leaf, other: Leaf) -> Leaf:
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
