"""Probabilities of the classes in every leaf, from released noisy counts alone (post-processing).

A count is noisy twice: few rows, and the noise that was added. So the shares are estimated from the root down. Each node
mixes its own noisy counts with its parent's shares, as if `m` rows more had come with these: m = 3 + 1.5 s sqrt(L), where s
is the standard deviation of the noise on a count and L the number of leaves below, whose noise adds up. Of these rows, 30% have
the label of the leaf, which was chosen from other rows and is released too. Where counts drown in noise, a leaf so says what
its parent and its label say. The constants were chosen on public benchmark data.

Source: shrinkage towards the parent, as in m-estimates (Cestnik 1990); with counts of leaves alone, the least squares of Hay
et al. 2010 leave them as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.models.tree import Branch, Leaf, Node

ROWS_OF_THE_PARENT, PER_NOISE = 3.0, 1.5
#: Part of the rows that come with a leaf's parent which are of the leaf's label.
OF_THE_LABEL = 0.3
#: Shares are written with this many decimals; none is smaller than one unit of the last.
DECIMALS = 6


def with_counts(root: Node, counts: np.ndarray, noise_variance: float) -> Node:
    """The same tree whose leaves hold these released counts (int64, shape (n_leaves, n_classes)) and shares made of them."""
    n_classes = counts.shape[1]
    rows = iter(counts.tolist())
    return _with_shares(_counted(root, rows), [1 / n_classes] * n_classes, noise_variance)


@dataclass(slots=True)
class _Counted:
    """A node with the sum of the released counts of the leaves below."""

    node: Node
    counts: list[int]
    n_leaves: int = 1
    children: tuple[_Counted, ...] = ()


def _counted(node: Node, rows: Iterator[list[int]]) -> _Counted:
    if not isinstance(node, Branch):
        return _Counted(node, next(rows))
    left, right = _counted(node.left, rows), _counted(node.right, rows)
    counts = [one + other for one, other in zip(left.counts, right.counts, strict=True)]
    return _Counted(node, counts, left.n_leaves + right.n_leaves, (left, right))


def _with_shares(given: _Counted, parent: list[float], noise_variance: float) -> Node:
    node = given.node
    more = ROWS_OF_THE_PARENT + PER_NOISE * math.sqrt(noise_variance * given.n_leaves)
    if isinstance(node, Leaf):
        parent = [(1 - OF_THE_LABEL) * share + OF_THE_LABEL * (code == node.label) for code, share in enumerate(parent)]
    shares = _shrunk([max(count, 0) for count in given.counts], parent, more)
    if isinstance(node, Branch):
        left, right = (_with_shares(child, shares, noise_variance) for child in given.children)
        return Branch(node.rule, left, right)
    assert isinstance(node, Leaf)
    return Leaf(node.label, tuple(given.counts), _rounded(shares))


def _shrunk(counts: list[int], parent: list[float], more: float) -> list[float]:
    """Shares of the counts and `more` rows of the parent's shares; none is 0."""
    rows = sum(counts) + more
    least = 0.5 / (rows + len(parent))
    shares = [max((count + more * share) / rows, least) for count, share in zip(counts, parent, strict=True)]
    total = sum(shares)
    return [share / total for share in shares]


def _rounded(shares: list[float]) -> tuple[float, ...]:
    """Shares of `DECIMALS` decimals that add up to 1: the largest takes what rounding leaves."""
    units = [max(round(share * 10**DECIMALS), 1) for share in shares]
    units[shares.index(max(shares))] += 10**DECIMALS - sum(units)
    return tuple(unit / 10**DECIMALS for unit in units)
