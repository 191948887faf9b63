"""Small files that would take a lot of memory, of every Arrow type that is read, lists, parts of workbooks: what reading takes.

Each is read, at once and in pieces, by a process and the one that it sends the file to: together they may grow by as much as
`limits.py` allows for.
"""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpviz.errors import TableError
from dpviz.io.limits import MEMORY_PER_BYTE
from dpviz.io.tables.read import read_table
from tests.support.bombs import lists, of_arrow, of_parquet, zeros
from tests.support.paths import ROOT

MAX_BYTES = 40_000_000
#: What each would take if nothing were charged, about.
BIG = 600_000_000
READER = """
import resource, sys
from pathlib import Path
import numpy, pyarrow.compute, pyarrow.parquet
from dpviz.errors import TableError
from dpviz.io import worker
from dpviz.rows.files import batches_of
from dpviz.io.options import ReadOptions
from dpviz.io.tables.read import read_table
path, most, *ways = Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
for how in ways:
    try:
        if how == "at once":
            read_table(path, max_bytes=most)
        else:
            for piece in batches_of(path, ReadOptions("bomb", most)).read(lambda share: None):
                pass
    except TableError as error:
        print(error.code)
    else:
        print("read")
worker.end()  # with it, those that read
of_others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print((next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) + of_others) << 10)
"""


def fixed(width: int = 1_000_000, total: int = BIG) -> pa.Array:
    return zeros(pa.binary(width), total // width, total)


def texts(kind: pa.DataType, width: int = 1_000_000) -> pa.Array:
    return pa.array([b"x" * width] * (BIG // width), kind)


def view(n_rows: int = 1_500_000, width: int = 1_000) -> pa.Array:
    """Every cell is the same text, which lies there once."""
    one = np.array([width, 0x78787878, 0, 0], np.int32)  # length, first letters, buffer, offset
    views = np.tile(one, n_rows)
    return pa.Array.from_buffers(pa.string_view(), n_rows, [None, pa.py_buffer(views), pa.py_buffer(b"x" * width)])


def long_decimals(n_rows: int = 2_000) -> pa.Array:
    """A few digits and many zeros each."""
    cells = np.zeros((n_rows, 2), np.int64)
    cells[:, 0] = np.arange(1, n_rows + 1)
    return pa.Array.from_buffers(pa.decimal128(5, -300_000), n_rows, [None, pa.py_buffer(cells)])


def packed_as_before_version_1(total: int = BIG) -> bytes:
    """A column of zeros in an Arrow file whose message says in words, not in its header, that its buffers are packed."""
    packed = struct.pack("<q", total) + pa.Codec("zstd").compress(bytes(total), asbytes=True)
    column = pa.Array.from_buffers(pa.int8(), len(packed), [None, pa.py_buffer(packed)])
    batch, file = pa.record_batch({"a": column, "b": pa.nulls(len(column))}), io.BytesIO()
    options = pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4)
    with pa.ipc.new_file(file, batch.schema, options=options) as writer:
        writer.write_batch(batch, {"ARROW:experimental_compression": "zstd"})
    return file.getvalue()


def lying_parquet() -> bytes:
    """Its footer says that a column takes a byte or two; the headers of its pages say what it takes."""
    raw = of_parquet(texts(pa.string()), use_dictionary=False)
    about = parquet.read_metadata(io.BytesIO(raw)).row_group(0)
    for size in (about.column(2).total_uncompressed_size, about.total_byte_size):
        digits, rest = [], size << 1  # a zigzag varint
        while rest:
            digits.append(rest & 127 | 128)
            rest >>= 7
        digits[-1] &= 127
        said = bytes(digits)
        raw = raw.replace(said, b"\x82" + b"\x80" * (len(said) - 2) + b"\x00")
    assert parquet.read_metadata(io.BytesIO(raw)).row_group(0).total_byte_size == 1
    return raw


def sequence() -> pa.Array:
    """Whole numbers beyond float64, all different, which become texts."""
    return pa.array(np.arange(4_000_000) + (1 << 60))


PLAIN = {"use_dictionary": False}
BOMBS: dict[str, Callable[[], bytes]] = {
    "parquet fixed-size binary": lambda: of_parquet(fixed()),
    "parquet texts that share beginnings": lambda: of_parquet(
        texts(pa.string()), **PLAIN, column_encoding={"c0": "DELTA_BYTE_ARRAY"}
    ),
    "arrow fixed-size binary": lambda: of_arrow(fixed()),
    "arrow dictionary": lambda: of_arrow(pa.DictionaryArray.from_arrays(zeros(pa.int8(), 100, 100), fixed())),
    "parquet texts in a dictionary, then not": lambda: of_parquet(
        pa.array(["x" * 300_000] * 2_000 + [str(k) for k in range(100_000)]), dictionary_pagesize_limit=400_000
    ),
    "parquet fixed-size binary, small cells": lambda: of_parquet(fixed(1_000)),
    "parquet texts": lambda: of_parquet(texts(pa.string()), **PLAIN),
    "parquet large binary": lambda: of_parquet(texts(pa.large_binary(), 10_000), **PLAIN, data_page_version="2.0"),
    "parquet one text, many rows": lambda: of_parquet(
        pa.DictionaryArray.from_arrays(zeros(pa.int32(), 2_000_000, 8_000_000), ["x" * 1_000_000])
    ),
    "parquet dictionary of fixed-size binary": lambda: of_parquet(
        pa.DictionaryArray.from_arrays(zeros(pa.int32(), 2_000, 8_000), fixed(300_000, 300_000))
    ),
    "parquet whole numbers all different": lambda: of_parquet(sequence(), **PLAIN, column_encoding={"c0": "DELTA_BINARY_PACKED"}),
    "parquet decimals of four bytes": lambda: of_parquet(
        *[zeros(pa.decimal128(5, 0), 3_000_000, 48_000_000)] * 3, store_decimal_as_integer=True
    ),
    "parquet nulls": lambda: of_parquet(*[pa.nulls(4_000_000)] * 16),
    "parquet bools": lambda: of_parquet(*[zeros(pa.bool_(), 4_000_000, 500_000)] * 16),
    "parquet list": lambda: of_parquet(lists()),
    "parquet footer that lies": lying_parquet,
    "arrow texts": lambda: of_arrow(texts(pa.string())),
    "arrow large texts": lambda: of_arrow(texts(pa.large_string()), packing="lz4"),
    "arrow numbers": lambda: of_arrow(*[zeros(pa.float64(), 4_000_000, 32_000_000)] * 19, packing="lz4"),
    "arrow packed as before version 1": packed_as_before_version_1,
    "arrow list": lambda: of_arrow(lists()),
    "arrow decimals of many zeros": lambda: of_arrow(long_decimals()),
    "arrow text view": lambda: of_arrow(view()),
    "arrow more runs than rows": lambda: of_arrow(pa.nulls(2_000_000_000), packing=None),
    "arrow nulls": lambda: of_arrow(*[pa.nulls(4_000_000)] * 16),
    "arrow decimals of 32 bytes": lambda: of_arrow(zeros(pa.decimal256(70, 2), BIG // 32, BIG)),
    "arrow moments": lambda: of_arrow(*[zeros(pa.timestamp("ns", "UTC"), 4_000_000, 32_000_000)] * 19),
    "arrow intervals": lambda: of_arrow(zeros(pa.month_day_nano_interval(), BIG // 16, BIG)),
}
NAMESPACE = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SHARED = b'<c r="A%d" t="s"><v>0</v></c>'


def of_workbook(rows: bytes = b"", texts: bytes = b"", before: bytes = b"") -> bytes:
    """A workbook with a header of two columns, then these rows of XML; these shared texts, after `before`."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a", "b"])
    book.save(file)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = b'<row r="1"><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>'
    parts["xl/worksheets/sheet1.xml"] = b"<worksheet %s><sheetData>%s%s</sheetData></worksheet>" % (NAMESPACE, header, rows)
    parts["xl/sharedStrings.xml"] = b"%s<sst %s>%s</sst>" % (before, NAMESPACE, texts)
    kinds = parts["[Content_Types].xml"].removesuffix(b"</Types>")
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    parts["[Content_Types].xml"] = b'%s<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/></Types>' % (kinds, kind)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name, part in parts.items():
            out.writestr(name, part)
    return made.getvalue()


def in_rows(cell: bytes, count: int) -> bytes:
    return b"".join(b'<row r="%d">%s</row>' % (place, cell % place) for place in range(2, 2 + count))


def lying_zip() -> bytes:
    """Its directory says that the sheet is empty."""
    raw = of_workbook(b"<row><c><v>1</v></c></row>" * 3_000_000)
    place = raw.rindex(b"xl/worksheets/sheet1.xml") - 22  # its unpacked size in the directory
    return raw[:place] + bytes(4) + raw[place + 4 :]


def nested(depth: int) -> bytes:
    """Ten of the entity before, again and again."""
    inner = b"".join(b'<!ENTITY e%d "%s">' % (k, b"&e%d;" % (k - 1) * 10) for k in range(1, depth))
    return b'<!DOCTYPE sst [<!ENTITY e0 "xxxxxxxxxx">%s]>' % inner


#: What becomes of each.
WORKBOOKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "xlsx one shared text, many cells": (
        lambda: of_workbook(in_rows(SHARED, 2_000), b"<si><t>%s</t></si>" % (b"x" * 1_000_000)),
        "too-many-bytes",
    ),
    "xlsx many shared texts": (lambda: of_workbook(texts=b"<si/>" * 20_000_000), "too-many-bytes"),
    "xlsx empty shared texts": (lambda: of_workbook(texts=b"<si/>" * 7_000_000), "too-many-bytes"),
    "xlsx sparse rows": (lambda: of_workbook(b'<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>'), "too-many-rows"),
    "xlsx sparse columns": (lambda: of_workbook(in_rows(b'<c r="XFD%d"><v>1</v></c>', 200)), "read"),
    "xlsx one long cell": (
        lambda: of_workbook(b'<row r="2"><c t="inlineStr"><is><t>%s</t></is></c></row>' % (b"x" * 300_000_000)),
        "too-many-bytes",
    ),
    "xlsx entities in entities": (lambda: of_workbook(in_rows(SHARED, 1), b"<si><t>&e8;</t></si>", nested(9)), "damaged"),
    "xlsx one long entity": (
        lambda: of_workbook(
            in_rows(SHARED, 1),
            b"<si><t>%s</t></si>" % (b"&e;" * 1_000),
            b'<!DOCTYPE sst [<!ENTITY e "%s">]>' % (b"x" * 1_000_000),
        ),
        "damaged",
    ),
    "xlsx directory that lies": (lying_zip, "damaged"),
}


def read_by_a_process(path: Path, ways: Sequence[str]) -> tuple[list[str], int]:
    """(what became of a file each way, the most bytes that a process took which read it, and the one that it was sent to)."""
    command = [sys.executable, "-c", READER, str(path), str(MAX_BYTES), *ways]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    *outcomes, peak = done.stdout.splitlines()
    return outcomes, int(peak)


@cache
def taken_by_two_numbers(suffix: str, ways: tuple[str, ...]) -> int:
    """The most bytes that such processes take for a file with next to nothing in it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"plain{suffix}")
        plain = of_parquet if suffix == ".parquet" else of_arrow
        path.write_bytes(of_workbook() if suffix == ".xlsx" else plain(pa.array([1.0, 2.0])))
        return read_by_a_process(path, ways)[1]


AT_ONCE, IN_PIECES = "at once", "in pieces"
needs_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux says how much memory a process took")
#: One of each kind of file is asked for with every change.
FAST = ("parquet fixed-size binary", "arrow dictionary", "xlsx one shared text, many cells")
CASES = [pytest.param(name, marks=[] if name in FAST else pytest.mark.verify) for name in (*BOMBS, *WORKBOOKS)]


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_small_file_takes_no_more_memory_than_the_limit_allows(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"bomb.{name.split()[0]}"
    is_workbook = name in WORKBOOKS
    make, expected = WORKBOOKS[name] if is_workbook else (BOMBS[name], "")
    assert path.write_bytes(make()) < MAX_BYTES
    ways = (AT_ONCE,) if is_workbook or name in FAST else (AT_ONCE, IN_PIECES)
    outcomes, peak = read_by_a_process(path, ways)
    assert peak - taken_by_two_numbers(path.suffix, ways) < MEMORY_PER_BYTE * MAX_BYTES
    assert set(outcomes) <= ({expected} if is_workbook else {"read", "too-many-bytes", "too-many-rows"})


@pytest.mark.slow
def test_shared_texts_are_charged_before_they_are_read() -> None:
    with pytest.raises(TableError) as refused:
        read_table(of_workbook(texts=b"<si/>" * 100_000), max_bytes=1_000_000)
    assert refused.value.code == "too-many-bytes"
