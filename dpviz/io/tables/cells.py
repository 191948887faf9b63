"""One fixed rule from a typed value to the text of a cell, and what the readers of typed files share.

A text depends on its value and on the type that the file declares for the whole column, never on other rows:

- a number is the shortest text that reads back as the same number, a whole one without a point: 80.2, 17;
- a date is 2024-03-01, a moment 2024-03-01T14:30:00, and a moment at midnight is its date; a duration is its seconds;
- true and false are these words; what is empty, null or not a number is missing.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, TableError
from dpviz.io.limits import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, require_bytes, require_rows
from dpviz.progress import Progress, watched
from dpviz.table.raw import number_text


@dataclass(frozen=True)
class Asked:
    """What to read of a file, and how much of it at most.

    `names`, `rename`, `delimiter` and `encoding` are for files of text, `sheet`, `rename` and `names` for workbooks. `step` is
    told the share that is read, by bytes, lines or columns, and raises Cancelled once nobody wants the rest. `wanted` are the
    columns that are needed of a table in pieces (None: all).
    """

    title: str
    max_bytes: int = MAX_BYTES
    max_rows: int = MAX_ROWS
    max_columns: int = MAX_COLUMNS
    names: tuple[str, ...] | None = None
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | int | None = None
    rename: bool = False
    step: Progress = watched(None, None)
    wanted: tuple[str, ...] | None = None

    def require_rows(self, n_rows: int) -> None:
        """Raise TableError where there are more rows than may be read."""
        require_rows(n_rows, self.max_rows)

    def require_bytes(self, n_bytes: int) -> None:
        """Raise TableError where the table takes more bytes than may be read."""
        require_bytes("The unpacked table", n_bytes, self.max_bytes)


def text_of(value: Any) -> str:
    """The text of a value; empty where it is missing."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return number_text(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case Decimal():
            return format(value.normalize(), "f") if value.is_finite() else ""
        case dt.datetime():
            midnight = value.timetz() == dt.time(0)
            return (value.date() if midnight else value).isoformat()
        case dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            return number_text(value.total_seconds())
        case _:
            return str(value)


def as_written(narrow: np.ndarray) -> np.ndarray:
    """float32 as float64, of which the shortest text counts: .1 stays .1."""
    distinct, places = np.unique(narrow, return_inverse=True)
    return np.array([float(str(number)) for number in distinct], dtype=np.float64)[places]


@contextmanager
def in_our_words(kind: str) -> Iterator[None]:
    """Whatever a library raises about the file becomes one error that quotes nothing: what it says may hold a cell."""
    try:
        yield
    except DpvizError:
        raise
    except Exception:  # libraries promise no type for what spoiled files do to them
        what = f"This {kind} is damaged, cut short, or of a kind that cannot be read."
        remedy = "Save it again in its own program, or save the table as CSV."
        raise TableError("damaged", what, remedy=remedy) from None
