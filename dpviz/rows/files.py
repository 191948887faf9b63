"""Files and folders that are read in batches, each by its ending: a file of this size is not opened to find out.

Parquet and Feather are read in a worker, CSV by our own reader of lines. Every reader is row-wise, so batches give what the whole
would. Folders are read file by file, in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from dpviz.errors import TableError, file_name_text
from dpviz.io.limits import MAX_BYTES
from dpviz.io.options import ReadOptions
from dpviz.io.worker import FORMATS, batches_in_worker
from dpviz.progress import Progress
from dpviz.rows.sources import Batches
from dpviz.rows.text import csv_batches
from dpviz.table.raw import RawTable

_FORMATS = [format for format in FORMATS if format.in_batches]
#: Files whose rows are read some at a time, at no further cost.
IN_BATCHES = tuple(chain.from_iterable(format.endings for format in _FORMATS))
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz")


def is_large(path: Path) -> bool:
    """Whether a source is read in batches unasked: a folder, or a file that takes too much memory (`limits.py`)."""
    try:
        return path.is_dir() or (path.is_file() and path.stat().st_size > MAX_BYTES)
    except (OSError, ValueError):
        return False


def batches_of(path: Path, options: ReadOptions) -> Batches:
    """The source, ready to be read: its files one after another, which must have the same columns. Raises TableError."""
    try:
        files = _files_of(path) if path.is_dir() else [path]
        parts = [_file(file, options) for file in files]
    except TableError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        what = f"{file_name_text(path)} cannot be read: {reason}."
        raise TableError("not-a-file", what, remedy="Check the path; it must name a table.") from None
    for file, part in zip(files, parts, strict=True):
        if set(part.names) != set(parts[0].names):
            what = f"The files {files[0].name!r} and {file.name!r} of the folder have different columns."
            raise TableError("several-files", what, remedy="Keep files of one table in a folder.")

    def read(step: Progress) -> Iterator[RawTable]:
        for number, part in enumerate(parts):
            yield from part.read(lambda share, number=number: step((number + share) / len(parts)))  # type: ignore[misc]

    return replace(parts[0], read=read)


def _file(path: Path, options: ReadOptions) -> Batches:
    with open(path, "rb"):  # engines say less plainly that there is no file
        pass
    options, name = replace(options, title=path.name), path.name.lower()
    if name.endswith(_TEXT):
        return csv_batches(path, options)
    for format in _FORMATS:
        if name.endswith(format.endings):
            facts, read = batches_in_worker(format, path, options)
            return Batches(facts.names, read, facts.notes)
    what = f"{path.name!r} is none of the files that can be read in batches ({', '.join((*IN_BATCHES, *_TEXT))})."
    raise TableError("not-in-pieces", what, remedy="Save the table as Parquet, or give its address in a database.")


def _files_of(folder: Path) -> list[Path]:
    """The files of a folder, by name; hidden ones and marks like _SUCCESS are none of the table's. Raises TableError."""
    files = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    if any(path.is_dir() for path in files):
        what = "The folder has folders inside, whose names may hold values of a column."
        raise TableError("several-files", what, remedy="Name the folder that holds the files.")
    if not files:
        raise TableError("not-a-file", "The folder has no files.", remedy="Name a folder that holds the files of one table.")
    if len({path.suffix.lower() for path in files}) > 1:
        what = "The folder has files of several kinds."
        raise TableError("several-files", what, remedy="Keep the files of one table, all of one kind, in a folder.")
    return files
