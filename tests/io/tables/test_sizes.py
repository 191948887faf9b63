"""What a file is charged before it is read, and that wide rows are read a few at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dpviz.errors import TableError
from dpviz.io.options import ReadOptions
from dpviz.io.tables.read import read_table
from dpviz.rows.files import batches_of
from tests.support.bombs import lists, of_arrow, of_parquet, zeros


def fixed() -> pa.Array:
    return zeros(pa.binary(1_000), 2_000, 2_000_000)


def texts() -> pa.Array:
    return pa.array([f"{'x' * 1_000}{k:04}" for k in range(2_000)])


#: Files whose columns take two million bytes, or so with the texts that are made of them.
FILES = {
    "parquet numbers": lambda: of_parquet(pa.array(np.arange(250_000) / 7)),
    "parquet texts": lambda: of_parquet(texts()),
    "parquet texts that share beginnings": lambda: of_parquet(
        texts(), use_dictionary=False, column_encoding={"c0": "DELTA_BYTE_ARRAY"}
    ),
    "arrow numbers": lambda: of_arrow(pa.array(np.arange(250_000) / 7)),
    "arrow texts": lambda: of_arrow(texts(), packing="lz4"),
    "arrow fixed-size binary": lambda: of_arrow(fixed()),
    "arrow dictionary": lambda: of_arrow(pa.DictionaryArray.from_arrays(pa.array([0] * 10, pa.int8()), fixed())),
    "arrow distinct texts": lambda: of_arrow(pa.array(np.arange(25_000) + (1 << 60))),
    "arrow rows": lambda: of_arrow(pa.nulls(250_000)),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_charged_what_it_takes(name: str) -> None:
    raw = FILES[name]()
    with pytest.raises(TableError) as error:
        read_table(raw, max_bytes=max(len(raw), 1_500_000))
    assert error.value.code == "too-many-bytes"
    assert read_table(raw, max_bytes=20_000_000).n_rows >= 0


def test_what_no_column_holds_is_not_unpacked() -> None:
    assert read_table(of_arrow(lists(total=40_000_000)), max_bytes=1_500_000).names == ("plain", "also")


@pytest.mark.parametrize("make", [of_arrow, of_parquet])
def test_rows_in_pieces_are_charged_and_wide_ones_read_a_few_at_a_time(make, tmp_path: Path) -> None:
    path = tmp_path / ("wide.feather" if make is of_arrow else "wide.parquet")
    path.write_bytes(make(fixed()))
    assert sum(rows_of_pieces(path, 3_000_000)) == 2_000
    if make is of_parquet:
        assert max(rows_of_pieces(path, 500_000)) <= 500
        return
    with pytest.raises(TableError) as error:
        rows_of_pieces(path, 1_900_000)
    assert error.value.code == "too-many-bytes"


def rows_of_pieces(path: Path, most: int) -> list[int]:
    return [piece.n_rows for piece in batches_of(path, ReadOptions("wide", most)).read(lambda share: None)]
