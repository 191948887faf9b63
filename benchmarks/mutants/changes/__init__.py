"""Every change, room by room."""

from __future__ import annotations

from benchmarks.mutants.changes import accounting, audit, counting, learners, noise, owners, privacy, release, rows, training

MUTANTS = tuple(
    mutant
    for room in (rows, privacy, noise, accounting, training, counting, learners, audit, release, owners)
    for mutant in room.MUTANTS
)
