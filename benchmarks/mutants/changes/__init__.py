"""Every change, room by room."""

from __future__ import annotations

from itertools import chain

from benchmarks.mutants.changes import (
    accounting,
    audit,
    counting,
    doors,
    learners,
    noise,
    owners,
    privacy,
    release,
    risk,
    rows,
    training,
    two_levels,
    verdict,
)

ROOMS = (rows, privacy, noise, accounting, training, two_levels, counting, learners, risk, audit, release, owners, doors, verdict)
MUTANTS = tuple(chain.from_iterable(room.MUTANTS for room in ROOMS))
