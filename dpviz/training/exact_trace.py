"""Exact class counts at every node of a tree: a teaching view, for simulated data only. Exports cannot import it.

Publishing any of it voids the guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from dpviz.models.base import require_same_columns
from dpviz.models.tree import Branch, Node, Tree
from dpviz.table.dataset import EncodedDataset


@dataclass(frozen=True)
class ExactTrace:
    """Path ("" is the root, then L and R) -> exact rows per class, int64 of shape (n_classes,)."""

    counts: Mapping[str, np.ndarray]

    def rows(self, path: str) -> int:
        """Exact number of rows at the node."""
        return int(self.counts[path].sum())


def exact_trace(tree: Tree, data: EncodedDataset) -> ExactTrace:
    """Send every row of `data` down the tree and count."""
    require_same_columns(tree.schema, data.schema)
    counts: dict[str, np.ndarray] = {}
    _count(tree.root, "", np.arange(data.n_rows), data, counts)
    return ExactTrace(MappingProxyType(counts))


def _count(node: Node, path: str, rows: np.ndarray, data: EncodedDataset, counts: dict[str, np.ndarray]) -> None:
    counts[path] = np.bincount(data.target[rows], minlength=data.n_classes)
    if isinstance(node, Branch):
        left = node.rule.goes_left(data.columns[node.rule.feature][rows])
        _count(node.left, path + "L", rows[left], data, counts)
        _count(node.right, path + "R", rows[~left], data, counts)
