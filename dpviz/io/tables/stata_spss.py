"""Stata (.dta) and SPSS (.sav, .zsav) files.

Labels of values are kept in the file once for all rows, so a cell with a label is its value and its label. What the file declares
as missing is missing. Dates are numbers with a format of the whole column; the number is turned into a date here, for a date
that does not exist must not end the reading. Texts are read byte by byte and decoded here for the same reason.
"""

import datetime as dt
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.errors import TableError
from dpviz.installation import require_extra
from dpviz.io.csv import check_names
from dpviz.io.records import table_of_columns
from dpviz.io.tables.cells import ReadRequest, in_our_words
from dpviz.table.raw import NumberColumn, RawColumn, RawTable, canonical_number, clean
from dpviz.table.texts import LabelledColumn, text_column, text_of

_CELLS_AT_ONCE = 5_000_000
_BYTES = "ISO-8859-1"  # in which every byte is a letter
_DAY = 86_400
_SPSS_START, _STATA_START = dt.datetime(1582, 10, 14), dt.datetime(1960, 1, 1)
_SPSS_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "DATETIME", "YMDHMS", "QYR", "MOYR", "WKYR")


@dataclass(frozen=True)
class _File:
    """A file, how to read it, and what its texts are encoded in."""

    read: Any
    raw: bytes
    encoding: str
    is_stata: bool

    def part(self, **options: Any) -> tuple[Any, Any]:
        return self.read(io.BytesIO(self.raw), output_format="dict", disable_datetime_conversion=True, encoding=_BYTES, **options)

    def text(self, letters: str) -> str:
        """A text whose bytes were read as letters."""
        return letters.encode(_BYTES, "replace").decode(self.encoding, "replace")

    def moment(self, format: str, number: float) -> str | None:
        """The date or moment of a number; None where its column holds none."""
        seconds = _stata_seconds(format, number) if self.is_stata else _spss_seconds(format, number)
        if seconds is None:
            return None
        try:
            start = _STATA_START if self.is_stata else _SPSS_START
            return text_of(start + dt.timedelta(seconds=round(seconds)))
        except (ValueError, OverflowError):
            return "\ufffd"  # spoils its own cell


def read_stata(raw: bytes, asked: ReadRequest) -> RawTable:
    """The table of a Stata file; raises TableError."""
    require_extra("tables", "Reading a Stata file", "pyreadstat")
    import pyreadstat

    with in_our_words("Stata file"):
        is_utf8 = raw.startswith(b"<stata_dta>") and b"<release>117" not in raw[:60]
        return _table(_File(pyreadstat.read_dta, raw, "utf-8" if is_utf8 else "cp1252", True), asked)


def read_spss(raw: bytes, asked: ReadRequest) -> RawTable:
    """The table of an SPSS file; raises TableError."""
    require_extra("tables", "Reading an SPSS file", "pyreadstat")
    import pyreadstat

    with in_our_words("SPSS file"):
        _, about = pyreadstat.read_sav(io.BytesIO(raw), metadataonly=True)
        encoding = about.file_encoding or "utf-8"
        "".encode(encoding)  # an encoding that Python has
        return _table(_File(pyreadstat.read_sav, raw, encoding, False), asked)


def _table(file: _File, asked: ReadRequest) -> RawTable:
    _, about = file.part(metadataonly=True)
    names = list(about.column_names)
    check_names([file.text(name) for name in names], asked.max_columns)
    limit = _limit(about, asked)
    at_once = max(1, _CELLS_AT_ONCE // limit)
    columns = [
        column
        for start in range(0, len(names), at_once)
        for column in _columns(file, names[start : start + at_once], limit, asked, start / len(names))
    ]
    return table_of_columns(columns, asked.title, ())


def _limit(about: Any, asked: ReadRequest) -> int:
    """Rows to read at most: one more than there may be where the file does not say how many it has."""
    width = sum(about.variable_storage_width.values()) or 1
    n_rows = about.number_rows
    if n_rows is None or n_rows < 0:
        return min(asked.max_rows, asked.max_bytes // width) + 1
    asked.require_rows(n_rows)
    asked.require_bytes(n_rows * width)
    return n_rows + 1


def _columns(file: _File, names: Sequence[str], limit: int, asked: ReadRequest, share: float) -> Iterator[RawColumn]:
    asked.step(share)
    cells, about = file.part(usecols=list(names), row_limit=limit)
    n_rows = len(cells[names[0]])
    if n_rows >= limit:
        asked.require_rows(limit)
        raise TableError("too-many-bytes", "The unpacked table is too large.", remedy="Keep fewer rows, or raise max_bytes.")
    for name in names:
        labels = about.variable_value_labels.get(name, {})
        kind, format = about.readstat_variable_types[name], about.original_variable_types[name]
        yield _column(file, name, cells.pop(name), labels, kind, format)


def _column(file: _File, name: str, cells: Any, labels: Mapping[Any, str], kind: str, format: str) -> RawColumn:
    title = file.text(name)
    if kind == "string":
        place_of = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
        texts = [file.text(cell or "") for cell in place_of]
        plain = text_column(title, texts, np.fromiter(map(place_of.__getitem__, cells), np.int64, len(cells)))
        said = {clean(file.text(key)): clean(file.text(label)) for key, label in labels.items() if isinstance(key, str)}
        return _labelled(plain, said)
    numbers = _numbers(cells)
    of_numbers = ((float(key), label) for key, label in labels.items() if isinstance(key, (int, float)))
    said = {canonical_number(key): clean(file.text(label)) for key, label in of_numbers}
    if file.moment(format, 0.0) is None:
        return _labelled(NumberColumn(title, numbers), said)
    distinct, places = np.unique(numbers, return_inverse=True)
    texts = [said.get(canonical_number(number)) or _moment(file, format, number) for number in distinct.tolist()]
    return text_column(title, texts, places)


def _labelled(plain: RawColumn, label_of: Mapping[str, str]) -> RawColumn:
    if not label_of:
        return plain
    return LabelledColumn(plain.name, plain, tuple(label_of.get(text, "") for text in plain.texts))


def _numbers(cells: Any) -> np.ndarray:
    """float64; a letter, as Stata's tagged missing values come, is missing."""
    return np.array([cell if isinstance(cell, (int, float, np.number)) else np.nan for cell in cells], dtype=np.float64)


def _moment(file: _File, format: str, number: float) -> str:
    return file.moment(format, number) or "" if np.isfinite(number) else ""


def _spss_seconds(format: str, number: float) -> float | None:
    return number if format.rstrip("0123456789.") in _SPSS_DATES else None


def _stata_seconds(format: str, number: float) -> float | None:
    kind = format.lstrip("%-").lower()
    if kind.startswith(("td", "d")):
        return number * _DAY
    return number / 1000 if kind.startswith(("tc",)) else None
