"""Every change, room by room."""

from __future__ import annotations

from itertools import chain

from benchmarks.mutants.changes import accounting, audit, counting, learners, noise, owners, privacy, release, rows, training

ROOMS = (rows, privacy, noise, accounting, training, counting, learners, audit, release, owners)
MUTANTS = tuple(chain.from_iterable(room.MUTANTS for room in ROOMS))
