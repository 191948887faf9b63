"""Tables on Apache Spark, in the session that its own configuration describes (spark-defaults.conf, SPARK_REMOTE).

Rows stay on the executors, and so do their records: a local checkpoint, cut off from the table it came from. If an executor is
lost, the next question fails, and the fit begins anew with fresh draws. What Spark puts on disks is encrypted, with a key
that is in memory alone, unless somebody else began the session. Executors get this package as a file.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
from dpviz.rows.cluster import (
    CELLS,
    PART_SCHEMA,
    PERSON_SCHEMA,
    Batches,
    ClusterRows,
    PartFunction,
    cells_of,
    concatenate_pieces,
    starts_of,
)
from dpviz.rows.databases import Database, readable_columns
from dpviz.table.encode import several_spellings
from dpviz.table.schema import Schema

#: Rows that are encoded at once.
_CHUNK_ROWS = 1 << 16


class SparkTable(Database):
    """A session of Spark."""

    title, _mark = "Spark", "`"

    def __init__(self) -> None:
        with self.errors():
            _forget_killed()
            self._is_own = SparkSession.getActiveSession() is None
            begun = SparkSession.builder.appName("dpviz").config("spark.io.encryption.enabled", "true")
            self.session = begun.getOrCreate().newSession()
            self.session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(_CHUNK_ROWS))
            self.session.conf.set("spark.sql.variable.substitute", "false")  # a name like ${x} is that name
            _send_package(self.session)

    @contextmanager
    def _stream(self, statement: str, n_rows: int) -> Iterator[tuple[Any, Callable[[], None]]]:
        """Part by part."""
        frame = self.session.sql(statement)
        streams = _map_frame(frame, _streams, pa.schema({"content": pa.binary()}))
        batches = (batch for (content,) in streams.toLocalIterator() for batch in pa.ipc.open_stream(bytes(content)))
        yield pa.RecordBatchReader.from_batches(to_arrow_schema(frame.schema), batches), lambda: None

    def close(self) -> None:
        """End the session if nobody else began it."""
        if self._is_own:
            with suppress(Exception):
                self.session.stop()


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
    """Rows of a table. Raises TableError or SchemaError."""
    person = schema.person if person is None else person
    wanted = [*schema.feature_names, schema.target.name, *([] if person is None else [person])]
    columns = readable_columns(table.schema(address.table), wanted, address.order)
    with table.errors():
        frame = table.session.sql(table.statement(address.table, columns, address.order))
    return ClusterRows(SparkSource(frame, table), schema, person, rows_per_person)


class SparkSource:
    """Rows of a frame: `dpviz.rows.cluster.Source`."""

    def __init__(self, frame: Any, table: SparkTable | None = None) -> None:
        """`table` is ended with this."""
        self._frame, self._table, self.names = frame, table, tuple(frame.columns)

    def _map_rows(self, function: PartFunction, schema: pa.Schema) -> Any:
        return _map_frame(self._frame, partial(_of_part, function), schema)

    def map_batches(self, function: PartFunction, schema: pa.Schema) -> SparkSource:
        """What a function makes of every part, in a local checkpoint."""
        return SparkSource(self._map_rows(function, schema).localCheckpoint(eager=True))

    def sum_batches(self, function: PartFunction) -> pa.Table:
        """Cells, added up on the executors."""
        cells = self._map_rows(function, CELLS).groupBy("cell").agg(functions.sum("count").alias("count"))
        return cells.toArrow().cast(CELLS)

    def partition_by(self, person: str, rows_per_person: int) -> SparkSource:
        """Of each person the rows with the least draws."""
        rows = self._frame.where("records IS NOT NULL")
        looks = rows.where("look IS NOT NULL").select("look", "person").distinct().groupBy("look").count()
        if looks.where("count > 1").limit(1).count():
            raise several_spellings(person)
        by_draw = Window.partitionBy("person").orderBy("draw", "row")
        chosen = rows.withColumn("place", functions.row_number().over(by_draw)).where(f"place <= {rows_per_person}").drop("place")
        ordered = SparkSource(chosen.orderBy("row").localCheckpoint(eager=True))
        try:
            sizes = ordered.sum_batches(_size_of_part)
            starts = starts_of(*(column.to_numpy() for column in sizes.columns))
            first = functions.min("row").over(Window.partitionBy("person"))
            numbered = ordered._map_rows(partial(_number_rows, starts), PERSON_SCHEMA).withColumn("row", first)
            return SparkSource(numbered).map_batches(concatenate_pieces, PART_SCHEMA)
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


def _map_frame(frame: Any, function: Callable[[Batches], Batches], schema: pa.Schema) -> Any:
    """Columns have numbers meanwhile: functions that map frames look them up by names without quotes."""
    numbered = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of versions of pandas, which is not used
        return numbered.mapInArrow(partial(_with_names, function, frame.columns), from_arrow_schema(schema))


def _with_names(function: Callable[[Batches], Batches], names: list[str], batches: Batches) -> Batches:
    return function(batch.rename_columns(names) for batch in batches)


def _of_part(function: PartFunction, batches: Batches) -> Batches:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return function(context.partitionId(), batches)


def _size_of_part(part: int, batches: Batches) -> Batches:
    yield cells_of([part], [sum(batch.num_rows for batch in batches)])


def _number_rows(starts: dict[int, int], part: int, batches: Batches) -> Batches:
    start = starts.get(part, 0)
    for batch in batches:
        numbers = pa.array(range(start, start + batch.num_rows), pa.int64())
        yield batch.set_column(batch.schema.get_field_index("row"), PERSON_SCHEMA.field("row"), numbers)
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
