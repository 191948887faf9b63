"""What reading gave: rows, or the problem an owner would see."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dpviz.errors import ReadingWarning, TableError
from dpviz.io.tables.read import read_table
from dpviz.table.raw import RawTable


def cells(table: RawTable) -> list[list[str | None]]:
    """Rows as they can be read back; None for missing."""
    columns = [[column.distinct_texts[code] if code >= 0 else None for code in column.codes] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def doubts_of(ask: Callable[[], Any]) -> list[str]:
    """What is doubted, in Python's words, while something is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return [str(one.message) for one in caught if isinstance(one.message, ReadingWarning)]


def table_of_cells(name: str | None = None, /, **columns: Sequence[str]) -> RawTable:
    """A table read from text with these columns of cells, each in quotes."""
    quoted = ([f'"{cell}"' for cell in row] for row in zip(*columns.values(), strict=True))
    return read_table("\n".join([",".join(columns), *map(",".join, quoted)]).encode(), name=name)


def problem_of(read: Callable[..., RawTable], source: Any, **asked: Any) -> TableError:
    """The error of a source that cannot be read, which says what and how to mend it."""
    with pytest.raises(TableError) as caught:
        read(source, **asked)
    assert caught.value.what
    assert caught.value.remedy
    return caught.value
