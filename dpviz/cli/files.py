"""Files that commands write: completely or not at all, and never over another file by accident."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from dpviz import files
from dpviz.cli.console import STDOUT
from dpviz.errors import DpvizError, file_name_text, path_text


def check_output(path: Path | None, *, force: bool, inputs: Iterable[Path | str | None] = ()) -> None:
    """Raise DpvizError before the work rather than after it: FILE exists, is an input, or its folder does not exist."""
    if path is None or path == STDOUT:
        return
    wrong = ("", "")
    try:
        if not path.exists():
            if not path.parent.is_dir():
                wrong = f"There is no folder {file_name_text(path.parent)}.", "Create the folder first, or choose another one."
        elif not path.is_file():
            wrong = "This is not an ordinary file.", "Give the name of a file to write."
        elif any(isinstance(other, Path) and other.exists() and path.samefile(other) for other in inputs):
            wrong = "The result would overwrite its own input.", "Choose another --out."
        elif not force:
            wrong = "The file exists.", "Choose another --out, or add --force to overwrite it."
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    if wrong[0]:
        raise DpvizError(wrong[0], where=path_text(path), remedy=wrong[1])


def write_whole(path: Path, content: files.Content, *, force: bool) -> None:
    """As `dpviz.files.write_whole`, once `check_output` allows it.

    To stdout it goes part by part. Raises DpvizError when that is impossible, and leaves no file behind.
    """
    if path == STDOUT:
        sys.stdout.flush()
        for part in files.parts_of(content):
            sys.stdout.buffer.write(part)
        return
    check_output(path, force=force)
    try:
        files.write_whole(Path(os.path.realpath(path)), content)  # an existing link keeps pointing where it points
    except DpvizError:  # of the rows that the content is made of, which are read meanwhile
        raise
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: Exception) -> DpvizError:
    reason = getattr(error, "strerror", None) or str(error)
    remedy = "Choose a folder that exists and may be written to."
    return DpvizError(f"The file cannot be written: {reason}.", where=path_text(path), remedy=remedy)
