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
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import pyarrow as pa
from pyspark.sql import SparkSession, functions
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.window import Window

from dpviz.rows.address import Address
from dpviz.rows.cluster import CELLS, KEPT, WHOSE, Batches, ClusterRows, PartFunction, cells_of, starts_of, together
from dpviz.rows.databases import checked_columns, no_table, redact_database_errors
from dpviz.table.encode import several_spellings
from dpviz.table.schema import Schema

#: Rows that are encoded at once.
_ROWS_AT_ONCE = 1 << 16


class SparkTable:
    """A session of Spark."""

    def __init__(self) -> None:
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
            if not self.session.catalog.tableExists(_named(table)):
                raise no_table()
            return to_arrow_schema(self.session.table(_named(table)).schema)

    def frame(self, table: Sequence[str], columns: Sequence[str], order: str) -> Any:
        """These columns of every row, numbered: functions that map frames look their columns up by names without quotes."""
        found = self.session.table(_named(table))
        found = found.orderBy(_column(order)) if order else found
        return found.select(*(_column(name).alias(f"c{place}") for place, name in enumerate(columns)))

    def read(self, table: Sequence[str], columns: Sequence[str], order: str = "") -> Iterator[pa.RecordBatch]:
        """These columns of every row, part by part."""
        with redact_database_errors("Spark"):
            streams = _mapped(self.frame(table, columns, order), _streams, pa.schema({"content": pa.binary()}))
            for (content,) in streams.toLocalIterator():
                yield from (batch.rename_columns([*columns]) for batch in pa.ipc.open_stream(bytes(content)))

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


def _streams(batches: Batches) -> Batches:
    """Every batch as an Arrow stream."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], ["content"])


def spark_rows(
    table: SparkTable, address: Address, schema: Schema, person: str | None, rows_per_person: int | None
) -> ClusterRows:
    """Rows of a table. Raises EngineError or SchemaError."""
    found, person = table.schema(address.table), schema.person if person is None else person
    wanted = [*schema.feature_names, schema.target.name, *([] if person is None else [person])]
    columns = checked_columns(found, wanted, address.order)
    with redact_database_errors("Spark"):
        frame = table.frame(address.table, columns, address.order)
    return ClusterRows(SparkSource(frame, found.names, table, columns), schema, person, rows_per_person)


class SparkSource:
    """Rows of a frame: `dpviz.rows.cluster.Source`."""

    def __init__(
        self, frame: Any, names: Sequence[str], table: SparkTable | None = None, columns: Sequence[str] | None = None
    ) -> None:
        """`table` is ended with this; `columns`: what the columns of the frame are called, by their places."""
        self._frame, self.names, self._table, self._columns = frame, tuple(names), table, columns

    def _made(self, function: PartFunction, schema: pa.Schema) -> Any:
        return _mapped(self._frame, partial(_of_part, function, self._columns), schema)

    def map_batches(self, function: PartFunction, schema: pa.Schema) -> SparkSource:
        """What a function makes of every part, in a local checkpoint."""
        return SparkSource(self._made(function, schema).localCheckpoint(eager=True), schema.names)

    def sum_batches(self, function: PartFunction) -> pa.Table:
        """Cells, added up on the executors."""
        cells = self._made(function, CELLS).groupBy("cell").agg(functions.sum("count").alias("count"))
        return cells.toArrow().cast(CELLS)

    def partition_by(self, person: str, most: int) -> SparkSource:
        """Of each person the rows with the least draws."""
        rows = self._frame.where("records IS NOT NULL")
        looks = rows.where("look IS NOT NULL").select("look", "person").distinct().groupBy("look").count()
        if looks.where("count > 1").limit(1).count():
            raise several_spellings(person)
        by_draw = Window.partitionBy("person").orderBy("draw", "row")
        chosen = rows.withColumn("place", functions.row_number().over(by_draw)).where(f"place <= {most}").drop("place")
        ordered = SparkSource(chosen.orderBy("row").localCheckpoint(eager=True), WHOSE.names)
        try:
            sizes = ordered.sum_batches(_size_of_part)
            starts = starts_of(*(column.to_numpy() for column in sizes.columns))
            first = functions.min("row").over(Window.partitionBy("person"))
            numbered = ordered._made(partial(_numbered, starts), WHOSE).withColumn("row", first)
            return SparkSource(numbered, WHOSE.names).map_batches(together, KEPT)
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
    yield cells_of([part], [sum(batch.num_rows for batch in batches)])


def _numbered(starts: dict[int, int], part: int, batches: Batches) -> Batches:
    start = starts.get(part, 0)
    for batch in batches:
        numbers = pa.array(range(start, start + batch.num_rows), pa.int64())
        yield batch.set_column(batch.schema.get_field_index("row"), WHOSE.field("row"), numbers)
        start += batch.num_rows


@cache
def _package() -> TemporaryDirectory[str]:
    """A folder with this package as a file, without the public names and what these need; as long as this process runs."""
    home, folder = Path(__file__).parents[1], TemporaryDirectory(prefix="dpviz-package-")
    with ZipFile(Path(folder.name) / "dpviz.zip", "w") as packed:
        packed.writestr("dpviz/__init__.py", "")
        for path in home.rglob("*.py"):
            if path != home / "__init__.py":
                packed.write(path, f"dpviz/{path.relative_to(home)}")
    return folder


def _send_package(session: Any) -> None:
    """Give executors this package."""
    place, before = f"{_package().name}/dpviz.zip", [*sys.path]
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
