"""Files with the faults of people's files, drawn by a seed, and their codebook become the rows they were made of."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpviz.io.codebook import import_codebook
from dpviz.io.csv_text import csv_text
from dpviz.io.tables.read import read_table
from dpviz.learners.request import doubts
from dpviz.randomness import generator
from dpviz.table.encode import encode

N_ROWS = 300
TOWNS = ("Köln", "Münster", "Aachen", "Essen", "Bonn")
KINDS = {
    "number": ("number", "0", "100", "", "-9; k.A.", "50", ""),
    "whole": ("integer", "18", "95", "", "-9; k.A.", "50", ""),
    "town": ("categories", "", "", "; ".join(TOWNS), "k.A.", TOWNS[0], TOWNS[0]),
    "date": ("date year {order}", "2018", "2026", "", "", "", ""),
}


def columns(width: int) -> Iterator[tuple[str, list[Any]]]:
    """An identifier, columns of every kind of which some cells are missing, coded or out of range, and the outcome."""
    rng = generator(0)
    yield "patient", [f"P{k:06d}" for k in range(N_ROWS)]
    signal = np.zeros(N_ROWS)
    for place in range(width - 2):
        kind, drawn = list(KINDS)[place % 4], rng.random(N_ROWS)
        if kind == "town":
            cells: list[Any] = ["k.A." if u < 0.03 else TOWNS[int(u * 1_000) % 5] for u in drawn]
        elif kind == "date":
            cells = [dt.date(2019, 1, 1) + dt.timedelta(days=int(2_000 * u)) for u in drawn]
        else:
            values = rng.normal(50, 15, N_ROWS).round(1) if kind == "number" else rng.integers(18, 95, N_ROWS)
            signal += (values > 55) * (place < 2)
            faults = ((0.02, None), (0.04, -9), (0.045, 1e6))
            cells = [next((fault for most, fault in faults if u < most), v) for u, v in zip(drawn, values.tolist(), strict=True)]
        yield f"{kind}_{place}", cells
    yield "outcome", np.where(rng.random(N_ROWS) < 0.1 + 0.4 * signal, "krank", "gesund").tolist()


def codebook(names: list[str], order: str) -> bytes:
    header = ("Name", "Type", "Low", "High", "Categories", "Missing", "if missing", "if unknown")
    ends = {"patient": ("leave out",), "outcome": ("categories", "", "", "gesund; krank")}
    lines = [(name, *(ends.get(name) or KINDS[name.split("_")[0]])) for name in names]
    return csv_text(header, [(*(cell.format(order=order) for cell in line), *[""] * (8 - len(line))) for line in lines]).encode()


def in_excel(names: list[str], rows: list[tuple]) -> bytes:
    """Some numbers and dates as texts, blanks around texts, #N/A, blank rows, merged cells, a value too many."""
    rng, book, file = generator(1), openpyxl.Workbook(), io.BytesIO()

    def spoiled(cell: Any) -> Any:
        if rng.random() > 0.02:
            return "#N/A" if rng.random() > 0.998 else cell
        return with_comma(cell) if isinstance(cell, float) else f" {cell} " if isinstance(cell, str) else cell and str(cell)

    sheet = book.active
    sheet.append([])
    sheet.append(names)
    for row in rows:
        sheet.append(list(map(spoiled, row)))
        if rng.random() < 0.01:
            sheet.append([])
    sheet.append([*rows[0], "a note beside the table"])
    sheet.merge_cells(start_row=sheet.max_row - 1, end_row=sheet.max_row, start_column=5, end_column=5)
    book.save(file)
    return file.getvalue()


def in_parquet(names: list[str], rows: list[tuple]) -> bytes:
    """Nulls, not-a-number, infinity, labels of a dictionary, a column of lists."""
    file, made = io.BytesIO(), {"visits": pa.array([[1, 2]] * N_ROWS)}
    for name, cells in zip(names, map(list, zip(*rows, strict=True)), strict=True):
        if name.startswith("number"):
            cells[::97], cells[1::199] = [float("nan")] * len(cells[::97]), [float("inf")] * len(cells[1::199])
        kind = {"number": pa.float64(), "whole": pa.int64()}.get(name.split("_")[0])
        made[name] = pa.array(cells, kind).dictionary_encode() if isinstance(cells[0], str) else pa.array(cells, kind)
    parquet.write_table(pa.table(made), file)
    return file.getvalue()


def in_latin1(names: list[str], rows: list[tuple]) -> bytes:
    """Decimal commas, open quotes, lines of other widths, blank lines, and one line in UTF-8."""
    rng, lines = generator(1), [";".join(names)]
    for row in rows:
        line = ";".join(cell.strftime("%d.%m.%Y") if isinstance(cell, dt.date) else with_comma(cell) for cell in row)
        lines.append(line)
        if rng.random() < 0.02:
            lines.append(('"' + line, line + ";;", "", line[:9])[int(rng.integers(4))])
    return "\r\n".join(lines).encode("latin-1") + b"\r\n" + lines[1].encode("utf-8") + b"\r\n"


def with_comma(cell: Any) -> str:
    return "" if cell is None else str(cell).replace(".", ",") if isinstance(cell, float) else str(cell)


@pytest.mark.slow
@pytest.mark.parametrize(("write", "width", "order"), [(in_excel, 40, "ymd"), (in_parquet, 100, "ymd"), (in_latin1, 16, "dmy")])
def test_a_faulty_file_and_its_codebook_become_nearly_all_of_its_rows(write, width, order):
    names, cells = zip(*columns(width), strict=True)
    content = write(list(names), list(zip(*cells, strict=True)))
    data = encode(read_table(content), import_codebook(codebook(list(names), order), target="outcome", n_public=N_ROWS))
    assert data.n_features == width - 2
    assert 0.95 * N_ROWS <= data.n_rows <= 1.02 * N_ROWS
    clipped, mapped = dict(data.report.clipped), dict(data.report.missing_mapped)
    for name, given in zip(names, cells, strict=True):
        if name.startswith("whole"):  # codes of missing cells are neither clipped nor kept; a line may stand twice
            assert abs(clipped.get(name, 0) - given.count(1e6)) <= 2
            assert abs(mapped[name] - given.count(None) - given.count(-9)) <= 4
    assert all("Far" not in sentence for sentence in doubts(data))
    assert data.class_counts().min() > 60
