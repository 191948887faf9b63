"""A counter that knows only the contract: it asks the rows one by one, in plain Python, whatever is asked."""

from __future__ import annotations

import numpy as np

from dpviz.models.tree import Branch, Node
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget
from dpviz.training.counted_rows import CountedRows
from dpviz.training.nodes import CountedNode, SourceNode


class OneByOne(CountedRows):
    """The rows of `data`, told apart by nothing but their cells."""

    def __init__(self, data: EncodedDataset, bands: np.ndarray | None = None) -> None:
        self.data, self.bands, self.schema, self.levels = data, bands, data.schema, 0
        self.classes = data.target.tolist() if bands is None else [sum(y > cut for cut in bands) for y in data.target]
        of_target = len(data.schema.classes) if isinstance(data.schema.target, ClassTarget) else 0
        self.n_classes = of_target if bands is None else len(bands) + 1

    @property
    def n_rows(self) -> int:
        return len(self.classes)

    @property
    def identity(self) -> str:
        return self.data.identity

    def _sum(self, found: np.ndarray, add, parts=None) -> np.ndarray:
        raise NotImplementedError

    def class_counts(self) -> np.ndarray:
        return np.array([self.classes.count(code) for code in range(self.n_classes)], dtype=np.int64)

    def root(self, grid, cuts=None) -> CountedNode:
        rows = self if cuts is None else OneByOne(self.data, cuts)

        def count(places, kind, held_out) -> np.ndarray:
            self.levels += 1
            return rows.counts(grid, places, kind, held_out)

        return SourceNode(grid, rows.n_classes, count)

    def counts(self, grid, places, kind, held_out) -> np.ndarray:
        """Goes through the rows, and for each through the places, again and again."""
        found = np.zeros((len(places), *[grid.n_bins] * (1 + (kind == "pairs")), self.n_classes), dtype=np.int64)
        for row in range(self.n_rows):
            if held_out is not None and held_out[row] != 0:
                continue
            bins = [self.bin_of(grid, feature, row) for feature in range(len(grid.features))]
            numbers = [int(offset) + code for offset, code in zip(grid.offsets, bins, strict=False)]
            for number, place in enumerate(places):
                if _is_below(place, bins):
                    for first in numbers:
                        for second in numbers if kind == "pairs" else [()]:
                            found[(number, first, *([second] if kind == "pairs" else []), self.classes[row])] += 1
        return found

    def bin_of(self, grid, feature: int, row: int) -> int:
        value, thresholds = self.data.columns[feature][row], grid.features[feature].thresholds
        return int(value) if thresholds is None else sum(value > cut for cut in thresholds)

    def leaf_counts(self, root, parts, n_parts) -> np.ndarray:
        leaf = self._leaves(root)
        found = np.zeros((n_parts, _n_leaves(root), self.n_classes), dtype=np.int64)
        for row, code in enumerate(self.classes):
            part = 1 if parts is None else int(parts[row])
            if part:
                found[part - 1, leaf[row], code] += 1
        return found

    def _leaves(self, root: Node) -> list[int]:
        return [_leaf(root, [column[row] for column in self.data.columns], 0) for row in range(self.n_rows)]

    def forest_counts(self, trees, tree_of) -> np.ndarray:
        cells = [[*(float(column[row]) for column in self.data.columns), self.classes[row]] for row in range(self.n_rows)]
        order = sorted(range(self.n_rows), key=lambda row: [*reversed(cells[row][:-1]), cells[row][-1]])
        found = np.zeros((len(trees.leaves), self.n_classes), dtype=np.int64)
        for place, row in enumerate(order):
            for tree in range(trees.n_trees) if tree_of is None else [tree_of[place]]:
                values = np.array([cells[row][:-1]])
                found[int(trees.leaf_of(values, trees.roots[tree])[0]), self.classes[row]] += 1
        return found

    def sums(self, measure, root, parts, part) -> np.ndarray:
        width = measure(self.data.target[:0], np.empty(0, dtype=np.int64)).shape[1]
        leaf, found = self._leaves(root), np.zeros((_n_leaves(root), width), dtype=np.int64)
        for row in range(self.n_rows):
            if parts is None or parts[row] == part:
                found[leaf[row]] += measure(self.data.target[[row]], np.array([leaf[row]]))[0]
        return found


def _is_below(place, bins) -> bool:
    if place.parent is None:
        return True
    return bool(place.left_bins[bins[place.feature]] == place.is_left) and _is_below(place.parent, bins)


def _n_leaves(node: Node) -> int:
    return _n_leaves(node.left) + _n_leaves(node.right) if isinstance(node, Branch) else 1


def _leaf(node: Node, cells, first: int) -> int:
    if not isinstance(node, Branch):
        return first
    if node.rule.goes_left(np.array([cells[node.rule.feature]]))[0]:
        return _leaf(node.left, cells, first)
    return _leaf(node.right, cells, first + _n_leaves(node.left))
