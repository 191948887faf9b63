"""One table of typed values, written to every kind of file that is read."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
from pyarrow import feather, parquet

from dpviz.randomness import generator
from dpviz.table.cells import text_of

#: (name, what its cells may be); None is missing.
COLUMNS: dict[str, tuple[Any, ...]] = {
    "age": (None, 0, 17, 45, 99, 120, -3),
    "share": (None, 0.1, 0.25, 2.5, 1e-9, 80.2, -1.0, 1e300, 3.0),
    "town": (None, "São", "Rio", "a,b", 'quo"te', "NA", "?", " Rio ", "x;y", "7", "7.0", "line\tend", "=1+1", "日本"),
    "day": (None, dt.date(1999, 12, 31), dt.date(2020, 2, 29), dt.date(1970, 1, 1), dt.date(2262, 1, 1)),
    "ok": (None, "no", "yes", "maybe"),
}
ARROW = pa.schema(
    [
        ("age", pa.int64()),
        ("share", pa.float64()),
        ("town", pa.string()),
        ("day", pa.date32()),
        ("ok", pa.dictionary(pa.int32(), "str")),
    ]
)
Rows = list[tuple[Any, ...]]
#: Pieces that lines are made of: what separates, joins, ends, spoils or looks like a value.
PIECES = [
    *(b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\r", b"\0", b"\x1a", b"\xe9", b"\xc3", b"\xe2\x82", b"\xff\xfe"),
    *(b"\xef\xbb\xbf", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"\x1c", b"\\", b" ", b"  ", b"7", b"45", b"1e308"),
    *(b"-", b"nan", b"NA", b"?"),
    *("São".encode(), b"S\xe3o", b"Rio", b"a,b", b"yes", b"no", b"1,5", b"1_0"),
    *(b'\\"', b'"1,311"', b"1.311", b"1'311", b'"a \\"b\\" c"', b"95%"),
]


def drawn_row(rng) -> tuple[Any, ...]:
    return tuple(values[rng.integers(len(values))] for values in COLUMNS.values())


def drawn_rows(seed: int, count: int) -> Rows:
    rng = generator(seed)
    return [drawn_row(rng) for _ in range(count)]


def csv_bytes(rows: Rows) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([list(COLUMNS), *([text_of(cell) for cell in row] for row in rows)])
    return text.getvalue().encode()


def arrow_table(rows: Rows) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, ARROW, strict=True)], schema=ARROW)


def parquet_bytes(rows: Rows, **options: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(arrow_table(rows), file, **options)
    return file.getvalue()


def feather_bytes(rows: Rows) -> bytes:
    file = io.BytesIO()
    feather.write_feather(arrow_table(rows), file, chunksize=3)
    return file.getvalue()


def _as_text(sheet: Any, text: str) -> Any:
    """A cell that holds this text, also where it begins as a formula does."""
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, text)
    cell.data_type = "s"
    return cell


def excel_bytes(rows: Rows, **sheets: Rows) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    for title, content in {"Sheet1": rows, **sheets}.items():
        sheet = book.create_sheet(title)
        for row in [tuple(COLUMNS), *content]:
            sheet.append([_as_text(sheet, cell) if isinstance(cell, str) else cell for cell in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _frame(rows: Rows) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"age": "float64", "share": "float64"})
    codes = {label: code for code, label in enumerate(COLUMNS["ok"]) if label}
    frame["ok"] = frame["ok"].map(codes).astype("float64")
    frame["town"] = frame["town"].fillna("").astype(object)
    frame["day"] = frame["day"].astype(object)
    return frame


LABELS = {"ok": {float(code): label for code, label in enumerate(COLUMNS["ok"]) if label}}


def stata_bytes(rows: Rows, folder: Path) -> bytes:
    frame = _frame(rows)
    pyreadstat.write_dta(frame, folder / "t.dta", variable_value_labels=LABELS, variable_format={"day": "%td"})
    return (folder / "t.dta").read_bytes()


def spss_bytes(rows: Rows, folder: Path, *, compress: bool = False) -> bytes:
    formats = {"day": "DATE11"}
    pyreadstat.write_sav(_frame(rows), folder / "t.sav", compress=compress, variable_value_labels=LABELS, variable_format=formats)
    return (folder / "t.sav").read_bytes()


def zip_bytes(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def zstd_bytes(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)


#: kind of file -> how a table becomes one; the folder is for writers that need a path.
WRITERS: dict[str, Callable[[Rows, Path], bytes]] = {
    "csv": lambda rows, _: csv_bytes(rows),
    "csv.gz": lambda rows, _: gzip.compress(csv_bytes(rows)),
    "csv.zip": lambda rows, _: zip_bytes({"table.csv": csv_bytes(rows)}),
    "csv.zst": lambda rows, _: zstd_bytes(csv_bytes(rows)),
    "parquet": lambda rows, _: parquet_bytes(rows),
    "feather": lambda rows, _: feather_bytes(rows),
    "xlsx": lambda rows, _: excel_bytes(rows),
    "dta": stata_bytes,
    "sav": spss_bytes,
}
