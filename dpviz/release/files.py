"""Files beside the register: released files, written whole and recognised by their hash, and the key with its counter.

A fingerprint in the register is a keyed digest, so whoever has the register alone cannot check a guess at somebody's row. The
file with the key also keeps how many changes the register has had: one with fewer is an old copy.
"""

import errno
import hashlib
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from dpviz.errors import DpvizError, path_text
from dpviz.files import write_whole
from dpviz.randomness import random_128_bits

#: Bytes of a released file; an hour of training makes a few megabytes.
_MAX_FILE_BYTES = 256 << 20
#: How a released file's name ends.
SUFFIX = ".json"


def key_path(register: Path) -> Path:
    """The file with the key."""
    return register.with_name(f"{register.name}.key")


def read_key(register: Path) -> tuple[bytes, int]:
    """The key, empty where there is none, and how many changes were kept."""
    try:
        key, counter = (*key_path(register).read_text(encoding="ascii").split(), "0")[:2]
        return bytes.fromhex(key), int(counter)
    except (FileNotFoundError, ValueError):
        return b"", 0


def make_key(register: Path) -> bytes:
    """A new key of 256 bits. Only for whoever holds the register: two at once would make two."""
    key = b"".join(random_128_bits().to_bytes(16, "big") for _ in range(2))
    write_whole(key_path(register), f"{key.hex()}\n", mode=0o600)
    return key


def keep_counter(register: Path, counter: int) -> None:
    """Keep that the register has had so many changes, unless more are known."""
    key, latest = read_key(register)
    if key and counter > latest:
        write_whole(key_path(register), f"{key.hex()}\n{counter}\n", mode=0o600)


def require_new_file(target: Path, *, make_folder: bool = False) -> None:
    """Raise DpvizError where no released file can be written to `target`: before anything is spent.

    It ends in .json, nothing stands there, and its folder can be written to; `make_folder` makes it.
    """
    try:
        if target.suffix.lower() != SUFFIX:
            remedy = f"Give a name that ends in {SUFFIX}."
            raise DpvizError("A released file is a JSON document.", where=path_text(target), remedy=remedy)
        with suppress(FileNotFoundError):
            os.lstat(target)
            remedy = "A release never overwrites a file. Choose another name."
            raise DpvizError("The file exists.", where=path_text(target), remedy=remedy)
        if make_folder:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not target.parent.is_dir():
            remedy = "Create the folder first, or choose another one."
            raise DpvizError(f"There is no folder {path_text(target.parent)!r}.", where=path_text(target), remedy=remedy)
        with TemporaryFile(dir=target.parent):
            pass
    except (OSError, ValueError) as error:
        raise _unwritable(target, error, spent=False) from None  # it would be shown with the whole path


def put_in_place(target: Path, token: str, text: str, sha256: str) -> None:
    """Write a released file where no other file may stand, whole or not at all, and sync its folder.

    Only for whoever holds the register: two at once would write one part. What a kill leaves of it, the next call replaces.
    Raises DpvizError, and leaves nothing, where it cannot be written.
    """
    part = target.with_name(f".dpviz-{token}.part")
    try:
        if is_file_with(target, sha256):
            return
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if target.exists():  # it may be another release, which is never overwritten
            raise FileExistsError(0, "There is already a file of this name")
        if not is_file_with(part, sha256):  # which an older version left
            if not text:
                raise FileNotFoundError(0, "Its text is gone")
            with open(part, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        os.replace(part, target)
        _sync_folder(target.parent)
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):  # it was never made
            part.unlink()
        raise _unwritable(target, error) from error


def text_of(path: Path) -> str:
    """The text of a released file; raises OSError where it is larger than one ever is, or a device, a pipe or a folder."""
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "There is no ordinary file", str(path))
    with open(path, "rb") as file:
        raw = file.read(_MAX_FILE_BYTES + 1)
    if len(raw) > _MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, "The file is too large", str(path))
    return raw.decode("utf-8")


def released_text(path: Path, sha256: str) -> str:
    """A released file, read once and checked; raises DpvizError when it is gone or was changed."""
    with suppress(OSError, ValueError):
        text = text_of(path)
        if hashlib.sha256(text.encode()).hexdigest() == sha256:
            return text
    raise DpvizError("The released file is gone or was changed.", where=path.name, remedy="Put back a copy.")


def is_file_with(path: Path, sha256: str) -> bool:
    """True when there is an ordinary file at `path` and it has this hash."""
    try:
        return released_text(path, sha256) is not None
    except DpvizError:
        return False


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
    remedy = "Choose a new file in a folder you can write to. Nothing was spent."
    if spent:
        remedy = "What was started stays spent; make room at this path, and the file is put there when the register is used next."
    return DpvizError(f"The released file cannot be written: {reason}.", where=path_text(path), remedy=remedy)
