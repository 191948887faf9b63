"""Where a patient has up to three rows, what it means for the patient leads on every surface, and the row's number is second.

A release at epsilon = 1 per row costs the patient 3: 88 right guesses of 100 by the steps of this tree, where epsilon = 3 alone
allows 95, and not the 73 of one row.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import dpviz
from dpviz.app.explorations import AGREED
from dpviz.charts.publish.report import report_html
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import result_from_json
from dpviz.release.register import Register
from dpviz.results.exports import export, export_names
from dpviz.results.verdict import Unit
from dpviz.table.role import DataRole
from tests.support.pages import after_work, button, in_use, opened, records, released, shown
from tests.support.release_rows import publish, requested, small_rows

NAME = "stays"
#: The patient's numbers, in any spelling.
OF_PATIENT = re.compile(r"(?:ε|epsilon) = 3\b|\b88 (?:times in|of) 100|at most 87\.8|\"epsilon\": 3\.0|epsilon: 3\.0")
#: The row's, wherever it is said whose it is.
SECOND = re.compile(
    r"(?:; )?\(?one row: (?:ε|epsilon) = [\d.]+(?:, (?:δ|delta) = [-\de.]+)?\)?"
    r"|\(one row: (?:\d+|[\d.]+ of [\d.]+)\)|one row: 74 of 100 at ε = 1"
)
OF_ROW = re.compile(r"(?:ε|epsilon) = 1\b(?![.,]\d)|\b7(?:4|3\.2) (?:times in|of) 100|at most 73\.2")


def leads(said: str) -> None:
    """The patient's number is said, before any of the row's, and no row's number stands alone."""
    assert OF_PATIENT.search(said), said[:3000]
    alone = OF_ROW.search(SECOND.sub("", said))
    assert alone is None, said[max(0, alone.start() - 300) : alone.end() + 300]
    first = OF_ROW.search(said)
    assert first is None or OF_PATIENT.search(said).start() < first.start()


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A register with one release of rows of which a patient has up to three."""
    register = Register(tmp_path_factory.mktemp("person") / "releases.db")
    register.declare(NAME, epsilon_cap=2.0, unit="one patient", rows_per_unit=3)
    rows = small_rows()
    register.assign(rows.identity, NAME)
    publish(register, rows, requested(1.0))
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
    leads(str(export(name, document).content).replace(json.dumps(json.loads(document), ensure_ascii=True), ""))


def test_page_one_of_the_report_leads_with_the_patient(document):
    page_one, annex = report_html(Exportable(document)).split('<h1 class="annex">')
    leads(page_one)
    leads(annex.split('<script type="application/json"')[0])


def test_the_register_says_it_for_a_file_that_does_not(document):
    older = json.loads(document)
    del older["privacy"]["per_person"]
    text = json.dumps(older)
    assert "88 times in 100" not in report_html(Exportable(text))
    leads(report_html(Exportable(text, Unit(3, "one patient"))).split('<h1 class="annex">')[0])


def without_rules(test) -> str:
    """What the page says, but not the list of a plan's rules, which are about single rows."""
    return "\n".join(line for line in shown(test).split("\n") if not line.startswith("- "))


@pytest.mark.parametrize("agreed", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_page_about_a_tree_leads_with_the_patient(monkeypatch, tmp_path, agreed):
    """Also while rows simulated from the schema stand in for private ones."""
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    book = Register()
    book.declare(NAME, epsilon_cap=2.0, unit="one patient", rows_per_unit=3)
    book.assign(in_use(DataRole.PRIVATE).data.identity, NAME)
    test = after_work(opened("tree", DataRole.PRIVATE, agreed=agreed, epsilon="1"), "tree")
    assert (AGREED in test.session_state) == agreed
    boxes = [element.value for kind in (test.success, test.info, test.warning, test.error) for element in kind]
    (said,) = [text.replace("\\", "") for text in boxes if "PF-tree" in text]
    leads(said)
    leads(without_rules(test))


@pytest.mark.slow
def test_a_tree_of_rows_bound_to_persons_leads_with_the_person(monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    now = in_use(DataRole.SIMULATED)
    schema = replace(now.schema, rows_per_person=3)
    bound = replace(now, schema=schema, data=replace(now.data, schema=schema, rows_per_person=3))
    leads(without_rules(after_work(opened("tree", rows=bound, epsilon="1"), "tree")))


@pytest.mark.slow
def test_publish_and_register_lead_with_the_patient(monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    book = Register()
    book.declare(NAME, epsilon_cap=5.0, unit="one patient", rows_per_unit=3)
    book.assign(in_use(DataRole.PRIVATE).data.identity, NAME)
    test = opened("publish", DataRole.PRIVATE, epsilon="1")
    leads(shown(test))
    assert "poisoned" not in shown(test)
    promised = records(test, "Right guesses by this release alone")
    assert promised
    assert not any("poison" in line["what is promised"] for line in promised)
    leads(test.checkbox(key="publish-agreed").label.replace("\\", ""))
    test = released(test)
    leads(shown(test))
    button(test, "Release another one").click().run()
    leads(shown(test))
    register = opened("publish", DataRole.PRIVATE, **{"publish-view": "Register"})
    leads(shown(register))
    leads(" ".join(register.selectbox(key="publish-file").options))
    (release,) = records(register, "Every release of")
    named = [name for name in release if "ε" in name or "total" in name]
    assert len(named) >= 4
    assert all("one patient" in one and "one row" in other for one, other in zip(named[::2], named[1::2], strict=True))


def test_an_opened_model_leads_with_the_patient(document):
    test = opened("publish", **{"publish-view": "Check a file"})
    test.file_uploader[0].set_value(("release.json", document.encode(), "application/json")).run()
    assert "Guaranteed: ε = 3 (add/remove one patient, up to 3 rows; one row: ε = 1)" in shown(test)
    leads(shown(test))


def test_commands_lead_with_the_patient(book, document, tmp_path, capsys):
    from dpviz.__main__ import main

    assert main(["register", "list", "--register", str(book.path)]) == 0
    leads(capsys.readouterr().out)
    rows = tmp_path / "rows.csv"
    rows.write_text("who,age,y\n" + "".join(f"{k // 3},{k % 10},{'np'[k % 10 > 4]}\n" for k in range(60)), encoding="utf-8")
    schema = dpviz.Schema((dpviz.NumericFeature("age", 0, 10),), dpviz.ClassTarget("y", ("n", "p")), n_public=60)
    schema.save(tmp_path / "s.json")
    asked = ["train", str(rows), "--schema", str(tmp_path / "s.json"), "--epsilon", "1", "--person", "who"]
    assert main([*asked, "--rows-per-person", "3", "--accept-rows", "--out", str(tmp_path / "t.json")]) == 0
    leads(capsys.readouterr().out)
