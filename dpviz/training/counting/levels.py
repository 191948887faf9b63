"""Growing where somebody else counts: a level of the tree is one question, asked when its first node is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from dpviz.table.candidates import CandidateGrid
from dpviz.training.histograms import CountedNode


class Division(NamedTuple):
    """How a node is divided: rows whose bin of `feature` is in `left_bins` (bool of shape (n_bins,)) go left."""

    feature: int
    left_bins: np.ndarray


class LevelCounter(Protocol):
    """Counts the open nodes of one level."""

    def count_level(
        self, grid: CandidateGrid, parts: np.ndarray | None, divisions: Mapping[int, Division], places: Sequence[int]
    ) -> np.ndarray:
        """Class counts per bin of the nodes at `places`: int64 of shape (len(places), grid.n_bins, n_classes). Private.

        A place is 1 for the root and 2p, 2p + 1 for the left and the right child of p. `divisions` holds how every node above
        is divided, parents first. Of `parts` only part 0 counts; None: all rows do.
        """


@dataclass(frozen=True, eq=False)
class _Growth:
    """What is known of one tree while it grows."""

    counter: LevelCounter
    grid: CandidateGrid
    parts: np.ndarray | None = None
    divisions: dict[int, Division] = field(default_factory=dict)
    open: list[int] = field(default_factory=lambda: [1])
    counted: dict[int, np.ndarray] = field(default_factory=dict)

    def take(self, place: int) -> np.ndarray:
        """The counts of an open node; of all that are open at once, if it is the first."""
        if place not in self.counted:
            places, self.open[:] = tuple(self.open), ()
            counts = self.counter.count_level(self.grid, self.parts, self.divisions, places)
            self.counted.update(zip(places, counts, strict=True))
        return self.counted.pop(place)


@dataclass(frozen=True, eq=False)
class LevelNode(CountedNode):
    """A node whose counts come with those of its whole level."""

    growth: _Growth
    place: int
    level: int

    @property
    def grid(self) -> CandidateGrid:
        """What the rows are binned by. Public."""
        return self.growth.grid

    @cached_property
    def histogram(self) -> np.ndarray:  # type: ignore[override]
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes). Private."""
        return self.growth.take(self.place)

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[LevelNode, LevelNode]:
        """(left, right), counted when either is looked at first."""
        self.growth.divisions[self.place] = Division(feature, left_bins)
        left, right = (LevelNode(self.growth, 2 * self.place + side, self.level + 1) for side in (0, 1))
        self.growth.open.extend((left.place, right.place))
        return left, right

    def of_part_0(self, parts: np.ndarray) -> LevelNode:
        """The root of a tree that grows from these rows."""
        return level_root(self.growth.counter, self.grid, parts)


def level_root(counter: LevelCounter, grid: CandidateGrid, parts: np.ndarray | None = None) -> LevelNode:
    """The root of a tree whose levels `counter` counts."""
    return LevelNode(_Growth(counter, grid, parts), 1, 0)
