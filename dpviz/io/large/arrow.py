"""Parquet and Arrow files in batches of rows, each through the reader of small ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.errors import TableError
from dpviz.installation import require_extra
from dpviz.io.csv_lines import check_names
from dpviz.io.large.pieces import Pieces, Reading
from dpviz.io.limits import MAX_COLUMNS
from dpviz.io.tables.arrow import flat_columns, table_of_arrow, text_columns
from dpviz.io.tables.cells import in_our_words
from dpviz.progress import Progress
from dpviz.table.raw import RawTable
from dpviz.training.counting.on_disk import rows_at_once

if TYPE_CHECKING:
    import pyarrow as pa

#: A buffer per column, which is used again; otherwise whole columns of a row group come into memory that is new each time.
_BUFFERED: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 18}


def parquet_pieces(path: Path, reading: Reading) -> Pieces:
    """A Parquet file; raises TableError."""
    require_extra("tables", "Reading a Parquet file", "pyarrow")
    import pyarrow.parquet as pq

    with in_our_words("Parquet file"):
        file = pq.ParquetFile(path)
        names = _names(file.schema_arrow, reading)
        wanted, n_rows = _wanted(names, reading), file.metadata.num_rows
        texts = [name for name in text_columns(file.schema_arrow) if name in wanted]

    def read(step: Progress) -> Iterator[RawTable]:
        done = 0
        with in_our_words("Parquet file"), pq.ParquetFile(path, **_BUFFERED, read_dictionary=texts) as file:
            for group in range(file.num_row_groups):  # of several at once every column would be held packed
                for batch in file.iter_batches(rows_at_once(len(wanted)), [group], list(wanted), use_threads=False):
                    step(done / n_rows)
                    done += batch.num_rows
                    yield table_of_batch(batch, path.name)
            if not done:
                yield table_of_arrow(file.schema_arrow.empty_table().select(list(wanted)), path.name)

    return Pieces(path.name, names, read)


def feather_pieces(path: Path, reading: Reading) -> Pieces:
    """A Feather (Arrow IPC) file; raises TableError. Batches are as large as whoever wrote the file made them."""
    require_extra("tables", "Reading a Feather file", "pyarrow")
    import pyarrow as pa

    with in_our_words("Feather file"), pa.memory_map(str(path)) as source:
        names = _names(pa.ipc.open_file(source).schema, reading)
        wanted = _wanted(names, reading)

    def read(step: Progress) -> Iterator[RawTable]:
        with in_our_words("Feather file"), pa.memory_map(str(path)) as source:
            file = pa.ipc.open_file(source)
            if not file.num_record_batches:
                yield table_of_arrow(file.schema.empty_table().select(list(wanted)), path.name)
            for place in range(file.num_record_batches):
                step(place / file.num_record_batches)
                batch = file.get_batch(place)
                batch.validate(full=True)
                yield table_of_batch(batch.select(list(wanted)), path.name)

    return Pieces(path.name, names, read)


def table_of_batch(batch: pa.RecordBatch, title: str) -> RawTable:
    """The rows of a batch."""
    import pyarrow as pa

    return table_of_arrow(pa.Table.from_batches([batch]), title)


def _names(schema: pa.Schema, reading: Reading) -> tuple[str, ...]:
    if reading.names is not None:
        what = "This kind of file holds the names of its columns; none can be given."
        raise TableError("names", what, remedy="Leave the names out.")
    check_names(list(schema.names), MAX_COLUMNS)
    return tuple(flat_columns(schema))


def _wanted(names: tuple[str, ...], reading: Reading) -> tuple[str, ...]:
    return names if reading.wanted is None else tuple(name for name in names if name in reading.wanted)
