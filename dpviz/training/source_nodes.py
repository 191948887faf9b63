"""Nodes of rows that a source counts, level by level: all that are open at once are one question.

What follows from counts above is never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dpviz.table.candidates import CandidateGrid
from dpviz.training.nodes import CountedNode, Kind


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """Where a node stands in its tree: which rows of the node above reach it, those in some bins of a feature or the others."""

    above: Place | None = None  #: None at the root
    feature: int = -1
    left_bins: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))  #: Shape (n_bins,)
    is_left: bool = True

    @property
    def way(self) -> list[Place]:
        """From here up to the root."""
        return [self] if self.above is None else [self, *self.above.way]


class Counter(Protocol):
    """Counts the nodes of one tree."""

    @property
    def occupied_bins(self) -> np.ndarray:
        """The bins that may hold rows, numbered through, increasing: every pair that is counted is one of these. Private."""

    def count(self, places: Sequence[Place], kind: Kind) -> np.ndarray:
        """Class counts of the nodes at `places`, no two of which share a row. Private.

        int64 of shape (len(places), n_bins, n_classes), or integers of shape (len(places), n_occupied, n_occupied, n_classes).
        """


#: Makes what counts the rows of part 0; of all rows where there are no parts.
MakeCounter = Callable[[np.ndarray | None], Counter]


class SourceNode(CountedNode):
    """A node of rows in a source."""

    def __init__(
        self,
        grid: CandidateGrid,
        n_classes: int,
        make_counter: MakeCounter,
        *,
        counter: Counter | None = None,
        level: int = 0,
        place: Place | None = None,
    ) -> None:
        super().__init__(grid, n_classes, level, {})
        self.place, self._make_counter, self._counter = place or Place(), make_counter, counter or make_counter(None)

    @property
    def occupied_bins(self) -> np.ndarray:
        """Those of the counter."""
        return self._counter.occupied_bins

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[SourceNode, SourceNode]:
        """(left, right)."""
        about = {"counter": self._counter, "level": self.level + 1}
        places = [Place(self.place, feature, left_bins, is_left) for is_left in (True, False)]
        left, right = (SourceNode(self.grid, self.n_classes, self._make_counter, place=place, **about) for place in places)  # type: ignore[arg-type]
        return self._divide((left, right), feature, left_bins)

    def without(self, held_out: np.ndarray) -> SourceNode:
        """The rows that are not held out."""
        return SourceNode(self.grid, self.n_classes, self._make_counter, counter=self._make_counter(held_out))

    def count_level(self, nodes: Sequence[CountedNode], kind: Kind) -> None:
        """One question."""
        if len(self.grid.features) == 1:
            kind = "bins"  # which tell its pairs
        asked = [node for node in nodes if isinstance(node, SourceNode) and kind not in node.known]
        if asked:
            for node, counts in zip(asked, self._counter.count([node.place for node in asked], kind), strict=True):
                node.keep(kind, counts)
                node.above = None

    def _count(self, kind: Kind) -> np.ndarray:
        self.count_level([self], kind)
        return self.known[kind]
