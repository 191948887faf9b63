"""Rows in whatever form people have them: frames of pandas or Polars, Arrow tables, and what a reader of files registers.

No form goes through another. What a cell is depends on its value and its column's type alone, so the same rows in another form
are the same table: numbers stay numbers, everything else becomes texts by the rule of `dpviz.table.texts`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from io import IOBase
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import ParameterError, RowsError, cells_stay_inside
from dpviz.installation import offered, require_extra
from dpviz.table.arrow import arrow_column, is_flat
from dpviz.table.raw import NumberColumn, RawColumn, RawTable, clean, is_exact, no_column
from dpviz.table.texts import text_column, text_of

#: What rows may be, in words that follow "must be".
ALLOWED = "a DataFrame of pandas or Polars, an Arrow table, a table from read_table, or the path or bytes of a file"
_REMEDY = "Give it numbers, texts, dates or categories."


def table_of(rows: Any, names: Sequence[str] | None = None, *, by_record: bool = False) -> RawTable:
    """The table of `rows`, one row each, in order. Only columns that are in `names` (None: all) need be in it.

    Takes a DataFrame of pandas, whatever hands out Arrow data (Polars, Arrow, a query of DuckDB) and a RawTable;
    `dpviz.io.tables.read` adds paths, bytes and files. `by_record`: a quoted cell of text may span lines, so that a broken line
    can change others: for rows that are predicted. Raises ParameterError for anything else, and what a reader raises.
    """
    load_for(rows)
    found = in_this_form(rows, names, by_record)
    called = _as_asked(found.names, names)
    if called == [*found.names]:
        return found
    columns = zip(found.columns, called, strict=True)
    return replace(found, columns=tuple(replace(one, name=name) for one, name in columns))  # type: ignore[type-var]


def load_for(rows: Any) -> None:
    """Import the readers of files, which register here and with `dpviz.learners.request`, if `rows` are a file."""
    if isinstance(rows, (str, Path, bytes, IOBase)):
        offered("readers")


@singledispatch
def in_this_form(rows: Any, names: Sequence[str] | None = None, by_record: bool = False) -> RawTable:
    """`table_of`; readers of files register here."""
    if hasattr(rows, "iloc") and hasattr(rows, "columns"):
        places = _chosen("The DataFrame", list(map(str, rows.columns)), names)
        return RawTable(tuple(_of_pandas(rows, places, names)), "The DataFrame")
    if hasattr(rows, "__arrow_c_stream__"):
        return RawTable(tuple(_of_arrow(rows, names)), "The table")
    raise ParameterError("dpviz", "rows", type(rows).__name__, ALLOWED)


@in_this_form.register
def _(rows: RawTable, names: Sequence[str] | None = None, by_record: bool = False) -> RawTable:
    return rows


def _as_asked(found: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Names of columns, as they are asked for where they differ in what nobody sees: composed accents, no-break blanks."""
    asked = {clean(name): name for name in names or () if name not in found}
    return [name if not asked or name in (names or ()) else asked.get(clean(name), name) for name in found]


def _chosen(source: str, found: list[str], names: Sequence[str] | None) -> dict[str, int]:
    """Name -> place of the columns that are wanted; raises SchemaError for one that is not there, RowsError for two of a name."""
    found = _as_asked(found, names)
    lacking = [name for name in names or () if name not in found]
    if lacking:
        raise no_column(source, lacking[0], found)
    wanted = None if names is None else frozenset(names)
    places = dict[str, int]()
    for place, name in enumerate(found):
        if wanted is None or name in wanted:
            if name in places:
                called = "have the same name" if wanted is None else f"are called {name!r:.80}"
                what = f"Columns {places[name] + 1:,} and {place + 1:,} {called}."
                raise RowsError("names", what, remedy="Give every column a name of its own.")
            places[name] = place
    if not places and wanted is None:
        raise RowsError("names", "There is no column.", remedy="Give a table with columns.")
    return places


def _read(which: str, read: Callable[[], RawColumn]) -> RawColumn:
    with cells_stay_inside(lambda _: RowsError("cells", f"{which} has cells that cannot be read.", remedy=_REMEDY)):
        return read()


def _called(name: str, place: int, names: Sequence[str] | None) -> str:
    """A column by its name where that is declared: without a header line it is a cell."""
    return f"Column {place + 1}" if names is None else f"The column {name!r:.80}"


def _of_arrow(rows: Any, names: Sequence[str] | None) -> Iterator[RawColumn]:
    require_extra("tables", "Reading this kind of table", "pyarrow")
    import pyarrow as pa

    with cells_stay_inside(lambda _: RowsError("cells", "This table cannot be read.", remedy="Give a DataFrame.")):
        table = rows if isinstance(rows, pa.Table) else pa.table(_in_arrow_types(rows))
    for name, place in _chosen("The table", table.column_names, names).items():
        if names is not None or is_flat(table.schema.field(place).type):
            which = _called(name, place, names)
            yield _read(which, lambda place=place, name=name: arrow_column(name, table.column(place)))  # type: ignore[misc]


def _in_arrow_types(rows: Any) -> Any:
    """Rows without types of Polars that Arrow does not have: whole numbers of 128 bits, and objects of Python, become texts."""
    if not hasattr(rows, "iter_columns"):
        return rows
    others = {"Int128", "UInt128", "Object"}
    odd = [column for column in rows.iter_columns() if str(column.dtype) in others]
    return rows.with_columns(type(column)(column.name, list(map(text_of, column.to_list()))) for column in odd)


def _of_pandas(rows: Any, places: dict[str, int], names: Sequence[str] | None) -> Iterator[RawColumn]:
    for name, place in places.items():
        which = _called(name, place, names)
        yield _read(which, lambda place=place, name=name: _column(name, rows.iloc[:, place]))  # type: ignore[misc]


def _column(name: str, values: Any) -> RawColumn:
    if hasattr(values.dtype, "pyarrow_dtype"):
        return arrow_column(name, values.array.__arrow_array__())
    if hasattr(values, "sparse"):
        values = values.sparse.to_dense()
    if hasattr(values, "cat"):
        return text_column(name, map(text_of, values.cat.categories), values.cat.codes.to_numpy())
    numbers = _numbers(values) if values.dtype.kind in "iuf" else None
    if numbers is not None:
        return NumberColumn(name, numbers)
    if values.dtype.kind == "M":
        values = _local(values)
    if values.dtype == object and not _are_texts(values):  # 1 and True are equal: which came first must not decide for the others
        values = values.map(text_of)
    codes, distinct = values.factorize()
    return text_column(name, map(text_of, distinct), codes)


def _numbers(values: Any) -> np.ndarray | None:
    """The numbers of a column as `dpviz.table.arrow` has them; None where float64 does not hold each whole one."""
    if values.dtype.kind == "f":
        return values.to_numpy(getattr(values.dtype, "numpy_dtype", values.dtype), na_value=np.nan)
    if not len(values) or values.isna().all():
        return np.full(len(values), np.nan)
    if values.dtype.itemsize > 4 and not is_exact(int(values.min()), int(values.max())):
        return None
    if values.hasnans:
        return values.to_numpy(np.float64, na_value=np.nan)
    return values.to_numpy(getattr(values.dtype, "numpy_dtype", values.dtype))


def _local(values: Any) -> Any:
    """Moments without their time zone, as their clocks show them, in microseconds."""
    local = values if getattr(values.dt, "tz", None) is None else values.dt.tz_localize(None)
    return local.dt.floor("us") if "ns" in str(values.dtype) else local


def _are_texts(values: Any) -> bool:
    return set(map(type, values.dropna().to_numpy())) <= {str}
