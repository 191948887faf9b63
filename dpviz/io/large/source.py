"""Which reader a large source needs, by its ending: a file of this size is not opened to find out."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from dpviz.errors import TableError, named
from dpviz.io.large.csv import csv_pieces
from dpviz.io.large.pieces import Pieces, files_of, joined
from dpviz.io.limits import MAX_BYTES
from dpviz.io.options import ReadOptions
from dpviz.io.worker import DUCKDB_PIECES, FEATHER_PIECES, PARQUET_PIECES, pieces_in_worker

#: Files whose rows are read some at a time, at no further cost.
IN_BATCHES = (".parquet", ".feather", ".arrow")
_DATABASES = (".duckdb", ".ddb", ".db")
_READERS: dict[tuple[str, ...], Callable[[Path, ReadOptions], Pieces]] = {
    (".parquet",): partial(pieces_in_worker, PARQUET_PIECES),
    (".feather", ".arrow"): partial(pieces_in_worker, FEATHER_PIECES),
    _DATABASES: partial(pieces_in_worker, DUCKDB_PIECES),
    (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz"): csv_pieces,
}


def is_large(path: Path) -> bool:
    """Whether a source is read in pieces unasked: a folder, a database, or a file that takes too much memory (`limits.py`)."""
    try:
        return path.is_dir() or (path.is_file() and (path.name.lower().endswith(_DATABASES) or path.stat().st_size > MAX_BYTES))
    except (OSError, ValueError):
        return False


def stamp_of(path: Path) -> list[tuple[object, ...]]:
    """What changes, with the content of a source, about its files; a database may have one more for its last changes."""
    files = files_of(path) if path.is_dir() else [path, path.with_name(f"{path.name}.wal")]
    states = [(file.name, file.stat()) for file in files if file.exists()]
    return [(name, state.st_ino, state.st_size, state.st_mtime_ns) for name, state in states]


def pieces_of(path: Path, asked: ReadOptions) -> Pieces:
    """The source, ready to be read; raises TableError."""
    try:
        if path.is_dir():
            return joined([_file(file, asked) for file in files_of(path)], path.name)
        return _file(path, asked)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        what = f"{named(path)} cannot be read: {reason}."
        raise TableError("not-a-file", what, remedy="Check the path; it must name a table.") from None


def _file(path: Path, asked: ReadOptions) -> Pieces:
    with open(path, "rb"):  # engines say less plainly that there is no file
        pass
    for endings, reader in _READERS.items():
        if path.name.lower().endswith(endings):
            return reader(path, replace(asked, title=path.name))
    listed = ", ".join(ending for endings in _READERS for ending in endings)
    what = f"{path.name!r} is none of the files that can be read in pieces ({listed})."
    raise TableError("not-in-pieces", what, remedy="Save the table as Parquet.")
