"""`robustness`: the curve and the verdict, on the terminal and in a file."""

from __future__ import annotations

import csv
import re

import pytest


def asked(table, schema, *more):
    return ("robustness", table, "--schema", schema, "--epsilon", "0.1", "--draws", "60", "--max-depth", "2", *more)


@pytest.mark.slow
def test_it_prints_the_curve_and_the_verdict(run, table, schema):
    code, out, err = run(*asked(table, schema, "--max-poisoned", "0.05"))
    assert code == 0
    assert "add/remove one row" in out
    lines = [line.split() for line in out.splitlines()]
    assert lines[3][0] == "0"
    at_the_end = next(line for line in lines if line[:2] == ["24", "5.00%"])
    assert all(re.fullmatch(r"\d+\.\d%", bound) for bound in at_the_end[2:5])
    assert "Verdict" in out
    assert "WITH 95% CONFIDENCE" in out
    assert not err.strip()


@pytest.mark.slow
def test_the_file_holds_the_whole_curve(run, table, schema, tmp_path):
    out = tmp_path / "curve.csv"
    assert run(*asked(table, schema, "--max-poisoned", "0.05", "--out", out))[0] == 0
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["poisoned_rows"] for row in rows] == [str(k) for k in range(25)]
    assert list(rows[0]) == ["poisoned_rows", "poisoned_share", "accuracy", "published", "tight", "tight_low"]


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.slow
def test_the_same_seed_prints_the_same_curve_whatever_the_workers(run, table, schema):
    first = run(*asked(table, schema, "--draws", "150"))[1]
    assert run(*asked(table, schema, "--draws", "150", "--workers", "2"))[1] == first
    assert run(*asked(table, schema, "--draws", "150", "--seed", "1"))[1] != first


def test_a_wanted_accuracy_changes_the_verdict(run, table, schema):
    verdict = run(*asked(table, schema, "--above", "0.999"))[1].splitlines()[-1]
    assert "No protection shown: even without poison its accuracy is not above 99.9% (what you asked for)" in verdict


def test_a_learner_without_privacy_gets_no_guarantee_and_the_reason(run, table, schema):
    code, out, _ = run(*asked(table, schema, "--learner", "cart"))
    assert code == 0
    assert out.splitlines()[-1] == "Verdict  No guarantee. Its privacy loss is infinite: exact splits and labels."
    assert "0.00%  -          -      -" in out


def test_votes_are_certified_with_their_own_parameters(run, table, schema):
    code, out, _ = run(*asked(table, schema, "--learner", "dpa", "--param", "trees=30"))
    assert code == 0
    assert "Voting trees" in out


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (("--max-poisoned", "2"), "The 'max_poisoned' parameter of certify must be a share in [0, 1]. Got 2.0."),
        (("--confidence", "1"), "The 'beta' parameter of certify must be a number between 0 and 1, both excluded."),
        (("--draws", "0"), "Argument --draws: must be a whole number from 1 to 1,000,000, got '0'."),
        (("--learner", "nope"), "There is no learner called 'nope'."),
        (("--param", "colour=3"), "There is no parameter of 'pf-tree' called 'colour'."),
    ],
)
def test_what_cannot_be_asked_is_one_line(refused, table, schema, more, text):
    assert text in refused(*asked(table, schema, *more))


def test_an_existing_file_is_not_overwritten(refused, table, schema, tmp_path):
    out = tmp_path / "curve.csv"
    out.write_text("mine")
    assert "The file exists." in refused(*asked(table, schema, "--out", out))
    assert out.read_text() == "mine"


def test_too_few_rows_are_refused(refused, schema, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("age,colour,label\n3,red,no\n")
    assert "too few rows to hold some out" in refused(*asked(path, schema))


def test_a_number_has_no_poisoning_guarantee(refused, tmp_path):
    rents = tmp_path / "rents.csv"
    rents.write_text("area,rent\n" + "".join(f"{k % 97},{5 * k}.5\n" for k in range(100)), encoding="utf-8")
    for learner in ("pf-tree", "cart-regression"):
        said = refused("robustness", rents, "--epsilon", "1", "--learner", learner)
        assert "A poisoning guarantee needs a target of classes, but 'rent' is a number." in said
