"""A typed column says what the texts of its cells say, wherever in memory it lies."""

from __future__ import annotations

import datetime as dt
import io
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
from dpviz.io.tables.arrow import table_of_arrow
from dpviz.io.tables.read import read_table
from dpviz.table.cells import text_of
from dpviz.table.columns import Column
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.examples import examples

SCHEMA = Schema(
    (
        NumericFeature("a", -2, 1000, missing_as=7, missing_codes=("999", "k.A.")),
        NumericFeature("b", -100, 100, whole=True),
        CategoricalFeature("c", ("0", "1", "1e3", "inf", "k.A."), unknown_as="inf", missing_as="0", missing_codes=("-",)),
        DateFeature("d", 1990, 2030, missing_as=2000, missing_codes=("-",)),
    ),
    NumericTarget("y", -10, 10, missing_codes=("0",)),
)
#: Cells at the edges of what is a number.
CELLS = (
    *("", " ", "NA", " NaN", "-nan", "inf", "-0", "1", " 1 ", "1.0", "1,5", "1.000,5", "1_000", "1e3", "1e999"),
    *("9007199254740993", "١٢", "\u2003７", "\x1c8", "k.A.", "999", "999.0", "-", "2020-01-02", "0x10", "\ufffd"),
)
INF = float("inf")
KINDS = {
    pa.float64(): (None, 0.0, -0.0, 1.0, 1.5, 999.0, 1e3, -3.25, 1e300, 5e-324, INF, -INF, float("nan")),
    pa.float32(): (None, 0.1, -0.0, 999.0, 2.5, INF),
    pa.int64(): (None, 0, 1, -3, 999, 1000, 2**53, 2**53 + 1, -(2**62), 2**63 - 1),
    pa.int8(): (None, 0, 1, -128, 99),
    pa.decimal128(9, 2): (None, Decimal("1.50"), Decimal("999.00"), Decimal("-0.25")),
    pa.date32(): (None, dt.date(2020, 1, 2), dt.date(1999, 12, 31)),
    pa.bool_(): (None, True, False),
    pa.string(): (None, *CELLS),
    pa.dictionary(pa.int8(), pa.string()): (None, *CELLS),
    pa.dictionary(pa.int8(), pa.float64()): (None, 1.5, -0.0, 999.0),
}


def parquet_of(columns: dict[str, pa.Array]) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file, row_group_size=3)
    return file.getvalue()


def cell_text(value: Any, kind: pa.DataType) -> str:
    return text_of(float(np.float32(value)) if isinstance(value, float) and pa.types.is_float32(kind) else value)


@pytest.mark.slow
@pytest.mark.parametrize("count", [24, pytest.param(60, marks=pytest.mark.verify)])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_column_of_any_type_is_its_texts(kind, count):
    names = "d" if pa.types.is_date(kind) else "abc"
    schema = Schema(tuple(feature for feature in SCHEMA.features if feature.name in names), SCHEMA.target)

    @examples(count)
    @given(st.lists(st.sampled_from(KINDS[kind]), min_size=1, max_size=9))
    def same(values):
        y = pa.array(range(len(values)))
        found = read_table(parquet_of({**dict.fromkeys(names, pa.array(values, kind)), "y": y}))
        texts = [cell_text(value, kind) for value in values]
        expected = (*(Column.from_texts(name, texts) for name in names), Column.from_texts("y", map(str, range(len(values)))))
        assert [cell or None for cell in texts_of(found.columns[0])] == texts_of(expected[0])
        one, other = encode(found, schema), encode(RawTable(expected, "table"), schema)
        assert (one.fingerprint, one.report) == (other.fingerprint, other.report)

    same()


def texts_of(column: Column) -> list[str | None]:
    return [column.distinct_texts[code] if code >= 0 else None for code in column.codes]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.uint8(), pa.string()], ids=str)
def test_a_part_of_an_array_is_read_as_an_array_of_its_own(kind):
    """Where it lies in memory, and whether all of it lies together, is no matter."""
    cells = [*range(20), None, *range(20, 40)]
    values = pa.array([str(cell) for cell in cells] if pa.types.is_string(kind) else cells, kind)
    parts = [values.slice(5, 12), values.slice(0, 0), values.slice(18, 9)]
    for some in (parts[:1], parts[2:], parts, []):
        column = table_of_arrow(pa.table({"x": pa.chunked_array(some, kind)}), ReadOptions("table")).column("x")
        alone = pa.array([cell.as_py() for part in some for cell in part], kind)
        expected = table_of_arrow(pa.table({"x": alone}), ReadOptions("table")).column("x")
        assert str(column.numbers().tolist()) == str(expected.numbers().tolist())


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


@pytest.mark.slow
def test_numbers_are_kept_small_are_not_copied_within_their_range_and_are_classes_by_their_shortest_text():
    assert columns_of(["1, 2\r\n", "3,\n"], ",", 2) == [["1", "3"], [" 2", ""]]
    columns = {
        "x": pa.array([1.0, 2.0, 3.5]),
        "n": pa.array([0, 100, 200]),
        "m": pa.array([-1, 3, 40_000]),
        "y": pa.array([1.0, 0, 1]),
    }
    table = read_table(parquet_of(columns))
    assert [table.column(name).typed.dtype.itemsize for name in "nm"] == [1, 4]
    assert (table.column("n").numbers().tolist(), table.column("n").numbers().dtype) == ([0, 100, 200], np.float64)
    assert table.column("m").distinct_texts == ("-1", "3", "40000")
    data = encode(table, Schema((NumericFeature("x", 0, 4),), ClassTarget("y", ("0", "1"))))
    assert (data.target.tolist(), data.columns[0].tolist()) == ([1, 0, 1], [1, 2, 3.5])
    assert np.shares_memory(data.columns[0], table.column("x").numbers())
    assert not data.columns[0].flags.writeable
