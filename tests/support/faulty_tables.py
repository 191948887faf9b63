"""Tables as people have them, with the faults people's files have, drawn by a seed: each with its codebook.

A workbook of 40 columns, a Parquet file of 100 and a CSV file in Latin-1 with decimal commas. The outcome follows the first
numbers, so that there is a tree to find.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dpviz.io.csv_text import csv_text
from dpviz.randomness import generator

Lines = list[tuple[Any, ...]]
MISSING_CODES = ("-9", "k.A.")
TOWNS = ("Köln", "Münster", "Aachen", "Essen", "Bonn")
_START = dt.date(2019, 1, 1)


@dataclass(frozen=True)
class Faulty:
    """A file, its codebook (CSV), the column to predict, and how many of its records hold a row."""

    file_name: str
    content: bytes
    codebook: bytes
    target: str
    n_rows: int


def workbook(*, seed: int = 0, n_rows: int = 1_500) -> Faulty:
    """40 columns of Excel: typed dates and some as text, numbers as text, #N/A, merged cells, blank rows, a value too many."""
    import openpyxl

    names, lines, rows = _table(40, n_rows, seed, written=lambda day: day)
    rng = generator(seed + 1)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([])
    sheet.append(names)
    for row in rows:
        cells = [_spoiled_cell(cell, rng) for cell in row]
        sheet.append(cells)
        if rng.random() < 0.01:
            sheet.append([])
    last = sheet.max_row
    sheet.append([*rows[0], "a note beside the table"])
    sheet.merge_cells(start_row=last - 1, end_row=last, start_column=5, end_column=5)
    file = io.BytesIO()
    book.save(file)
    return Faulty("patients.xlsx", file.getvalue(), _codebook(lines), "outcome", n_rows)


def parquet_file(*, seed: int = 0, n_rows: int = 20_000) -> Faulty:
    """100 typed columns: nulls, not-a-number, infinity, values out of range, labels of a dictionary, a column of lists."""
    names, lines, rows = _table(100, n_rows, seed, written=lambda day: day)
    columns = {name: _typed(list(cells)) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
    columns["visits"] = pa.array([[1, 2]] * n_rows)
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return Faulty("register.parquet", file.getvalue(), _codebook(lines), "outcome", n_rows)


def latin1_csv(*, seed: int = 0, n_rows: int = 3_000) -> Faulty:
    """16 columns with semicolons and decimal commas: open quotes, lines of other widths, blank lines, other bytes."""
    names, lines, rows = _table(16, n_rows, seed, written=lambda day: day.strftime("%d.%m.%Y"))
    rng = generator(seed + 1)
    text = [";".join(names)]
    for row in rows:
        text.append(";".join(_decimal_comma(cell) for cell in row))
        if rng.random() < 0.005:
            text.append(('"' + text[-1], text[-1] + ";;", "", text[-1][:9])[int(rng.integers(4))])
    content = "\r\n".join(text).encode("latin-1") + b"\r\n" + text[1].encode("utf-8") + b"\r\n"
    return Faulty("Größen.csv", content, _codebook(lines, order="dmy"), "outcome", n_rows)


# --- one table for all


def _table(
    width: int, n_rows: int, seed: int, *, written: Callable[[dt.date], Any]
) -> tuple[list[str], list[tuple], list[tuple]]:
    """(names, lines of the codebook, rows): an identifier, numbers, whole numbers, towns, dates, and the outcome."""
    rng = generator(seed)
    names, lines, columns = ["patient"], [("patient", "leave out", "", "", "", "", "")], [[f"P{k:06d}" for k in range(n_rows)]]
    signal = np.zeros(n_rows)
    for place in range(width - 2):
        kind = ("number", "whole", "town", "date")[place % 4] if place < 16 or place % 4 < 3 else "number"
        name = f"{kind}_{place}"
        names.append(name)
        if kind == "number":
            values = rng.normal(50, 15, n_rows)
            signal += (values > 50) * (place == 0)
            lines.append((name, "number", "0", "100", "", "; ".join(MISSING_CODES), ""))
            columns.append(_with_faults([round(value, 1) for value in values.tolist()], rng))
        elif kind == "whole":
            values = rng.integers(18, 95, n_rows)
            signal += (values > 60) * (place == 1)
            lines.append((name, "integer", "18", "95", "", "; ".join(MISSING_CODES), ""))
            columns.append(_with_faults(values.tolist(), rng))
        elif kind == "town":
            lines.append((name, "categories", "", "", "; ".join(TOWNS), "k.A.", ""))
            columns.append([TOWNS[at] if rng.random() > 0.03 else "k.A." for at in rng.integers(0, len(TOWNS), n_rows)])
        else:
            lines.append((name, "date", "2018", "2026", "", "", "year"))
            columns.append([written(_START + dt.timedelta(days=int(day))) for day in rng.integers(0, 2_000, n_rows)])
    names.append("outcome")
    lines.append(("outcome", "categories", "", "", "gesund; krank", "", ""))
    columns.append(np.where(rng.random(n_rows) < 0.1 + 0.4 * signal, "krank", "gesund").tolist())
    return names, lines, list(zip(*columns, strict=True))


def _with_faults(cells: list[Any], rng: np.random.Generator) -> list[Any]:
    """Some missing, some coded as missing, some out of range."""
    drawn = rng.random(len(cells))
    return [None if u < 0.02 else -9 if u < 0.04 else 1e6 if u < 0.041 else cell for cell, u in zip(cells, drawn, strict=True)]


def _codebook(lines: Sequence[tuple], order: str = "ymd") -> bytes:
    header = ("Name", "Type", "Low", "High", "Categories", "Missing", "if missing", "if unknown")
    types = [f"date {line[6]} {order}" if line[6] else line[1] for line in lines]
    rows = [(line[0], kind, *line[2:6], *_instead(line)) for line, kind in zip(lines, types, strict=True)]
    return csv_text(header, rows).encode()


def _instead(line: tuple) -> tuple[str, str]:
    """What a missing number and a missing or unknown text become, so that few rows are lost."""
    if line[0] == "outcome" or line[1] in ("leave out", "date"):
        return "", ""
    return (TOWNS[0], TOWNS[0]) if line[1] == "categories" else ("50", "")


def _spoiled_cell(cell: Any, rng: np.random.Generator) -> Any:
    drawn = rng.random()
    if isinstance(cell, float) and drawn < 0.02:
        return _decimal_comma(cell)
    if isinstance(cell, dt.date) and drawn < 0.02:
        return cell.isoformat()
    if isinstance(cell, str) and drawn < 0.02:
        return f" {cell} "
    return "#N/A" if drawn > 0.998 else cell


def _typed(cells: list[Any]) -> pa.Array:
    """A dictionary for texts; of floats some are not-a-number or infinite."""
    if isinstance(cells[0], str):
        return pa.array(cells).dictionary_encode()
    if any(isinstance(cell, float) and cell != 1e6 for cell in cells):
        cells = [float("nan") if place % 97 == 0 else float("inf") if place % 1_009 == 0 else c for place, c in enumerate(cells)]
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    return pa.array([int(cell) if isinstance(cell, float) else cell for cell in cells])


def _decimal_comma(cell: Any) -> str:
    return "" if cell is None else str(cell).replace(".", ",") if isinstance(cell, float) else str(cell)


FILES: dict[str, Callable[[], Faulty]] = {"excel": workbook, "parquet": parquet_file, "csv": latin1_csv}
