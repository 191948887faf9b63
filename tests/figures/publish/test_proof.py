"""Every export is tried on a tree of the same columns before anything is spent: no report is refused afterwards."""

import json
from dataclasses import replace

import pytest

import dpviz
from dpviz.errors import NotExported, RefusedRelease
from dpviz.figures.publish.exports import REPORT
from dpviz.figures.publish.proof import proof_of, proof_sentence, tree_of
from dpviz.io.exports.contract import Exportable
from dpviz.models.document import FORMAT, model_body
from dpviz.models.tree import Branch
from dpviz.release.register import Register
from dpviz.results.exports import export_names, form_called, forms
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support import checked

AGE = NumericFeature("age", 0, 120, missing_as=0, missing_codes=("999", "k.A."))
TOWN = CategoricalFeature("town", ("a", "b", "c"), missing_as="b", unknown_as="c", missing_codes=("-",))
CAME = DateFeature("came", 0.0, 400.0, part="days", since="2020-01-01")
CODED = Schema((AGE, TOWN, CAME), ClassTarget("y", ("n", "p")), n_public=300)


@pytest.mark.parametrize("target", [CODED.target, NumericTarget("y", 0.0, 9.0)])
def test_every_form_predicts_as_the_tree_does_with_codes_dates_and_unknown_categories(target):
    proof = proof_of(replace(CODED, target=target))
    assert proof.lacking == {}
    assert "Report for a board" in proof.good
    assert f"{len(proof.good)} export formats" in proof_sentence(proof)
    asked = {placed.node.rule.feature for placed in tree_of(CODED).nodes() if isinstance(placed.node, Branch)}
    assert asked == {0, 1, 2}


@pytest.mark.parametrize("name", export_names())
def test_no_form_takes_a_declared_code_for_a_number(name):
    tree = tree_of(CODED)
    text = json.dumps({"format": FORMAT, "kind": "tree", **model_body(tree), "schema": CODED.to_dict()})
    given = Exportable(text)
    assert {"999", "-"} <= {cell for row in checked.rows_for(given, 9) for cell in row}
    checked.export(form_called(name), given)


@pytest.fixture
def broken(monkeypatch):
    """A report that cannot be written."""

    def write(given):
        raise NotExported("The report does not hold its document.", remedy="-")

    report = replace(REPORT, write=write)
    found = {name: report if name == "report" else form for name, form in forms().items()}
    monkeypatch.setattr("dpviz.figures.publish.proof.forms", lambda: found)


def test_without_a_report_nothing_is_released_or_spent(broken, tmp_path, capsys):
    from dpviz.__main__ import main

    with pytest.raises(RefusedRelease, match="No release of these columns"):
        proof_of(CODED)
    book, words = _clinic(tmp_path)
    assert main([*words, "--out", str(tmp_path / "t.json")]) == 2
    assert "No release of these columns" in capsys.readouterr().err
    assert book.releases() == ()
    assert not (tmp_path / "t.json").exists()


def test_a_form_that_cannot_hold_the_columns_is_said_before(monkeypatch):
    def write(given):
        raise NotExported("It has no place for this name.", remedy="-")

    found = {name: replace(form, write=write) if name == "svg" else form for name, form in forms().items()}
    monkeypatch.setattr("dpviz.figures.publish.proof.forms", lambda: found)
    assert proof_sentence(proof_of(CODED)).endswith("No SVG picture: It has no place for this name.")


def test_a_release_with_codes_of_missing_cells_gets_its_report(tmp_path):
    """It was released, spent, and then its report was refused."""
    from dpviz.__main__ import main

    book, words = _clinic(tmp_path)
    assert main([*words, "--out", str(tmp_path / "t.json")]) == 0
    assert len(book.releases()) == 1
    assert main(["export", str(tmp_path / "t.json"), "--to", "report", "--out", str(tmp_path / "r.html")]) == 0


def _clinic(folder):
    """A register, and the words of a release of ages of which some are 999."""
    schema = Schema((AGE,), ClassTarget("y", ("n", "p")), n_public=300)
    schema.save(folder / "s.json")
    ages = [999 if k % 9 == 0 else 20 + k % 60 for k in range(300)]
    rows = "".join(f"{age},{'np'[age > 50]}\n" for age in ages)
    (folder / "rows.csv").write_text("age,y\n" + rows, encoding="utf-8")
    register = folder / "releases.db"
    book = Register(register)
    book.declare("clinic", epsilon_cap=100.0, unit="one patient")
    dpviz.load_schema(folder / "s.json")
    words = ["train", str(folder / "rows.csv"), "--schema", str(folder / "s.json"), "--epsilon", "50", "--depth", "2"]
    return book, [*words, "--data-set", "clinic", "--add-rows", "--accept-rows", "--register", str(register)]
