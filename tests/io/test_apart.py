"""A library that crashes, hangs or takes all memory at a file ends one reading, in words, and nothing else."""

from __future__ import annotations

import io
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

from dpviz.errors import Cancelled, TableError
from dpviz.io import apart
from dpviz.io.large.source import pieces_of
from dpviz.io.tables.cells import ReadRequest
from dpviz.io.tables.read import read_table
from dpviz.randomness import generator
from dpviz.table.raw import RawTable
from tests.support.paths import ROOT
from tests.support.table_files import WRITERS, drawn_rows

#: Kind of file -> what its library is called by, which the tests replace in the other process alone.
CALLS = {
    "sav": "pyreadstat:read_sav",
    "dta": "pyreadstat:read_dta",
    "xlsx": "openpyxl:load_workbook",
    "parquet": "pyarrow.parquet:ParquetFile",
    "feather": "pyarrow.ipc:open_file",
}
FAULTS = {"crashes": "os.abort()", "hangs": "time.sleep(3600)", "eats": "held = [b'x' * 10_000_000 for _ in itertools.count()]"}
#: Every kind with one fault is fast enough to be asked always; all with all are asked with the slow tests.
CASES = [pytest.param(kind, fault, marks=[] if kind == "sav" else pytest.mark.slow) for kind in CALLS for fault in FAULTS] + [
    pytest.param("parquet", "crashes", id="parquet-crashes-fast")
]
CODES = {"crashes": "crashed", "hangs": "too-slow", "eats": "too-many-bytes"}
SPOILED = """
import importlib, itertools, os, sys, time
def spoilt(*given, **options):
    {fault}
module = importlib.import_module({module!r})
setattr(module, {name!r}, spoilt)
"""

Spoil = Callable[[str, str], None]


@pytest.fixture
def spoil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spoil]:
    """Give the library of a kind of file a fault, in the processes that are started from now on."""

    def spoiled(kind: str, fault: str) -> None:
        apart.end()
        folder = tmp_path / "first"
        folder.mkdir()
        module, name = CALLS[kind].split(":")
        (folder / "sitecustomize.py").write_text(SPOILED.format(fault=FAULTS[fault], module=module, name=name))
        monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{ROOT}")

    yield spoiled
    apart.end()


def written(kind: str, folder: Path) -> bytes:
    return WRITERS[kind](drawn_rows(1, 30), folder)


@pytest.mark.parametrize(("kind", "fault"), CASES)
@pytest.mark.slow
def test_a_library_that_fails_ends_one_reading_and_no_cell_is_quoted(kind, fault, spoil, tmp_path, monkeypatch):
    content = written(kind, tmp_path)
    spoil(kind, fault)
    if fault == "hangs":
        monkeypatch.setattr(apart, "SECONDS", 0.1)
    with pytest.raises(TableError) as error:
        read_table(content, max_bytes=10_000_000)
    assert error.value.code == CODES[fault]
    assert error.value.remedy
    assert error.value.__cause__ is error.value.__context__ is None
    other = "dta" if kind != "dta" else "parquet"
    if CALLS[other].partition(":")[0] != CALLS[kind].partition(":")[0]:
        monkeypatch.undo()
        assert read_table(written(other, tmp_path)).n_rows > 20


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_so_does_one_that_fails_at_a_file_in_pieces(fault, spoil, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(written("parquet", tmp_path))
    spoil("parquet", fault)
    if fault == "hangs":
        monkeypatch.setattr(apart, "SECONDS", 0.1)
    with pytest.raises(TableError) as error:
        pieces_of(path, ReadRequest("t", 10_000_000))
    assert error.value.code == CODES[fault]


@pytest.mark.slow
def test_a_reading_that_hangs_is_stopped_by_whoever_asked(spoil, tmp_path):
    content = written("sav", tmp_path)
    spoil("sav", "hangs")
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(Cancelled):
        read_table(content, stop=stop)


@pytest.mark.slow
def test_readings_at_once_know_nothing_of_each_other(spoil, tmp_path):
    contents = [written(kind, tmp_path) for kind in ("sav", "parquet")]
    spoil("sav", "crashes")
    found: dict[int, Any] = {}

    def read(place: int) -> None:
        try:
            found[place] = read_table(contents[place % 2]).n_rows
        except TableError as error:
            found[place] = error.code

    threads = [threading.Thread(target=partial(read, place)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[place] for place in range(6)] == ["crashed", 30, "crashed", 30, "crashed", 30]


@pytest.mark.slow
def test_the_process_that_waits_is_started_again_when_it_was_killed(tmp_path):
    content = written("parquet", tmp_path)
    whole = read_table(content)
    os.kill(apart._WAITING[0].process.pid, signal.SIGKILL)
    apart._WAITING[0].process.wait()
    assert read_table(content).fingerprint == whole.fingerprint


HANGING = """
import sys, threading
from dpviz.io import apart
from dpviz.io.tables.read import read_table
threading.Thread(target=read_table, args=(sys.argv[1],), daemon=True).start()
while not apart._WAITING:
    pass
print(apart._WAITING[0].process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux says which processes there are")
@pytest.mark.slow
def test_all_ends_with_a_process_that_is_killed(spoil, tmp_path):
    path = tmp_path / "t.sav"
    path.write_bytes(written("sav", tmp_path))
    spoil("sav", "hangs")
    command = [sys.executable, "-c", HANGING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asking:
        waiting = int(asking.stdout.readline())
        while not (reading := children(waiting)):
            pass
        asking.kill()
    while any(map(is_alive, [waiting, *reading])):
        pass


def children(process: int) -> list[int]:
    return [int(place.name) for place in Path("/proc").glob("[0-9]*") if state(int(place.name))[1:2] == [str(process)]]


def is_alive(process: int) -> bool:
    return state(process)[:1] not in ([], ["Z"])


def state(process: int) -> list[str]:
    """(its state, its parent); nothing where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return []


# --- what is handed over


def test_what_arrives_is_what_was_read_there(tmp_path):
    """To the bit: names, cells, what was left out and what is said about it."""
    for kind in [kind for kind in WRITERS if not kind.startswith("csv")]:
        content = WRITERS[kind]([*drawn_rows(3, 50), (None,) * 5], tmp_path)
        which = {"xlsx": apart.EXCEL, "parquet": apart.PARQUET, "feather": apart.FEATHER, "dta": apart.STATA, "sav": apart.SPSS}[
            kind
        ]
        same(read_table(content, name="t"), apart._reader(which)(content, ReadRequest("t")))


def same(one: RawTable, other: RawTable) -> None:
    assert one.fingerprint == other.fingerprint
    for about in ("source", "notes", "n_malformed", "left_out", "not_row_wise"):
        assert getattr(one, about) == getattr(other, about)
    for mine, its in zip(one.columns, other.columns, strict=True):
        assert type(mine) is type(its)
        np.testing.assert_array_equal(mine.numbers(), its.numbers())
        assert mine.numbers().dtype == its.numbers().dtype


def test_texts_of_any_letters_arrive():
    rng = generator(4)
    texts = ["".join(map(chr, rng.integers(0, 0x110000, 5))) for _ in range(500)] + ["", "\0", "\ud800", "a\0b"]
    assert apart._texts(*apart._in_bytes(texts)) == texts


ONE = {"notes": [], "n_malformed": 0, "not_row_wise": "", "left_out": ["<i8", 0]}
LIES: dict[str, tuple[list[Any], bytes]] = {
    "a code beyond the texts": ([["codes", "a", ["|u1", 1], ["<i8", 1], ["|i1", 1]]], b"x" + struct.pack("<qb", 1, 1)),
    "a code below all": ([["codes", "a", ["|u1", 1], ["<i8", 1], ["|i1", 1]]], b"x" + struct.pack("<qb", 1, -9)),
    "objects": ([["numbers", "a", ["|O", 1]]], b"\0" * 8),
    "more than memory": ([["numbers", "a", ["<f8", 1 << 60]]], b""),
    "more than a table": ([["numbers", "a", ["<f8", 200_000]]], bytes(1_600_000)),
    "less than nothing": ([["numbers", "a", ["<f8", -1]]], b""),
    "columns of two lengths": ([["numbers", "a", ["<f8", 1]], ["numbers", "b", ["<f8", 2]]], b"\0" * 24),
    "no letters": ([["codes", "a", ["|u1", 1], ["<i8", 1], ["|i1", 1]]], b"\xff" + struct.pack("<qb", 1, 0)),
    "no arrays": ([["codes", "a"]], b""),
    "no column": ([7], b""),
}


def test_a_process_that_was_taken_over_can_hand_over_rows_and_nothing_else(monkeypatch):
    """Whatever it writes is refused in words, or is a table."""
    for lie in LIES:
        columns, data = LIES[lie]
        with pytest.raises(TableError) as error:
            heard(apart._framed({"columns": columns, "about": ONE}) + struct.pack("<Q", len(data)), monkeypatch, data)
        assert error.value.code == "crashed"


@pytest.mark.slow
def test_more_than_a_window_shows_arrives():
    """Column by column, wherever the window ends."""
    raw = feather_of(3 * apart._WINDOW // 8 // 2 + 1)
    same(read_table(raw, name="t"), apart._reader(apart.FEATHER)(raw, ReadRequest("t")))


def feather_of(n_rows: int) -> bytes:
    columns = {
        "a": generator(1).random(n_rows),
        "b": np.arange(n_rows) % 7,
        "c": pa.array(["x", "yy", None, "y"]).take(np.arange(n_rows) % 4),
    }
    file = io.BytesIO()
    feather.write_feather(pa.table(columns), file)
    return file.getvalue()


def test_what_is_no_message_is_refused(monkeypatch):
    for said in [b"", b"\xff" * 8, struct.pack("<Q", 3) + b"[1]", struct.pack("<Q", 2) + b"{{", b"\1"]:
        with pytest.raises(TableError) as error:
            heard(said, monkeypatch)
        assert error.value.code == "crashed"


def heard(said: bytes, monkeypatch: pytest.MonkeyPatch, shown: bytes = b"") -> None:
    """What comes of it when the other process says this, shows that in the window, and ends."""

    def begun(kind: apart.Kind, raw: bytes) -> tuple[int, int, int]:
        (_, ours), (answers, theirs) = (jobs := os.pipe()), os.pipe()
        os.write(theirs, said)
        os.close(theirs)
        kept.append(jobs[0])
        store = apart._stored(raw)
        os.pwrite(store, shown, 0)
        return ours, answers, store

    kept: list[int] = []
    monkeypatch.setattr(apart, "_begun", begun)
    try:
        apart.read_apart(apart.PARQUET, b"PAR1", ReadRequest("t", 100_000))
    finally:
        os.close(*kept)


# --- what a reading may do


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="there is a file without a name instead")
def test_a_process_that_was_taken_over_cannot_cut_off_what_is_read():
    """Nor undo that: reading what is no longer there ends a process."""
    for size in [0, 4, 1 << 26]:
        import fcntl

        store = apart._stored(b"PAR1")
        try:
            with pytest.raises(PermissionError):
                os.ftruncate(store, size)
            with pytest.raises(PermissionError):
                fcntl.fcntl(store, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        finally:
            os.close(store)


def test_a_reading_writes_no_file_and_leaves_no_core(tmp_path):
    """Asked of a process that takes on the limits of a reading."""
    code = f"""
import os, resource
from dpviz.io.apart import _hold_to
_hold_to(1 << 28, 5)
print(resource.getrlimit(resource.RLIMIT_FSIZE)[1], resource.getrlimit(resource.RLIMIT_CORE)[1])
print(resource.getrlimit(resource.RLIMIT_CPU)[0] <= 5 * os.cpu_count() + 1)
try:
    bytearray(1 << 30)
except MemoryError:
    print("no memory")
try:
    open({str(tmp_path / "written")!r}, "wb").write(b"x" * 10_000)
except OSError:
    print("no file")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:4] == ["0 0", "True", "no memory", "no file"]
