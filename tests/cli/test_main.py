"""The command line as a whole: help, bad words, results, files it writes, Ctrl-C. Partly in a process of its own."""

import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys

import pytest

from dpviz import installation
from dpviz.__main__ import parser
from dpviz.cli import COMMANDS, app, console, current, files, load
from dpviz.cli.files import check_output, write_whole
from dpviz.errors import DpvizError
from dpviz.version import VERSION
from tests.support.paths import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="devices, pipes and signals are others on Windows")


def python(*words, **more):
    settings = {"capture_output": True, "text": True, "encoding": "utf-8", "env": ENVIRONMENT, "check": False} | more
    return subprocess.run([sys.executable, *map(str, words)], **settings)


# --- help


@pytest.mark.slow
def test_help_lists_every_command_and_each_has_an_example_that_can_be_typed(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert all(f"  {name} " in out and about in out for name, (_, about) in COMMANDS.items())
    for name in COMMANDS:
        code, out, err = run(name, "--help")
        assert (code, err) == (0, "")
        assert out.startswith(f"usage: dpviz {name} ")
        (example,) = [line for line in out.splitlines() if line.startswith("Example: ")]
        program, command, *words = shlex.split(example.removeprefix("Example: "))
        assert (program, command) == ("dpviz", name)
        assert parser([name]).parse_args([command, *words]).command == name
    assert run("register", "declare", "--help")[1].startswith("usage: dpviz register declare")
    assert run("--version") == (0, f"dpviz {VERSION}\n", "")


@pytest.mark.slow
def test_help_and_mistakes_load_no_large_package():
    asked = [["--help"], ["--version"], ["trian"], ["register", "--help"], ["app", "--help"]]
    heavy = ["streamlit", "plotly", "opendp", "sklearn", "pandas", "pyarrow", "scipy", "joblib", "dp_accounting"]
    code = f"import sys, dpviz.__main__ as m\nfor words in {asked[:3]}: m.main(words)\nfound = {{'numpy'}} & set(sys.modules)\n"
    code += f"for words in {asked[3:]}: m.main(words)\nprint(*found, *[name for name in {heavy} if name in sys.modules])"
    assert python("-c", code, check=True).stdout.splitlines()[-1] == ""


def test_words_are_completed_in_a_shell(run, tmp_path):
    for shell in ("bash", "zsh"):
        code, script, err = run("--completion", shell)
        assert (code, err) == (0, "")
        assert all(word in script for word in (*COMMANDS, "--epsilon-cap", "--json", "_files"))
        if program := shutil.which(shell):
            (tmp_path / "script").write_text(script, encoding="utf-8")
            assert subprocess.run([program, "-n", str(tmp_path / "script")], capture_output=True, check=False).stderr == b""
    script = run("--completion", "bash")[1]
    asked = 'COMP_WORDS=(dpviz train --le); COMP_CWORD=2; _shtab_dpviz; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["--learner"]


def test_an_old_name_works_and_says_the_new_one(run):
    assert current(["register", "cap", "a", "--again=2"])[0] == ["register", "cap", "a", "--confirm-cap=2"]
    assert current(["train", "poison", "--assign"])[0] == ["train", "poison", "--add-rows"]
    code, _, err = run("poison", "none.csv", "--schema", "none.json", "--epsilon", "1")
    assert code == 2
    assert err.startswith("Warning: `poison` is called `robustness` now")


# --- what is printed, and where to


@pytest.mark.slow
def test_a_terminal_without_greek_letters_is_no_reason_to_stop(tmp_path):
    table = tmp_path / "größe.csv"
    table.write_text("größe,ε\n" + "1,a\n2,b\n" * 20, encoding="utf-8")
    words = ("-m", "dpviz", "train", table, "--epsilon", "1", "--out", tmp_path / "t.json")
    done = python(*words, env=ENVIRONMENT | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert done.stderr.startswith("Read gr??e.csv: 40 rows, 2 columns.")


@pytest.mark.slow
def test_an_output_that_is_closed_full_or_no_longer_read_causes_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "dpviz", "learners"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0
    for words, closed, code in ((("--help",), 1, 0), (("nonsense",), 2, 2)):
        program = f"import os, sys; os.close({closed}); os.execv(sys.executable, [sys.executable, '-m', 'dpviz', *{words!r}])"
        done = python("-c", program)
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
    with open("/dev/full", "w") as full:
        done = python("-m", "dpviz", "learners", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert (done.returncode, done.stderr) == (2, "dpviz: The output cannot be written: no space is left.\n")


def test_results_are_there_as_json(run, table, schema, tmp_path, monkeypatch):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "register.sqlite"))
    model = tmp_path / "t.json"
    for words, holds in (
        (("learners",), "learners"),
        (("learners", "pf-tree"), "parameters"),
        (("learners", "--for", schema, "--epsilon", "0.1"), "take"),
        (("register", "list"), "format"),
        (("register", "declare", "clinic", "--epsilon-cap", "1", "--unit", "one", "--rows-per-unit", "1"), "spent"),
        (("train", table, "--schema", schema, "--epsilon", "5", "--seed", "0", "--out", model), "guarantee"),
        (("schema", table, "--out", tmp_path / "s.json"), "features"),
        (("evaluate", model, table), "measures"),
    ):
        code, out, err = run(*words, "--json")
        assert code == 0, err
        found = json.loads(out)
        assert found[holds]
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


def test_a_stage_shows_on_a_terminal_only_and_a_message_takes_its_place(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    console.status("Reading")
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    console.status("Reading")
    console.error("a\nb\x1b[2Jc\u202ed ε")
    assert terminal.getvalue() == "\r\x1b[2KReading ...\r\x1b[2Kdpviz: a b [2Jc d ε\n"
    for elapsed, share, said in ((1, 0.1, ""), (10, 0.5, ", about 10 s left"), (60, 0.1, ", about 9 min left"), (9, 0, "")):
        assert console.time_left(elapsed, share) == said


# --- files are written whole or not at all


def test_a_file_is_written_whole_with_the_users_usual_rights_and_through_a_link(tmp_path):
    usual, ours, link = (tmp_path / name for name in ("usual", "a.json", "link.json"))
    usual.write_text("", encoding="utf-8")
    write_whole(ours, "größe\n", force=False)
    assert ours.read_bytes() == "größe\n".encode()
    assert ours.stat().st_mode == usual.stat().st_mode
    link.symlink_to(ours)
    write_whole(link, "new", force=True)
    assert link.is_symlink()
    assert ours.read_text(encoding="utf-8") == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "link.json", "usual"]


def test_a_failure_half_way_keeps_the_old_file_and_leaves_no_part(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old", encoding="utf-8")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    def denied(*args):
        raise PermissionError(13, "Permission denied")

    for name, fails, says in (("fsync", full, "No space left on device"), ("open", denied, "Permission denied")):
        with monkeypatch.context() as patched:
            patched.setattr(files.os, name, fails)
            with pytest.raises(DpvizError, match=rf"a\.json: The file cannot be written: {says}\."):
                write_whole(path, "new", force=True)
        assert path.read_text(encoding="utf-8") == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_what_is_no_place_for_a_file_is_refused(tmp_path):
    path = tmp_path / "a.json"
    check_output(path, force=False)
    path.write_text("somebody else's", encoding="utf-8")
    for target, force, says in (
        (path, False, "The file exists"),  # it appeared in the meantime
        (tmp_path, True, "not an ordinary file"),
        (tmp_path / "absent" / "a.json", True, "There is no folder"),
        (path / "a.json", True, "There is no folder|cannot be written"),
        (tmp_path / "a\0b", False, "cannot be written"),
        (tmp_path / ("x" * 5000), False, "cannot be written"),
    ):
        with pytest.raises(DpvizError, match=says):
            write_whole(target, "mine", force=force)
    assert path.read_text(encoding="utf-8") == "somebody else's"


# --- Ctrl-C


def test_ctrl_c_that_a_library_turns_into_its_own_error_is_a_stop(monkeypatch, run):
    def broken(args):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ImportError("half of a library") from error

    monkeypatch.setattr(load("learners"), "run_learners", broken)
    of_pytest = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run("learners") == (130, "", "dpviz: Stopped.\n")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, of_pytest)


#: Interrupts this process when its import number N begins: every moment at which Python or dpviz imports something.
AT_IMPORT = """
import os, signal, sys
left = int(sys.argv.pop(1))
class Finder:
    def find_spec(self, name, *rest):
        global left
        if name.split(".")[0] == "dpviz" and name != "dpviz" and name != "dpviz.interrupts":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGINT)
sys.argv[0] = "dpviz"
sys.meta_path.insert(0, Finder())
from dpviz.__main__ import main
sys.exit(main())
"""
#: Interrupts this process when `dpviz.interrupts` imports its first module: before that, Python itself is still beginning.
AT_FIRST = """
import os, sys
class Finder:
    has_begun = False
    def find_spec(self, name, *rest):
        if self.has_begun:
            os.kill(os.getpid(), 2)
        self.has_begun = self.has_begun or name == "dpviz.interrupts"
sys.argv[0] = "dpviz"
sys.meta_path.insert(0, Finder())
import dpviz
"""


@pytest.mark.parametrize(
    "words",
    [
        (AT_FIRST,),
        *((AT_IMPORT, place, "learners") for place in (1, 40)),
        *(pytest.param((AT_IMPORT, place, "learners"), marks=pytest.mark.verify) for place in (2, 90)),
    ],
)
def test_ctrl_c_during_an_import_is_a_stop(words):
    done = python("-c", *words)
    assert (done.returncode, done.stderr) == (130, "dpviz: Stopped.\n")


# --- commands that open a browser


def test_the_server_gets_the_public_address_as_browsers_write_it(monkeypatch, run, refused):
    started = []
    monkeypatch.setattr(app.os, "execv", lambda _, words: started.append(words[-1]))
    for given, known in (
        ("https://trees.example.org", "https://trees.example.org"),
        ("https://Trees.Example.org/", "https://trees.example.org"),
        ("http://10.0.0.7:8080", "http://10.0.0.7:8080"),
    ):
        run("app", "--no-browser", "--public-address", given)
        assert f"app.py', '{known}', {{'server.maxUploadSize': " in started[-1]
        assert started[-1].endswith("'server.headless': True})")
    n_started = len(started)
    hosts = ("", "trees.example.org", "ftp://a.example", "https://", "https://[", "https://a:x")
    for given in (*hosts, "https://a@b.example", "https://a.example/path"):
        assert "must be an address such as https://trees.example.org" in refused("app", "--public-address", given)
    assert "listens on this computer only" in refused("app", "--address", "192.168.1.20")
    assert "must be one IP address of this computer" in refused("app", "--lessons", "--address", "0.0.0.0")
    for elsewhere in ("192.0.2.1", "::1%nowhere"):
        assert "This computer does not have this address" in refused("app", "--lessons", "--address", elsewhere)
    assert len(started) == n_started


def test_documentation_that_was_built_is_opened_and_else_the_remedy_is_said(run, refused, tmp_path, monkeypatch):
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "installation.py"))
    assert "Run `make docs` in the clone." in refused("docs")
    page, opened = tmp_path / "manual" / "index.html", []
    page.parent.mkdir()
    page.write_text("<h1>dpviz</h1>", encoding="utf-8")
    monkeypatch.setattr(app, "show", lambda address: opened.append(address) or True)
    assert run("docs") == (0, "", "")
    assert opened == [page.as_uri()]
    assert run("docs", "--no-browser")[:2] == (0, f"documentation  {page.as_uri()}\n")
