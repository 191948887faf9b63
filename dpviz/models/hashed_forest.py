"""Random trees too large to hold: every split, and the label of every leaf without rows, is derived when a row meets it.

One child per category and a depth of nine make tens of millions of leaves per tree. A tree is therefore a key: a node's
feature and split point are functions of the key and the path. Leaves that held rows are listed with their labels; the label
of any other leaf is a function of a secret key and the leaf. Whoever sees the list sees which leaves held rows, so a forest
of this kind predicts and is not published.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.models.base import OfArrays, VoteMixin
from dpviz.models.boxes import Boxes
from dpviz.models.packed_forest import LEAF, values_of
from dpviz.privacy.source import Mechanism
from dpviz.privacy.uniform import UniformChoice
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema

#: Rows times features that fall through trees at once.
_CHUNK_CELLS = 4_000_000
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(values: np.ndarray) -> np.ndarray:
    """Well-spread uint64 from uint64, one to one. Source: the finaliser of SplitMix64 (Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        values = values + _GOLDEN
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))


def fractions(values: np.ndarray) -> np.ndarray:
    """Numbers in [0, 1) from uint64."""
    return (values >> np.uint64(11)) * 2.0**-53


def leaves_reached(schema: Schema, depth: int, values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The leaf (a uint64 that stands for the path) each row of `values` reaches in the tree of its key."""
    step = max(1, _CHUNK_CELLS // schema.n_features)
    parts = (slice(start, start + step) for start in range(0, len(values), step))
    leaves = [_fall(schema, depth, values[part], keys[part]) for part in parts]
    return np.concatenate(leaves) if leaves else np.empty(0, dtype=np.uint64)


def _fall(schema: Schema, depth: int, values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Rows on their way down, each with the box of its node."""
    node, boxes = mix(keys), Boxes(schema, len(values))
    for _ in range(depth):
        asked, cuts = boxes.split(_Hash(node))
        rows = np.flatnonzero(asked != LEAF)
        feature, cut = asked[rows], cuts[rows]
        value = values[rows, feature]
        above = value > cut
        child = np.where(boxes.many[feature], value, above)
        node[rows] = mix(node[rows] ^ (child.astype(np.uint64) << np.uint64(8)))
        boxes.narrow(rows, feature, cut, above)
    return node


class _Hash:
    """Draws of `Boxes.split` that are functions of nodes, uint64 of shape (n_nodes,), whichever others are drawn with them."""

    name = "hash"

    def __init__(self, nodes: np.ndarray) -> None:
        self._nodes, self._n_choices = nodes, 0

    def enter(self, place: int) -> None:
        """Nothing: every draw is of all nodes."""

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """Of `UniformChoice` for (n_nodes,) counts, or of `UniformPoint` for as many ranges (low, high)."""
        if isinstance(mechanism, UniformChoice):
            self._n_choices += 1
            return (self._shares(self._n_choices) * values).astype(np.int64)
        low, high = values
        return low + self._shares(3) * (high - low)

    def _shares(self, number: int) -> np.ndarray:
        return fractions(mix(self._nodes ^ np.uint64(number)))


@dataclass(frozen=True, eq=False)
class HashedForest(OfArrays, VoteMixin):
    """Random trees by their keys; each has one vote."""

    schema: Schema
    depth: int
    keys: np.ndarray  #: Shape (n_trees,), uint64
    #: uint64, increasing. Leaves that held rows. Private: it shows where rows are.
    leaves: np.ndarray
    labels: np.ndarray  #: The same length, uint8
    label_key: int  #: Labels every other leaf, uniformly over the classes

    kind = "hashed-forest"

    def labels_by_member(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """As each tree predicts."""
        values = values_of(data)
        reached = (leaves_reached(self.schema, self.depth, values, np.full(data.n_rows, key)) for key in self.keys)
        return map(self._labels_of, reached)

    def _labels_of(self, leaves: np.ndarray) -> np.ndarray:
        others = mix(leaves ^ mix(np.array([self.label_key], dtype=np.uint64)))
        labels = (fractions(others) * len(self.schema.classes)).astype(np.uint8)
        if not len(self.leaves):
            return labels
        place = np.minimum(np.searchsorted(self.leaves, leaves), len(self.leaves) - 1)
        return np.where(self.leaves[place] == leaves, self.labels[place], labels)
