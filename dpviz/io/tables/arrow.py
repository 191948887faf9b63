"""Parquet and Feather (Arrow IPC) files, one column at a time. The type of a column is the file's, the same for all its rows.

Columns of lists and records have no text and are left out with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.installation import require_extra
from dpviz.io.csv import check_names
from dpviz.io.records import table_of_columns, text_column
from dpviz.io.tables.cells import Asked, as_written, in_our_words, text_of
from dpviz.table.raw import NumberColumn, RawColumn, RawTable

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes that a cell counts for, at least: in memory most take eight.
_LEAST_CELL = 4
#: Up to here, and down to the same below 0, every whole number is one of float64.
_MOST_EXACT = 1 << 53


def read_parquet(raw: bytes, asked: Asked) -> RawTable:
    """The table of a Parquet file; raises TableError."""
    require_extra("tables", "Reading a Parquet file", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    with in_our_words("Parquet file"):
        about = pq.read_metadata(pa.BufferReader(raw))
        groups = [about.row_group(place) for place in range(about.num_row_groups)]
        _check(about.num_rows, about.num_columns, sum(group.total_byte_size for group in groups), asked)
        schema = pq.read_schema(pa.BufferReader(raw))
        file = pq.ParquetFile(pa.BufferReader(raw), read_dictionary=text_columns(schema))
        return _table(schema, lambda name: file.read(columns=[name]).column(name), asked)


def read_feather(raw: bytes, asked: Asked) -> RawTable:
    """The table of a Feather (Arrow IPC) file; raises TableError. The limits hold for each batch after it is unpacked."""
    require_extra("tables", "Reading a Feather file", "pyarrow")
    import pyarrow as pa

    with in_our_words("Feather file"):
        file = pa.ipc.open_file(pa.BufferReader(raw))
        table = pa.Table.from_batches(_batches(file, asked), file.schema)
        return _table(file.schema, table.column, asked)


def _batches(file: Any, asked: Asked) -> Iterator[pa.RecordBatch]:
    n_rows = n_bytes = 0
    for place in range(file.num_record_batches):
        batch = file.get_batch(place)
        batch.validate(full=True)  # even its size is found by following, unchecked, the offsets that a spoiled file gives
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        _check(n_rows, batch.num_columns, n_bytes, asked)
        yield batch


def _check(n_rows: int, n_columns: int, n_bytes: int, asked: Asked) -> None:
    asked.require_rows(n_rows)
    asked.require_bytes(max(n_bytes, _LEAST_CELL * n_rows * n_columns))


def text_columns(schema: pa.Schema) -> list[str]:
    """Columns of texts: as a dictionary each text is once in memory, however often it stands."""
    return [field.name for field in schema if _is_text(field.type)]


def flat_columns(schema: pa.Schema) -> list[str]:
    """Columns that are not lists or records."""
    return [field.name for field in schema if _is_flat(field.type)]


def table_of_arrow(table: pa.Table, title: str) -> RawTable:
    """The rows of an Arrow table without lists or records."""
    return table_of_columns([_column(name, table.column(name)) for name in table.column_names], title, ())


def _table(schema: pa.Schema, column: Callable[[str], Any], asked: Asked) -> RawTable:
    names = schema.names
    check_names(list(names), asked.max_columns)
    flat = flat_columns(schema)
    check_names(flat, asked.max_columns)
    left = [f"Left out {len(names) - len(flat):,} columns of lists or records."] if len(flat) < len(names) else []
    read: list[RawColumn] = []
    for name in flat:
        asked.step(len(read) / len(flat))
        read.append(_column(name, column(name)))
    return table_of_columns(read, asked.title, left)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    return any(check(kind) for check in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def _is_flat(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return _is_flat(kind.value_type)
    others = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_temporal)
    if types.is_interval(kind):
        return False
    return _is_text(kind) or types.is_fixed_size_binary(kind) or any(check(kind) for check in others)


def _column(name: str, values: pa.ChunkedArray) -> RawColumn:
    import pyarrow.types as types

    kind = values.type
    if types.is_null(kind):
        return text_column(name, (), np.full(len(values), -1))
    if types.is_floating(kind) or (types.is_integer(kind) and _is_exact(values)):
        return NumberColumn(name, _numbers(values), is_own=True)
    return text_column(name, *_texts(values))


def _is_exact(values: pa.ChunkedArray) -> bool:
    """Whether every whole number is one of float64 too; the texts of others are kept, such as of long identifiers."""
    import pyarrow.compute as pc

    if values.type.bit_width <= 32:
        return True
    ends = pc.min_max(values).as_py()
    return ends["min"] is None or max(-ends["min"], ends["max"]) <= _MOST_EXACT


def _numbers(values: pa.ChunkedArray) -> np.ndarray:
    """float64, not-a-number where missing, or whole numbers where none is; of 32 bits the shortest text counts: .1 stays .1."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_integer(values.type) and values.null_count:
        values = values.cast(pa.float64(), safe=False)
    if values.null_count:
        values = values.fill_null(np.nan)
    numbers = _joined(map(_plain, values.chunks), values.type.to_pandas_dtype())
    return numbers if not types.is_floating(values.type) or types.is_float64(values.type) else as_written(numbers)


def _plain(part: pa.Array) -> np.ndarray:
    """Numbers of which none is missing, where they lie: Arrow's own way to them would import pandas."""
    kind = np.dtype(part.type.to_pandas_dtype())
    return np.frombuffer(part.buffers()[1], kind, len(part), part.offset * kind.itemsize) if len(part) else np.empty(0, kind)


def _joined(parts: Iterable[np.ndarray], kind: type) -> np.ndarray:
    """One after another; a single one is not copied."""
    every = list(parts)
    return every[0] if len(every) == 1 else np.concatenate([np.empty(0, kind), *every])


def _texts(values: pa.ChunkedArray) -> tuple[Iterator[str], np.ndarray]:
    """(distinct texts, the place of each row's, negative where missing)."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_timestamp(values.type) and values.type.tz is not None:
        import pyarrow.compute as pc

        values = pc.local_timestamp(values)
    encoded = values if types.is_dictionary(values.type) else _storable(values).dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks if encoded.num_chunks else []
    places = _joined((_plain(chunk.indices.cast(pa.int64()).fill_null(-1)) for chunk in chunks), np.int64)
    distinct = _storable(chunks[0].dictionary) if chunks else ()
    return map(_text, distinct), places


def _storable(values: Any) -> Any:
    """Texts as their bytes, for they may be no texts at all."""
    import pyarrow as pa

    return values.cast(pa.large_binary()) if _is_text(values.type) else values


def _text(scalar: Any) -> str:
    try:
        return text_of(scalar.as_py())
    except (ValueError, OverflowError):  # a date that no calendar of ours has; it spoils its own cell
        return "\ufffd"
