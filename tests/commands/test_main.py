"""Dispatch: commands are found, help is there, bad input never shows a traceback. Partly in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpviz.__main__ import main
from dpviz.commands import COMMANDS, load
from dpviz.version import VERSION

ROOT = Path(__file__).parents[2]


def dpviz(*argv, **kwargs):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "dpviz", *map(str, argv)]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=environment, check=False, **kwargs)


def test_every_file_that_can_be_run_is_a_command():
    room = ROOT / "dpviz" / "commands"
    names = {path: path.stem for path in room.glob("*.py")} | {path: path.parent.name for path in room.glob("*/__init__.py")}
    assert {name for path, name in names.items() if "\ndef run(" in path.read_text(encoding="utf-8")} == set(COMMANDS)


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS), ["register", "declare"], ["owners", "train"]])
def test_help_of_every_command_works(run, words):
    code, out, err = run(*words, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: {' '.join(['dpviz', *words])}")


def test_the_help_lists_every_command(run):
    _, out, _ = run("--help")
    assert all(f"  {name} " in out and about in out for name, about in COMMANDS.items())


def test_help_and_mistakes_load_no_large_package():
    asked = [["--help"], ["--version"], ["trian"], ["register", "--help"], ["app", "--help"]]
    heavy = ["streamlit", "plotly", "opendp", "sklearn", "pandas", "pyarrow", "scipy", "joblib", "dp_accounting"]
    code = f"import sys, dpviz.__main__ as m\nfor words in {asked}: m.main(words)\n"
    code += f"print(*[name for name in {heavy} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"dpviz {VERSION}\n", "")


def test_no_command_and_an_unknown_command_are_one_line(refused):
    assert "The following arguments are required: COMMAND. See `dpviz --help`." in refused()
    assert "invalid choice: 'trian'" in refused("trian")


def test_a_missing_argument_is_named(refused):
    assert "The following arguments are required: DATA, --epsilon, --out." in refused("train")


def test_an_error_of_the_program_itself_is_not_hidden(monkeypatch):
    def broken(args):
        raise RuntimeError("a bug")

    monkeypatch.setattr(load("learners"), "run", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["learners"])


@pytest.mark.slow
def test_the_whole_journey_in_a_process_of_its_own(table, tmp_path):
    proposed = dpviz("schema", table, "--target", "label", "--out", "s.json", cwd=tmp_path)
    trained = dpviz("train", table, "--schema", "s.json", "--epsilon", "1", "--out", "tree.json", cwd=tmp_path)
    again = dpviz("train", table, "--schema", "s.json", "--epsilon", "1", "--out", "tree.json", cwd=tmp_path)
    assert (proposed.returncode, trained.returncode) == (0, 0)
    assert "(add/remove one row)" in trained.stdout
    assert (tmp_path / "tree.json").is_file()
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == "dpviz: tree.json: The file exists. Choose another --out, or add --force to overwrite it.\n"


@pytest.mark.slow
def test_a_terminal_without_greek_letters_is_no_reason_to_stop(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    table = tmp_path / "größe.csv"
    table.write_text("größe,ε\n" + "1,a\n2,b\n" * 20, encoding="utf-8")
    words = [sys.executable, "-m", "dpviz", "train", str(table), "--epsilon", "1", "--out", str(tmp_path / "t.json")]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0
    assert "the last column, '?', is used" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes close differently on Windows")
@pytest.mark.slow
def test_a_reader_that_has_seen_enough_causes_no_traceback():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "dpviz", "learners"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    process.stdout.close()
    heard = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert heard == b""
