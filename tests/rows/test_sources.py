"""What every source keeps: the tree is that of memory to the bit, wherever rows are; what is left behind holds no cell.

Asked of Parquet and DuckDB with every change, of a PostgreSQL server and of Spark in `make verify`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpviz
from dpviz.errors import ReadingWarning, SchemaError, TableError
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import table_of_batch
from dpviz.learners.published.dp_mean import steps_of
from dpviz.models.tree import Branch, NumberLeaf, ThresholdRule
from dpviz.rows.opening import read_columns
from dpviz.table.candidates import equal_width_grid, multiscale_grid
from dpviz.table.dates import DateFeature
from dpviz.table.notes import column_notes
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.counted_rows import ArrayRows, counter_of
from dpviz.training.estimate.leaf_means import units_of
from dpviz.training.estimate.number_report import errors_of_leaves
from dpviz.training.estimate.window import Window
from tests.support import servers
from tests.support.killing import CANARY as KILLED_CANARY
from tests.support.killing import on_disk
from tests.support.nasty_cells import HIGH, N_ROWS, SCHEMA, cells, shuffled
from tests.support.paths import ROOT, SEED
from tests.support.servers import CASES, SERVED, Engine, InFiles, InPostgreSQL, InSpark, quoted
from tests.support.source_tables import CANARY, NUMBER, Struck, canaries, document, in_memory, numbered, opened, wide
from tests.support.two_levels import all_pair_counts

pytestmark = pytest.mark.slow

in_duckdb, in_postgresql = (pytest.mark.parametrize("engine", [case], indirect=True) for case in CASES[1:3])
LEARNERS = ("pf-tree", "majority", "diffprivlib-tree")
CLASSES = wide(SCHEMA).declare(n_public=3000)
NUMBERS = tuple(
    Schema(CLASSES.features[:2], target, n_public=3000)
    for target in (
        NumericTarget("Double Dropped", -1000, HIGH, missing_codes=("999",)),
        NumericTarget("decimal", -3, 99.5),
        NumericTarget("single", 0, 1),
        NumericTarget("rounded", -1, 3.5),
    )
)


def in_no_order(rows: pa.Table) -> pa.Table:
    """Numbered, then stored in another order."""
    return numbered(rows).take(np.random.default_rng(SEED).permutation(rows.num_rows))


def test_every_cell_is_the_encoders(engine: Engine) -> None:
    """NULL, not-a-number, infinities, both zeros, ends and just beyond, halves, case, blanks, quotes, unknown, days, groups."""
    table, address = in_memory(numbered(cells())), engine.fill("cells", numbered(cells()))
    for feature in SCHEMA.features:
        schema = Schema((feature,), SCHEMA.target)
        data = dpviz.encode(table, schema)
        with opened(address, schema) as rows:
            assert replace(rows.report, unread=()) == replace(data.report, ignored_columns=(), unread=()), feature.name
            assert [one.text for one in rows.table_sums.columns] == [one.text for one in data.table_sums.columns]
            grid = multiscale_grid(schema)
            here, there = (counter_of(each).root(grid).histogram for each in (data, rows))
            np.testing.assert_array_equal(there, here, err_msg=feature.name)


@pytest.mark.parametrize("seeds", [range(5), pytest.param(range(5, 20), marks=pytest.mark.verify)], ids=str)
def test_trees_are_those_of_memory(engine: Engine, seeds: range) -> None:
    """Five kinds of target, missing cells, dates; for many seeds."""
    given = shuffled(3000, SEED)
    address, table = engine.fill(f"shuffled{seeds.start}", in_no_order(given)), in_memory(numbered(given))
    for schema in (CLASSES, *NUMBERS):
        data = dpviz.encode(table, schema)
        assert 500 < data.n_rows < 2990
        with opened(address, schema) as rows:
            assert (rows.report.rows_read, rows.n_rows) == (3000, data.n_rows)
            for learner in LEARNERS if schema is CLASSES else ("pf-tree", "dp-mean"):  # with other bins each
                for seed in seeds if learner == "pf-tree" and not isinstance(engine, InSpark) else seeds[:2]:
                    assert document(learner, rows, seed) == document(learner, data, seed), (learner, schema.target.name)
    assert engine.left() == []


def test_of_persons_at_most_so_many_rows_are_kept(engine: Engine) -> None:
    """The tree of memory where nobody has more; else as many rows. A part that is held out holds persons."""
    rows = shuffled(2000, SEED)
    who = pa.array([f"p{row % 300}" if row % 7 else None for row in range(2000)])
    address, table = (
        engine.fill("persons", in_no_order(rows.append_column("who", who))),
        in_memory(numbered(rows.append_column("who", who))),
    )
    asked = {"person": "who"}
    schema = CLASSES.declare(n_public=2000)
    data = dpviz.encode(table, schema, **asked, rows_per_person=7)
    with opened(address, schema, **asked, rows_per_person=7) as found:
        assert replace(found.report, unread=()) == replace(data.report, ignored_columns=(), unread=())
        for seed in range(3):
            assert document("pf-tree", found, seed) == document("pf-tree", data, seed)
        for_two = dpviz.fit("pf-tree", found, epsilon=1.0, seed=1)
        assert for_two.unit == dpviz.fit("pf-tree", data, epsilon=1.0, seed=1).unit
    data = dpviz.encode(table, schema, **asked, rows_per_person=2)
    with (
        opened(address, schema, **asked, rows_per_person=2) as found,
        opened(address, schema, **asked, rows_per_person=2) as again,
    ):
        assert found.n_rows == again.n_rows == data.n_rows
        assert found.report.over_limit == data.report.over_limit > 100
        assert found.identity == again.identity  # whichever rows were chosen
        grid = multiscale_grid(schema)
        assert not np.array_equal(found.root(grid).histogram, again.root(grid).histogram)
    assert engine.left() == []


def test_several_spellings_of_a_person_are_refused(engine: Engine) -> None:
    """Also where they are in batches far apart."""
    n_rows = 2000
    given = {"x": np.linspace(0, 1, n_rows), "y": ["a", "b"] * (n_rows // 2)}
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=n_rows, person="who")
    for name, keys in (("near", ["7", "07"]), ("far", ["7", *map(str, range(10_000, 10_000 + n_rows - 2)), "7.0"])):
        rows = pa.table(given | {"who": (keys * n_rows)[:n_rows]})
        with (
            pytest.raises(SchemaError, match="Several spellings"),
            opened(engine.fill(name, numbered(rows)), schema, rows_per_person=1) as found,
        ):
            assert found.n_rows


def test_counts_of_every_kind_are_those_of_memory(engine: Engine) -> None:
    """Two levels at once, twice, with parts and without; sums of the hardest numbers, in windows of any width."""
    given = numbered(shuffled(600, SEED))
    schema = CLASSES.without(*CLASSES.feature_names[5:])
    data, address = dpviz.encode(in_memory(given), schema), engine.fill("counted", given)
    parts = np.random.default_rng(SEED).integers(0, 3, data.n_rows).astype(np.uint8)
    with opened(address, schema) as rows:
        for grid in (multiscale_grid(schema), equal_width_grid(schema, 7)):
            for held_out in (None, parts):
                level = [[counter_of(each).root(grid) for each in (data, rows)]]
                if held_out is not None:
                    held_out = held_out.copy()
                    level = [[root.without(held_out) for root in level[0]]]
                for block in range(2):
                    level[0][1].count_level([there for _, there in level], "pairs")
                    for here, there in level:
                        np.testing.assert_array_equal(all_pair_counts(there), all_pair_counts(here))
                        np.testing.assert_array_equal(there.histogram, here.histogram)
                    for feature in (block, block + 2):
                        left = np.arange(grid.features[feature].n_bins) % 3 == 0
                        divided = [[node.children(feature, left) for node in nodes] for nodes in level]
                        level = [[one[side], other[side]] for one, other in divided for side in (0, 1)]
    given, target = numbered(cells()), NumericTarget("double", -1000, HIGH)
    schema = Schema((NumericFeature("whole", 0, 99, missing_as=50), NumericFeature("id", 0, N_ROWS)), target)
    data, address = dpviz.encode(in_memory(given), schema), engine.fill("sums", given)
    low, high = (Branch(ThresholdRule(0, cut), NumberLeaf(0.0), NumberLeaf(0.0)) for cut in (1.5, 60.0))
    root = Branch(ThresholdRule(1, 30.0), low, high)
    windows = [Window(0.0, 1000.0), Window(62.5, 7.8125)]
    measures = [partial(steps_of, target), *(partial(units_of, window) for window in windows)]
    measures += [partial(errors_of_leaves, window, (0.0, 62.5, 1000.3, -0.3)) for window in windows]
    parts = np.random.default_rng(SEED).integers(0, 3, data.n_rows).astype(np.uint8)
    with opened(address, schema) as rows:
        for measure in measures:
            np.testing.assert_array_equal(rows.sums(measure, root, None, 0), ArrayRows(data).sums(measure, root, None, 0))
        np.testing.assert_array_equal(rows.sums(measure, root, parts, 2), ArrayRows(data).sums(measure, root, parts, 2))


def test_a_table_without_usable_rows_gives_the_tree_of_none(engine: Engine) -> None:
    schema = CLASSES.declare(n_public=100)
    nothing = numbered(cells().slice(0, 0))
    unusable = numbered(cells().set_column(cells().column_names.index("class"), "class", pa.nulls(cells().num_rows, pa.string())))
    for name, given in (("nothing", nothing), ("unusable", unusable)):
        data, address = dpviz.encode(in_memory(given), schema), engine.fill(name, given)
        with opened(address, schema) as rows:
            assert document("pf-tree", rows) == document("pf-tree", data)
            assert rows.class_counts().tolist() == [0, 0]
    with opened(engine.fill("none", nothing), NUMBERS[0]) as rows:
        assert document("pf-tree", rows) == document("pf-tree", dpviz.encode(in_memory(nothing), NUMBERS[0]))


def test_the_register_knows_rows_by_a_digest_of_all_of_them(engine: Engine, tmp_path: Path) -> None:
    """The same in every source and every order; another one where every row comes twice, or one number differs."""
    rows = shuffled(500, SEED)
    files = InFiles(tmp_path)
    with opened(files.fill("rows", numbered(rows)), CLASSES) as found:
        wanted = found.identity
    twice = pa.concat_tables([rows, rows])
    for name, given in (("as_is", rows), ("backwards", rows.take(pa.array(range(499, -1, -1)))), ("twice", twice)):
        with opened(engine.fill(name, numbered(given)), CLASSES) as found:
            assert (found.identity == wanted) == (name != "twice"), name
    digests = []
    for name, numbers in (("zero", [0.0, 0.3, 0.6]), ("minus", [0.6, -0.0, 0.3]), ("changed", [0.0, 0.3, 0.6 + 2**-20])):
        schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 1), n_public=3)
        with opened(engine.fill(name, numbered(pa.table({"x": [1.0, 1.0, 1.0], "y": numbers}))), schema) as found:
            digests.append(found.identity)
    assert digests[0] == digests[1] != digests[2]


@in_duckdb
def test_a_table_that_changes_between_two_readings_is_an_error(engine: Engine, tmp_path: Path) -> None:
    """What was counted before is not mixed with what stands there now, nor are parts of one assignment."""
    given, schema = canaries()
    path = tmp_path / "rows.parquet"
    one_cell = pa.concat_tables([given.slice(0, 1).set_column(1, "x", pa.array([NUMBER - 1])), given.slice(1)])
    for now in (given.slice(1), one_cell):
        parquet.write_table(given, path)
        with dpviz.encode_large(path, schema) as rows:
            before = document("pf-tree", rows)
            parquet.write_table(now, path)
            assert document("pf-tree", rows) == before
            with pytest.raises(TableError, match="has changed since"):
                document("diffprivlib-tree", rows)
    with opened(engine.fill("once", given), schema) as rows:
        parts = np.zeros(rows.n_rows, dtype=np.uint8)
        rows.leaf_counts(NumberLeaf(0.0), parts, 1)
        with pytest.raises(TableError, match="encoded again"):
            rows.root(equal_width_grid(schema, 3)).without(parts).count_level(
                [rows.root(equal_width_grid(schema, 3)).without(parts)], "bins"
            )


# --- what is left behind


def test_what_fails_or_is_stopped_in_mid_level_leaves_nothing(engine: Engine) -> None:
    given, schema = canaries()
    address = engine.fill("stopped", given)
    for error in (KeyboardInterrupt, ZeroDivisionError):

        def strike(error: type[BaseException] = error) -> None:
            raise error

        with pytest.raises(error), opened(address, schema) as rows:
            dpviz.fit("pf-tree", rows, epsilon=1.0, depth=3, source=Struck(strike))
        assert engine.left() == []


@pytest.mark.parametrize("engine", SERVED, indirect=True)
def test_an_engine_that_dies_in_mid_fit_is_a_typed_error_that_quotes_nothing(
    engine: Engine, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The server is killed before a word is read; the records that Spark keeps are lost, and the fit is an error."""
    given, schema = canaries()
    caplog.set_level(logging.DEBUG)
    rows = opened(engine.fill("dying", given), schema)
    asked: dict[str, object] = {"seed": 1}
    if isinstance(engine, InSpark):
        asked = {"source": Struck(lambda: rows._kept.close())}
    elif isinstance(engine, InPostgreSQL):
        engine.crash()
    else:
        rows._batches.end()
    with pytest.raises(TableError) as died, rows:
        dpviz.fit("pf-tree", rows, epsilon=1.0, depth=3, **asked)
    said = [str(died.value), *capfd.readouterr(), caplog.text]
    if isinstance(engine, InPostgreSQL):
        assert died.value.code == "lost"
        engine.start()
        said.append(engine.log.read_text())
    assert died.value.__cause__ is None
    assert died.value.__suppress_context__ or died.value.__context__ is None
    assert not any(CANARY in text or str(NUMBER) in text for text in said)
    assert engine.left() == []


@pytest.fixture
def pythons_ctrl_c() -> Iterator[None]:
    """Whatever ran before in this process may have kept Ctrl-C for itself, as Spark does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.default_int_handler)


@in_duckdb
@pytest.mark.usefixtures("pythons_ctrl_c")
def test_ctrl_c_ends_a_statement_of_hours(engine: Engine) -> None:
    """DuckDB itself would not notice."""
    from dpviz.rows.databases import DuckDB

    given, _ = canaries()
    base = DuckDB(engine.fill("slow", given).removeprefix("duckdb:///").partition("?")[0])
    ctrl_c = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    ctrl_c.start()
    with pytest.raises(KeyboardInterrupt):
        list(base.batches("SELECT COUNT(*) FROM range(10000000000) AS a, range(1000) AS b", 1))
    base.close()


@in_postgresql
def test_a_server_keeps_nothing_and_logs_no_cell(engine: InPostgreSQL) -> None:
    given, schema = canaries()
    address = engine.fill("logged", given)
    before = len(engine.log.read_text())
    with opened(address, schema) as rows:
        document("pf-tree", rows)
    log = engine.log.read_text()[before:]
    statements = re.findall(r"(?:statement|execute [^:]*):\s+(.*)", log)
    assert "SET default_transaction_read_only = on" in statements  # such a session leaves nothing, whenever it is killed
    assert {words.split()[0] for words in statements} <= {"SET", "SELECT", "COPY"}
    assert engine.left() == []
    assert 'SELECT "word", "x", "y" FROM "logged" ORDER BY "id"' in log
    assert CANARY not in log
    assert str(NUMBER) not in log


def killing(*words: object, ends: int = 0) -> tuple[list, str]:
    """(what a process of `tests.support.killing` told, line by line; its errors)."""
    command = [sys.executable, "-m", "tests.support.killing", *map(str, words)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)  # which waits for Spark, too
    assert run.returncode == ends, run.stderr[-3000:]
    return [json.loads(line) for line in run.stdout.splitlines()], run.stderr


@pytest.mark.verify
@pytest.mark.skipif(os.name == "nt", reason="it forks")
def test_a_kill_anywhere_leaves_no_row_on_the_disk(tmp_path: Path) -> None:
    """With a Parquet file and with a DuckDB file."""
    kills = 60
    (in_file, in_engine), _ = killing("files", tmp_path, kills)
    for facts in (in_file, in_engine):
        assert facts["kills"] >= kills - 1
        assert facts["files"] == facts["folders"] == 0


@pytest.mark.verify
@pytest.mark.engine
def test_a_kill_leaves_no_cell_that_can_be_read_on_the_disks_of_spark(tmp_path: Path) -> None:
    """What stands there at each step is what a kill of Spark leaves; of whoever counts, it ends and removes its files."""
    servers.require_spark()
    (seen,), _ = killing("spark", tmp_path, 4, ends=-signal.SIGKILL)
    assert [is_readable for _, is_readable in seen] == [False] * 4
    assert max(n_bytes for n_bytes, _ in seen) > 10_000
    assert on_disk(tmp_path / "local") == (0, False)


@pytest.mark.verify
@pytest.mark.engine
def test_a_kill_of_spark_itself_is_a_typed_error_and_the_next_tree_has_a_fresh_session(tmp_path: Path) -> None:
    """Before the rows are read, in the middle, and where nothing but dropping is left, which needs no Spark."""
    servers.require_spark()
    (*struck, n_steps), heard = killing("jvm", tmp_path, 1, 3)
    assert n_steps > 3  # the same process, to its end
    assert [code in ("failed", "lost-rows") for code, *_ in struck] == [True] * 2
    assert not any(is_readable for *_, is_readable in struck)
    assert not any(KILLED_CANARY in said for said in [heard, *(said for _, said, *_ in struck)])


@pytest.mark.verify
@pytest.mark.engine
def test_executors_need_numpy_and_arrow_alone_and_one_killed_before_any_step_begins_the_fit_anew(tmp_path: Path) -> None:
    """Two processes, whose Python has no dpviz and which share no folder with whoever counts: the tree is that of memory.

    Also where one that may hold encoded rows is killed, and nothing stays kept.
    """
    servers.require_spark()
    (*fits, told), _ = killing("executors", tmp_path)
    assert all(fit["is_same"] for fit in fits)
    assert (2 * told["steps"] + 1 == len(fits) > 6, told["has_dpviz"], told["kept"]) == (True, False, 0)
    assert any(fit["steps"] > told["steps"] for fit in fits)  # some of what was kept was lost


# --- what a column may be


ODD = ('x"; DROP TABLE other; --', "it's", "a b?c&d=e#f", "sélect", "%s %(x)s {}", "\u202e", "read_csv('/etc/passwd')")


def test_a_table_of_any_name_is_that_table_and_a_database_reads_no_other_file(stored: Callable, tmp_path: Path) -> None:
    """Nor whatever stands in this process under the name of a table."""
    passwords = tmp_path / "passwords.csv"
    passwords.write_text("x\n1\n")
    local_rows = pa.table({"x": [1]})
    assert local_rows.num_rows
    place = stored(
        *(f"CREATE TABLE {quoted(name)} AS SELECT {number} AS x" for number, name in enumerate(ODD)),
        f"CREATE VIEW sneaky AS SELECT * FROM read_csv('{passwords}')",
        "CREATE TABLE names AS SELECT 'Mrs Smith' AS name",
        "CREATE VIEW smith AS SELECT name::INTEGER AS x FROM names",
    )
    for number, name in enumerate(ODD):
        batches = [batch for _, batch in read_columns(place + quote(name, safe=""), 10)]
        assert [row for batch in batches for row in batch.to_pylist()] == [{"x": number}]
    for table in ("sneaky", "local_rows", str(passwords).replace(".", "%2E")):
        with pytest.raises(TableError):
            list(read_columns(place + table, 10))
    with pytest.raises(TableError) as failed:
        list(read_columns(f"{place}smith", 10))
    assert "(ConversionException)" in str(failed.value)  # told by its kind alone
    assert "Smith" not in str(failed.value)


def test_columns_that_are_no_cells_are_refused_and_hinder_no_others_and_an_enum_is_text(stored: Callable) -> None:
    """Whoever made the type may have taken its texts from the cells: they are not quoted. Arrow has no empty union."""
    columns = f"""'{CANARY}'::ENUM('{CANARY}', 'plain') AS word, [1] AS lists, {{'{CANARY}': 1}} AS records, 'a' AS y,
        '101'::BIT AS bits, {2**128 - 1}::UHUGEINT AS large, union_value(n := 2) AS either"""
    address, target = stored(f"CREATE TABLE t AS SELECT {columns}") + "t", ClassTarget("y", ("a", "b"))
    kinds = {"lists": "list", "records": "struct", "bits": "BIT", "large": "UHUGEINT", "either": "sparse_union"}
    for name, kind in kinds.items():
        with pytest.raises(SchemaError, match=f"Columns of the type {kind} are not read") as refused:
            dpviz.open_table(address, Schema((CategoricalFeature(name, ("plain", "other")),), target))
        assert CANARY not in str(refused.value)
    word = CategoricalFeature("word", ("plain", CANARY), unknown_as="plain")
    with dpviz.open_table(address, Schema((word,), target)) as rows:
        assert rows.data.columns[0].tolist() == [1]


#: An expression of DuckDB -> the text of its cell, None where it is missing.
DUCKDB_CELLS = {
    "42::HUGEINT": "42",
    "(SELECT sum(n) FROM range(10) AS numbers(n))": "45",
    "18446744073709551615::UBIGINT": "18446744073709551615",
    "-5::TINYINT": "-5",
    "0.1::FLOAT": "0.10000000149011612",
    "12345678901234567890.1234567890::DECIMAL(38, 10)": "12345678901234567890.123456789",
    "'nan'::DOUBLE": None,
    "'14:30:00'::TIME": "14:30:00",
    "'14:30:00+02'::TIMETZ": "14:30:00",
    "'2024-03-01 14:30:00'::TIMESTAMP_S": "2024-03-01T14:30:00",
    "'2024-03-01 14:30:00.123456789'::TIMESTAMP_NS": "2024-03-01T14:30:00.123456",
    "'2024-03-01 00:00:00'::TIMESTAMP": "2024-03-01",
    "'infinity'::TIMESTAMP": "\ufffd",
    "'-infinity'::DATE": "\ufffd",
    "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "'{\"a\": 1}'::JSON": '{"a": 1}',
    "true": "true",
}


def test_types_of_duckdb_are_the_cells_that_they_say(stored: Callable) -> None:
    columns = ", ".join(f"{expression} AS c{place}" for place, expression in enumerate(DUCKDB_CELLS))
    _, (_, batch) = read_columns(stored(f"CREATE TABLE t AS SELECT {columns}") + "t", 10)
    table = table_of_batch(batch, ReadOptions("t"))
    found = [next(iter(column.distinct_texts), None) for column in table.columns]
    assert dict(zip(DUCKDB_CELLS, found, strict=True)) == DUCKDB_CELLS


def test_intervals_of_a_database_are_the_seconds_that_its_frames_have(stored: Callable, tmp_path: Path) -> None:
    """But for those with months, of which its frames make 30 days each."""
    stays = "('3 hours 2 minutes'), ('-3 days'), ('0.000001 seconds'), (NULL), ('1 day 1 hour')"
    address = stored(
        f"CREATE TABLE t AS SELECT stay::INTERVAL AS stay, 'a' AS y FROM (VALUES {stays}) AS all_stays(stay)",
        "CREATE TABLE ages AS SELECT INTERVAL '2 months 1 day' AS stay, 'a' AS y",
    )
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as base:
        frame, table = base.table("t").df(), base.table("t").to_arrow_table()
    schema = Schema((NumericFeature("stay", -300_000, 100_000, missing_as=7),), ClassTarget("y", ("a", "b")))
    expected = [10_920.0, -259_200.0, 0.000001, 7.0, 90_000.0]
    for rows in (frame, table):
        assert dpviz.encode(rows, schema).columns[0].tolist() == expected
    with dpviz.open_table(f"{address}t", schema) as opened:
        assert opened.data.columns[0].tolist() == expected
    with pytest.warns(ReadingWarning, match="'stay'"), dpviz.open_table(f"{address}ages", schema) as opened:
        assert opened.report.rows_kept == 0


def test_a_moment_with_a_zone_is_the_same_cell_wherever_duckdb_is_asked(
    stored: Callable, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The file holds no zone; a session would take that of the computer."""
    request.addfinalizer(time.tzset)
    request.addfinalizer(lambda: monkeypatch.undo())
    address = stored("CREATE TABLE t AS SELECT timestamptz '2024-03-01 23:30:00+00' AS at, 'a' AS y") + "t"
    schema = Schema((DateFeature("at", 1, 7, part="weekday"),), ClassTarget("y", ("a", "b")))
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        with dpviz.open_table(address, schema) as rows:
            assert rows.data.columns[0].tolist() == [5.0]


@in_postgresql
def test_types_that_only_postgresql_has(engine: InPostgreSQL) -> None:
    """Texts of fixed length, a collation without case, not-a-number among decimals, decimals of any length."""
    collation = "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    kinds = "id int, fixed char(5), nocase text COLLATE nocase, part numeric(6, 2), y text, free numeric, place point"
    first = "(1, 'x', 'x', 1.25, 'a', 1.5), (2, 'x', 'X', 'NaN', 'a', 'NaN'), (3, 'y', 'x', NULL, 'b', 3)"
    engine.run(f"CREATE COLLATION nocase {collation}", f"CREATE TABLE special ({kinds})", f"INSERT INTO special VALUES {first}")
    fixed = CategoricalFeature("fixed", ("x", "z"), unknown_as="z")
    nocase = CategoricalFeature("nocase", ("x", "z"), unknown_as="z")
    numbers = NumericFeature("part", 0, 2, missing_as=0.0), NumericFeature("free", 0, 4, missing_as=0.0)
    schema = Schema((fixed, nocase, *numbers), ClassTarget("y", ("a", "b")), n_public=3)
    address = "postgresql://dpviz@/postgres?table=special"
    with opened(address, schema) as rows:
        assert [column.tolist() for column in rows.data.columns] == [[0, 0, 1], [0, 1, 0], [1.25, 0.0, 0.0], [1.5, 0.0, 3.0]]


@in_postgresql
def test_a_decimal_of_postgresql_is_the_number_that_it_is_whatever_mark_the_schema_says(engine: InPostgreSQL) -> None:
    rows_of_it = "(1, 1.234, 1.234, 1.50, 'a'), (2, 12, 12, 2, 'b'), (3, 'NaN', 'NaN', 'NaN', 'a')"
    kinds = "id int, x numeric(8, 3), free numeric, code numeric, y text"
    engine.run(f"CREATE TABLE marks ({kinds})", f"INSERT INTO marks VALUES {rows_of_it}")
    numbers = (NumericFeature(name, 0, 9999, missing_as=1.0) for name in ("x", "free"))
    code = CategoricalFeature("code", ("1.5", "2"), missing_as="2")
    schema = Schema((*numbers, code), ClassTarget("y", ("a", "b")), decimal=",")
    address = "postgresql://dpviz@/postgres?table=marks"
    with opened(address, schema) as rows:
        assert [column.tolist() for column in rows.data.columns] == [[1.234, 12.0, 1.0], [1.234, 12.0, 1.0], [0, 1, 1]]
    pieces = [table_of_batch(batch, ReadOptions("marks")) for _, batch in read_columns(address)]
    free = pieces[-1].with_decimal(",").column("free")
    assert free.numbers()[:2].tolist() == [1.234, 12.0]
    assert not [*column_notes(free)]  # no mark is in doubt
