"""Lines of a CSV file: their cells, each line by itself, and the header. No message quotes the header: it may be a row."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from dpviz.errors import TableError
from dpviz.table.raw import parse_numbers
from dpviz.table.schema import LONGEST_NAME

#: What may separate cells, with its name.
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True)
class Header:
    """Column names, the delimiter that divides every line, and notes for the owner."""

    names: list[str]
    delimiter: str
    notes: tuple[str, ...] = ()

    @classmethod
    def given(cls, names: Sequence[str], delimiter: str | None, max_columns: int) -> Header:
        """Names from the caller; commas unless the caller says otherwise."""
        _check_names(list(names), max_columns)
        return cls(list(names), _checked_delimiter(delimiter) or ",")

    @classmethod
    def of(cls, lines: Iterator[str], delimiter: str | None, max_columns: int, *, rename: bool = False) -> Header:
        """Names and delimiter from the first line alone; `rename` gives repeated names a number."""
        line = next(lines, "")
        if not line.strip():
            remedy = "Choose a CSV file with one line of column names and then the data."
            raise TableError("empty", "The file is empty.", remedy=remedy)
        chosen = _checked_delimiter(delimiter) or max(DELIMITERS, key=lambda mark: len(cells_of([line], mark)[0] or ()))
        if line.count(chosen) >= max_columns and '"' not in line:
            raise _too_many_columns(line.count(chosen) + 1, max_columns)
        header = cells_of([line], chosen)[0]
        if header is None:
            what = "The first line has a quote that is never closed, or is too long."
            raise TableError("no-header", what, row=1, remedy="Put the column names into the first line.")
        names = [cell.strip() for cell in header]
        check_header(names)
        notes = tuple(_header_notes(names, header, chosen))
        names = told_apart(names) if rename else names
        _check_names(names, max_columns)
        return cls(names, chosen, notes)

    @property
    def width(self) -> int:
        """Cells of a record."""
        return len(self.names)


def _checked_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None or delimiter in DELIMITERS:
        return delimiter
    remedy = "Give ',', ';', '|' or a tab, or leave it out."
    raise TableError("delimiter", f"Cells cannot be separated by {delimiter[:10]!r}.", remedy=remedy)


def _header_notes(names: list[str], header: list[str], delimiter: str) -> Iterator[str]:
    if names != header:
        yield "Blanks around column names were removed."
    numbers = np.flatnonzero(~np.isnan(parse_numbers(names))) + 1
    if len(numbers):
        yield f"Column names are numbers, first in column {numbers[0]}: make sure the first line is a header and not data."
    if delimiter != ",":
        yield f"Cells are separated by {DELIMITERS[delimiter]}."


def check_header(names: list[str]) -> None:
    """The first line of a file holds names rather than a row, as far as one can tell."""
    if not any(names):
        remedy = "Put the column names into the first line."
        raise TableError("no-header", "The first line has no column name.", row=1, remedy=remedy)
    if not np.isnan(parse_numbers(names)).any():
        remedy = "Put a line of column names above the data, or give the names."
        raise TableError("header-numbers", "The first line holds only numbers: it seems to be data.", row=1, remedy=remedy)


def _check_names(names: list[str], max_columns: int) -> None:
    if len(names) == 1:
        what = "There is only one column. Cells may be separated by commas, semicolons, tabs or vertical bars."
        remedy = "Save the file with one of these delimiters and at least two columns."
        raise TableError("one-column", what, row=1, remedy=remedy)
    check_names(names, max_columns)


def check_names(names: list[str], max_columns: int) -> None:
    """Column names of any file: at least two, not too many, each there and each once."""
    if len(names) > max_columns:
        raise _too_many_columns(len(names), max_columns)
    if len(names) < 2:
        raise TableError("one-column", "There are fewer than two columns.", remedy="Choose a table with at least two columns.")
    _check_each_name(names)


def _too_many_columns(found: int, most: int) -> TableError:
    what = f"There are {found:,} columns; at most {most:,} can be read."
    return TableError("too-many-columns", what, row=1, remedy="Keep fewer columns, or raise max_columns.")


def _check_each_name(names: list[str]) -> None:
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            remedy = "Name it, or delete the column (a table saved with its row numbers has such a column)."
            raise TableError("blank-name", f"Column {place} has no name.", row=1, remedy=remedy)
        if len(name) > LONGEST_NAME:
            what = f"The name of column {place} has over {LONGEST_NAME:,} letters."
            raise TableError(
                "long-name", what, row=1, remedy="Make sure the first line holds column names, and shorten this one."
            )
        if name in seen:
            what = f"Columns {seen[name]} and {place} have the same name."
            remedy = "Give every column its own name, or have the later ones renamed (rename_duplicates=True)."
            raise TableError("duplicate-name", what, row=1, remedy=remedy)
        seen[name] = place


def told_apart(names: list[str]) -> list[str]:
    """The names, each once: the second "age" becomes "age (2)". Depends on the names alone; blank ones stay as they are."""
    taken, numbers, found = set(names), defaultdict[str, Iterator[int]](lambda: count(2)), set[str]()
    told: list[str] = []
    for name in names:
        if name and name in found:
            name = next(new for number in numbers[name] if (new := f"{name} ({number})") not in taken)
        found.add(name)
        told.append(name)
    return told


def columns_of(lines: list[str], delimiter: str, width: int) -> list[list[str]] | None:
    """The cells of all lines, column by column, where nothing but delimiters shapes them: no quote, and `width` cells a line.

    Gives what `cells_of` gives, apart from blanks around cells, in a fraction of the time; None where it might not.
    """
    text = "".join(lines)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    is_plain = '"' not in text and "\r" not in text and max(map(len, lines)) <= csv.field_size_limit()
    if not is_plain or any(line.count(delimiter) != width - 1 for line in lines):
        return None
    cells = text.replace("\n", delimiter).split(delimiter)
    return [cells[place:-1:width] for place in range(width)]


def cells_of(lines: list[str], delimiter: str) -> list[list[str] | None]:
    """Cells of every line by itself; None where a quote stays open or a cell is too long.

    The lines go through one reader where none of them runs into the next, which is the case when there are as many records
    as lines; else each has a reader of its own. Both give the same.
    """
    try:
        records: list[list[str] | None] = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        records = []
    if len(records) != len(lines):
        if len(lines) == 1:
            return [None]
        return [cells_of([line], delimiter)[0] for line in lines]
    if records and records[-1] and records[-1][-1].endswith("\n"):  # only an open quote takes in the end of a line
        records[-1] = None
    return records
