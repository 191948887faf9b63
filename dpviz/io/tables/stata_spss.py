"""Stata (.dta) and SPSS (.sav, .zsav) files.

Labels of values are kept in the file once for all rows, so a cell with a label is its value and its label. What the file declares
as missing is missing. Dates are numbers with a format of the whole column; the number is turned into a date here, for a date
that does not exist must not end the reading. Texts are read byte by byte and decoded here for the same reason.
"""

import datetime as dt
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.errors import TableError
from dpviz.io.csv import check_names
from dpviz.io.options import ReadOptions, redact_errors
from dpviz.io.tables.arrow import Facts, with_labels
from dpviz.table.cells import canonical_number, clean, text_of

_CHUNK_CELLS = 5_000_000
_BYTES = "ISO-8859-1"  # in which every byte is a letter
_DAY = 86_400
_SPSS_START, _STATA_START = dt.datetime(1582, 10, 14), dt.datetime(1960, 1, 1)
#: Formats of Stata whose numbers count parts of years from 1960 on, and the parts a year has.
_STATA_PARTS = {"tw": 52, "tm": 12, "tq": 4, "th": 2}
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
        kind = format.lstrip("%-").lower()
        if self.is_stata:
            is_moment = kind.startswith(("td", "d", "tc", *_STATA_PARTS))
        else:
            is_moment = format.rstrip("0123456789.") in _SPSS_DATES
        if not is_moment:
            return None
        try:
            if not self.is_stata:
                return text_of(_SPSS_START + dt.timedelta(seconds=round(number)))
            if kind[:2] in _STATA_PARTS:
                return text_of(_first_day(kind[:2], number))
            return text_of(_STATA_START + dt.timedelta(seconds=round(number / 1000 if kind.startswith("tc") else number * _DAY)))
        except (ValueError, OverflowError):
            return "\ufffd"  # spoils its own cell


def _first_day(kind: str, number: float) -> dt.date:
    """The day a week, month, quarter or half of a year begins; ValueError where there is none."""
    per_year = _STATA_PARTS[kind]
    years, part = divmod(number, per_year)
    if not part.is_integer():
        raise ValueError("a part of a month")
    year = _STATA_START.year + int(years)
    if kind == "tw":  # Stata's weeks: the first begins on 1 January, the 52nd ends with the year
        return dt.date(year, 1, 1) + dt.timedelta(weeks=int(part))
    return dt.date(year, 1 + int(part) * 12 // per_year, 1)


def read_stata(raw: bytes, options: ReadOptions) -> Iterator[Any]:
    """Facts and columns of a Stata file; raises TableError."""
    import pyreadstat

    with redact_errors("Stata file"):
        is_utf8 = raw.startswith(b"<stata_dta>") and b"<release>117" not in raw[:60]
        yield from _columns(_File(pyreadstat.read_dta, raw, "utf-8" if is_utf8 else "cp1252", True), options)


def read_spss(raw: bytes, options: ReadOptions) -> Iterator[Any]:
    """Facts and columns of an SPSS file; raises TableError."""
    import pyreadstat

    with redact_errors("SPSS file"):
        _, about = pyreadstat.read_sav(io.BytesIO(raw), metadataonly=True)
        encoding = about.file_encoding or "utf-8"
        "".encode(encoding)  # an encoding that Python has
        yield from _columns(_File(pyreadstat.read_sav, raw, encoding, False), options)


def _columns(file: _File, options: ReadOptions) -> Iterator[Any]:
    _, about = file.part(metadataonly=True)
    names = list(about.column_names)
    titles = [file.text(name) for name in names]
    check_names(titles, options.max_columns, is_typed=True)
    yield Facts(tuple(titles))
    limit = _limit(about, options)
    at_once = max(1, _CHUNK_CELLS // limit)
    for start in range(0, len(names), at_once):
        options.step(start / len(names))
        some = names[start : start + at_once]
        cells, about = file.part(usecols=some, row_limit=limit)
        if len(cells[some[0]]) >= limit:
            options.require_rows(limit)
            raise TableError(
                "too-many-bytes", "The unpacked table is too large.", remedy="Keep fewer rows; in Python, raise max_bytes."
            )
        for name in some:
            labels = about.variable_value_labels.get(name, {})
            kind, format = about.readstat_variable_types[name], about.original_variable_types[name]
            yield _column(file, name, cells.pop(name), labels, kind, format)


def _limit(about: Any, options: ReadOptions) -> int:
    """Rows to read at most: one more than there may be where the file does not say how many it has."""
    width = sum(about.variable_storage_width.values()) or 1
    n_rows = about.number_rows
    if n_rows is None or n_rows < 0:
        return min(options.max_rows, options.max_bytes // width) + 1
    options.require_rows(n_rows)
    options.require_bytes(n_rows * width)
    return n_rows + 1


def _column(file: _File, name: str, cells: Any, labels: Mapping[Any, str], kind: str, format: str) -> Any:
    """A table of one column: of texts, of numbers, or of dates as texts, with the labels of its values."""
    import pyarrow as pa

    title = file.text(name)
    if kind == "string":
        texts = {cell: file.text(cell or "") for cell in dict.fromkeys(cells)}
        label_of = {clean(file.text(key)): clean(file.text(label)) for key, label in labels.items() if isinstance(key, str)}
        return with_labels(pa.table({title: pa.array(map(texts.__getitem__, cells), pa.large_string())}), label_of)
    numbers = _numbers(cells)
    of_numbers = ((float(key), label) for key, label in labels.items() if isinstance(key, (int, float)))
    label_of = {canonical_number(key): clean(file.text(label)) for key, label in of_numbers}
    if file.moment(format, 0.0) is None:
        return with_labels(pa.table({title: numbers}), label_of)
    distinct, places = np.unique(numbers, return_inverse=True)
    known = ((number, file.moment(format, number) if np.isfinite(number) else None) for number in distinct.tolist())
    dates = [label_of.get(canonical_number(number)) or moment or None for number, moment in known]
    return pa.table({title: pa.array(dates, pa.large_string()).take(pa.array(places))})


def _numbers(cells: Any) -> np.ndarray:
    """float64; a letter, as Stata's tagged missing values come, is missing."""
    return np.array([cell if isinstance(cell, (int, float, np.number)) else np.nan for cell in cells], dtype=np.float64)
