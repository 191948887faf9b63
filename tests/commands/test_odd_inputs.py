"""Whatever is typed, and wherever it is written to: one line and an exit code, never a traceback."""

import errno
import os
import random
import signal
import subprocess
import sys

import pytest

from dpviz.__main__ import main
from dpviz.commands import COMMANDS, load
from dpviz.errors import DpvizError, UnknownName
from tests.support.paths import ROOT

BYTES = os.fsdecode(b"\xff\xfe")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="devices and signals are others on Windows")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("register", "declare", "x", "--rows-per-unit", "9" * 20), "must be a whole number from 1 to 1,000,000,000,000,000,000"),
        (("register", "declare", "x", "--rows-per-unit", "9" * 6000), "must be a whole number from 1 to"),
        (("register", "declare", "x", "--rows-per-unit", "１"), "must be a whole number"),
        (("train", "t.csv", "--out", "m.json", "--epsilon", "１"), "--epsilon: must be a number, got '１'"),
        (("train", "t.csv", "--out", "m.json", "--epsilon", "1_0"), "--epsilon: must be a number, got '1_0'"),
        (("train", "t.csv", "--out", "-", "--epsilon", "1", "--data-set", "x"), "--out: A recorded release is a file"),
        (("sweep", "t.csv", "--out", "-", "--epsilon", "1", "--resume"), "--out: --resume continues a file"),
        (("register", "list", "--out", "-"), "The format is not known"),
        (("train", "t.csv", "--out", "m.json", "--epsilon", "1", "--names", f"a,{BYTES}"), "--names: This is no text"),
        (("train", "t.csv", "--out", "m.json", "--epsilon", "1", "--data-set", BYTES), "--data-set: This is no text"),
        (("sweep", "t.csv", "--out", "m.csv", "--epsilon", "1_0"), "must be a number"),
    ],
)
def test_odd_words_are_refused(refused, words, said):
    assert said in refused(*words)


def test_a_parameter_of_odd_digits_is_refused(refused, table):
    words = ("train", table, "--out", table.with_suffix(".json"), "--epsilon", "1", "--learner", "privatree", "--param")
    assert "must be a whole number in [2, 64]" in refused(*words, "bins=1_0")
    assert "must be a whole number in [2, 64]" in refused(*words, f"bins={'9' * 6000}")


@pytest.mark.parametrize("name", [BYTES, "x" * 5000, "a\nb", "\u202e", ""])
def test_a_file_of_any_name_is_looked_for(refused, name, tmp_path):
    refused("predict", name, "t.csv", "--out", tmp_path / "out")
    refused("train", name, "--epsilon", "1", "--out", tmp_path / "out")
    refused("train", "t.csv", "--epsilon", "1", "--schema", name, "--out", tmp_path / "out")


def test_no_message_is_longer_than_people_read(refused):
    assert len(refused("train", "t.csv", "--out", "m", "--epsilon", "x" * 100_000)) < 10_000
    assert len(refused("x" * 100_000)) < 10_000
    assert len(str(UnknownName("column", "x", ["y" * 10**6]))) < 10_000
    assert len(str(DpvizError("what" * 10**5, where="where" * 10**5, remedy="remedy" * 10**5))) < 10_000
    assert str(DpvizError("short")) == "short"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null", "/dev"])
@pytest.mark.parametrize("kind", ["model", "schema", "release"])
def test_a_device_is_neither_a_model_nor_a_schema(refused, table, tmp_path, device, kind):
    out = tmp_path / "out.json"
    words = {
        "model": ("predict", device, table, "--out", out),
        "schema": ("train", table, "--schema", device, "--epsilon", "1", "--out", out),
        "release": ("register", "check", device, "--register", tmp_path / "r.db"),
    }
    refused(*words[kind])


def test_a_schema_of_millions_of_categories_is_refused_before_it_is_read(refused, table, tmp_path):
    many = tmp_path / "many.json"
    many.write_text('{"format": "dpviz-schema/1", "features": [' + '"category", ' * 10**6)
    said = refused("train", table, "--schema", many, "--epsilon", "1", "--out", tmp_path / "out.json")
    assert "The schema file is larger than 10 MB" in said


def dpviz(*words, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-m", "dpviz", *words], env=environment, check=False, **more)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "closed"), [(("learners",), 1), (("--help",), 1), (("nonsense",), 2)])
def test_a_closed_output_is_no_reason_for_a_traceback(words, closed):
    program = f"import os, sys; os.close({closed}); os.execv(sys.executable, [sys.executable, '-m', 'dpviz', *{words!r}])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if words == ("nonsense",) else 0)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.slow
def test_a_full_output_is_said():
    with open("/dev/full", "w") as full:
        done = dpviz("learners", stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "dpviz: The output cannot be written: no space is left.\n")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_and_a_used_up_quota_are_said(monkeypatch, refused, code):
    def full(args):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(load("learners"), "run", full)
    monkeypatch.setattr("dpviz.__main__._write_no_more", lambda: None)  # pytest's stdout is still needed
    assert refused("learners") == "dpviz: The output cannot be written: no space is left.\n"


def test_ctrl_c_while_a_command_is_loaded_is_a_stop(monkeypatch, run):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpviz.__main__.load", interrupted)
    assert run("learners") == (130, "", "dpviz: Stopped.\n")


def test_ctrl_c_that_a_library_turns_into_its_own_error_is_a_stop(monkeypatch, run):
    def broken(args):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ImportError("half of a library") from error

    monkeypatch.setattr(load("learners"), "run", broken)
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


@pytest.mark.parametrize("place", [1, 40, *(pytest.param(place, marks=pytest.mark.verify) for place in (2, 90))])
def test_ctrl_c_during_an_import_is_a_stop(place):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", AT_IMPORT, str(place), "learners"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "dpviz: Stopped.\n")


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


def test_ctrl_c_is_a_stop_from_the_first_import_on():
    words = [sys.executable, "-c", AT_FIRST]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "dpviz: Stopped.\n")


def argument_lists(seed, folder):
    """Endless lists of words: commands, options, names of files and devices, numbers, and rubbish."""
    rng = random.Random(seed)
    odd = ["", "-", "--", "-1", "0", "nan", "inf", "1e999", "9" * 30, "１", BYTES, "a\0b", "a=b", "=", ",", "%s", "@x", "é" * 300]
    files = [*(str(folder / name) for name in ("t.csv", "absent", "out", "")), "/dev/null", "/dev/full", f"x{BYTES}"]
    options = "epsilon max-depth out force schema target seed param learner delta depth names delimiter encoding sheet rows"
    options += " person rows-per-person data-set assign register unit rows-per-unit epsilon-cap role reason by head answers help"
    words = [
        *COMMANDS,
        "list",
        "declare",
        "cap",
        "check",
        "resume",
        "1",
        "0.5",
        "pf-tree",
        "label",
    ]
    kinds = [[f"--{name}" for name in options.split()], odd, files, words]
    while True:
        first = rng.choice([*[name for name in COMMANDS if name not in ("app", "docs")], *odd])
        yield [first, *(rng.choice(rng.choice(kinds)) for _ in range(rng.randrange(7)))]


@pytest.mark.slow
@pytest.mark.parametrize("n_lists", [400, pytest.param(4000, marks=pytest.mark.verify)])
def test_any_list_of_arguments_ends_with_a_known_code(tmp_path, monkeypatch, capsys, n_lists):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "register.db"))
    (tmp_path / "t.csv").write_text("a,b,label\n" + "1,x,yes\n2,y,no\n" * 20)
    lists = argument_lists(n_lists, tmp_path)
    for _ in range(n_lists):
        words = next(lists)
        if words[0] in ("app", "verify", "sweep"):  # whose work takes long when the words happen to fit
            words = [words[0], *words[1:], "--absent"]
        code = main(words)
        _, said = capsys.readouterr()
        assert code in (0, 1, 2), words
        assert len(said) < 10_000, words
        assert code != 2 or said.count("\n") == 1, (words, said)
