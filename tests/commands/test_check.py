"""The check command: exit code 0 for the very file that the register wrote, 1 for any other, 2 for what is no release."""

import json

import pytest


@pytest.fixture
def released(run, table, schema, tmp_path):
    """(register, file)."""
    book, file = tmp_path / "releases.db", tmp_path / "tree.json"
    caps = ("--epsilon-cap", "1", "--unit", "one household", "--rows-per-unit", "3", "--register", book)
    assert run("register", "declare", "survey", *caps)[0] == 0
    asked = ("--schema", schema, "--epsilon", "0.5", "--max-depth", "1", "--data-set", "survey", "--add-rows", "--out", file)
    assert run("train", table, *asked, "--register", book)[0] == 0
    return book, file


def test_a_released_file_passes_and_says_what_it_costs(run, released):
    book, file = released
    code, said, heard = run("check", file, "--register", book)
    assert (code, heard) == (0, "")
    assert "In the register, as it was released: release number 1 of 'survey'" in said
    assert "Guaranteed: epsilon = 1.5 (add/remove one household, up to 3 rows; one row: epsilon = 0.5)" in said
    assert "added up again: epsilon = 1.5" in said


def test_a_changed_file_fails(run, released):
    book, file = released
    file.write_text(file.read_text(encoding="utf-8").replace('"n_public": 600', '"n_public": 6000'), encoding="utf-8")
    code, said, _ = run("check", file, "--register", book, "--json")
    assert code == 1
    found = json.loads(said)
    assert (found["place"], found["as_released"], found["guaranteed"], found["release"]["number"]) == ("changed", False, False, 1)
    assert found["guarantee"] == "Not guaranteed, because the file was changed."


def test_steps_that_do_not_add_up_are_one_line(refused, released):
    book, file = released
    document = json.loads(file.read_text(encoding="utf-8"))
    document["privacy"]["guarantee"]["epsilon"] = 0.25
    document["privacy"].pop("per_person")
    file.write_text(json.dumps(document), encoding="utf-8")
    assert "do not add up" in refused("check", file, "--register", book)


def test_a_register_that_is_not_there_is_refused_and_not_made(refused, released, tmp_path):
    _, file = released
    assert "There is no register here." in refused("check", file, "--register", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_without_any_register_the_ledger_is_still_added_up(run, released, monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "own" / "releases.db"))
    _, file = released
    code, said, _ = run("check", file)
    assert code == 1
    assert "There is no register at" in said
    assert "added up again" in said
    assert not (tmp_path / "own").exists()
