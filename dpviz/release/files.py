"""Released files: written under another name in the same folder, synced, renamed, and recognised by their hash."""

import errno
import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TextIO

from dpviz.errors import DpvizError, place

if sys.platform != "win32":
    import fcntl

#: Bytes of a released file; an hour of training makes a few megabytes.
_LARGEST = 256 << 20
#: How a released file's name ends.
SUFFIX = ".json"


def part_of(target: Path, token: str) -> Path:
    """Where the file of a release is written before it is moved to `target`."""
    return target.with_name(f".dpviz-{token}.part")


def require_new_file(target: Path, *, make_folder: bool = False) -> None:
    """Raise DpvizError where no released file can be written to `target`: before anything is spent.

    It ends in .json, nothing stands there, and its folder can be written to; `make_folder` makes it.
    """
    try:
        if target.suffix.lower() != SUFFIX:
            remedy = f"Give a name that ends in {SUFFIX}."
            raise DpvizError("A released file is a JSON document.", where=place(target), remedy=remedy)
        with suppress(FileNotFoundError):
            os.lstat(target)
            remedy = "A release never overwrites a file. Choose another name."
            raise DpvizError("The file exists.", where=place(target), remedy=remedy)
        if make_folder:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not target.parent.is_dir():
            remedy = "Create the folder first, or choose another one."
            raise DpvizError(f"There is no folder {str(target.parent)!r}.", where=place(target), remedy=remedy)
        with TemporaryFile(dir=target.parent):
            pass
    except (OSError, ValueError) as error:
        raise _unwritable(target, error, spent=False) from error


def write_part(target: Path, token: str, text: str) -> TextIO:
    """Write UTF-8 text to a file in the folder of `target`, sync it, and return it, still open.

    While it is open nobody takes it for what a crash left behind. Raises DpvizError and leaves nothing behind when that fails.
    """
    part = part_of(target, token)
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = open(part, "w", encoding="utf-8", newline="\n")  # noqa: SIM115 - whoever called closes it
        _hold(file)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    except (OSError, ValueError) as error:
        discard(part)
        raise _unwritable(target, error) from error
    return file


def move_into_place(part: Path, target: Path, sha256: str) -> None:
    """Rename the finished file to `target`, where no other file may stand, and sync the folder.

    Raises DpvizError and removes the file when that fails. Another process may have moved it first: then all is well.
    """
    try:
        _move(part, target, sha256)
    except OSError as error:
        discard(part)
        raise _unwritable(target, error) from error


def _move(part: Path, target: Path, sha256: str) -> None:
    if not is_file_with(target, sha256):
        if target.exists():  # it may be another release, which is never overwritten
            raise FileExistsError(0, "There is already a file of this name")
        try:
            os.replace(part, target)
        except FileNotFoundError:
            if not is_file_with(target, sha256):
                raise
    _sync_folder(target.parent)


def recover(target: Path, token: str, sha256: Callable[[str], str]) -> None:
    """What a crash left of a release: move a whole file to its place, remove half a one.

    A file that is being written is left alone, and one that cannot be moved stays where it is. `sha256` gives the hash noted in
    the register, asked for once the writer is gone: only then is it final.
    """
    part = part_of(target, token)
    if not _is_left_behind(part):
        return
    if (noted := sha256(token)) and is_file_with(part, noted):
        with suppress(OSError):
            _move(part, target, noted)
    else:
        discard(part)


def _is_left_behind(part: Path) -> bool:
    try:
        with open(part, "rb") as file:
            return _hold(file)
    except OSError:  # there is none
        return False


def _hold(file: IO[Any]) -> bool:
    """Lock a file until it is closed; False while another has it open. Windows removes and moves no open file: nothing to do."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def discard(part: Path) -> None:
    """Remove an unfinished file."""
    with suppress(OSError):  # it was never made, or has been renamed
        part.unlink()


def text_of(path: Path) -> str:
    """The text of a released file; raises OSError where it is larger than one ever is, or a device, a pipe or a folder."""
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "There is no ordinary file", str(path))
    with open(path, "rb") as file:
        raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise OSError(errno.EFBIG, "The file is too large", str(path))
    return raw.decode("utf-8")


def released_text(path: Path, sha256: str) -> str:
    """A released file, read once and checked; raises DpvizError when it is gone or was changed."""
    try:
        text = text_of(path)
    except (OSError, ValueError):
        text = ""
    if hashlib.sha256(text.encode()).hexdigest() != sha256:
        raise DpvizError("The released file is gone or was changed.", where=path.name, remedy="Put back a copy.")
    return text


def is_file_with(path: Path, sha256: str) -> bool:
    """True when there is an ordinary file at `path` and it has this hash."""
    try:
        return path.is_file() and sha256_of(path) == sha256
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


def _unwritable(path: Path, error: Exception, *, spent: bool = True) -> DpvizError:
    reason = getattr(error, "strerror", None) or str(error)
    remedy = f"Choose a new file in a folder you can write to. {'What was started stays' if spent else 'Nothing was'} spent."
    return DpvizError(f"The released file cannot be written: {reason}.", where=place(path), remedy=remedy)
