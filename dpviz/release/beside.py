"""What stands beside the register's file: the key of its fingerprints, and the latest head of its chain.

A fingerprint in the register is a keyed digest, so whoever has the register alone cannot check a guess at somebody's row. The
head tells an old copy of the register from the present one. Both are readable by their owner only.
"""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from pathlib import Path

from dpviz.randomness import random_128_bits


def key_path(register: Path) -> Path:
    """The file with the key."""
    return register.with_name(f"{register.name}.key")


def head_path(register: Path) -> Path:
    """The file with the latest head."""
    return register.with_name(f"{register.name}.head")


def keyed(key: bytes, text: str) -> str:
    """HMAC-SHA256, hexadecimal (RFC 2104)."""
    return hmac.digest(key, text.encode(), "sha256").hex()


def read_key(register: Path) -> bytes | None:
    """The key; None where there is none."""
    try:
        return bytes.fromhex(key_path(register).read_text(encoding="ascii").strip()) or None
    except (FileNotFoundError, ValueError):
        return None


def make_key(register: Path) -> bytes:
    """A new key of 256 bits. Only for whoever holds the register: two at once would make two."""
    key = b"".join(random_128_bits().to_bytes(16, "big") for _ in range(2))
    _write(key_path(register), key.hex())
    return key


def read_head(register: Path) -> str:
    """The latest head that was kept; empty where there is none."""
    try:
        return head_path(register).read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


def keep_head(register: Path, head: str) -> None:
    """Keep this head as the latest."""
    if read_head(register) != head:
        _write(head_path(register), head)


def _write(target: Path, text: str) -> None:
    """Whole or not at all, whatever happens in between."""
    part = target.with_name(f".{target.name}-{random_128_bits():032x}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
