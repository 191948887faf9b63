"""CSV files in pieces that end where lines end, each through our own reader of lines: what becomes of a line depends on no other.

The header decides the names, the delimiter and the encoding, as in `read_lines`; the pieces are read as files without a header.
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
from dpviz.io.csv import MOST_ABOVE, find_header, read_lines
from dpviz.io.options import ReadOptions
from dpviz.io.text import LONGEST_LINE, plain_text
from dpviz.progress import Progress
from dpviz.rows.sources import Batches
from dpviz.table.raw import RawTable

#: Bytes that are read at once.
_AT_ONCE = 1 << 23
#: A longer line is left out; a character takes at most four bytes.
_LONGEST = 4 * LONGEST_LINE
#: Stands for a line that is no record: a quote that is never closed.
_NO_RECORD = b'"\n'


def csv_batches(path: Path, options: ReadOptions) -> Batches:
    """A CSV file, also packed as .gz; raises TableError."""
    with _opened(path) as (_, file):
        head = b"" if options.names is not None else _head(file)
    raw, notes = plain_text(head)
    if notes:
        what = "UTF-16, and lines that end with carriage returns alone, are not read in pieces."
        raise TableError("encoding", what, remedy="Save the file as CSV in UTF-8, with line feeds.")
    header = find_header(raw, options)
    about = {"names": tuple(header.names), "delimiter": header.delimiter, "encoding": header.encoding}

    def table(piece: bytes) -> RawTable:
        return read_lines(piece, replace(options, **about, max_bytes=len(piece), max_rows=len(piece)))  # type: ignore[arg-type]

    def read(step: Progress) -> Iterator[RawTable]:
        size, n_pieces = max(path.stat().st_size, 1), 0
        with _opened(path) as (packed, file):
            file.read(header.end)
            end_of = _end_of_records if options.by_record else _end_of_lines
            for piece in _whole_lines(iter(partial(file.read, _AT_ONCE), b""), end_of):
                step(min(1.0, packed.tell() / size))
                n_pieces += 1
                yield table(piece)
        if not n_pieces:
            yield table(b"")

    return Batches(options.title, tuple(header.names), read, header.notes, is_text=True)


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


def _head(file: BinaryIO) -> bytes:
    """The lines among which the header is."""
    lines, n_bytes, n_filled = list[bytes](), 0, 0
    while n_filled <= MOST_ABOVE + 1 and n_bytes <= _LONGEST and (line := file.readline(_LONGEST)):
        lines.append(line)
        n_bytes, n_filled = n_bytes + len(line), n_filled + bool(line.strip())
    return b"".join(lines)


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
