"""Released files: written under another name in the same folder, synced, renamed, and recognised by their hash."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from dpviz.errors import DpvizError


def write_part(target: Path, token: str, text: str) -> Path:
    """Write UTF-8 text to a file in the folder of `target`, sync it, and return its path.

    Raises DpvizError and leaves nothing behind when that fails.
    """
    part = target.with_name(f".dpviz-{token}.part")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, ValueError) as error:
        discard(part)
        raise _unwritable(target, error) from error
    return part


def move_into_place(part: Path, target: Path) -> None:
    """Rename the finished file to `target`, which must not exist yet, and sync the folder."""
    try:
        if target.exists():  # it may be another release, which is never overwritten
            raise FileExistsError(0, "There is already a file of this name")
        os.replace(part, target)
        _sync_folder(target.parent)
    except OSError as error:
        discard(part)
        raise _unwritable(target, error) from error


def discard(part: Path) -> None:
    """Remove an unfinished file."""
    with suppress(OSError):  # it was never made, or has been renamed
        part.unlink()


def is_file_with(path: Path, sha256: str) -> bool:
    """True when there is a file at `path` and it has this hash."""
    try:
        return sha256_of(path) == sha256
    except (OSError, ValueError):
        return False


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    """Makes the file's name survive a loss of power; systems that cannot open a folder sync it themselves."""
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _unwritable(path: Path, error: Exception) -> DpvizError:
    reason = getattr(error, "strerror", None) or str(error)
    remedy = "Choose a new file in a folder you can write to. What was started stays spent."
    return DpvizError(f"The released file cannot be written: {reason}.", where=str(path), remedy=remedy)
