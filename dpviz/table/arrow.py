"""Columns of Arrow, from files and from memory. The type of a column says what its cells are, the same for all its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.table.raw import NumberColumn, RawColumn, is_exact
from dpviz.table.texts import text_column, text_of

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes that a text of Python takes, and its place in a list.
_TEXT = 64


def free(n_bytes: int) -> None:
    """What memory costs for rows that are in memory anyway."""


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of this type are texts, or bytes that may be texts."""
    import pyarrow.types as types

    checks = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(check(kind) for check in checks) or is_view(kind)


def is_view(kind: pa.DataType) -> bool:
    """Whether cells of this type share their letters: in a file they may take far more than the file does."""
    return str(kind) in ("string_view", "binary_view")


def is_flat(kind: pa.DataType) -> bool:
    """Whether cells of this type are neither lists nor records."""
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return is_flat(kind.value_type)
    others = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_temporal)
    if types.is_interval(kind):
        return False
    return is_text(kind) or types.is_fixed_size_binary(kind) or any(check(kind) for check in others)


def arrow_column(name: str, values: pa.ChunkedArray, charge: Callable[[int], None] = free, *, is_own: bool = False) -> RawColumn:
    """The column of an Arrow array; `charge` is told the bytes of its texts before they are made.

    `is_own`: nobody else can change its memory, so numbers need not be copied.
    """
    import pyarrow.types as types

    if types.is_dictionary(values.type) and not is_text(values.type.value_type):  # its values as they are without one
        values = values.cast(values.type.value_type)
    kind = values.type
    if types.is_null(kind):
        return text_column(name, (), np.full(len(values), -1))
    if types.is_floating(kind) or (types.is_integer(kind) and _is_exact(values)):
        return NumberColumn(name, _numbers(values), is_own=is_own)
    return text_column(name, *_texts(values, charge))


def _is_exact(values: pa.ChunkedArray) -> bool:
    import pyarrow.compute as pc

    if values.type.bit_width <= 32:
        return True
    ends = pc.min_max(values).as_py()
    return ends["min"] is None or is_exact(ends["min"], ends["max"])


def _numbers(values: pa.ChunkedArray) -> np.ndarray:
    """Floating-point, not-a-number where missing, or whole numbers where none is."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_integer(values.type) and values.null_count:
        values = values.cast(pa.float64(), safe=False)
    if values.null_count:
        values = values.fill_null(np.nan)
    return _joined(map(_plain, values.chunks), values.type.to_pandas_dtype())


def _plain(part: pa.Array) -> np.ndarray:
    """Numbers of which none is missing, where they lie: Arrow's own way to them would import pandas."""
    kind = np.dtype(part.type.to_pandas_dtype())
    return np.frombuffer(part.buffers()[1], kind, len(part), part.offset * kind.itemsize) if len(part) else np.empty(0, kind)


def _joined(parts: Iterable[np.ndarray], kind: type) -> np.ndarray:
    """One after another; a single one is not copied."""
    every = list(parts)
    return every[0] if len(every) == 1 else np.concatenate([np.empty(0, kind), *every])


def _texts(values: pa.ChunkedArray, charge: Callable[[int], None]) -> tuple[Iterator[str], np.ndarray]:
    """(distinct texts, the place of each row's, negative where missing)."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_timestamp(values.type):
        import pyarrow.compute as pc

        if values.type.tz is not None:
            values = pc.local_timestamp(values)
        if values.type.unit == "ns":  # what Python's own moments know; a cast would round towards 1970
            values = pc.floor_temporal(values, unit="microsecond").cast(pa.timestamp("us"), safe=False)
    if types.is_dictionary(values.type) and any(chunk.dictionary.null_count for chunk in values.chunks):  # not unified
        values = values.cast(values.type.value_type)
    encoded = values if types.is_dictionary(values.type) else _storable(values).dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks if encoded.num_chunks else []
    places = _joined((_plain(chunk.indices.cast(pa.int64()).fill_null(-1)) for chunk in chunks), np.int64)
    distinct: Any = _storable(chunks[0].dictionary) if chunks else ()
    charge(_TEXT * len(distinct) + (distinct.nbytes if chunks else 0))
    return map(_text, distinct), places


def _storable(values: Any) -> Any:
    """Texts as their bytes, for they may be no texts at all."""
    import pyarrow as pa

    if is_view(values.type):
        values = values.cast(pa.large_string() if str(values.type) == "string_view" else pa.large_binary())
    return values.cast(pa.large_binary()) if is_text(values.type) else values


def _text(scalar: Any) -> str:
    try:
        return text_of(scalar.as_py())
    except Exception:  # a date that no calendar of ours has; it spoils its own cell
        return "\ufffd"
