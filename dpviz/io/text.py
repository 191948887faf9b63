"""From a path, a file object or bytes to the lines of a text: size limit, gzip, encoding.

How a line is read depends on that line and on the header line alone. Nothing here knows about cells.
"""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from dpviz.errors import DpvizError, ParameterError, TableError, named, place
from dpviz.io.limits import require_bytes

Source = str | Path | bytes | BinaryIO

GZIP = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: First bytes of files people take for CSV files.
_OTHER_KINDS = {
    b"PK\x03\x04": "an Excel workbook or a ZIP archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"\x89PNG": "a picture",
    b"7z\xbc\xaf": "a 7-Zip archive",
    **{b"BZh%d1AY&SY" % level: "a bzip2 archive" for level in range(1, 10)},
    b"\xfd7zXZ": "an xz archive",
    b"SQLite format 3": "an SQLite database",
    b"HEADER RECORD*": "a SAS transport file",
    b"\0" * 12 + b"\xc2\xea\x81\x60": "a SAS file",
    b"Obj\x01": "an Avro file",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"MATLAB 5.0 MAT-file": "a MATLAB file",
    b"\x93NUMPY": "a NumPy file",
    **{b"RD%c%d\n" % (form, version): "an R workspace" for form in b"XA" for version in (2, 3)},
    b"X\n\0\0\0": "an R file",
    b"\xff\xff\xff\xff": "an Arrow stream",
    b"FEA1\0": "a Feather file of version 1",
    b"ASCII SPSS PORT FILE": "an SPSS portable file",
    b"{\\rtf": "an RTF document",
    b"Rar!\x1a": "a RAR archive",
    b"\x04\x22\x4d\x18": "an LZ4 archive",
    b"\0\1\0\0Standard ": "an Access database",
    **{b"ORC" + bytes([sign]): "an ORC file" for sign in range(32) if sign not in b"\t\r\n"},  # nor letters: ORCID is a name
    **{b"\x80" + bytes([version]): "a Python pickle" for version in range(2, 6)},
}
#: Endings of files that are no table of text, whatever their first bytes are.
_OTHER_ENDINGS = {
    (".json", ".jsonl", ".ndjson", ".geojson"): "JSON",
    (".orc",): "an ORC file",
    (".avro",): "an Avro file",
    (".h5", ".hdf5", ".hdf"): "an HDF5 file",
    (".pkl", ".pickle"): "a Python pickle",
    (".npy", ".npz"): "a NumPy file",
    (".rds",): "an R file",
    (".rdata", ".rda"): "an R workspace",
    (".yaml", ".yml"): "YAML",
    (".toml",): "TOML",
    (".sqlite", ".sqlite3"): "an SQLite database",
    (".sql",): "SQL",
    (".xpt",): "a SAS transport file",
    (".sas7bdat",): "a SAS file",
    (".por",): "an SPSS portable file",
    (".arff",): "an ARFF file",
    (".mat",): "a MATLAB file",
    (".dbf",): "a dBASE file",
    (".mdb", ".accdb"): "an Access database",
    (".ods", ".odt"): "an OpenDocument file",
    (".doc", ".docx", ".rtf"): "a document",
    (".xml", ".html", ".htm"): "HTML or XML",
    (".md", ".markdown"): "Markdown",
    (".svm", ".libsvm", ".svmlight"): "a LIBSVM file",
    (".msgpack",): "a MessagePack file",
    (".tar", ".tgz"): "a tar archive",
}
#: Encodings in which a line feed is never part of another character, so that lines are the same whatever their bytes are.
ENCODINGS = ("utf-8", *(f"cp{page}" for page in range(1250, 1259)), *(f"iso8859-{part}" for part in range(1, 17) if part != 12))
#: Longer lines are left out, so that no line can ask for more memory than this many cells; a longer header is refused.
LONGEST_LINE = 4_000_000
#: Read at once: a number of lines, not of letters, for whoever waits sees how it goes on.
LINES_AT_ONCE = 1024
#: Bytes of a schema, a model or another document.
_LARGEST_DOCUMENT = 256 << 20
#: What a byte becomes that cannot be read.
UNREADABLE = "\ufffd"
#: How a file begins that holds JSON, also as Python prints it: an object, or a list of objects, lists or texts.
_JSON = re.compile(rb"""(?:\xef\xbb\xbf)?\s*(?:\{\s*["'}]|\[\s*[\[({"'\]])""")
_ARFF = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|%[^\n]*\n)*@relation\s", re.IGNORECASE)
#: How a file begins that holds tables of TOML, which Python's lists do not.
_TOML = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\[[\w.\- ]+\]\]\s")
#: How a text begins whose lines end with carriage returns alone.
_MAC_LINE = re.compile(rb"[\r\n]*[^\r\n]+\r(?!\n)")


def name_of(source: Source, name: str | None) -> str:
    """A short name of `source` for messages: `name` when given, else the file name, else "table"."""
    if name is not None:
        return name
    path = source if isinstance(source, (str, Path)) else getattr(source, "name", None)
    return Path(path).name if isinstance(path, (str, Path)) else "table"


def read_text(source: Source, *, has_header: bool, max_bytes: int) -> tuple[bytes, tuple[str, ...]]:
    """(the bytes of a text whose lines end with a line feed, notes).

    Without a header the first bytes belong to a row, so they decide nothing: a file is unpacked when its name ends in .gz, and
    other kinds of file become lines that fit no column. At most `max_bytes` + 1 bytes are ever unpacked.
    Raises TableError for no file, a damaged archive, another kind of file, or too many bytes.
    """
    refuse_other_endings(name_of(source, None))
    raw, notes = read_bytes(source, max_bytes), list[str]()
    if raw.startswith(GZIP) if has_header else name_of(source, None).endswith(".gz"):
        raw = gunzip(raw, max_bytes)
    if not has_header:
        return raw, ()
    _refuse_other_kinds(raw)
    if raw.startswith(UTF16_MARKS):
        raw = raw.decode("utf-16", "replace").encode("utf-8")
        notes.append("Read as UTF-16.")
    if _MAC_LINE.match(raw):
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        notes.append("Lines end with carriage returns.")
    return raw, tuple(notes)


def lines_of(raw: bytes, start: int, encoding: str) -> Iterator[list[str]]:
    """Physical lines from a byte on, some at a time, without byte-order marks, each with its line feed.

    A byte that cannot be read becomes U+FFFD, a NUL byte U+001A.
    """
    file = io.BytesIO(raw.replace(b"\0", b"\x1a") if b"\0" in raw else raw)
    file.seek(start)
    text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="\n")
    has_marks = UTF8_MARK in raw
    while lines := list(islice(text, LINES_AT_ONCE)):
        if has_marks:
            lines = [line.removeprefix("\ufeff") for line in lines]
        if not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        yield lines


def encoding_of(line: bytes, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    """(encoding, notes) from the caller or the header line."""
    if encoding is not None:
        return checked_encoding(encoding), ()
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", ("The first line is not UTF-8: read as Windows-1252. Check accented letters.",)
    return "utf-8", ()


def checked_encoding(encoding: str) -> str:
    """Its name; raises TableError for one in which a byte can change other rows."""
    try:
        known = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        known = ""
    if known not in ENCODINGS:
        what = f"{encoding[:40]!r} is no encoding in which every row can be read by itself."
        raise TableError("encoding", what, remedy=f"Choose one of {', '.join(ENCODINGS)}.")
    return known


def read_bytes(source: Any, max_bytes: int) -> bytes:
    """All bytes of a path, buffer or file; raises TableError where there is no file or more than `max_bytes`."""
    is_path = isinstance(source, (str, Path))
    if not (is_path or isinstance(source, (bytes, bytearray, memoryview)) or hasattr(source, "read")):
        raise ParameterError("a reader of tables", "source", source, "a path, bytes, or a file opened in binary mode")
    try:
        if is_path:
            with open(source, "rb") as file:
                raw = file.read(max_bytes + 1)
        elif hasattr(source, "getvalue"):  # a buffer or an upload: read it whole, wherever its cursor is
            raw = source.getvalue()
        else:
            raw = source.read(max_bytes + 1) if hasattr(source, "read") else bytes(source)  # the caller's file stays open
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"{named(source) if is_path else repr(name_of(source, None))} cannot be read: {reason}."
        raise TableError("not-a-file", what, remedy="Check the path; it must name a table.") from None
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    require_bytes("The file", len(raw), max_bytes)
    return raw


def read_document(path: str | Path, which: str, remedy: str, most: int = _LARGEST_DOCUMENT) -> bytes:
    """The bytes of a JSON file that somebody named; raises DpvizError. `which` file it is begins a sentence: "The model file"."""
    try:
        with open(path, "rb") as file:
            raw = file.read(most + 1)
    except (OSError, ValueError) as error:
        what = f"{which} cannot be read: {getattr(error, 'strerror', None) or error}."
        raise DpvizError(what, where=place(path), remedy=remedy) from None
    if len(raw) > most:
        raise DpvizError(f"{which} is larger than {most / 1e6:.4g} MB.", where=place(path), remedy=remedy)
    return raw


def gunzip(raw: bytes, max_bytes: int) -> bytes:
    """The unpacked bytes; raises TableError for a damaged archive and for more than `max_bytes`."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            data = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error):  # which may quote bytes of the rows, or their checksum
        what = "The gzip file is damaged or cut short."
        raise TableError("gzip", what, remedy="Download or compress the file again.") from None
    require_bytes("The unpacked file", len(data), max_bytes)
    return data


def refuse_other_endings(file_name: str) -> None:
    """Raise TableError where the ending of a name, which is public, says that the file is no table of text."""
    for endings, kind in _OTHER_ENDINGS.items():
        if file_name.lower().endswith(endings):
            _refuse(kind)


def _refuse(kind: str) -> NoReturn:
    raise TableError("not-csv", f"This is {kind}, not CSV: save it as CSV or Parquet.", remedy="Then give that file.")


def _refuse_other_kinds(raw: bytes) -> None:
    if _TOML.match(raw):
        _refuse("TOML")
    if _JSON.match(raw):
        _refuse("JSON")
    for start, kind in _OTHER_KINDS.items():
        if raw.startswith(start):
            remedy = "Open it in its own program and save the table as CSV."
            if start in (b"PK\x03\x04", b"PAR1"):
                remedy = f"Read it with dpviz.read_table, or {remedy[0].lower()}{remedy[1:]}"
            raise TableError("not-csv", f"This is {kind}, not a CSV file.", remedy=remedy)
    begins = raw[:100].removeprefix(UTF8_MARK).lstrip().lower()
    for start, kind in {b"<": "HTML or XML", b"---\n": "YAML", b"insert into ": "SQL", b"create table ": "SQL"}.items():
        if begins.startswith(start):
            _refuse(kind)
    if _ARFF.match(raw):
        _refuse("an ARFF file")
    for start, behind, kind in ((b"ustar", 257, "a tar archive"), (b"DUCK", 8, "a DuckDB database")):
        if raw.startswith(start, behind) and b"\0" in raw[:behind]:
            _refuse(kind)
