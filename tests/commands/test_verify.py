"""The command `verify`: a table, the pair that shows it, and an exit code for our own ledgers."""

import re
from dataclasses import replace

import pytest
from dpviz.commands import verify as command

from dpviz.evaluation.audit import verdicts as verify_all
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verdicts import StoredRun, run_from_json, run_to_json
from dpviz.evaluation.audit.verify import verify
from tests.support.audits import BOUND, HOLDS, NONE, facts, run_of
from tests.support.planted import HALF_NOISE

TINY = (Universe((2, 2), max_rows=2),)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(command, "QUICK_UNIVERSES", TINY)
    monkeypatch.setattr(command, "COUNTEREXAMPLES", ())


@pytest.mark.slow
def test_one_learner_is_a_line_with_claim_ledger_and_what_was_found(run):
    code, out, err = run("verify", "privatree", "--epsilon", "1", "--param", "grow_complete=true", "--quick")
    assert (code, err) == (0, "")
    assert re.search(r"^LEARNER +EPSILON +CLAIMED +COMPOSED +SEARCHED +FINDING +WHERE +REASON$", out, re.MULTILINE)
    assert re.search(
        r"^privatree grow_complete=True +1 +1 +1\.5 +1\.\d{4} +violated +2 features of 2 categories", out, re.MULTILINE
    )
    assert "Features of one row are not disjoint data" in out


def test_every_place_searched_is_listed_with_its_size_and_the_pair_with_both_chances(run):
    out = run("verify", "pf-tree", "--quick")[1]
    assert re.search(r"^SEARCHED +FINDING +DATA SETS +PAIRS +SECONDS +SEARCHED$", out, re.MULTILINE)
    assert re.search(r"^0\.\d{4} +holds +45 +72 +\d+\.\d +2 features of 2 categories, 2 classes", out, re.MULTILINE)
    out = run("verify", "privatree", "--quick")[1]
    assert "The pair of data sets that shows it" in out
    assert len(re.findall(r"^without .*=", out, re.MULTILINE)) == 1
    assert len(re.findall(r"^with .*=", out, re.MULTILINE)) == 2
    assert re.search(r"^without +0$", out, re.MULTILINE)
    assert re.search(r"^with +0\.\d+$", out, re.MULTILINE)


def _broken(*args, **asked):
    return [verify(HALF_NOISE, universes=TINY)]


def test_a_violated_ledger_is_exit_code_one(run, monkeypatch):
    monkeypatch.setattr(command, "verify_each", _broken)
    code, out, _ = run("verify", "pf-tree")
    assert code == 1
    assert "ledger violated" in out


def test_all_learners_are_tables_and_a_file(run, monkeypatch, tmp_path):
    attacked = replace(BOUND, bound=0.81, perfect=0.913)
    found = StoredRun((facts(verify("pf-tree", universes=TINY), attacked),))
    monkeypatch.setattr(command, "verify_all", lambda **asked: StoredRun((replace(found.facts[0], date=asked["date"]),)))
    path = tmp_path / "verdicts.json"
    code, out, err = run("verify", "--all", "--out", path)
    assert (code, err) == (0, "")
    assert "Learners (add/remove one row; 60 processor seconds)" in out
    assert re.search(
        r"^LEARNER +EPSILON +PROVED +SEARCHED +ATTACKED +STRENGTH +CEILING +CLAIMED +COMPOSED +SECONDS +DATE +REASON$",
        out,
        re.MULTILINE,
    )
    assert re.search(r"^pf-tree +1 +holds +>= 0\.\d+, within +>= 0\.81, within +81% +0\.913 +1 +1 +60\.0 ", out, re.MULTILINE)
    stored = run_from_json(path.read_bytes())
    assert [(item.learner, item.attacked.perfect) for item in stored.facts] == [("pf-tree", attacked.perfect)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", stored.facts[0].date)
    monkeypatch.setattr(command, "verify_all", lambda **asked: run_of(*_broken()))
    assert run("verify", "--all")[0] == 1


def test_the_named_learners_replace_their_entries_in_a_file_and_no_others(run, monkeypatch, tmp_path):
    path = tmp_path / "verdicts.json"
    path.write_text(run_to_json(run_of(HOLDS, NONE)), encoding="utf-8")
    monkeypatch.setattr(
        command, "verify_all", lambda learners, **asked: StoredRun((facts(HOLDS, date="2031-02-03"),) * len(learners))
    )
    assert run("verify", "--all", "pf-tree", "--out", path, "--force")[0] == 0
    stored = run_from_json(path.read_bytes())
    assert [(item.learner, item.date) for item in stored.facts] == [("cart", "2030-01-02"), ("pf-tree", "2031-02-03")]


@pytest.mark.parametrize(
    "learners",
    [pytest.param(("majority", "privatree"), marks=pytest.mark.slow), pytest.param((), marks=pytest.mark.verify)],
    ids=["two learners in a tiny universe", "all learners in the quick universes"],
)
def test_every_ledger_of_ours_stands_on_the_quick_universes(run, monkeypatch, learners):
    if learners:
        monkeypatch.setattr(verify_all, "QUICK_UNIVERSES", TINY)
        monkeypatch.setattr(verify_all, "COUNTEREXAMPLES", ())
    else:
        monkeypatch.undo()
    code, out, _ = run("verify", "--all", *learners, "--quick")
    assert code == 0
    assert "ledger violated" not in out
    assert re.search(rf"^{'majority' if learners else 'pf-tree'} +1 +holds +>= [01](\.\d+)?, within", out, re.MULTILINE)
    assert re.search(r"^privatree +1 +violated +>= inf, beyond", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "Give one learner, or --all."),
        (("pf-tree", "majority"), "Give one learner, or --all."),
        (("pf-treee", "--all"), "Did you mean 'pf-tree'?"),
        (("pf-treee",), "Did you mean 'pf-tree'?"),
        (("pf-tree", "--epsilon", "0"), "must be a number in [0.001, 20]. Got 0.0."),
        (("pf-tree", "--epsilon", "much"), "must be a number, got 'much'"),
        (("pf-tree", "--param", "colour=1"), "no parameter of 'pf-tree' called 'colour'"),
        (("pf-tree", "--out", "x.json"), "--out is for --all."),
        (("--all", "--epsilon", "1"), "--all sets epsilon and parameters itself."),
        (("--all", "--out", "no/such/folder/x.json"), "There is no folder"),
    ],
)
def test_what_cannot_be_asked_is_one_line(refused, words, text):
    assert text in refused("verify", *words)


def test_a_learner_that_cannot_be_listed_is_refused_with_the_way_out(refused):
    assert "audit it by sampling" in refused("verify", "bdpt", "--quick")
