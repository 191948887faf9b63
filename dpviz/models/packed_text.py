"""A packed forest as text: one string per tree, its nodes breadth first.

`3<=37.5`: the fourth feature, values up to 37.5 (of a category: the place in its list, from 0) go to the first child, others
to the second. `3?`: one child per category, in declared order. `=1`: a leaf of the second class. `=1:4,9`: with noisy counts
per class. The children of the first split come first.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from dpviz.errors import DocumentError, DpvizError
from dpviz.models.hashed_forest import HashedForest
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.table.schema import CategoricalFeature, Schema

FORM = (
    "nodes breadth first: '3<=37.5' feature number 3 (from 0), values (or places of categories) up to 37.5 to the first "
    "child; '3?' one child per category; '=1' a leaf of class number 1; '=1:4,9' with noisy counts per class"
)
REMEDY = "Export the model again."
#: Digits are counted: Python refuses to read a whole number of thousands of them.
_NODE = re.compile(r"(\d{1,9})(?:<=(\S+)|\?)|=(\S+)")
_LEAF = re.compile(r"(\d{1,9})(?::(-?\d{1,40}(?:,-?\d{1,40})*))?")


def packed_body(forest: PackedForest) -> dict[str, Any]:
    """What its document says beside the schema."""
    return {"form": FORM, "trees": trees_text(forest.splits, _leaves(forest))}


def trees_text(splits: PackedTrees, leaves: Any) -> list[str]:
    """One string per tree; `leaves` are the words of its leaves, in their order."""
    words = np.empty(len(splits.feature), dtype=object)
    words[splits.leaves] = leaves
    inner = np.flatnonzero(splits.feature != LEAF)
    words[inner] = [*map(_split, splits.feature[inner].tolist(), splits.threshold[inner].tolist())]
    ends = (*splits.roots[1:].tolist(), len(words))
    return [" ".join(words[start:end]) for start, end in zip(splits.roots.tolist(), ends, strict=True)]


def _split(feature: int, threshold: float) -> str:
    return f"{feature}?" if math.isnan(threshold) else f"{feature}<={threshold!r}"


def _leaves(forest: PackedForest) -> Any:
    labels = np.array([f"={label}" for label in range(len(forest.schema.classes))], dtype=object)[forest.labels]
    if forest.tallies is None:
        return labels
    return [f"{label}:{','.join(map(str, tally))}" for label, tally in zip(labels, forest.tallies.tolist(), strict=True)]


def refuse_hashed(forest: HashedForest) -> dict[str, Any]:
    """Raise: such a forest is not written down."""
    raise DpvizError(
        "This forest has too many leaves to be written down, and a list of those that held rows would say where rows are.",
        remedy="Train a forest that is small enough to publish (a smaller depth, or publishable=True).",
    )


def packed_from(document: dict[str, Any], schema: Schema) -> PackedForest:
    """The forest of a document. Raises DocumentError naming the tree."""
    reader = _VoteReader(schema)
    reader.read(document)
    return reader.forest()


class SplitReader:
    """Collects the nodes of one tree after the other; what a leaf says is for a subclass to keep."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.n_trees = 0
        self.nodes: list[tuple[int, int, float, int]] = []  # tree, feature, threshold, first child

    def leaf(self, text: str, where: str) -> None:
        """Keep what stands behind the `=` of a leaf, or raise DocumentError."""
        raise NotImplementedError

    def read(self, document: dict[str, Any]) -> None:
        """Every tree of a document. Raises DocumentError naming the tree."""
        texts = document.get("trees")
        if not isinstance(texts, list) or not texts:
            raise DocumentError("There is no list of trees.", where="trees", remedy=REMEDY)
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise DocumentError(f"{text!r:.60} is not allowed here.", where=f"trees[{place}]", remedy=REMEDY)
            self._tree(text, place)
        self.n_trees = len(texts)

    def splits(self) -> PackedTrees:
        """What was read, without the leaves' labels."""
        tree, feature, threshold, first = zip(*self.nodes, strict=True)
        return PackedTrees(
            self.schema,
            self.n_trees,
            np.array(tree, dtype=np.int32),
            np.array(feature, dtype=np.int16),
            np.array(threshold, dtype=np.float64),
            np.array(first, dtype=np.int64),
        )

    def _tree(self, text: str, tree: int) -> None:
        words = text.split()
        where, first = f"trees[{tree}]", len(self.nodes)
        next_child = first + 1
        for word in words:
            if len(self.nodes) == next_child:  # a node without a parent
                break
            feature, threshold, children = self._node(word, where)
            self.nodes.append((tree, feature, threshold, next_child if children else 0))
            next_child += children
        if not words or next_child != len(self.nodes) or len(self.nodes) - first != len(words):
            raise DocumentError("The number of nodes does not fit the splits.", where=where, remedy=REMEDY)

    def _node(self, word: str, where: str) -> tuple[int, float, int]:
        parts = _NODE.fullmatch(word)
        if parts is None:
            raise DocumentError(f"{word!r:.60} is not a node.", where=where, remedy=REMEDY)
        feature, threshold, leaf = parts.groups()
        if leaf is not None:
            self.leaf(leaf, where)
            return LEAF, math.nan, 0
        return self._split(int(feature), threshold, where)

    def _split(self, feature: int, threshold: str | None, where: str) -> tuple[int, float, int]:
        if feature >= self.schema.n_features:
            raise DocumentError(f"There is no feature number {feature}.", where=where, remedy=REMEDY)
        if threshold is not None:
            return feature, number(threshold, where), 2
        declared = self.schema.features[feature]
        if not isinstance(declared, CategoricalFeature):
            raise DocumentError(f"Feature number {feature} has no categories.", where=where, remedy=REMEDY)
        return feature, math.nan, len(declared.categories)


class _VoteReader(SplitReader):
    """Leaves are labels, with or without counts."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.labels: list[int] = []
        self.tallies: list[list[int]] = []

    def leaf(self, text: str, where: str) -> None:
        parts = _LEAF.fullmatch(text)
        if parts is None:
            raise DocumentError(f"{'=' + text!r:.60} is not a node.", where=where, remedy=REMEDY)
        label, counts = int(parts[1]), parts[2]
        tally = [int(count) for count in counts.split(",")] if counts else []
        n_classes = len(self.schema.classes)
        if label >= n_classes or len(tally) not in (0, n_classes) or any(abs(count) >= 2**62 for count in tally):
            raise DocumentError(f"Class {label} does not fit the schema.", where=where, remedy=REMEDY)
        self.labels.append(label)
        if tally:
            self.tallies.append(tally)

    def forest(self) -> PackedForest:
        """All of it."""
        if self.tallies and len(self.tallies) != len(self.labels):
            raise DocumentError("Some leaves lack their counts.", where="trees", remedy=REMEDY)
        tallies = np.array(self.tallies, dtype=np.int64) if self.tallies else None
        return PackedForest(self.splits(), np.array(self.labels, dtype=np.uint8), tallies)


def number(text: str, where: str) -> float:
    """A finite number, or DocumentError naming `where`."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DocumentError(f"{text!r:.60} is not a number.", where=where, remedy=REMEDY)
    return value
