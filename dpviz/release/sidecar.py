"""What stands beside the register's file: the key of its fingerprints, and how many changes the register has had.

A fingerprint in the register is a keyed digest, so whoever has the register alone cannot check a guess at somebody's row. The
counter tells an old copy of the register from the present one. Only its owner may read the file.
"""

import hmac
import os
from contextlib import suppress
from pathlib import Path
from time import time

from dpviz.files import left_behind, write_whole
from dpviz.randomness import random_128_bits

#: A part of a file that nobody has touched for so many seconds is nobody's any more.
_LEFT_BEHIND = 60.0


def key_path(register: Path) -> Path:
    """The file with the key."""
    return register.with_name(f"{register.name}.key")


def keyed_digest(key: bytes, text: str) -> str:
    """HMAC-SHA256, hexadecimal (RFC 2104)."""
    return hmac.digest(key, text.encode(), "sha256").hex()


def is_open_to_others(register: Path) -> bool:
    """Whether others than the owner may read or write the register or its key. Windows keeps such rights elsewhere."""
    found = (path for path in (register, key_path(register)) if path.exists())
    return os.name != "nt" and any(path.stat().st_mode & 0o077 for path in found)


def read_key(register: Path) -> bytes | None:
    """The key; None where there is none."""
    try:
        return bytes.fromhex(_lines(register)[0]) or None
    except (FileNotFoundError, ValueError):
        return None


def make_key(register: Path) -> bytes:
    """A new key of 256 bits. Only for whoever holds the register: two at once would make two."""
    key = b"".join(random_128_bits().to_bytes(16, "big") for _ in range(2))
    write_whole(key_path(register), f"{key.hex()}\n", mode=0o600)
    return key


def read_counter(register: Path) -> int:
    """How many changes were kept; 0 where none were."""
    try:
        return int(_lines(register)[1])
    except (FileNotFoundError, ValueError, IndexError):
        return 0


def keep_counter(register: Path, counter: int) -> None:
    """Keep that the register has had so many changes, unless more are known."""
    key = read_key(register)
    if key is not None and counter > read_counter(register):
        write_whole(key_path(register), f"{key.hex()}\n{counter}\n", mode=0o600)
        _clear_parts(key_path(register))


def _lines(register: Path) -> list[str]:
    return key_path(register).read_text(encoding="ascii").strip().split("\n")


def read_head(register: Path) -> str:
    """The latest head of a register that had a chain of entries; empty where none was kept."""
    try:
        return _head_path(register).read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


def forget_head(register: Path) -> None:
    """Remove it, once the register has a counter."""
    _head_path(register).unlink(missing_ok=True)


def _head_path(register: Path) -> Path:
    return register.with_name(f"{register.name}.head")


def _clear_parts(target: Path) -> None:
    """Remove what kills have left behind of this file: to write it takes milliseconds."""
    for part in left_behind(target):
        with suppress(OSError):  # another process has removed it
            if time() - part.stat().st_mtime > _LEFT_BEHIND:
                part.unlink()
