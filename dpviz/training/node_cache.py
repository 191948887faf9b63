"""Counts that earlier fits made, kept for later ones. All that a process keeps has one limit."""

from __future__ import annotations

from threading import Lock
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np


class Counted(Protocol):
    """The rows of a node."""

    @property
    def is_held(self) -> bool:
        """Whether they are remembered."""

    @property
    def size(self) -> int:
        """Numbers that they hold once counted."""

    def divide(self, feature: int, left_bins: np.ndarray) -> tuple[Any, Any]:
        """Both children, made anew."""


N = TypeVar("N", bound=Counted)


class Budget:
    """How many numbers the caches on it hold together. A cache that needs more takes from those used longest ago.

    It keeps no cache alive: exact counts go with the rows they were made from.
    """

    def __init__(self, numbers_held: int) -> None:
        self.numbers_held = numbers_held
        self._caches: WeakKeyDictionary[NodeCache[Any], None] = WeakKeyDictionary()  # those used last stand last
        self._lock = Lock()

    def use(self, cache: NodeCache[Any]) -> None:
        """Put a cache behind all others, as the one used last."""
        with self._lock:
            self._caches.pop(cache, None)
            self._caches[cache] = None

    def take(self, cache: NodeCache[Any], size: int) -> bool:
        """Let a cache hold so many numbers more; False where there is too little."""
        with self._lock:
            caches = list(self._caches)
            lacking = sum(one.held for one in caches) + size - self.numbers_held
            for other in caches if size <= self.numbers_held else ():
                if lacking <= 0:
                    break
                if other is not cache:
                    lacking -= other.give_back(lacking)
            if lacking > 0:
                return False
            cache.held += size
            return True


#: Numbers of 8 bytes that a process holds: 512 MB.
BUDGET = Budget(64_000_000)


class NodeCache(Generic[N]):
    """Child nodes that earlier fits of a sweep counted, as long as the budget has room; the rest is counted again."""

    def __init__(self, budget: Budget = BUDGET) -> None:
        self.held = 0  #: Numbers that its nodes hold once all has been counted
        self._budget = budget
        # a node in a key stays alive, so no other node is taken for it
        self._known: dict[tuple[N, int, bytes], tuple[N, N]] = {}
        self._roots: dict[bytes, N] = {}
        budget.use(self)

    def use(self) -> None:
        """Say that a fit begins to use it."""
        self._budget.use(self)

    def same_rows(self, rows: bytes, root: N) -> N:
        """`root`, or one of the same rows that came before. Nothing is remembered below a root that had no room."""
        known = self._roots.get(rows)
        if known is not None:
            return known
        return self._roots.setdefault(rows, root) if self._hold(root) else root

    def children(self, node: N, feature: int, left_bins: np.ndarray) -> tuple[N, N]:
        """As NodeRows.children."""
        key = node, feature, left_bins.tobytes()
        known = self._known.get(key)
        if known is not None:
            return known
        pair = node.divide(feature, left_bins)
        if not (node.is_held and self._hold(*pair)):
            return pair
        found = self._known.setdefault(key, pair)
        if found is not pair:  # another thread was first
            self._budget.take(self, -sum(one.size for one in pair))
        return found

    def give_back(self, numbers: int) -> int:
        """Forget at least so many, what was counted last first: the nodes above it are of more use. How many were forgotten."""
        before = self.held
        for known in (self._known, self._roots):
            while known and before - self.held < numbers:
                _, found = known.popitem()
                for node in found if isinstance(found, tuple) else (found,):
                    self.held -= node.size
                    object.__setattr__(node, "is_held", False)
        return before - self.held

    def _hold(self, *nodes: N) -> bool:
        if not self._budget.take(self, sum(node.size for node in nodes)):
            return False
        for node in nodes:
            object.__setattr__(node, "is_held", True)
        return True
