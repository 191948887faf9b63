"""The register as CSV and JSON: complete, without fingerprints or paths, and harmless in a spreadsheet."""

import csv
import io
import json

from dpviz.io.csv_text import csv_text
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.register import Register
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows

EVIL = '=HYPERLINK("http://x";"y")'


def test_every_release_and_look_is_there_without_fingerprints_and_paths_and_no_cell_is_a_formula(tmp_path):
    register = Register(tmp_path / "releases.db")
    register.declare(EVIL, epsilon_cap=1.0, unit="+1 person", rows_per_unit=3)
    rows = small_rows(schema=OF_PATIENTS)
    register.assign(rows.identity, EVIL)
    entry = publish(register, rows, requested(0.5))
    register.note_use(rows.identity, what="tree", learner="pf-tree", settings={"epsilon": 1.0})
    lines, whole = csv_text(COLUMNS, register_lines(register)), register_json(register)
    for text in (lines, whole):
        assert rows.identity not in text
        assert str(tmp_path) not in text
    release, look = csv.DictReader(io.StringIO(lines, newline=""))
    assert (release["kind"], release["status"], release["epsilon"]) == ("release", "released", "0.5")
    assert release["neighbours"] == "add/remove +1 person, up to 3 rows"
    assert (look["kind"], look["status"], look["times"]) == ("exploration", "not covered: keep to yourself", "1")
    cells = [cell for line in csv.reader(io.StringIO(lines, newline="")) for cell in line]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert f"'{EVIL}" in cells
    document = json.loads(whole)
    assert document["format"] == "dpviz-releases/2"
    (data_set,), (told,) = document["data_sets"], document["releases"]
    assert (data_set["spent"]["epsilon"], data_set["left"]["epsilon"], data_set["epsilon_cap"]) == (0.5, 0.5, 1.0)
    assert [cap["epsilon"] for cap in data_set["caps"]] == [1.0]
    assert (told["unit_rows"], told["epsilon"], told["sha256"]) == (3, 0.5, entry.sha256)
    assert document["explorations"][0]["data_set"] == EVIL
