"""Files and folders that are read in batches, each by its ending: a file of this size is not opened to find out.

Parquet and Feather are read in a worker, CSV by our own reader of lines. Every reader is row-wise, so batches give what the whole
would. Folders are read file by file, in the order of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.errors import TableError, file_name_text
from dpviz.io.limits import MAX_BYTES
from dpviz.io.options import ReadOptions, redact_errors
from dpviz.io.tables.arrow import (
    MIN_CELL,
    MOMENTS,
    batch_as_bytes,
    chunk_sizes,
    facts_of,
    text_columns,
    unpacked,
    wanted_of,
    with_type,
)
from dpviz.io.worker import FORMATS, batches_in_worker
from dpviz.progress import Progress
from dpviz.rows.sources import Batches
from dpviz.rows.text import csv_batches
from dpviz.table.raw import RawTable
from dpviz.training.nodes import rows_per_chunk

if TYPE_CHECKING:
    import pyarrow as pa

_FORMATS = [format for format in FORMATS if format.batches]
#: Files whose rows are read some at a time, at no further cost.
IN_BATCHES = tuple(chain.from_iterable(format.endings for format in _FORMATS))
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz")


def is_large(path: Path) -> bool:
    """Whether a source is read in batches unasked: a folder, or a file that takes too much memory (`limits.py`)."""
    try:
        return path.is_dir() or (path.is_file() and path.stat().st_size > MAX_BYTES)
    except (OSError, ValueError):
        return False


def batches_of(path: Path, options: ReadOptions) -> Batches:
    """The source, ready to be read: its files one after another, which must have the same columns. Raises TableError."""
    try:
        files = _files_of(path) if path.is_dir() else [path]
        parts = [_file(file, options) for file in files]
    except TableError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        what = f"{file_name_text(path)} cannot be read: {reason}."
        raise TableError("not-a-file", what, remedy="Check the path; it must name a table.") from None
    for file, part in zip(files, parts, strict=True):
        if set(part.names) != set(parts[0].names):
            what = f"The files {files[0].name!r} and {file.name!r} of the folder have different columns."
            raise TableError("several-files", what, remedy="Keep files of one table in a folder.")

    def read(step: Progress) -> Iterator[RawTable]:
        for number, part in enumerate(parts):
            yield from part.read(lambda share, number=number: step((number + share) / len(parts)))  # type: ignore[misc]

    return replace(parts[0], read=read)


def _file(path: Path, options: ReadOptions) -> Batches:
    with open(path, "rb"):  # engines say less plainly that there is no file
        pass
    options, name = replace(options, title=path.name), path.name.lower()
    if name.endswith(_TEXT):
        return csv_batches(path, options)
    for format in _FORMATS:
        if name.endswith(format.endings):
            facts, read = batches_in_worker(format, path, options)
            return Batches(facts.names, read, facts.notes)
    what = f"{path.name!r} is none of the files that can be read in batches ({', '.join((*IN_BATCHES, *_TEXT))})."
    raise TableError("not-in-pieces", what, remedy="Save the table as Parquet, or give its address in a database.")


def _files_of(folder: Path) -> list[Path]:
    """The files of a folder, by name; hidden ones and marks like _SUCCESS are none of the table's. Raises TableError."""
    files = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    if any(path.is_dir() for path in files):
        what = "The folder has folders inside, whose names may hold values of a column."
        raise TableError("several-files", what, remedy="Name the folder that holds the files.")
    if not files:
        raise TableError("not-a-file", "The folder has no files.", remedy="Name a folder that holds the files of one table.")
    if len({path.suffix.lower() for path in files}) > 1:
        what = "The folder has files of several kinds."
        raise TableError("several-files", what, remedy="Keep the files of one table, all of one kind, in a folder.")
    return files


# --- in a worker

#: A buffer per column, which is used again; otherwise whole columns of a row group come into memory that is new each time.
_BUFFERED: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 18}


def parquet_batches(path: Path, options: ReadOptions) -> Iterator[Any]:
    """A Parquet file; raises TableError."""
    import pyarrow.parquet as pq

    def batches(wanted: list[str]) -> Iterator[tuple[float, pa.RecordBatch]]:
        done = 0
        texts = [name for name in text_columns(about, schema) if name in wanted]
        with pq.ParquetFile(path, **_BUFFERED, **MOMENTS, read_dictionary=texts) as file:
            for group in range(about.num_row_groups):  # of several at once every column would be held packed
                n_rows = min(rows_per_chunk(len(wanted)), _rows_within(about.row_group(group), schema, wanted, options))
                for batch in file.iter_batches(n_rows, [group], wanted, use_threads=False):
                    yield done / about.num_rows, batch
                    done += batch.num_rows

    with redact_errors("Parquet file"):
        with pq.ParquetFile(path, **MOMENTS) as file:
            about, schema = file.metadata, file.schema_arrow
        yield from _tables(options, schema, batches)


def _rows_within(group: Any, schema: pa.Schema, wanted: list[str], options: ReadOptions) -> int:
    """How many rows of a row group may be in memory at once, by the average of its columns and what types of one width take."""
    import pyarrow.types as types

    row = sum(schema.field(name).type.byte_width for name in wanted if types.is_fixed_size_binary(schema.field(name).type))
    for place, size in enumerate(chunk_sizes(group)):
        row += -(-size // max(group.num_rows, 1)) if group.column(place).path_in_schema in wanted else 0
    options.require_bytes(row)
    return max(1, options.max_bytes // max(row, 1))


def feather_batches(path: Path, options: ReadOptions) -> Iterator[Any]:
    """A Feather (Arrow IPC) file; raises TableError, also where whoever wrote it made a batch too large."""
    import pyarrow as pa

    with redact_errors("Feather file"), pa.memory_map(str(path)) as source:
        packed = source.read_buffer()
        schema = pa.ipc.open_file(packed).schema
        yield from _tables(options, schema, lambda wanted: unpacked(packed, schema, wanted, options))


def _tables(
    options: ReadOptions, schema: pa.Schema, batches: Callable[[list[str]], Iterator[tuple[float, pa.RecordBatch]]]
) -> Iterator[Any]:
    """Facts, then the batches of the wanted columns as tables, each behind its share; one without rows where there is none."""
    import pyarrow as pa

    if options.names is not None:
        what = "This kind of file holds the names of its columns; none can be given."
        raise TableError("names", what, remedy="Leave the names out.")
    facts = facts_of(schema, options)
    yield facts
    wanted, is_empty = wanted_of(facts.names, options), True
    for share, batch in batches(wanted):
        is_empty = False
        options.step(share)
        options.require_rows(batch.num_rows)
        options.require_bytes(max(batch.nbytes, MIN_CELL * batch.num_rows * len(wanted)))
        yield with_type(pa.Table.from_batches([batch_as_bytes(batch, options)]), schema, options)
    if is_empty:
        yield with_type(schema.empty_table().select(wanted), schema, options)
