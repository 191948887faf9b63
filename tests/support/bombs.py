"""Small Parquet and Arrow files that would take a lot of memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet


def zeros(kind: pa.DataType, n_rows: int, n_bytes: int) -> pa.Array:
    """An array whose only buffer holds zeros."""
    return pa.Array.from_buffers(kind, n_rows, [None, pa.py_buffer(np.zeros(n_bytes, np.uint8))])


def lists(made: Any, width: int = 1_000, total: int = 600_000_000) -> pa.Array:
    """Lists of zeros, long ones: fixed in size, or by offsets, or by views."""
    values = zeros(pa.int64(), total // 8, total)
    offsets = np.arange(0, total // 8 + 1, width)
    if made is pa.FixedSizeListArray:
        return made.from_arrays(values, width)
    if made is pa.MapArray:
        return made.from_arrays(pa.array(offsets, pa.int32()), values, values)
    if made in (pa.ListViewArray, pa.LargeListViewArray):
        kind = pa.int32() if made is pa.ListViewArray else pa.int64()
        return made.from_arrays(pa.array(offsets[:-1], kind), pa.array(np.full(len(offsets) - 1, width), kind), values)
    return made.from_arrays(pa.array(offsets, pa.int32() if made is pa.ListArray else pa.int64()), values)


def of_parquet(*columns: pa.Array, **how: Any) -> bytes:
    return written(columns, lambda table, file: parquet.write_table(table, file, **{"compression": "zstd", **how}))


def of_arrow(*columns: pa.Array, packing: str | None = "zstd") -> bytes:
    def write(table: pa.Table, file: io.BytesIO) -> None:
        with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(compression=packing)) as writer:
            writer.write_table(table)

    return written(columns, write)


def written(columns: Any, write: Callable[[pa.Table, io.BytesIO], None]) -> bytes:
    """A file of these columns and of two that are empty, so that every file is a table."""
    file = io.BytesIO()
    plain = pa.nulls(len(columns[0]))
    write(pa.table({"plain": plain, "also": plain, **{f"c{place}": column for place, column in enumerate(columns)}}), file)
    return file.getvalue()
