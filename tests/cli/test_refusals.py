"""What cannot be asked of a command is one line that says what is wrong, ends with code 2 and writes nothing."""

from __future__ import annotations

import os
import random

import pytest

from dpviz.__main__ import main
from dpviz.cli import COMMANDS
from dpviz.errors import DpvizError, UnknownName

pytestmark = pytest.mark.skipif(os.name == "nt", reason="devices, pipes and signals are others on Windows")
BYTES = os.fsdecode(b"\xff\xfe")
TRAIN = "train {table} --schema {schema} --epsilon 1 --out {out}"
SWEEP = "sweep {table} --schema {schema} --learners pf-tree,cart --epsilon .5,5 --folds 2 --repeats 3 --out {out}"
ROBUST = "robustness {table} --schema {schema} --epsilon .1 --draws 60 --max-depth 2"
DECLARE = "register declare x --rows-per-unit"
#: (words, what is said).
WRONG = [
    ("", "A command is needed. See `dpviz --help`."),
    ("trian", "invalid choice: 'trian'"),
    ("train", "The following arguments are required: DATA, --epsilon, --out."),
    (f"{DECLARE} {'9' * 20}", "must be a whole number from 1 to 1,000,000,000,000,000,000"),
    (f"{DECLARE} １", "must be a whole number"),
    # train
    (f"{TRAIN} --epsilon １", "--epsilon: must be a number, got '１'"),
    (f"{TRAIN} --epsilon much", "Argument --epsilon: must be a number, got 'much'. See `dpviz train --help`."),
    (f"{TRAIN} --epsilon 0", "The 'epsilon' parameter of fit must be a number in [1e-06, 1e+06]. Got 0.0."),
    (f"{TRAIN} --depth deep", "Argument --depth: must be 'auto' or a whole number, got 'deep'."),
    (f"{TRAIN} --out - --data-set x", "-: A released file is a JSON document"),
    (f"{TRAIN} --data-set {BYTES}", "--data-set: This is no text"),
    (f"train {{table}} --epsilon 1 --out {{out}} --names a,{BYTES}", "--names: This is no text"),
    (f"{TRAIN} --learner pf-tre", "There is no learner called 'pf-tre'. Did you mean 'pf-tree'?"),
    (f"{TRAIN} --learner privatree", "A mechanism of PrivaTree has no exact sampler, so its output cannot be released."),
    (f"{TRAIN.replace('{out}', '{model}')}", "The file exists. Choose another --out, or add --force to overwrite it."),
    (f"{TRAIN.replace('{out}', '{schema}')} --force", "The result would overwrite its own input."),
    ("schema {table} --force --out {table}", "The result would overwrite its own input."),
    ("schema {table} --target x --out {out}", "There is no column called 'x'."),
    (f"{TRAIN} --target label", "--target and --schema cannot be combined."),
    (f"{TRAIN} --colour red", "Unrecognized arguments: --colour red."),
    (f"{TRAIN} --param bins=3", "There is no parameter of 'pf-tree' called 'bins'. Known: leaves, lookahead"),
    *((f"{TRAIN} --param {name}=3", f"There is no parameter of 'pf-tree' called '{name}'.") for name in ("epsilon", "seed")),
    *((f"verify pf-tree --param {name}=.3", f"of 'pf-tree' called '{name}'.") for name in ("universes", "test_share")),
    (f"{TRAIN} --param bins", "--param: 'bins' is not a parameter. Write NAME=VALUE."),
    (f"{TRAIN} --param level_shares=1 --param level_shares=2", "--param: 'level_shares' is given twice."),
    (f"{TRAIN} --learner privatree --param bins=many", "'bins' parameter of privatree must be a whole number in [2, 64]."),
    ("train {folder}/absent.csv --epsilon 1 --out {out}", "'absent.csv' cannot be read: No such file"),
    ("train {table} --schema {folder}/no.json --epsilon 1 --out {out}", "The schema file cannot be read: No such file"),
    ("train {table} --schema {table} --epsilon 1 --out {out}", "Column 1 is not known. Call the columns of a codebook"),
    ("train {table} --target lable --epsilon 1 --out {out}", "table.csv has no column 'lable' among its 3."),
    ("train {other} --schema {schema} --epsilon 1 --out {out}", "other.csv has no column 'age'"),
    (
        "train {rents} --epsilon 1 --learner majority --out {out}",
        "predicts classes, but the target 'rent' is declared as a number.",
    ),
    # sweep and robustness
    ("sweep t.csv --out - --epsilon 1 --resume", "--out: --resume continues a file"),
    (f"{SWEEP} --epsilon=1,x", "Argument --epsilon: must be a number, got 'x'."),
    (f"{SWEEP} --epsilon=1,1", "The 'epsilon' parameter of sweep must be at least one, and none twice. Got (1.0, 1.0)."),
    (f"{ROBUST} --max-poisoned 2", "The 'max_poisoned' parameter of certify must be a share in [0, 1]. Got 2.0."),
    (
        f"{ROBUST} --confidence 2",
        "The 'confidence' parameter of robustness must be a number between 0 and 1, both excluded. Got 2.0.",
    ),
    (f"{ROBUST} --draws 0", "Argument --draws: must be a whole number from 1 to 1,000,000, got '0'."),
    *((f"robustness {{{few}}} --schema {{schema}} --epsilon 1", "too few rows to hold some out") for few in ("one", "two")),
    ("robustness {rents} --epsilon 1", "A poisoning guarantee needs a target of classes, but 'rent' is a number."),
    # verify, audit and learners
    ("verify", "Give one learner, or --all."),
    ("verify pf-tree majority", "Give one learner, or --all."),
    ("verify pf-treee --all", "Did you mean 'pf-tree'?"),
    ("verify pf-tree --out x.json", "--out is for --all."),
    ("verify --all --epsilon 1", "--all sets epsilon and parameters itself."),
    ("verify --all --out no/such/folder/x.json", "There is no folder"),
    ("verify bdpt --quick", "audit it by sampling"),
    ("audit {table} {folder}/none.txt", "none.txt"),
    ("learners pf-tree --for s.json", "--for: NAME and --for are two questions"),
    # models
    ("evaluate {model} {other}", "has no column"),
    ("evaluate {model} {empty}", "No row can be used"),
    ("predict {model} {other} --out {out}", "has no column 'age'"),
    ("predict {model} {folder}/absent.csv --out {out}", "'absent.csv' cannot be read: No such file"),
    ("predict {model} {twice} --out {out}", "Columns 1 and 2 have the same name."),
    ("predict {model} duckdb:///none.db?table=t&order=k --out {out}", "There is no DuckDB file"),
    ("predict {model} {table} --out {table} --force", "overwrite its own input"),
    ("export {model} --to pyton --out {out}", "There is no export format called 'pyton'. Did you mean 'python'?"),
    ("export {model} --to python --key id --out {out}", "no key is needed"),
    ("export {table} --to python --out {out}", "It is not JSON"),
    ("export {linear} --to sql --out {out}", "A model of kind 'linear' is no tree. Export it as JSON."),
    ("export {folder}/no.json --to python --out {out}", "The model file cannot be read: No such file or directory."),
    ("export {bytes} --to python --out {out}", "The model file is not UTF-8 text."),
    # register and check
    ("register list --out -", "The format is not known"),
    ("register list --out {folder}/register.xlsx", "ends in .csv or .json"),
    ("register list --register {table}", "This file is not a release register."),
    ("register check {table}", "names no register"),
    ("register cap x --epsilon-cap 1", "There is no data set called 'x'"),
    (f"{TRAIN}.json --data-set x", "There is no data set called 'x'"),
    (f"{TRAIN}.json --data-set=", "There is no data set called ''"),  # of an empty variable
    (f"{TRAIN} --person=", "Argument --person: must be the name of a column, got ''."),
    ("predict m.json {table} --key= --out {out}", "Argument --key: must be the name of a column, got ''."),
    ("export m.json --to sqlite --key= --out {out}", "Argument --key: must be the name of a column, got ''."),
    (f"{TRAIN}.json --add-rows", "--add-rows: This is for a release in the register."),
    (f"{TRAIN}.json --register {{folder}}/r.db", "--register: This is for a release in the register."),
    (f"{TRAIN}.json --disjoint-from x", "--disjoint-from: This is for a release in the register."),
    ("check {table} --register {folder}/none.db", "There is no register here."),
]


@pytest.fixture
def places(run, table, schema, tmp_path, monkeypatch):
    """Name of a file in `WRONG` -> the file."""
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "register.db"))
    found = {"table": table, "schema": schema, "folder": tmp_path, "out": tmp_path / "out"}
    for name, learner in (("model", "cart"), ("linear", "logistic")):
        found[name] = tmp_path / f"{name}.json"
        asked = ("--schema", schema, "--epsilon", "9", "--seed", "5", "--learner", learner, "--out", found[name])
        assert run("train", table, *asked)[0] == 0
    for name, text in {
        "bytes": "\udcff\udcfe\0",
        "other": "a,b\n1,2\n3,4\n",
        "twice": "age,age\n1,2\n",
        "one": "age,colour,label\n3,red,no\n",
        "two": "age,colour,label\n3,red,no\n4,red,yes\n",
        "empty": "age,colour,label\n",
        "rents": "area,rent\n" + "".join(f"{k % 97},{5 * k}.5\n" for k in range(100)),
    }.items():
        found[name] = tmp_path / f"{name}.csv"
        found[name].write_text(text, encoding="utf-8", errors="surrogateescape")
    return found


@pytest.mark.slow
def test_what_cannot_be_asked_is_one_line_that_says_why_and_writes_nothing(refused, places):
    before = {place: place.read_bytes() for place in places.values() if place.is_file()}
    for words, says in WRONG:
        said = refused(*(word.format(**places) for word in words.split()))
        assert says in said, words
        assert "cannot be written" not in said, words  # what is wrong with rows is no fault of the place of answers
    assert not places["out"].exists()
    assert before == {place: place.read_bytes() for place in before}
    assert "'label'" not in refused("train", places["table"], "--target", "lable", "--epsilon", "1", "--out", "x"), "a cell"


@pytest.mark.parametrize("name", [BYTES, "x" * 5000, "a\nb", "\u202e", "", "/dev/zero", "/dev/full", "/dev/null", "/dev"])
def test_what_is_no_file_is_neither_rows_nor_a_model_a_schema_or_a_release(refused, table, name, tmp_path):
    out = ("--out", tmp_path / "out.json")
    refused("predict", name, table, *out)
    refused("train", table, "--schema", name, "--epsilon", "1", *out)
    if not name.startswith("/dev"):
        refused("train", name, "--epsilon", "1", *out)
    if name:
        refused("register", "check", name, "--register", tmp_path / "r.db")


def test_no_message_is_longer_than_people_read(refused, table, tmp_path):
    assert len(refused("train", "t.csv", "--out", "m", "--epsilon", "x" * 100_000)) < 10_000
    assert len(refused("x" * 100_000)) < 10_000
    assert len(str(UnknownName("column", "x", ["y" * 10**6]))) < 10_000
    assert len(str(DpvizError("what" * 10**5, where="where" * 10**5, remedy="remedy" * 10**5))) < 10_000
    many = tmp_path / "many.json"
    many.write_text('{"format": "dpviz-schema/1", "features": [' + '"category", ' * 10**6)
    said = refused("train", table, "--schema", many, "--epsilon", "1", "--out", tmp_path / "out.json")
    assert "The schema file is larger than 10 MB" in said


def argument_lists(seed, folder):
    """Endless lists of words: commands, options, names of files and devices, numbers, and rubbish."""
    rng = random.Random(seed)
    odd = ["", "-", "--", "-1", "0", "nan", "inf", "1e999", "9" * 30, "１", BYTES, "a\0b", "a=b", "=", ",", "%s", "@x", "é" * 300]
    names = [*(str(folder / name) for name in ("t.csv", "absent", "out", "")), "/dev/null", "/dev/full", f"x{BYTES}"]
    options = "epsilon max-depth out force schema target seed param learner delta depth names delimiter encoding sheet rows"
    options += " person rows-per-person data-set assign register unit rows-per-unit epsilon-cap role reason by head answers help"
    words = [*COMMANDS, "list", "declare", "cap", "check", "resume", "1", "0.5", "pf-tree", "label"]
    kinds = [[f"--{name}" for name in options.split()], odd, names, words]
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
