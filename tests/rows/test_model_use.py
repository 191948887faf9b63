"""A model is measured and used on a table in a database or on a cluster as on its file."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import combinations_with_replacement, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpviz
from dpviz.__main__ import main
from dpviz.errors import TableError
from dpviz.rows import opening
from dpviz.rows.opening import read_rows
from dpviz.table.schema import Schema
from tests.support.nasty_cells import SCHEMA, shuffled
from tests.support.paths import SEED
from tests.support.servers import SERVED, Engine

pytestmark = pytest.mark.slow

N_ROWS = 2000


def usable(schema: Schema) -> Schema:
    """Without columns that drop most rows."""
    dropping = ("Double Dropped", "single", "decimal", "rounded", "whole labels", 'te"xt`', "year", "weekday")
    return schema.without(*dropping).declare(n_public=N_ROWS)


@pytest.fixture(scope="module")
def given() -> pa.Table:
    rows = shuffled(N_ROWS, SEED)
    return rows.append_column("id", pa.array(range(N_ROWS))).take(np.random.default_rng(SEED).permutation(N_ROWS))


@pytest.fixture(scope="module")
def file(given: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows in the order of `id`."""
    path = tmp_path_factory.mktemp("file") / "rows.parquet"
    parquet.write_table(given.sort_by("id"), path)
    return path


@pytest.fixture(scope="module", params=[SCHEMA, usable(SCHEMA)], ids=["every kind of column", "columns that keep rows"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of this schema, grown from other rows."""
    rows = tmp_path_factory.mktemp("model") / "rows.parquet"
    parquet.write_table(shuffled(N_ROWS, SEED + 1), rows)
    data = dpviz.encode(dpviz.read_table(rows), request.param)
    path = rows.with_name("tree.json")
    path.write_text(dpviz.fit("pf-tree", data, epsilon=50.0, depth=3, seed=1).to_json())
    return path


@pytest.mark.parametrize("engine", SERVED, indirect=True)
def test_a_model_is_used_in_an_engine_as_on_the_file(
    engine: Engine,
    given: pa.Table,
    file: Path,
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """Measures to the last digit; an answer per row, and the same, in the order of the key, whatever the engine's own."""
    address = engine.fill(f"used{abs(hash(request.node.name))}", given)
    assert main(["evaluate", str(model), str(file)]) == 0
    wanted = capsys.readouterr().out
    assert main(["evaluate", str(model), address]) == 0
    assert capsys.readouterr().out == wanted
    for data, out in ((str(file), "file.csv"), (f"{address}&order=id", "engine.csv")):
        assert main(["predict", str(model), data, "--out", str(tmp_path / out)]) == 0
    found, own = (list(csv.reader((tmp_path / name).read_text().splitlines())) for name in ("engine.csv", "file.csv"))
    assert [line[0] for line in found] == ["id", *map(str, range(N_ROWS))]
    assert [line[1:] for line in found] == own
    assert {line[0] for line in own} >= {"", "no", "yes"}
    assert engine.left() == []


@pytest.mark.parametrize(
    ("learner", "said"), [("pf-forest", "only a tree of classes can be measured"), ("majority", "")], ids=["forest", "constant"]
)
def test_a_model_that_counts_cannot_measure_is_refused_before_the_engine_is_asked(
    file: Path, tmp_path: Path, learner: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = dpviz.encode(dpviz.read_table(file), usable(SCHEMA))
    (tmp_path / "model.json").write_text(dpviz.fit(learner, data, epsilon=5.0, seed=1).to_json())
    assert main(["evaluate", str(tmp_path / "model.json"), "duckdb:///no/file?table=t" if not said else "spark:///?table=t"]) != 0
    assert (said or "no DuckDB file") in capsys.readouterr().err


def test_answers_need_a_column_that_says_whose_they_are(stored: Callable[..., str]) -> None:
    empty = stored("CREATE TABLE t (id DOUBLE, x DOUBLE)") + "t"
    for order, said in (("", "which answer is whose"), ("&order=none", "no column to number")):
        with pytest.raises(TableError, match=said):
            list(read_rows(f"{empty}{order}", ["x"]))
    ((keys, columns),) = read_rows(f"{empty}&order=id", ["x"])
    assert (len(keys), columns.schema.names, columns.num_rows) == (0, ["x"], 0)
    for place, keys in enumerate(("(1), (2), (2)", "(1), (NULL)", "('NaN'::DOUBLE), (1)", "('NaN'::DOUBLE), ('NaN'::DOUBLE)")):
        address = stored(f"CREATE TABLE t{place} AS SELECT id::DOUBLE AS id, 0 AS x FROM (VALUES {keys}) AS keys(id)")
        with pytest.raises(TableError, match="which answer is whose"):
            list(read_rows(f"{address}t{place}&order=id", ["x"]))


def test_two_equal_keys_are_noticed_however_rows_are_cut_into_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(keys: list[float | None], cuts: tuple[int, ...]) -> list[float | None]:
        ends = pairwise([0, *cuts, len(keys)])
        batches = [(0.0, pa.record_batch({"id": pa.array(keys[start:end], pa.float64())})) for start, end in ends]
        monkeypatch.setattr(opening, "read_columns", lambda *asked, **how: iter(batches))
        return [key for found, _ in read_rows("duckdb:///f?table=t&order=id", ["id"]) for key in found.to_pylist()]

    for cuts in combinations_with_replacement(range(5), 2):  # some batches have no rows
        assert read([1, 2, 3, 4], cuts) == [1, 2, 3, 4]
        for keys in ([1, 1, 2, 3], [1, 2, 2, 3], [1, 2, 3, 3], [None, 1, 2, 3], [1, 2, None, 3], [1, 2, 3, None]):
            with pytest.raises(TableError, match="which answer is whose"):
                read(keys, cuts)


def test_nothing_is_written_where_two_rows_have_one_key(
    stored: Callable[..., str], file: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = "* REPLACE (CASE id WHEN 1024 THEN 1023 ELSE id END AS id)"
    address = stored(f"CREATE TABLE t AS SELECT {twice} FROM read_parquet('{file}')")
    out = tmp_path / "answers.csv"
    assert main(["predict", str(model), f"{address}t&order=id", "--out", str(out)]) != 0
    assert "two rows have the same" in capsys.readouterr().err
    assert not list(tmp_path.glob("answers*"))
