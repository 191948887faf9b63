"""Parquet and Feather (Arrow IPC) files, one column at a time. The type of a column is the file's, the same for all its rows.

Columns of lists and records have no text and are left out with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from dpviz.installation import require_extra
from dpviz.io.csv import check_names
from dpviz.io.records import table_of_columns
from dpviz.io.tables.cells import ReadRequest, in_our_words
from dpviz.io.tables.sizes import Chunk, arrow_batches, parquet_chunks
from dpviz.table.arrow import arrow_column, is_flat, is_text, is_view
from dpviz.table.raw import WITHOUT_CELLS, RawColumn, RawTable

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes that a cell counts for, at least: in memory most take eight.
LEAST_CELL = 4
#: Columns that a note names.
_MOST_NAMED = 20


def read_parquet(raw: bytes, asked: ReadRequest) -> RawTable:
    """The table of a Parquet file; raises TableError."""
    require_extra("tables", "Reading a Parquet file", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    with in_our_words("Parquet file"):
        packed = pa.py_buffer(raw)
        about, schema = pq.read_metadata(pa.BufferReader(packed)), pq.read_schema(pa.BufferReader(packed))
        groups = [about.row_group(place).num_rows for place in range(about.num_row_groups)]
        asked.require_rows(max(about.num_rows, sum(groups)))
        chunks = list(chain.from_iterable(parquet_chunks(packed, about)))
        spent = _Spent(asked)
        spent.add(max(sum(chunk.n_bytes for chunk in chunks), LEAST_CELL * about.num_rows * about.num_columns))
        file = pq.ParquetFile(pa.BufferReader(packed), read_dictionary=text_columns(schema, chunks))
        longest = longest_texts(schema, chunks)

        def column(name: str) -> pa.ChunkedArray:
            found = unpack(name)
            if len(found) != about.num_rows:  # damaged: cells would meet those of other rows
                raise ValueError("a column of another length")
            return found

        def unpack(name: str) -> pa.ChunkedArray:
            if name not in longest:
                return file.read(columns=[name]).column(name)
            parts = []
            for batch in file.iter_batches(max(1, asked.max_bytes // longest[name]), columns=[name]):
                spent.add(batch.nbytes)
                parts.append(batch.column(0))
            return pa.chunked_array(parts, None if parts else schema.field(name).type)

        return _table(schema, _flat_names(schema, asked), column, spent)


def read_feather(raw: bytes, asked: ReadRequest) -> RawTable:
    """The table of a Feather (Arrow IPC) file; raises TableError."""
    require_extra("tables", "Reading a Feather file", "pyarrow")
    import pyarrow as pa

    with in_our_words("Feather file"):
        packed = pa.py_buffer(raw)
        schema = pa.ipc.open_file(packed).schema
        dictionaries, batches = arrow_batches(packed)
        n_rows = sum(batch.n_rows for batch in batches)
        asked.require_rows(n_rows)
        spent = _Spent(asked)
        spent.add(max(sum(batch.n_bytes for batch in [*dictionaries, *batches]), LEAST_CELL * n_rows * len(schema)))
        names = _flat_names(schema, asked)
        table = pa.Table.from_batches(unpacked(packed, schema, names), pa.schema([schema.field(name) for name in names]))
        return _table(schema, names, table.column, spent)


def unpacked(packed: pa.Buffer, schema: pa.Schema, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The batches of an Arrow file, of its columns of these names alone; its sizes have been checked (`sizes.arrow_batches`)."""
    import pyarrow as pa

    wanted = [place for place, name in enumerate(schema.names) if name in names]
    file = pa.ipc.open_file(packed, options=pa.ipc.IpcReadOptions(included_fields=wanted))
    for place in range(file.num_record_batches):
        batch = file.get_batch(place)
        batch.validate(full=True)  # what follows the offsets of a spoiled file, unchecked, ends the process
        yield batch.select(list(names))


@dataclass
class _Spent:
    """Memory that a table takes, charged before it is taken."""

    asked: ReadRequest
    n_bytes: int = 0

    def add(self, n_bytes: int) -> None:
        """Raise TableError where that is more than may be read."""
        self.n_bytes += n_bytes
        self.asked.require_bytes(self.n_bytes)


def text_columns(schema: pa.Schema, chunks: Iterable[Chunk]) -> list[str]:
    """Columns of texts to be read as a dictionary: each text is once in memory, however often it stands."""
    delta = {chunk.name for chunk in chunks if chunk.is_delta}
    return [field.name for field in schema if is_text(field.type) and field.name not in delta]


def longest_texts(schema: pa.Schema, chunks: Sequence[Chunk]) -> dict[str, int]:
    """Columns of texts of unknown length that are not read as a dictionary, and how many bytes a text has at most."""
    import pyarrow.types as types

    coded = {*text_columns(schema, chunks), *(field.name for field in schema if types.is_dictionary(field.type))}
    unknown = [chunk for chunk in chunks if chunk.is_text and chunk.name not in coded]
    return {chunk.name: max(chunk.page, 1) for chunk in sorted(unknown, key=lambda chunk: chunk.page)}


def flat_columns(schema: pa.Schema) -> list[str]:
    """Columns that are not lists or records."""
    return [field.name for field in schema if is_flat(field.type) and not is_view(field.type)]


def without_cells(schema: pa.Schema) -> list[str]:
    """The note that names the other columns, where there are any."""
    flat = set(flat_columns(schema))
    others = [name for name in schema.names if name not in flat]
    shown = ", ".join(f"{name!r:.80}" for name in others[:_MOST_NAMED]) + ", ..." * (len(others) > _MOST_NAMED)
    return [f"{WITHOUT_CELLS}: {shown}."] if others else []


def table_of_arrow(table: pa.Table, asked: ReadRequest) -> RawTable:
    """The rows of an Arrow table without lists or records; raises TableError where their texts take too much memory."""
    spent = _Spent(asked)
    columns = [arrow_column(name, table.column(name), spent.add, is_own=True) for name in table.column_names]
    return RawTable(tuple(columns), asked.title) if asked.keep_empty else table_of_columns(columns, asked.title, ())


def _flat_names(schema: pa.Schema, asked: ReadRequest) -> list[str]:
    check_names(list(schema.names), asked.max_columns)
    flat = flat_columns(schema)
    check_names(flat, asked.max_columns)
    return flat


def _table(schema: pa.Schema, flat: Sequence[str], column: Callable[[str], Any], spent: _Spent) -> RawTable:
    asked, left = spent.asked, without_cells(schema)
    read: list[RawColumn] = []
    for name in flat:
        asked.step(len(read) / len(flat))
        read.append(arrow_column(name, column(name), spent.add, is_own=True))
    return table_of_columns(read, asked.title, left)
