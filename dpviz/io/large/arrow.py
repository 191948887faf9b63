"""Parquet, Feather and DuckDB files in Arrow tables of some rows, each a reader that a worker runs.

Of a DuckDB file only tables that it holds: a view may be text that DuckDB would read its way. The file is opened for reading
alone, and DuckDB may open no other: it can neither write next to it nor reach another place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.errors import TableError
from dpviz.io.csv import check_names
from dpviz.io.exports.sql import identifier
from dpviz.io.options import ReadOptions, redact_errors
from dpviz.io.tables.arrow import (
    LEAST_CELL,
    Facts,
    as_bytes,
    chunk_sizes,
    flat_columns,
    table_of_arrow,
    text_columns,
    unpacked,
    wanted_of,
    with_type,
    without_cells,
)
from dpviz.table.raw import RawTable
from dpviz.training.nodes import rows_at_once

if TYPE_CHECKING:
    import pyarrow as pa

#: Reads the wanted columns: batches, each with the share of the rows that come before it.
Batches = Callable[[list[str]], Iterator[tuple[float, "pa.RecordBatch"]]]
#: A buffer per column, which is used again; otherwise whole columns of a row group come into memory that is new each time.
_BUFFERED: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 18}


def parquet_pieces(path: Path, options: ReadOptions) -> Iterator[Any]:
    """A Parquet file; raises TableError."""
    import pyarrow.parquet as pq

    def batches(wanted: list[str]) -> Iterator[tuple[float, pa.RecordBatch]]:
        done = 0
        texts = [name for name in text_columns(about, schema) if name in wanted]
        with pq.ParquetFile(path, **_BUFFERED, read_dictionary=texts) as file:
            for group in range(about.num_row_groups):  # of several at once every column would be held packed
                most = _rows_within(about.row_group(group), schema, wanted, options)
                for batch in file.iter_batches(min(rows_at_once(len(wanted)), most), [group], wanted, use_threads=False):
                    yield done / about.num_rows, batch
                    done += batch.num_rows

    with redact_errors("Parquet file"):
        with pq.ParquetFile(path) as file:
            schema, about = file.schema_arrow, file.metadata
        yield from _pieces(options, schema, batches)


def _rows_within(group: Any, schema: pa.Schema, wanted: list[str], options: ReadOptions) -> int:
    """How many rows of a row group may be in memory at once, by the average of its columns and what types of one width take."""
    import pyarrow.types as types

    row = sum(schema.field(name).type.byte_width for name in wanted if types.is_fixed_size_binary(schema.field(name).type))
    for place, size in enumerate(chunk_sizes(group)):
        row += -(-size // max(group.num_rows, 1)) if group.column(place).path_in_schema in wanted else 0
    options.require_bytes(row)
    return max(1, options.max_bytes // max(row, 1))


def feather_pieces(path: Path, options: ReadOptions) -> Iterator[Any]:
    """A Feather (Arrow IPC) file; raises TableError, also where whoever wrote it made a batch too large."""
    import pyarrow as pa

    def batches(wanted: list[str]) -> Iterator[tuple[float, pa.RecordBatch]]:
        with pa.memory_map(str(path)) as source:
            for share, batch in unpacked(source.read_buffer(), schema, wanted):
                options.require_rows(batch.num_rows)
                yield share, batch

    with redact_errors("Feather file"):
        with pa.memory_map(str(path)) as source:
            schema = pa.ipc.open_file(source).schema
        yield from _pieces(options, schema, batches)


def duckdb_pieces(path: Path, options: ReadOptions) -> Iterator[Any]:
    """A DuckDB file; raises TableError."""
    with redact_errors("DuckDB file"), closing(_opened(path)) as base:
        table = _table(base, options.sheet)
        schema = _reader(base, f"select * from {table} limit 0").schema

        def batches(wanted: list[str]) -> Iterator[tuple[float, pa.RecordBatch]]:
            ((n_rows,),) = base.execute(f"select count(*) from {table}").fetchall()
            done, columns = 0, ", ".join(map(identifier, wanted))
            for batch in _reader(base, f"select {columns} from {table}", rows_at_once(len(wanted))):
                yield done / max(n_rows, 1), batch
                done += batch.num_rows

        yield from _pieces(options, schema, batches)


def _pieces(options: ReadOptions, schema: pa.Schema, batches: Batches) -> Iterator[Any]:
    """Facts, then the batches of a file as tables; one without rows where there is no batch."""
    import pyarrow as pa

    if options.names is not None:
        what = "This kind of file holds the names of its columns; none can be given."
        raise TableError("names", what, remedy="Leave the names out.")
    check_names(list(schema.names), options.max_columns)
    names = flat_columns(schema)
    yield Facts(names, without_cells(schema))
    wanted, is_empty = wanted_of(names, options), True
    for share, batch in batches(wanted):
        is_empty = False
        options.step(share)
        options.require_bytes(max(batch.nbytes, LEAST_CELL * batch.num_rows * len(wanted)))
        yield with_type(pa.Table.from_batches([as_bytes(batch)]), schema, options)
    if is_empty:
        yield with_type(schema.empty_table().select(wanted), schema, options)


def table_of_batch(batch: pa.RecordBatch, options: ReadOptions) -> RawTable:
    """The rows of a batch."""
    import pyarrow as pa

    return table_of_arrow(pa.Table.from_batches([batch]), options)


def _opened(path: Path) -> Any:
    import duckdb

    settings = {"enable_external_access": "false", "autoload_known_extensions": "false", "threads": "2"}
    return duckdb.connect(str(path), read_only=True, config=settings)


def _reader(base: Any, query: str, n_rows: int = 1) -> Any:
    """An Arrow reader of the rows, in the order in which they are stored."""
    found = base.sql(query)
    return (getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader)(n_rows)  # its name before version 2


def _table(base: Any, name: str | int | None) -> str:
    """The table's quoted name; raises TableError unless it is named or the only one. Names are public, cells are not shown."""
    found = base.execute("select schema_name, table_name from duckdb_tables() where not internal order by all").fetchall()
    named = [(schema, table) for schema, table in found if name in (None, table, f"{schema}.{table}")]
    if len(named) == 1:
        return ".".join(map(identifier, named[0]))
    listed = ", ".join(repr(table) for _, table in found[:20]) or "none"
    what = f"The file holds these tables: {listed}." if name is None else f"The file has no single table {name!r}: {listed}."
    raise TableError("several-tables", what, remedy="Name one of them (sheet=..., --sheet on the command line).")
