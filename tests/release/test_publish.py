"""The one way to a released file: promised from public things, spent first, written whole, never twice."""

import errno
import json
import os
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

import dpviz
from dpviz.accounting.events import ApproximateDP, Step
from dpviz.accounting.ledger import Ledger
from dpviz.errors import DpvizError, RefusedRelease, RegisterError, UnsupportedError
from dpviz.learners import FitRequest
from dpviz.release import register as books
from dpviz.release import release as module
from dpviz.release import store
from dpviz.release.check import findings
from dpviz.release.files import is_file_with
from dpviz.release.records import State
from dpviz.release.register import Register
from tests.support.release_rows import SCHEMA, publish, requested, small_numbers, small_rows


@pytest.fixture
def register(tmp_path):
    found = Register(tmp_path / "releases.db")
    found.declare("rows", epsilon_cap=1.0)
    found.assign(small_rows().fingerprint, "rows")
    return found


def test_a_release_is_a_file_that_predicts_and_a_row_that_knows_its_hash(register):
    """The file says what it rests on, and holds neither seed nor count nor fingerprint."""
    told = []
    for _ in range(3):
        register.note_use(small_rows().fingerprint, what="tree", learner="pf-tree", settings={})
    entry = publish(register, small_rows(), requested(0.5), progress=told.append)
    assert (entry.state, entry.loss.epsilon, entry.data_set) == (State.RELEASED, 0.5, "rows")
    file = Path(entry.file)
    assert file.parent == register.folder
    assert is_file_with(file, entry.sha256)
    assert file.stat().st_nlink == 1
    assert [path.name for path in register.folder.iterdir()] == [file.name]
    assert len(dpviz.model_from_json(file.read_text()).predict(small_rows())) == 40
    assert entry.finished >= entry.started
    assert told == sorted(told)
    text = file.read_text()
    document = json.loads(text)
    assert document["privacy"]["noise"] == {"source": "release"}
    assert document["promised"] == {"epsilon": 0.5, "delta": 0.0}
    assert {"kind": "range", "column": "age", "what": "0 to 10", "source": "declared"} in document["assumptions"]
    assert "seed" not in text
    assert "tuning" not in text
    assert small_rows().fingerprint not in text
    assert not re.search(r"\blooks?\b", text)
    assert "rows_kept" not in text


def test_what_is_refused_costs_nothing_and_a_token_is_released_once(register):
    """Over the cap, without a delta, of rows that nobody knows, or that others may have changed."""
    data = small_numbers()
    register.assign(data.fingerprint, "rows")
    for rows, request, refused, said in (
        (small_rows(), requested(1.5), RefusedRelease, r"epsilon = 1 is left of the cap of 1"),
        (data, requested(0.5, "s-gbdt"), RefusedRelease, r"delta = 0 is left of the cap of 1 and 0\."),
        (small_rows(seed=1), requested(), RefusedRelease, "not assigned to this data set yet"),
        (replace(small_rows(), not_row_wise="its rows were chosen by their positions"), requested(), RefusedRelease, "positions"),
    ):
        with pytest.raises(refused, match=said):
            publish(register, rows, request)
        assert register.releases() == ()
    first, other = (publish(register, small_rows(), requested(0.5), token=token) for token in ("abc", "d"))
    assert first.file != other.file
    assert publish(register, small_rows(), requested(0.5), token="abc") == first
    assert (len(register.releases()), register.balance("rows").left.epsilon) == (2, 0.0)


@pytest.mark.slow
def test_what_only_rounding_has_left_is_said_to_be_nothing(register):
    register.change_caps("rows", epsilon_cap=0.9)
    for _ in range(3):
        publish(register, small_rows(), requested(0.3))
    with pytest.raises(RefusedRelease, match=r"epsilon = 0 is left of the cap of 0\.9"):
        publish(register, small_rows(), requested(0.3))


#: In the fast tests a claim that holds, one that does not, one without exact noise, and one for numbers.
FAST = ("pf-tree", "privatree", "logistic", "dp-mean")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in dpviz.learner_names()]
)
def test_only_a_learner_whose_claim_holds_and_whose_noise_is_exact_is_released(register, name):
    asked = requested(0.5, name)
    data = small_rows()
    try:
        result = dpviz.fit(name, data, seed=0, **asked.arguments)
    except UnsupportedError:
        data = small_numbers()
        register.assign(data.fingerprint, "rows")
        result = dpviz.fit(name, data, seed=0, **asked.arguments)
    if result.claim.is_sound and result.claim.is_private and result.releasable:
        register.change_caps("rows", epsilon_cap=1.0, delta_cap=1e-6, reason="delta is needed", made_by="owner")
        entry = publish(register, data, asked)
        assert result.ledger.guarantee.epsilon <= entry.loss.epsilon == 0.5
        assert result.ledger.guarantee.delta <= entry.loss.delta <= 1e-6
    else:
        with pytest.raises(RefusedRelease):
            publish(register, data, asked)
        assert register.releases() == ()


HONEST = FitRequest.fit


@pytest.mark.parametrize(
    "dishonest",
    [
        lambda request, data, source: HONEST(request.at(epsilon=0.6), data, source),
        lambda *given: replace(HONEST(*given), ledger=Ledger(Step(ApproximateDP(0.5, 1e-9), "leaf", mechanism="Gaussian"))),
        lambda request, data, source: HONEST(request.at(seed=0), data),
    ],
    ids=["more epsilon", "a delta", "a seed"],
)
def test_what_was_not_promised_leaves_no_file(register, monkeypatch, dishonest):
    requested(0.5).risk(SCHEMA)
    monkeypatch.setattr(FitRequest, "fit", dishonest)
    with pytest.raises(RefusedRelease, match="Nothing was written, and what was promised stays spent"):
        publish(register, small_rows(), requested(0.5))
    assert register.balance("rows").spent.epsilon == 0.5
    assert not list(register.folder.iterdir())


def test_a_file_that_comes_while_training_is_never_written_over(register, tmp_path, monkeypatch):
    there, honest = tmp_path / "tree.json", FitRequest.fit
    requested(0.5).risk(SCHEMA)
    with monkeypatch.context() as patch:
        patch.setattr(FitRequest, "fit", lambda *args: (there.write_text("an earlier release"), honest(*args))[1])
        with pytest.raises(DpvizError, match="There is already a file of this name"):
            publish(register, small_rows(), requested(0.5), file=there, token="abc")
    for _ in range(2):
        assert (there.read_text(), register.recover_interrupted()) == ("an earlier release", ())
    assert [entry.status for entry in register.releases()] == ["interrupted, counted"]
    assert list(tmp_path.glob(".dpviz-*")) == []
    there.unlink()  # what was paid for is written once its place is free, and nothing is trained again
    again = publish(register, small_rows(), requested(0.5), file=there, token="abc")
    assert (again.state, is_file_with(there, again.sha256)) == (State.RELEASED, True)
    assert register.balance("rows").spent.epsilon == 0.5


#: What stands there -> the name that is asked for.
PLACES = {
    "file": "file.json",
    "folder": "folder.json",
    "link to nothing": "link.json",
    "no folder": "none/tree.json",
    "below a file": "file.json/tree.json",
    "other suffix": "tree.txt",
    "no suffix": "tree",
    "long name": f"{'x' * 300}.json",
    "NUL": "a\0.json",
    "no right": "tree.json",
}


@pytest.mark.parametrize("kind", PLACES)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spent(register, tmp_path, monkeypatch, kind):
    (tmp_path / "file.json").write_text("{}")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere")
    if kind == "no right":
        monkeypatch.setattr(
            "dpviz.release.files.TemporaryFile", lambda **given: (_ for _ in ()).throw(PermissionError(13, "Denied"))
        )
    with pytest.raises(DpvizError) as refused:
        publish(register, small_rows(), requested(0.5), file=tmp_path / PLACES[kind])
    assert "stays spent" not in str(refused.value)
    assert register.releases() == ()
    assert register.balance("rows").left == register.data_set("rows").cap


def removed(register, monkeypatch):
    """What somebody does who clears a folder: the register and its key are gone."""
    for path in register.path.parent.glob("releases.db*"):
        path.unlink()


def swapped(register, monkeypatch):
    other = Register(register.path.with_name("other.db"))
    other.declare("rows", epsilon_cap=9.0)
    for path in register.path.parent.glob("other.db*"):
        path.replace(path.with_name(path.name.replace("other.db", "releases.db")))


def read_only(register, monkeypatch):
    def connection(path, real=store._connection):
        found = real(path)
        found.execute("PRAGMA query_only = ON")
        return found

    monkeypatch.setattr(store, "_connection", connection)


def full(register, monkeypatch):
    def keep_counter(path, counter):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "keep_counter", keep_counter)


STEPS = {"preview_terms": module, "fit": FitRequest, "released_document": module, "keep_text": Register, "put_in_place": books}


#: While the file is put in its place the register is held: what is swapped then is no register any more.
BEFALLS = [
    (step, how) for step in STEPS for how in (removed, swapped, read_only, full) if (step, how) != ("put_in_place", swapped)
]


@pytest.mark.parametrize(("step", "befalls"), BEFALLS)
def test_whatever_befalls_a_register_between_two_steps_no_file_stands_without_its_record(register, monkeypatch, step, befalls):
    real = getattr(STEPS[step], step)
    with monkeypatch.context() as patch:

        def then(*given, **asked):
            done = real(*given, **asked)
            befalls(register, patch)
            return done

        patch.setattr(STEPS[step], step, then)
        is_too_late = (step, befalls) == ("put_in_place", read_only)  # its transaction is open: the release is made
        with pytest.raises(DpvizError) if not is_too_late else nullcontext():
            publish(register, small_rows(), requested(0.5))
    known = Register(register.path)
    known.recover_interrupted()
    standing = {str(path) for path in known.folder.glob("**/*")}
    assert standing == {entry.file for entry in known.releases() if entry.state is State.RELEASED}
    assert not list(known.path.parent.glob("**/.dpviz-*"))
    if befalls is not removed:
        booked = befalls is not swapped and (step != "preview_terms" or befalls is full)
        assert known.balance("rows").spent.epsilon == 0.5 * booked
    assert findings(known) == ()


def test_a_text_is_kept_of_a_release_that_waits_for_it_and_of_no_other(register):
    entry = publish(register, small_rows(), requested(0.5))
    for token in ("never", entry.token):
        with pytest.raises(RegisterError, match="does not hold its latest entry"):
            register.keep_text(token, "whole")
    assert register.record(entry.token).sha256 == entry.sha256
    assert register.finish(entry.token) == entry


class Killed(BaseException):
    """What nothing catches: the process is gone."""


@pytest.mark.parametrize("step", [*list(STEPS)[1:], "replace"])
def test_after_a_kill_what_was_trained_is_written_and_all_else_stays_spent(register, tmp_path, monkeypatch, step):
    def kill(*given, real=os.replace, **asked):
        if step == "replace" and ".dpviz-" not in str(given[0]):
            return real(*given)
        raise Killed

    target = tmp_path / "tree.json"
    with monkeypatch.context() as patch:
        patch.setattr(os if step == "replace" else STEPS[step], step, kill)
        with pytest.raises(Killed):
            publish(register, small_rows(), requested(0.5), token="abc", file=target)
    is_kept = step in ("put_in_place", "replace")
    assert not target.exists()
    assert [entry.token for entry in register.recover_interrupted()] == ["abc"] * is_kept
    assert is_file_with(target, register.record("abc").sha256) == is_kept
    assert list(tmp_path.glob(".dpviz-*")) == []
    if is_kept:
        assert publish(register, small_rows(), requested(0.5), token="abc", file=target).state is State.RELEASED
    else:
        with pytest.raises(RefusedRelease, match="started before"):
            publish(register, small_rows(), requested(0.5), token="abc", file=tmp_path / "other.json")
    assert register.balance("rows").spent.epsilon == 0.5


@pytest.mark.parametrize("step", ["released_document", "keep_text"])
def test_another_session_may_recover_at_any_moment(register, monkeypatch, step):
    real = getattr(STEPS[step], step)

    def after(*given, **asked):
        done = real(*given, **asked)
        Register(register.path).recover_interrupted()
        return done

    monkeypatch.setattr(STEPS[step], step, after)
    entry = publish(register, small_rows(), requested(0.5))
    assert is_file_with(Path(entry.file), entry.sha256)
    assert register.recover_interrupted() == ()


def test_a_register_that_is_replaced_during_a_recovery_is_said(register, monkeypatch):
    def kill(*given):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(STEPS["put_in_place"], "put_in_place", kill)
        with pytest.raises(Killed):
            publish(register, small_rows(), requested(0.5))
    monkeypatch.setattr(Register, "find", lambda self, token: None)
    with pytest.raises(RegisterError):
        register.recover_interrupted()
