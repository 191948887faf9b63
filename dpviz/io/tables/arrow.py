"""Parquet and Feather (Arrow IPC) files, and Arrow tables that a worker hands over. The type of a column is the file's.

Columns of lists and records have no text and are left out with a note.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.io.csv import check_names, lost_rows
from dpviz.io.options import ReadOptions, redact_errors
from dpviz.table.cells import Marks
from dpviz.table.columns import Column, as_bytes, has_cells, has_texts, is_flat, is_text, is_view, without_extension
from dpviz.table.notes import Doubt
from dpviz.table.raw import RawTable, note_left_out
from dpviz.training.nodes import rows_per_chunk

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes that a cell counts for, at least: in memory most take eight.
_MIN_CELL = 4
#: Bytes of a value of each kind of a Parquet column.
_WIDTHS = {"INT64": 8, "DOUBLE": 8, "INT96": 12}
#: How texts are stored that Arrow cannot read as a dictionary.
_DELTA = frozenset(("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"))
#: Of Parquet files of Spark and Impala: counted in nanoseconds, the year 9999 would be 1816.
_MOMENTS: dict[str, Any] = {"coerce_int96_timestamp_unit": "us"}
#: Where a field holds the labels of its values, as JSON.
_LABELS = b"labels"
#: Of rows in batches a buffer per column, which is used again; else whole columns of a row group come into memory that is new.
_BUFFERED: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 18}
#: Says that texts are numbers as a program writes them: points stand before decimals, whatever a schema says.
POINTS = {b"points": b"decimal"}
#: Where the field of keys holds the type that they have in the file, as a schema of one column.
_TYPE = b"type"


@dataclass(frozen=True)
class Facts:
    """What a reader says about a table beside its cells."""

    names: tuple[str, ...]  #: Of all columns that can be read
    notes: tuple[str, ...] = ()
    doubts: tuple[tuple[str, str], ...] = ()  #: Texts of `Doubt`, each with its kind of help
    malformed: tuple[int, ...] = ()  #: Places of records that are none


# --- in a worker


def read_parquet(source: bytes | Path, options: ReadOptions) -> Iterator[Any]:
    """Facts of a Parquet file, then its columns; of a file at a path tables of some rows. Raises TableError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def open_file(**how: Any) -> Any:
        return pq.ParquetFile(packed if isinstance(packed, Path) else pa.BufferReader(packed), **_MOMENTS, **how)

    with redact_errors("Parquet file"):
        packed = source if isinstance(source, Path) else pa.py_buffer(source)
        with open_file() as file:
            about, schema = file.metadata, file.schema_arrow
        if not isinstance(source, Path):
            groups = [about.row_group(place) for place in range(about.num_row_groups)]
            options.require_rows(max(about.num_rows, sum(group.num_rows for group in groups)))
            unpacked_size = sum(map(sum, map(_chunk_sizes, groups)))
            options.require_bytes(max(unpacked_size, _MIN_CELL * about.num_rows * about.num_columns))
        facts = _facts_of(schema, options)
        yield facts
        texts = _text_columns(about, schema)
        if isinstance(source, Path):
            wanted = wanted_of(facts.names, options)
            with open_file(**_BUFFERED, read_dictionary=[name for name in texts if name in wanted]) as file:
                yield from _tables_of_batches(_parquet_batches(file, wanted, options), schema, wanted, options)
            return
        file, memory = open_file(read_dictionary=texts), _Memory(options)
        for place, name in enumerate(facts.names):
            options.step(place / len(facts.names))
            column = file.read(columns=[name])
            if column.num_rows != about.num_rows:  # damaged: cells would meet those of other rows
                raise ValueError("a column of another length")
            memory.add(column.nbytes)
            batches = (batch_as_bytes(batch, options) for batch in column.to_batches())
            yield _with_key_type(_table_of_batches(batches, column.schema), schema, options)


def _parquet_batches(file: Any, wanted: list[str], options: ReadOptions) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Rows of the wanted columns, each batch with the share of those before it."""
    about, n_read = file.metadata, 0
    for group in range(about.num_row_groups):  # of several at once every column would be held packed
        n_rows = min(rows_per_chunk(len(wanted)), _rows_within(about.row_group(group), file.schema_arrow, wanted, options))
        for batch in file.iter_batches(n_rows, [group], wanted, use_threads=False):
            yield n_read / about.num_rows, batch
            n_read += batch.num_rows


def _rows_within(group: Any, schema: pa.Schema, wanted: list[str], options: ReadOptions) -> int:
    """How many rows of a row group may be in memory at once, by the average of its columns and what types of one width take."""
    import pyarrow.types as types

    row = sum(schema.field(name).type.byte_width for name in wanted if types.is_fixed_size_binary(schema.field(name).type))
    for place, size in enumerate(_chunk_sizes(group)):
        row += -(-size // max(group.num_rows, 1)) if group.column(place).path_in_schema in wanted else 0
    options.require_bytes(row)
    return max(1, options.max_bytes // max(row, 1))


def _chunk_sizes(group: Any) -> list[int]:
    """What each column of a row group takes in memory, as its footer says; where that lies, the memory of the worker ends it."""
    sizes = []
    for place in range(group.num_columns):
        chunk = group.column(place)
        width = _WIDTHS.get(chunk.physical_type, 4)
        sizes.append(max(chunk.total_uncompressed_size, width * max(chunk.num_values, 0)))
    return sizes


def _text_columns(about: Any, schema: pa.Schema) -> list[str]:
    """Columns of texts to be read as a dictionary: each text is once in memory, however often it stands."""
    chunks = [about.row_group(group).column(place) for group in range(about.num_row_groups) for place in range(about.num_columns)]
    delta = {chunk.path_in_schema for chunk in chunks if _DELTA.intersection(chunk.encodings)}
    return [field.name for field in schema if is_text(field.type) and field.name not in delta]


def read_feather(source: bytes | Path, options: ReadOptions) -> Iterator[Any]:
    """Facts of a Feather (Arrow IPC) file, then its columns; of a file at a path tables of some rows.

    Raises TableError, of a file at a path also where whoever wrote it made a batch too large.
    """
    import pyarrow as pa

    with redact_errors("Feather file"):
        packed = pa.memory_map(str(source)).read_buffer() if isinstance(source, Path) else pa.py_buffer(source)
        schema = pa.ipc.open_file(packed).schema
        facts = _facts_of(schema, options)
        yield facts
        if isinstance(source, Path):
            wanted = wanted_of(facts.names, options)
            yield from _tables_of_batches(_feather_batches(packed, schema, wanted, options), schema, wanted, options)
            return
        memory, n_rows, batches = _Memory(options), 0, []
        for _, batch in _feather_batches(packed, schema, facts.names, options):
            n_rows += batch.num_rows
            options.require_rows(n_rows)
            memory.add(max(batch.nbytes, _MIN_CELL * batch.num_rows * len(schema)))
            batches.append(batch)
        table = _table_of_batches(batches, pa.schema([schema.field(name) for name in facts.names]))
        for place, name in enumerate(facts.names):
            options.step(place / len(facts.names))
            yield _with_key_type(table.select([name]), schema, options)


def _feather_batches(
    packed: pa.Buffer, schema: pa.Schema, names: Sequence[str], options: ReadOptions
) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Rows of the columns of these names, with texts as their bytes, each batch with the share of those before it."""
    import pyarrow as pa

    wanted = [place for place, name in enumerate(schema.names) if name in names]
    file = pa.ipc.open_file(packed, options=pa.ipc.IpcReadOptions(included_fields=wanted))
    for place in range(file.num_record_batches):
        batch = batch_as_bytes(file.get_batch(place).select(list(names)), options)
        batch.validate(full=True)  # what follows the offsets of a spoiled file, unchecked, ends the process
        yield place / file.num_record_batches, batch


def _tables_of_batches(
    batches: Iterable[tuple[float, pa.RecordBatch]], schema: pa.Schema, wanted: list[str], options: ReadOptions
) -> Iterator[pa.Table]:
    """The batches as tables, each behind its share; one without rows where there is none."""
    import pyarrow as pa

    is_empty = True
    for share, batch in batches:
        is_empty = False
        options.step(share)
        options.require_rows(batch.num_rows)
        options.require_bytes(max(batch.nbytes, _MIN_CELL * batch.num_rows * len(wanted)))
        yield _with_key_type(pa.Table.from_batches([batch_as_bytes(batch, options)]), schema, options)
    if is_empty:
        yield _with_key_type(schema.empty_table().select(wanted), schema, options)


def _table_of_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """A table; of this schema where there is no batch."""
    import pyarrow as pa

    batches = list(batches)
    return pa.Table.from_batches(batches) if batches else schema.empty_table()


def batch_as_bytes(batch: pa.RecordBatch, options: ReadOptions) -> pa.RecordBatch:
    """The batch with texts as their bytes: a text that is no UTF-8 spoils its own cell."""
    import pyarrow as pa

    columns = [_as_bytes(column, options) for column in batch.columns]
    fields = (field.with_type(column.type) for field, column in zip(batch.schema, columns, strict=True))
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _as_bytes(column: pa.Array, options: ReadOptions) -> pa.Array:
    import pyarrow as pa
    import pyarrow.types as types

    column = without_extension(column)
    if types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _as_bytes(column.dictionary, options), safe=False)
    if is_view(column.type):
        column.validate(full=True)
        lengths = np.frombuffer(column.buffers()[1] or b"", np.int32)[4 * column.offset :: 4][: len(column)]
        if lengths.min(initial=0) < 0:  # beside a missing cell nobody looks at it, but the cast that follows does
            raise ValueError("a length below 0")
        options.require_bytes(int(lengths.sum(dtype=np.int64)))  # together far more than what they share, perhaps
    return as_bytes(column)


def _with_key_type(table: pa.Table, schema: pa.Schema, options: ReadOptions) -> pa.Table:
    """The table, in which the column of keys says which type it has in the file."""
    import pyarrow as pa

    if options.key not in table.column_names:
        return table
    place = table.column_names.index(options.key)
    kind = schema.field(options.key).type
    kind = pa.schema([pa.field("", pa.string() if has_texts(kind) else kind)]).serialize().to_pybytes()
    return table.cast(table.schema.set(place, table.schema.field(place).with_metadata({_TYPE: kind})))


class _Memory:
    """What a table takes so far."""

    def __init__(self, options: ReadOptions) -> None:
        self.options, self.n_bytes = options, 0

    def add(self, n_bytes: int) -> None:
        """Raise TableError where that is more than may be read."""
        self.n_bytes += n_bytes
        self.options.require_bytes(self.n_bytes)


def flat_columns(schema: pa.Schema) -> tuple[str, ...]:
    """Columns of numbers, texts, truth values and moments: no lists, records or types of a library."""
    return tuple(field.name for field in schema if has_cells(field))


def _facts_of(schema: pa.Schema, options: ReadOptions) -> Facts:
    """The names of the columns that are read, and notes of what is not; raises TableError."""
    flat = flat_columns(schema)
    check_names(list(schema.names), options.max_columns, is_typed=True)
    check_names(list(flat), options.max_columns, is_typed=True)
    notes = note_left_out([name for name in schema.names if name not in flat])
    indexes = (schema.pandas_metadata or {}).get("index_columns", ())
    ranges = [index["name"] for index in indexes if isinstance(index, dict) and index["name"] is not None]
    equal_steps = "pandas keeps an index of equal steps, as {!r:.80} is, in no column of a file: write it after reset_index()."
    return Facts(flat, (*notes, *map(equal_steps.format, ranges)))


def with_labels(column: pa.Table, label_of: dict[str, str]) -> pa.Table:
    """A table of one column whose values have these labels, each by the text of its value."""
    if not label_of:
        return column
    return column.cast(column.schema.set(0, column.schema.field(0).with_metadata({_LABELS: json.dumps(label_of)})))


# --- what arrives from a worker, which may have been taken over by a file


def receive_columns(raw: bytearray, options: ReadOptions) -> pa.Table:
    """The table of an Arrow stream, all of whose cells can be read; raises whatever for anything else."""
    import pyarrow as pa

    stream = pa.py_buffer(raw)
    for message in pa.ipc.MessageReader.open_stream(stream):
        if _may_be_packed(memoryview(message.metadata)):
            raise ValueError("of unknown size")
    table = pa.ipc.open_stream(stream).read_all()
    if table.num_rows > options.max_rows or not all(is_flat(kind) and not is_view(kind) for kind in table.schema.types):
        raise ValueError("no such table")
    table.validate(full=True)
    return table


def _may_be_packed(message: memoryview) -> bool:
    """Whether a message of Arrow (FlatBuffers) says that it is packed: it may take far more memory than it is long."""

    def number(form: str, at: int) -> int:
        return int(struct.unpack_from(form, message, at)[0])

    def field(table: int, slot: int) -> int:
        names = table - number("<i", table)
        offset = number("<H", names + 4 + 2 * slot) if 4 + 2 * slot < number("<H", names) else 0
        return table + offset if offset else 0

    root = number("<I", 0)
    kind, header = number("<B", field(root, 1)), field(root, 2)
    header += number("<I", header)
    if kind == 1:  # a schema
        return False
    if kind == 2:  # the values of a dictionary
        header = field(header, 1)
        header += number("<I", header)
    return field(header, 3) != 0 or field(root, 4) != 0  # before Arrow 1.0 words of the message said so


def receive_table(parts: Iterator[Any], options: ReadOptions) -> RawTable:
    """The table of the columns that a reader yields, without empty rows; raises TableError."""
    facts, memory = Facts(()), _Memory(options)
    columns: list[Column] = []
    key = None
    with redact_errors("file"):
        for part in parts:
            if isinstance(part, Facts):
                facts = part
                continue
            memory.add(max(part.nbytes, _MIN_CELL * part.num_rows * part.num_columns))
            columns += [_column(part, place, memory) for place in range(part.num_columns)]
            key = _key_of(part, options) if options.key in part.column_names else key
        if tuple(column.name for column in columns) != facts.names or len({column.n_rows for column in columns}) != 1:
            raise ValueError("columns are missing or of several lengths")
        notes = (*facts.notes, *(Doubt(*doubt) for doubt in facts.doubts))
        table = _table_of_columns(columns, options.title, notes, facts.malformed)
        return replace(table, key=_spread(key, facts.malformed))


def _table_of_columns(columns: Sequence[Column], source: str, notes: Sequence[str], malformed: Sequence[int] = ()) -> RawTable:
    """A table of columns, without rows in which every cell is empty, as spreadsheets leave them at the end.

    `malformed` are the places, among all records, of those that are in no column.
    """
    empty = _empty_rows(columns)
    if not empty.any() and not malformed:
        return RawTable(tuple(columns), source, tuple(notes))
    records = np.delete(np.arange(len(empty) + len(malformed)), np.array(malformed, np.int64))
    left_out = tuple(sorted((*malformed, *records[empty].tolist())))
    kept = tuple(column.rows(~empty) for column in columns) if empty.any() else tuple(columns)
    lost = lost_rows(len(malformed), len(left_out) - len(malformed))
    return RawTable(kept, source, (*notes, *lost), len(malformed), left_out)


def _empty_rows(columns: Sequence[Column]) -> np.ndarray:
    """Bool per row: every cell is empty."""
    empty = columns[0].is_empty
    for column in columns[1:]:
        if not empty.any():
            break
        empty = empty & column.is_empty
    return empty


def receive_batches(parts: Iterator[Any], options: ReadOptions) -> Iterator[RawTable]:
    """The tables that a reader yields, each some rows; raises TableError."""
    wanted = list[str]()
    with redact_errors("file"):
        for part in parts:
            if isinstance(part, Facts):
                wanted = wanted_of(part.names, options)
            elif part.column_names != wanted:
                raise ValueError("other columns than those that were asked for")
            else:
                yield table_of_arrow(part, options)


def wanted_of(names: Sequence[str], options: ReadOptions) -> list[str]:
    """The columns that are needed."""
    return [name for name in names if options.wanted is None or name in options.wanted]


def table_of_arrow(table: pa.Table, options: ReadOptions) -> RawTable:
    """The rows of an Arrow table of flat columns; raises TableError where their texts take too much memory."""
    memory = _Memory(options)
    columns = [_column(table, place, memory) for place in range(table.num_columns)]
    rows = RawTable(tuple(columns), options.title) if options.keep_empty else _table_of_columns(columns, options.title, ())
    return replace(rows, key=_key_of(table, options)) if options.key in table.column_names else rows


def _key_of(table: pa.Table, options: ReadOptions) -> Any:
    """The cells of the column of keys, as they are in the file; None for numbers of a file that has one type of them alone."""
    import pyarrow as pa

    column, field = table.column(options.key), table.schema.field(options.key)
    kind, schema = pa.large_string(), (field.metadata or {}).get(_TYPE)
    if schema is not None:
        kind = pa.ipc.read_schema(pa.py_buffer(schema)).field(0).type
    elif not is_text(column.type):
        return None
    if not is_flat(kind):
        raise ValueError("no type of a key")
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:  # texts that are no UTF-8
        return column


def _spread(key: Any, malformed: Sequence[int]) -> Any:
    """With no key for records that are none."""
    import pyarrow as pa

    if key is None or not malformed:
        return key
    places, others = iter(range(len(key))), frozenset(malformed)
    return key.take(pa.array([None if at in others else next(places) for at in range(len(key) + len(others))], pa.int64()))


def _column(table: pa.Table, place: int, memory: _Memory) -> Column:
    field, cells = table.schema.field(place), table.column(place)
    metadata = field.metadata or {}
    if metadata.items() >= POINTS.items() and is_text(field.type):
        import pyarrow.compute as pc

        cells = pc.replace_substring_regex(cells, r"(\.[0-9]*[1-9])0+$|\.0*$", r"\1")  # of 1.50 it is 1.5, as of decimals
        return Column.from_values(field.name, cells, memory.add).with_marks(Marks.PROGRAM)
    plain = Column.from_values(field.name, cells, memory.add, is_own=True)
    labels = metadata.get(_LABELS)
    if labels is None:
        return plain
    label_of = json.loads(labels)
    return plain.with_labels(lambda text: str(label_of.get(text, "")))


def table_of_batch(batch: Any, options: ReadOptions) -> RawTable:
    """The rows of a batch, or of a table."""
    import pyarrow as pa

    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch_as_bytes(batch, options)])
    return table_of_arrow(table, options)
