"""Files that are written whole or not at all, whatever happens in between."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from dpviz.randomness import random_128_bits

#: All of a file, or its content part by part. Texts are written as UTF-8.
Content = str | bytes | Iterable[str] | Iterable[bytes]
#: Letters of its name that a part bears: with the others it might be longer than a file system allows.
_PREFIX_LENGTH = 50


def write_whole(target: Path, content: Content, *, mode: int = 0o666) -> None:
    """Write a new file beside `target`, sync it, and move it there, in place of what was there; `mode` are its permissions.

    A program that is killed leaves the old file, and perhaps one called `.TARGET-....part`. Raises OSError or ValueError, and
    leaves nothing behind, when it cannot be written.
    """
    part = target.with_name(f".{target.name[:_PREFIX_LENGTH]}-{random_128_bits():032x}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with open(handle, "wb") as file:
            file.writelines(parts_of(content))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):  # it was never made
            part.unlink()
        raise


def parts_of(content: Content) -> Iterator[bytes]:
    """The bytes of a file, part by part."""
    for part in [content] if isinstance(content, (str, bytes)) else content:
        yield part.encode("utf-8") if isinstance(part, str) else part
