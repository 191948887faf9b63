"""CSV files in pieces that end where lines end, each through our own reader of lines: what becomes of a line depends on no other.

The header decides the names, the delimiter and the encoding, as in `read_lines`; the pieces are read as files without a header.
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from dpviz.errors import TableError
from dpviz.io.csv import MAX_LINES_ABOVE, find_header, read_lines
from dpviz.io.options import ReadOptions
from dpviz.io.text import MAX_LINE_LENGTH, plain_text
from dpviz.progress import Progress
from dpviz.rows.sources import Batches
from dpviz.table.raw import RawTable

#: Bytes that are read at once.
_CHUNK_SIZE = 1 << 23
#: Of a longer line the reader makes no record; a character takes at most four bytes.
_MAX_LINE_BYTES = 4 * (MAX_LINE_LENGTH + 1)


def csv_batches(path: Path, options: ReadOptions) -> Batches:
    """A CSV file, also packed as .gz; raises TableError."""
    with _open(path) as (_, file):
        head = b"" if options.names is not None else _head(file)
    raw, encoding, notes = plain_text(head, options.encoding, has_header=options.names is None)
    if notes:
        what = "UTF-16, and lines that end with carriage returns alone, are not read in pieces."
        raise TableError("encoding", what, remedy="Save the file as CSV in UTF-8, with line feeds.")
    header = find_header(raw, replace(options, encoding=encoding))
    options = replace(options, names=tuple(header.names), delimiter=header.delimiter, encoding=header.encoding)

    def table(piece: bytes) -> RawTable:
        return read_lines(piece, replace(options, max_bytes=len(piece), max_rows=len(piece)))

    def read(step: Progress) -> Iterator[RawTable]:
        size, n_pieces = max(path.stat().st_size, 1), 0
        with _open(path) as (packed, file):
            file.read(header.end)
            for piece in _whole_lines(file, options.by_record):
                step(min(1.0, packed.tell() / size))
                n_pieces += 1
                yield table(piece)
        if not n_pieces:
            yield table(b"")

    return Batches(tuple(header.names), read, header.notes, is_text=True)


@contextmanager
def _open(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
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
    while n_filled <= MAX_LINES_ABOVE + 1 and n_bytes <= _MAX_LINE_BYTES and (line := file.readline(_MAX_LINE_BYTES)):
        lines.append(line)
        n_bytes, n_filled = n_bytes + len(line), n_filled + bool(line.strip())
    return b"".join(lines)


def _whole_lines(file: BinaryIO, by_record: bool) -> Iterator[bytes]:
    """The same bytes in pieces that end with a line feed; a line of which the reader makes no record may be cut short.

    `by_record`: with one that no open quote holds, unless the quote is open for very long.
    """
    while piece := file.read(_CHUNK_SIZE):
        piece += (line := file.readline(_MAX_LINE_BYTES))
        if len(line) == _MAX_LINE_BYTES and not line.endswith(b"\n"):
            while (line := file.readline(_MAX_LINE_BYTES)) and not line.endswith(b"\n"):
                pass
        elif by_record and piece.count(b'"') % 2:
            more, n_bytes, line = [piece], 0, b""
            while n_bytes < _MAX_LINE_BYTES and line.count(b'"') % 2 == 0 and (line := file.readline(_MAX_LINE_BYTES)):
                more.append(line)
                n_bytes += len(line)
            piece = b"".join(more)
        yield piece
