"""Files that commands write: completely or not at all, and never over another file by accident."""

import os
import time
from argparse import ArgumentParser
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dpviz.errors import DpvizError

#: All of a file, or its text part by part.
Content = str | bytes | Iterable[str]


def add_output_arguments(parser: ArgumentParser, what: str, *, required: bool = True) -> None:
    """`--out` and `--force`."""
    parser.add_argument("--out", required=required, type=Path, metavar="FILE", help=f"where to write {what}")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def check_output(path: Path | None, *, force: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Raise DpvizError before the work rather than after it: FILE exists, is an input, or its folder does not exist."""
    if path is None:
        return
    if str(path) == "-":
        raise DpvizError("'-' is no file: results are not written to a pipe.", where="--out", remedy="Give the name of a file.")
    try:
        if path.exists():
            _check_existing(path, force, inputs)
        elif not path.parent.is_dir():
            remedy = "Create the folder first, or choose another one."
            raise DpvizError(f"There is no folder {str(path.parent)!r}.", where=str(path), remedy=remedy)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _check_existing(path: Path, force: bool, inputs: Iterable[Path | None]) -> None:
    if not path.is_file():
        raise DpvizError("This is not an ordinary file.", where=str(path), remedy="Give the name of a file to write.")
    if any(other and other.exists() and path.samefile(other) for other in inputs):
        raise DpvizError("The result would overwrite its own input.", where=str(path), remedy="Choose another --out.")
    if not force:
        raise DpvizError("The file exists.", where=str(path), remedy="Choose another --out, or add --force to overwrite it.")


def write_whole(path: Path, content: Content, *, force: bool) -> None:
    """Write a new file next to `path`, then move it there, so that nobody ever sees half a file. Text is written as UTF-8.

    Raises DpvizError when that is impossible, and leaves nothing behind.
    """
    check_output(path, force=force)
    try:
        _replace(Path(os.path.realpath(path)), content)  # an existing link keeps pointing where it points
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _replace(target: Path, content: Content) -> None:
    part = target.with_name(f".dpviz-{os.getpid()}-{time.monotonic_ns()}.part")
    try:
        _write_and_sync(part, content)
        os.replace(part, target)
    finally:
        with suppress(OSError):  # already moved, or never made
            part.unlink()


def _write_and_sync(path: Path, content: Content) -> None:
    with open(path, "xb") as file:
        for part in [content] if isinstance(content, (str, bytes)) else content:
            file.write(part if isinstance(part, bytes) else part.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())


def _unwritable(path: Path, error: Exception) -> DpvizError:
    reason = getattr(error, "strerror", None) or str(error)
    remedy = "Choose a folder that exists and may be written to."
    return DpvizError(f"The file cannot be written: {reason}.", where=str(path), remedy=remedy)
