"""Dispatch: commands are found, help is there, bad input never shows a traceback. Partly in a process of its own."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpviz.__main__ import main, parser
from dpviz.commands import COMMANDS, current, load
from dpviz.commands.console import time_left
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


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS), ["register", "declare"]])
def test_help_of_every_command_works(run, words):
    code, out, err = run(*words, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: {' '.join(['dpviz', *words])}")


def test_the_help_lists_every_command(run):
    _, out, _ = run("--help")
    assert all(f"  {name} " in out and about in out for name, about in COMMANDS.items())


@pytest.mark.slow
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
    assert "A command is needed. See `dpviz --help`." in refused()
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
    assert done.stderr.startswith("Read gr??e.csv: 40 rows, 2 columns.")


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


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        (("learners",), "learners"),
        (("learners", "pf-tree"), "parameters"),
        (("register", "list"), "format"),
        (("register", "declare", "clinic", "--epsilon-cap", "1", "--unit", "one", "--rows-per-unit", "1"), "spent"),
        (("train", "{table}", "--schema", "{schema}", "--epsilon", "1", "--seed", "0", "--out", "{folder}/t.json"), "guarantee"),
        (("schema", "{table}", "--out", "{folder}/s.json"), "features"),
    ],
)
def test_every_result_is_there_as_json(run, table, schema, tmp_path, monkeypatch, words, holds):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "register.sqlite"))
    places = {"folder": tmp_path, "table": table, "schema": schema}
    words = [word.format(**places) for word in words]
    code, out, err = run(*words, "--json")
    assert code == 0, err
    assert json.loads(out)[holds]


def test_numbers_of_a_model_are_numbers_in_json(run, table, schema, tmp_path):
    assert run("train", table, "--schema", schema, "--epsilon", "5", "--seed", "0", "--out", tmp_path / "t.json")[0] == 0
    found = json.loads(run("evaluate", tmp_path / "t.json", table, "--json")[1])
    assert 0.8 < found["measures"]["accuracy"] <= 1
    assert found["rows"] == sum(int(row["yes"]) + int(row["no"]) for row in found["confusion"]) == 600


def test_a_file_goes_to_stdout_and_what_is_said_of_it_to_stderr(run, table, schema, tmp_path):
    asked = ("train", table, "--schema", schema, "--epsilon", "1", "--seed", "0", "--out")
    code, out, err = run(*asked, "-")
    assert (code, run(*asked, tmp_path / "t.json")[0]) == (0, 0)
    assert out == (tmp_path / "t.json").read_text(encoding="utf-8")
    assert "Guarantee" in err
    assert run("predict", tmp_path / "t.json", table, "--out", "-")[1].startswith("label,")
    assert json.loads(run("schema", table, "--out", "-")[1])["target"]["name"] == "label"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_words_are_completed_in_a_shell(run, shell, tmp_path):
    code, script, err = run("--completion", shell)
    assert (code, err) == (0, "")
    for word in (*COMMANDS, "--epsilon-cap", "pf-tree", "svg", "--json"):
        assert word in script
    if program := shutil.which(shell):
        (tmp_path / "script").write_text(script, encoding="utf-8")
        assert subprocess.run([program, "-n", str(tmp_path / "script")], capture_output=True, check=False).stderr == b""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_bash_offers_what_may_follow(run):
    script = run("--completion", "bash")[1]
    asked = 'COMP_WORDS=(dpviz train --le); COMP_CWORD=2; _shtab_dpviz; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["--learner"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_every_help_is_a_command_line(name):
    (example,) = [line for line in (load(name).__doc__ or "").splitlines() if line.startswith("Example: ")]
    program, command, *words = shlex.split(example.removeprefix("Example: "))
    assert (program, command) == ("dpviz", name)
    assert parser([name]).parse_args([command, *words]).command == name


@pytest.mark.parametrize(
    ("elapsed", "share", "said"), [(1, 0.1, ""), (10, 0.5, "10 s left"), (60, 0.1, "9 min left"), (9, 0, "")]
)
def test_a_long_stage_says_how_long_it_may_take(elapsed, share, said):
    assert time_left(elapsed, share) == (f", about {said}" if said else "")


def test_an_old_name_works_and_says_the_new_one(run, refused):
    assert current(["register", "cap", "a", "--again=2"])[0] == ["register", "cap", "a", "--confirm-cap=2"]
    assert current(["train", "poison", "--assign"])[0] == ["train", "poison", "--add-rows"]
    code, _, err = run("poison", "none.csv", "--schema", "none.json", "--epsilon", "1")
    assert code == 2
    assert err.startswith("Warning: `poison` is called `robustness` now")
    assert "train_federated" in refused("owners", "stream", "rows.csv")
