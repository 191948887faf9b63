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
from typing import Any, BinaryIO

from dpviz.errors import DpvizError, ParameterError, TableError, file_name_text, path_text
from dpviz.io.limits import require_bytes
from dpviz.table.notes import Doubt

Source = str | Path | bytes | BinaryIO

GZIP = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: By their names, for a text whose first bytes belong to a row and are no mark.
UTF16 = ("utf-16-le", "utf-16-be")
#: What people take for a CSV file -> endings of its name, and a pattern of its first bytes behind a byte-order mark.
_OTHER_KINDS: dict[str, tuple[str, bytes]] = {
    "an OpenDocument file": (".ods .odt", rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument"),
    "an Excel workbook or a ZIP archive": ("", rb"PK\x03\x04"),
    "an old Excel workbook": ("", rb"\xd0\xcf\x11\xe0"),
    "a Parquet file": ("", rb"PAR1"),
    "a PDF document": ("", rb"%PDF"),
    "a picture": ("", rb"\x89PNG"),
    "a 7-Zip archive": ("", rb"7z\xbc\xaf"),
    "a bzip2 archive": ("", rb"BZh[1-9]1AY&SY"),
    "an xz archive": ("", rb"\xfd7zXZ"),
    "a RAR archive": ("", rb"Rar!\x1a"),
    "an LZ4 archive": ("", rb"\x04\x22\x4d\x18"),
    "a tar archive": (".tar .tgz", rb"(?=.{257}ustar).{0,256}\0"),
    "TOML": (".toml", rb"\s*\[\[[\w.\- ]+\]\]\s"),
    "JSON": (".json .jsonl .ndjson .geojson", rb"""\s*(?:\{\s*["'}]|\[\s*[\[({"'\]])"""),  # also as Python prints it
    "YAML": (".yaml .yml", rb"\s*---\n"),
    "HTML or XML": (".xml .html .htm", rb"\s*<"),
    "Markdown": (".md .markdown", rb"(?!)"),
    "SQL": (".sql", rb"(?i:\s*(?:insert into|create table) )"),
    "an ARFF file": (".arff", rb"(?i:(?:\s|%[^\n]*\n)*@relation\s)"),
    "a LIBSVM file": (".svm .libsvm .svmlight", rb"(?!)"),
    "a MessagePack file": (".msgpack", rb"(?!)"),
    "an ORC file": (".orc", rb"ORC[\0-\x08\x0b\x0c\x0e-\x1f]"),  # ORCID is a name
    "an Avro file": (".avro", rb"Obj\x01"),
    "an HDF5 file": (".h5 .hdf5 .hdf", rb"\x89HDF\r\n\x1a\n"),
    "a Python pickle": (".pkl .pickle", rb"\x80[\x02-\x05]"),
    "a NumPy file": (".npy .npz", rb"\x93NUMPY"),
    "an R file": (".rds", rb"X\n\0\0\0"),
    "an R workspace": (".rdata .rda", rb"RD[XA][23]\n"),
    "an Arrow stream": ("", rb"\xff\xff\xff\xff"),
    "a Feather file of version 1": ("", rb"FEA1\0"),
    "an SQLite database": (".sqlite .sqlite3", rb"SQLite format 3"),
    "a DuckDB database": ("", rb"(?=.{8}DUCK).{0,7}\0"),
    "an Access database": (".mdb .accdb", rb"\0\x01\0\0Standard "),
    "a dBASE file": (".dbf", rb"(?!)"),
    "a SAS transport file": (".xpt", rb"HEADER RECORD\*"),
    "a SAS file": (".sas7bdat", rb"\0{12}\xc2\xea\x81\x60"),
    "an SPSS portable file": (".por", rb"ASCII SPSS PORT FILE"),
    "a MATLAB file": (".mat", rb"MATLAB 5\.0 MAT-file"),
    "an RTF document": ("", rb"\{\\rtf"),
    "a document": (".doc .docx .rtf", rb"(?!)"),
}
#: First bytes that are looked at.
_MAX_BEGIN = 100_000
#: Encodings in which a line feed is never part of another character, so that lines are the same whatever their bytes are.
ENCODINGS = ("utf-8", *(f"cp{page}" for page in range(1250, 1259)), *(f"iso8859-{part}" for part in range(1, 17) if part != 12))
#: Longer lines are left out, so that no line can ask for more memory than this many cells; a longer header is refused.
MAX_LINE_LENGTH = 4_000_000
#: Read at once: a number of lines, not of letters, for whoever waits sees how it goes on.
CHUNK_LINES = 1024
#: Bytes of a schema, a model or another document.
_MAX_DOCUMENT_BYTES = 256 << 20
#: What a byte becomes that cannot be read.
UNREADABLE = "\ufffd"
#: How a text begins whose lines end with carriage returns alone.
_MAC_LINE = re.compile(rb"[\r\n]*[^\r\n]+\r(?!\n)")


def name_of(source: Source, name: str | None) -> str:
    """A short name of `source` for messages: `name` when given, else the file name, else "table"."""
    if name is not None:
        return name
    path = source if isinstance(source, (str, Path)) else getattr(source, "name", None)
    return Path(path).name if isinstance(path, (str, Path)) else "table"


def plain_text(raw: bytes, encoding: str | None, *, has_header: bool) -> tuple[bytes, str | None, tuple[str, ...]]:
    """(a text whose lines end with a line feed, its encoding, notes); raises TableError for another kind of file.

    Without a header the first bytes belong to a row: they decide nothing, and UTF-16 is what is declared so.
    """
    notes, name = list[str](), _encoding_name(encoding or "")
    is_marked = has_header and raw.startswith(UTF16_MARKS)
    if is_marked or name in UTF16:
        raw, encoding = raw.decode("utf-16" if is_marked else name, "replace").encode("utf-8"), "utf-8"
        notes.append("Read as UTF-16.")
    if not has_header:
        return raw, encoding, tuple(notes)
    begin = raw[:_MAX_BEGIN].removeprefix(UTF8_MARK)
    for kind, (_, pattern) in _OTHER_KINDS.items():
        if re.match(pattern, begin, re.DOTALL):
            raise _other_kind(kind)
    if _MAC_LINE.match(raw):
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        notes.append("Lines end with carriage returns.")
    return raw, encoding, tuple(notes)


def lines_of(raw: bytes, start: int, encoding: str) -> Iterator[list[str]]:
    """Physical lines from a byte on, some at a time, without byte-order marks, each with its line feed.

    A byte that cannot be read becomes U+FFFD, a NUL byte U+001A.
    """
    file = io.BytesIO(raw.replace(b"\0", b"\x1a") if b"\0" in raw else raw)
    file.seek(start)
    text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="\n")
    has_marks = UTF8_MARK in raw
    while lines := list(islice(text, CHUNK_LINES)):
        if has_marks:
            lines = [line.lstrip("\ufeff") for line in lines]
        if not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        yield lines


def encoding_of(line: bytes, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    """(encoding, notes) from the caller or the header line."""
    if encoding is not None:
        return check_encoding(encoding), ()
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", (Doubt("The first line is not UTF-8: read as Windows-1252. Check its letters.", help="encoding"),)
    return "utf-8", ()


def check_encoding(encoding: str) -> str:
    """Its name; raises TableError for one in which a byte can change other rows."""
    known = _encoding_name(encoding)
    if known not in ENCODINGS:
        what = f"{encoding[:40]!r} is no encoding in which every row can be read by itself."
        raise TableError("encoding", what, remedy=f"Choose one of {', '.join((*ENCODINGS, *UTF16))}.")
    return known


def _encoding_name(encoding: str) -> str:
    """As Python calls it; empty where it does not know it."""
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return ""


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
        what = f"{file_name_text(source) if is_path else repr(name_of(source, None))} cannot be read: {reason}."
        raise TableError("not-a-file", what, remedy="Check the path; it must name a table.") from None
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    require_bytes("The file", len(raw), max_bytes)
    return raw


def read_document(path: str | Path, which: str, remedy: str, max_bytes: int = _MAX_DOCUMENT_BYTES) -> bytes:
    """The bytes of a JSON file that somebody named; raises DpvizError. `which` file it is begins a sentence: "The model file"."""
    try:
        with open(path, "rb") as file:
            raw = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        what = f"{which} cannot be read: {getattr(error, 'strerror', None) or error}."
        raise DpvizError(what, where=path_text(path), remedy=remedy) from None
    if len(raw) > max_bytes:
        raise DpvizError(f"{which} is larger than {max_bytes / 1e6:.4g} MB.", where=path_text(path), remedy=remedy)
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


def refuse_other_endings(file_name: str, archive: bytes = b"") -> None:
    """Raise TableError where the ending of a name, which is public, or what an archive begins with says that it is no table."""
    begin = archive[:_MAX_BEGIN]
    for kind, (endings, pattern) in _OTHER_KINDS.items():
        if endings and (file_name.lower().endswith(tuple(endings.split())) or re.match(pattern, begin, re.DOTALL)):
            raise _other_kind(kind)


def _other_kind(kind: str) -> TableError:
    is_read = kind.startswith(("an Excel", "a Parquet"))
    remedy = "Read it with dpviz.read_table." if is_read else "Save its table as CSV or Parquet."
    return TableError("not-csv", f"This is {kind}, not CSV.", remedy=remedy)
