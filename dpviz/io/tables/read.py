"""`read_table`: a table from any file that people have."""

import io
import re
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from dpviz.errors import TableError
from dpviz.installation import require_extra
from dpviz.io.csv import read_lines
from dpviz.io.limits import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, require_bytes
from dpviz.io.options import ReadOptions, redact_errors
from dpviz.io.text import GZIP, Source, gunzip, name_of, read_bytes, refuse_other_endings
from dpviz.io.worker import EXCEL, FORMATS, ZIP, Format, read_in_worker
from dpviz.progress import Progress, Stop, watch
from dpviz.table.notes import warn_of_doubts
from dpviz.table.raw import RawTable, read_form

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
#: Endings of files of text, whose first line says what the columns are called; .txt and no ending count as these.
TEXTS = (".csv", ".tsv", ".tab", ".txt")
WORKBOOKS = EXCEL.endings
#: Endings of files that hold the names and types of their columns.
TYPED_ENDINGS = tuple(ending for format in FORMATS if format is not EXCEL for ending in format.endings)
#: First bytes of a packed file -> the ending of its name.
_PACKED = {GZIP: ".gz", b"\x28\xb5\x2f\xfd": ".zst", ZIP: ".zip"}
PACKINGS = tuple(_PACKED.values())


def read_table(
    source: Source,
    *,
    name: str | None = None,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    rename_duplicates: bool = False,
    max_bytes: int = MAX_BYTES,
    max_rows: int = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> RawTable:
    """Read a table from a file, row by row: a cell's text depends on that cell and on what the file says about its column.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        Text (.csv, .tsv), Excel (.xlsx), Parquet, Feather, Stata (.dta) or SPSS (.sav), each also packed as .gz, .zst, or .zip
        with one file. Private rows. The first bytes tell the kind; where `names` are given, the ending of the name does,
        because the first bytes belong to a row.
    name : str, optional
        What messages call the table; the file name by default.
    names : sequence of str, optional
        Column names of a text or a sheet without a header. By default the first line holds them.
    delimiter : str, optional
        Of text: comma, semicolon, tab or vertical bar; by default the one that divides the header line best.
    encoding : str, optional
        Of text: by default UTF-8, or Windows-1252 where the header line is no UTF-8. One of `dpviz.io.text.ENCODINGS`; or
        utf-16-le or utf-16-be, which a file with a header and a mark in front need not be told.
    sheet : str or int, optional
        Name or place (from 1) of the sheet; needed where a workbook shows several.
    rename_duplicates : bool
        True tells columns of the same name apart ("age", "age (2)") instead of refusing them. Only the header counts.
    max_bytes, max_rows, max_columns : int
        Limits, checked before memory is spent; `max_bytes` holds before and after unpacking. By default they follow from the
        memory there is (`dpviz.io.limits`).
    progress : callable (share in [0, 1]), optional
        Told how much of the file is read.
    stop : callable or Event, optional
        Ends the reading with Cancelled.

    Returns
    -------
    RawTable
        Its cells as texts or numbers, private; `names` are the columns, `notes` what was doubtful.

    Raises
    ------
    TableError
        The file is no table that can be read, or is larger than the limits; `code`, `row` and `column` say what and where. Codes
        beside those of `dpviz.io.csv`: password, zip-files, several-sheets, no-sheet, old-excel, damaged, crashed, too-slow.
    DpvizError
        What reads this kind of file is not installed.
    """
    options = ReadOptions(
        name_of(source, name),
        max_bytes,
        max_rows,
        max_columns,
        names=None if names is None else tuple(names),
        delimiter=delimiter,
        encoding=encoding,
        sheet=sheet,
        rename=rename_duplicates,
        step=watch(progress, stop),
    )
    return read_with_options(source, options)


#: The name by which people look for it.
read_csv = read_table


def read_with_options(source: Source, options: ReadOptions) -> RawTable:
    """As `read_table`."""
    if isinstance(source, str) and (scheme := source.partition("://")[0]) != source and scheme.isalnum():
        what = f"{scheme}:// is the address of a place, not the path of a file."
        remedy = "Of a table in DuckDB, PostgreSQL or Spark use open_table; save others as Parquet or CSV."
        raise TableError("not-a-file", what, remedy=remedy)
    max_bytes, by_name = options.max_bytes, options.names is not None
    raw = read_bytes(source, max_bytes)
    file_name = name_of(source, None)
    for _ in range(2):  # a packed file may be packed once more, but not for ever
        packing = _packing_of(file_name, raw, by_name=by_name)
        if packing and not _is_office(raw):
            file_name, raw = _unpack(file_name, raw, packing, max_bytes)
    format = _format_of(file_name, raw, by_name=by_name)
    if options.sheet is not None and format is not EXCEL:
        what = f"{options.title!r:.80} is no workbook, so it has no sheet {options.sheet!r:.80}."
        raise TableError("no-sheet", what, remedy="Leave the sheet out, or name a workbook (.xlsx).")
    if by_name and options.delimiter is None and file_name.lower().endswith((".tsv", ".tab")):  # no header tells it
        options = replace(options, delimiter="\t")
    table = read_lines(raw, options) if format is None else read_in_worker(format, raw, options)
    warn_of_doubts(table.notes, stacklevel=4)  # at the caller of read_table
    return table


@read_form.register(str)
@read_form.register(Path)
@read_form.register(bytes)
@read_form.register(io.IOBase)
def _read_rows(rows: Source, names: Sequence[str] | None = None, by_record: bool = False) -> RawTable:
    """Rows of a file that holds its column names."""
    wanted = None if names is None else tuple(names)
    return read_with_options(rows, ReadOptions(name_of(rows, None), wanted=wanted, by_record=by_record))


def has_header_line(file_name: str) -> bool:
    """Whether the first line or row of a file of this name may hold names or a row; a packed file of unknown kind counts."""
    file_name = file_name.lower()
    for packing in PACKINGS:
        file_name = file_name.removesuffix(packing)
    return not file_name.endswith(TYPED_ENDINGS)


def _format_of(file_name: str, raw: bytes, *, by_name: bool) -> Format | None:
    """The format of a file, by the ending of its name or by its first bytes; None is text. Raises TableError for no table."""
    if by_name:
        refuse_other_endings(file_name)
        return next((format for format in FORMATS if file_name.lower().endswith(format.endings)), None)
    if raw.startswith(_OLD_OFFICE):
        _refuse_old_office(raw)
    format = next((one for one in FORMATS if raw.startswith(one.starts)), None)
    if format is None and (ending := next(filter(file_name.lower().endswith, (*TYPED_ENDINGS, *WORKBOOKS)), "")):
        what = f"This is no {ending} file, though its name says so, or it is damaged."
        raise TableError("damaged", what, remedy="Save it again in its own program, or correct the ending of its name.")
    if format in (None, EXCEL):
        refuse_other_endings(file_name, raw if format is EXCEL else b"")
    return format


def _is_office(raw: bytes) -> bool:
    """A ZIP archive that is the file of an office program rather than a packed table."""
    if not raw.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            inside = set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, struct.error):  # the reader says so, in our words
        return False
    return bool(inside & {"[Content_Types].xml", "mimetype"})


def _refuse_old_office(raw: bytes) -> NoReturn:
    if "EncryptedPackage".encode("utf-16-le") in raw:
        raise TableError("password", "The workbook has a password.", remedy="Save it without one.")
    what = "This is an Excel workbook of before 2007 (.xls), or another old Office file."
    raise TableError("old-excel", what, remedy="Save it as .xlsx or as CSV.")


# --- packed files


def _packing_of(file_name: str, raw: bytes, *, by_name: bool) -> str:
    """.gz, .zst, .zip, or nothing: by the name of the file, or by its first bytes."""
    if by_name:
        return next((ending for ending in PACKINGS if file_name.lower().endswith(ending)), "")
    return next((ending for start, ending in _PACKED.items() if raw.startswith(start)), "")


def _unpack(file_name: str, raw: bytes, packing: str, max_bytes: int) -> tuple[str, bytes]:
    """(name, bytes) of the one file inside.

    Raises TableError for a damaged archive, one with a password, with no file or several, or more than `max_bytes` bytes inside.
    """
    inner = file_name[: -len(packing)] if file_name.lower().endswith(packing) else file_name
    if packing == ".gz":
        return inner, gunzip(raw, max_bytes)
    if packing == ".zst":
        require_extra("tables", "Reading a .zst file", "pyarrow")
        import pyarrow as pa

        with redact_errors("zst file"), pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
            return inner, _within_limit(stream.read(max_bytes + 1), max_bytes)
    with redact_errors("ZIP archive"), zipfile.ZipFile(io.BytesIO(raw)) as archive:
        file = _only_file(archive)
        with archive.open(file) as stream:
            return file.filename, _within_limit(stream.read(max_bytes + 1), max_bytes)


def _within_limit(data: bytes, max_bytes: int) -> bytes:
    require_bytes("The unpacked file", len(data), max_bytes)
    return data


def _only_file(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    left = re.compile(r"__MACOSX/|(?:.*/)?\.[^/]*\Z")  # by systems
    files = [info for info in archive.infolist() if not (info.is_dir() or left.match(info.filename))]
    if len(files) != 1:
        n_files = f"{len(files):,} files" if files else "no file"
        raise TableError("zip-files", f"The ZIP archive holds {n_files}.", remedy="Unpack it and choose one table.")
    if files[0].flag_bits & 1:
        raise TableError("password", "The ZIP archive has a password.", remedy="Unpack it first.")
    return files[0]
