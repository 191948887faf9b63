"""`mutants`: the list is exact, every change is noticed, and a change that is not noticed is reported."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from zlib import crc32

import pytest

from benchmarks.mutants import page, worker
from benchmarks.mutants.changes import MUTANTS
from benchmarks.mutants.mutant import Mutant, problems
from benchmarks.mutants.running import ROOT, Outcome, require_passing, try_all
from dpviz.errors import DpvizError
from dpviz.version import VERSION

NOTICED = Mutant(
    "a negative epsilon accepted",
    "dpviz.accounting.guarantee:_cost",
    "not is_loss(event.epsilon)",
    "event.epsilon < -1",
    ("tests/accounting/test_guarantee.py::test_a_negative_or_missing_epsilon_is_refused_at_any_nesting",),
)
HARMLESS = Mutant(
    "another version",
    "dpviz.version",
    f"{VERSION!r}",
    "'9.9.9'",
    ("tests/accounting/test_guarantee.py::test_nothing_costs_nothing",),
)
forks = pytest.mark.skipif(sys.platform == "win32", reason="children are forked")


def test_everything_occurs_once_and_every_test_exists() -> None:
    assert list(problems(MUTANTS, ROOT)) == []


def test_there_are_enough_of_them_and_they_touch_every_room() -> None:
    assert len(MUTANTS) >= 80
    assert len({mutant.what for mutant in MUTANTS}) == len(MUTANTS)
    rooms = {mutant.file.split("/")[1].removesuffix(".py") for mutant in MUTANTS}
    assert rooms >= {"privacy", "accounting", "training", "learners", "io", "table", "release", "owners", "evaluation"}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"old": "no_such_thing"}, "this occurs 0 times in dpviz.accounting.guarantee:"),
        ({"old": "event"}, "not once: 'event'"),
        ({"where": "dpviz.accounting.guarantee:gone"}, "this occurs 0 times in dpviz.accounting.guarantee:gone"),
        ({"where": "dpviz.nowhere:f"}, "this occurs 0 times in dpviz.nowhere:f"),
        ({"where": "dpviz/py.typed"}, "this occurs 0 times in dpviz/py.typed"),
        ({"old": "no such line"}, "this is no Python: 'no such line'"),
        ({"new": "nonsense("}, "this is no Python"),
        ({"new": NOTICED.old}, "changes nothing"),
        ({"tests": ()}, "names no test"),
        ({"tests": ("tests/accounting/test_guarantee.py::test_of_nothing",)}, "there is no test tests/accounting"),
        ({"tests": ("tests/test_nowhere.py::test_nothing_costs_nothing",)}, "there is no test tests/test_nowhere.py"),
    ],
)
def test_a_list_that_is_out_of_date_is_an_error(change, complaint) -> None:
    assert complaint in "\n".join(problems([replace(NOTICED, **change)], ROOT))


def test_the_changes_of_this_file_are_exact() -> None:
    assert list(problems([NOTICED, HARMLESS], ROOT)) == []


def test_a_change_listed_twice_is_an_error() -> None:
    assert "listed twice" in "\n".join(problems([NOTICED, NOTICED], ROOT))


FUNCTION = """
class Box:
    def size(self, given):
        # how large it is
        if given > 2:
            raise ValueError("large")
        return (given +
            1)

def size(given):
    return given + 1
"""


@pytest.mark.parametrize(
    ("where", "old", "new", "changed"),
    [
        ("box:Box.size", "given+1", "given", "return given\n\ndef"),
        ("box:size", "given + 1", "given - 1", "def size(given):\n    return given - 1"),
        ("box:Box.size", "if given > 2:\n raise ValueError('large')", "pass", "def size(self, given):\n        pass"),
        ("box:Box.size", "'large'", "'small'", "ValueError('small')"),
        ("box:Box.size", "return given + 1", "given += 1\nreturn given", "given += 1\n        return given"),
    ],
)
def test_a_change_finds_its_place_however_the_code_is_laid_out(where, old, new, changed) -> None:
    mutant = Mutant("", where, old, new, ())
    assert mutant.file == "box.py"
    assert mutant.count(FUNCTION) == 1
    assert changed in mutant.applied_to(FUNCTION)
    assert mutant.count("import somewhere" + FUNCTION.replace("        # how large it is\n", "        print(1)\n")) == 1


def test_a_file_that_is_no_python_is_matched_as_text() -> None:
    mutant = Mutant("", "release/register.sql", "ABORT", "IGNORE", ())
    assert (mutant.file, mutant.count("RAISE (ABORT)"), mutant.count("")) == ("release/register.sql", 1, 0)
    assert mutant.applied_to("RAISE (ABORT)") == "RAISE (IGNORE)"


@forks
@pytest.mark.slow
def test_a_change_is_noticed_or_survives_or_is_no_python() -> None:
    caught, survived, unknown = try_all([NOTICED, HARMLESS, replace(HARMLESS, new="nonsense")])
    assert caught.is_caught
    assert (survived.is_caught, survived.survived, survived.error) == (False, HARMLESS.tests, "")
    assert not unknown.is_caught
    assert "NameError" in unknown.error


@forks
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_what_a_test_leaves_running_keeps_nobody_waiting(monkeypatch) -> None:
    def run(runs: object, writing: int) -> None:
        if os.fork():
            os.write(writing, b'{"codes": [0], "said": ""}\n')
            os._exit(0)
        signal.pause()

    monkeypatch.setattr(worker, "_run", run)
    assert worker._in_child([]) == {"codes": [0], "said": ""}


@pytest.mark.parametrize("codes", [[4], [1], []])
def test_a_test_that_fails_without_any_change_is_refused(codes) -> None:
    class Shop:
        def ask(self, runs):
            assert runs == [["a", "b"]]
            return {"codes": codes, "said": "not found"}

    with pytest.raises(DpvizError, match=r"A test fails without any change\. not found Mend it first"):
        require_passing(Shop(), ["a", "b"])


@pytest.mark.slow
def test_survivors_come_first_on_the_page_and_end_with_an_error(run, monkeypatch, tmp_path) -> None:
    outcomes = [Outcome(NOTICED, (), "", 1.0), Outcome(HARMLESS, HARMLESS.tests, "", 1.0)]
    monkeypatch.setattr(page, "try_all", lambda mutants, workers: outcomes)
    code, out, _ = run("mutants", "--out", tmp_path / "page.md")
    assert code == 1
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == out.removesuffix("\n")
    assert "1 were noticed, 1 survived" in out
    assert out.index("## Survivors") < out.index("- **another version**") < out.index("## accounting")
    monkeypatch.setattr(page, "try_all", lambda mutants, workers: outcomes[:1])
    assert run("mutants", "--only", "negative epsilon")[0] == 0


@forks
@pytest.mark.verify
def test_a_fifth_of_the_changes_is_noticed() -> None:
    """Another fifth for every state of the code, the same one wherever it runs; `python -m benchmarks mutants` tries them all."""
    state = crc32(b"".join(file.read_bytes() for file in sorted((ROOT / "dpviz").rglob("*.py"))))
    outcomes = try_all(MUTANTS[state % 5 :: 5])
    assert [(outcome.mutant.what, outcome.survived, outcome.error) for outcome in outcomes if not outcome.is_caught] == []
