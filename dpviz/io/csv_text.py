"""Tables as CSV text that a spreadsheet shows and does not run.

A spreadsheet takes a cell that starts with =, +, -, @, a tab or a line break for a formula, whatever it does not show in front of
that. Names in our tables come from untrusted files, so such a text gets an apostrophe before it; numbers stay numbers.
Source: OWASP, "CSV Injection".
"""

import csv
from collections.abc import Iterable, Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Any
from unicodedata import category

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(cell: Any) -> Any:
    """The cell, with an apostrophe before a text that a spreadsheet might run."""
    return f"'{cell}" if isinstance(cell, str) and _visible(cell).startswith(_STARTS) else cell


def remove_guard(text: str) -> str:
    """What `harmless` had been given."""
    return text[1:] if text.startswith("'") and _visible(text.lstrip("'")).startswith(_STARTS) else text


def _visible(text: str) -> str:
    """`text` from its first letter that is a tab, a line break or not blank: control signs and spaces of all kinds are blank."""
    for place, letter in enumerate(text):
        if letter in _STARTS or category(letter)[0] not in "CZ":
            return text[place:]
    return ""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A header and rows as CSV with a line feed after each, every cell `harmless`; None is an empty cell."""
    lines, end = list[str](), "\r\n"  # Python 3.11 quotes CR and LF only where they are its line end
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator=end)
    writer.writerows(map(harmless, row) for row in chain([header], rows))
    return "".join(f"{line.removesuffix(end)}\n" for line in lines)


def frame_csv(frame: Any) -> str:
    """A pandas DataFrame as CSV, without its index; missing values are empty cells."""
    cells = frame.astype(object).where(frame.notna(), None)
    return csv_text(list(frame.columns), cells.itertuples(index=False, name=None))
