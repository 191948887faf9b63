"""The register: caps belong to names, what was spent stays spent, sums are exact. See also the model of it in `test_model.py`."""

import csv
import io
import json
import math
import sqlite3
from contextlib import closing
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.guarantee import PrivacyLoss, for_unit
from dpviz.errors import ParameterError, RefusedRelease, UnknownName
from dpviz.io.csv_text import csv_text
from dpviz.release import register as module
from dpviz.release.check import findings
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.files import key_path
from dpviz.release.records import Balance, DataSet, ReleaseRecord, State, total
from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows
from tests.support.release_rows import start as begin

start = partial(begin, name="patients", fingerprint="f1")
DECIDED = {"reason": "a second study", "made_by": "the data protection officer"}


@pytest.fixture
def register(tmp_path):
    found = Register(tmp_path / "deep" / "releases.db")
    found.declare("patients", epsilon_cap=1.0, unit="one patient")
    found.assign("f1", "patients")
    return found


def test_a_new_register_holds_what_was_declared_for_its_owners_eyes(register):
    (found,) = register.data_sets()
    assert (found.unit, found.rows_per_unit, found.epsilon_cap, found.delta_cap) == ("one patient", 1, 1.0, 0.0)
    assert (found.role, found.declared[-6:], register.releases()) == (DataRole.PRIVATE, "+00:00", ())
    assert not {path.stat().st_mode & 0o077 for path in (register.path, register.path.parent, key_path(register.path))} - {0}


def test_a_clock_that_goes_back_changes_no_order_and_no_sum(register, monkeypatch):
    for number, year in enumerate((2031, 1999, 2040, 1971)):
        monkeypatch.setattr(module, "timestamp", lambda year=year: f"{year}-01-01T00:00:00")
        start(register, f"t{number}")
        register.change_caps("patients", epsilon_cap=2.0 + number, **DECIDED)
    assert [entry.token for entry in register.releases()] == ["t0", "t1", "t2", "t3"]
    assert [change.epsilon_cap for change in register.cap_changes("patients")] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert Fraction(register.balance("patients").spent.epsilon) >= 4 * Fraction(0.1)
    assert findings(register) == ()


def test_ten_tenths_fit_into_one_and_delta_has_a_cap_too(register):
    for number in range(10):
        start(register, token=f"t{number}", epsilon=register.balance("patients").fitting(0.1))
    balance = register.balance("patients")
    assert balance.spent.epsilon == 1.0
    assert sum(Fraction(entry.loss.epsilon) for entry in balance.releases) <= 1
    for epsilon, delta in ((1e-9, 0.0), (float("inf"), 0.0), (0.0, 1e-9)):
        with pytest.raises(RefusedRelease, match=r"epsilon = 0(, delta = 0)? is left of the cap"):
            start(register, "t10", epsilon, delta)
    with pytest.raises(ParameterError):
        start(register, "t10", float("nan"))
    register.change_caps("patients", epsilon_cap=2.0, delta_cap=1e-6, **DECIDED)
    start(register, "t10", 0.1, 1e-6)
    with pytest.raises(RefusedRelease, match="is left of the cap"):
        start(register, "t11", 0.1, 1e-12)


def test_a_cap_is_raised_only_with_a_reason_and_a_name_that_stay_in_its_history(register):
    for said in ({}, {"reason": "why"}, {"made_by": "who"}, {"reason": " ", "made_by": "who"}):
        for caps in ({"epsilon_cap": 1.5}, {"epsilon_cap": 0.5, "delta_cap": 1e-9}):
            with pytest.raises(RefusedRelease, match="only with a reason and a name"):
                register.change_caps("patients", **caps, **said)
    register.change_caps("patients", epsilon_cap=1.5, **DECIDED)
    declared, raised = register.cap_changes("patients")
    assert (declared.epsilon_cap, declared.reason, declared.made_by) == (1.0, "", "")
    assert (raised.epsilon_cap, raised.reason, raised.made_by) == (1.5, DECIDED["reason"], DECIDED["made_by"])


def test_rows_with_mostly_the_same_columns_are_recognised(register):
    register.assign("f2", "patients", columns=("age", "ward", "stays"))
    for columns in (("age", "ward", "stays", "doctor"), ("age", "ward")):
        assert [found.name for found in register.alike(columns)] == ["patients"]
    for columns in (("age", "height", "weight"), ("age",), ("age", "ward", *"abcde")):  # few of one side, or of the other
        assert register.alike(columns) == ()
    register.declare("visits", epsilon_cap=1)
    register.assign("f3", "visits", columns=("age", "ward", "stays", "doctor"))
    assert [found.name for found in register.alike(("age", "ward", "stays", "doctor"))] == ["visits", "patients"]


FORGETTING = {
    "DELETE FROM release": "a release is never undone",
    "UPDATE release SET epsilon = 0": "what was spent stays spent",
    "UPDATE release SET data_set = 'others'": "what was spent stays spent",
    "DELETE FROM fingerprint": "an assignment is never undone",
    "UPDATE fingerprint SET data_set = 'others'": "an assignment is never undone",
    "UPDATE cap_change SET epsilon_cap = 9": "the history of a cap stays",
    "DELETE FROM cap_change": "the history of a cap stays",
    "DELETE FROM data_set": "a data set is never undone",
    "UPDATE release SET settings = '{}'": "what was spent stays spent",
    "UPDATE release SET digest = ''": "what was spent stays spent",
}


def test_the_file_itself_refuses_to_forget(register):
    start(register)
    with closing(sqlite3.connect(register.path)) as connection:
        for sql, reason in FORGETTING.items():
            with pytest.raises(sqlite3.IntegrityError, match=reason):
                connection.execute(sql)


def test_looks_at_private_rows_are_kept_apart_and_counted(register):
    for settings in ({"epsilon": 1.0, "depth": 3}, {"depth": 3, "epsilon": 1.0}):
        register.note_use("f1", what="tree", learner="pf-tree", settings=settings)
    register.note_use("f1", what="curves", learner="pf-tree", settings={}, times=300)
    register.note_use("stranger", what="tree", learner="pf-tree", settings={})
    found = register.uncovered_uses("f1")
    assert sorted((item.what, item.times, item.data_set) for item in found) == [
        ("curves", 300, "patients"),
        ("tree", 2, "patients"),
    ]
    assert register.balance("patients").spent.epsilon == 0.0
    register.assign("f1-reordered", "patients")
    assert len(register.uncovered_uses("f1-reordered")) == 2
    assert [(item.data_set, item.what) for item in register.uncovered_uses("stranger")] == [("", "tree")]


def test_unknown_names_are_said_with_those_there_are(register):
    with pytest.raises(UnknownName, match="Did you mean 'patients'"):
        register.balance("patient")
    start(register)
    with pytest.raises(UnknownName, match=r"no release called 'xyz'\. Known: t1"):
        register.record("xyz")


WRONG = (
    *({"epsilon_cap": cap} for cap in (0, float("inf"), float("nan"))),
    *({"delta_cap": 1.0}, {"delta_cap": -0.1}, {"rows_per_unit": 0}, {"unit": " "}),
    *({"name": name} for name in ("", "a\nb", "x" * 81, 5, None, b"q")),
    *({"role": "zzz"}, {"unit": 7}),
)


def test_what_cannot_be_declared_is_refused_and_a_token_that_could_name_another_place(register):
    for wrong in WRONG:
        with pytest.raises(ParameterError):
            register.declare(**{"name": "new", "epsilon_cap": 1} | wrong)
    for token in ("", "../x", "a b", "x" * 65):
        with pytest.raises(ParameterError):
            start(register, token=token)
    assert (len(register.data_sets()), register.releases()) == (1, ())


def test_the_path_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "mine.db"))
    assert Register().path == tmp_path / "mine.db"
    monkeypatch.delenv("DPVIZ_REGISTER")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Register().path == tmp_path / ".local" / "share" / "dpviz" / "releases.db"
    assert Register(tmp_path / "third.db").folder == tmp_path / "releases"


# --- arithmetic on losses: exact, rounded against the owner


EPSILONS = st.floats(0, 100, allow_subnormal=False)


def balance(cap: float, spent: list[float]) -> Balance:
    about = ("x", State.RELEASED, "", "", "a", {})
    entries = (ReleaseRecord(k, str(k), *about, PrivacyLoss(e), (), "", "") for k, e in enumerate(spent))
    return Balance(DataSet("x", DataRole.PRIVATE, "one row", 1, cap, 0.0, ""), tuple(entries))


@given(st.lists(EPSILONS, max_size=20))
def test_a_total_is_never_below_the_exact_sum(epsilons):
    exact = sum(map(Fraction, epsilons), Fraction(0))
    found = total(map(PrivacyLoss, epsilons)).epsilon
    assert Fraction(found) >= exact
    assert found == 0 or Fraction(math.nextafter(found, 0)) < exact


@given(st.floats(0.01, 100), st.lists(EPSILONS, max_size=10))
def test_what_is_left_fits_and_the_next_larger_number_does_not(cap, spent):
    found = balance(cap, spent)
    left = found.left.epsilon
    assert found.has_room_for(PrivacyLoss(left)) == (sum(map(Fraction, spent), Fraction(0)) <= Fraction(cap))
    assert not found.has_room_for(PrivacyLoss(math.nextafter(max(left, 0.0), math.inf))) or left == 0.0


@given(st.floats(0.01, 100), st.lists(EPSILONS, max_size=10), st.floats(1e-4, 100))
def test_rounding_never_helps_over_the_cap(cap, spent, asked):
    found = balance(cap, spent)
    fitted = found.fitting(asked)
    assert fitted == asked or (fitted < asked <= fitted * (1 + 1e-8))
    if fitted != asked:
        assert found.has_room_for(PrivacyLoss(fitted))


def test_several_rows_of_one_person_multiply_epsilon():
    assert for_unit(PrivacyLoss(0.5), 3) == PrivacyLoss(1.5)
    assert for_unit(PrivacyLoss(0.1), 1) == PrivacyLoss(0.1)
    loss = for_unit(PrivacyLoss(0.5, 1e-6), 3)
    assert loss.epsilon == 1.5
    assert loss.delta == pytest.approx(3 * math.e * 1e-6)
    assert for_unit(PrivacyLoss(100.0, 1e-6), 50).delta == 1.0


# --- as CSV and JSON: complete, without fingerprints or paths, and harmless in a spreadsheet


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
