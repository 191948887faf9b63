"""Tables directly in a folder that somebody allowed to be read: links are followed, and may not lead out of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpviz.errors import DpvizError, TableError
from dpviz.io.tables.read import PACKINGS, TEXTS, TYPED_ENDINGS, WORKBOOKS, has_header_line, read_table
from dpviz.table.raw import RawTable

_ENDINGS = (*TEXTS, *WORKBOOKS, *TYPED_ENDINGS, *PACKINGS)


@dataclass(frozen=True)
class FolderFile:
    """A file, by its name and its folder."""

    name: str
    place: str

    @property
    def has_header_line(self) -> bool:
        """Whether its first line or row may hold names or a row."""
        return has_header_line(self.name)

    def read(self, **options: Any) -> RawTable:
        """Its table, as `read_table` reads it. Raises TableError, also where it leads out of its folder by now."""
        path = _resolve(Path(self.place), self.name)
        if path is None:
            raise TableError("not-a-file", "This file is gone, or leads out of its folder.", remedy="Choose another one.")
        return read_table(path, name=self.name, **options)


def files_in(folder: str) -> list[FolderFile]:
    """Its tables, by name and not hidden. Raises DpvizError, which does not name the folder."""
    try:
        names = sorted(path.name for path in Path(folder).iterdir() if path.name.lower().endswith(_ENDINGS))
    except OSError as error:
        what = f"The folder cannot be read: {error.strerror}."
        raise DpvizError(what, remedy="Whoever named it must correct that.") from None
    return [FolderFile(name, folder) for name in names if name[0] != "." and _resolve(Path(folder), name) is not None]


def _resolve(folder: Path, name: str) -> Path | None:
    """The file that a name in the folder leads to, unless it lies elsewhere or is none."""
    try:
        real = (folder / name).resolve(strict=True)
        return real if real.is_relative_to(folder.resolve(strict=True)) and real.is_file() else None
    except (OSError, RuntimeError):  # gone, or a circle of links
        return None
