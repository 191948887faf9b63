"""Whoever counts, the tree is the same to the bit; what an engine is left with holds no cell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpviz
from dpviz.models.tree import Branch, NumberLeaf, ThresholdRule
from dpviz.table.candidates import multiscale_grid
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.counted_rows import ArrayRows, counter_of
from dpviz.training.estimate.measures import BernsteinUnits, Errors, RowsOutsideRange, Steps
from dpviz.training.estimate.window import Window
from tests.support import killing_clients, servers
from tests.support.engine_tables import CANARY, NUMBER, canaries, document, encoded, in_memory, numbered, opened, wide
from tests.support.nasty_cells import HIGH, N_ROWS, SCHEMA, cells, shuffled
from tests.support.paths import ROOT, SEED
from tests.support.servers import Engine, InPostgreSQL

pytestmark = [pytest.mark.slow, pytest.mark.verify]


# --- encoding


def test_sums_of_every_measure_are_those_of_memory(engine: Engine) -> None:
    """Of the hardest numbers, in windows of any width; also where a quotient is too small for PostgreSQL."""
    given = numbered(cells())
    target = NumericTarget("double", -1000, HIGH)
    schema = Schema((NumericFeature("whole", 0, 99, missing_as=50), NumericFeature("id", 0, N_ROWS)), target)
    data, address = dpviz.encode(in_memory(given), schema), engine.fill("sums", given)
    low, high = (Branch(ThresholdRule(0, cut), NumberLeaf(0.0), NumberLeaf(0.0)) for cut in (1.5, 60.0))
    root = Branch(ThresholdRule(1, 30.0), low, high)
    windows = [Window(0.0, 1000.0), Window(62.5, 7.8125)]
    measures = [Steps(target, 2**20), RowsOutsideRange(target, 0.1), *(BernsteinUnits(window, 2, 2**20) for window in windows)]
    measures += [Errors(window, (0.0, 62.5, 1000.3, -0.3), 4, 2**15) for window in windows]
    parts = np.random.default_rng(SEED).integers(0, 3, data.n_rows).astype(np.uint8)
    with opened(address, schema) as rows:
        for measure in measures:
            np.testing.assert_array_equal(rows.sums(measure, root, None, 0), ArrayRows(data).sums(measure, root, None, 0))
        np.testing.assert_array_equal(rows.sums(measure, root, parts, 2), ArrayRows(data).sums(measure, root, parts, 2))


def test_pairs_of_bins_are_those_of_memory(engine: Engine) -> None:
    """Two levels at once, twice, with coins and without; a block is one statement."""
    given = numbered(shuffled(600, SEED))
    schema = wide(SCHEMA)
    schema = schema.without(*schema.feature_names[5:])
    data, address, grid = dpviz.encode(in_memory(given), schema), engine.fill("pairs", given), multiscale_grid(schema)
    parts = np.random.default_rng(SEED).integers(0, 3, data.n_rows).astype(np.uint8)
    with opened(address, schema) as rows:
        for given_parts in (None, parts):
            level = [[counter_of(each).root(grid) for each in (data, rows)]]
            if given_parts is not None:
                level = [[root.without(parts) for root in level[0]]]
            for block in range(2):
                for here, there in level:
                    np.testing.assert_array_equal(there.all_pair_counts, here.all_pair_counts)
                    np.testing.assert_array_equal(there.histogram, here.histogram)
                for feature in (block, block + 2):
                    left = np.arange(grid.features[feature].n_bins) % 3 == 0
                    divided = [[node.children(feature, left) for node in nodes] for nodes in level]
                    level = [[one[side], other[side]] for one, other in divided for side in (0, 1)]


def test_the_tree_of_many_rows_is_that_of_memory(engine: Engine, request: pytest.FixtureRequest) -> None:
    """A million; fewer for Spark, which takes longest to fill."""
    n_rows = 1_000_000 if "spark" not in request.node.name else 100_000
    rng = np.random.default_rng(SEED)
    columns = {f"x{number}": rng.normal(size=n_rows) for number in range(4)}
    label = np.where(columns["x0"] + columns["x1"] ** 2 + rng.normal(size=n_rows) > 1, "yes", "no")
    given = numbered(pa.table({**columns, "y": label}))
    features = tuple(NumericFeature(name, -2.0, 2.0) for name in columns)
    schema = Schema(features, ClassTarget("y", ("no", "yes")), n_public=n_rows)
    data = dpviz.encode(in_memory(given), schema)
    with opened(engine.fill("many", given), schema) as rows:
        assert document("pf-tree", rows) == document("pf-tree", data)


@pytest.mark.parametrize("n_rows", [1, 1024, 1025])
def test_every_row_is_assigned_by_itself(duckdb: Engine, n_rows: int) -> None:
    """Blocks of coins are full, or end early."""
    rng = np.random.default_rng(n_rows)
    given = numbered(pa.table({"x": rng.random(n_rows), "y": np.where(rng.random(n_rows) < 0.5, "a", "b")}))
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=n_rows)
    data = dpviz.encode(in_memory(given), schema)
    root = dpviz.fit("pf-tree", data, epsilon=5, depth=2, seed=1).model.root  # type: ignore[attr-defined]
    with opened(duckdb.fill(f"coins{n_rows}", given), schema) as rows:
        rows.root(multiscale_grid(schema))
        for _ in range(2):  # a second fit has other coins
            parts = rng.integers(0, 3, n_rows).astype(np.uint8)
            own = ArrayRows(data).leaf_counts(root, parts, 2)
            np.testing.assert_array_equal(rows.leaf_counts(root, parts, 2), own)


# --- what the register knows the rows by


def test_numbers_are_part_of_the_digest(duckdb: Engine) -> None:
    """To the last bit: within one band too; minus zero is zero."""
    found = []
    for name, numbers in (("as_is", [0.0, 0.3, 0.6]), ("again", [0.6, -0.0, 0.3]), ("changed", [0.0, 0.3, 0.6 + 2**-50])):
        given = numbered(pa.table({"x": [1.0, 1.0, 1.0], "y": numbers}))
        schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 1), n_public=3)
        with opened(duckdb.fill(name, given), schema) as rows:
            found.append(rows.identity)
    assert found[0] == found[1] != found[2]


@pytest.mark.engine
def test_digest_and_counts_are_of_one_snapshot(postgresql: InPostgreSQL) -> None:
    """Rows that come after the digest are not counted."""
    given, schema = canaries()
    data, address = dpviz.encode(in_memory(given), schema), postgresql.fill("growing", given)
    with opened(address, schema) as rows:
        known = rows.identity
        postgresql.run("INSERT INTO growing SELECT * FROM growing WHERE id < 500")
        assert document("pf-tree", rows) == document("pf-tree", data)
        assert rows.identity == known
    with opened(address, schema) as rows:
        assert rows.identity != known


# --- what is left behind


@pytest.fixture
def pythons_ctrl_c() -> Iterator[None]:
    """Whatever ran before in this process may have kept Ctrl-C for itself, as Spark does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.default_int_handler)


@pytest.mark.usefixtures("pythons_ctrl_c")
def test_ctrl_c_ends_a_statement_of_hours(duckdb: Engine) -> None:
    """DuckDB itself would not notice."""
    given, schema = canaries()
    with opened(duckdb.fill("slow", given), schema) as rows:
        for_ever = "SELECT COUNT(*) FROM range(10000000000) AS a, range(1000) AS b"
        ctrl_c = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
        ctrl_c.start()
        with pytest.raises(KeyboardInterrupt):
            rows._connection.rows(for_ever)
    assert duckdb.left() == []


@pytest.mark.engine
def test_the_servers_log_and_files_hold_the_schema_and_no_cell(postgresql: InPostgreSQL) -> None:
    given, schema = canaries()
    address = postgresql.fill("logged", given)
    with opened(address, schema) as rows:
        document("pf-tree", rows)
        made = postgresql.left()
        assert len(made) >= 2  # the search below finds tables while they are there
    assert postgresql.left() == []
    log = postgresql.log.read_text()
    assert "GROUPING SETS" in log
    assert "plain" in log  # what is declared is public
    assert CANARY not in log
    assert str(NUMBER) not in log


@pytest.mark.skipif(os.name == "nt", reason="it forks")
def test_a_kill_anywhere_leaves_no_row_on_the_disk(tmp_path: Path) -> None:
    """Out of core and in a DuckDB file; of the latter empty folders."""
    kills = 60
    run = subprocess.run([sys.executable, "-m", "tests.support.killing", tmp_path, str(kills)], cwd=ROOT, capture_output=True)
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert min(found["kills"] for found in facts.values()) >= kills - 1
    assert [found["files"] for found in facts.values()] == [0, 0]
    assert facts["out of core"]["folders"] == 0


@pytest.mark.engine
def test_a_kill_at_any_statement_leaves_postgresql_nothing(postgresql: InPostgreSQL) -> None:
    """Before and after each, and in the middle of the first that reads the rows: the server ends it, then drops what it made."""
    from adbc_driver_postgresql import dbapi

    address = postgresql.fill("killed", killing_clients.rows())
    command = [sys.executable, "-m", "tests.support.killing_clients", "postgresql", address]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killing:
        assert killing.stdin is not None
        assert killing.stdout is not None
        n_steps = int(killing.stdout.readline())
        assert n_steps == 36
        for step in range(n_steps, -1, -1):
            if step == 0:
                other = dbapi.connect(f"host={postgresql.folder} user=dpviz dbname=postgres")
                with other.cursor() as cursor:
                    cursor.execute("LOCK TABLE killed")
            print(step, file=killing.stdin, flush=True)
            assert int(killing.stdout.readline()) == -signal.SIGKILL
            if step == 0:
                other.close()
            while postgresql.run("SELECT 1 FROM pg_stat_activity WHERE application_name = 'dpviz'"):
                pass
            assert postgresql.left() == postgresql.on_disk() == [], step
    assert killing.returncode == 0


@pytest.mark.engine
def test_a_kill_leaves_no_cell_that_can_be_read_on_the_disks_of_spark(tmp_path: Path) -> None:
    """What stands there at each of 12 steps is what a kill of Spark leaves; of whoever counts, it ends and removes its files."""
    servers.require_spark()
    parquet.write_table(killing_clients.rows(), tmp_path / "rows.parquet")
    command = [sys.executable, "-m", "tests.support.killing_clients", "spark", tmp_path, "12"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)  # which waits for Spark too
    assert run.returncode == -signal.SIGKILL, run.stderr
    seen = json.loads(run.stdout)
    assert [is_readable for _, is_readable in seen] == [False] * 12
    assert min(n_bytes for n_bytes, _ in seen) > 10_000
    assert killing_clients.on_disk(tmp_path / "local") == (0, False)


@pytest.mark.engine
def test_a_kill_of_spark_itself_is_a_typed_error_and_the_next_tree_has_a_fresh_session(tmp_path: Path) -> None:
    """Before the rows are read, in the middle, and where nothing but dropping is left, which needs no Spark."""
    servers.require_spark()
    parquet.write_table(killing_clients.rows(), tmp_path / "rows.parquet")
    command = [sys.executable, "-m", "tests.support.killing_clients", "jvm", tmp_path, "1", "7", "14"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    *struck, n_steps = map(json.loads, run.stdout.splitlines())
    assert n_steps == 14  # the same process, to its end
    assert [(code, is_readable) for code, _, _, is_readable in struck] == [("failed", False)] * 2
    assert struck[1][2] > 10_000
    assert not any(killing_clients.CANARY in said for _, said, *_ in struck)
    assert killing_clients.CANARY not in run.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows does not say whether a folder is in use")
def test_what_a_killed_session_has_spilled_is_removed_by_the_next(
    duckdb: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    given, schema = canaries()
    one, other = duckdb.fill("spilled", given), duckdb.fill("spilled-by-another", given)
    left, new = tmp_path / "dpviz-duckdb-left", tmp_path / "dpviz-duckdb-new"
    for folder in (left, new):
        folder.mkdir()
        (folder / "rows").write_text(CANARY)
    (tmp_path / "dpviz-duckdb-link").symlink_to(new)
    os.utime(left, (0, 0))
    with opened(one, schema):
        (own,) = {path.name for path in tmp_path.iterdir()} - {"dpviz-duckdb-new", "dpviz-duckdb-link"}
        os.utime(tmp_path / own, (0, 0))
        with opened(other, schema):
            assert (tmp_path / own).exists()  # somebody uses it
    assert {path.name for path in tmp_path.iterdir()} == {"dpviz-duckdb-new", "dpviz-duckdb-link"}


# --- what a column may be


@pytest.mark.engine
def test_types_that_only_postgresql_has(postgresql: InPostgreSQL) -> None:
    """Texts of fixed length, a collation without case, not-a-number among decimals; other types are refused by name."""
    collation = "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    kinds = "id int, fixed char(5), nocase text COLLATE nocase, part numeric(6, 2), y text, free numeric"
    first = "(1, 'x', 'x', 1.25, 'a', 1), (2, 'x', 'X', 'NaN', 'a', 2), (3, 'y', 'x', NULL, 'b', 3)"
    postgresql.run(
        f"CREATE COLLATION nocase {collation}", f"CREATE TABLE special ({kinds})", f"INSERT INTO special VALUES {first}"
    )
    fixed = CategoricalFeature("fixed", ("x", "z"), unknown_as="z")
    nocase = CategoricalFeature("nocase", ("x", "z"), unknown_as="z")
    schema = Schema((fixed, nocase, NumericFeature("part", 0, 2, missing_as=0.0)), ClassTarget("y", ("a", "b")), n_public=3)
    address = "postgresql://dpviz@/postgres?table=special"
    found = encoded(opened(address, schema))
    assert found[:, 0].tolist() == [0, 0, 1]
    assert found[:, 1].tolist() == [0, 1, 0]
    assert found[1, 2] == found[2, 2] == 0 < found[0, 2]
    with pytest.raises(dpviz.DpvizError, match="of the type numeric are not read"):
        opened(address, Schema((NumericFeature("free", 0, 2),), schema.target))
