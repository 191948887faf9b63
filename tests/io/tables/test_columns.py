"""A column says the same numbers, missing cells, texts and notes however it is kept: as text that waits, numbers or codes."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from dpviz.io.csv import cells_of, columns_of
from dpviz.io.options import ReadOptions
from dpviz.io.records import Aligned, table_of_records
from dpviz.io.tables.arrow import table_of_arrow
from dpviz.io.tables.read import read_table
from dpviz.table.cells import MARKS, MISSING_MARKS, text_of
from dpviz.table.columns import Column
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.examples import examples

#: Cells at the edges of what is a number.
CELLS = (
    *("", " ", "NA", " NaN", "nan", "-nan", "inf", "-Infinity", "-0", "0.0", "1", " 1 ", "1.0", "1,0", "1,5", ",5", "1,2,3"),
    *("1.000,5", "1_000", "1e3", "1e999", "9007199254740993", "١٢", "\u2003７", "\x1c8", "k.A.", "999", "999.0", "-"),
    *("2020-01-02", "+3", ".", "0x10", "1 2", "1\t", "\ufffd"),
)
CODES = st.lists(st.sampled_from(("999", "k.A.", "-", "1e3", "1,5", "inf", "1_000", "0", "nan")), unique=True, max_size=3)
SCHEMA = Schema(
    (
        NumericFeature("a", -2, 1000, missing_as=7, missing_codes=("999", "k.A.")),
        NumericFeature("b", -100, 100, whole=True),
        CategoricalFeature("c", ("0", "1", "1e3", "inf", "k.A."), unknown_as="inf", missing_as="0", missing_codes=("-",)),
        DateFeature("d", 1990, 2030, missing_as=2000, missing_codes=("-",)),
    ),
    NumericTarget("y", -10, 10, missing_codes=("0",)),
)


def plain(name: str, cells: Sequence[str]) -> Column:
    """The column as its distinct texts and a code per cell."""
    known: dict[str, int] = {}
    codes = [
        -1 - MARKS.index(cell.strip()) if cell.strip() in MARKS else known.setdefault(cell.strip(), len(known)) for cell in cells
    ]
    return Column(name, tuple(known), np.array(codes, dtype=np.int32))


def table_of(cells: Sequence[Sequence[str]], at_once: int) -> RawTable:
    """The rows as a reader hands them on: aligned in even chunks, record by record in odd ones."""
    chunks: list[Any] = []
    for start in range(0, len(cells), at_once):
        part = [list(row) for row in cells[start : start + at_once]]
        chunks.append(part if len(chunks) % 2 else Aligned(list(zip(*part, strict=True))))
    return table_of_records(chunks, "abcdy", "t", ())


def said(column: Column, codes: Sequence[str]) -> tuple[Any, ...]:
    values, missing = column.numbers_and_missing(codes)
    return str(values.tolist()), missing.tolist(), column.texts, column.codes.tolist(), column.notes, column.n_rows


def encoded(table: RawTable, schema: Schema = SCHEMA) -> tuple[Any, ...]:
    data = encode(table, schema)
    return data.fingerprint, data.report


@examples(300)
@given(st.lists(st.tuples(*[st.sampled_from(CELLS)] * 5), max_size=12), st.integers(1, 5), CODES)
@pytest.mark.slow
def test_text_that_waits_says_what_its_dictionary_says(cells, at_once, codes):
    rows = [row for row in cells if any(cell.strip() not in MISSING_MARKS for cell in row)]
    found, expected = table_of(cells, at_once), [plain(name, [row[k] for row in rows]) for k, name in enumerate("abcdy")]
    assert [said(column, codes) for column in found.columns] == [said(column, codes) for column in expected]
    again = table_of(cells, at_once)  # whose numbers are asked for before anybody asked for its texts
    assert encoded(again) == encoded(RawTable(tuple(expected), "t"))
    assert found.left_out == tuple(k for k, row in enumerate(cells) if row not in rows)


INF = float("inf")
NUMBERS = st.sampled_from((None, 0.0, -0.0, 1.0, 1.5, 999.0, 1e3, -3.25, 1e300, 5e-324, INF, -INF, float("nan")))
WHOLE = st.sampled_from((None, 0, 1, -3, 999, 1000, 2**53, 2**53 + 1, -(2**62), 2**63 - 1))
OTHERS = {
    pa.float64(): NUMBERS,
    pa.float32(): st.sampled_from((None, 0.1, -0.0, 999.0, 2.5, float("inf"))),
    pa.int64(): WHOLE,
    pa.int8(): st.sampled_from((None, 0, 1, -128, 99)),
    pa.decimal128(9, 2): st.sampled_from((None, Decimal("1.50"), Decimal("999.00"), Decimal("-0.25"))),
    pa.date32(): st.sampled_from((None, dt.date(2020, 1, 2), dt.date(1999, 12, 31))),
    pa.bool_(): st.sampled_from((None, True, False)),
    pa.string(): st.sampled_from((None, *CELLS)),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from((None, *CELLS)),
    pa.dictionary(pa.int8(), pa.float64()): st.sampled_from((None, 1.5, -0.0, 999.0)),
}


def parquet_of(columns: dict[str, pa.Array], row_group_size: int = 3) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file, row_group_size=row_group_size)
    return file.getvalue()


def cell_text(value: Any, kind: pa.DataType) -> str:
    return text_of(float(np.float32(value)) if isinstance(value, float) and pa.types.is_float32(kind) else value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHERS, ids=str)
def test_a_column_of_any_type_is_its_texts(kind):
    features = SCHEMA.features[3:] if pa.types.is_date(kind) else SCHEMA.features[:3]

    @examples(60)
    @given(st.lists(OTHERS[kind], min_size=1, max_size=9), CODES)
    def same(values, codes):
        y = pa.array(range(len(values)))
        names = "d" if pa.types.is_date(kind) else "abc"
        found = read_table(parquet_of({**dict.fromkeys(names, pa.array(values, kind)), "y": y}))
        texts = [cell_text(value, kind) for value in values]
        expected = [*(plain(name, texts) for name in names), plain("y", [str(k) for k in range(len(values))])]
        for column, other in zip(found.columns, expected, strict=True):
            ours, theirs = (one.numbers_and_missing(codes) for one in (column, other))
            assert [str(part.tolist()) for part in ours] == [str(part.tolist()) for part in theirs]
            assert [column.texts[k] if k >= 0 else None for k in column.codes] == [
                other.texts[k] if k >= 0 else None for k in other.codes
            ]
        schema = Schema(features, SCHEMA.target)
        assert encoded(found, schema) == encoded(RawTable(tuple(expected), "table"), schema)

    same()


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.uint8(), pa.string()], ids=str)
def test_a_part_of_an_array_is_read_as_an_array_of_its_own(kind):
    """Where it lies in memory, and whether all of it lies together, is no matter."""
    cells = [*range(20), None, *range(20, 40)]
    values = pa.array([str(cell) for cell in cells] if pa.types.is_string(kind) else cells, kind)
    parts = [values.slice(5, 12), values.slice(0, 0), values.slice(18, 9)]
    for some in (parts[:1], parts[2:], parts, []):
        column = table_of_arrow(pa.table({"x": pa.chunked_array(some, kind)}), ReadOptions("table")).column("x")
        expected = table_of_arrow(
            pa.table({"x": pa.array([cell.as_py() for part in some for cell in part], kind)}), ReadOptions("table")
        )
        assert str(column.numbers().tolist()) == str(expected.column("x").numbers().tolist())


@examples(300)
@given(st.lists(st.text('ab1.,;"\r\t \x1c\u00e9', max_size=9), max_size=6))
@pytest.mark.slow
def test_lines_without_quotes_are_cut_as_a_csv_reader_cuts_them(lines):
    lines = [f"{line}\n" for line in lines] or ["\n"]
    for width in (2, 3):
        found = columns_of(lines, ",", width)
        if found is not None:
            rows = [list(map(str.strip, row)) for row in zip(*found, strict=True)]
            assert rows == [list(map(str.strip, row)) for row in cells_of(lines, ",")]


def test_lines_of_one_width_are_cut_at_once():
    assert columns_of(["1, 2\r\n", "3,\n"], ",", 2) == [["1", "3"], [" 2", ""]]
    for lines in (['1,"2"\n'], ["1,2,3\n"], ["1\n"], ["1,2\r3\n"]):
        assert columns_of(lines, ",", 2) is None


def test_classes_of_numbers_are_found_by_the_shortest_text():
    table = read_table(parquet_of({"x": pa.array([1.0, 2.0, 3.5]), "y": pa.array([1, 0, 1])}))
    data = encode(table, Schema((NumericFeature("x", 0, 3),), ClassTarget("y", ("0", "1"))))
    assert (data.target.tolist(), data.columns[0].tolist()) == ([1, 0, 1], [1, 2, 3])


def test_numbers_within_their_range_are_not_copied():
    table = read_table(parquet_of({"x": pa.array([1.0, 2.0]), "y": pa.array([0, 1])}))
    data = encode(table, Schema((NumericFeature("x", 0, 3),), ClassTarget("y", ("0", "1"))))
    assert np.shares_memory(data.columns[0], table.columns[0].numbers())
    assert not data.columns[0].flags.writeable


def test_whole_numbers_are_kept_small_and_read_as_any_number():
    values = [0, 100, 200]
    table = read_table(parquet_of({"x": pa.array(values), "y": pa.array([-1, 3, 40_000])}))
    assert [column.typed.dtype.itemsize for column in table.columns] == [1, 4]
    assert table.columns[0].numbers().tolist() == values
    assert table.columns[0].numbers().dtype == np.float64
    assert table.columns[1].texts == ("-1", "3", "40000")
