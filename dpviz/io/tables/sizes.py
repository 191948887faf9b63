"""What Parquet and Arrow files take in memory, by their own headers, before a row of them is unpacked.

The footer of a Parquet file may say less than its pages take, so the headers of the pages are read: Thrift's compact protocol, as
the Parquet format describes them. Those of an Arrow file are FlatBuffers (Arrow columnar format, "Serialization and interprocess
communication"). What cannot be followed raises some exception; readers take it for damage.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes of a value of each kind of a Parquet column; of texts the code, for a text itself is in a page.
_WIDTHS = {"INT64": 8, "DOUBLE": 8, "INT96": 12}
_NARROW = 4
#: Of a decimal in memory, however few bytes it has in the file.
_DECIMAL = 32
_DATA, _DATA_V2 = 0, 3
#: Lengths of texts stand apart from their letters, or texts share their beginning with the one before.
_DELTA = (6, 7)


@dataclass(frozen=True)
class Chunk:
    """A column of a row group."""

    name: str  #: Its path
    n_bytes: int  #: What its values take in memory; where texts are not read as codes, they may take more
    page: int  #: Bytes of its largest page, unpacked; no text is longer
    row: int  #: What a row takes, at most, on average over a page
    is_text: bool  #: Whether its values are of any length
    is_delta: bool  #: Whether Arrow cannot read its texts as codes


def parquet_chunks(file: pa.Buffer, about: Any) -> Iterator[list[Chunk]]:
    """The columns of each row group; `about` are the file's metadata."""
    raw = memoryview(file).cast("B")
    footer, _ = _struct(raw, len(raw) - 8 - int.from_bytes(raw[-8:-4], "little"))
    for group in footer[4]:
        yield [_chunk(raw, group[3], chunk[3], about.schema.column(place)) for place, chunk in enumerate(group[1])]


def _chunk(raw: memoryview, n_rows: int, about: dict[int, Any], kind: Any) -> Chunk:
    """By its entry in the footer, which is read here: Arrow's own reader ends the process where an entry is damaged."""
    n_values, n_packed, data, dictionary = about[5], about[7], about[9], about.get(11)
    width = max(kind.length, _NARROW, _WIDTHS.get(kind.physical_type, 0), _DECIMAL * (kind.logical_type.type == "DECIMAL"))
    at = min((start for start in (data, dictionary or 0) if start > 0), default=0)  # 0: a column without a row
    end = at + n_packed
    is_text, is_delta = kind.physical_type == "BYTE_ARRAY", False
    in_pages = page = row = 0
    while at < end:
        header, at = _struct(raw, at)
        unpacked, packed = header[2], header[3]
        if min(unpacked, packed) < 0:
            raise ValueError("a page of negative size")
        at, page, in_pages = at + packed, max(page, unpacked), in_pages + unpacked
        number, coded = {_DATA: (5, 2), _DATA_V2: (8, 4)}.get(header[1], (0, 0))
        if is_text and number:
            is_delta = is_delta or header[number][coded] in _DELTA
            row = max(row, -(-unpacked // max(header[number][1], 1)))
    n_bytes = width * max(n_values, n_rows) + in_pages * is_text
    return Chunk(kind.path, max(n_bytes, page), page, width + row, is_text, is_delta)


def _struct(raw: memoryview, at: int) -> tuple[dict[int, Any], int]:
    """The fields of a struct by their numbers, and where it ends. Texts are passed over, and lists of anything but structs."""
    fields: dict[int, Any] = {}
    number = 0
    while raw[at]:
        step, kind = raw[at] >> 4, raw[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _integer(raw, at)
        fields[number], at = (kind == 1, at) if kind in (1, 2) else _value(raw, at, kind)
    return fields, at + 1


def _value(raw: memoryview, at: int, kind: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2 | 3:
            return None, at + 1
        case 4 | 5 | 6:
            return _integer(raw, at)
        case 7:
            return None, at + 8
        case 8:
            length, at = _varint(raw, at)
            return None, at + length
        case 9 | 10:
            count, kind, at = raw[at] >> 4, raw[at] & 15, at + 1
            if count == 15:
                count, at = _varint(raw, at)
            values = []
            for _ in range(count):
                value, at = _value(raw, at, kind)
                if kind == 12:
                    values.append(value)
            return values, at
        case 12:
            return _struct(raw, at)
    raise ValueError("no header of a page holds such a field")


def _varint(raw: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while raw[at] & 128:
        value |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | raw[at] << shift, at + 1


def _integer(raw: memoryview, at: int) -> tuple[int, int]:
    value, at = _varint(raw, at)
    return value >> 1 ^ -(value & 1), at


# --- Arrow files


@dataclass(frozen=True)
class Batch:
    """A batch of rows, or the values of a dictionary."""

    n_rows: int
    n_bytes: int  #: Of all its columns, unpacked


def arrow_batches(file: pa.Buffer) -> tuple[list[Batch], list[Batch]]:
    """The dictionaries and the batches of rows of an Arrow file, as its footer lists them."""
    raw = memoryview(file).cast("B")
    length = _number(raw, "<i", len(raw) - 10)  # before the last magic word
    end = len(raw) - 10
    footer = _root(raw[end - length : end])
    return tuple([_batch(file, raw, start) for start in _blocks(footer, slot)] for slot in (2, 3))  # type: ignore[return-value]


@dataclass(frozen=True)
class _Table:
    """A table of FlatBuffers."""

    raw: memoryview
    at: int

    def field(self, slot: int) -> int | None:
        """Where a field lies; None where it is left out."""
        names = self.at - _number(self.raw, "<i", self.at)
        if 4 + 2 * slot >= _number(self.raw, "<H", names):
            return None
        return self.at + offset if (offset := _number(self.raw, "<H", names + 4 + 2 * slot)) else None

    def number(self, slot: int, form: str) -> int:
        """A number, 0 where it is left out."""
        at = self.field(slot)
        return 0 if at is None else _number(self.raw, form, at)

    def table(self, slot: int) -> _Table | None:
        at = self.field(slot)
        return None if at is None else _Table(self.raw, at + _number(self.raw, "<I", at))

    def structs(self, slot: int, form: str) -> Iterator[tuple[int, ...]]:
        """The entries of a vector of structs."""
        at = self.field(slot)
        if at is not None:
            at += _number(self.raw, "<I", at)
            size = struct.calcsize(form) * _number(self.raw, "<I", at)
            yield from struct.iter_unpack(form, self.raw[at + 4 : at + 4 + size])


def _root(raw: memoryview) -> _Table:
    return _Table(raw, _number(raw, "<I", 0))


def _number(raw: memoryview, form: str, at: int) -> int:
    if at < 0:
        raise ValueError("before the start")
    return int(struct.unpack_from(form, raw, at)[0])


def _blocks(footer: _Table, slot: int) -> list[int]:
    return [start for start, _, _ in footer.structs(slot, "<qi4xq")]


_V4, _IS_DICTIONARY = 3, 2


def _batch(file: pa.Buffer, raw: memoryview, start: int) -> Batch:
    """A buffer that is packed begins with the length it has unpacked, or -1 where it is not packed after all."""
    import pyarrow as pa

    source = pa.BufferReader(file)
    source.seek(start)
    message = pa.ipc.read_message(source)
    about, body = _root(memoryview(message.metadata)), memoryview(message.body or b"")
    rows = about.table(2)
    if rows is not None and about.number(1, "<B") == _IS_DICTIONARY:
        rows = rows.table(1)
    if rows is None:
        raise ValueError("a message without rows")
    # before Arrow 1.0 the packing stood in the message's own words
    is_packed = rows.field(3) is not None or (about.number(0, "<h") == _V4 and about.field(4) is not None)
    n_bytes = 0
    for at, length in rows.structs(2, "<qq"):
        unpacked = _number(body, "<q", at) if is_packed and length >= 8 else -1
        n_bytes += max(length, unpacked)
    return Batch(rows.number(0, "<q"), n_bytes)
