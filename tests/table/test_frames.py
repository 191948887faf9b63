"""The same rows in any form are the same table: they give the same document, and the same answers."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.errors import ParameterError, TableError
from dpviz.randomness import generator
from dpviz.table.raw import table_of

N = 400


def _rows() -> dict[str, list[object]]:
    rng = generator(3)
    age, dose = rng.integers(18, 91, N), rng.normal(5, 2, N)
    ward = np.array(["north", "south", "east"], dtype=object)[rng.integers(0, 3, N)]
    day = [dt.date(2024, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 300, N)]
    shift = [dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30), dt.datetime(2024, 3, 2, 8)]
    rows: dict[str, list[object]] = {
        "age": age.tolist(),
        "weight": dose.tolist(),
        "narrow": dose.astype(np.float32).tolist(),
        "ward": ward.tolist(),
        "admitted": day,
        "shift": [shift[k] for k in rng.integers(0, 3, N)],
        "smoker": (rng.random(N) < 0.4).tolist(),
        "grade": rng.integers(1, 4, N).tolist(),
        "note": [f"free {k}" for k in range(N)],
        "ill": np.where(age + 10 * (ward == "south") + 5 * rng.random(N) > 60, "yes", "no").tolist(),
    }
    for place, name in enumerate(("age", "weight", "ward", "admitted", "shift", "smoker", "grade", "ill")):
        for row in range(place, N, 37):
            rows[name][row] = None
    return rows


ROWS = _rows()
SHIFTS = ("2024-03-01", "2024-03-01 14:30:00", "2024-03-02T08:00:00")
SCHEMA = dpviz.Schema(
    (
        dpviz.NumericFeature("age", 18, 90, whole=True),
        dpviz.NumericFeature("weight", -2, 12, missing_as=5),
        dpviz.NumericFeature("narrow", 0, 10),
        dpviz.CategoricalFeature("ward", ("north", "south"), unknown_as="north", missing_as="south"),
        dpviz.DateFeature("admitted", 1, 12, part="month", missing_as=6),
        dpviz.CategoricalFeature("shift", SHIFTS, missing_as="2024-03-01"),
        dpviz.CategoricalFeature("smoker", ("False", "True"), missing_as="False"),
        dpviz.CategoricalFeature("grade", ("1", "2", "3"), missing_as="1"),
    ),
    dpviz.ClassTarget("ill", ("no", "yes")),
    n_public=400,
)


def _arrow() -> pa.Table:
    types = {"narrow": pa.float32(), "ward": pa.dictionary(pa.int8(), pa.string())}
    return pa.table({name: pa.array(cells, types.get(name)) for name, cells in ROWS.items()})


def _numpy_frame() -> pd.DataFrame:
    """As people have it: a missing whole number makes floats, a missing truth value makes objects."""
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in ROWS.items()})
    frame = frame.astype({"age": float, "weight": float, "narrow": np.float32, "ward": "category", "grade": float})
    return frame.assign(shift=pd.to_datetime(frame["shift"]), admitted=pd.to_datetime(frame["admitted"]))


FORMS = {
    "pandas, NumPy": _numpy_frame,
    "pandas, objects": lambda: pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in ROWS.items()}).astype(
        {"narrow": np.float32}
    ),
    "pandas, nullable": lambda: _numpy_frame().convert_dtypes(dtype_backend="numpy_nullable"),
    "pandas, nanoseconds": lambda: _numpy_frame().astype({"shift": "datetime64[ns]"}),
    "pandas, Arrow": lambda: _arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda: pl.DataFrame(ROWS, schema_overrides={"narrow": pl.Float32, "ward": pl.Categorical}, strict=False),
    "Polars, from Arrow": lambda: pl.from_arrow(_arrow()),
    "Arrow": _arrow,
    "Arrow, in pieces": lambda: pa.concat_tables([_arrow().slice(0, 90), _arrow().slice(90)]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("files")
    pq.write_table(_arrow(), folder / "rows.parquet")
    pf.write_feather(_arrow(), folder / "rows.feather")
    texts = _numpy_frame()  # a file of text has no types: moments are matched as they are written
    shift = texts["shift"].map({moment: label for label, moment in zip(SHIFTS, map(pd.Timestamp, SHIFTS), strict=True)})
    texts.assign(narrow=texts["narrow"].astype(float).map(repr), shift=shift).to_csv(folder / "rows.csv", index=False)
    return {"Parquet": folder / "rows.parquet", "Feather": str(folder / "rows.feather"), "CSV": folder / "rows.csv"}


@pytest.fixture(scope="module")
def every(files) -> dict[str, object]:
    made = {name: make() for name, make in FORMS.items()}
    return made | files | {"a table": dpviz.read_table(files["Parquet"]), "encoded": dpviz.encode(_arrow(), SCHEMA)}


NAMES = [*FORMS, "Parquet", "Feather", "CSV", "a table", "encoded"]


@pytest.fixture(scope="module")
def expected(every) -> dpviz.FitResult:
    return dpviz.fit("pf-tree", every["encoded"], epsilon=2, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("form", NAMES)
def test_the_same_rows_in_any_form_give_the_same_document_answers_and_proposal(form, every, expected):
    schema = None if form == "encoded" else SCHEMA
    data = every[form] if form == "encoded" else dpviz.encode(every[form], SCHEMA)
    assert data.fingerprint == every["encoded"].fingerprint
    assert expected.score(every[form]) == expected.score(every["encoded"])
    if form not in ("encoded", "CSV"):  # a file of text has no types
        proposed = dpviz.propose_schema(every[form], target="ill")
        assert proposed == dpviz.propose_schema(every["Arrow"], target="ill")
        assert dpviz.encode(every[form], proposed).fingerprint == dpviz.encode(every["Arrow"], proposed).fingerprint
    if form != "encoded":
        found = expected.predict(every[form]).tolist()
        assert found == expected.predict(every["Arrow"]).tolist()
        assert found.count(None) == sum(age is None for age in ROWS["age"])
        np.testing.assert_array_equal(expected.predict_proba(every[form]), expected.predict_proba(every["Arrow"]))
    assert dpviz.fit("pf-tree", every[form], schema=schema, epsilon=2, seed=5).to_json() == expected.to_json()


@pytest.mark.slow
def test_a_sweep_takes_a_frame_and_encoded_rows_alone_need_no_schema_and_take_no_other(every):
    asked = {"epsilon": [1.0], "folds": 2, "repeats": 1}
    found = dpviz.sweep(["pf-tree"], every["Polars"], schema=SCHEMA, **asked)
    pd.testing.assert_frame_equal(found, dpviz.sweep(["pf-tree"], every["encoded"], **asked))
    with pytest.raises(ParameterError, match="schema"):
        dpviz.fit("pf-tree", pd.DataFrame(ROWS), epsilon=1, seed=0)
    with pytest.raises(ParameterError, match="by which the rows were encoded"):
        dpviz.fit("pf-tree", every["encoded"], schema=SCHEMA.declare(n_public=300), epsilon=1, seed=0)


def test_two_columns_of_one_name_are_refused_and_a_frame_may_be_changed_afterwards():
    for rows in (pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])):
        with pytest.raises(TableError, match="Columns 1 and 2 are called 'a'"):
            table_of(rows, ["a"])
    numbers = np.arange(5.0)
    frame, arrow = pd.DataFrame({"a": numbers}, copy=False), pa.table({"a": numbers})
    tables = [table_of(frame), table_of(arrow)]
    numbers[:] = 9
    frame.loc[0, "a"] = 7
    assert [table.column("a").numbers().tolist() for table in tables] == [[0, 1, 2, 3, 4]] * 2


@pytest.mark.parametrize("called", ["Gro\u0308\u00dfe", "Gr\u00f6\u00dfe", "Gr\u00f6\u00dfe\u00a0"])
def test_a_name_in_another_form_of_unicode_is_the_name(called):
    rows = pd.DataFrame({called: [1.0, 2.0], "y": ["n", "p"]})
    schema = dpviz.Schema((dpviz.NumericFeature("Gr\u00f6\u00dfe", 0, 9),), dpviz.ClassTarget("y", ("n", "p")))
    for form in (rows, pl.from_pandas(rows), pa.Table.from_pandas(rows), rows.to_csv(index=False).encode()):
        data = dpviz.encode(form, schema)
        assert data.columns[0].tolist() == [1, 2]
        assert data.report.ignored_columns == ()


def test_columns_of_lists_that_are_left_out_of_a_frame_are_named():
    def of_arrow(columns):
        return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)

    for form in (pl.DataFrame, pa.table, of_arrow):
        rows = table_of(form({"x": [1, 2], "many": [[1], [2]], "y": ["a", "b"]}))
        assert rows.notes == ("Left out columns of lists, records or types of a library: 'many'.",)
        with pytest.raises(dpviz.errors.SchemaError, match="holds lists, records or a type of a library"):
            rows.column("many")
