"""Sources for the tests: files, DuckDB files, a PostgreSQL server of their own, a local session of Spark."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as types
import pytest
from pyarrow import parquet

_POSTGRES = {
    "double": "double precision",
    "float": "real",
    "int64": "bigint",
    "int32": "integer",
    "string": "text",
    "bool": "boolean",
    "date32[day]": "date",
    "null": "text",
}


#: Of any session of Spark: no page of its own, no second compiler for short work.
SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.log.level": "ERROR",
}


class Engine:
    """An engine that runs; `fill` makes a table, whose rows can be numbered by the column `id`, and returns its address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, name: str, rows: pa.Table) -> str:
        raise NotImplementedError

    def left(self) -> list[str]:
        """What dpviz made there and is still there."""
        return []


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


class InFiles(Engine):
    """A Parquet file per table, whose rows are in the order of `id` where there is one."""

    def fill(self, name: str, rows: pa.Table) -> str:
        path = self.folder / f"{name}.parquet"
        parquet.write_table(rows.sort_by("id") if "id" in rows.column_names else rows, path, row_group_size=700)
        return str(path)


class InDuckDB(Engine):
    """One file per table."""

    def fill(self, name: str, rows: pa.Table) -> str:
        import duckdb

        path = self.folder / f"{name}.duckdb"
        with duckdb.connect(str(path)) as base:
            base.register("given", rows)
            base.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM given")
        return f"duckdb:///{path}?table={name}"

    def left(self) -> list[str]:
        return [path.name for path in self.folder.iterdir() if path.suffix not in (".duckdb", ".wal")]


class InPostgreSQL(Engine):
    """A server that listens on a socket in a folder, and on nothing else. It writes every statement to its log."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        super().__init__(folder)
        self.binaries = binaries
        self.data, self.log = folder / "data", folder / "log"
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", "dpviz", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        logs = "-c log_statement=all -c log_duration=on -c log_min_duration_statement=0 -c log_temp_files=0"
        settings = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c shared_buffers=32MB {logs}"
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.log), "-o", settings, "start")

    def crash(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop")

    def run(self, *statements: str) -> list[Any]:
        """What the last statement answers, asked by somebody else."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(f"host={self.folder} user=dpviz dbname=postgres", autocommit=True) as base, base.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def fill(self, name: str, rows: pa.Table) -> str:
        from adbc_driver_postgresql import dbapi

        kinds = ", ".join(f"{quoted(field.name)} {_of_postgres(field.type)}" for field in rows.schema)
        rows = rows.cast(
            pa.schema([(field.name, pa.string() if types.is_null(field.type) else field.type) for field in rows.schema])
        )
        self.run(f"CREATE TABLE {quoted(name)} ({kinds})")
        with dbapi.connect(f"host={self.folder} user=dpviz dbname=postgres", autocommit=True) as base, base.cursor() as cursor:
            cursor.adbc_ingest(name, rows, mode="append")
        return f"postgresql://dpviz@/postgres?table={name}"

    def left(self) -> list[str]:
        return [name for (name,) in self.run("SELECT relname::text FROM pg_class WHERE relname LIKE 'dpviz%'")]

    def on_disk(self) -> list[str]:
        """Files of temporary tables and of what did not fit into memory, whatever the catalog says."""
        return [path.name for files in ("*/t*_*", "pgsql_tmp/*") for path in self.data.glob(f"base/{files}")]

    def _run(self, name: str, *arguments: str) -> None:
        command = [str(self.binaries / name), *arguments]
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **_as_nobody())
        assert done.returncode == 0, name


def _of_postgres(kind: pa.DataType) -> str:
    return f"numeric({kind.precision}, {kind.scale})" if types.is_decimal(kind) else _POSTGRES[str(kind)]


def _as_nobody() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class InSpark(Engine):
    """A local session with one thread; tables are Parquet files."""

    def __init__(self, folder: Path, session: Any) -> None:
        super().__init__(folder)
        self.session = session

    def fill(self, name: str, rows: pa.Table) -> str:
        path = self.folder / f"{name}.parquet"
        parquet.write_table(rows, path)
        self.session.sql(f"CREATE TABLE `{name}` USING parquet LOCATION '{path}'")
        return f"spark:///?table={name}"

    def left(self) -> list[str]:
        return [str(block) for block in self.session.sparkContext._jsc.getPersistentRDDs().keySet()]


@contextmanager
def _files(folder: Path) -> Iterator[Engine]:
    yield InFiles(folder)


@contextmanager
def _duckdb(folder: Path) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))  # others may have sessions of their own
        yield InDuckDB(folder)


@contextmanager
def _postgresql(folder: Path) -> Iterator[Engine]:
    pytest.importorskip("adbc_driver_postgresql", reason="no driver: pip install 'dpviz[postgresql]'")
    on_path = shutil.which("initdb")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not (on_path or found):
        pytest.skip("no PostgreSQL server (Debian: apt-get install postgresql)")
    binaries = Path(on_path or found[-1]).resolve().parent
    with tempfile.TemporaryDirectory(prefix="dpviz-pg-", dir="/tmp") as short:  # short, for a socket, and open to its user
        if os.geteuid() == 0:
            shutil.chown(short, "nobody")
        made = InPostgreSQL(Path(short), binaries)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGHOST", short)
            try:
                yield made
            finally:
                made.crash()


def require_spark() -> Any:
    """`pyspark.sql`; the test is skipped without it or Java."""
    sql = pytest.importorskip("pyspark.sql", reason="no pyspark: pip install 'dpviz[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java, which Spark runs on (Debian: apt-get install openjdk-17-jre-headless)")
    return sql


@contextmanager
def _spark(folder: Path) -> Iterator[Engine]:
    sql = require_spark()
    asked = sql.SparkSession.builder.master("local[1]").appName("dpviz tests")
    places = {"spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.local.dir": str(folder / "local")}
    for name, value in {**SPARK, **places, "spark.sql.shuffle.partitions": "1"}.items():
        asked = asked.config(name, value)
    ctrl_c = signal.getsignal(signal.SIGINT)
    session = asked.getOrCreate()
    signal.signal(signal.SIGINT, ctrl_c)  # Spark takes Ctrl-C for itself, and would keep it for all tests to come
    try:
        yield InSpark(folder, session)
    finally:
        session.stop()


#: name -> a running engine, given a folder for its files.
ENGINES: dict[str, Callable[[Path], AbstractContextManager[Engine]]] = {
    "parquet": _files,
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "spark": _spark,
}

_SERVER = (pytest.mark.engine, pytest.mark.slow, pytest.mark.verify)
#: For the fixture `engine`: all, and those that may die while the files are still there.
CASES = [pytest.param(name, marks=_SERVER if name in ("postgresql", "spark") else ()) for name in ENGINES]
SERVED = CASES[1:]
