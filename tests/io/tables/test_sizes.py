"""What a file is charged before it is read: what it takes in memory, for every type and packing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpviz.errors import TableError
from dpviz.io.large.source import pieces_of
from dpviz.io.tables import arrow
from dpviz.io.tables.arrow import read_feather, read_parquet
from dpviz.io.tables.cells import ReadRequest
from dpviz.io.tables.read import read_table
from dpviz.io.tables.sizes import arrow_batches, parquet_chunks
from dpviz.table.arrow import arrow_column
from tests.support.bombs import lists, of_arrow, of_parquet, packed_as_before_version_1, zeros

N = 2_000
#: Columns of a table and what a value of each takes in memory, at least.
COLUMNS = {
    "bool": (pa.array([True, False] * (N // 2)), 1),
    "int": (pa.array(range(N), pa.int64()), 8),
    "double": (pa.array(np.arange(N) / 7), 8),
    "decimal": (pa.array(range(N), pa.int32()).cast(pa.decimal128(12, 1)), 16),
    "wide decimal": (pa.array(range(N), pa.int32()).cast(pa.decimal256(60, 1)), 32),
    "fixed": (pa.array([b"x" * 300] * N, pa.binary(300)), 300),
    "moment": (pa.array(range(N), pa.timestamp("us")), 8),
    "texts": (pa.array([f"a text of some length, {k}" for k in range(N)]), 32),
    "texts of few kinds": (pa.array(["short", "long" * 100] * (N // 2)), 4),
}
WAYS: list[dict[str, Any]] = [
    {},
    {"use_dictionary": False, "compression": "zstd", "store_decimal_as_integer": True},
    {"data_page_version": "2.0", "compression": "gzip", "data_page_size": 1_000},
    {"row_group_size": 300, "compression": "none"},
]


@pytest.mark.parametrize("how", WAYS)
def test_a_parquet_file_is_charged_what_it_takes(how: dict[str, Any]) -> None:
    file = io.BytesIO()
    parquet.write_table(pa.table({name: column for name, (column, _) in COLUMNS.items()}), file, **how)
    charged = dict.fromkeys(COLUMNS, 0)
    for chunks in parquet_chunks(pa.py_buffer(file.getvalue()), parquet.read_metadata(file)):
        for chunk in chunks:
            charged[chunk.name] += chunk.n_bytes
            assert chunk.row >= COLUMNS[chunk.name][1] or chunk.name.startswith("texts")
    for name, (column, width) in COLUMNS.items():
        assert width * N <= charged[name] <= 3 * (column.nbytes + 32 * N), name


@pytest.mark.parametrize("coding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_texts_that_share_beginnings_are_read_in_pieces_and_charged(coding: str, tmp_path: Path) -> None:
    column = pa.array([f"{'x' * 10_000}{k:04}" for k in range(500)])
    raw = of_parquet(column, use_dictionary=False, column_encoding={"c0": coding})
    assert read_table(raw).column("c0").texts[-1] == column[-1].as_py()
    path = tmp_path / "texts.parquet"
    path.write_bytes(raw)
    assert sum(rows_of_pieces(path, 20_000_000)) == 500
    assert refused(raw, 2_000_000) == "too-many-bytes"
    (chunk,) = [chunk for chunks in parquet_chunks(pa.py_buffer(raw), metadata(raw)) for chunk in chunks if chunk.name == "c0"]
    assert (chunk.is_text, chunk.is_delta) == (True, True)


def test_pieces_of_such_texts_are_charged_before_they_become_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, without the limits of the one that reads foreign files: the charge alone has to refuse."""
    column = pa.array([f"{'x' * 10_000}{k:04}" for k in range(500)])
    raw = of_parquet(column, use_dictionary=False, column_encoding={"c0": "DELTA_BYTE_ARRAY"})
    made: list[str] = []

    def note(name: str, *about: Any, **how: Any) -> Any:
        made.append(name)
        return arrow_column(name, *about, **how)

    monkeypatch.setattr(arrow, "arrow_column", note)
    with pytest.raises(TableError) as error:
        read_parquet(raw, ReadRequest("bomb", 2_000_000))
    assert (error.value.code, made) == ("too-many-bytes", ["plain", "also"])


@pytest.mark.parametrize("packing", [None, "lz4", "zstd"])
def test_an_arrow_file_is_charged_what_it_takes(packing: str | None) -> None:
    columns = [column for column, _ in COLUMNS.values()]
    _, batches = arrow_batches(pa.py_buffer(of_arrow(*columns, lists(pa.ListArray)[:N], packing=packing)))
    unpacked = sum(column.nbytes for column in columns)
    assert [batch.n_rows for batch in batches] == [N]
    assert unpacked <= sum(batch.n_bytes for batch in batches) - 8_000_000 * N // 1_000 <= 1.1 * unpacked + 1_000


def test_the_values_of_a_dictionary_are_charged() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 10, pa.int8()), zeros(pa.binary(1_000), 2_000, 2_000_000))
    dictionaries, batches = arrow_batches(pa.py_buffer(of_arrow(column)))
    assert [(part.n_rows, part.n_bytes) for part in dictionaries] == [(2_000, 2_000_000)]
    assert sum(batch.n_bytes for batch in batches) < 1_000
    assert refused(of_arrow(column), 1_900_000) == "too-many-bytes"


def test_what_dictionaries_hold_is_charged_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, without the limits of the one that reads foreign files: the charge alone has to refuse."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 10, pa.int8()), zeros(pa.binary(1_000), 2_000, 2_000_000))
    opened: list[object] = []
    monkeypatch.setattr(arrow, "unpacked", lambda *about: opened.append(about) or iter(()))
    with pytest.raises(TableError) as error:
        read_feather(of_arrow(column), ReadRequest("bomb", 1_900_000))
    assert (error.value.code, opened) == ("too-many-bytes", [])


def test_an_arrow_file_of_before_version_1_is_charged_what_it_takes() -> None:
    raw = packed_as_before_version_1(5_000_000)
    assert arrow_batches(pa.py_buffer(raw))[1][0].n_bytes == 5_000_000
    (unpacked,) = [buffer for buffer in pa.ipc.open_file(pa.py_buffer(raw)).get_batch(0).column(0).buffers() if buffer]
    assert unpacked.size == 5_000_000  # Arrow does unpack it


def test_distinct_texts_are_charged_before_they_are_made() -> None:
    raw = of_arrow(pa.array(np.arange(20_000) + (1 << 60)))
    assert refused(raw, 1_000_000) == "too-many-bytes"
    assert read_table(raw, max_bytes=2_000_000).n_rows == 20_000


def test_what_no_column_holds_is_not_unpacked() -> None:
    raw, usual = of_arrow(lists(pa.ListArray, total=40_000_000)), pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)  # counts from here on
    pa.set_memory_pool(pool)
    try:
        assert read_feather(raw, ReadRequest("lists")).names == ("plain", "also")
    finally:
        pa.set_memory_pool(usual)
    assert pool.max_memory() < 1_000_000


def test_a_piece_is_charged_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.feather"
    path.write_bytes(of_arrow(zeros(pa.binary(1_000), 2_000, 2_000_000)))
    assert rows_of_pieces(path, 3_000_000) == [2_000]
    with pytest.raises(TableError) as error:
        rows_of_pieces(path, 1_900_000)
    assert error.value.code == "too-many-bytes"


def test_wide_rows_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    path.write_bytes(of_parquet(zeros(pa.binary(1_000), 2_000, 2_000_000)))
    pieces = rows_of_pieces(path, 500_000)
    assert sum(pieces) == 2_000
    assert max(pieces) <= 500


def rows_of_pieces(path: Path, most: int) -> list[int]:
    return [piece.n_rows for piece in pieces_of(path, ReadRequest("wide", most)).read(lambda share: None)]


def refused(raw: bytes, most: int) -> str:
    with pytest.raises(TableError) as error:
        read_table(raw, max_bytes=most)
    return error.value.code


def metadata(raw: bytes) -> Any:
    return parquet.read_metadata(io.BytesIO(raw))
