"""Parquet, Feather and DuckDB files in Arrow batches of rows, each through the reader of small ones.

Of a DuckDB file only tables that it holds: a view may be text that DuckDB would read its way. The file is opened for reading
alone, and DuckDB may open no other: it can neither write next to it nor reach another place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.errors import TableError
from dpviz.installation import require_extra
from dpviz.io.csv import check_names
from dpviz.io.exports.sql import identifier
from dpviz.io.large.pieces import Pieces
from dpviz.io.tables.arrow import LEAST_CELL, flat_columns, longest_texts, table_of_arrow, text_columns, unpacked, without_cells
from dpviz.io.tables.cells import ReadRequest, in_our_words
from dpviz.io.tables.sizes import Chunk, arrow_batches, parquet_chunks
from dpviz.progress import Progress
from dpviz.table.raw import RawTable
from dpviz.training.counting.binned import rows_at_once

if TYPE_CHECKING:
    import pyarrow as pa

#: Reads the wanted columns: batches, each with the share of the rows that come before it.
Batches = Callable[[list[str]], Iterator[tuple[float, "pa.RecordBatch"]]]
#: A buffer per column, which is used again; otherwise whole columns of a row group come into memory that is new each time.
_BUFFERED: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 18}


def parquet_pieces(path: Path, asked: ReadRequest) -> Pieces:
    """A Parquet file; raises TableError."""
    require_extra("tables", "Reading a Parquet file", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    with in_our_words("Parquet file"), pq.ParquetFile(path) as file:
        schema, about = file.schema_arrow, file.metadata

    def batches(wanted: list[str]) -> Iterator[tuple[float, pa.RecordBatch]]:
        done = 0
        with pa.memory_map(str(path)) as source:
            groups = list(parquet_chunks(source.read_buffer(), about))
        sizes = [chunk for chunks in groups for chunk in chunks if chunk.name in wanted]
        texts, longest = text_columns(schema, sizes), longest_texts(schema, sizes)
        with pq.ParquetFile(path, **_BUFFERED, read_dictionary=[name for name in texts if name in wanted]) as file:
            for group, chunks in enumerate(groups):  # of several at once every column would be held packed
                most = _rows_within([chunk for chunk in chunks if chunk.name in wanted], longest, asked)
                for batch in file.iter_batches(min(rows_at_once(len(wanted)), most), [group], wanted, use_threads=False):
                    yield done / about.num_rows, batch
                    done += batch.num_rows

    return _pieces(asked, "Parquet file", schema, batches)


def _rows_within(chunks: Sequence[Chunk], longest: Mapping[str, int], asked: ReadRequest) -> int:
    """How many rows of a row group may be in memory at once, beside a page of each column. Raises TableError where none may."""
    row = sum(max(chunk.row, longest.get(chunk.name, 0)) for chunk in chunks)
    asked.require_bytes(sum(chunk.page for chunk in chunks) + row)
    return max(1, asked.max_bytes // max(row, 1))


def feather_pieces(path: Path, asked: ReadRequest) -> Pieces:
    """A Feather (Arrow IPC) file; raises TableError, also where whoever wrote it made a batch too large."""
    require_extra("tables", "Reading a Feather file", "pyarrow")
    import pyarrow as pa

    with in_our_words("Feather file"), pa.memory_map(str(path)) as source:
        schema = pa.ipc.open_file(source).schema

    def batches(wanted: list[str]) -> Iterator[tuple[float, pa.RecordBatch]]:
        with pa.memory_map(str(path)) as source:
            packed = source.read_buffer()
            dictionaries, sizes = arrow_batches(packed)
            kept = sum(dictionary.n_bytes for dictionary in dictionaries)
            for batch in sizes:
                asked.require_rows(batch.n_rows)
                asked.require_bytes(kept + max(batch.n_bytes, LEAST_CELL * batch.n_rows * len(wanted)))
            for place, rows in enumerate(unpacked(packed, schema, wanted)):
                yield place / len(sizes), rows

    return _pieces(asked, "Feather file", schema, batches)


def duckdb_pieces(path: Path, asked: ReadRequest) -> Pieces:
    """A DuckDB file; raises TableError."""
    require_extra("duckdb", "Reading a DuckDB file", "duckdb", "pyarrow")
    with in_our_words("DuckDB file"), closing(_opened(path)) as base:
        table = _table(base, asked.sheet)
        schema = _reader(base, f"select * from {table} limit 0").schema

    def batches(wanted: list[str]) -> Iterator[tuple[float, pa.RecordBatch]]:
        with closing(_opened(path)) as base:
            ((n_rows,),) = base.execute(f"select count(*) from {table}").fetchall()
            done, columns = 0, ", ".join(map(identifier, wanted))
            for batch in _reader(base, f"select {columns} from {table}", rows_at_once(len(wanted))):
                yield done / max(n_rows, 1), batch
                done += batch.num_rows

    return _pieces(asked, "DuckDB file", schema, batches)


def _pieces(asked: ReadRequest, kind: str, schema: pa.Schema, batches: Batches) -> Pieces:
    """The batches of a file as tables; one without rows where there is no batch."""
    if asked.names is not None:
        what = "This kind of file holds the names of its columns; none can be given."
        raise TableError("names", what, remedy="Leave the names out.")
    check_names(list(schema.names), asked.max_columns)
    names = tuple(flat_columns(schema))
    wanted = [name for name in names if asked.wanted is None or name in asked.wanted]

    def read(step: Progress) -> Iterator[RawTable]:
        is_empty = True
        with in_our_words(kind):
            for share, batch in batches(wanted):
                is_empty = False
                step(share)
                yield table_of_batch(batch, asked)
        if is_empty:
            yield table_of_arrow(schema.empty_table().select(wanted), asked)

    return Pieces(asked.title, names, read, tuple(without_cells(schema)))


def table_of_batch(batch: pa.RecordBatch, asked: ReadRequest) -> RawTable:
    """The rows of a batch."""
    import pyarrow as pa

    return table_of_arrow(pa.Table.from_batches([batch]), asked)


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
