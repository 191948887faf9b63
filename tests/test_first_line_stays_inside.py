"""Without a header line the first line is somebody's row, and a text given in place of a path may hold rows: neither is quoted.

Only names that the schema, the caller or the model file declares stand in messages.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import dpviz
from dpviz.__main__ import main

#: First lines that are rows: their cells are near the declared names, or not.
ROWS = {
    "near": ["63", "30.2", "diabetic", "readmited"],
    "texts": ["Miller", "Zermatt", "diabets", "jes"],
    "capitals": ["AGED", "BMIS", "Diabete", "READMITTE"],
    "numbers": ["63", "30.2", "1", "0"],
}
#: Parts of cells that are never printed.
SECRETS = [cell for cells in ROWS.values() for cell in cells if len(cell) > 3]
FEATURES = (dpviz.NumericFeature("age", 0, 120), dpviz.CategoricalFeature("diabetes", ("no", "yes")))
SCHEMA = dpviz.Schema(FEATURES, dpviz.ClassTarget("readmitted", ("no", "yes")), n_public=100)
ENDINGS = ["csv", "tsv", "txt", "csv.gz", "xlsx", "parquet", "feather", "dta", "folder"]
#: What kind of file it is and what its first line holds: all kinds with one line, all lines with a text and a file of types.
PAIRS = [*((ending, "near") for ending in ENDINGS), *((ending, first) for ending in ("csv", "parquet") for first in [*ROWS][1:])]
SLOW = ("xlsx", "feather", "dta", "csv.gz")
every_first_line = pytest.mark.parametrize(
    ("ending", "first"), [pytest.param(*pair, marks=[pytest.mark.slow] * (pair[0] in SLOW)) for pair in PAIRS]
)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    frame = pd.DataFrame({"age": range(100), "diabetes": ["no", "yes"] * 50, "readmitted": ["no"] * 40 + ["yes"] * 60})
    path = tmp_path_factory.mktemp("model") / "model.json"
    path.write_text(dpviz.fit("pf-tree", frame, schema=SCHEMA, epsilon=1, seed=0).to_json())
    return path


def written(folder: Path, ending: str, first: list[str]) -> Path:
    frame = pd.DataFrame([["41", "22.5", "no", "yes"]] * 30, columns=first)
    path = folder / f"private.{ending}"
    match ending:
        case "csv" | "txt":
            frame.to_csv(path, index=False)
        case "csv.gz":
            frame.to_csv(path, index=False, compression="gzip")
        case "tsv":
            frame.to_csv(path, index=False, sep="\t")
        case "xlsx":
            frame.to_excel(path, index=False)
        case "parquet":
            frame.to_parquet(path)
        case "feather":
            frame.to_feather(path)
        case "dta":
            frame.rename(columns=lambda name: name if name[0].isalpha() else f"v{name[:2]}").to_stata(path, write_index=False)
        case "folder":
            path.mkdir()
            frame.to_csv(path / "part.csv", index=False)
    return path


def said(ask: Callable[[], object]) -> str:
    """What a call returns, warns of and raises, with what that came from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = repr(ask())
        except dpviz.DpvizError as problem:
            text, error = "", problem  # what a traceback shows, without lines of code
            while error is not None:
                text += f"{type(error).__name__}: {error}\n"
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return text + "".join(str(one.message) for one in caught)


def secrets_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


def asked_in_python(path: Path, model: Path) -> dict[str, Callable[[], object]]:
    result = dpviz.load_result(model)
    return {
        "encode": lambda: dpviz.encode(path, SCHEMA),
        "encode, with persons": lambda: dpviz.encode(path, SCHEMA, person="patient", rows_per_person=1),
        "fit": lambda: dpviz.fit("pf-tree", path, schema=SCHEMA, epsilon=1, seed=0),
        "encode_large": lambda: dpviz.encode_large(path, SCHEMA),
        "read_table": lambda: dpviz.read_table(path),
        "column": lambda: dpviz.read_table(path).column("diabetes"),
        "propose_schema": lambda: dpviz.propose_schema(path, "diabetes"),
        "predict": lambda: result.predict(path),
        "sweep": lambda: dpviz.sweep(["pf-tree"], path, schema=SCHEMA, epsilon=[1.0], folds=2, repeats=1),
    }


@every_first_line
def test_no_call_quotes_the_first_line(ending, first, model, tmp_path):
    path = written(tmp_path, ending, ROWS[first])
    for name, ask in asked_in_python(path, model).items():
        assert secrets_in(said(ask)) == [], name


COMMANDS = {
    "train": ("train", "{data}", "--schema", "{schema}", "--epsilon", "1", "--out", "{out}"),
    "train, a person": (
        *("train", "{data}", "--schema", "{schema}", "--person", "patient", "--rows-per-person", "1"),
        *("--epsilon", "1", "--out", "{out}"),
    ),
    "train, nothing named": ("train", "{data}", "--epsilon", "1", "--seed", "0", "--out", "{out}"),
    "train, no schema": ("train", "{data}", "--target", "diabetes", "--epsilon", "1", "--seed", "0", "--out", "{out}"),
    "predict": ("predict", "{model}", "{data}", "--out", "{out}"),
    "predict, a key": ("predict", "{model}", "{data}", "--key", "patient", "--out", "{out}"),
    "evaluate": ("evaluate", "{model}", "{data}"),
    "sweep": ("sweep", "{data}", "--schema", "{schema}", "--epsilon", "1", "--folds", "2", "--repeats", "1", "--out", "{out}"),
}


@every_first_line
def test_no_command_quotes_the_first_line(ending, first, model, tmp_path, capsys):
    path, schema = written(tmp_path, ending, ROWS[first]), tmp_path / "schema.json"
    schema.write_text(SCHEMA.to_json())
    for number, command in enumerate(COMMANDS.values()):
        out = tmp_path / f"out-{number}.csv"
        main([word.format(data=path, schema=schema, model=model, out=out) for word in command])
        heard = "".join(capsys.readouterr())
        assert heard, command
        assert secrets_in(heard) == [], command


def test_whoever_asks_for_a_proposal_looks_at_the_file(tmp_path, capsys):
    path = written(tmp_path, "csv", ["age", "bmi", "diabetic", "readmitted"])
    assert main(["schema", str(path), "--target", "diabetes", "--out", str(tmp_path / "s.json")]) == 2
    assert "Did you mean 'diabetic'?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["schema", "train"])
def test_a_first_line_that_holds_numbers_is_doubted(command, tmp_path, capsys):
    path, out = tmp_path / "adult.data", tmp_path / "out.json"
    path.write_text("59,Private,100,HS-grad,>50K\n" + "41,State,80,BA,<=50K\n30,Private,70,HS-grad,>50K\n" * 20)
    more = ["--epsilon", "1", "--seed", "0"] if command == "train" else []
    main([command, str(path), *more, "--out", str(out)])
    assert "the first line seems to be a row. Give the names of the columns: --names A,B,..." in capsys.readouterr().err


# --- texts in place of paths

TEXTS = {
    "lines": "age,diabetes,readmitted\n41,yes,no\n29,no,yes\n",
    "CRLF": "age;diabetes\r\n41;yes\r\n",
    "one line": "41,yes,secret-reading",
    "semicolons": "41;yes;secret-reading",
    "tabs": "41\tyes\tsecret-reading",
    "bars": "41|yes|secret-reading",
    "quotes": '"41" "secret-reading"',
    "JSON": '{"age": 41, "diabetes": "secret-reading"}',
    "a list": '[{"age": 41}, {"diabetes": "secret-reading"}]',
    "long": "secret-reading " * 300,
    "with a slash": "age,seen\n41,01/02/2024\n42,secret-reading/03/2024\n",
    "with a NUL": "41,\0,secret-reading\n",
    "XML": "<row><age>41</age><diabetes>secret-reading</diabetes></row>",
}


#: Calls that take the name of a thing, not a path.
NAMES = ("fit, as learner", "fit, as groups", "load_sample", "export")


def asked_with(text: str, folder: Path) -> dict[str, Callable[[], object]]:
    frame = pd.DataFrame({"age": range(100), "diabetes": ["no", "yes"] * 50, "readmitted": ["no"] * 40 + ["yes"] * 60})
    result = dpviz.fit("pf-tree", frame, schema=SCHEMA, epsilon=1, seed=0)
    return {
        "read_table": lambda: dpviz.read_table(text),
        "read_table, a path": lambda: dpviz.read_table(Path(text)),
        "encode": lambda: dpviz.encode(text, SCHEMA),
        "encode_large": lambda: dpviz.encode_large(text, SCHEMA),
        "propose_schema": lambda: dpviz.propose_schema(text),
        "fit": lambda: dpviz.fit("pf-tree", text, schema=SCHEMA, epsilon=1),
        "fit, as schema": lambda: dpviz.fit("pf-tree", frame, schema=text, epsilon=1),
        "fit, as learner": lambda: dpviz.fit(text, frame, schema=SCHEMA, epsilon=1),
        "fit, as groups": lambda: dpviz.fit("pf-tree", frame, schema=SCHEMA, epsilon=1, seed=0, groups=text, test_share=0.1),
        "sweep": lambda: dpviz.sweep(["pf-tree"], text, schema=SCHEMA, epsilon=[1.0]),
        "predict": lambda: result.predict(text),
        "load_schema": lambda: dpviz.load_schema(text),
        "save_schema": lambda: dpviz.save_schema(SCHEMA, f"{folder}/no/such/{text}"),
        "Schema.save": lambda: SCHEMA.save(f"no/such/folder/{text}"),
        "result.save": lambda: result.save(f"no/such/folder/{text}"),
        "load_result": lambda: dpviz.load_result(text),
        "model_from_json": lambda: dpviz.model_from_json(text),
        "import_codebook": lambda: dpviz.import_codebook(text),
        "open_register": lambda: dpviz.open_register(f"no/such/folder/{text}").data_sets,
        "load_sample": lambda: dpviz.load_sample(text),
        "open_table": lambda: dpviz.open_table(text, SCHEMA),
        "audit_outputs": lambda: dpviz.audit_outputs(text, text),
        "export": lambda: result.export(text),
    }


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_in_place_of_a_path_is_quoted(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, ask in asked_with(TEXTS[text], tmp_path).items():
        heard = said(ask)
        assert heard, name
        is_name = name in NAMES and len(TEXTS[text].splitlines()) == 1  # a name of something else, as long as a name is
        assert [part for part in ("secret-reading", "41,yes", "41;yes") if part in heard and not is_name] == [], name


@pytest.mark.parametrize("path", ["rows.csv", "data/rows 2024.csv", "C:\\data\\rows.csv", "Zürich/Müller.csv", "a.b-c_d(1).csv"])
def test_a_path_is_named(path):
    with pytest.raises(dpviz.DpvizError, match=r"rows|Müller|a\.b-c_d"):
        dpviz.read_table(path)
