"""Exact counts, or exact means, at every node of a tree: a teaching view for simulated data. Exports cannot import it.

Publishing any of it voids the guarantee.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from dpviz.models.base import require_same_columns
from dpviz.models.tree import Branch, PlacedNode, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget


@dataclass(frozen=True)
class ExactTrace:
    """Exact numbers at every node, as private as the rows. A path is "" for the root, then L and R."""

    counts: Mapping[str, np.ndarray]  #: Path -> rows per class, int64 of shape (n_classes,); (1,) for a numeric target
    means: Mapping[str, float]  #: Path -> mean of a numeric target, NaN without rows; empty for classes

    def rows(self, path: str) -> int:
        """Exact number of rows at the node."""
        return int(self.counts[path].sum())

    def shares(self, tree: Tree) -> dict[str, float]:
        """Path of every node of `tree` -> share of all rows that reach it, in [0, 1]. Its paths must be traced."""
        n_rows = max(1, self.rows(""))
        return {placed.path: self.rows(placed.path) / n_rows for placed in tree.nodes()}


def exact_trace(tree: Tree, data: EncodedDataset) -> ExactTrace:
    """Send every row of `data` down the tree and count: exact numbers, as private as the rows and covered by no epsilon.

    Raises SchemaError unless `data` has the features, categories and classes of the tree.
    """
    require_same_columns(tree.schema, data.schema)
    targets = {placed.path: data.target[rows] for placed, rows in rows_by_node(tree, data)}
    if isinstance(data.schema.target, NumericTarget):
        means = {path: float(np.mean(values)) if len(values) else math.nan for path, values in targets.items()}
        counts = {path: np.array([len(values)]) for path, values in targets.items()}
    else:
        means, counts = {}, {path: np.bincount(values, minlength=data.n_classes) for path, values in targets.items()}
    return ExactTrace(MappingProxyType(counts), MappingProxyType(means))


def rows_by_node(tree: Tree, data: EncodedDataset) -> Iterator[tuple[PlacedNode, np.ndarray]]:
    """Every node with the positions of the rows that reach it, parents first, left before right."""
    waiting = {"": np.arange(data.n_rows)}
    for placed in tree.nodes():
        rows, node = waiting.pop(placed.path), placed.node
        yield placed, rows
        if isinstance(node, Branch):
            left = node.rule.goes_left(data.columns[node.rule.feature][rows])
            waiting[placed.path + "L"], waiting[placed.path + "R"] = rows[left], rows[~left]
