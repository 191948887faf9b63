"""What every engine keeps: the tree is that of memory to the bit, every cell is the encoder's, what is left behind holds no cell.

Asked of DuckDB with every change, of a PostgreSQL server and of Spark in `make verify`.
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz.__main__ import main
from dpviz.engines.address import parse_address
from dpviz.engines.connection import in_our_words
from dpviz.engines.opening import read_columns
from dpviz.engines.rows import open_rows
from dpviz.errors import EngineError
from dpviz.table.candidates import FeatureCandidates, bin_column, multiscale_grid
from dpviz.table.encode import encode_new
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema
from tests.support.engine_tables import CANARY, NUMBER, Struck, canaries, document, encoded, in_memory, numbered, opened, wide
from tests.support.nasty_cells import HIGH, SCHEMA, cells, shuffled
from tests.support.paths import SEED
from tests.support.servers import Engine, InPostgreSQL, InSpark, quoted

pytestmark = pytest.mark.slow

LEARNERS = ("pf-tree", "majority", "diffprivlib-tree")


def test_bins_of_every_cell_are_the_encoders(engine: Engine) -> None:
    """NULL, not-a-number, infinities, both zeros, ends and just beyond, halves, case, blanks, quotes, unknown, days, groups."""
    given = numbered(cells())
    grid, table = multiscale_grid(SCHEMA), in_memory(given)
    features: list[tuple[Feature, FeatureCandidates]] = list(zip(SCHEMA.features, grid.features, strict=True))
    target = CategoricalFeature("class", SCHEMA.classes, groups=SCHEMA.target.groups)  # type: ignore[union-attr]
    wanted = [_bins(table, *column) for column in (*features, (target, FeatureCandidates(len(SCHEMA.classes))))]
    found = encoded(open_rows(parse_address(f"{engine.fill('cells', given)}&order=id"), SCHEMA))
    for name, own, others in zip((*SCHEMA.feature_names, "class"), wanted, found.T, strict=True):
        assert len(set(own.tolist())) > 1, f"{name} shows nothing"
        np.testing.assert_array_equal(others, own, err_msg=name)


def _bins(table: RawTable, feature: Feature, candidates: FeatureCandidates) -> np.ndarray:
    """Of every row, -1 where this column drops it."""
    new = encode_new(table, Schema((feature,), ClassTarget("no column", ("a", "b"))))
    bins = np.full(table.n_rows, -1)
    bins[new.usable] = bin_column(candidates, new.data.columns[0])
    return bins


def test_trees_are_those_of_memory(engine: Engine) -> None:
    given = numbered(shuffled(3000, SEED))
    schema = wide(SCHEMA).declare(n_public=3000)
    data, address = dpviz.encode(in_memory(given), schema), engine.fill("shuffled", given)
    assert 500 < data.n_rows < 2900
    with opened(address, schema) as rows:
        assert rows.read_and_used == (3000, data.n_rows)
        for learner in LEARNERS:  # with other bins each
            assert document(learner, rows) == document(learner, data), learner
    targets = (NumericTarget("Double Dropped", -1000, HIGH, missing_codes=("999",)), NumericTarget("decimal", -3, 99.5))
    for target in targets[: 1 if isinstance(engine, InSpark) else 2]:  # Spark compiles every statement
        number = Schema(schema.features[:2], target, n_public=3000)
        with opened(address, number) as rows:
            assert document("pf-tree", rows) == document("pf-tree", dpviz.encode(in_memory(given), number)), target.name
            assert document("dp-mean", rows) == document("dp-mean", dpviz.encode(in_memory(given), number)), target.name
    assert engine.left() == []


def test_a_table_without_usable_rows_gives_the_tree_of_none(engine: Engine) -> None:
    schema = wide(SCHEMA).declare(n_public=100)
    nothing = numbered(cells().slice(0, 0))
    unusable = numbered(cells().set_column(cells().column_names.index("class"), "class", pa.nulls(cells().num_rows, pa.string())))
    for name, given in (("nothing", nothing), ("unusable", unusable)):
        data, address = dpviz.encode(in_memory(given), schema), engine.fill(name, given)
        with opened(address, schema) as rows:
            assert document("pf-tree", rows) == document("pf-tree", data)
            assert rows.class_counts().tolist() == [0, 0]
    number = Schema(schema.features[:2], NumericTarget("Double Dropped", 0, 1), n_public=100)
    with opened(engine.fill("none", nothing), number) as rows:
        assert document("pf-tree", rows) == document("pf-tree", dpviz.encode(in_memory(nothing), number))


def test_the_register_knows_rows_by_a_digest_of_all_of_them(engine: Engine) -> None:
    """The same in every engine and every order; another one where every row comes twice."""
    rows, schema = shuffled(500, SEED), wide(SCHEMA).declare(n_public=500)
    data = dpviz.encode(in_memory(numbered(rows)), schema)
    cells = np.column_stack([*multiscale_grid(schema).bin(data), data.target]).astype("<i8")
    distinct, times = np.unique(cells, axis=0, return_counts=True)
    wanted = hashlib.sha256(schema.key.encode() + np.column_stack([distinct, times]).astype("<i8").tobytes()).hexdigest()
    backwards = rows.take(pa.array(range(499, -1, -1)))
    twice = pa.concat_tables([rows, rows])
    for name, given in (("as_is", rows), ("backwards", backwards), ("twice", twice)):
        with open_rows(parse_address(engine.fill(name, numbered(given))), schema) as found:
            assert (found.identity == wanted) == (name != "twice"), name
    assert engine.left() == []


def test_what_fails_or_is_stopped_in_mid_level_leaves_nothing(engine: Engine) -> None:
    given, schema = canaries()
    address = engine.fill("stopped", given)

    def stop() -> None:
        assert engine.left() != []
        raise KeyboardInterrupt

    def fail() -> None:
        rows._connection.rows("SELECT no_such_column FROM no_such_table")

    with pytest.raises(KeyboardInterrupt), opened(address, schema) as rows:
        dpviz.fit("pf-tree", rows, epsilon=1.0, depth=3, source=Struck(stop))
    assert engine.left() == []
    with pytest.raises(EngineError) as failed, opened(address, schema) as rows:
        dpviz.fit("pf-tree", rows, epsilon=1.0, depth=3, source=Struck(fail))
    assert failed.value.code == "failed"
    assert engine.left() == []


def test_an_engine_that_dies_in_mid_level_is_a_typed_error_that_quotes_nothing(
    engine: Engine, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The server is killed, Spark's session is stopped, the connection to DuckDB is gone."""
    given, schema = canaries()
    caplog.set_level(logging.DEBUG)
    rows = opened(engine.fill("dying", given), schema)
    strike = engine.crash if isinstance(engine, InPostgreSQL) else rows._connection.close
    with pytest.raises(EngineError) as died, rows:
        dpviz.fit("pf-tree", rows, epsilon=1.0, depth=3, source=Struck(strike))
    said = [str(died.value), *capfd.readouterr(), caplog.text]
    if isinstance(engine, InPostgreSQL):
        assert died.value.code == "lost"
        assert engine.on_disk() != []
        engine.start()
        said.append(engine.log.read_text())
    assert died.value.__cause__ is None
    assert died.value.__suppress_context__
    assert not any(CANARY in text or str(NUMBER) in text for text in said)
    assert (engine.on_disk() if isinstance(engine, InPostgreSQL) else engine.left()) == []


@pytest.mark.parametrize(
    "name", ['x"; DROP TABLE other; --', "it's", "a b?c&d=e#f", "sélect", "%s %(x)s {}", "\u202e", "read_csv('/etc/passwd')"]
)
def test_a_table_of_any_name_is_that_table(name: str, tmp_path: Path) -> None:
    import duckdb as driver

    with driver.connect(str(tmp_path / "odd.duckdb")) as base:
        base.execute("CREATE TABLE other AS SELECT 7 AS x")
        base.execute(f"CREATE TABLE {quoted(name)} AS SELECT 4 AS x")
    place = f"duckdb:///{tmp_path / 'odd.duckdb'}?table="
    batches = [batch for _, batch in read_columns(place + quote(name, safe=""), 10)]
    assert [row for batch in batches for row in batch.to_pylist()] == [{"x": 4}]
    assert [batch.num_rows for _, batch in read_columns(place + "other", 10)][-1] == 1


def test_numbers_in_a_column_of_text_are_refused(engine: Engine) -> None:
    """Before a row is read, with the remedy."""
    given = numbered(pa.table({"text": ["1", "2", "3", "x"], "y": ["a", "b", "a", "b"]}))
    address, target = engine.fill("texts", given), ClassTarget("y", ("a", "b"))
    for feature, said in (
        (NumericFeature("text", 0, 4), "holds text, but the schema declares a number"),
        (CategoricalFeature("text", ("1", "x")), "'1' in the schema is a number"),
    ):
        with pytest.raises(dpviz.DpvizError, match=said) as refused, opened(address, Schema((feature,), target)) as rows:
            document("majority", rows)
        assert "view" in refused.value.remedy


def test_the_values_of_an_enum_are_not_quoted(tmp_path: Path) -> None:
    """Whoever made the type may have taken them from the cells."""
    import duckdb as driver

    with driver.connect(str(tmp_path / "enum.duckdb")) as base:
        base.execute(f"CREATE TABLE t AS SELECT '{CANARY}'::ENUM('{CANARY}', 'plain') AS word, 'a' AS y")
    schema = Schema((CategoricalFeature("word", ("plain", "other")),), ClassTarget("y", ("a", "b")))
    with pytest.raises(dpviz.DpvizError, match="of the type ENUM are not read") as refused:
        dpviz.open_table(f"duckdb:///{tmp_path / 'enum.duckdb'}?table=t", schema)
    assert CANARY not in str(refused.value)


def test_rows_of_persons_are_refused_since_nobody_limits_them_there(duckdb: Engine) -> None:
    given = numbered(pa.table({"who": ["p", "p", "q"], "x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}))
    schema = Schema((NumericFeature("x", 0, 4),), ClassTarget("y", ("a", "b")), n_public=3, person="who")
    with pytest.raises(dpviz.DpvizError, match="person"):
        dpviz.open_table(duckdb.fill("persons", given), schema)


SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://me:{SECRET}@host/db?table=t",
        f"postgresql://host/db?table=t&password={SECRET}",
        f"postgresql://host/db?sslpassword={SECRET}&table=t",
        f"spark:///?table=t&token={SECRET}",
        f"postgresql://me:@host/db?table={SECRET}",
    ],
)
def test_a_password_is_refused_and_not_repeated(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usable = wide(SCHEMA)
    with pytest.raises(EngineError) as refused:
        parse_address(text)
    assert refused.value.code == "password"
    assert SECRET not in str(refused.value)
    usable.save(tmp_path / "s.json")
    asked = ["train", text, "--schema", str(tmp_path / "s.json"), "--epsilon", "1", "--out", str(tmp_path / "tree.json")]
    assert main(asked) != 0
    said = "".join(capsys.readouterr())
    assert "may not hold a password" in said
    assert SECRET not in said


def test_an_error_of_a_driver_is_told_by_its_kind_alone() -> None:
    with pytest.raises(EngineError) as failed, in_our_words("DuckDB"):
        raise RuntimeError("could not convert 'Mrs Smith'")
    assert "(RuntimeError)" in str(failed.value)
    assert "Smith" not in str(failed.value)
