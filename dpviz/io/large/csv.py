"""CSV files in pieces that end where lines end, each through our own reader of lines: what becomes of a line depends on no other.

The header decides the names, the delimiter and the encoding, as in `read_csv`; the pieces are read as files without a header.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from dpviz.errors import TableError
from dpviz.io.csv import Header, read_lines
from dpviz.io.large.pieces import Pieces
from dpviz.io.options import ReadOptions
from dpviz.io.text import LONGEST_LINE, UTF8_MARK, read_text
from dpviz.progress import Progress
from dpviz.table.raw import RawTable

#: Bytes that are read at once.
_AT_ONCE = 1 << 23
#: A longer line is left out; a character takes at most four bytes.
_LONGEST = 4 * LONGEST_LINE
#: Stands for a line that is no record: a quote that is never closed.
_NO_RECORD = b'"\n'


def csv_pieces(path: Path, asked: ReadOptions) -> Pieces:
    """A CSV file, also packed as .gz; raises TableError."""
    has_header = asked.names is None
    with _opened(path) as (_, file):
        first = _read_header(file) if has_header else b""
    text = read_text(first, header=has_header, encoding=asked.encoding, row_wise=True, max_bytes=_LONGEST + 1)
    header = Header.of(text.lines(), asked)
    known = replace(asked, names=tuple(header.names), delimiter=header.delimiter, encoding=text.encoding)

    def table(piece: bytes) -> RawTable:
        return read_lines(piece, replace(known, max_bytes=len(piece), max_rows=len(piece)))

    def read(step: Progress) -> Iterator[RawTable]:
        size, n_pieces = max(path.stat().st_size, 1), 0
        with _opened(path) as (packed, file):
            if has_header:
                _read_header(file)
            end_of = _end_of_records if asked.by_record else _end_of_lines
            for piece in _whole_lines(iter(partial(file.read, _AT_ONCE), b""), end_of):
                step(min(1.0, packed.tell() / size))
                n_pieces += 1
                yield table(piece)
        if not n_pieces:
            yield table(b"")

    return Pieces(asked.title, tuple(header.names), read, (*text.notes, *header.notes), is_text=True)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """(the file, its content unpacked). Raises TableError where that is damaged."""
    is_packed = path.suffix.lower() == ".gz"
    with open(path, "rb") as file:
        try:
            yield file, gzip.GzipFile(fileobj=file) if is_packed else file  # type: ignore[misc]
        except (OSError, EOFError, zlib.error):  # which may quote bytes of the rows, or their checksum
            code = "gzip" if is_packed else "not-a-file"
            raise TableError(code, "The file is damaged or cut short.", remedy="Save it again.") from None


def _read_header(file: BinaryIO) -> bytes:
    """The first line, with blank lines before it; the file stands behind it."""
    read = b""
    while not read.removeprefix(UTF8_MARK).strip(b"\r\n"):
        line = file.readline(_LONGEST)
        if not line:
            break
        read += line
    return read


def _end_of_lines(rest: bytes, block: bytes) -> int:
    return block.rfind(b"\n") + 1


def _end_of_records(rest: bytes, block: bytes) -> int:
    """Behind the last line feed that no open quote holds; behind the last one where every one is in quotes."""
    found = np.frombuffer(block, dtype=np.uint8)
    n_quotes = np.cumsum(found == ord('"'), dtype=np.int32) + rest.count(b'"')
    ends = np.flatnonzero((found == ord("\n")) & (n_quotes % 2 == 0))
    return int(ends[-1]) + 1 if len(ends) else _end_of_lines(rest, block)


def _whole_lines(blocks: Iterator[bytes], end_of: Callable[[bytes, bytes], int] = _end_of_lines) -> Iterator[bytes]:
    """The same bytes in pieces that end with a line feed; a line that is too long becomes one that is no record."""
    rest, is_too_long = b"", False
    for block in blocks:
        end = end_of(rest, block)
        if not end:
            is_too_long = is_too_long or len(rest) + len(block) > _LONGEST
            rest = b"" if is_too_long else rest + block
            continue
        piece = block[:end]
        if is_too_long:
            piece = _NO_RECORD + piece[piece.find(b"\n") + 1 :]
        yield rest + piece if not is_too_long else piece
        rest, is_too_long = block[end:], False
    if rest or is_too_long:
        yield _NO_RECORD if is_too_long else rest
