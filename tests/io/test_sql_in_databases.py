"""Exported SQL answers as `predict` does in real databases, whatever type a column has, or refuses; so does exported Python."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpviz.io.exports.python import PYTHON
from dpviz.io.exports.sql import DUCKDB, SQLITE, identifier
from dpviz.models.new_rows import answers
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, Schema
from tests.support.exports_models import document
from tests.support.servers import ENGINES

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::dpviz.errors.FewRowsWarning")]
TABLE = "rows_to_predict"


class Database:
    """A database with one table of one column."""

    form = DUCKDB
    #: What a column may be declared as.
    kinds: tuple[str, ...] = (
        *("TEXT", "INTEGER", "BIGINT", "REAL", "DOUBLE PRECISION", "DECIMAL(9,3)", "BOOLEAN", "DATE", "TIMESTAMP"),
        "TIMESTAMP WITH TIME ZONE",
    )
    is_decimal = False

    def __init__(self, base: Any, *refusals: type[Exception]) -> None:
        self.base, self.refusals = base, refusals

    def run(self, statement: str) -> None:
        self.base.execute(statement)

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.base.execute(statement).fetchall()
        return found

    def create(self, columns: dict[str, str]) -> None:
        self.is_decimal = any(kind.startswith("DECIMAL") for kind in columns.values())
        self.run(f"DROP TABLE IF EXISTS {TABLE}")
        self.run(f"CREATE TABLE {TABLE} ({', '.join(f'{identifier(name)} {kind}' for name, kind in columns.items())})")

    def add(self, cells: Sequence[Any]) -> None:
        """The cells that the column takes."""
        for cell in cells:
            with suppress(*self.refusals):
                self.run(f"INSERT INTO {TABLE} VALUES ({literal(cell)})")


def literal(cell: Any) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return f"{cell!r}" if np.isfinite(cell) else f"CAST('{cell}' AS double precision)"
    return str(cell) if isinstance(cell, (int, Decimal)) else "'" + str(cell).replace("'", "''") + "'"


class InSQLite(Database):
    form = SQLITE
    kinds = ("TEXT", "INTEGER", "REAL", "NUMERIC", "DECIMAL(9,3)", "BOOLEAN", "DATE", "TIMESTAMP", "BLOB", "")

    def __init__(self) -> None:
        super().__init__(sqlite3.connect(":memory:", isolation_level=None), sqlite3.Error)

    def run(self, statement: str) -> None:
        for name, value in (("inf", "9e999"), ("-inf", "-9e999"), ("nan", "NULL")):
            statement = statement.replace(f"CAST('{name}' AS double precision)", value)
        super().run(statement)


class InDuckDB(Database):
    def __init__(self) -> None:
        super().__init__(duckdb.connect(":memory:"), duckdb.Error)


class InPostgreSQL(Database):
    def __init__(self, server: Any) -> None:
        from adbc_driver_postgresql import dbapi

        super().__init__(dbapi.connect(f"host={server.folder} user=dpviz dbname=postgres", autocommit=True), dbapi.Error)

    def run(self, statement: str) -> None:
        with self.base.cursor() as cursor:
            cursor.execute(statement)

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        with self.base.cursor() as cursor:
            cursor.execute(statement.rstrip().removesuffix(";"))  # the driver puts it into a statement of its own
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found


@pytest.fixture(
    scope="module", params=["sqlite", "duckdb", pytest.param("postgresql", marks=(pytest.mark.engine, pytest.mark.verify))]
)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param != "postgresql":
        yield {"sqlite": InSQLite, "duckdb": InDuckDB}[request.param]()
        return
    with ENGINES["postgresql"](Path(tmp_path_factory.mktemp("postgresql"))) as server:
        made = InPostgreSQL(server)
        yield made
        made.base.close()


def tree_of(feature: Feature, decimal: str | None = None) -> Tree:
    """A tree that gives every category, and every side of some thresholds, a class of its own."""
    if isinstance(feature, CategoricalFeature):
        schema = Schema((feature,), ClassTarget("y", tuple(f"is {name}" for name in feature.categories)))
        node: Any = Leaf(len(feature.categories) - 1)
        for code in range(len(feature.categories) - 1):
            node = Branch(SubsetRule(0, (code,)), Leaf(code), node)
        return Tree(schema, node)
    assert isinstance(feature, NumericFeature)
    marks = sorted({feature.low + share * (feature.high - feature.low) for share in (0.01, 0.3, 0.5, 0.505, 0.6, 0.9, 0.999)})
    schema = Schema((feature,), ClassTarget("y", (*(f"up to {mark}" for mark in marks), "more")), decimal=decimal)
    node = Leaf(len(marks))
    for code, mark in reversed(list(enumerate(marks))):
        node = Branch(ThresholdRule(0, mark), Leaf(code), node)
    return Tree(schema, node)


def answered(database: Database, content: str) -> list[Any] | None:
    """What the statement says; None where the engine ends it with an error, or no Python holds the cells: a day without end."""
    try:
        held(database, "x")
        return [row[0] for row in database.fetch(content)]
    except (*database.refusals, OverflowError):
        return None


def held(database: Database, name: str) -> pd.DataFrame:
    """What the column holds, as the driver reads it."""
    cells = [row[0] for row in database.fetch(f"SELECT {identifier(name)} FROM {TABLE}")]
    if isinstance(database, InPostgreSQL) and database.is_decimal:  # which its driver hands out as texts
        cells = [None if cell is None else Decimal(cell) for cell in cells]
    return pd.DataFrame({name: pd.Series(cells, dtype=object)})


@dataclass
class NumbersAndMissing:
    """Cells whose answers differ from those of predict, and how many were answered as it does; what is refused is neither."""

    differences: list[tuple[Any, ...]] = field(default_factory=list)
    n_alike: int = 0

    def compare(self, database: Database, tree: Tree, cells: Sequence[Any], content: str) -> None:
        """All cells at once; where the statement ends with an error, in halves down to the cell that does it."""
        name = tree.schema.features[0].name
        database.run(f"DELETE FROM {TABLE}")
        database.add(cells)
        theirs = answered(database, content)
        if theirs is None:
            for part in (cells[: len(cells) // 2], cells[len(cells) // 2 :]) if len(cells) > 1 else ():
                self.compare(database, tree, part, content)
            return
        rows = held(database, name)
        for cell, one, other in zip(rows[name], answers(tree, rows).tolist(), theirs, strict=True):
            self.n_alike += one == other
            self.differences += [(cell, one, other)] if one != other else []


NUMBERS = [
    *("", " ", "12", " 12 ", "\t12\u00a0", "abc", "12abc", "1e3", "1E-2", "1e", "0x10", "inf", "-Infinity", "nan"),
    *("NaN", "NA", "N/A", "?", "null"),
    *("NULL", "1_000", "١٢", "1٢", "５", "12,5", "1,000.5", "1,2,3", "+7", "-7", "--7", "5.", ".5", ".", "-", "0012"),
    *("1 2", "1e999", "-1e999"),
    *("1e-400", "100.0", "99.900000000000006", "50", "50.5", "-0", "0", "999", "999.0", "true", "false", "2024-03-01"),
    *("1,5e1", "’", "12\n"),
    *("0,123", "-0,5", "00,123", "012,345", "999,999", "1000,999", "1,0000", "0,123.4", "1,234e1", "01,234"),
    *("1,311", "12,34", "1 311", "1'311", "1\u202f311", "12.345", "1.234.567", "1,23,456", "1.234,5", "1,311e1", "−5"),
    *("12.03.2024",),
    *("9007199254740993", "12\u2003", "\x1f12", "²", "Ⅻ", "1.7976931348623157e308"),
    *(None, True, False, 0, 1, 12, -7, 50, 51, 999, 100, 2**53, 0.1, 12.5, 50.0, 50.5, 99.9, 1e-7, 1e20, 1e308),
    *(float("inf"), float("-inf"), float("nan")),
    *(Decimal("12.500"), Decimal("50.500"), Decimal("0.100"), dt.date(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30)),
]
FEATURES = {
    "number": NumericFeature("x", 0, 100),
    "number, missing as": NumericFeature("x", 0, 100, missing_as=55),
    "whole": NumericFeature("x", 0, 100, whole=True, missing_as=3),
    "codes": NumericFeature("x", 0, 100, missing_as=60, missing_codes=("999", "abc", "-7")),
    "wide": NumericFeature("x", -1e9, 1e9),
}
CATEGORIES = {
    "words": CategoricalFeature("x", ("red", "Größe", "été é", "two words", "it's"), unknown_as=None),
    "words, stand-ins": CategoricalFeature("x", ("red", "Größe", "other"), missing_as="red", unknown_as="other"),
    "digits": CategoricalFeature("x", ("1", "2", "3", "0"), missing_as="3"),
    "digits, unknown": CategoricalFeature("x", ("1", "2", "7"), unknown_as="7"),
    "odd numerals": CategoricalFeature("x", ("042", "5E1", "1.0", "2.50", "0.5")),
    "alike": CategoricalFeature("x", ("1", "1.0", "2", "02")),
    "decimals": CategoricalFeature("x", ("0.5", "-2.5", "12.25", "0.1", "100000")),
    "truth": CategoricalFeature("x", ("true", "false")),
    "truth, unknown": CategoricalFeature("x", ("True", "False"), unknown_as="False"),
    "marks": CategoricalFeature("x", ("NA", "null", "yes"), missing_as="yes"),
    "groups": CategoricalFeature(
        "x", ("low", "high"), groups=(("1", "low"), ("2", "low"), ("3", "high"), ("NA", "high")), unknown_as="high"
    ),
    "missing codes": CategoricalFeature("x", ("1", "2"), missing_as="2", missing_codes=("9", "unknown")),
    "days": CategoricalFeature("x", ("2024-03-01", "2024-03-02")),
    "moments": CategoricalFeature("x", ("2024-03-01 14:30:00", "2024-03-02")),
}
TEXTS = [
    *("red", " red ", "Red", "red\t", "\u00a0red", "Größe", "Gro\u0308ße", "été é", "e\u0301te\u0301 é", "e\u0301té é"),
    *("two words", "two\u00a0words"),
    *("it's", "other", "", " ", "NA", "na", "null", "NULL", "?", "yes", "1", "1.0", "01", "1e0", "+1", "-1", "1,0"),
    *("1.", "2", "2.00", "02", "3", "0", "-0", "0.0", "-0.0"),
    *("042", "42", "42.0", "0042", "5E1", "5e1", "50", "50.0", "2.5", "2.50", "2.500", "-2.5", "-2.50", "0.5", ".5"),
    *("0.50", "12.25", "0.1", "100000", "1e5"),
    *("true", "True", "TRUE", "tRuE", "false", "FALSE", "t", "f", "yes ", "low", "high", "LOW", "9", "9.0", "unknown"),
    *("2024-03-01", "2024-03-01 00:00:00"),
    *("2024-03-01T14:30:00", "2024-03-01 14:30:00", "2024-03-02T00:00:00", "١", "1_0", "9007199254740993", "7"),
    *(None, True, False, 0, 1, 2, 3, 7, 9, 42, 50, -1, 100000, 0.1, 0.5, 1.0, 2.5, -2.5, 12.25, 42.0, 50.0, 1e20, -0.0),
    *(0.30000000000000004,),
    *(Decimal("1.000"), Decimal("2.500"), Decimal("0.500"), Decimal("42.000"), dt.date(2024, 3, 1), dt.date(2024, 3, 2)),
    *(dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30), dt.datetime(2024, 3, 2)),
]
DATES = {
    f"{part}, {order}": DateFeature(
        "x", low, high, part=part, since="2000-01-01", order=order, missing_as=missing, missing_codes=codes
    )
    for part, low, high, missing, codes in (
        ("year", 1990, 2030, None, ()),
        ("month", 1, 12, 6, ("9999-12-31",)),
        ("weekday", 1, 7, None, ()),
        ("days", -1000, 10000, 5, ("01.01.1900", "19000")),
    )
    for order in ("ymd", "dmy", "mdy")
}
DAYS = [
    *("2024-03-01", "2024-3-1", "2024/03/01", "2024.02.29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01"),
    *("0001-01-01", "9999-12-31"),
    *("2024-03-01 14:30", "2024-03-01T14:30:00", "2024-03-01x", "01.03.2024", "1/3/2024", "03/01/2024", "31.04.2024"),
    *("31-12-1999", "12-31-1999"),
    *("", " ", "NA", None, "19000", 19000, 19000.0, " 2024-03-01 ", "2024-13-01", "2024-00-10", "2024-10-00"),
    *("24-03-01", "20240301", "2024-03", "٢٠٢٤-03-01"),
    *("2024-03-01 a\nb", "01.01.1900", "2024-1/2", dt.date(2024, 3, 1), dt.date(1969, 7, 20)),
    *(dt.datetime(2024, 2, 29, 23, 59), dt.datetime(2012, 12, 31), True),
]
GROUPS = {
    "numbers": [(feature, NUMBERS) for feature in FEATURES.values()],
    "words": [(feature, TEXTS) for feature in CATEGORIES.values()],
    "dates": [(feature, DAYS) for feature in DATES.values()],
}
#: DuckDB plans every statement anew; with every change it is asked for these types of columns alone, by every other feature.
FEW = ("TEXT", "BIGINT", "DOUBLE PRECISION", "DECIMAL(9,3)", "DATE")


@pytest.mark.parametrize("kinds", ["few", pytest.param("all", marks=pytest.mark.verify)])
@pytest.mark.parametrize("group", GROUPS)
def test_a_cell_of_any_type_is_answered_as_by_predict_or_refused(database, group, kinds):
    is_whole = kinds == "all" or database.form is SQLITE
    asked = database.kinds if is_whole else FEW
    for feature, cells in GROUPS[group][:: 1 if is_whole else 2]:
        tree = tree_of(feature)
        content = str(database.form.write(document(tree)))
        found = {declared: NumbersAndMissing() for declared in asked}
        for declared in asked:
            database.create({"x": declared})
            found[declared].compare(database, tree, cells, content)
        assert not any(one.differences for one in found.values()), (feature, found)
        assert all(one.n_alike > 0 for one in found.values()), (feature, found)
        assert found["TEXT"].n_alike > 0.7 * len(cells), (feature, found)


#: As an engine writes them: a cell of bytes, and what it spells.
BYTES = [(f"encode({literal(text)})", text) for text in ("red", "it's", "Größe", "two\u00a0words", "−5", "1'311", "12")]
MOMENTS = [dt.datetime(2024, 3, 1, hour, 30) for hour in (0, 14, 23)]


def test_bytes_and_moments_with_a_zone_mean_what_they_do_in_every_session_or_are_refused(database):
    """Bytes are the text that they spell, moments are by the clock of UTC; engines write both in forms of their own."""
    if database.form is SQLITE:
        return  # it has neither
    is_postgresql = isinstance(database, InPostgreSQL)
    bytes_of = [(f"convert_to({cell[7:-1]}, 'UTF8')" if is_postgresql else cell, text) for cell, text in BYTES]
    moments = [(f"CAST('{moment.isoformat()}+00' AS timestamp with time zone)", moment) for moment in MOMENTS]
    words, day = CATEGORIES["words"], DateFeature("x", 1, 7, part="weekday")
    cases = [(words, bytes_of), (FEATURES["number"], bytes_of), (day, moments), (CATEGORIES["moments"], moments)]
    n_alike = dict.fromkeys(("UTC", "Europe/Berlin", "America/New_York"), 0)
    for feature, cells in cases:
        tree = tree_of(feature)
        content = str(database.form.write(document(tree)))
        database.create({"x": "TIMESTAMP WITH TIME ZONE" if cells is moments else "BYTEA" if is_postgresql else "BLOB"})
        for (cell, value), zone in product(cells, n_alike):
            database.run(f"SET TimeZone = '{zone}'")
            database.run(f"DELETE FROM {TABLE}")
            database.run(f"INSERT INTO {TABLE} VALUES ({cell})")
            found = answered(database, content)
            assert found in (None, answers(tree, pd.DataFrame({"x": [value]}, dtype=object)).tolist()), (feature, value, zone)
            n_alike[zone] += found is not None
    database.run("SET TimeZone = 'UTC'")
    assert n_alike["UTC"] >= 2 * len(moments)
    assert n_alike["UTC"] - 2 * len(moments) == n_alike["Europe/Berlin"] == n_alike["America/New_York"]


@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_in_texts_are_read_by_the_decimal_mark_of_the_schema(database, decimal):
    for feature in FEATURES.values():
        tree, found = tree_of(feature, decimal), NumbersAndMissing()
        database.create({"x": "TEXT"})
        found.compare(database, tree, NUMBERS, str(database.form.write(document(tree))))
        assert not found.differences, feature
        assert found.n_alike > (0.75 if database.form is SQLITE else 0.9) * len(NUMBERS)


# --- the Python function, of cells that no database holds too

TYPED = [
    *(1, 1.0, -7, 80.4, 1234.5, True, False, None, float("nan"), float("inf"), float("-inf"), 2**53 + 1, 10**30, 1e-7, -0.0, 42),
    *(np.float64(2.5), np.float32(0.1), np.float32(80.5), np.int8(1), np.uint64(2**63), np.bool_(True), np.False_, np.str_("1")),
    *(np.float64("nan"), np.datetime64("NaT", "ns"), np.datetime64("2024-03-01"), np.datetime64("2024-03-01T14:30:00")),
    *(np.timedelta64(90, "s"), dt.timedelta(seconds=1), pd.Timedelta(81, "s"), np.longdouble(2.5)),
    *(Decimal("1.0"), Decimal("2.50"), Decimal("1E+1"), Decimal("NaN"), Decimal("-0"), Decimal("Infinity"), pd.NA, pd.NaT),
    *(pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-01 14:30", tz="Europe/Berlin"), dt.time(14, 30), b"1.0", b"NA"),
    *(dt.date(2024, 3, 1), dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30), dt.datetime(2024, 3, 1, tzinfo=dt.UTC)),
]
#: What a column of numbers of 64 bits holds: it reads them whatever its decimal mark, also in a column of objects.
UNMARKED = (float, np.floating, Decimal, dt.timedelta, np.timedelta64)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", GROUPS)
def test_the_python_function_reads_every_cell_as_predict_does(group):
    for feature, cells in GROUPS[group]:
        for decimal in (None, ".", ",") if group == "numbers" else (None,):
            tree, space = tree_of(feature, decimal), dict[str, Any]()
            exec(str(PYTHON.write(document(tree))), space)
            asked = [cell for cell in (*cells, *TYPED) if decimal != "," or not isinstance(cell, UNMARKED)]
            wanted = answers(tree, pd.DataFrame({"x": pd.Series(asked, dtype=object)})).tolist()
            found = [space["predict"]({"x": cell}) for cell in asked]
            assert [one for one in zip(asked, found, wanted, strict=True) if one[1] != one[2]] == [], (feature, decimal)
