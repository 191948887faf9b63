"""Counting on Apache Spark, in the session that its own configuration describes (spark-defaults.conf, SPARK_REMOTE).

What is encoded is a local checkpoint, cut off from the table it came from: executors hold it, and if one is lost the next
question fails. A cached table would be read again from rows that may have changed. Whatever sorting, joining and a lack of memory
put on disks is encrypted, with a key that is in memory alone, unless somebody else began the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from sqlglot.expressions import Expression

from dpviz.engines.address import Address
from dpviz.engines.connection import ROWS_AT_ONCE, Connection, in_our_words, new_name
from dpviz.engines.expressions import Words
from dpviz.engines.kinds import ColumnKind
from dpviz.engines.statements import blocks, usable, written

_WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_OTHERS = {"float": "single", "double": "double", "string": "text", "boolean": "boolean", "date": "date"}
#: Bits of a row's identifier that count within its partition.
_WITHIN = 33


class Spark(Connection):
    """A session of Spark."""

    words: ClassVar = Words("spark", "DAYOFWEEK_ISO", "")

    def __init__(self, address: Address) -> None:
        from pyspark.sql import SparkSession

        self._made: dict[str, Any] = {}
        with in_our_words("Spark"):
            _forget_killed()
            self._own = SparkSession.getActiveSession() is None
            asked = SparkSession.builder.appName("dpviz").config("spark.io.encryption.enabled", "true")
            self._session = asked.getOrCreate().newSession()
            self._session.conf.set("spark.sql.parser.escapedStringLiterals", "false")
            self._session.conf.set("spark.sql.ansi.enabled", "true")

    def kinds(self, table: Sequence[str]) -> dict[str, ColumnKind | str]:
        """Types of the columns."""
        name = ".".join("`" + part.replace("`", "``") + "`" for part in table)
        with in_our_words("Spark"):
            if not self._session.catalog.tableExists(name):
                return {}
            return {field.name: _kind(field.dataType) for field in self._session.table(name).schema}

    def make_encoded(self, encoding: Expression, names: Sequence[str], *, ordered: bool) -> str:
        """The encoded rows, in the order of partitions and within them."""
        kept = ", ".join(names)
        encoded = f"{written(encoding, 'spark')}{' ORDER BY o' if ordered else ''}"
        stored = self._make(f"SELECT {kept}, monotonically_increasing_id() AS id FROM ({encoded})")
        partition = f"shiftright(id, {_WITHIN})"
        ok = usable(names)
        counted = self.rows(f"SELECT {partition}, COUNT(*) FROM {stored} WHERE {ok} GROUP BY {partition}", as_written=True)
        before = np.cumsum([0] + [count for _, count in sorted(counted)])
        offsets = [(partition, int(start)) for (partition, _), start in zip(sorted(counted), before, strict=False)]
        begins = self._keep_rows(offsets, "p BIGINT, before BIGINT")
        running = f"SUM(CASE WHEN {ok} THEN 1 ELSE 0 END) OVER (PARTITION BY {partition} ORDER BY id)"
        number = f"CASE WHEN {ok} THEN before + {running} - 1 END AS k"
        made = self._make(f"SELECT {kept}, {number} FROM {stored} s LEFT JOIN {begins} ON {partition} = p")
        self.drop(begins)
        self.drop(stored)
        return made

    def _make_assignment(self, parts: np.ndarray) -> str:
        return self._keep_rows(list(blocks(parts)), "first BIGINT, parts STRING")

    def _make(self, select: str) -> str:
        with in_our_words("Spark"):
            return self._keep_frame(self._session.sql(select).localCheckpoint(eager=True))

    def _keep_rows(self, rows: list[tuple[Any, ...]], schema: str) -> str:
        with in_our_words("Spark"):
            return self._keep_frame(self._session.createDataFrame(rows, schema))

    def _keep_frame(self, frame: Any) -> str:
        name = new_name()
        frame.createTempView(name)
        self._made[name] = frame
        return name

    def rows(self, statement: str | Expression, *, as_written: bool = False) -> list[tuple[int, ...]]:
        """Counts."""
        with in_our_words("Spark"):
            found = self._session.sql(statement if as_written else written(statement, "spark")).collect()
            return [tuple(row) for row in found]

    def columns(self, statement: str | Expression) -> Sequence[np.ndarray]:
        """Whole numbers, as arrays."""
        rows = self.rows(statement)
        return [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]

    def batches(self, statement: str | Expression) -> Iterator[Any]:
        """Rows, in Arrow batches, partition by partition."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        with in_our_words("Spark"):
            frame = self._session.sql(written(statement, "spark"))
            names, rows = to_arrow_schema(frame.schema), frame.toLocalIterator()
            while some := list(islice(rows, ROWS_AT_ONCE)):
                columns = zip(zip(*some, strict=True), names, strict=True)
                yield pa.RecordBatch.from_arrays([pa.array(cells, field.type) for cells, field in columns], schema=names)

    def drop(self, table: str) -> None:
        """Drop a temporary view, and what executors hold of it."""
        with in_our_words("Spark"):
            frame = self._made.pop(table)
            self._session.catalog.dropTempView(table)
            plan = frame._jdf.queryExecution().logical() if hasattr(frame, "_jdf") else None  # Spark Connect frees it by itself
            if plan is not None and plan.getClass().getSimpleName() == "LogicalRDD":
                plan.rdd().unpersist(False)

    def close(self) -> None:
        """Drop all views; end the session if nobody else began it."""
        for table in list(self._made):
            with suppress(Exception):
                self.drop(table)
        if self._own:
            with suppress(Exception):
                self._session.stop()


def _forget_killed() -> None:
    """A Spark that this process began and somebody killed: pyspark would go on asking it, and no session could begin."""
    from pyspark.sql import SparkSession

    try:
        from pyspark.core.context import SparkContext
    except ImportError:  # a client of Spark Connect, which begins none
        return
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None and process.poll() is not None:
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None


def _kind(found: Any) -> ColumnKind | str:
    name = found.simpleString()
    if name.startswith("decimal("):
        return ColumnKind("decimal", digits=found.precision, scale=found.scale)
    if name in _WHOLE:
        return ColumnKind.signed(_WHOLE[name])
    return ColumnKind(_OTHERS[name]) if name in _OTHERS else name  # type: ignore[arg-type]
