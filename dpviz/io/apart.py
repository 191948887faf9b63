"""Files whose libraries are not ours are read in a process of their own: what such a library does to it is an error here.

A first process waits, with the libraries loaded, and forks one for each reading, which knows nothing of other files. It may
take as much memory as `limits.py` allows, some time, and writes no file: no core of what it held either. It hands rows over
through memory that both see, as bytes of arrays and texts and never as pickled objects, and ends with whoever asked. Windows
forks nothing: there a file is read in this process.
"""

from __future__ import annotations

import atexit
import json
import mmap
import os
import select
import signal
import struct
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Lock
from time import monotonic
from typing import Any, NoReturn

import numpy as np

from dpviz.errors import TableError, cells_stay_inside
from dpviz.installation import require_extra
from dpviz.io.large.pieces import Pieces
from dpviz.io.limits import MEMORY_PER_BYTE
from dpviz.io.records import TextColumn
from dpviz.io.tables.cells import UNCOMPUTED, ReadRequest
from dpviz.progress import Progress, watched
from dpviz.table.raw import MARKS, CodedColumn, NumberColumn, RawColumn, RawTable
from dpviz.table.texts import LabelledColumn

if sys.platform != "win32":
    from socket import AF_UNIX, SOCK_STREAM, fromfd, recv_fds, send_fds, socketpair

#: Seconds that a library may take without a word: for any file, and for each million bytes. Many times what the slowest needs.
SECONDS, SECONDS_PER_MB = 60.0, 20.0
#: How often somebody is asked whether the rows are still wanted.
_LOOK = 0.2
_ARRAYS = frozenset(("<f8", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"))
#: Bytes of rows that are handed over at once: so many that processes seldom wait for each other, so few that the same memory is
#: used again and again. A file that was given stands behind them.
_WINDOW = 1 << 22
#: Most bytes that systems read and write in one call.
_AT_ONCE = 1 << 30
#: Most bytes of a message without rows.
_MESSAGE = 1 << 24
#: Bytes that a library may take for itself, whatever the file.
_LIBRARY = 1 << 28
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Kind:
    """A kind of file: what reads it ("module:function"), the extra and the packages that takes."""

    title: str
    reader: str
    packages: tuple[str, ...]
    loaded: tuple[str, ...]  #: Modules that are loaded ahead
    extra: str = "tables"


#: What reading takes, also what it loads only when there are rows.
_ARROW = ("pyarrow.parquet", "pyarrow.compute", "pyarrow.types", "pandas")

#: Their places in this list are what the processes call them.
KINDS = (
    EXCEL := Kind("an Excel file", "dpviz.io.tables.excel:read_excel", ("openpyxl",), ("openpyxl",)),
    PARQUET := Kind("a Parquet file", "dpviz.io.tables.arrow:read_parquet", ("pyarrow",), _ARROW),
    FEATHER := Kind("a Feather file", "dpviz.io.tables.arrow:read_feather", ("pyarrow",), _ARROW),
    STATA := Kind("a Stata file", "dpviz.io.tables.stata_spss:read_stata", ("pyreadstat",), ("pyreadstat", "pandas")),
    SPSS := Kind("an SPSS file", "dpviz.io.tables.stata_spss:read_spss", ("pyreadstat",), ("pyreadstat", "pandas")),
    PARQUET_PIECES := Kind("a Parquet file", "dpviz.io.large.arrow:parquet_pieces", ("pyarrow",), _ARROW),
    FEATHER_PIECES := Kind("a Feather file", "dpviz.io.large.arrow:feather_pieces", ("pyarrow",), _ARROW),
    DUCKDB_PIECES := Kind(
        "a DuckDB file", "dpviz.io.large.arrow:duckdb_pieces", ("duckdb", "pyarrow"), ("duckdb", *_ARROW), "duckdb"
    ),
)


def read_apart(kind: Kind, raw: bytes, asked: ReadRequest) -> RawTable:
    """The table of a file. Raises TableError, also where the library crashes, hangs or takes too much memory; MissingExtra."""
    _require(kind)
    if sys.platform == "win32":
        return _reader(kind)(raw, asked)
    with closing(_answers(kind, _job(asked, size=len(raw)), raw, asked)) as answers:
        return next(answers)["table"]


def pieces_apart(kind: Kind, path: Path, asked: ReadRequest) -> Pieces:
    """A file that is read in pieces; errors as of `read_apart`."""
    _require(kind)
    if sys.platform == "win32":
        return _reader(kind)(path, asked)
    size, place = path.stat().st_size, str(path.absolute())
    with closing(_answers(kind, _job(asked, path=place, seconds=_seconds(size)), b"", asked)) as answers:
        about = next(answers)["pieces"]
    names = tuple(map(str, about["names"]))

    def read(step: Progress) -> Iterator[RawTable]:
        job = _job(asked, path=place, file=size, seconds=_seconds(size), rows=True)
        for answer in _answers(kind, job, b"", replace(asked, step=step)):
            yield answer["table"]

    return Pieces(asked.title, names, read, tuple(map(str, about["notes"])))


def _require(kind: Kind) -> None:
    require_extra(kind.extra, f"Reading {kind.title}", *kind.packages)


def _reader(kind: Kind) -> Any:
    module, _, name = kind.reader.partition(":")
    return getattr(import_module(module), name)


def _job(asked: ReadRequest, **more: Any) -> dict[str, Any]:
    return {"asked": asdict(replace(asked, step=_unwatched)) | {"step": None}, **more}


_unwatched = watched(None, None)


def _seconds(n_bytes: int) -> float:
    return SECONDS + SECONDS_PER_MB * n_bytes / 1e6


# --- the process that asks


@dataclass(frozen=True)
class _Waiting:
    """The process that waits, and the line to it; of which process it is."""

    process: Popen[bytes]
    line: Any
    owner: int


_LOCK = Lock()
_WAITING: list[_Waiting] = []


def _waiting() -> _Waiting:
    """It is started at the first reading, and again where it has ended."""
    if _WAITING and _WAITING[0].owner == os.getpid() and _WAITING[0].process.poll() is None:
        return _WAITING[0]
    end()
    ours, theirs = socketpair()
    code = f"import sys; sys.path[:] = {sys.path!r}; from dpviz.io.apart import wait; wait()"
    # one thread each: a process that forks should have no others, and the stacks of idle ones count as memory
    settings = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    # what libraries print may quote a cell
    quiet = {"stdin": theirs, "stdout": DEVNULL, "stderr": DEVNULL, "start_new_session": True}
    process = Popen([sys.executable, "-c", code], env={**os.environ, **settings}, **quiet)  # type: ignore[call-overload]
    theirs.close()
    _WAITING.append(_Waiting(process, ours, os.getpid()))
    return _WAITING[0]


@atexit.register
def end() -> None:
    """End the process that waits, and with it what is read; the next reading starts another one."""
    while _WAITING:
        old = _WAITING.pop()
        old.line.close()
        if old.owner == os.getpid():
            old.process.wait()


def _begun(kind: Kind, raw: bytes) -> tuple[int, int, int]:
    """(where a job is written, where answers are read, what holds the file and then rows) of a process that reads one file."""
    store = _stored(raw)
    jobs, ours = os.pipe()
    answers, theirs = os.pipe()
    try:
        with _LOCK:
            line = _waiting().line
            try:
                send_fds(line, [bytes([KINDS.index(kind)])], [jobs, theirs, store])
            except OSError:  # it has ended just now
                end()
                send_fds(_waiting().line, [bytes([KINDS.index(kind)])], [jobs, theirs, store])
    finally:
        os.close(jobs)
        os.close(theirs)
    os.set_blocking(answers, False)
    return ours, answers, store


def _stored(raw: bytes) -> int:
    """A file in memory, or one without a name where the system has none of these."""
    if has_seals := hasattr(os, "memfd_create"):
        store = os.memfd_create("dpviz", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    else:
        with tempfile.TemporaryFile() as file:
            store = os.dup(file.fileno())
    written = 0
    while written < len(raw):
        written += os.pwrite(store, memoryview(raw)[written : written + _AT_ONCE], _WINDOW + written)
    os.ftruncate(store, _WINDOW + len(raw))
    if has_seals:  # whoever reads the window of a store that was cut off meanwhile is ended by the system
        import fcntl

        fcntl.fcntl(store, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return store


def _answers(kind: Kind, job: dict[str, Any], raw: bytes, asked: ReadRequest) -> Generator[dict[str, Any], None, None]:
    """What the other process answers, until it says that this is all; it ends when nobody listens any more."""
    job.setdefault("seconds", _seconds(len(raw)))
    pipes = _begun(kind, raw)
    listening = _Listening(kind, pipes, asked, job["seconds"])
    try:
        listening.write(_framed(job))
        while True:
            with cells_stay_inside(listening.error):
                found = listening.message()
            match found:
                case {"share": float(share)}:
                    listening.say(share)
                case {"error": [str(code), str(what), row, str(remedy)]}:
                    raise TableError(code, what, row=row, remedy=remedy)
                case {"columns": columns, "about": about}:
                    with cells_stay_inside(listening.error):
                        table = listening.table(columns, about)
                    yield {"table": table}
                case {"pieces": _}:
                    yield found
                case {"end": True}:
                    return
                case _:
                    raise listening.error()
    finally:
        for pipe in pipes:
            os.close(pipe)


class _Listening:
    """Both pipes, the window, and the patience with them."""

    def __init__(self, kind: Kind, pipes: tuple[int, int, int], asked: ReadRequest, seconds: float) -> None:
        self.kind, self.asked, self.seconds = kind, asked, seconds
        self.jobs, self.answers, store = pipes
        self.window, self.shown = memoryview(mmap.mmap(store, _WINDOW, access=mmap.ACCESS_READ)), memoryview(b"")
        self.share, self.begun = 0.0, monotonic()
        self.heard, self.most = self.begun, MEMORY_PER_BYTE * asked.max_bytes

    def say(self, share: float) -> None:
        """Tell how much is read; raises Cancelled where nobody wants it any more."""
        self.share = share
        self.asked.step(share)

    def write(self, data: bytes) -> None:
        """A job, or that the window has been emptied; both are short enough for the buffer of a pipe."""
        try:
            os.write(self.jobs, data)
        except OSError:  # nobody reads any more
            raise self.error() from None

    def message(self) -> dict[str, Any]:
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        found: dict[str, Any] = json.loads(self._read(length))
        return found

    def _read(self, length: int) -> bytearray:
        if length > _MESSAGE:
            raise self.error()
        found = bytearray(length)
        view = memoryview(found)
        while view:
            self._wait()
            if not (n_read := os.readv(self.answers, [view])):
                raise self.error()
            view, self.heard = view[n_read:], monotonic()
        return found

    def _wait(self) -> None:
        """Until there is something to read, or the other end gone. Asks all the while whether the rows are wanted."""
        poll = select.poll()
        poll.register(self.answers, select.POLLIN)
        while not poll.poll(1_000 * _LOOK):
            self.say(self.share)
            if monotonic() - self.heard > self.seconds:
                raise self.error()

    def _fill(self, view: memoryview) -> None:
        """With what the window shows, and will show."""
        while view:
            if not self.shown:
                (n_shown,) = _LENGTH.unpack(self._read(_LENGTH.size))
                if not 0 < n_shown <= _WINDOW:
                    raise self.error()
                self.shown = self.window[:n_shown]
            n_taken = min(len(view), len(self.shown))
            view[:n_taken] = self.shown[:n_taken]
            view, self.shown = view[n_taken:], self.shown[n_taken:]
            if not self.shown:
                self.write(_EMPTIED)

    def error(self, _: object = None) -> TableError:
        """What is said when the other process ended, or says what cannot be."""
        if monotonic() - self.heard > self.seconds or monotonic() - self.begun > (os.cpu_count() or 1) * self.seconds:
            what = f"Reading {self.kind.title} was stopped: for {self.seconds:,.0f} seconds nothing came of it."
            return TableError("too-slow", what, remedy="Save the table as CSV.")
        what = f"What reads {self.kind.title} ({self.kind.packages[0]}) ended at this one; it may be damaged."
        return TableError("crashed", what, remedy="Save it again in its own program, or save the table as CSV.")

    def table(self, columns: list[Any], about: dict[str, Any]) -> RawTable:
        """The table whose arrays follow."""
        read = tuple(self._column(*column) for column in columns)
        left_out = tuple(self._array(*about["left_out"]).tolist())
        notes = tuple(UNCOMPUTED if note == UNCOMPUTED else str(note) for note in about["notes"])
        n_malformed = int(about["n_malformed"])
        if len({column.n_rows for column in read}) > 1:
            raise self.error()
        return RawTable(read, self.asked.title, notes, n_malformed, left_out, str(about["not_row_wise"]))

    def _column(self, form: str, name: str, *arrays: Sequence[Any]) -> RawColumn:
        first, *others = [self._array(*array) for array in arrays]
        if form == "numbers":
            return NumberColumn(str(name), first, is_own=True)
        texts = _texts(first, others[0])
        if form == "packs":
            return TextColumn(str(name), texts)
        if form == "numbers, labelled":
            plain: RawColumn = NumberColumn(str(name), others[1], is_own=True)
        else:
            distinct, codes = texts, others[1]
            if form == "codes, labelled":
                distinct, codes = _texts(others[1], others[2]), others[3]
            if len(codes) and not (codes.min() >= -len(MARKS) and codes.max() < len(distinct)):
                raise self.error()
            plain = CodedColumn(str(name), tuple(distinct), codes)
        if form == "codes":
            return plain
        if len(texts) != len(plain.texts):
            raise self.error()
        return LabelledColumn(str(name), plain, tuple(texts))

    def _array(self, kind: str, size: int) -> np.ndarray:
        if kind not in _ARRAYS or not 0 <= size * np.dtype(kind).itemsize <= self.most:
            raise self.error()
        found = np.empty(size, kind)
        if size:
            self._fill(found.data.cast("B"))
        return found


# --- the process that waits


def wait() -> None:
    """Fork a process for every job that comes in on the first of this one's files; end them when nobody wants their answers."""
    line, poll, reading = fromfd(0, AF_UNIX, SOCK_STREAM), select.poll(), dict[int, int]()
    poll.register(line.fileno(), select.POLLIN)
    while True:
        for ready, _ in poll.poll():
            if ready in reading:
                poll.unregister(ready)
                _end(ready, reading.pop(ready))
                continue
            which, pipes, _, _ = recv_fds(line, 1, 3)
            if not which:
                for job, process in reading.items():
                    _end(job, process)
                return
            kind = KINDS[which[0]]
            for module in kind.loaded:  # once for all readings
                with suppress(ImportError):
                    import_module(module)
            _reader(kind)
            jobs, answers, store = pipes
            home = os.getpid()
            if (process := os.fork()) == 0:
                _begin(home, [line.fileno(), 0, *reading])
                _read_one(kind, jobs, answers, store)
            os.close(answers)
            os.close(store)
            reading[jobs] = process
            poll.register(jobs, 0)  # which tells when its other end is closed


def _end(job: int, process: int) -> None:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(job)


# --- the process that reads one file


def _begin(home: int, others: Sequence[int]) -> None:
    """Let go of what belongs to others, and end with the process that waits, be it killed."""
    import ctypes

    for other in others:
        os.close(other)
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != home:
        os._exit(1)


def _read_one(kind: Kind, jobs: int, answers: int, store: int) -> NoReturn:
    try:
        _answer(kind, _Saying(jobs, answers, store))
    finally:  # an error says nothing here: whoever asked sees that this has ended
        os._exit(0)


def _answer(kind: Kind, saying: _Saying) -> None:
    job = saying.job()
    raw = saying.raw(job.get("size", 0))
    told: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in job["asked"].items()}
    told["step"] = lambda share: saying.say({"share": float(share)})
    asked = ReadRequest(**told)
    _hold_to(max(_LIBRARY, MEMORY_PER_BYTE * asked.max_bytes) + job.get("file", 0), job["seconds"])
    reader = _reader(kind)
    try:
        if "path" not in job:
            saying.table(reader(raw if kind in (PARQUET, FEATHER) else raw[:], asked))  # Arrow reads it where it stands
        elif job.get("rows"):
            for table in reader(Path(job["path"]), asked).read(asked.step):
                saying.table(table)
        else:
            pieces = reader(Path(job["path"]), asked)
            saying.say({"pieces": {"names": pieces.names, "notes": pieces.notes}})
        saying.say({"end": True})
    except TableError as error:
        saying.say({"error": [error.code, error.what, error.row, error.remedy]})


class _Saying:
    """The other ends of both pipes, and the window."""

    def __init__(self, jobs: int, answers: int, store: int) -> None:
        self.jobs, self.answers, self.store = jobs, answers, store
        self.window, self.n_shown = memoryview(mmap.mmap(store, _WINDOW)), 0

    def job(self) -> dict[str, Any]:
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        found: dict[str, Any] = json.loads(self._read(length))
        return found

    def raw(self, length: int) -> mmap.mmap | bytes:
        """The file, where it stands."""
        return mmap.mmap(self.store, length, access=mmap.ACCESS_READ, offset=_WINDOW) if length else b""

    def say(self, message: dict[str, Any]) -> None:
        self._write(_framed(message))

    def table(self, table: RawTable) -> None:
        """First what its arrays are, then all of them, one behind the other."""
        columns, arrays = list[Any](), list[np.ndarray]()
        for column in table.columns:
            form, own = _arrays(column)
            columns.append([form, column.name, *map(_described, own)])
            arrays += own
        arrays.append(np.array(table.left_out, np.int64))
        about = {"notes": table.notes, "n_malformed": table.n_malformed, "not_row_wise": table.not_row_wise}
        self.say({"columns": columns, "about": about | {"left_out": _described(arrays[-1])}})
        for array in arrays:
            self._show(np.ascontiguousarray(array).data.cast("B") if len(array) else memoryview(b""))
        self._turn()

    def _show(self, rest: memoryview) -> None:
        while rest:
            part = rest[: _WINDOW - self.n_shown]
            self.window[self.n_shown : self.n_shown + len(part)] = part
            rest, self.n_shown = rest[len(part) :], self.n_shown + len(part)
            if self.n_shown == _WINDOW:
                self._turn()

    def _turn(self) -> None:
        """Wait until what the window shows has been taken."""
        if self.n_shown:
            self._write(_LENGTH.pack(self.n_shown))
            self._read(len(_EMPTIED))
            self.n_shown = 0

    def _read(self, length: int) -> bytes:
        found = b""
        while len(found) < length:
            part = os.read(self.jobs, length - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.answers, rest) :]


def _hold_to(n_bytes: int, seconds: float) -> None:
    """So much memory more than this process has, so much time of all processors, and no file."""
    import resource

    try:
        held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (OSError, ValueError):  # a system that does not say
        held = 1 << 30
    _limit(resource.RLIMIT_AS, held + n_bytes)
    _limit(resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + 1)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(which: int, most: int) -> None:
    import resource

    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(which, (most, most))


def _arrays(column: RawColumn) -> tuple[str, list[np.ndarray]]:
    if isinstance(column, LabelledColumn):
        form, arrays = _arrays(column.plain)
        return f"{form}, labelled", [*_in_bytes(column.labels), *arrays]
    if isinstance(column, NumberColumn):
        return "numbers", [column.given]
    if isinstance(column, TextColumn):
        return "packs", list(_in_bytes(column.packs))
    return "codes", [*_in_bytes(column.texts), column.codes]


def _described(array: np.ndarray) -> tuple[str, int]:
    return array.dtype.newbyteorder("<").str, len(array)


# --- what both say

_LENGTH = struct.Struct("<Q")
_EMPTIED = b"."


def _framed(message: dict[str, Any]) -> bytes:
    written = json.dumps(message).encode()
    return _LENGTH.pack(len(written)) + written


def _in_bytes(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """(all letters, how many of them each text has)."""
    letters = np.frombuffer("".join(texts).encode("utf-8", "surrogatepass"), np.uint8)
    return letters, np.fromiter(map(len, texts), np.int64, len(texts))


def _texts(letters: np.ndarray, lengths: np.ndarray) -> list[str]:
    whole = letters.tobytes().decode("utf-8", "surrogatepass")
    ends = np.cumsum(lengths).tolist()
    return [whole[start:stop] for start, stop in zip([0, *ends], ends, strict=False)]
