"""What reading gave: rows, or the problem an owner would see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpviz.errors import TableError
from dpviz.table.raw import RawTable


def cells(table: RawTable) -> list[list[str | None]]:
    """Rows as they can be read back; None for missing."""
    columns = [[column.distinct_texts[code] if code >= 0 else None for code in column.codes] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def problem_of(read: Callable[..., RawTable], source: Any, **asked: Any) -> TableError:
    """The error of a source that cannot be read, which says what and how to mend it."""
    with pytest.raises(TableError) as caught:
        read(source, **asked)
    assert caught.value.what
    assert caught.value.remedy
    return caught.value
