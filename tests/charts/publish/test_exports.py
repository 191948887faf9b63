"""Pictures and the report as exports: checked like any other, complete in themselves, and nothing in a name is markup."""

import json
import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from dpviz.__main__ import main
from dpviz.charts.publish import report
from dpviz.charts.publish.exports import SVG, proof_of, proof_sentence, tree_of
from dpviz.charts.publish.report import SignatureLine, report_html
from dpviz.errors import RefusedRelease, UnknownName, UnsupportedError
from dpviz.io.exports.contract import ExportInput
from dpviz.io.samples import load_sample
from dpviz.learners import fit
from dpviz.models.tree import Branch
from dpviz.release.register import Register
from dpviz.results import exports
from dpviz.results.exports import forms
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.exports_models import exportable, inside, rows_of, schema_with_stand_ins


def test_every_form_is_listed_once_and_a_model_of_another_kind_has_a_report_with_its_document():
    assert list(exports.forms())[:3] == ["json", "report", "python"]
    assert {"sqlite", "duckdb", "rules", "svg"} < set(exports.forms())
    with pytest.raises(UnknownName, match=r"There is no export format called 'svgg'. Did you mean 'svg'"):
        exports.export("svgg", exportable("majority", schema_with_stand_ins()).text)
    for learner in ("jpw-forest", "logistic", "gbdt"):
        given = exportable(learner, schema_with_stand_ins())
        content = exports.export("report", given.text)
        assert json.loads(inside(content)) == given.document
        assert "it is not drawn" in content
        with pytest.raises(UnsupportedError, match="Export it as JSON"):
            exports.export("svg", given.text)


def test_pictures_and_reports_fetch_and_run_nothing():
    given = exportable("pf-tree", schema_with_stand_ins())
    content = str(SVG.write(given))
    ElementTree.fromstring(content)
    assert not re.search(r"(href|src|url\(|@import)", content)
    content = report_html(given)
    assert "default-src 'none'" in content
    assert not re.search(r"(\bhref|\bsrc=|url\(|@import|<link|<img|\bon\w+=)", content)
    assert re.findall(r"<script[^>]*>", content) == ['<script type="application/json" id="document">']
    assert "@media print" in content


def test_the_report_of_a_release_has_page_one_with_a_line_to_sign_and_says_what_is_guaranteed():
    result = fit("pf-tree", rows_of(schema_with_stand_ins()), epsilon=1.0, max_depth=2, accept_rows=True)
    content = report_html(ExportInput(result.to_json()), SignatureLine("The rows", "2026-01-31"))
    first, annexes = content.split('<h1 class="annex">Annexes</h1>')
    assert "Guaranteed: ε = 1 (add/remove one row)" in first
    # 80% of the rows grow the tree by one choice of bounded range, 20% are counted: the mean of what either lets be told apart
    assert result.risk.guesses() == pytest.approx((1 + 0.8 * math.tanh(1 / 4) + 0.2 * math.tanh(1 / 2)) / 2, abs=1e-4)
    right = math.ceil(100 * result.risk.guesses())
    assert f"row was used is right at most {right} times in 100; a coin flip, 50." in first
    assert "Any algorithm with ε = 1 (add/remove one row): at most 74 times in 100." in first
    assert re.search(r"<p class=finding>The model that predicts .* (asks about|uses) .*, and is right for .*% \(", first)
    assert "<svg" in first
    assert "The rows</span>Data set" in first
    assert "simulation" not in content.lower()
    assert "A person with several rows" in annexes
    for heading in ("How sure it is", "What may be concluded", "What may not", "Signature"):
        assert heading in first
    for words in (
        "What is promised",
        "Where the budget went",
        "What was taken as public",
        "exponential mechanism over two levels",
    ):
        assert words in annexes
        assert words not in first


def test_what_fails_is_simulated_or_read_from_rows_promises_nothing():
    content = report_html(exportable("privatree", schema_with_stand_ins()))
    assert "\ufffd" not in content  # what is not known is left out
    assert "Not guaranteed, because the claim of ε = 4 (add/remove one row) is violated" in content
    assert "Nothing. Whoever sees this model may learn anything" in content
    assert "A simulation, not a release." in content
    assert "Not covered by the guarantee:" in content
    document = json.loads(exportable("majority", schema_with_stand_ins()).text)
    bare = {key: value for key, value in document.items() if key not in ("privacy", "learner", "versions")}
    assert "Nothing. Whoever sees this model" in report_html(ExportInput(json.dumps(bare)))
    document["schema"]["features"][0]["read_from_data"] = ["low", "high"]
    content = report_html(ExportInput(json.dumps(document)))
    assert '<span class="badge read">read from the rows: low, high</span>' in content
    content = report_html(exportable("pf-tree", schema_with_stand_ins()))
    assert "It is not a release, and not for the public." in content
    assert "anyone who sees it can guess" not in content.split("Annexes")[0]
    assert "question" not in report_html(exportable("pf-forest", schema_with_stand_ins())).split("Annexes")[0]


def test_of_a_large_tree_the_first_levels_are_drawn(monkeypatch):
    numbers = fit("cart-regression", encode(*load_sample("rents")), epsilon=1.0, max_depth=8, accept_rows=True)
    assert "Only the first" in report_html(ExportInput(numbers.to_json()))
    monkeypatch.setattr(report, "MAX_DRAWING_LEAVES", 32)
    given = ExportInput(fit("cart", rows_of(schema_with_stand_ins()), epsilon=1.0, max_depth=12, seed=1).to_json())
    content, tree = report_html(given), report.drawn_tree(given)
    assert tree.n_leaves > report.MAX_DRAWING_LEAVES
    assert "<figure class=screen>" not in content
    drawn, levels = map(int, re.search(r"Only the first (\d+) levels of (\d+) are drawn here", content).groups())
    assert drawn < levels == tree.depth
    below = [int(count) for count in re.findall(r'aria-label="[^"]* (\d+) leaves below it are not drawn', content)]
    assert len(re.findall(r'class="node leaf', content)) + sum(below) == tree.n_leaves


# --- every export is tried on a tree of the same columns before anything is spent: no report is refused afterwards.


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
        raise UnsupportedError("It has no place for this name.", remedy="-")

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
