"""Killed a hundred times while releasing, and hammered from several processes at once: nothing lost, nothing counted twice.

The work is a program of its own (`crashing.py`), because it forks.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.verify

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder() -> Iterator[str]:
    """In memory where there is such a place: a kill is no loss of power, and syncing a busy disk is most of the time."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as found:
        yield found


@pytest.mark.parametrize(
    ("kills", "of_each_kind", "cap", "rounds"), [(4, 0, 4, 1), pytest.param(100, 10, 24, 15, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_no_release_is_lost_or_counted_twice_however_it_is_killed(folder, kills, of_each_kind, cap, rounds):
    command = [sys.executable, "-m", "tests.support.crashing", folder, *map(str, (1, kills, cap, rounds))]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert facts["killed"] >= kills - 5  # a kill after the last event of a release finds nothing to kill
    assert facts["released"] + facts["interrupted"] + facts["never begun"] == kills
    assert min(facts["released"], facts["interrupted"], facts["never begun"]) >= of_each_kind  # every kind of crash was seen
    assert facts["parts left"] >= facts["recovered"] >= (of_each_kind > 0)
    assert facts["refused again"] == facts["interrupted"]
    assert facts["hammered"] == cap
    assert facts["made at once"] == rounds
    assert facts["killed while imported"] >= kills  # a kill beyond the last event finds nothing to kill
