"""Excel workbooks (.xlsx, .xlsm), read row by row, so that limits hold before memory is spent.

A record is a row of the sheet. A row without any value is none, as a blank line is; one with a value beyond the columns of the
header is left out and counted. What a formula last computed is its value; one that was never computed
is missing, and doubted. An error such as #N/A is missing, and noted. Of merged cells the first holds the value.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, count, islice
from typing import IO, Any

from dpviz.errors import TableError
from dpviz.io.csv import MAX_LINES_ABOVE, check_header, check_wanted_names, doubts_of_names, unique_names
from dpviz.io.limits import require_bytes
from dpviz.io.options import ReadOptions, redact_errors
from dpviz.io.tables.arrow import Facts
from dpviz.table.cells import clean, text_of

#: What a workbook is doubted for.
UNCOMPUTED = (
    "Some cells hold formulas that were never computed, and count as missing. "
    "Open the workbook in Excel or LibreOffice, save it, and give that file."
)
_CHUNK_ROWS = 1024
#: Rows of a sheet, by Excel's own limit; empty ones count towards it.
_MAX_ROWS = 1 << 20
#: XML around a cell, as a multiple of its text.
_XML_SHARE = 10
_ERRORS = frozenset({"#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!", "#GETTING_DATA", "#SPILL!", "#CALC!"})
_ERRORS |= {"#FIELD!", "#BLOCKED!", "#CONNECT!", "#BUSY!", "#UNKNOWN!", "#EXTERNAL!", "#PYTHON!"}

#: The start of the entry of one shared text, and the bytes that it takes beside its letters.
_SHARED, _SHARED_BYTES = re.compile(rb"<(?:\w+:)?si[\s/>]"), 64
#: The start of the entry of one merged area.
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s")
#: A cell with a formula and no value, which is not the value of an empty text; and the XML that such a cell may take.
_UNCOMPUTED = re.compile(
    rb"""<(?:\w+:)?c(?=[\s>])(?![^>]*\st=["']str["'])[^>]*>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"""
    rb"""(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>\s*)?</(?:\w+:)?c>"""
)
_MAX_FORMULA_LENGTH = 1 << 16
#: How a workbook writes a control sign in a text, such as the carriage return of a line that was broken by hand; and the "_" of a
#: text that would mean such a sign.
_ESCAPED = re.compile("_x00(5F|[01][0-9A-Fa-f])_")

Row = list[str]


def read_excel(raw: bytes, options: ReadOptions) -> Iterator[Any]:
    """Facts and texts of the table on one sheet, its names in the first row that is not empty unless they are given.

    Raises TableError: a damaged workbook, no sheet or several to choose from, no header, a limit.
    """
    import pyarrow as pa

    with redact_errors("workbook"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they may quote a cell
        _check_size(raw, options.max_bytes)
        sheet = _sheet(raw, options.sheet)
        errors = set[str]()
        rows = _rows(sheet, options, errors)
        names = list(options.names or ())
        if options.names is None:
            names, rows = _header(rows, options)
        names = check_wanted_names(names, options)
        schema = pa.schema([(name, pa.large_binary()) for name in names])
        batches, malformed = [], list[int]()
        places = count()
        while some := list(islice(rows, _CHUNK_ROWS)):
            full = []
            for row, place in zip(some, places, strict=False):
                if any(row[len(names) :]):  # a value beyond the columns
                    malformed.append(place)
                else:
                    full.append(row[: len(names)] + [""] * (len(names) - len(row)))
            cells = zip(*full, strict=True) if full else [()] * len(names)
            columns = [pa.array([text.encode("utf-8", "replace") for text in texts], pa.large_binary()) for texts in cells]
            batches.append(pa.record_batch(columns, schema=schema))
        doubts = [(str(doubt), doubt.help) for doubt in doubts_of_names(names)] if options.names is None else []
        doubts += [(UNCOMPUTED, "")] if _has_uncomputed(sheet) else []
        notes = [*_merged_notes(sheet), *(["Errors of formulas, such as #N/A, count as missing."] if errors else [])]
        yield Facts(tuple(names), tuple(notes), tuple(doubts), tuple(malformed))
        yield pa.Table.from_batches(batches, schema)


def _check_size(raw: bytes, max_bytes: int) -> None:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist() if info.filename.endswith((".xml", ".rels"))}
        in_memory = {path: size for path, size in sizes.items() if "/worksheets/" not in path}
        needed = max(sum(in_memory.values()), sum(sizes.values()) // _XML_SHARE)
        require_bytes("The unpacked workbook", needed, max_bytes)
        n_shared = sum(_count(_SHARED, archive.open(path)) for path in in_memory)
    require_bytes("The unpacked workbook", needed + _SHARED_BYTES * n_shared, max_bytes)


def _sheet(raw: bytes, wanted: str | int | None) -> Any:
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):  # type: ignore[misc]
        def read_chartsheet(self, *place: Any) -> None:
            """A sheet that holds no table; openpyxl fails at the end of one without a chart."""
            with suppress(AttributeError):
                super().read_chartsheet(*place)

    reader = Reader(io.BytesIO(raw), read_only=True, data_only=True, keep_links=False)
    reader.read()
    book = reader.wb
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if wanted is None and len(visible) == 1:
        return visible[0]
    sheets = {name: sheet for place, sheet in enumerate(book.worksheets, 1) for name in (place, str(place), sheet.title)}
    if wanted is not None and wanted in sheets:
        return sheets[wanted]
    if not book.worksheets:
        remedy = "Save it as an ordinary Excel workbook (.xlsx) or as CSV."
        raise TableError("damaged", "This workbook holds no sheet, or is of the kind “Strict Open XML”.", remedy=remedy)
    what = f"There are {len(visible)} sheets that can be seen." if wanted is None else "There is no such sheet."
    remedy = f"Give its name or its place, from 1 to {len(book.worksheets)} (sheet=..., --sheet on the command line)."
    raise TableError("several-sheets" if wanted is None else "no-sheet", what, remedy=remedy)


def _rows(sheet: Any, options: ReadOptions, errors: set[str]) -> Iterator[Row]:
    """Rows with a value, as texts; stops at the limits. Those of `_ERRORS` that are met are added to `errors`."""
    size = sheet.max_row or _MAX_ROWS
    sheet.reset_dimensions()  # what a file says about its size may be wrong
    n_rows = n_letters = 0
    for place, cells in enumerate(sheet.iter_rows(values_only=True)):
        texts = [*map(_text, cells)]
        if not _ERRORS.isdisjoint(texts):
            errors |= _ERRORS.intersection(texts)
            texts = ["" if text in _ERRORS else text for text in texts]
        letters = sum(map(len, texts))
        n_rows += letters > 0
        n_letters += letters
        options.require_rows(max(n_rows - (options.names is None), 0 if place < _MAX_ROWS else place))
        options.require_bytes(n_letters)
        if place % _CHUNK_ROWS == 0:
            options.step(min(1.0, place / size))
        if letters:
            yield texts


def _has_uncomputed(sheet: Any) -> bool:
    """Whether a formula has no value, as in workbooks that a program wrote."""
    rest = b""
    with sheet.parent._archive.open(sheet._worksheet_path) as stream:
        while read := stream.read(1 << 16):
            whole, mark, rest = (rest[-_MAX_FORMULA_LENGTH:] + read).rpartition(b"c>")
            if _UNCOMPUTED.search(whole + mark):
                return True
    return False


def _merged_notes(sheet: Any) -> list[str]:
    """What became of merged cells. The reader of rows does not know them; the sheet lists them behind its rows."""
    count = _count(_MERGED, sheet.parent._archive.open(sheet._worksheet_path))
    return [f"Merged cells ({count:,} areas): the first cell of each has the value, the others are missing."] if count else []


def _count(entry: re.Pattern[bytes], part: IO[bytes]) -> int:
    """How often an entry begins in a part of the workbook."""
    count, rest = 0, b""
    with part as stream:
        while read := stream.read(1 << 16):
            whole, mark, rest = (rest + read).rpartition(b"<")
            count += len(entry.findall(whole))
            rest = mark + rest
    return count + len(entry.findall(rest))


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)), text_of(cell)).replace("\0", "\x1a")


def _header(rows: Iterator[Row], options: ReadOptions) -> tuple[list[str], Iterator[Row]]:
    """(the names of the columns, the rows below them): in the first row, or in the first of some that holds all wanted ones."""
    some, wanted, place = list(islice(rows, 1 + MAX_LINES_ABOVE)), {*map(clean, options.wanted or ())}, 0
    if wanted:
        place = next((place for place, row in enumerate(some) if wanted <= {*map(clean, row)}), 0)
    names = [cell.strip() for cell in (some or [[]])[place]]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise TableError("empty", "The sheet is empty.", remedy="Choose a sheet with one row of column names and then the data.")
    check_header(names)
    return unique_names(names) if options.rename else names, chain(some[place + 1 :], rows)
