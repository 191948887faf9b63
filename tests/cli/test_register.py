"""The register command, train --data-set and check: declare, release, list, be refused; exit codes of a checked file."""

import csv
import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

import dpviz


@pytest.fixture
def register(tmp_path):
    return tmp_path / "releases.db"


@pytest.fixture
def release(table, schema, register, tmp_path):
    """The words of a release of the table at this epsilon, of which a household has three rows."""
    of_households = tmp_path / "of-households.json"
    replace(dpviz.load_schema(schema), rows_per_person=3).save(of_households)

    def words(out, *more, epsilon="1.5"):
        asked = ["--schema", of_households, "--epsilon", epsilon, "--max-depth", "2", "--data-set", "survey"]
        return ["train", table, *asked, "--register", register, "--out", tmp_path / out, *more]

    return words


@pytest.fixture
def declared(run, register):
    words = ("register", "declare", "survey", "--epsilon-cap", "3", "--unit", "one household")
    code, said, _ = run(*words, "--rows-per-unit", "3", "--register", register)
    assert code == 0
    return said


@pytest.mark.slow
def test_a_release_is_entered_and_listed_and_its_file_predicts_and_beyond_the_cap_none_is(
    run, refused, release, declared, register, tmp_path, table, schema
):
    assert "Left      epsilon = 3 (add/remove one household, up to 3 rows)\n" in declared
    code, said, _ = run(*release("tree.json", "--add-rows"))
    assert (code, "Left      epsilon = 1.5 (add/remove one household, up to 3 rows)\n" in said) == (0, True)
    data = dpviz.encode(dpviz.read_table(table), dpviz.load_schema(schema))
    assert len(dpviz.model_from_json((tmp_path / "tree.json").read_text()).predict(data)) == data.n_rows
    _, listed, _ = run("register", "list", "--register", register)
    assert "up to 3 rows)  tree.json" in listed
    assert "epsilon = 1.5 is left of the cap of 3." in refused(*release("two.json", epsilon="1.8"))
    assert not (tmp_path / "two.json").exists()
    for suffix in ("csv", "json"):
        out = tmp_path / f"register.{suffix}"
        assert run("register", "list", "--register", register, "--out", out)[0] == 0
        text = out.read_text(encoding="utf-8")
        if suffix == "json":
            assert json.loads(text)["releases"][0]["file"] == "tree.json"
        else:
            assert next(csv.DictReader(text.splitlines()))["data_set"] == "survey"


@pytest.mark.slow
def test_a_refused_release_says_the_remedy_and_leaves_its_rows_unassigned(refused, release, declared):
    assert "Add --add-rows if they belong to it" in refused(*release("one.json"))
    for word in ("--learner=dpboost", "--epsilon=6", "--out=nowhere/tree.json"):
        refused(*release("one.json", "--add-rows", word))
        assert "Add --add-rows if they belong to it" in refused(*release("one.json")), word
    assert "A seeded run protects nobody" in refused(*release("one.json", "--seed=3"))


def test_a_cap_is_raised_with_a_reason_a_name_and_the_number_once_more(run, refused, declared, register):
    words = ("register", "cap", "survey", "--epsilon-cap", "6", "--register", register)
    for confirmed in ((), ("--confirm-cap", "20")):
        assert "from epsilon = 3 (add/remove one household, up to 3 rows) to epsilon = 6 (" in refused(*words, *confirmed)
    assert "only with a reason and a name" in refused(*words, "--confirm-cap", "6")
    assert run(*words, "--confirm-cap", "6", "--reason", "a second study", "--by", "the owner")[0] == 0
    _, listed, _ = run("register", "list", "--register", register)
    assert "up to 3 rows)  the owner  a second study\n" in listed
    assert run("register", "cap", "survey", "--epsilon-cap", "1.5", "--register", register)[0] == 0


@pytest.mark.slow
def test_a_register_is_checked_against_its_releases_and_an_old_copy_is_restored_with_nothing_left(
    run, refused, release, declared, register, tmp_path
):
    run(*release("one.json", "--add-rows", epsilon="0.25"))
    kept = tmp_path / "kept.db"
    with closing(sqlite3.connect(register)) as now, closing(sqlite3.connect(kept)) as copy:
        now.backup(copy)
    kept.chmod(0o600)
    run(*release("two.json", epsilon="0.25"))
    code, said, _ = run("register", "check", tmp_path / "one.json", tmp_path / "two.json", "--register", register)
    assert (code, "as it was written" in said) == (0, True)
    for end in ("-wal", "-shm"):
        register.with_name(register.name + end).unlink(missing_ok=True)
    kept.replace(register)
    code, _, warned = run("register", "check", tmp_path / "two.json", "--register", register)
    assert code == 1
    assert "Warning: The release two.json is not in the register" in warned
    code, said, warned = run("check", tmp_path / "one.json", "--register", register)
    assert (code, "as it was released" in said, "is an old copy" in warned) == (1, True, True)
    assert "was truncated, or is an old copy" in refused(*release("three.json", epsilon="0.25"))
    code, said, _ = run("register", "resume", "--reason", "the disk broke", "--by", "the owner", "--register", register)
    assert (code, "Left      epsilon = 0 (add/remove one household, up to 3 rows)\n" in said) == (0, True)


# --- dpviz check


@pytest.mark.slow
def test_a_file_is_checked_without_rows_and_fails_once_it_is_changed_or_its_steps_do_not_add_up(
    run, refused, release, declared, register, tmp_path, monkeypatch
):
    file = tmp_path / "tree.json"
    assert run(*release("tree.json", "--add-rows"))[0] == 0
    code, said, heard = run("check", file, "--register", register)
    assert (code, heard) == (0, "")
    for words in (
        "as it was released: release number 1 of 'survey'",
        "Guaranteed: epsilon = 1.5",
        "added up again: epsilon = 1.5",
    ):
        assert words in said
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "own" / "releases.db"))
    code, said, _ = run("check", file)
    assert (code, "There is no register at" in said, "added up again" in said) == (1, True, True)
    assert not (tmp_path / "own").exists(), "none is made"
    written = file.read_text(encoding="utf-8")
    file.write_text(written.replace('"n_public": 600', '"n_public": 6000'), encoding="utf-8")
    code, said, _ = run("check", file, "--register", register, "--json")
    assert code == 1
    found = json.loads(said)
    assert (found["place"], found["as_released"], found["guaranteed"], found["release"]["number"]) == ("changed", False, False, 1)
    document = json.loads(written)
    document["privacy"]["guarantee"]["epsilon"] = 0.25
    document["privacy"].pop("per_person")
    file.write_text(json.dumps(document), encoding="utf-8")
    assert "do not add up" in refused("check", file, "--register", register)
