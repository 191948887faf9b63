"""Unfinished work kept between sessions, one small file for each, found by a key that cannot be guessed.

A folder of its owner's alone (0700) with files of its owner's alone (0600). A file is replaced whole or not at all, so a program
that is killed leaves the one before.
"""

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time

from dpviz.errors import DpvizError
from dpviz.files import write_whole
from dpviz.randomness import random_128_bits

#: Bytes of the largest file: 2,000 columns of 1,000 categories have fewer.
MOST_BYTES = 50_000_000
#: A draft that nobody has opened or changed for so many days is removed.
DAYS_KEPT = 90
_KEY = re.compile("[0-9a-f]{32}")
#: Drafts, and what a killed program left of one.
_OURS = re.compile(r"[0-9a-f]{32}\.json|\.[0-9a-f]{32}(\.json)?-[0-9a-f]{32}\.part")


def new_key() -> str:
    """A key that nobody has and nobody guesses: 128 random bits, hexadecimal."""
    return f"{random_128_bits():032x}"


@dataclass(frozen=True)
class DraftFolder:
    """The folder; it is made when something is kept in it."""

    path: Path

    def keep(self, key: str, text: str) -> None:
        """Write `text` under this key, in place of what was there, and remove drafts of more than DAYS_KEPT days.

        Raises DpvizError when the text cannot be written; then the old text stays.
        """
        target = self._file(key)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(target, text, mode=0o600)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it cannot be written as text"
            remedy = "Check the permissions of the folder and the room on its disk, or save the draft as a file."
            raise DpvizError(f"The draft cannot be kept: {reason}.", where=str(self.path), remedy=remedy) from error
        self._remove_old(time() - DAYS_KEPT * 24 * 3600)

    def _remove_old(self, before: float) -> None:
        """Remove what was last written before this moment, in seconds since 1970. What cannot be removed stays."""
        for file in self.path.iterdir():
            with suppress(OSError):  # another session was faster, or it is another user's
                if _OURS.fullmatch(file.name) and file.lstat().st_mtime < before:
                    file.unlink()

    def read(self, key: str) -> bytes:
        """What is kept under this key. Raises DpvizError where there is nothing that can be read."""
        try:
            handle = os.open(self._file(key), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            with open(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise OSError(0, "Not a file")
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise _nothing() from error
        if len(content) > MOST_BYTES:
            raise DpvizError("The draft is too large to be one.", remedy="Choose the table again, or open a schema file.")
        return content

    def forget(self, key: str) -> None:
        """Remove what is kept under this key, if there is anything. Raises DpvizError when that fails."""
        try:
            self._file(key).unlink(missing_ok=True)
        except OSError as error:
            what = f"The draft cannot be removed: {error.strerror}."
            raise DpvizError(what, where=str(self.path), remedy="Check the permissions of the folder.") from error

    def _file(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise _nothing()
        return self.path / f"{key}.json"


def _nothing() -> DpvizError:
    what = (
        "There is no draft at this address: it was forgotten, nobody has opened it for "
        f"{DAYS_KEPT} days, or it was made on another machine or by another user."
    )
    return DpvizError(what, remedy="Choose the table again, or open a schema file.")
