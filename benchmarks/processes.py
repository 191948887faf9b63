"""Processes by their numbers, from /proc, so on Linux: what they used, and who started whom."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path


def seconds_used(process: int) -> float:
    """Processor seconds of a process and of the children that it outlived."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended, and its parent has its seconds
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def below(process: int) -> Sequence[int]:
    """Children, their children and so on."""
    try:
        lists = [(task / "children").read_text() for task in Path(f"/proc/{process}/task").iterdir()]
    except OSError:
        return []
    own = [int(word) for word in " ".join(lists).split()]
    return [*own, *chain.from_iterable(map(below, own))]
