"""From a path, a file object or bytes to the UTF-8 bytes of a text: size limit, gzip, encoding.

Every surprise on the way is a `CsvError`. Nothing here knows about cells.
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from dpviz.errors import CsvError, ParameterError

Source = str | Path | bytes | BinaryIO

_GZIP = b"\x1f\x8b"
_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
#: First bytes of files people take for CSV files.
_OTHER_KINDS = {
    b"PK\x03\x04": "an Excel workbook or a ZIP archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"\x89PNG": "a picture",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
}
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1a\x1b")) + b"\x7f"
_STEP = 1 << 22
_SAMPLE = 1 << 20
_AS_UTF8 = "Save the file as CSV in UTF-8 and try again."


def name_of(source: Source, name: str | None) -> str:
    """A short name of `source` for messages: `name` when given, else the file name, else "table"."""
    if name is not None:
        return name
    path = source if isinstance(source, (str, Path)) else getattr(source, "name", None)
    return Path(path).name if isinstance(path, (str, Path)) else "table"


def read_text(source: Source, *, max_bytes: int) -> tuple[bytes, tuple[str, ...]]:
    """The text of `source` as UTF-8 without byte-order mark and leading blank lines, and notes on what was assumed.

    At most `max_bytes` + 1 bytes are ever unpacked, so a small file that unpacks to a huge one does no harm.
    """
    raw = _read(source, max_bytes)
    if raw.startswith(_GZIP):
        raw = _unpack(raw, max_bytes)
    _refuse_other_kinds(raw)
    text, notes = _to_utf8(raw)
    if not text.strip():
        raise CsvError("empty", "The file is empty.", remedy="Choose a CSV file with one row of column names and then the data.")
    return text.lstrip(b"\r\n"), notes


def _read(source: Any, max_bytes: int) -> bytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _limited(bytes(source), max_bytes)
    if hasattr(source, "getvalue"):  # a buffer or an upload: read it whole, wherever its cursor is
        return _limited(source.getvalue(), max_bytes)
    if not isinstance(source, (str, Path)) and not hasattr(source, "read"):
        raise ParameterError("read_csv", "source", source, "a path, bytes, or a file opened in binary mode")
    try:
        return _limited(_read_file(source, max_bytes), max_bytes)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"{name_of(source, None)!r} cannot be read: {reason}."
        raise CsvError("not-a-file", what, remedy="Check the path; it must name a .csv or .csv.gz file.") from error


def _read_file(source: Any, max_bytes: int) -> bytes | str:
    if not isinstance(source, (str, Path)):
        return source.read(max_bytes + 1)  # the caller's file stays open
    with open(source, "rb") as file:
        return file.read(max_bytes + 1)


def _limited(raw: bytes | str, max_bytes: int) -> bytes:
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    if len(raw) > max_bytes:
        raise _too_big("The file", max_bytes)
    return raw


def _unpack(raw: bytes, max_bytes: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            data = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        what = f"The gzip file is damaged or cut short ({error})."
        raise CsvError("gzip", what, remedy="Download or compress the file again.") from error
    if len(data) > max_bytes:
        raise _too_big("The unpacked file", max_bytes)
    return data


def _too_big(which: str, max_bytes: int) -> CsvError:
    what = f"{which} is larger than {max_bytes / 1e6:,.4g} MB."
    return CsvError("too-many-bytes", what, remedy="Keep fewer rows or columns, or raise max_bytes.")


def _refuse_other_kinds(raw: bytes) -> None:
    for start, kind in _OTHER_KINDS.items():
        if raw.startswith(start):
            remedy = "Open it in its own program and save the table as CSV."
            raise CsvError("not-csv", f"This is {kind}, not a CSV file.", remedy=remedy)


def _to_utf8(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    if raw.startswith(_UTF16_BOMS):
        text = _from_utf16(raw)
        _refuse_nul(text)
        return text, ("Read as UTF-16.",)
    marked = raw.startswith(_UTF8_BOM)
    raw = raw.removeprefix(_UTF8_BOM)
    _refuse_nul(raw)
    bad = _first_bad_byte(raw, "utf-8")
    if bad is None:
        return raw, ()
    if marked or _is_damaged_utf8(raw, bad):
        raise _undecodable(raw, bad, "UTF-8")
    return _from_windows(raw), ("Not UTF-8: read as Windows-1252. Check accented letters.",)


def _from_utf16(raw: bytes) -> bytes:
    try:
        return raw.decode("utf-16").encode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-16", "ignore").encode("utf-8", "ignore")
        raise _undecodable(before, len(before), "UTF-16") from error


def _from_windows(raw: bytes) -> bytes:
    sample = raw[:_SAMPLE]
    bad = _first_bad_byte(raw, "cp1252")
    if bad is not None or len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) / 200:
        raise _undecodable(raw, _first_bad_byte(raw, "utf-8") if bad is None else bad, "UTF-8 or Windows-1252")
    return raw.decode("cp1252").encode("utf-8")


def _first_bad_byte(raw: bytes, encoding: str) -> int | None:
    """Position of the first byte that is not `encoding`; decodes in steps so that a large file is never held twice."""
    start = 0
    while start < len(raw):
        end = raw.rfind(b"\n", start, start + _STEP) + 1 if start + _STEP < len(raw) else len(raw)
        end = end if end > start else len(raw)  # one line longer than a step
        try:
            raw[start:end].decode(encoding)
        except UnicodeDecodeError as error:
            return start + error.start
        start = end
    return None


def _is_damaged_utf8(raw: bytes, bad: int) -> bool:
    """True when around the bad byte more letters are proper UTF-8 than not: then another encoding would garble them."""
    text = raw[max(0, bad - _SAMPLE) : bad + _SAMPLE].decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    proper = sum(letter > "\x7f" for letter in text) - wrong
    return proper > wrong


def _refuse_nul(text: bytes) -> None:
    place = text.find(b"\0")
    if place >= 0:
        what = "There is a NUL byte, which no text contains: this is a binary file, or UTF-16 without its mark."
        raise CsvError("nul-bytes", what, row=_row_at(text, place), remedy=_AS_UTF8)


def _undecodable(text: bytes, place: int | None, encoding: str) -> CsvError:
    found = "" if place is None or place >= len(text) else f" (byte 0x{text[place]:02x})"
    row = None if place is None else _row_at(text, place)
    what = f"A letter cannot be read as {encoding}{found}. Row 1 is the header."
    return CsvError("undecodable", what, row=row, remedy=_AS_UTF8)


def _row_at(text: bytes, place: int) -> int:
    """1-based line holding the byte at `place`."""
    mark = b"\n" if b"\n" in text else b"\r"
    return text.count(mark, 0, place) + 1
