"""Commands that study learners: sweep, robustness, verify, audit and the list of learners."""

from __future__ import annotations

import csv
import json
import re
import signal
from dataclasses import replace

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import dpviz
from dpviz.cli import learners as verify_command
from dpviz.cli import studies as sweep_command
from dpviz.cli.learners import verdict_in_words
from dpviz.evaluation.audit import verdicts as verify_all
from dpviz.evaluation.audit.evidence import typical
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verdicts import StoredRun, run_from_json, run_to_json, stored_run
from dpviz.evaluation.audit.verify import verify
from dpviz.learners import FitRequest, registry
from tests.support.audits import BOUND, HOLDS, NONE, UNPROVEN, facts, run_of
from tests.support.planted import HALF_NOISE

# --- sweep: a line per fit, resumed and stopped without losing any

GRID = ("--learners", "pf-tree,cart", "--epsilon", ".5,5", "--max-depth", "2,3", "--folds", "2", "--repeats", "3")


@pytest.fixture
def swept(table, schema, tmp_path):
    """(arguments, file to write)."""
    out = tmp_path / "frame.csv"
    return ("sweep", table, "--schema", schema, *GRID, "--out", out), out


@pytest.mark.slow
@pytest.mark.usefixtures("workers_run_in")
def test_the_file_holds_the_frame_to_the_last_digit_and_no_row_of_the_data(run, swept, table, schema):
    arguments, out = swept
    data = dpviz.encode(dpviz.read_table(table), dpviz.load_schema(schema))
    frame = dpviz.sweep(["pf-tree", "cart"], data, epsilon=[0.5, 5.0], max_depth=[2, 3], folds=2, repeats=3)
    for workers in ("1", "2"):
        code, said, heard = run(*arguments, "--workers", workers, "--force")
        assert (code, said) == (0, "")
        assert heard == f"Wrote {out}: 28 of 28 fits.\n"
        assert_frame_equal(sweep_command._read_frame(out), frame, check_dtype=False)
    assert set(pd.read_csv(out).learner) == {"pf-tree", "cart"}
    assert "colour" not in out.read_text(encoding="utf-8")
    assert "blue" not in out.read_text(encoding="utf-8")


@pytest.mark.slow
def test_resuming_adds_what_is_missing_of_the_same_settings_and_nothing_else(run, refused, swept):
    arguments, out = swept
    assert run(*arguments, "--resume")[0] == 0, "without a file it starts one"
    whole = out.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 29
    assert "made from other rows, folds, seeds or parameters" in refused(*arguments, "--seed", "4", "--resume")
    assert out.read_text(encoding="utf-8") == whole
    out.write_text("".join(lines[:10]), encoding="utf-8")
    code, _, heard = run(*arguments, "--resume")
    assert code == 0
    assert "28 of 28 fits" in heard
    assert out.read_text(encoding="utf-8") == whole
    out.write_text("precious", encoding="utf-8")
    assert "The file exists." in refused(*arguments)
    assert "This file does not come from a sweep: it has no column 'learner'." in refused(*arguments, "--resume")
    assert out.read_text(encoding="utf-8") == "precious"


@pytest.mark.slow
def test_ctrl_c_writes_what_is_done_and_says_how_to_go_on(run, swept, monkeypatch):
    arguments, out = swept
    fitted = []

    def interrupting(*given, **more):
        fitted.append(1)
        if len(fitted) == 4:
            signal.raise_signal(signal.SIGINT)
        return original(*given, **more)

    original = FitRequest.fit
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(FitRequest, "fit", interrupting)
    code, said, heard = run(*arguments)
    assert (code, said) == (130, "")
    assert heard.splitlines() == [f"Wrote {out}: 4 of 28 fits.", "Stopped. The same command with --resume continues."]
    assert len(sweep_command._read_frame(out)) == 4
    assert signal.getsignal(signal.SIGINT) is before
    monkeypatch.setattr(FitRequest, "fit", original)
    assert run(*arguments, "--resume")[0] == 0
    assert len(sweep_command._read_frame(out)) == 28


# --- robustness: the curve and the verdict, on the terminal and in a file


@pytest.mark.slow
def test_it_prints_the_curve_and_the_verdict_and_the_file_holds_every_point(run, table, schema, tmp_path):
    path = tmp_path / "curve.csv"
    asked = ("--schema", schema, "--epsilon", "0.1", "--draws", "60", "--max-depth", "2", "--max-poisoned", "0.05")
    code, out, err = run("robustness", table, *asked, "--out", path)
    assert (code, err.strip()) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    at_the_end = next(line for line in lines if line[:2] == ["24", "5.00%"])
    assert all(re.fullmatch(r"\d+\.\d%", bound) for bound in at_the_end[2:5])
    assert re.search(r"Verdict +(PF-tree at epsilon = 0.1 .* withstands up to \d+|No curve here is proved to stay above)", out)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["poisoned_rows"] for row in rows] == [str(k) for k in range(25)]
    assert list(rows[0]) == ["poisoned_rows", "poisoned_share", "accuracy", "published", "tight", "tight_low"]


# --- verify: a table, the pair that shows it, and an exit code for our own ledgers

TINY = (Universe((2, 2), max_rows=2),)


@pytest.fixture
def tiny(monkeypatch):
    for module in (verify_command, verify_all):
        monkeypatch.setattr(module, "QUICK_UNIVERSES", TINY)
        monkeypatch.setattr(module, "COUNTEREXAMPLES", ())


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_all_learners_are_tables_and_a_file_and_a_violated_ledger_is_exit_code_one(run, monkeypatch, tmp_path):
    bound = replace(BOUND, bound=0.81, perfect=0.913)
    found = StoredRun((facts(verify("pf-tree", universes=TINY), bound),))
    monkeypatch.setattr(verify_command, "verify_all", lambda **asked: StoredRun((replace(found.facts[0], date=asked["date"]),)))
    path = tmp_path / "verdicts.json"
    code, out, err = run("verify", "--all", "--out", path)
    assert (code, err) == (0, "")
    assert re.search(r"^pf-tree +1 +holds +>= 0\.\d+, within +>= 0\.81, within +81% +0\.913 +1 +1 +60\.0 ", out, re.MULTILINE)
    stored = run_from_json(path.read_bytes())
    assert [(item.learner, item.attacked.perfect) for item in stored.facts] == [("pf-tree", bound.perfect)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", stored.facts[0].date)
    broken = [verify(HALF_NOISE, universes=TINY)]
    monkeypatch.setattr(verify_command, "verify_all", lambda **asked: run_of(*broken))
    assert run("verify", "--all")[0] == 1
    monkeypatch.setattr(verify_command, "verify_each", lambda *args, **asked: broken)
    code, out, _ = run("verify", "pf-tree")
    assert (code, "ledger violated" in out) == (1, True)


def test_every_number_of_a_verification_stands_under_its_own_name(run, monkeypatch):
    found = replace(UNPROVEN, epsilon=0.75, claimed=1.25, composed=1.5, log_ratio=0.5, n_sets=12, n_pairs=34, seconds=5.6)
    monkeypatch.setattr(verify_command, "verify_each", lambda *args, **asked: [found])
    told = json.loads(run("verify", "privatree", "--json")[1])
    (verdict,), (place,) = told["verdict"], told["searched"]
    numbers = {"epsilon": "0.75", "claimed": "1.25", "composed": "1.5", "searched": "0.5000"}
    words = {"learner": "privatree", "finding": "unproven", "where": found.searched, "reason": found.because}
    assert verdict == words | numbers
    counts = {"data_sets": "12", "pairs": "34", "seconds": "5.6"}
    assert place == {"searched": "0.5000", "finding": "unproven", "where": found.searched} | counts
    assert [float(told[name]) for name in ("without", "with")] == pytest.approx(found.worst_pair.probabilities, rel=1e-5)
    assert [row[""] for row in told["pair"]] == ["without"] * 2 + ["with"] * 3

    evidence = facts(found, replace(BOUND, bound=0.25, perfect=0.375), processor_seconds=7.0, date="2031-02-03")
    monkeypatch.setattr(verify_command, "verify_all", lambda **asked: StoredRun((evidence,)))
    (row,) = json.loads(run("verify", "--all", "--json")[1])["facts"]
    assert row | {"epsilon": "0.75", "claimed": "1.25", "composed": "1.5", "ceiling": "0.375", "seconds": "7.0"} == row
    assert row | {"proved": "unproven", "date": "2031-02-03", "reason": found.because} == row
    assert (row["searched"].split(",")[0], row["attacked"].split(",")[0]) == (">= 0.5", ">= 0.25")


def test_the_named_learners_replace_their_entries_in_a_file_and_no_others(run, monkeypatch, tmp_path):
    path = tmp_path / "verdicts.json"
    path.write_text(run_to_json(run_of(HOLDS, NONE)), encoding="utf-8")

    def verified(learners, **asked):
        return StoredRun((facts(HOLDS, date="2031-02-03"),) * len(learners))

    monkeypatch.setattr(verify_command, "verify_all", verified)
    assert run("verify", "--all", "pf-tree", "--out", path, "--force")[0] == 0
    stored = run_from_json(path.read_bytes())
    assert [(item.learner, item.date) for item in stored.facts] == [("cart", "2030-01-02"), ("pf-tree", "2031-02-03")]


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_two_ledgers_of_ours_stand_on_a_tiny_universe_and_a_pair_shows_a_claim_that_does_not(run):
    _stand(run, "majority", "privatree")
    code, out, _ = run("verify", "privatree", "--quick")
    assert (code, "The pair of tables that shows it" in out) == (0, True)
    assert re.search(r"^without +0$", out, re.MULTILINE)
    assert re.search(r"^with +0\.\d+$", out, re.MULTILINE)


@pytest.mark.verify
def test_every_ledger_of_ours_stands_on_the_quick_universes(run):
    _stand(run)


def _stand(run, *learners):
    code, out, _ = run("verify", "--all", *learners, "--quick")
    assert code == 0
    assert "ledger violated" not in out
    first = learners[0] if learners else "pf-tree"
    assert re.search(rf"^{first} +1 +holds +>= [01](\.\d+)?, within", out, re.MULTILINE)
    assert re.search(r"^privatree +1 +violated +>= inf, beyond", out, re.MULTILINE)


# --- audit, and what is known of the learners


def test_outputs_of_other_code_are_attacked(run, refused, tmp_path):
    files = [tmp_path / "without.txt", tmp_path / "with.txt"]
    for file, word in zip(files, ("no", "yes"), strict=True):
        file.write_text(f"{word}\n" * 100, encoding="utf-8")
    code, said, _ = run("audit", *files, "--epsilon", "1")
    assert code == 1
    assert "No guarantee below epsilon = 3.49 holds (95% confidence)" in said
    assert "The claimed 1 is refuted" in said
    code, said, warned = run("verify", "--outputs", *files)
    assert code == 0
    assert "`verify --outputs` is called `audit` now" in warned
    code, said, _ = run("audit", files[0], files[0])
    assert code == 0
    assert "Nothing is refuted (95% confidence): an event came 50 and 50 times" in said
    code, said, _ = run("audit", "--json", *files, "--delta", "0.99")
    assert json.loads(said)["bound"] == 0
    assert "none.txt" in refused("audit", files[0], tmp_path / "none.txt")


@pytest.mark.slow
def test_every_learner_stands_in_the_table_with_its_verdict(run):
    code, out, err = run("learners")
    lines, run_of_all = out.splitlines(), stored_run()
    assert (code, err, [line.split()[0] for line in lines[1:]]) == (0, "", list(registry()))
    for spec in registry().values():
        assert typical(spec).claim.verdict in verdict_in_words(spec.name, run_of_all)
    by_name = {line.split()[0]: line for line in lines}
    assert re.search("epsilon +holds +>= .* yes", by_name["pf-tree"])
    assert re.search("epsilon, delta +holds +not listed +>= .* yes", by_name["s-gbdt"])
    assert re.search("epsilon +violated +>= inf, beyond +>= .* no", by_name["privatree"])
    assert re.search("nothing +none +>= inf, nothing claimed +>= .* no", by_name["cart"])
    assert verdict_in_words("privatree-corrected", run_of_all) == "violated at 0.1, unproven at 1 and 3"
    assert verdict_in_words("pf-tree", StoredRun(())) == "holds"
    for name in registry():
        code, out, err = run("learners", name)
        assert (code, err) == (0, ""), name
        assert registry()[name].citation in out
