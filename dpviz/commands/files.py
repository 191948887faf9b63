"""Files that commands write: completely or not at all, and never over another file by accident."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path

from dpviz import files
from dpviz.errors import DpvizError, named, place

#: What `--out` is for stdout. A command then prints its results on stderr.
STDOUT = Path("-")


def add_output_arguments(parser: ArgumentParser, what: str, *, required: bool = True) -> None:
    """`--out` and `--force`."""
    parser.add_argument("--out", required=required, type=Path, metavar="FILE", help=f"where to write {what}; - for stdout")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def check_output(path: Path | None, *, force: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Raise DpvizError before the work rather than after it: FILE exists, is an input, or its folder does not exist."""
    if path is None or path == STDOUT:
        return
    try:
        if path.exists():
            _check_existing(path, force, inputs)
        elif not path.parent.is_dir():
            remedy = "Create the folder first, or choose another one."
            raise DpvizError(f"There is no folder {named(path.parent)}.", where=place(path), remedy=remedy)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _check_existing(path: Path, force: bool, inputs: Iterable[Path | None]) -> None:
    if not path.is_file():
        raise DpvizError("This is not an ordinary file.", where=place(path), remedy="Give the name of a file to write.")
    if any(other and other.exists() and path.samefile(other) for other in inputs):
        raise DpvizError("The result would overwrite its own input.", where=place(path), remedy="Choose another --out.")
    if not force:
        raise DpvizError("The file exists.", where=place(path), remedy="Choose another --out, or add --force to overwrite it.")


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
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: Exception) -> DpvizError:
    reason = getattr(error, "strerror", None) or str(error)
    remedy = "Choose a folder that exists and may be written to."
    return DpvizError(f"The file cannot be written: {reason}.", where=place(path), remedy=remedy)
