"""Columns that are larger than memory, in temporary files that nobody else can open and that vanish with the process.

Where the system allows it such a file never has a name (Linux); otherwise its name is removed as soon as the file is open. It
belongs to the user alone and ends with its last use: also after an error, an interrupt or a kill.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from tempfile import TemporaryFile, gettempdir

import numpy as np

from dpviz.errors import DpvizError
from dpviz.table.dataset import EncodedDataset

#: Rows that are read, encoded, binned or counted at once: their bins stay in the processor's cache, their sums exact in float64.
ROWS_AT_ONCE = 1 << 17
#: So many cells come unpacked at once; of wider tables fewer rows do, down to a quarter.
_CELLS_AT_ONCE = 1 << 21


class ColumnFile:
    """One column while it is written, some rows at a time; used in a `with` block."""

    def __init__(self, dtype: np.dtype) -> None:
        """Raises DpvizError where no temporary file can be made."""
        self.dtype, self._n_rows = dtype, 0
        try:
            self._file = TemporaryFile(prefix="dpviz-")  # noqa: SIM115  (closed by __exit__)
        except OSError as error:
            raise _no_room(error) from error

    def __enter__(self) -> ColumnFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, values: np.ndarray) -> None:
        """Add rows; raises DpvizError where the disk is full."""
        try:
            self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        except OSError as error:
            raise _no_room(error) from error
        self._n_rows += len(values)

    def column(self) -> np.ndarray:
        """All rows, read-only, read from the disk as they are used. They outlive the `with` block, as long as this array does."""
        try:
            self._file.flush()
            if not self._n_rows:
                return np.empty(0, dtype=self.dtype)
            return np.asarray(np.memmap(self._file, self.dtype, "r", shape=(self._n_rows,)))
        except OSError as error:
            raise _no_room(error) from error


def rows_at_once(n_columns: int) -> int:
    """How many rows are in memory at once where each of them has so many unpacked cells."""
    return min(ROWS_AT_ONCE, max(_CELLS_AT_ONCE // max(n_columns, 1), ROWS_AT_ONCE // 4))


def slices(n_rows: int, n_columns: int = 1) -> list[slice]:
    """The rows, some at a time, of which so many columns are unpacked; one empty slice where there are none."""
    most = rows_at_once(n_columns)
    return [slice(start, min(start + most, n_rows)) for start in range(0, max(n_rows, 1), most)]


def piece_of(data: EncodedDataset, here: slice | np.ndarray) -> EncodedDataset:
    """Some of the rows."""
    return EncodedDataset(data.schema, tuple(column[here] for column in data.columns), data.target[here])


def in_pieces(data: EncodedDataset) -> Iterator[EncodedDataset]:
    """The rows, some at a time."""
    return (piece_of(data, here) for here in slices(data.n_rows))


def written(pieces: Iterable[EncodedDataset]) -> EncodedDataset:
    """The rows of all pieces, of which there is one at least, in files."""
    with ExitStack() as opened:
        files: list[ColumnFile] = []
        for piece in pieces:
            columns = (*piece.columns, piece.target)
            files = files or [opened.enter_context(ColumnFile(column.dtype)) for column in columns]
            for file, column in zip(files, columns, strict=True):
                file.append(column)
        *features, target = [file.column() for file in files]
    return EncodedDataset(piece.schema, tuple(features), target)


def _no_room(error: OSError) -> DpvizError:
    what = f"A temporary file cannot be written: {error.strerror or error}."
    remedy = "A row takes about a byte per column; where values are needed, 8 per number. TMPDIR names another folder for them."
    return DpvizError(what, where=gettempdir(), remedy=remedy)
