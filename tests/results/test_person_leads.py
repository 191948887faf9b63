"""Where a patient has up to three rows, every surface says the patient's epsilon, and no row's.

A release at epsilon = 3 spends 1 of every row: 88 right guesses of 100 about the patient by the steps of this tree, where
epsilon = 3 alone allows 95, and not the 73 of one row. What a row pays stands in the tables of a ledger alone.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import dpviz
from dpviz.app.explorations import CONSENT
from dpviz.charts.publish.report import report_html
from dpviz.io.exports.contract import ExportInput
from dpviz.io.results import result_from_json
from dpviz.release.register import Register
from dpviz.results.exports import export, export_names
from dpviz.results.verdict import Unit
from dpviz.table.role import DataRole
from tests.support.pages import after_work, button, in_use, open_page, page_text, records, release_tree
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows

NAME = "stays"
#: The patient's numbers, in any spelling.
OF_PATIENT = re.compile(r"(?:ε|epsilon) = 3\b|\b88 (?:times in|of) 100|at most 87\.8|\"epsilon\": 3\.0|epsilon: 3\.0")
#: The row's.
OF_ROW = re.compile(r"(?:ε|epsilon) = 1\b(?![.,]\d)|\b7(?:4|3\.2) (?:times in|of) 100|at most 73\.2")


def leads(said: str) -> None:
    """The patient's number is said, and no row's."""
    assert OF_PATIENT.search(said), said[:3000]
    alone = OF_ROW.search(said)
    assert alone is None, said[max(0, alone.start() - 300) : alone.end() + 300]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A register with one release of rows of which a patient has up to three."""
    register = Register(tmp_path_factory.mktemp("person") / "releases.db")
    register.declare(NAME, epsilon_cap=6.0, unit="one patient", rows_per_unit=3)
    rows = small_rows(schema=OF_PATIENTS)
    register.assign(rows.identity, NAME)
    publish(register, rows, requested(3.0))
    return register


@pytest.fixture(scope="module")
def document(book):
    return Path(book.releases()[0].file).read_text(encoding="utf-8")


def test_the_document_says_whom_it_protects(document):
    person = json.loads(document)["privacy"]["per_person"]
    assert person == {"rows": 3, "epsilon": 3.0, "delta": 0.0, "unit": "one patient", "bounded": False}
    assert result_from_json(document).unit == Unit(3, "one patient")


@pytest.mark.parametrize("name", [name for name in export_names() if name != "json"])
def test_every_export_leads_with_the_patient(document, name):
    leads(export(name, document).replace(json.dumps(json.loads(document), ensure_ascii=True), ""))


def test_page_one_of_the_report_leads_with_the_patient(document):
    page_one, annex = report_html(ExportInput(document)).split('<h1 class="annex">')
    leads(page_one)
    leads(annex.split('<script type="application/json"')[0])


def test_the_register_says_it_for_a_file_of_before_that_does_not(document):
    older = json.loads(document)
    del older["privacy"]["per_person"], older["learner"]["settings"]["rows_per_person"]
    older["learner"]["settings"]["epsilon"] = 1.0
    text = json.dumps(older)
    assert "88 times in 100" not in report_html(ExportInput(text))
    leads(report_html(ExportInput(text, Unit(3, "one patient"))).split('<h1 class="annex">')[0])


def of_patients(role: DataRole):
    """Rows of which a patient has up to three, as the owner's word."""
    now = in_use(role)
    schema = replace(now.schema, rows_per_person=3)
    return replace(now, schema=schema, data=replace(now.data, schema=schema))


@pytest.mark.slow
@pytest.mark.parametrize("agreed", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_page_about_a_tree_leads_with_the_patient(monkeypatch, tmp_path, agreed):
    """Also while rows simulated from the schema stand in for private ones."""
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    book = Register()
    book.declare(NAME, epsilon_cap=6.0, unit="one patient", rows_per_unit=3)
    rows = of_patients(DataRole.PRIVATE)
    book.assign(rows.data.identity, NAME)
    test = after_work(open_page("tree", DataRole.PRIVATE, rows=rows, agreed=agreed, epsilon="3"), "tree")
    assert (CONSENT in test.session_state) == agreed
    boxes = [element.value for kind in (test.success, test.info, test.warning, test.error) for element in kind]
    (said,) = [text.replace("\\", "") for text in boxes if "PF-tree" in text]
    leads(said)
    leads(page_text(test))


@pytest.mark.slow
def test_publish_and_register_lead_with_the_patient(monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    book, rows = Register(), of_patients(DataRole.PRIVATE)
    asked = open_page("publish", DataRole.PRIVATE, rows=rows).number_input
    assert "Cap on ε (add/remove one person, up to 3 rows)" in [box.label for box in asked]
    book.declare(NAME, epsilon_cap=15.0, unit="one patient", rows_per_unit=3)
    book.assign(rows.data.identity, NAME)
    test = open_page("publish", DataRole.PRIVATE, rows=rows, epsilon="3")
    leads(page_text(test))
    assert "poisoned" not in page_text(test)
    promised = records(test, "Right guesses by this release alone")
    assert promised
    assert not any("poison" in line["what is promised"] for line in promised)
    leads(test.checkbox(key="publish-agreed").label.replace("\\", ""))
    test = release_tree(test)
    leads(page_text(test))
    button(test, "Release another one").click().run()
    leads(page_text(test))
    register = open_page("publish", DataRole.PRIVATE, rows=rows, **{"publish-view": "Register"})
    leads(page_text(register))
    leads(" ".join(register.selectbox(key="publish-file").options))
    (release,) = records(register, "Every release of")
    named = [name for name in release if "ε" in name or "total" in name]
    assert len(named) >= 2
    assert all("one patient" in one for one in named)


def test_an_opened_model_leads_with_the_patient(document):
    test = open_page("publish", **{"publish-view": "Check a file"})
    test.file_uploader[0].set_value(("release.json", document.encode(), "application/json")).run()
    assert "Guaranteed: ε = 3 (add/remove one patient, up to 3 rows)" in page_text(test)
    leads(page_text(test))


def test_commands_lead_with_the_patient(book, document, tmp_path, capsys):
    from dpviz.__main__ import main

    assert main(["register", "list", "--register", str(book.path)]) == 0
    leads(capsys.readouterr().out)
    rows = tmp_path / "rows.csv"
    rows.write_text("who,age,y\n" + "".join(f"{k // 3},{k % 10},{'np'[k % 10 > 4]}\n" for k in range(60)), encoding="utf-8")
    schema = dpviz.Schema((dpviz.NumericFeature("age", 0, 10),), dpviz.ClassTarget("y", ("n", "p")), n_public=60)
    schema.save(tmp_path / "s.json")
    asked = ["train", str(rows), "--schema", str(tmp_path / "s.json"), "--epsilon", "3", "--person", "who"]
    assert main([*asked, "--rows-per-person", "3", "--accept-rows", "--out", str(tmp_path / "t.json")]) == 0
    leads(capsys.readouterr().out)
