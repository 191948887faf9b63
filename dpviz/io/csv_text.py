"""Tables as CSV text that a spreadsheet shows and does not run.

A spreadsheet takes a cell that starts with =, +, -, @, a tab or a line break for a formula. Names in our tables come from
untrusted files, so such a text gets an apostrophe before it; numbers stay numbers.
Source: OWASP, "CSV Injection".
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(cell: Any) -> Any:
    """The cell, with an apostrophe before a text that a spreadsheet might run."""
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip(" ").startswith(_STARTS) else cell


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A header (none where it has no names) and rows as CSV with a line feed after each; None is an empty cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(map(harmless, header))
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def frame_csv(frame: Any) -> str:
    """A pandas DataFrame as CSV, without its index; missing values are empty cells."""
    safe = frame.rename(columns=harmless)
    for place, kind in enumerate(safe.dtypes):
        if kind.kind not in "biufM":
            safe.isetitem(place, safe.iloc[:, place].astype(object).map(harmless))
    return safe.to_csv(index=False, lineterminator="\n")
