"""The file: foreign, newer, damaged and locked ones are refused in words; old ones are converted, to numbers of a person."""

import hashlib
import json
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpviz.accounting.guarantee import PrivacyLoss, for_unit
from dpviz.errors import RefusedRelease, RegisterError
from dpviz.io.results import load_result
from dpviz.release import store
from dpviz.release.check import Place, compose_releases, findings, match_file, reference_in, resume
from dpviz.release.files import key_path, make_key, read_key
from dpviz.release.register import Register
from tests.support.register_files import CAPS_5, LOOK_5, LOSSES_5, changed, of_version
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows, start


def refused(path):
    with pytest.raises(RegisterError) as problem:
        Register(path).data_sets()
    assert str(path) in str(problem.value)
    return problem.value


def of_another_program(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.commit()


def of_a_newer_version(path):
    Register(path).data_sets()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version = {store.VERSION + 1}")


NO_REGISTER = {
    "a diary": ("foreign", lambda path: path.write_text("dear diary, " * 100)),
    "a letter": ("foreign", lambda path: path.write_bytes(b"x")),
    "a head of SQLite": ("foreign", lambda path: path.write_bytes(b"SQLite format 3\0")),
    "zeros": ("foreign", lambda path: path.write_bytes(b"\0" * 511)),
    "another program's": ("foreign", of_another_program),
    "a newer one": ("newer", of_a_newer_version),
    "a folder": ("unreadable", Path.mkdir),
}


@pytest.mark.parametrize("what", NO_REGISTER)
def test_what_is_no_register_of_this_version_is_refused_and_stays_as_it_is(tmp_path, what):
    path, (code, make) = tmp_path / "releases.db", NO_REGISTER[what]
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    assert refused(path).code == code
    if path.is_file():
        assert path.read_bytes() == before
        assert refused(path / "below" / "releases.db").code == "unreadable"


@pytest.mark.parametrize("how", ["removed", "emptied", "emptied with a chain"])
def test_a_register_that_was_removed_or_emptied_does_not_begin_anew(tmp_path, how):
    path = tmp_path / "releases.db"
    if how == "emptied with a chain":
        of_version(3, tmp_path)
    else:
        Register(path).declare("rows", epsilon_cap=1)
        for end in ("", "-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
    if how != "removed":
        path.write_bytes(b"")
        path.chmod(0o600)
    with pytest.raises(RegisterError) as problem:
        Register(path).declare("rows", epsilon_cap=9)
    assert problem.value.code == "behind"
    assert findings(Register(path)) == ("The latest entry is missing: the register was truncated, or is an old copy.",)


def overwritten(path):
    content = bytearray(path.read_bytes())
    content[200 : len(content)] = b"\xff" * (len(content) - 200)
    path.write_bytes(bytes(content))


def nonsense(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE data_set SET role = 'nonsense'")
        other.commit()


@pytest.mark.parametrize("spoil", [overwritten, nonsense])
def test_a_damaged_file_is_said_to_be_damaged(tmp_path, spoil):
    Register(tmp_path / "releases.db").declare("rows", epsilon_cap=1)
    spoil(tmp_path / "releases.db")
    problem = refused(tmp_path / "releases.db")
    assert problem.code == "damaged"
    assert "what was spent stays spent" in problem.remedy


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o640, 0o602])
@pytest.mark.parametrize("which", ["the register", "its key", "an empty file"])
def test_what_others_may_read_or_write_is_refused_and_left_as_it_is(tmp_path, mode, which):
    path = tmp_path / "releases.db"
    if which == "an empty file":
        path.touch()
    else:
        Register(path).declare("rows", epsilon_cap=1)
    open_one = key_path(path) if which == "its key" else path
    open_one.chmod(mode)
    before = path.read_bytes()
    problem = refused(path)
    assert (problem.code, "chmod 600" in problem.remedy) == ("open", True)
    assert (open_one.stat().st_mode & 0o777, path.read_bytes()) == (mode, before)
    open_one.chmod(0o600)
    assert len(Register(path).data_sets()) == (which != "an empty file")


@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_is_half_done(tmp_path, monkeypatch):
    register = Register(tmp_path / "releases.db")
    register.declare("rows", epsilon_cap=1)

    def nearly_full(path, real=store._connection):
        connection = real(path)
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
        return connection

    monkeypatch.setattr(store, "_connection", nearly_full)
    declared = ["rows"]

    def declare_many():
        for number in range(1000):
            register.declare(f"rows {number}", epsilon_cap=1, unit="x" * 80)
            declared.append(f"rows {number}")

    with pytest.raises(RegisterError) as problem:
        declare_many()
    assert (problem.value.code, problem.value.what) == ("full", "There is no space left for the release register.")
    monkeypatch.undo()
    assert {found.name for found in register.data_sets()} == set(declared)
    assert findings(register) == ()


def test_a_register_somebody_else_holds_is_locked(tmp_path, monkeypatch):
    path = tmp_path / "releases.db"
    Register(path).data_sets()
    monkeypatch.setattr(store, "PATIENCE", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert Register(path).data_sets() == ()  # readers do not wait for the writer
        with pytest.raises(RegisterError) as problem:
            Register(path).declare("rows", epsilon_cap=1)
        other.execute("ROLLBACK")
    assert problem.value.code == "locked"


def test_a_register_of_the_first_version_opens_with_all_it_has_spent_and_without_its_plain_fingerprints(tmp_path):
    register, plain = of_version(1, tmp_path), hashlib.sha256(b"clinic").hexdigest()
    assert plain.encode() in register.path.read_bytes()
    spent = [(entry.number, entry.data_set, entry.status, entry.learner, entry.loss) for entry in register.releases()]
    assert spent == [
        (1, "survey", "released", "pf-tree", for_unit(PrivacyLoss(0.1), 3)),
        (2, "survey", "released", "s-gbdt", for_unit(PrivacyLoss(0.3, 5e-8), 3)),
        (3, "survey", "interrupted, counted", "pf-tree", for_unit(PrivacyLoss(0.2), 3)),
        (4, "clinic", "released", "pf-forest", PrivacyLoss(0.25)),
    ]
    assert register.releases()[0].settings == {"epsilon": for_unit(PrivacyLoss(0.1), 3).epsilon, "max_depth": 4}
    assert register.balance("survey").spent.epsilon == pytest.approx(1.8, rel=1e-12)
    assert register.balance("clinic").left == PrivacyLoss(0.25)
    survey = register.data_set("survey")
    assert (survey.unit, survey.rows_per_unit, survey.epsilon_cap, survey.delta_cap) == (
        *("one household", 3, 3.0),
        pytest.approx(5e-8 * 3 * math.exp(0.6) + (1e-6 - 5e-8) * 3 * math.exp(0.8)),  # spent, and left beside an epsilon of 0.4
    )
    assert [change.epsilon_cap for change in register.cap_changes("clinic")] == [0.3, 0.5]
    looks = [(item.data_set, item.settings["epsilon"], item.times) for item in register.uncovered_uses()]
    assert looks == [("", 1.0, 1), ("survey", 3.0, 7)]
    assert register.data_set_of(plain).name == "clinic"
    held = [path.name for path in tmp_path.iterdir() if path.is_file()]
    assert "releases.db" in held
    assert not [name for name in held if plain.encode() in (tmp_path / name).read_bytes()]
    with pytest.raises(RefusedRelease, match=r"epsilon = 0\.25 is left of the cap"):
        start(register, "new", 0.3, name="clinic", fingerprint=plain)
    assert start(register, "new", 0.25, name="clinic", fingerprint=plain).number == 5
    assert findings(register) == ()


@pytest.mark.parametrize("version", [3, 5])
def test_an_old_register_without_its_key_stays_as_it_is_until_that_is_put_back(tmp_path, version):
    register = of_version(version, tmp_path)
    key = key_path(register.path)
    kept = key.read_bytes()
    key.unlink()
    assert refused(register.path).code == "key"
    assert not key.exists()
    with closing(sqlite3.connect(register.path)) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (version,)
    key.write_bytes(kept)
    key.chmod(0o600)
    assert len(register.data_sets()) == 2 - (version == 3)
    assert findings(register) == ()


def test_a_register_without_its_key_or_with_another_one_is_refused(tmp_path):
    path = tmp_path / "releases.db"
    Register(path).declare("rows", epsilon_cap=1)
    assert key_path(path).stat().st_mode & 0o077 == 0
    kept = key_path(path).read_text()
    key_path(path).unlink()
    assert refused(path).code == "key"
    assert not key_path(path).exists()
    make_key(path)
    assert refused(path).code == "key"
    key_path(path).write_text(kept)
    assert [found.name for found in Register(path).data_sets()] == ["rows"]


def test_a_register_with_a_chain_keeps_what_it_holds_and_gets_a_counter(tmp_path):
    register, file = of_version(3, tmp_path), tmp_path / "released.json"
    assert register.balance("survey").spent == PrivacyLoss(0.75)  # a household has three rows
    assert register.reference_of("abc") == reference_in(file)
    assert findings(register, files=[file]) == ()
    assert match_file(register, file.read_bytes()).place is Place.AS_RELEASED
    assert not (tmp_path / "releases.db.head").exists()
    assert read_key(register.path)[1] == 13
    assert start(register, "new", 2.25, name="survey").number == 2
    assert findings(register, files=[file]) == ()
    with closing(sqlite3.connect(register.path)) as other:
        assert not other.execute("SELECT name FROM sqlite_master WHERE name = 'entry' OR name LIKE '%is_an_entry'").fetchall()


@pytest.mark.parametrize("head", ["", "0" * 64])
def test_an_old_copy_of_a_register_with_a_chain_stays_one(tmp_path, head):
    register = of_version(3, tmp_path, head)
    assert register.balance("survey").spent == PrivacyLoss(0.75)
    with pytest.raises(RegisterError) as problem:
        register.declare("more", epsilon_cap=1)
    assert problem.value.code == "behind"
    resume(register, reason="the disk broke", made_by="the board")
    assert register.balance("survey").left.epsilon == 0.0
    assert register.declare("more", epsilon_cap=1).name == "more"


def test_a_register_of_the_fourth_version_keeps_all_it_has(tmp_path):
    """It had no texts of files: a whole part that a crash left is still put in its place."""
    register = Register(tmp_path / "releases.db")
    register.declare("rows", epsilon_cap=1)
    register.assign(small_rows().identity, "rows")
    release, target = publish(register, small_rows(), requested(0.25)), tmp_path / "late.json"
    for token, path in (("late", target), ("lost", tmp_path / "lost.json")):
        start(register, token, 0.25, file=path)
        register.keep_text(token, "whole")
    before, counter = register.releases(), read_key(register.path)[1]
    with closing(sqlite3.connect(register.path)) as old:
        old.execute("ALTER TABLE release DROP COLUMN text")
        old.execute("PRAGMA user_version = 4")
    (tmp_path / ".dpviz-late.part").write_text("whole")
    again = Register(register.path)
    assert (again.releases(), read_key(register.path)[1]) == (before, counter)
    assert [entry.token for entry in again.recover_interrupted()] == ["late"]
    assert (target.read_text(), (tmp_path / "lost.json").exists()) == ("whole", False)
    assert publish(again, small_rows(), requested(0.5), token=release.token) == release
    assert again.balance("rows").left.epsilon == 0.25
    assert findings(again) == ()


# --- caps and costs of a person: of registers of before converted, of a schema that says another number refused

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
    assert register.balance("patients").left.delta == 0.0
    now = "(SELECT epsilon_cap, delta_cap FROM data_set WHERE name = 'patients')"
    changed(register, f"UPDATE cap_change SET (epsilon_cap, delta_cap) = {now} WHERE data_set = 'patients'")
    with pytest.raises(RefusedRelease, match="is left of the cap"):
        start(register, "new", 0.1, loss.delta / 1e6, name="patients", fingerprint="table0")


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
    start(register, "first", 2.0, add_rows=True)
    changed(register, "UPDATE release SET epsilon = 0.01", f"PRAGMA user_version = {version}")
    with pytest.raises(RegisterError) as problem:
        start(register, "more", 1.5)
    assert problem.value.code == ("damaged" if version < 4 else "changed")


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_another_number_of_rows_than_the_registers_is_refused_before_anything_is_spent(tmp_path, rows):
    register = Register(tmp_path / "releases.db")
    register.declare("rows", epsilon_cap=3.0, unit="one patient", rows_per_unit=ROWS)
    other = small_rows(schema=replace(OF_PATIENTS, rows_per_person=rows))
    with pytest.raises(RefusedRelease, match="rows_per_person = 3"):
        publish(register, other, requested(1.0), add_rows=True)
    assert register.releases() == ()


@pytest.mark.slow
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
    together = compose_releases(register.releases(), ROWS)
    assert together.n_unread == 0
    assert 0.75 < together.loss.epsilon <= 1.5
    with pytest.raises(RefusedRelease) as problem:
        publish(register, small_rows(schema=OF_PATIENTS), requested(0.6))
    assert "epsilon = 0.5 is left" in str(problem.value)
    assert "one patient" in str(problem.value)
