"""A draft on disk: its owner's alone, replaced whole, found by its key; whatever else lies there is a typed error."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from time import time

import pytest

from dpviz.errors import DpvizError
from dpviz.io import drafts
from dpviz.io.drafts import DraftFolder, new_key
from tests.conftest import ROOT

KEY = "0123456789abcdef" * 2
#: Writes one text after another, as fast as it can, until it is killed.
WRITER = f"""
from itertools import cycle
from pathlib import Path
import sys
from dpviz.io.drafts import DraftFolder
folder = DraftFolder(Path(sys.argv[1]))
for letter in cycle("ab"):
    folder.keep({KEY!r}, letter * 200_000)
    print(letter, flush=True)
"""


def test_a_draft_comes_back_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    folder = DraftFolder(tmp_path / "dpviz" / "drafts")
    for text in ("{}", "São 日本\n"):
        folder.keep(KEY, text)
        assert folder.read(KEY).decode() == text
    [file] = folder.path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_keys_are_random_and_of_128_bits() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {32}


def test_a_forgotten_draft_is_gone(tmp_path: Path) -> None:
    folder = DraftFolder(tmp_path)
    folder.keep(KEY, "{}")
    for _ in range(2):
        folder.forget(KEY)
        with pytest.raises(DpvizError, match="There is no draft at this address"):
            folder.read(KEY)


def test_drafts_that_nobody_has_opened_for_long_are_removed(tmp_path: Path) -> None:
    folder, day = DraftFolder(tmp_path), 24 * 3600
    young, old = (f"{letter * 32}.json" for letter in "ab")
    ages = {old: 91, f"{old} ": 91, young: 89, f".{KEY}-{new_key()}.part": 91}
    for name, days in {**ages, "notes.txt": 400, "dpviz.json": 400}.items():
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (time() - days * day,) * 2)
    folder.keep(KEY, "{}")
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {f"{KEY}.json", "notes.txt", "dpviz.json", young, f"{old} "}


def test_a_draft_that_is_opened_again_starts_anew(tmp_path: Path) -> None:
    folder = DraftFolder(tmp_path)
    folder.keep(KEY, "{}")
    os.utime(tmp_path / f"{KEY}.json", (0, 0))
    folder.keep(KEY, "{}")
    folder.keep(new_key(), "{}")
    assert folder.read(KEY) == b"{}"


@pytest.mark.parametrize("key", ["", "x", "../releases", KEY.upper(), f"{KEY}/..", f"{KEY}\n", "0" * 31, "é" * 32])
def test_what_is_no_key_names_no_file(key: str, tmp_path: Path) -> None:
    folder = DraftFolder(tmp_path / "drafts")
    for use in (folder.read, folder.forget, lambda key: folder.keep(key, "{}")):
        with pytest.raises(DpvizError, match="There is no draft at this address"):
            use(key)
    assert not list(tmp_path.rglob("*.json"))


def test_links_folders_and_pipes_are_no_drafts(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("45,HIV+")
    for make in (lambda path: path.symlink_to(secret), Path.mkdir, os.mkfifo):
        place = tmp_path / f"{KEY}.json"
        make(place)
        with pytest.raises(DpvizError, match="There is no draft at this address") as caught:
            DraftFolder(tmp_path).read(KEY)
        assert "HIV" not in str(caught.value)
        place.rmdir() if place.is_dir() else place.unlink()


def test_a_file_too_large_to_be_a_draft_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST_BYTES", 10)
    DraftFolder(tmp_path).keep(KEY, "1" * 11)
    with pytest.raises(DpvizError, match="too large"):
        DraftFolder(tmp_path).read(KEY)


def test_what_cannot_be_written_leaves_the_draft_before_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = DraftFolder(tmp_path)
    folder.keep(KEY, "before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DpvizError, match="No space left on device"):
        folder.keep(KEY, "after")
    assert folder.read(KEY) == b"before"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_a_whole_draft(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        for _ in range(20):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    assert DraftFolder(tmp_path).read(KEY).decode() in ("a" * 200_000, "b" * 200_000)
