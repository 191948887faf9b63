"""A large table as pieces, each a `RawTable` of its own. Every reader is row-wise, so pieces give what the whole would.

Folders are read file by file, in the order of their names: files of one kind with the same columns.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpviz.errors import TableError
from dpviz.progress import Progress
from dpviz.table.raw import RawTable


@dataclass(frozen=True)
class Pieces:
    """A source that can be read."""

    title: str  #: What messages call it
    #: All its columns, in order. Public.
    names: tuple[str, ...]
    #: Reads it from the start; the progress is told the share that is read, and may raise Cancelled.
    read: Callable[[Progress], Iterator[RawTable]]
    notes: tuple[str, ...] = ()  #: What the reader assumed
    is_text: bool = False  #: Whether it reads lines, one by one: that takes far longer than to keep what they say


def joined(parts: Sequence[Pieces], title: str) -> Pieces:
    """Files one after another; raises TableError unless all have the same columns."""
    first = parts[0]
    for part in parts:
        if set(part.names) != set(first.names):
            what = f"The files {first.title!r} and {part.title!r} of the folder have different columns."
            raise TableError("several-files", what, remedy="Keep files of one table in a folder.")

    def read(step: Progress) -> Iterator[RawTable]:
        for number, part in enumerate(parts):
            yield from part.read(lambda share, number=number: step((number + share) / len(parts)))  # type: ignore[misc]

    return replace(first, title=title, read=read)


def files_of(folder: Path) -> list[Path]:
    """The files of a folder, by name; hidden ones and marks like _SUCCESS are none of the table's. Raises TableError."""
    found = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    if any(path.is_dir() for path in found):
        what = "The folder has folders inside, whose names may hold values of a column."
        raise TableError("several-files", what, remedy="Name the folder that holds the files.")
    if not found:
        raise TableError("not-a-file", "The folder has no files.", remedy="Name a folder that holds the files of one table.")
    if len({path.suffix.lower() for path in found}) > 1:
        what = "The folder has files of several kinds."
        raise TableError("several-files", what, remedy="Keep the files of one table, all of one kind, in a folder.")
    return found
