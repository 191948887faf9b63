"""`mutants`: the table is exact, every change in it is noticed, and a change that is not noticed is reported."""

from __future__ import annotations

import sys

import pytest

from benchmarks.mutants import ROOT, Mutant, missed_mutants, table

NOTICED = Mutant("accounting/guarantee.py", "_cost_of_step", "not is_loss(cost.epsilon)", "cost.epsilon < -1", "accounting")
HARMLESS = NOTICED._replace(new="is_loss(cost.epsilon) is False", tests="accounting/test_composition.py")
FIRST = "import math"
BROKEN = NOTICED._replace(function="", old=FIRST, new=f"{FIRST}\nnonsense")
PARTS = 16
forks = pytest.mark.skipif(sys.platform == "win32", reason="children are forked")


def test_every_text_occurs_once_and_its_tests_are_there() -> None:
    mutants = table()
    for mutant in mutants:
        mutant.applied_to((ROOT / "dpviz" / mutant.file).read_text(encoding="utf-8"))
        assert (ROOT / "tests" / mutant.tests).exists(), mutant
    assert len(set(mutants)) == len(mutants) > 100
    packages = {mutant.file.partition("/")[0] for mutant in mutants}
    assert packages >= {"privacy", "accounting", "training", "learners", "io", "table", "release", "owners", "evaluation"}


@pytest.mark.parametrize(
    "change", [{"old": "event"}, {"old": "no such text"}, {"function": "gone"}, {"new": NOTICED.old}, {"new": "not ("}]
)
def test_a_line_that_is_out_of_date_is_an_error(change) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        missed_mutants([NOTICED._replace(**change)])


@forks
@pytest.mark.verify
def test_a_change_is_noticed_or_missed_or_cannot_run() -> None:
    said: list[str] = []
    missed = missed_mutants([NOTICED, HARMLESS, BROKEN], say=said.append)
    assert "::" in said[0].rpartition("-1: ")[2]
    assert [line.endswith("no test failed") for line in missed] == [True, False]
    assert "NameError" in missed[1]


@forks
@pytest.mark.verify
@pytest.mark.parametrize("part", range(PARTS))
def test_every_change_is_noticed(part) -> None:
    assert missed_mutants(table()[part::PARTS]) == []
