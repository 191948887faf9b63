"""Tables of pages, filled from CSV files: a line that is only a link to a CSV becomes the table.

Without a title the table is the file. The title "epsilon = 1; data by learner" takes the rows where epsilon is 1, a line per
table of rows and a column per learner; a cell is the mean with its error, then what was printed, with a mark where that differs.
"""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LINE = re.compile(r'^\[[^\]]*\]\(([^)\s]+\.csv)(?: "(.*)")?\)$', re.MULTILINE)


def fill_tables(text: str, file: str) -> str:
    """The Markdown of `file` (from the root of the repository) with its tables. Raises SystemExit where one has no rows."""

    def table(link: re.Match[str]) -> str:
        path = os.path.normpath(os.path.join(os.path.dirname(file), link[1]))
        rows = read(ROOT / path)
        lines = pivot(rows, link[2]) if link[2] else [list(rows[0]), *(list(row.values()) for row in rows)]
        return f"{markdown(lines)}\n\n(`{path}`)"

    return _LINE.sub(table, text)


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; lines that start with # are remarks."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    if not rows:
        raise SystemExit(f"{path}: no rows")
    return rows


def pivot(rows: list[dict[str, str]], title: str) -> list[list[str]]:
    """Head and lines of the table that a title asks for."""
    where, _, axes = title.rpartition(";")
    for condition in filter(None, map(str.strip, where.split(";"))):
        name, _, value = (part.strip() for part in condition.partition("="))
        rows = [row for row in rows if row[name] == value]
    names, _, across = (part.strip() for part in axes.partition(" by "))
    along = [name.strip() for name in names.split(",")]
    columns = list(dict.fromkeys(row[across] for row in rows))
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        lines.setdefault(tuple(row[name] for name in along), {})[row[across]] = _cell(row)
    if not lines:
        raise SystemExit(f"no rows for {title!r}")
    return [[*along, *columns], *([*key, *(line.get(column, "-") for column in columns)] for key, line in lines.items())]


def markdown(lines: list[list[str]]) -> str:
    """Head and lines as a Markdown table; the first column left, the others right."""
    head, *rest = lines
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (head, rule, *rest))


def _cell(row: dict[str, str]) -> str:
    here, printed = _numbers(row["mean"], row["error"]), _numbers(row.get("printed", ""), row.get("printed_error", ""))
    return here + (f" ({printed})" if printed else "") + (" †" if row.get("found") == "differs" else "")


def _numbers(mean: str, error: str) -> str:
    return " ± ".join(f"{float(text):.3f}" for text in (mean, error) if text and text != "nan")
