"""A column says the same however it is kept: texts read in two ways, numbers, and the fingerprint that registers hold."""

import hashlib
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.randomness import generator
from dpviz.table.cells import Marks, canonical_number, text_of
from dpviz.table.columns import Codes, Column
from dpviz.table.raw import RawTable
from tests.support.examples import examples
from tests.support.paths import ROOT
from tests.support.table_files import PIECES

#: Numbers at the edges of what is read, and cells of every other kind.
CELLS = (
    *("0", "-0", "7", "1.5", "1,5", "1.5,2", "1,2,3", "+3", ".5", "5.", "1e5", "1E-400", "1e400", "-inf", "Infinity"),
    *("nan", "NAN"),
    *("2.2250738585072014e-308", "0.1000000000000000055511151231257827", "9007199254740993", "1_000", "0x1A", "1d5", "٣", "1e"),
    *("", " ", "?", "NA", " NA ", "n/a", " 4 ", "4\u00a0", "-99", "unknown", "<5", "São", "\ud800"),
    *(piece.decode("latin-1").replace("\0", "") for piece in PIECES),
)


def packs_of(rng, n_packs: int) -> list[str]:
    """Some of one kind of cells, as columns are, some of any."""
    kinds = (("1.5", "-0", "7", "1e5"), ("1,5", "3", ""), ("1", "NA", "?", "-99"), CELLS)
    return ["\0".join(rng.choice(kinds[rng.integers(len(kinds))], 3).tolist()) for _ in range(n_packs)]


@pytest.mark.slow
@pytest.mark.parametrize("marks", Marks)
def test_a_cell_is_the_same_number_and_text_beside_any_others(marks):
    for codes in [(), ("-99", "unknown", "1,5")]:
        rng = generator(3)
        for _ in range(100):
            packs = packs_of(rng, int(rng.integers(1, 4)))
            column = Column("x", packs=packs, marks=marks)
            values, missing = column.numbers_and_missing(codes)
            alone = [Column("x", packs=[cell], marks=marks) for cell in "\0".join(packs).split("\0")]
            read = [one.numbers_and_missing(codes) for one in alone]
            np.testing.assert_array_equal(values, np.concatenate([numbers for numbers, _ in read]))
            np.testing.assert_array_equal(missing, np.concatenate([flags for _, flags in read]))
            texts = [column.distinct_texts[code] if code >= 0 else code for code in column.codes.tolist()]
            assert texts == [one.distinct_texts[0] if one.distinct_texts else one.codes[0] for one in alone]


@pytest.mark.slow
def test_a_table_of_text_imports_no_library_of_tables_and_one_without_cells_is_read():
    code = (
        "import sys, dpviz; rows = dpviz.read_table(b'a,y\\n1,n\\n2,p\\n'); rows.column('a').numbers(); rows.column('y').codes;"
        "print('pandas' in sys.modules, 'pyarrow' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.split() == ["False", "False"]
    values, missing = Column("x", packs=[]).numbers_and_missing()
    assert (values.shape, missing.shape, Column("x", packs=[]).distinct_texts) == ((0,), (0,), ())


# --- a fingerprint is the one that registers hold

ODD = ("", " ", "NA", " NA\t", "?", "a", "a ", "\x1ca", "'", '"', "\\", "\ud800", "\udc80x", "é", "e\u0301", "日本", "\x7f", "1")
TEXTS = st.lists(st.sampled_from(ODD) | st.text(st.characters(exclude_characters="\0"), max_size=4), min_size=1, max_size=30)
NUMBERS = st.lists(st.floats() | st.integers(-(10**18), 10**18).map(float) | st.sampled_from((-0.0, 1e22, 5e-324)), max_size=30)


def before(name, cells):
    """Cell by cell, as the first version did it."""
    codes = Codes()
    found = np.array([max(codes[cell], -1) for cell in cells], np.int32)
    return hashlib.sha256(repr((name, tuple(codes.texts))).encode() + found.tobytes()).hexdigest()


@examples(200)
@given(TEXTS, NUMBERS, st.data())
@pytest.mark.slow
def test_texts_in_order_of_appearance_and_numbers_in_increasing_order_by_their_shortest_texts(texts, values, data):
    places = data.draw(st.lists(st.integers(-1, len(texts) - 1), max_size=40))
    column = Column.from_places("y", texts, np.array(places, np.int64))
    assert RawTable((column,)).fingerprint == before("y", ["" if place < 0 else texts[place] for place in places])
    distinct = sorted({value + 0.0 for value in values if not np.isnan(value)})
    codes = [-1 if np.isnan(value) else distinct.index(value) for value in values]
    said, found = Column("x", tuple(map(canonical_number, distinct)), np.array(codes, np.int32)), np.array(values, float)
    assert Column("x", numbers=found).distinct_texts == said.distinct_texts
    assert RawTable((Column("x", numbers=found),)).fingerprint == RawTable((said,)).fingerprint


@pytest.mark.parametrize("zone", ["+05:30", "-03:00", "+00:00", "Europe/Berlin", "UTC"])
def test_moments_are_told_by_the_clock_of_their_zone_by_name_or_by_offset(zone):
    for unit in ("s", "ms", "us", "ns"):
        cells = pa.array([1_700_000_000, -1, 0, None], pa.timestamp("s", zone)).cast(pa.timestamp(unit, zone))
        for column in (Column.from_values("t", cells), Column.from_values("t", cells.dictionary_encode())):
            found = [column.distinct_texts[code] if code >= 0 else "" for code in column.codes.tolist()]
            assert found == [text_of(moment) for moment in cells.to_pylist()]


FRACTIONS = [3.5, 7.0, 0.25, -1.125]
TYPED = {
    "object": lambda cells: pd.Series(cells, dtype=object),
    "decimal": lambda cells: pd.Series([Decimal(str(cell)) if type(cell) is float else cell for cell in cells], dtype=object),
    "float32": lambda cells: pd.Series([np.float32(cell) if type(cell) is float else cell for cell in cells], dtype=object),
    "category": lambda cells: pd.Series(cells, dtype=object).astype("category"),
    "array": lambda cells: np.array(cells, dtype=object),
    "list": list,
}


@pytest.mark.parametrize("form", TYPED)
def test_a_number_that_came_as_one_is_that_number_whatever_marks_and_other_cells_say(form):
    for marks in Marks:
        for odd in ([], ["text"], ["3,5"], ["3.5"], [True], [None], [float("inf")]):
            column = Column.from_values("x", TYPED[form]([*FRACTIONS, *odd])).with_marks(marks)
            assert column.numbers()[: len(FRACTIONS)].tolist() == FRACTIONS
            assert column.rows(np.arange(column.n_rows) > 0).numbers()[: len(FRACTIONS) - 1].tolist() == FRACTIONS[1:]
            others = column.with_missing(["7"]).numbers()[: len(FRACTIONS)]
            assert np.array_equal(others, [3.5, np.nan, 0.25, -1.125], equal_nan=True)
            alone = Column.from_values("x", odd).with_marks(marks).numbers()
            assert np.array_equal(column.numbers()[len(FRACTIONS) :], alone, equal_nan=True)
    cells = pa.array([None if cell is None else Decimal(str(cell)) for cell in (*FRACTIONS, None)])
    for typed in (cells, cells.dictionary_encode()):
        column = Column.from_values("x", typed).with_marks(Marks.COMMA)
        assert (column.numbers()[:-1].tolist(), column.is_missing.tolist()) == (FRACTIONS, [False] * 4 + [True])


@pytest.mark.parametrize("beside", [[], [Decimal("1.5")], ["2"]])
def test_a_decimal_of_many_digits_is_a_number_whatever_stands_beside_it(beside):
    """Floating-point numbers of its size have no fractions, but its text has a point."""
    cells = [Decimal("6745075650274456123.25"), *beside]
    forms = [pd.Series(cells, dtype=object), cells, pd.Series(pd.Categorical(cells))]
    forms += [pa.array(map(Decimal, cells), pa.decimal128(38, 2))]
    for form in forms:
        column = Column.from_values("x", form).with_marks(Marks.COMMA)
        assert column.numbers()[0] == 6745075650274456123.25
