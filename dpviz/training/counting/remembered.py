"""Counts that earlier fits on the same rows made, kept for later ones. All that a process keeps has one limit."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

#: What is known of the rows of a node.
Known = dict[Hashable, np.ndarray]


class Limit:
    """How many numbers of 8 bytes are remembered together. Beyond it the rows that were used longest ago are forgotten.

    It keeps nothing alive: exact counts go with the rows they were made from.
    """

    def __init__(self, numbers: int) -> None:
        self.numbers = numbers
        self._used: WeakKeyDictionary[Remembered, None] = WeakKeyDictionary()  # those used last stand last
        self._lock = Lock()
        self._held_at_most = 0

    def use(self, remembered: Remembered) -> None:
        """Put these rows behind all others, as those used last."""
        with self._lock:
            self._used.pop(remembered, None)
            self._used[remembered] = None

    def keep(self, remembered: Remembered, known: Known, key: Hashable, found: np.ndarray, part: float) -> None:
        """Let something more be known of some rows, if there is room in a part of the limit."""
        with self._lock:
            size = -(-found.nbytes // 8)
            if key not in known and self._has_room(remembered, size, int(part * self.numbers)):
                known[key] = found
                remembered.held += size
                self._held_at_most += size

    def _has_room(self, remembered: Remembered, size: int, numbers: int) -> bool:
        if self._held_at_most + size > numbers >= size:  # rows may be gone by now
            for other in list(self._used):
                self._held_at_most = sum(one.held for one in self._used)
                if self._held_at_most + size > numbers and other is not remembered:
                    other.forget()
            self._held_at_most = sum(one.held for one in self._used)
        return self._held_at_most + size <= numbers


#: Numbers of 8 bytes that a process holds: 512 MB.
LIMIT = Limit(64_000_000)


class Remembered:
    """What is known of the nodes of all trees that were grown from some rows, by the way to each node."""

    def __init__(self, limit: Limit = LIMIT) -> None:
        self.held = 0  #: Numbers that are remembered
        self._limit, self._known = limit, dict[bytes, Known]()
        limit.use(self)

    def use(self) -> None:
        """Say that a fit begins to use it."""
        self._limit.use(self)

    def of(self, way: bytes) -> Known:
        """What is known of a node."""
        return dict(self._known.get(way, {}))

    def keep(self, way: bytes, key: Hashable, found: np.ndarray, *, is_root: bool) -> None:
        """Remember something of a node, as long as there is room; the first that came is of most use and stays.

        Nodes below a root leave half of the room to roots, which more fits ask for.
        """
        self._limit.keep(self, self._known.setdefault(way, {}), key, found, 1.0 if is_root else 0.5)

    def forget(self) -> None:
        """Forget everything."""
        self.held, self._known = 0, {}
