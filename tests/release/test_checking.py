"""A register that was changed, truncated, reordered, or put back from an old copy is found, and gives nothing back."""

import os
import shutil
from pathlib import Path

import pytest

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import ParameterError, RefusedRelease, RegisterError
from dpviz.release import files, store
from dpviz.release.check import findings, reference_in, resume
from dpviz.release.register import Register
from tests.support.register_files import changed, copied, put_back
from tests.support.release_rows import publish, requested, small_rows, start

DECIDED = {"reason": "the disk broke", "made_by": "the data protection officer"}


@pytest.fixture
def register(tmp_path):
    found = Register(tmp_path / "releases.db")
    found.declare("rows", epsilon_cap=1.0)
    found.assign(small_rows().fingerprint, "rows")
    publish(found, small_rows(), requested(0.25))
    found.note_use(small_rows().fingerprint, what="tree", learner="pf-tree", settings={})
    return found


CHANGES = {
    "UPDATE release SET epsilon = 0.01": "Release number 1 was changed outside dpviz.",
    "UPDATE release SET delta = 0.01": "Release number 1 was changed outside dpviz.",
    "UPDATE release SET settings = '{}'": "Release number 1 was changed outside dpviz.",
    "UPDATE release SET token = 'another'": "Release number 1 was changed outside dpviz.",
    "UPDATE release SET digest = 'another'": "Release number 1 was changed outside dpviz.",
    "DELETE FROM release": "Release number 1 is gone.",
    "UPDATE data_set SET epsilon_cap = 50": "The cap of 'rows' was changed without a record of it.",
    "UPDATE register SET counter = 1": "The latest entry is missing: the register was truncated, or is an old copy.",
}


@pytest.mark.slow
@pytest.mark.parametrize("statement", CHANGES)
def test_what_was_changed_is_found_and_nothing_is_spent_from_it(register, statement):
    assert findings(register) == ()
    changed(register, statement)
    assert any(line.startswith(CHANGES[statement]) for line in findings(register)), findings(register)
    with pytest.raises(RegisterError) as problem:
        start(register, "more")
    assert problem.value.code == ("behind" if "counter" in statement else "changed")


def test_a_released_file_prints_its_digest_and_one_that_was_changed_is_found(register, tmp_path, monkeypatch):
    """A file of another register in the folder is none of its business, and a pipe there is not waited for."""
    other = Register(tmp_path / "other.db")
    other.declare("rows", epsilon_cap=1.0)
    other.assign(small_rows().fingerprint, "rows")
    publish(other, small_rows(), requested(0.25))
    os.mkfifo(register.folder / "pipe.json")
    assert findings(register) == findings(other) == ()
    (entry,) = register.releases()
    file, said = Path(entry.file), (f"The released file {Path(entry.file).name} was changed.",)
    assert reference_in(file) == register.reference_of(entry.token)
    assert len(reference_in(file).head) == 64
    file.write_text(file.read_text() + " ")
    assert findings(register) == said
    monkeypatch.setattr(files, "_MAX_FILE_BYTES", file.stat().st_size - 1)
    assert reference_in(file) is None  # no release is as large
    file.unlink()
    os.mkfifo(file)
    assert findings(register) == said


def test_a_register_from_which_the_last_release_was_taken_is_found_by_the_counter_and_by_its_file(register, tmp_path):
    copy = copied(register, tmp_path)
    entry = publish(register, small_rows(), requested(0.25))
    put_back(copy, register)
    name = Path(entry.file).name
    said = (
        "The latest entry is missing: the register was truncated, or is an old copy.",
        f"The release {name} is not in the register: it was truncated, or is an old copy.",
    )
    assert findings(register) == said
    key, _ = files.key_path(register.path).read_text().split()
    files.key_path(register.path).write_text(f"{key}\n1\n")  # an old copy of the key, too
    assert findings(register) == said[1:]
    shutil.move(entry.file, register.path.with_name("elsewhere.json"))
    assert findings(register) == ()  # nothing here tells; the file does
    assert len(findings(register, files=[register.path.with_name("elsewhere.json")])) == 1


@pytest.mark.slow
def test_an_old_copy_refunds_nothing(register, tmp_path):
    copy = copied(register, tmp_path)
    publish(register, small_rows(), requested(0.5))
    put_back(copy, register)
    assert register.balance("rows").left.epsilon == 0.75
    with pytest.raises(RegisterError) as problem:
        start(register, "again")
    assert problem.value.code == "behind"
    resume(register, **DECIDED)
    assert findings(register) == ()
    assert register.balance("rows").left.epsilon == 0.0
    with pytest.raises(RefusedRelease, match="is left of the cap"):
        start(register, "again", 1e-6)
    register.change_caps("rows", epsilon_cap=1.5, **DECIDED)
    assert start(register, "again", 0.5).loss.epsilon == 0.5


def test_an_old_copy_refunds_no_delta_where_epsilon_is_spent(register, tmp_path):
    register.change_caps("rows", epsilon_cap=0.25, delta_cap=1e-6, **DECIDED)
    copy = copied(register, tmp_path)
    register.change_caps("rows", epsilon_cap=0.5, delta_cap=1e-6, **DECIDED)
    put_back(copy, register)
    resume(register, **DECIDED)
    assert register.balance("rows").left == PrivacyLoss(0.0, 0.0)


def test_one_register_in_the_place_of_another_is_found(register, tmp_path):
    other = Register(tmp_path / "elsewhere" / "releases.db")
    other.declare("rows", epsilon_cap=9.0)
    put_back(copied(other, tmp_path), register)
    with pytest.raises(RegisterError) as problem:
        start(register, "more")
    assert problem.value.code == "key"
    shutil.copyfile(files.key_path(other.path), files.key_path(register.path))
    assert findings(register) == ()  # it stands in the other's place with all that belongs to it: a released file tells
    (released,) = register.folder.glob("*.json")
    assert findings(register, files=[released]) == (f"The release {released.name} is of another register.",)


def test_only_an_old_copy_that_is_whole_is_restored_and_only_with_a_reason(register, tmp_path):
    with pytest.raises(RefusedRelease, match="is no old copy"):
        resume(register, **DECIDED)
    copy = copied(register, tmp_path)
    start(register, "lost")
    put_back(copy, register)
    with pytest.raises(ParameterError):
        resume(register, reason=" ", made_by="somebody")
    changed(register, "UPDATE release SET epsilon = 0.01")
    with pytest.raises(RefusedRelease, match="was changed besides"):
        resume(register, **DECIDED)


def test_a_kill_between_the_commit_and_the_counter_loses_nothing(register, monkeypatch):
    behind = files.read_key(register.path)[1]
    files.keep_counter(register.path, behind - 1)
    assert files.read_key(register.path)[1] == behind
    with monkeypatch.context() as killed:
        killed.setattr(store, "keep_counter", lambda path, counter: None)
        start(register, "killed")
    assert files.read_key(register.path)[1] == behind
    assert findings(register) == ()
    start(register, "next")
    assert files.read_key(register.path)[1] == behind + 2
