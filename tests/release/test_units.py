"""Caps and costs are those of a person: of registers of before converted, and of a schema that says another number refused."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpviz.accounting.guarantee import PrivacyLoss, for_unit
from dpviz.errors import RefusedRelease, RegisterError
from dpviz.io.results import load_result
from dpviz.release.check import composed, findings
from dpviz.release.register import Register
from tests.support.register_files import CAPS_5, LOOK_5, LOSSES_5, changed, of_version
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows

ROWS = 3


def test_a_register_of_the_fifth_version_counts_patients_and_gives_nothing_back(tmp_path):
    register = of_version(5, tmp_path)
    assert [entry.loss for entry in register.releases("patients")] == [for_unit(loss, ROWS) for loss in LOSSES_5]
    told = [(entry.settings["epsilon"], entry.settings.get("delta", 0.0)) for entry in register.releases("patients")]
    assert told == [(for_unit(loss, ROWS).epsilon, for_unit(loss, ROWS).delta) for loss in LOSSES_5]
    balance, cap = register.balance("patients"), CAPS_5[-1]
    assert balance.data_set.epsilon_cap == ROWS * cap.epsilon
    left = [Fraction(most) - sum(map(Fraction, spent)) for most, spent in zip(*_sides(cap), strict=True)]
    of_patient = for_unit(PrivacyLoss(*map(float, left)), ROWS)
    assert balance.left.epsilon == pytest.approx(of_patient.epsilon, rel=1e-12)
    assert balance.left.epsilon <= of_patient.epsilon
    assert balance.left.delta == pytest.approx(of_patient.delta, rel=1e-9)
    assert balance.left.delta <= of_patient.delta
    assert balance.data_set.delta_cap <= for_unit(cap, ROWS).delta
    changes = register.cap_changes("patients")
    assert [change.epsilon_cap for change in changes] == [ROWS * one.epsilon for one in CAPS_5]
    assert [change.delta_cap for change in changes[:-1]] == [for_unit(one, ROWS).delta for one in CAPS_5[:-1]]
    looks = {use.data_set: use.settings for use in register.uncovered_uses()}
    assert looks == {"patients": {"epsilon": for_unit(LOOK_5, ROWS).epsilon, "max_depth": 4}, "": {"epsilon": LOOK_5.epsilon}}
    assert findings(register) == ()


def test_single_rows_and_what_the_register_is_known_by_stay_as_they_were(tmp_path):
    register = of_version(5, tmp_path)
    with closing(sqlite3.connect(register.path)) as old:
        before = dict(old.execute("SELECT token, seal FROM release")), old.execute("SELECT * FROM register").fetchall()
        rows = old.execute("SELECT * FROM release WHERE data_set = 'rows'").fetchall()
    assert (register.balance("rows").spent, register.balance("rows").data_set.cap) == (PrivacyLoss(0.4), PrivacyLoss(1.0))
    with closing(sqlite3.connect(register.path)) as new:
        assert (dict(new.execute("SELECT token, seal FROM release")), new.execute("SELECT * FROM register").fetchall()) == before
        assert new.execute("SELECT * FROM release WHERE data_set = 'rows'").fetchall() == rows
        assert new.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone()[0] >= 9
        with pytest.raises(sqlite3.IntegrityError):
            new.execute("UPDATE release SET epsilon = 0.1")


def _sides(cap: PrivacyLoss) -> tuple[tuple[float, float], tuple[list[float], list[float]]]:
    return (cap.epsilon, cap.delta), ([loss.epsilon for loss in LOSSES_5], [loss.delta for loss in LOSSES_5])


def test_what_was_spent_up_to_the_cap_stays_spent(tmp_path):
    """Not a bit of delta is left where none was, though group privacy would allow a patient more by the cap than by its parts."""
    register = of_version(5, tmp_path)
    loss, cap = LOSSES_5[1], PrivacyLoss(2.0, sum(loss.delta for loss in LOSSES_5))
    changed(register, f"UPDATE data_set SET epsilon_cap = 2.0, delta_cap = {cap.delta!r} WHERE name = 'patients'")
    asked = {"fingerprint": "table0", "learner": "pf-tree", "settings": {}, "file": Path("new.json")}
    assert register.balance("patients").left.delta == 0.0
    now = "(SELECT epsilon_cap, delta_cap FROM data_set WHERE name = 'patients')"
    changed(register, f"UPDATE cap_change SET (epsilon_cap, delta_cap) = {now} WHERE data_set = 'patients'")
    with pytest.raises(RefusedRelease, match="is left of the cap"):
        register.start("patients", token="new", loss=PrivacyLoss(0.1, loss.delta / 1e6), **asked)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE release SET epsilon = 0.01 WHERE number = 1", ["Release number 1 was changed outside dpviz."]),
        ("DELETE FROM release WHERE number > 3", ["Release number 4 is gone.", "Release number 5 is gone."]),
        ("DELETE FROM release", [f"Release number {number} is gone." for number in range(1, 6)]),
    ],
)
def test_what_was_changed_before_is_still_found(tmp_path, statement, said):
    register = of_version(5, tmp_path)
    changed(register, statement)
    assert list(findings(register)) == said


@pytest.mark.parametrize("version", range(6))
def test_a_register_that_is_said_to_be_older_than_it_is_hides_no_change(tmp_path, version):
    register = Register(tmp_path / "releases.db")
    register.declare("rows", epsilon_cap=3.0)
    about = {"fingerprint": "table", "learner": "pf-tree", "settings": {}, "file": Path("x.json")}
    register.start("rows", token="first", loss=PrivacyLoss(2.0), add_rows=True, **about)
    changed(register, "UPDATE release SET epsilon = 0.01", f"PRAGMA user_version = {version}")
    with pytest.raises(RegisterError) as problem:
        register.start("rows", token="more", loss=PrivacyLoss(1.5), **about)
    assert problem.value.code == ("damaged" if version < 4 else "changed")


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_another_number_of_rows_than_the_registers_is_refused_before_anything_is_spent(tmp_path, rows):
    register = Register(tmp_path / "releases.db")
    register.declare("rows", epsilon_cap=3.0, unit="one patient", rows_per_unit=ROWS)
    other = small_rows(schema=replace(OF_PATIENTS, rows_per_person=rows))
    with pytest.raises(RefusedRelease, match="rows_per_person = 3"):
        publish(register, other, requested(1.0), add_rows=True)
    assert register.releases() == ()


def test_a_release_books_and_prints_the_patients_epsilon(tmp_path):
    register = Register(tmp_path / "releases.db")
    register.declare("rows", epsilon_cap=2.0, unit="one patient", rows_per_unit=ROWS)
    records = [publish(register, small_rows(schema=OF_PATIENTS), requested(0.75), add_rows=True) for _ in range(2)]
    assert [record.loss for record in records] == [PrivacyLoss(0.75)] * 2
    assert register.balance("rows").left == PrivacyLoss(0.5)
    result = load_result(records[0].file)
    assert result.per_person == PrivacyLoss(0.75)
    assert result.ledger.guarantee == PrivacyLoss(0.25)
    document = json.loads(Path(records[0].file).read_text())
    assert document["promised"] == {"epsilon": 0.75, "delta": 0.0}
    assert document["learner"]["settings"]["rows_per_person"] == ROWS
    together = composed(register.releases(), ROWS)
    assert together.n_unread == 0
    assert 0.75 < together.loss.epsilon <= 1.5
    with pytest.raises(RefusedRelease) as problem:
        publish(register, small_rows(schema=OF_PATIENTS), requested(0.6))
    assert "epsilon = 0.5 is left" in str(problem.value)
    assert "one patient" in str(problem.value)
