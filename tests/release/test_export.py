"""The register as CSV and JSON: complete, without fingerprints or paths, and harmless in a spreadsheet."""

import csv
import io
import json

import pytest

from dpviz.io.csv_text import csv_text
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.register import Register
from tests.support.release_rows import publish, requested, small_rows

EVIL = '=HYPERLINK("http://x";"y")'


def register_csv(register):
    return csv_text(COLUMNS, register_lines(register))


@pytest.fixture
def register(tmp_path):
    found = Register(tmp_path / "releases.db")
    found.declare(EVIL, epsilon_cap=1.0, unit="+1 person", rows_per_unit=3)
    found.assign(small_rows().fingerprint, EVIL)
    publish(found, small_rows(), requested(0.5))
    found.note_use(small_rows().fingerprint, what="tree", learner="pf-tree", settings={"epsilon": 1.0})
    return found


def test_every_release_and_every_look_is_a_line(register):
    release, look = csv.DictReader(io.StringIO(register_csv(register), newline=""))
    assert (release["kind"], release["status"], release["epsilon"]) == ("release", "released", "0.5")
    assert release["neighbours"] == "add/remove one row"
    assert (look["kind"], look["status"], look["times"]) == ("exploration", "not covered: keep to yourself", "1")


def test_no_cell_is_a_formula(register):
    for line in csv.reader(io.StringIO(register_csv(register), newline="")):
        assert not [cell for cell in line if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert f"'{EVIL}" in {cell for line in csv.reader(io.StringIO(register_csv(register), newline="")) for cell in line}


def test_the_json_holds_caps_sums_and_releases(register):
    document = json.loads(register_json(register))
    assert document["format"] == "dpviz-releases/1"
    (data_set,) = document["data_sets"]
    assert (data_set["spent"]["epsilon"], data_set["left"]["epsilon"], data_set["epsilon_cap"]) == (0.5, 0.5, 1.0)
    assert [cap["epsilon"] for cap in data_set["caps"]] == [1.0]
    unit, row = register.data_sets()[0].protects, register.releases()[0].loss
    assert document["releases"][0]["unit_rows"] == unit.rows
    assert document["releases"][0]["unit_epsilon"] == unit.loss_of(row).epsilon
    assert data_set["spent_by_unit_epsilon"] == unit.loss_of(row).epsilon
    assert document["releases"][0]["sha256"] == register.releases()[0].sha256
    assert document["explorations"][0]["data_set"] == EVIL


@pytest.mark.parametrize("export", [register_csv, register_json])
def test_neither_fingerprint_nor_path_leaves(register, export, tmp_path):
    text = export(register)
    assert small_rows().fingerprint not in text
    assert str(tmp_path) not in text
