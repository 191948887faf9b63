"""What a cell means follows from the cell and the schema alone: a row more, of whatever type its cells are, changes no other row.

A column of pandas, NumPy, Polars or Arrow has one type for all of its rows, and one odd cell gives it another. So columns of
every type get one odd cell more, as people's tools add it, and every other row must be read as before, as a feature, as the
target and as a person.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DpvizError
from dpviz.table.cells import UNREADABLE, text_of
from dpviz.table.columns import Column
from dpviz.table.encode import encode_new
from dpviz.table.raw import table_of
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.examples import examples


class _EqualToAll:
    """A cell of an odd library."""

    __hash__ = lambda self: hash("a")  # noqa: E731

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "odd"


BERLIN = "Europe/Berlin"
DAYS = [dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30), dt.datetime(2024, 3, 31, 2, 30)]
COLUMNS: dict[str, Any] = {
    "bool": pd.Series([True, False, True]),
    "boolean": pd.Series([True, False, None], dtype="boolean"),
    "truth values as objects": pd.Series([True, np.False_, None], dtype=object),
    "int64": pd.Series([0, 1, 2]),
    "int8": pd.Series([0, 1, 2], dtype="int8"),
    "uint64": pd.Series([0, 1, 2**53], dtype="uint64"),
    "Int64": pd.Series([0, None, 2], dtype="Int64"),
    "float64": pd.Series([0.5, -0.0, 1e-7, np.inf, 2.0, np.nan]),
    "float32": pd.Series([0.1, 2.0, 1 / 3], dtype="float32"),
    "float16": pd.Series([0.1, 2.0, 0.5], dtype="float16"),
    "Float32": pd.Series([0.1, 2.0, None], dtype="Float32"),
    "numbers as objects": pd.Series([1, 2.0, np.float32(0.1), Decimal("1.50"), np.int8(3), 10**30], dtype=object),
    "texts": pd.Series(["1", "1.0", "True", "true", "NA", " x ", "Zu\u0308rich", None], dtype=object),
    "string": pd.Series(["1", "a", None], dtype="string"),
    "category of texts": pd.Series(["a", "b", None], dtype="category"),
    "category of numbers": pd.Series([1, 2, 1], dtype="category"),
    "category of floats": pd.Series([1.0, 2.5, np.nan], dtype="category"),
    "category of truth values": pd.Series([True, False], dtype="category"),
    "category of moments": pd.Series(pd.to_datetime(DAYS)).astype("category"),
    "category of zoned moments": pd.Series(pd.to_datetime(DAYS[:2])).dt.tz_localize(BERLIN).astype("category"),
    "moments": pd.Series(pd.to_datetime(DAYS)),
    "zoned moments": pd.Series(pd.to_datetime(DAYS[:2])).dt.tz_localize(BERLIN),
    "moments in nanoseconds": pd.Series(pd.to_datetime(["1960-01-01 00:00:00.000000001", "2024-03-01 12:00:00.123456789"])),
    "moments in seconds": pd.Series(pd.to_datetime(DAYS)).astype("datetime64[s]"),
    "dates": pd.Series([day.date() for day in DAYS], dtype=object),
    "days and moments": pd.Series(
        [DAYS[0], DAYS[1].date(), pd.Timestamp(DAYS[1], tz="UTC"), np.datetime64("2024-03-01T14:30")], dtype=object
    ),
    "durations": pd.Series(pd.to_timedelta(["1s", "1.5s", "1ns"])),
    "sparse": pd.Series(pd.arrays.SparseArray([0.0, 1.0, 0.0])),
    "Arrow int64": pd.Series([1, None], dtype="int64[pyarrow]"),
    "Arrow float": pd.Series([0.1, None], dtype="float[pyarrow]"),
    "Arrow decimal": pd.Series(pd.array([Decimal("1.50"), None], dtype=pd.ArrowDtype(pa.decimal128(9, 2)))),
    "Arrow zoned moments": pd.Series(pd.array(DAYS[:2], dtype=pd.ArrowDtype(pa.timestamp("us", BERLIN)))),
    "Arrow dictionary": pd.Series(pd.array(["a", "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))),
}
ODD: dict[str, Any] = {
    "None": None,
    "not a number": np.nan,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "a text": "odd",
    "a number as a text": "17",
    "True as a text": "True",
    "true": True,
    "NumPy's true": np.True_,
    "a whole number": 17,
    "a large whole number": 2**60 + 1,
    "a huge whole number": 10**400,
    "a fraction": 0.25,
    "half a float": np.float32(0.3),
    "negative zero": -0.0,
    "infinity": np.inf,
    "a decimal": Decimal("7.10"),
    "a date": dt.date(2023, 1, 2),
    "a moment": pd.Timestamp("2023-01-02 03:04:05.000000006"),
    "a moment in UTC": pd.Timestamp("2023-01-02 03:04:05", tz="UTC"),
    "a moment in New York": pd.Timestamp("2023-01-02 03:04:05", tz="America/New_York"),
    "a duration": pd.Timedelta("7s"),
    "an interval": pa.MonthDayNano([0, 1, 5]),
    "bytes": b"\xff",
    "a list": [1, 2],
    "a complex number": complex(1, 0),
    "equal to all": _EqualToAll(),
}
#: How people add a row, and where.
WAYS = {
    "concat": lambda column, odd: pd.concat([column, pd.Series([odd])], ignore_index=True),
    "objects": lambda column, odd: pd.concat([column.astype(object), pd.Series([odd], dtype=object)], ignore_index=True),
    "in front": lambda column, odd: pd.concat([pd.Series([odd]), column], ignore_index=True),
    "loc": lambda column, odd: _set(column.copy(), odd),
    "a list": lambda column, odd: pd.Series([*column.tolist(), odd], dtype=object),
    "reindexed": lambda column, odd: column.reindex(range(len(column) + 1)),
}


def _set(column: pd.Series, odd: Any) -> pd.Series:
    column.loc[len(column)] = odd
    return column


def _changed(way: str, column: pd.Series, odd: Any) -> pd.Series | None:
    """The column with a row more; None where pandas itself refuses or rewrites what the other rows hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = WAYS[way](column, odd)
        except Exception:  # a type that holds no such cell
            return None
    others = found.iloc[1:] if way == "in front" else found.iloc[: len(column)]
    return found if [*map(text_of, others)] == [*map(text_of, column)] else None


def _all_changed(column: pd.Series, ways: Iterable[str]) -> Iterator[tuple[str, Any, pd.Series]]:
    """Ways, odd cells and the column they make; columns of the same type and cells once."""
    seen = set()
    for way in ways:
        for odd in ODD.values():
            changed = _changed(way, column, odd)
            if changed is not None:
                try:
                    cells: Any = tuple((type(cell), repr(cell)) for cell in changed)
                except OverflowError:  # a moment beyond those of Python
                    cells = (way, repr(odd))
                key = (way == "in front", repr(changed.dtype), cells)
                if key not in seen:
                    seen.add(key)
                    yield way, odd, changed


def _readings(column: pd.Series, categories: tuple[str, ...], skip: slice) -> dict[str, list[Any]]:
    """Each row but one, as category, number, class, numeric target and person; None where it is dropped."""
    frame = pd.DataFrame({"x": column, "y": ["n"] * len(column)})
    number, text = NumericFeature("x", -1e6, 1e6), CategoricalFeature("x", categories)
    found = {}
    for role, schema in {
        "category": Schema((text,), ClassTarget("y", ("n", "p"))),
        "number": Schema((number,), ClassTarget("y", ("n", "p"))),
        "class": Schema((CategoricalFeature("y", ("n",)),), ClassTarget("x", categories)),
        "target": Schema((CategoricalFeature("y", ("n",)),), NumericTarget("x", -1e6, 1e6)),
    }.items():
        if role in ("class", "target"):  # the rows that are kept follow in order
            data = dpviz.encode(table_of(frame), schema)
            found[role] = data.target.tolist(), sum(count for _, count in data.report.dropped_target)
        else:
            rows = encode_new(table_of(frame), schema)
            values = iter(rows.data.columns[0].tolist())
            found[role] = [next(values) if is_usable else None for is_usable in rows.usable][skip]
    return found


def _without_one(longer: tuple[list[Any], int], shorter: tuple[list[Any], int]) -> bool:
    values, dropped = longer
    if values == shorter[0]:
        return dropped - shorter[1] == 1
    return any(values[:place] + values[place + 1 :] == shorter[0] for place in range(len(values))) and dropped == shorter[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", COLUMNS)
def test_an_odd_cell_changes_no_other_row(kind: str) -> None:
    column = COLUMNS[kind]
    labels = [text.strip() for text in map(text_of, column) if text.strip()]
    categories = tuple(dict.fromkeys((*labels, "never", "other")))
    before = _readings(column, categories, slice(None))
    tried = list(_all_changed(column, WAYS))
    for way, odd, changed in tried:
        now = _readings(changed, categories, slice(1, None) if way == "in front" else slice(0, len(column)))
        assert (now["category"], now["number"]) == (before["category"], before["number"]), (way, odd)
        assert _without_one(now["class"], before["class"]), (way, odd)
        assert _without_one(now["target"], before["target"]), (way, odd)
    assert len(tried) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in COLUMNS if kind not in ("texts",)])
def test_an_odd_person_is_one_more_and_changes_no_other(kind: str) -> None:
    column = COLUMNS[kind]

    def persons(column: pd.Series) -> list[int] | None:
        """Whose row each is, numbered by first appearance; None where the table is refused."""
        schema = Schema((NumericFeature("x", 0, 1e6),), ClassTarget("y", ("n", "p")))
        frame = pd.DataFrame({"who": column, "x": np.arange(len(column)), "y": ["n"] * len(column)})
        try:
            data = dpviz.encode(frame, schema, person="who", rows_per_person=len(column))
        except DpvizError:
            return None
        number: dict[int, int] = {}
        whose = dict(zip(data.columns[0].astype(int).tolist(), data.persons.tolist(), strict=True))
        return [number.setdefault(whose[row], len(number)) if row in whose else -1 for row in range(len(column))]

    before = persons(column)
    assert before is not None
    for way, odd, changed in _all_changed(column, [way for way in WAYS if way != "in front"]):
        now = persons(changed)
        assert now is None or now[: len(column)] == before, (way, odd)


ARROW = {
    "dictionary of truth values": pa.array([True, False, True]).dictionary_encode(),
    "dictionary of numbers": pa.array([1, 2, None]).dictionary_encode(),
    "dictionary of floats": pa.array([1.0, 0.5]).dictionary_encode(),
    "dictionary of zoned nanoseconds": pa.array([10**18 + 1, 10**18], pa.timestamp("ns", BERLIN)).dictionary_encode(),
    "zoned nanoseconds": pa.array([-1, 10**18 + 1], pa.timestamp("ns", BERLIN)),
    "seconds": pa.array([0, 10**9], pa.timestamp("s")),
    "decimals": pa.array([Decimal("1.50"), Decimal("-0.00")], pa.decimal128(9, 2)),
    "float": pa.array([0.1, 2.0], pa.float32()),
    "half": pa.array(np.array([0.1, 2.0], np.float16)),
    "uint64": pa.array([2**64 - 1, 1], pa.uint64()),
    "nothing": pa.nulls(2),
    "beyond the whole numbers of doubles": pa.array([2**60, 2**60 + 1]),
    "durations": pa.array([dt.timedelta(hours=1), dt.timedelta(days=1)]),
    "intervals": pa.array([pa.MonthDayNano([0, 1, 5]), pa.MonthDayNano([1, 0, 0]), None, pa.MonthDayNano([0, -3, 1])]),
    "days": pa.array([dt.date(2024, 3, 1), None]),
    "bytes": pa.array([b"a", b"\xff"]),
}
if hasattr(pa, "decimal32"):  # from version 19 on
    ARROW["few decimals"] = pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal32(5, 2))
    ARROW["more decimals"] = pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal64(12, 2))
#: Types that Polars may not have.
NOT_OF_POLARS = ("half", "intervals", "few decimals", "more decimals")


def texts_of(column: Column) -> list[str]:
    return ["" if code < 0 else column.distinct_texts[code] for code in column.codes.tolist()]


@pytest.mark.parametrize("kind", ARROW)
def test_cells_of_arrow_pandas_and_polars_mean_what_the_same_objects_mean(kind: str) -> None:
    cells = ARROW[kind]
    objects = [cell.replace(tzinfo=None) if isinstance(cell, dt.datetime) else cell for cell in cells.to_pylist()]
    forms: list[Any] = [pa.table({"x": cells}), pd.DataFrame({"x": pd.Series(cells.to_pylist(), dtype=object)})]
    forms.append(pa.table({"x": cells}).to_pandas(types_mapper=pd.ArrowDtype))
    if kind not in ("float", "half"):  # which pandas' own types have as other numbers
        forms.append(pd.DataFrame({"x": pd.Series(cells.to_pylist())}))
    if not pa.types.is_dictionary(cells.type) and kind not in NOT_OF_POLARS:
        forms.append(pl.DataFrame({"x": pl.from_arrow(cells)}))
    for form in forms:
        column = table_of(form).column("x")
        assert texts_of(column) == [*map(text_of, objects)], type(form)
    assert Column.from_values("x", cells).distinct_texts == column.distinct_texts


def test_a_decimal_that_no_decimal_of_python_holds_is_unreadable_and_no_error():
    """Of a scale that Arrow allows; by itself it does not become a value of Python's."""
    cells = pa.Array.from_buffers(pa.decimal128(5, -300_000), 2, [None, pa.py_buffer(np.array([7, 0, 0, 0], np.int64))])
    assert set(texts_of(Column.from_values("x", cells))) <= {UNREADABLE, "0"}


def test_types_of_polars_mean_what_the_same_objects_mean() -> None:
    columns = {
        "int128": pl.Series([1, 2**100, None], dtype=pl.Int128),
        "null": pl.Series([None] * 3),
        "enum": pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b"])),
        "categorical": pl.Series(["a", "b", None], dtype=pl.Categorical),
        "decimal": pl.Series([Decimal("1.50"), Decimal("2.00"), None]),
        "float32": pl.Series([0.1, 2.0, None], dtype=pl.Float32),
        "zoned": pl.Series([*DAYS[:2], None]).dt.replace_time_zone(BERLIN),
        "object": pl.Series([1, "a", None], dtype=pl.Object),
        "bool": pl.Series([True, None, False]),
    }
    table = table_of(pl.DataFrame(columns))
    for name, cells in columns.items():
        assert texts_of(table.column(name)) == [text_of(cell) for cell in cells.to_list()], name


TEXTS: list[tuple[Any, str]] = [
    (1.0, "1"), (-0.0, "0"), (1e-7, "0.0000001"), (1e22, "10000000000000000000000"), (np.float32(0.1), "0.10000000149011612"),
    (True, "true"), (np.False_, "false"), (Decimal("1.50"), "1.5"), (Decimal("-0.0"), "0"), (Decimal("1E+3"), "1000"),
    (Decimal("NaN"), ""), (Decimal("-Infinity"), "-inf"), (float("-inf"), "-inf"), (2**70, str(2**70)), (10**5000, "\ufffd"),
    (pd.Timestamp("2024-03-01", tz=BERLIN), "2024-03-01"), (pd.Timestamp("2024-03-01 12:00", tz=BERLIN), "2024-03-01T12:00:00"),
    (pd.Timestamp("1960-01-01 00:00:00.000000001"), "1960-01-01"), (np.datetime64("2024-03-01T12:00"), "2024-03-01T12:00:00"),
    (dt.time(1, 2, tzinfo=dt.UTC), "01:02:00"), (np.timedelta64(1500, "ms"), "1.5"), (pd.NaT, ""), (pd.NA, ""), (None, ""),
    (pa.MonthDayNano([0, 1, 5]), "86400.000000005"), (pa.MonthDayNano([0, -1, 43_200 * 10**9]), "-43200"),
    (pa.MonthDayNano([1, 0, 0]), "\ufffd"),
    (np.datetime64("NaT", "ns"), ""), (b"\xff", "\ufffd"), ("None", "None"),
]  # fmt: skip
#: Drivers of databases give binary cells as views, whose own text would be a place in memory.
TEXTS += [(kind("Müller".encode()), "Müller") for kind in (bytes, bytearray, memoryview, np.bytes_)]
#: The text of an object without one is its place in memory; that of a long array leaves out its middle.
WITHOUT_TEXT = ([1, 2], (1,), {"a": 1}, {1}, np.zeros(3), np.array([1]), np.array(["a"], dtype=object), object())
TEXTS += [(cell, UNREADABLE) for cell in WITHOUT_TEXT]


ZONES = st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=-7, minutes=-30)), ZoneInfo(BERLIN)])
#: Kind of value -> values, and how the text of one reads back.
READ_BACK: dict[str, tuple[st.SearchStrategy[Any], Callable[[str], Any]]] = {
    "number": (st.floats(allow_nan=False), float),
    "number of 32 bits": (st.floats(width=32, allow_nan=False).map(np.float32), np.float32),
    "whole number": (st.integers(), int),
    "decimal": (st.decimals(allow_nan=False), Decimal),
    "day": (st.dates(), dt.date.fromisoformat),
    "time": (st.times(), dt.time.fromisoformat),
    "moment": (st.datetimes(), dt.datetime.fromisoformat),
    "moment with its zone": (st.datetimes(timezones=ZONES), dt.datetime.fromisoformat),
    "moment of NumPy": (st.datetimes().map(np.datetime64), lambda text: np.datetime64(dt.datetime.fromisoformat(text))),
    "duration": (st.timedeltas(), lambda text: dt.timedelta(microseconds=int(Decimal(text) * 10**6))),
}


@pytest.mark.parametrize("kind", READ_BACK)
def test_the_text_of_a_value_reads_back_as_that_value_of_a_moment_by_its_own_clock(kind: str) -> None:
    values, read = READ_BACK[kind]

    @examples(50)
    @given(values)
    def reads_back(value: Any) -> None:
        wanted = value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value
        assert read(text_of(value)) == wanted

    reads_back()


def test_the_text_of_a_cell() -> None:
    for cell, text in TEXTS:
        assert text_of(cell) == text
        assert texts_of(table_of(pd.DataFrame({"x": pd.Series([cell, "odd"], dtype=object)})).column("x"))[0] == text
