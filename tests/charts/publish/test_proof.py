"""Every export is tried on a tree of the same columns before anything is spent: no report is refused afterwards."""

from dataclasses import replace

import pytest

from dpviz.__main__ import main
from dpviz.charts.publish.exports import proof_of, proof_sentence, tree_of
from dpviz.errors import NotExported, RefusedRelease
from dpviz.models.tree import Branch
from dpviz.release.register import Register
from dpviz.results.exports import forms
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

AGE = NumericFeature("age", 0, 120, missing_as=0, missing_codes=("999", "k.A."))
TOWN = CategoricalFeature("town", ("a", "b", "c"), missing_as="b", unknown_as="c", missing_codes=("-",))
CAME = DateFeature("came", 0.0, 400.0, part="days", since="2020-01-01")
CODED = Schema((AGE, TOWN, CAME), ClassTarget("y", ("n", "p")), n_public=300)


@pytest.mark.parametrize("target", [CODED.target, NumericTarget("y", 0.0, 9.0)])
def test_every_form_predicts_as_the_tree_does_with_codes_dates_and_unknown_categories(target):
    proof = proof_of(replace(CODED, target=target))
    assert proof.missing == {}
    assert "Report for a board" in proof.formats
    assert f"{len(proof.formats)} export formats" in proof_sentence(proof)
    asked = {placed.node.rule.feature for placed in tree_of(CODED).nodes() if isinstance(placed.node, Branch)}
    assert asked == {0, 1, 2}


@pytest.fixture
def broken(monkeypatch):
    """Makes one form one that cannot be written."""

    def refuse(given):
        raise NotExported("It has no place for this name.", remedy="-")

    def break_form(name):
        found = {one: replace(form, write=refuse) if one == name else form for one, form in forms().items()}
        monkeypatch.setattr("dpviz.charts.publish.exports.forms", lambda: found)

    return break_form


def test_without_a_report_nothing_is_released_or_spent_and_with_codes_of_missing_cells_it_is_written(broken, tmp_path, capsys):
    schema = Schema((AGE,), ClassTarget("y", ("n", "p")), n_public=300)
    schema.save(tmp_path / "s.json")
    ages = [999 if k % 9 == 0 else 20 + k % 60 for k in range(300)]
    rows = "".join(f"{age},{'np'[age > 50]}\n" for age in ages)
    (tmp_path / "rows.csv").write_text("age,y\n" + rows, encoding="utf-8")
    book, tree = Register(tmp_path / "releases.db"), tmp_path / "t.json"
    book.declare("clinic", epsilon_cap=100.0, unit="one patient")
    words = ["train", str(tmp_path / "rows.csv"), "--schema", str(tmp_path / "s.json"), "--epsilon", "50", "--depth", "2"]
    words += ["--data-set", "clinic", "--add-rows", "--accept-rows", "--register", str(book.path), "--out", str(tree)]
    broken("report")
    with pytest.raises(RefusedRelease, match="No release of these columns"):
        proof_of(CODED)
    assert main(words) == 2
    assert "No release of these columns" in capsys.readouterr().err
    assert book.releases() == ()
    assert not tree.exists()
    broken("svg")
    assert proof_sentence(proof_of(CODED)).endswith("No SVG picture: It has no place for this name.")
    assert main(words) == 0
    assert len(book.releases()) == 1
    assert main(["export", str(tree), "--to", "report", "--out", str(tmp_path / "r.html")]) == 0
