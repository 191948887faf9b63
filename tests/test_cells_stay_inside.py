"""A canary in any cell of any table comes back in no error (nor behind it), warning, `repr` or line of a command.

Without a header line the first line is somebody's row, and a text given in place of a path may hold rows: neither is quoted. Only
names that the schema, the caller or the model file declares stand in messages.
"""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.__main__ import main
from dpviz.errors import DpvizError, TableError, replace_errors
from dpviz.sklearn import PrivateTreeClassifier, PrivateTreeRegressor

CANARY, NUMBER = "CANARY-Müller-4711", 4711.4711
#: What no message may hold: parts too, for libraries cut and escape what they quote.
TRACES = ("CANARY", "4711", "ller-")
N_ROWS = 30
CLEAN: dict[str, list[Any]] = {
    "num": [float(row) for row in range(N_ROWS)],
    "cat": ["a", "b"] * (N_ROWS // 2),
    "y": ["n", "p", "p"] * (N_ROWS // 3),
}
SCHEMA = dpviz.Schema(
    (dpviz.NumericFeature("num", 0, 30), dpviz.CategoricalFeature("cat", ("a", "b"))),
    dpviz.ClassTarget("y", ("n", "p")),
    n_public=30,
)
#: A text, a number, and cells that cannot be looked up or have no text.
CELLS = (CANARY, NUMBER, [CANARY], {CANARY: 1}, CANARY.encode(), (CANARY,), complex(NUMBER, 1))
COLUMNS = tuple(CLEAN)
#: The text in a column of numbers; everything everywhere.
ONE, EVERY = [("num", CANARY)], [(name, cell) for name in COLUMNS for cell in CELLS]
KINDS = ("objects", "numpy", "nullable", "arrow", "polars", "list", "dict", "array")


def spoiled(column: str, cell: Any) -> dict[str, list[Any]]:
    rows = {name: list(cells) for name, cells in CLEAN.items()}
    rows[column][5] = cell
    return rows


def table(kind: str, rows: dict[str, list[Any]]) -> Any:
    """The rows as this kind of table; of frames with types, cells of other types become texts as far as possible."""
    texts = {name: cells if len(set(map(type, cells))) == 1 else list(map(_text, cells)) for name, cells in rows.items()}
    match kind:
        case "objects":
            return pd.DataFrame(rows, dtype=object)
        case "numpy":
            return pd.DataFrame(rows)
        case "nullable":
            return pd.DataFrame(texts).convert_dtypes()
        case "arrow":
            return pd.DataFrame(texts).convert_dtypes(dtype_backend="pyarrow")
        case "polars":
            return pytest.importorskip("polars").DataFrame(texts)
        case "list":
            return [list(row) for row in zip(*rows.values(), strict=True)]
        case "dict":
            return rows
        case _:
            found = np.empty((N_ROWS, len(rows)), dtype=object)
            for place, cells in enumerate(rows.values()):
                found[:, place] = np.fromiter(cells, dtype=object, count=N_ROWS)
            return found


def _text(cell: Any) -> str:
    return cell.decode() if isinstance(cell, bytes) else str(cell)


def features_and_target(rows: Any) -> tuple[Any, Any]:
    match rows:
        case dict():
            return {name: cells for name, cells in rows.items() if name != "y"}, rows["y"]
        case list():
            return [row[:2] for row in rows], [row[2] for row in rows]
        case np.ndarray():
            return rows[:, :2], rows[:, 2]
        case pd.DataFrame():
            return rows.drop(columns="y"), rows["y"]
    return rows.drop("y"), rows["y"]


def estimators() -> Iterator[Any]:
    bounds, categories = {"bounds": {0: (0, 30)}}, {"categories": {1: ("a", "b")}}
    for given in ({}, bounds, bounds | categories, bounds | categories | {"classes": ("n", "p")}):
        yield PrivateTreeClassifier(random_state=0, n_public=30, **given)
    for given in ({}, {"target_bounds": (0, 1)}, bounds | categories | {"target_bounds": (0, 1)}):
        yield PrivateTreeRegressor(random_state=0, n_public=30, **given)


def result() -> Any:
    return dpviz.fit("pf-tree", dpviz.encode(dpviz.read_table(csv_of(CLEAN)), SCHEMA), epsilon=1, seed=0)


def csv_of(rows: dict[str, list[Any]]) -> bytes:
    return pd.DataFrame(rows, dtype=object).to_csv(index=False).encode()


TRAINED = result()


def asked_of_estimators(rows: Any) -> Iterator[Callable[[], Any]]:
    X, y = features_and_target(rows)
    clean, _ = features_and_target(table("numpy", CLEAN))
    yield from (lambda estimator=estimator: estimator.fit(X, y) for estimator in estimators())
    trained = trained_on_clean_rows()
    yield from (lambda ask=ask: ask(X) for ask in (trained.predict, trained.predict_proba))
    yield from (lambda given=given: trained.score(given, y) for given in (X, clean))


@cache
def trained_on_clean_rows() -> PrivateTreeClassifier:
    whole = {"bounds": {0: (0, 30)}, "categories": {1: ("a", "b")}, "classes": ("n", "p"), "n_public": 30}
    return PrivateTreeClassifier(random_state=0, **whole).fit(*features_and_target(table("numpy", CLEAN)))


def asked_of_the_library(rows: Any) -> dict[str, Callable[[], Any]]:
    """Every public call, given the rows wherever rows, or anything else, may be given."""
    data = TRAINED.schema
    return {
        "fit": lambda: dpviz.fit("pf-tree", rows, epsilon=1, seed=0),
        "fit, wrongly": lambda: dpviz.fit(rows, rows, epsilon=rows, seed=rows),
        "predict": lambda: TRAINED.predict(rows),
        "predict_proba": lambda: TRAINED.predict_proba(rows),
        "score": lambda: TRAINED.score(rows),
        "encode": lambda: dpviz.encode(rows, SCHEMA),
        "encode, persons": lambda: dpviz.encode(rows, SCHEMA, person="patient", rows_per_person=1),
        "fit, with a schema": lambda: dpviz.fit("pf-tree", rows, schema=SCHEMA, epsilon=1, seed=0),
        "fit, as schema": lambda: dpviz.fit("pf-tree", pd.DataFrame(CLEAN), schema=rows, epsilon=1, seed=0),
        "fit, as groups": lambda: dpviz.fit(
            "pf-tree", pd.DataFrame(CLEAN), schema=SCHEMA, epsilon=1, seed=0, groups=rows, test_share=0.1
        ),
        "encode_large": lambda: dpviz.encode_large(rows, SCHEMA),
        "propose_schema": lambda: dpviz.propose_schema(rows).feature_names,  # it is there to say what it reads
        "read_csv": lambda: dpviz.read_csv(rows),
        "read_table": lambda: dpviz.read_table(rows),
        "open_table": lambda: dpviz.open_table(rows, SCHEMA),
        "sweep": lambda: dpviz.sweep(["pf-tree"], rows, epsilon=[1]),
        "sweep, with a schema": lambda: dpviz.sweep(["pf-tree"], rows, schema=SCHEMA, epsilon=[1], folds=2, repeats=1),
        "load_sample": lambda: dpviz.load_sample(rows),
        "poisoning_curve": lambda: dpviz.poisoning_curve("pf-tree", rows, rows, epsilon=1, draws=1),
        "audit": lambda: dpviz.audit("pf-tree", seed=0, pair=(rows, rows), draws=4),
        "audit_outputs": lambda: dpviz.audit_outputs(rows, rows),
        "verify": lambda: dpviz.verify("pf-tree", epsilon=rows),
        "exact_trace": lambda: dpviz.exact_trace(TRAINED.model, rows),
        "ExactTrace": lambda: dpviz.ExactTrace({}, {}).rows(""),
        "stream_of": lambda: dpviz.stream_of(rows, rows, "num", 0.5),
        "Stream": lambda: dpviz.train_on_stream(rows, "stop", epsilon=1, seed=0),
        "train_on_stream": lambda: dpviz.train_on_stream(rows, "stop", epsilon=1, seed=0),
        "train_federated": lambda: dpviz.train_federated([rows, rows], epsilon=1, public_seed=0, seed=0),
        "load_result": lambda: dpviz.load_result(rows),
        "load_schema": lambda: dpviz.load_schema(rows),
        "save_schema": lambda: dpviz.save_schema(rows, "/nowhere/schema.json"),
        "model_from_json": lambda: dpviz.model_from_json(rows),
        "import_codebook": lambda: dpviz.import_codebook(rows),
        "codebook_template": lambda: dpviz.codebook_template(rows),
        "learner_names": lambda: dpviz.learner_names(),
        "Schema": lambda: dpviz.Schema(data.features, data.target, n_public=rows),
        "NumericFeature": lambda: dpviz.NumericFeature("num", rows, 1),
        "NumericTarget": lambda: dpviz.NumericTarget("num", 0, rows),
        "EncodedDataset": lambda: dpviz.EncodedDataset(rows, rows, rows),
        "FitRequest": lambda: dpviz.FitRequest.of("pf-tree", epsilon=rows).fit(rows),
        "RawTable": lambda: dpviz.read_table(csv_of(CLEAN)).column(rows),
        "Register": lambda: dpviz.open_register(rows).data_sets(),
        "open_register": lambda: dpviz.open_register(rows).release("clinic", "pf-tree", rows, epsilon=1),
        "export_names": lambda: dpviz.export_names(),
        "which_learner": lambda: dpviz.which_learner(SCHEMA, epsilon=rows),
        "parameters": lambda: dpviz.parameters(rows),
        "export": lambda: TRAINED.export(rows),
        "DateFeature": lambda: dpviz.DateFeature("num", rows, 1),
    }


def heard(ask: Callable[[], Any], caplog: Any, *, behind: bool = True) -> str:
    """What comes out: the answer as it prints itself, an error, also `behind` what a traceback shows, warnings, the log."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            answer = ask()
            if not isinstance(answer, np.ndarray):
                said.append(repr(answer))
        except Exception as error:
            said.append("".join(traceback.format_exception(error)))
            while behind and error is not None:
                said += [type(error).__name__, str(error), *(str(arg) for arg in error.args)]
                error = error.__cause__ or error.__context__  # type: ignore[assignment]
    said += [str(one.message) for one in warned]
    return "\n".join((*said, caplog.text))


def traces(text: str) -> list[str]:
    """Lines with something of the canary."""
    return [line for line in text.splitlines() if any(trace in line for trace in TRACES)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        *((kind, ONE) for kind in KINDS),
        *(pytest.param(kind, EVERY, marks=pytest.mark.slow) for kind in ("objects", "arrow")),
        *(pytest.param(kind, EVERY, marks=pytest.mark.verify) for kind in KINDS if kind not in ("objects", "arrow")),
    ],
)
def test_no_estimator_lets_a_cell_out(kind, cells, caplog):
    caplog.set_level(logging.DEBUG)
    for column, cell in cells:
        for ask in asked_of_estimators(table(kind, spoiled(column, cell))):
            assert traces(heard(ask, caplog)) == [], (column, type(cell), ask)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [ONE, pytest.param(EVERY, marks=pytest.mark.slow)])
def test_no_public_call_lets_a_cell_out(kind, cells, caplog):
    caplog.set_level(logging.DEBUG)
    for column, cell in cells:
        for name, ask in asked_of_the_library(table(kind, spoiled(column, cell))).items():
            assert traces(heard(ask, caplog)) == [], (column, type(cell), name)


COMMANDS = {
    "schema": ("schema", "{data}", "--out", "{out}"),
    "train": ("train", "{data}", "--schema", "{schema}", "--epsilon", "1", "--seed", "0", "--out", "{out}"),
    "release": ("train", "{data}", "--schema", "{schema}", "--epsilon", "1", "--accept-rows", "--out", "{out}"),
    "train, nothing declared": ("train", "{data}", "--target", "y", "--epsilon", "1", "--seed", "0", "--out", "{out}"),
    "persons": (
        *("train", "{data}", "--schema", "{schema}", "--person", "who", "--rows-per-person", "1"),
        *("--epsilon", "1", "--seed", "0", "--out", "{out}"),
    ),
    "no header": ("train", "{data}", "--names", "num,cat", "--schema", "{schema}", "--epsilon", "1", "--out", "{out}"),
    "sweep": ("sweep", "{data}", "--schema", "{schema}", "--epsilon", "1", "--folds", "2", "--repeats", "1"),
    "predict": ("predict", "{model}", "{data}", "--out", "{out}"),
    "predict, a key": ("predict", "{model}", "{data}", "--key", "patient", "--out", "{out}"),
    "evaluate": ("evaluate", "{model}", "{data}"),
}
ENDINGS = ("csv", "tsv", "xlsx", "parquet", "feather", "damaged.parquet", "damaged.xlsx", "csv.gz")


def written(folder, ending: str, frame: pd.DataFrame):
    path = folder / f"rows.{ending}"
    match ending.split(".")[-1]:
        case "xlsx":
            frame.to_excel(path, index=False)
        case "parquet":
            frame.to_parquet(path, compression=None)
        case "feather":
            frame.to_feather(path)
        case "dta":
            frame.rename(columns=lambda name: name if name[0].isalpha() else f"v{name[:2]}").to_stata(path, write_index=False)
        case "folder":
            path.mkdir()
            frame.to_csv(path / "part.csv", index=False)
        case _:
            frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    if ending.startswith("damaged"):
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2 : len(raw) // 2 + 200] = bytes(200)
        path.write_bytes(raw)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", [ENDINGS[0], *(pytest.param(ending, marks=pytest.mark.slow) for ending in ENDINGS[1:])])
def test_no_command_prints_a_cell(ending, tmp_path, capsys):
    for column in COLUMNS:
        texts = {name: list(map(_text, cells)) for name, cells in spoiled(column, CANARY).items()}
        path = written(tmp_path, ending, pd.DataFrame(texts | {"who": [CANARY] * N_ROWS}))
        for command, said in said_by_commands(path, capsys).items():
            assert traces(said) == [], command


def said_by_commands(path, capsys) -> dict[str, str]:
    paths = {"schema": path.with_name("schema.json"), "model": path.with_name("model.json")}
    SCHEMA.save(paths["schema"])
    paths["model"].write_text(TRAINED.to_json(), encoding="utf-8")
    found = {}
    for number, (command, words) in enumerate(COMMANDS.items()):
        out = path.with_name(f"out-{number}.{'csv' if 'predict' in command else 'json'}")
        main([word.format(data=path, out=out, **paths) for word in words])
        found[command] = "".join(capsys.readouterr())
        assert found[command], command
    return found


@pytest.mark.slow
def test_what_holds_rows_prints_itself_in_a_few_lines_without_one():
    raw = dpviz.read_table(csv_of(spoiled("cat", CANARY)))
    frame = dpviz.read_table(csv_of(spoiled("num", NUMBER)))
    data = dpviz.encode(frame, SCHEMA.declare("num", high=9999))
    grown = dpviz.audit("pf-tree", seed=0, pair=(data.take(slice(0, 29), share=1.0), data), draws=4)
    for held in (raw, *raw.columns, frame, *frame.columns, data, TRAINED, dpviz.stream_of(data, data, "num", 0.5), grown):
        assert traces(repr(held)) == []
        assert len(repr(held)) < 1000
        assert str(N_ROWS) not in repr(held).replace("300", "") or held is grown
    assert repr(raw) == "RawTable('table', 3 columns)"
    assert repr(data) == "EncodedDataset(2 columns: 'num', 'cat'; target 'y')"
    assert repr(TRAINED) == (
        "FitResult('pf-tree' predicts 'y' from 2 columns: 'num', 'cat'\n"
        "  Would be guaranteed if released: epsilon = 1 (add/remove one row)\n  A simulation, not a release.)"
    )


@pytest.mark.slow
def test_the_canary_of_an_audit_does_not_print_itself():
    schema = dpviz.Schema((dpviz.CategoricalFeature("cat", ("a", CANARY)),), dpviz.ClassTarget("y", ("n", "p")), n_public=30)
    rows = dpviz.encode(dpviz.read_table(b"cat,y\n" + b"a,n\n" * 9 + f"{CANARY},p\n".encode()), schema)
    found = dpviz.audit("pf-tree", seed=0, pair=(rows.take(slice(0, 9), share=1.0), rows), draws=4)
    assert CANARY in dict(found.canary).values()
    assert traces(repr(found)) == []


def test_the_door_leaves_nothing_behind_an_error_and_lets_a_stop_through():
    def fails(theirs: Exception) -> DpvizError:
        with pytest.raises(TableError) as caught, replace_errors(lambda _: TableError("damaged", "No.", remedy="")):
            raise theirs
        return caught.value

    ours = TableError("other", "Ours.", remedy="")
    ours.__cause__ = ValueError(CANARY)
    for theirs in (ValueError(CANARY), KeyError(CANARY), UnicodeDecodeError("utf-8", CANARY.encode(), 0, 1, "x"), ours):
        error = fails(theirs)
        assert (error.__cause__, error.__context__) == (None, None)
    assert fails(ours) is ours
    with pytest.raises(KeyboardInterrupt), replace_errors(lambda _: TableError("failed", "No.", remedy="")):
        raise KeyboardInterrupt


def test_every_public_name_is_tried():
    without_rows = {"__version__", "DpvizError", "FitResult", "PrivacyLoss", "CategoricalFeature", "ClassTarget"}
    without_rows |= {"Parameter", "Recommended", "TestReport", "OutputBound"}
    assert set(dpviz.__all__) - without_rows <= set(asked_of_the_library(None))


# --- a first line that is somebody's row

#: First lines that are rows: their cells are near the declared names, or not.
FIRST = {
    "near": ["63", "30.2", "nummm", "catts"],
    "texts": ["Miller", "Zermatt", "diabets", "jes"],
    "capitals": ["NUMMM", "BMIS", "Diabete", "CATTS"],
    "numbers": ["63", "30.2", "1", "0"],
}
#: What kind of file it is and what its first line holds: all kinds with one line, all lines with a text and a file of types.
PAIRS = [(ending, "near") for ending in ("csv", "tsv", "txt", "csv.gz", "xlsx", "parquet", "feather", "dta", "folder")]
PAIRS += [(ending, first) for ending in ("csv", "parquet") for first in [*FIRST][1:]]
SLOW = ("xlsx", "feather", "dta", "csv.gz")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "first"), [pytest.param(*pair, marks=[pytest.mark.slow] * (pair[0] in SLOW)) for pair in PAIRS]
)
def test_no_call_and_no_command_quotes_the_first_line(ending, first, tmp_path, capsys, caplog):
    path = written(tmp_path, ending, pd.DataFrame([["41", "22.5", "n", "p"]] * 30, columns=FIRST[first]))
    asked = asked_of_the_library(path).items()
    said = {name: heard(ask, caplog, behind=False) for name, ask in asked if name != "audit_outputs"}  # no table
    for name, text in (said | said_by_commands(path, capsys)).items():
        assert [cell for cells in FIRST.values() for cell in cells if len(cell) > 3 and cell in text] == [], name


def test_whoever_asks_for_a_proposal_looks_at_the_file(tmp_path, capsys):
    path = written(tmp_path, "csv", pd.DataFrame([["41", "22.5", "no", "yes"]] * 30, columns=["age", "bmi", "diabetic", "back"]))
    assert main(["schema", str(path), "--target", "diabetes", "--out", str(tmp_path / "s.json")]) == 2
    assert "Did you mean 'diabetic'?" in capsys.readouterr().err


def test_training_says_doubts_about_a_column_by_its_place(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    lines = [f"{30 + row % 40},{999 if row % 9 == 0 else 20 + row % 7},{'no' if row % 2 else 'yes'}" for row in range(90)]
    path.write_text("\n".join(["Miller,Zermatt,diabetic", *lines]))
    main(["train", str(path), "--epsilon", "1", "--seed", "0", "--out", str(tmp_path / "out.json")])
    said = capsys.readouterr().err
    assert said.count("Warning: column 2: ") == 2  # of the proposal, and of encoding by it
    assert [cell for cell in ("Miller", "Zermatt") if cell in said] == []


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
#: Calls that take the name of a thing or a number, not a path.
NAMES = ("fit, wrongly", "fit, as groups", "load_sample", "export", "parameters", "which_learner", "verify", "FitRequest")
NAMES += ("Schema", "NumericFeature", "NumericTarget", "DateFeature")


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
def test_no_text_in_place_of_a_path_is_quoted(text, tmp_path, monkeypatch, caplog, capsys):
    monkeypatch.chdir(tmp_path)
    given, register = TEXTS[text], dpviz.open_register("register.db")
    register.declare("clinic", epsilon_cap=1.0, unit="one row")
    release = partial(register.release, "clinic", "pf-tree", dpviz.read_table(csv_of(CLEAN)), schema=SCHEMA, epsilon=1)
    asked = asked_of_the_library(given) | {
        "read_table, a path": lambda: dpviz.read_table(Path(given)),
        "save": lambda: SCHEMA.save(f"{tmp_path}/no/such/{given}"),
        "Schema.save": lambda: SCHEMA.save(f"no/such/folder/{given}"),
        "result.save": lambda: TRAINED.save(f"no/such/folder/{given}"),
        "open_register": lambda: dpviz.open_register(f"no/such/folder/{given}").data_sets,
        "open_table, DuckDB": lambda: dpviz.open_table(f"duckdb:///{quote(given)}?table=rows", SCHEMA),
        "check": lambda: main(["check", "model.json", "--register", given]),
        "release": lambda: release(file=f"new {given}"),
        "release, in a folder": lambda: release(file=f"new {given}/released.json"),
    }
    TRAINED.save("model.json")
    del asked["RawTable"]  # of a column that is not there
    for name, ask in asked.items():
        said = heard(ask, caplog, behind=False) + "".join(capsys.readouterr())
        is_name = name in NAMES and len(given.splitlines()) == 1  # a name of something else, as long as a name is
        assert [part for part in ("secret-reading", "41,yes", "41;yes") if part in said and not is_name] == [], name


@pytest.mark.parametrize("path", ["rows.csv", "data/rows 2024.csv", "C:\\data\\rows.csv", "Zürich/Müller.csv", "a.b-c_d(1).csv"])
def test_a_path_is_named(path):
    with pytest.raises(DpvizError, match=r"rows|Müller|a\.b-c_d"):
        dpviz.read_table(path)
