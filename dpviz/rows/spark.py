"""Tables on Apache Spark, in the session that its own configuration describes (spark-defaults.conf, SPARK_REMOTE).

Rows stay on the executors, and so do their records: a local checkpoint, cut off from the table it came from. If an executor is
lost, the next question fails, and the fit begins anew with fresh draws. What Spark puts on disks is encrypted, with a key
that is in memory alone, unless somebody else began the session. Executors get this package as a file.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import pyarrow as pa
from pyspark.sql import SparkSession, functions
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.window import Window

from dpviz.rows.address import Address
from dpviz.rows.cluster import CELLS, KEPT, WHOSE, Batches, ClusterRows, PartFunction, starts_of, together
from dpviz.rows.databases import checked_columns, redact_database_errors, require_table
from dpviz.table.encode import several_spellings
from dpviz.table.schema import Schema

#: Rows that are encoded at once.
_ROWS_AT_ONCE = 1 << 16
#: The package as a file, by what is in it; as long as this process runs.
_PACKED = dict[str, TemporaryDirectory[str]]()


class SparkTable:
    """A session of Spark."""

    def __init__(self, address: Address) -> None:
        with redact_database_errors("Spark"):
            _forget_killed()
            self._is_own = SparkSession.getActiveSession() is None
            begun = SparkSession.builder.appName("dpviz").config("spark.io.encryption.enabled", "true")
            self.session = begun.getOrCreate().newSession()
            self.session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(_ROWS_AT_ONCE))
            _send_package(self.session)

    def schema(self, table: Sequence[str]) -> pa.Schema:
        """Types of the columns."""
        with redact_database_errors("Spark"):
            require_table(self.session.catalog.tableExists(_named(table)))
            return to_arrow_schema(self.session.table(_named(table)).schema)

    def frame(self, table: Sequence[str], columns: Sequence[str], order: str) -> Any:
        """These columns of every row, numbered: functions that map frames look their columns up by names without quotes."""
        found = self.session.table(_named(table))
        found = found.orderBy(_column(order)) if order else found
        return found.select(*(_column(name).alias(f"c{place}") for place, name in enumerate(columns)))

    def read(self, table: Sequence[str], columns: Sequence[str], order: str = "") -> Iterator[pa.RecordBatch]:
        """These columns of every row, part by part."""
        with redact_database_errors("Spark"):
            for content in _part_by_part(self.frame(table, columns, order)):
                yield from (batch.rename_columns([*columns]) for batch in pa.ipc.open_stream(content))

    def count(self, table: Sequence[str]) -> int:
        """How many rows there are."""
        with redact_database_errors("Spark"):
            return int(self.session.table(_named(table)).count())

    def close(self) -> None:
        """End the session if nobody else began it."""
        if self._is_own:
            with suppress(Exception):
                self.session.stop()


def _named(table: Sequence[str]) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in table)


def _column(name: str) -> Any:
    return functions.col("`" + name.replace("`", "``") + "`")


def _part_by_part(frame: Any) -> Iterator[bytes]:
    return (bytes(row[0]) for row in _mapped(frame, _streams, pa.schema({"content": pa.binary()})).toLocalIterator())


def _streams(batches: Batches) -> Batches:
    """Every batch as an Arrow stream."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], ["content"])


def spark_rows(address: Address, schema: Schema, person: str | None, rows_per_person: int | None) -> ClusterRows:
    """Rows of a table. Raises EngineError or SchemaError."""
    table = SparkTable(address)
    try:
        found = table.schema(address.table)
        whose = [name for name in (schema.person if person is None else person,) if name is not None]
        columns = checked_columns(found, [*schema.feature_names, schema.target.name, *whose], address.order)
        with redact_database_errors("Spark"):
            frame = table.frame(address.table, columns, address.order)
        return ClusterRows(SparkSource(frame, tuple(found.names), table, columns), schema, person, rows_per_person)
    except BaseException:
        table.close()
        raise


class SparkSource:
    """Rows of a frame: `dpviz.rows.cluster.Source`."""

    def __init__(
        self, frame: Any, names: tuple[str, ...], table: SparkTable | None = None, columns: Sequence[str] | None = None
    ) -> None:
        """`table` is ended with this; `columns`: what the columns of the frame are called, by their places."""
        self._frame, self.names, self._table, self._columns = frame, names, table, columns

    def map_batches(self, function: PartFunction, schema: pa.Schema) -> SparkSource:
        """What a function makes of every part, in a local checkpoint."""
        return self._kept(_mapped(self._frame, partial(_of_part, function, self._columns), schema), schema)

    def _kept(self, frame: Any, schema: pa.Schema) -> SparkSource:
        return SparkSource(frame.localCheckpoint(eager=True), tuple(schema.names))

    def sum_batches(self, function: PartFunction) -> pa.Table:
        """Cells, added up on the executors."""
        cells = _mapped(self._frame, partial(_of_part, function, None), CELLS)
        return cells.groupBy("cell").agg(functions.sum("count").alias("count")).toArrow().cast(CELLS)

    def partition_by(self, person: str, most: int) -> SparkSource:
        """Of each person the rows with the least draws."""
        rows = self._frame.where("records IS NOT NULL")
        looks = rows.where("look IS NOT NULL").select("look", "person").distinct().groupBy("look").count()
        if looks.where("count > 1").limit(1).count():
            raise several_spellings(person)
        by_draw = Window.partitionBy("person").orderBy("draw", "row")
        chosen = rows.withColumn("place", functions.row_number().over(by_draw)).where(f"place <= {most}").drop("place")
        ordered = self._kept(chosen.orderBy("row"), WHOSE)
        try:
            starts, _ = starts_of(ordered.sum_batches(_size_of_part))
            numbered = _mapped(ordered._frame, partial(_of_part, partial(_numbered, starts), None), WHOSE)
            first = functions.min("row").over(Window.partitionBy("person"))
            return self._kept(_mapped(numbered.withColumn("row", first), partial(_of_part, together, None), KEPT), KEPT)
        finally:
            ordered.close()

    def close(self) -> None:
        """Drop what executors hold."""
        with suppress(Exception):
            plan = self._frame._jdf.queryExecution().logical() if hasattr(self._frame, "_jdf") else None
            if plan is not None and plan.getClass().getSimpleName() == "LogicalRDD":  # Spark Connect frees it by itself
                plan.rdd().unpersist(False)
        if self._table is not None:
            self._table.close()


def _mapped(frame: Any, function: Callable[[Batches], Batches], schema: pa.Schema) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of versions of pandas, which is not used
        return frame.mapInArrow(function, from_arrow_schema(schema))


def _of_part(function: PartFunction, columns: Sequence[str] | None, batches: Batches) -> Batches:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    named = batches if columns is None else (batch.rename_columns([*columns]) for batch in batches)
    return function(context.partitionId(), named)


def _size_of_part(part: int, batches: Batches) -> Batches:
    size = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_arrays([pa.array([part], pa.int64()), pa.array([size], pa.int64())], schema=CELLS)


def _numbered(starts: dict[int, int], part: int, batches: Batches) -> Batches:
    start = starts.get(part, 0)
    for batch in batches:
        numbers = pa.array(range(start, start + batch.num_rows), pa.int64())
        yield batch.set_column(batch.schema.get_field_index("row"), WHOSE.field("row"), numbers)
        start += batch.num_rows


def _send_package(session: Any) -> None:
    """Give executors this package: its Python files, without the public names and what these need."""
    home = Path(__file__).parents[1]
    files = sorted(path for path in home.rglob("*.py") if path != home / "__init__.py")
    digest = sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    if digest not in _PACKED:
        _PACKED[digest] = TemporaryDirectory(prefix="dpviz-package-")
        with ZipFile(Path(_PACKED[digest].name) / f"dpviz-{digest}.zip", "w") as packed:
            packed.writestr("dpviz/__init__.py", "")
            for path in files:
                packed.write(path, f"dpviz/{path.relative_to(home)}")
    place, before = str(Path(_PACKED[digest].name) / f"dpviz-{digest}.zip"), [*sys.path]
    try:
        if not hasattr(session, "_jsc"):  # a client of Spark Connect
            session.addArtifacts(place, pyfile=True)
            return
        context = session.sparkContext
        context.addPyFile(place)
        if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable  # what is installed here is installed there
    finally:
        sys.path[:] = before  # of this process


def _forget_killed() -> None:
    """A Spark that this process began and somebody killed: pyspark would go on asking it, and no session could begin."""
    try:
        from pyspark.core.context import SparkContext
    except ImportError:  # a client of Spark Connect, which begins none
        return
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None and process.poll() is not None:
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None
