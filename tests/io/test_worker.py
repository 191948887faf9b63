"""A library that crashes, hangs or takes all memory at a file ends one reading, in words, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpviz.errors import Cancelled, TableError
from dpviz.io import worker
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import receive_table
from dpviz.io.tables.read import read_table
from dpviz.rows.files import batches_of
from dpviz.table.raw import RawTable
from tests.support.paths import ROOT
from tests.support.table_files import WRITERS, drawn_rows

#: Kind of file -> what its library is called by, which the tests replace in the other process alone.
CALLS = {
    "sav": "pyreadstat:read_sav",
    "dta": "pyreadstat:read_dta",
    "xlsx": "openpyxl.reader.excel:fromstring",
    "parquet": "pyarrow.parquet:ParquetFile",
    "feather": "pyarrow.ipc:open_file",
}
FAULTS = {"crashes": "os.abort()", "hangs": "time.sleep(3600)", "eats": "held = [b'x' * 10_000_000 for _ in itertools.count()]"}
#: Every kind and every fault once or more; all with all are verified.
FEW = {("sav", "crashes"), ("dta", "hangs"), ("xlsx", "eats"), ("feather", "hangs"), ("parquet", "crashes"), ("parquet", "eats")}
CASES = [
    pytest.param(kind, fault, marks=pytest.mark.slow if (kind, fault) in FEW else pytest.mark.verify)
    for kind, fault in product(CALLS, FAULTS)
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
        worker.end()
        folder = tmp_path / "first"
        folder.mkdir()
        module, name = CALLS[kind].split(":")
        (folder / "sitecustomize.py").write_text(SPOILED.format(fault=FAULTS[fault], module=module, name=name))
        monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{ROOT}")

    yield spoiled
    worker.end()


def written(kind: str, folder: Path) -> bytes:
    return WRITERS[kind](drawn_rows(1, 30), folder)


@pytest.mark.parametrize(("kind", "fault"), CASES)
def test_a_library_that_fails_ends_one_reading_and_no_cell_is_quoted(kind, fault, spoil, tmp_path, monkeypatch):
    content, path = written(kind, tmp_path), tmp_path / f"t.{kind}"
    path.write_bytes(content)
    spoil(kind, fault)
    if fault == "hangs":
        stop = threading.Event()
        threading.Timer(0.1, stop.set).start()
        with pytest.raises(Cancelled):
            read_table(content, stop=stop)
        monkeypatch.setattr(worker, "SECONDS", 0.1)
    ways = [lambda: read_table(content, max_bytes=10_000_000)]
    ways += [lambda: list(batches_of(path, ReadOptions("t", 10_000_000)).read(lambda share: None))] if kind == "parquet" else []
    for read in ways:
        with pytest.raises(TableError) as error:
            read()
        assert error.value.code == CODES[fault]
        assert error.value.remedy
        assert error.value.__cause__ is error.value.__context__ is None
    other = "dta" if kind != "dta" else "parquet"
    if CALLS[other].partition(":")[0] != CALLS[kind].partition(":")[0]:
        monkeypatch.undo()
        assert read_table(written(other, tmp_path)).n_rows > 20


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
    os.kill(worker._WAITING[0][0].pid, signal.SIGKILL)
    worker._WAITING[0][0].wait()
    assert read_table(content).fingerprint == whole.fingerprint


@pytest.mark.slow
def test_a_job_sent_to_a_process_that_is_being_killed_is_sent_again(tmp_path, monkeypatch):
    content = written("parquet", tmp_path)
    whole, dying, send = read_table(content), worker._WAITING[0][0], worker.send_fds

    def send_and_kill(line, which, pipes):
        sent = send(line, which, pipes)
        dying.kill()  # does nothing once it has ended
        return sent

    dying.send_signal(signal.SIGSTOP)  # takes in what is sent, and nothing comes of it
    monkeypatch.setattr(worker, "send_fds", send_and_kill)
    assert read_table(content).fingerprint == whole.fingerprint
    assert worker._WAITING[0][0].pid != dying.pid


HANGING = """
import sys, threading
from dpviz.io import worker
from dpviz.io.tables.read import read_table
threading.Thread(target=read_table, args=(sys.argv[1],), daemon=True).start()
while not worker._WAITING:
    pass
print(worker._WAITING[0][0].pid, flush=True)
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


@pytest.mark.slow
def test_what_arrives_is_what_was_read_there(tmp_path):
    """To the bit: names, cells, what was left out and what is said about it."""
    formats = {which.endings[0].removeprefix("."): which for which in worker.FORMATS}
    for kind, which in formats.items():
        content, options = WRITERS[kind]([*drawn_rows(3, 50), (None,) * 5], tmp_path), ReadOptions("t")
        one, other = read_table(content, name="t"), receive_table(which.load()(content, options), options)
        assert one.fingerprint == other.fingerprint
        for about in ("source", "names", "notes", "n_malformed", "left_out", "not_row_wise"):
            assert getattr(one, about) == getattr(other, about)
        for mine, its in zip(one.columns, other.columns, strict=True):
            np.testing.assert_array_equal(mine.numbers(), its.numbers())


FACTS = {"facts": {"names": ["a"], "notes": [], "doubts": [], "malformed": []}}
END = b"".join(struct.pack("<Q", len(said)) + said for said in [b'{"end": true}'])


def framed(message: Any) -> bytes:
    said = json.dumps(message).encode()
    return struct.pack("<Q", len(said)) + said


def stream(table: pa.Table, **how: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def sent(*tables: Any, facts: Any = FACTS, **how: Any) -> bytes:
    written = (table if isinstance(table, bytes) else stream(table, **how) for table in tables)
    return framed(facts) + b"".join(framed({"table": True}) + struct.pack("<Q", len(raw)) + raw for raw in written) + END


def from_buffers(kind: pa.DataType, length: int, *buffers: bytes) -> pa.Table:
    return pa.table({"a": pa.Array.from_buffers(kind, length, [None, *map(pa.py_buffer, buffers)])})


def codes(*places: int) -> pa.Table:
    return pa.table({"a": pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(["x"]), safe=False)})


def lies() -> dict[str, bytes]:
    one, two = pa.table({"a": [1.0]}), pa.table({"b": [1.0, 2.0]})
    return {
        "nothing": b"",
        "no message": b"\xff" * 8,
        "a message that is cut short": struct.pack("<Q", 20) + b"{",
        "a list": framed([1]),
        "no facts": sent(one, facts={"share": 0.5}),
        "facts of other types": framed({"facts": {"names": 7}}),
        "another column": sent(two),
        "a column too many": sent(one, two),
        "columns of two lengths": sent(one, two, facts={"facts": FACTS["facts"] | {"names": ["a", "b"]}}),
        "no column": sent(),
        "places of records that nobody read": sent(one, facts={"facts": FACTS["facts"] | {"malformed": [99]}}),
        "a code beyond the texts": sent(codes(0, 1)),
        "a code below all": sent(codes(0, -9)),
        "an end before the start": sent(from_buffers(pa.large_string(), 2, struct.pack("<3q", 0, 5, 1), b"xxxxx")),
        "no letters": sent(from_buffers(pa.large_string(), 1, struct.pack("<2q", 0, 1), b"\xff")),
        "lists": sent(pa.table({"a": [[1, 2]]})),
        "views": sent(pa.table({"a": pa.array(["x" * 50], pa.string_view())})),
        "more rows than a table": sent(pa.table({"a": pa.nulls(2_000)})),
        "more bytes than a table": framed(FACTS) + framed({"table": True}) + struct.pack("<Q", 1 << 60),
        "bytes that unpack to more": sent(pa.table({"a": np.zeros(50_000)}), compression="zstd"),
        "texts that unpack to more": sent(pa.table({"a": pa.array(["x" * 90_000]).dictionary_encode()}), compression="lz4"),
        "no Arrow": sent(b"no Arrow"),
        "an Arrow stream that is cut short": sent(stream(one)[:-60]),
        "labels that are no words": sent(
            pa.table({"a": [1.0]}, pa.schema([pa.field("a", pa.float64(), metadata={"labels": "[7]"})]))
        ),
    }


def test_a_worker_that_was_taken_over_can_hand_over_rows_and_nothing_else(monkeypatch):
    """Whatever else it writes is refused in words."""
    for lie, said in lies().items():
        with pytest.raises(TableError) as error:
            heard(said, monkeypatch)
        assert error.value.code in ("crashed", "damaged"), lie
    assert heard(sent(pa.table({"a": [1.0, None]})), monkeypatch).n_rows == 1


def heard(said: bytes, monkeypatch: pytest.MonkeyPatch) -> RawTable:
    """What comes of it when a worker says this and ends."""
    (jobs, ours), (answers, theirs) = os.pipe(), os.pipe()
    os.write(theirs, said)
    os.close(theirs)
    monkeypatch.setattr(worker, "_fork", lambda format: (ours, answers))
    try:
        return worker.read_in_worker(worker.PARQUET, b"PAR1", ReadOptions("t", 100_000, max_rows=1_000))
    finally:
        os.close(jobs)


# --- what a reading may do


@pytest.mark.slow
def test_a_reading_writes_no_file_and_leaves_no_core(tmp_path):
    """Asked of a process that takes on the limits of a reading."""
    code = f"""
import os, resource
from dpviz.io.worker import limit_process
limit_process(1 << 28, 5)
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
