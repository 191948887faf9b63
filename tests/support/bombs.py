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


def lists(width: int = 1_000, total: int = 600_000_000) -> pa.Array:
    """Long lists of zeros."""
    offsets = pa.array(np.arange(0, total // 8 + 1, width), pa.int32())
    return pa.ListArray.from_arrays(offsets, zeros(pa.int64(), total // 8, total))


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
