"""Files whose libraries are not ours are read by a worker, a process per file, so that a crash there is an error here.

A first process waits with the libraries loaded and forks a worker for each file, which may take so much memory and time and write
no file. A worker sends JSON messages and Arrow tables, and nothing of it is unpickled. It contains crashes; it is no sandbox.
Windows forks nothing: there a file is read in this process.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from dpviz.errors import TableError, replace_errors
from dpviz.installation import require_extra
from dpviz.io.limits import MEMORY_PER_BYTE
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import Facts, receive_batches, receive_columns, receive_table, wanted_of
from dpviz.progress import Progress, watch
from dpviz.table.raw import RawTable

if TYPE_CHECKING:
    import pyarrow as pa

if sys.platform != "win32":
    from socket import AF_UNIX, SOCK_STREAM, fromfd, recv_fds, send_fds, socketpair

#: Seconds that a worker may be silent: for any file, and for each million bytes. Many times what the slowest library needs.
SECONDS, SECONDS_PER_MB = 60.0, 20.0
#: How often the caller is asked whether the rows are still wanted, in milliseconds.
_ASK = 200
_MAX_MESSAGE = 1 << 24
#: Bytes that a library may take for itself, whatever the file.
_LIBRARY = 1 << 28
_PR_SET_PDEATHSIG = 1
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Format:
    """A format of files: its reader as "module:function", what that needs, and how such a file is known by name and first bytes.

    `in_batches`: whether the reader takes a path instead of the bytes, too, and then yields tables of some rows.
    """

    title: str
    reader: str
    packages: tuple[str, ...]
    endings: tuple[str, ...]
    starts: tuple[bytes, ...]
    in_batches: bool = False

    def load(self) -> Callable[[Any, ReadOptions], Iterator[Any]]:
        """The reader: (bytes or path, options) -> `Facts`, then Arrow tables."""
        module, _, name = self.reader.partition(":")
        reader: Callable[[Any, ReadOptions], Iterator[Any]] = getattr(import_module(module), name)
        return reader

    def require(self) -> None:
        """Raise DpvizError unless all packages are installed."""
        require_extra("tables", f"Reading {self.title}", *self.packages)


_ARROW, _STATA_SPSS = "dpviz.io.tables.arrow", "dpviz.io.tables.stata_spss"
ZIP = b"PK\x03\x04"
#: First bytes of a Stata file of before version 13: the number of its format, the order of bytes, and 1.
_OLD_STATA = tuple(bytes([number, order, 1]) for number in (105, 106, 107, 108, 110, 111, 113, 114, 115) for order in (1, 2))
_PYREADSTAT = ("pyreadstat", "pandas", "pyarrow")
FORMATS = (
    EXCEL := Format("an Excel file", "dpviz.io.tables.excel:read_excel", ("openpyxl", "pyarrow"), (".xlsx", ".xlsm"), (ZIP,)),
    PARQUET := Format("a Parquet file", f"{_ARROW}:read_parquet", ("pyarrow",), (".parquet",), (b"PAR1",), in_batches=True),
    Format("a Feather file", f"{_ARROW}:read_feather", ("pyarrow",), (".feather", ".arrow"), (b"ARROW1",), in_batches=True),
    Format("a Stata file", f"{_STATA_SPSS}:read_stata", _PYREADSTAT, (".dta",), (b"<stata_dta>", *_OLD_STATA)),
    Format("an SPSS file", f"{_STATA_SPSS}:read_spss", _PYREADSTAT, (".sav", ".zsav"), (b"$FL2", b"$FL3")),
)


def read_in_worker(format: Format, raw: bytes, options: ReadOptions) -> RawTable:
    """The table of a file. Raises TableError, also where the library crashes, hangs or takes too much memory; DpvizError."""
    format.require()
    with closing(_parts(format, raw, options)) as parts:
        return receive_table(parts, options)


def batches_in_worker(format: Format, path: Path, options: ReadOptions) -> tuple[Facts, Callable[[Progress], Iterator[RawTable]]]:
    """(what is said of a file that is read in batches, what reads it from the start); errors as of `read_in_worker`."""
    format.require()
    with closing(_parts(format, path, options)) as parts:
        facts: Facts = next(parts)
    if len(wanted_of(facts.names, options)) < len(facts.names):  # what is empty here may have a cell elsewhere
        options = replace(options, keep_empty=True)

    def read(step: Progress) -> Iterator[RawTable]:
        with closing(_parts(format, path, replace(options, step=step))) as parts:
            yield from receive_batches(parts, options)

    return facts, read


def _parts(format: Format, file: bytes | Path, options: ReadOptions) -> Generator[Any, None, None]:
    """What a reader yields, from a worker."""
    if options.names is not None and format is not EXCEL:
        what = "This kind of file holds the names of its columns; none can be given."
        raise TableError("names", what, remedy="Leave the names out.")
    if sys.platform == "win32":
        yield from format.load()(file, options)
        return
    with closing(_Answers(format, file, options)) as answers, replace_errors(answers.error):
        while (part := answers.next()) is not None:
            yield part


class _Answers:
    """The pipes to a worker, and the patience with it."""

    def __init__(self, format: Format, file: bytes | Path, options: ReadOptions) -> None:
        self.format, self.options, self.share = format, options, 0.0
        size = file.stat().st_size if isinstance(file, Path) else len(file)
        self.seconds = SECONDS + SECONDS_PER_MB * size / 1e6
        self.max_message = 2 * options.max_bytes + _MAX_MESSAGE
        self.jobs, self.pipe = _fork(format)
        self.last_answer = monotonic()
        values = asdict(replace(options, step=watch(None, None))) | {"step": None}
        place = str(file.absolute()) if isinstance(file, Path) else None
        job = json.dumps({"options": values, "path": place, "size": size, "seconds": self.seconds}).encode()
        with suppress(BrokenPipeError), open(self.jobs, "wb", closefd=False) as jobs:  # where it has ended, its answer is missing
            jobs.write(_LENGTH.pack(len(job)) + job)
            jobs.write(b"" if isinstance(file, Path) else file)

    def close(self) -> None:
        """End the worker, wherever it is."""
        os.close(self.jobs)
        os.close(self.pipe)

    def next(self) -> Any:
        """A table or facts; None at the end. Raises what the worker says, and whatever for what it may not say."""
        while True:
            match json.loads(self._read(_MAX_MESSAGE)):
                case {"share": float(share)}:
                    self.share = share
                    self.options.step(share)
                case {"error": [str(code), str(what), row, str(remedy)]}:
                    raise TableError(code, what, row=int(row) if row else None, remedy=remedy)
                case {"facts": facts}:
                    return msgspec.convert(facts, Facts)
                case {"table": True}:
                    return receive_columns(self._read(self.max_message), self.options)
                case {"end": True}:
                    return None
                case _:
                    raise self.error()

    def _read(self, max_length: int) -> bytearray:
        """Bytes behind their length."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > max_length:
            raise self.error()
        return self._exactly(length)

    def _exactly(self, length: int) -> bytearray:
        answer, poll = bytearray(length), select.poll()
        poll.register(self.pipe, select.POLLIN)
        view = memoryview(answer)
        while view:
            while not poll.poll(_ASK):
                self.options.step(self.share)
                if monotonic() - self.last_answer > self.seconds:
                    raise self.error()
            if not (n_read := os.readv(self.pipe, [view])):
                raise self.error()
            view, self.last_answer = view[n_read:], monotonic()
        return answer

    def error(self, _: object = None) -> TableError:
        """What is said where the worker ended, is silent, or says what cannot be."""
        if monotonic() - self.last_answer > self.seconds:
            what = f"Reading {self.format.title} was stopped: for {self.seconds:,.0f} seconds nothing came of it."
            return TableError("too-slow", what, remedy="Save the table as CSV.")
        what = f"What reads {self.format.title} ({self.format.packages[0]}) ended at this one; it may be damaged."
        return TableError("crashed", what, remedy="Save it again in its own program, or save the table as CSV.")


# --- the process that waits

_LOCK = Lock()
#: The process that waits, the line to it, and the process that started it.
_WAITING: list[tuple[Popen[bytes], Any, int]] = []


def _line() -> Any:
    """The line to the process that waits, which is started at the first file, and again where it has ended."""
    if _WAITING and _WAITING[0][2] == os.getpid() and _WAITING[0][0].poll() is None:
        return _WAITING[0][1]
    end()
    ours, theirs = socketpair()
    code = f"import sys; sys.path[:] = {sys.path!r}; from dpviz.io.worker import wait; wait()"
    # one thread each: a process that forks should have no others, and the stacks of idle ones count as memory
    settings = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    # what libraries print may quote a cell
    quiet = {"stdin": theirs, "stdout": DEVNULL, "stderr": DEVNULL, "start_new_session": True}
    process = Popen([sys.executable, "-c", code], env={**os.environ, **settings}, **quiet)  # type: ignore[call-overload]
    theirs.close()
    _WAITING.append((process, ours, os.getpid()))
    return ours


@atexit.register
def end() -> None:
    """End the process that waits and all workers; the next file starts another one."""
    while _WAITING:
        process, line, owner = _WAITING.pop()
        line.close()
        if owner == os.getpid():
            process.wait()


def _fork(format: Format) -> tuple[int, int]:
    """(where a job is written, where answers are read) of a new worker."""
    jobs, ours = os.pipe()
    answers, theirs = os.pipe()
    which = [bytes([FORMATS.index(format)])]
    try:
        with _LOCK:
            if not _is_taken(which, [jobs, theirs]):  # the process that waits has ended just now
                end()
                _is_taken(which, [jobs, theirs])
    finally:
        os.close(jobs)
        os.close(theirs)
    return ours, answers


def _is_taken(which: list[bytes], pipes: list[int]) -> bool:
    """Whether the process that waits says that it has a job: one that is being killed takes in what is sent, and loses it."""
    line = _line()
    with suppress(OSError):
        send_fds(line, which, pipes)
        return bool(line.recv(1))
    return False


def wait() -> None:
    """Fork a worker for every job that comes in on the first of this process's files."""
    line, home = fromfd(0, AF_UNIX, SOCK_STREAM), os.getpid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing waits for a worker that has ended
    while True:
        which, pipes, _, _ = recv_fds(line, 1, 2)
        if not which:
            return
        line.sendall(b"\0")
        format = FORMATS[which[0]]
        for module in (*format.packages, "pyarrow.parquet", "pyarrow.compute"):  # once for all workers
            with suppress(ImportError):
                import_module(module)
        reader = format.load()
        jobs, answers = pipes
        if os.fork() == 0:
            try:
                line.close()
                os.close(0)
                _answer(reader, jobs, answers, home)
            finally:  # an error says nothing here: the caller sees that this has ended
                os._exit(0)
        os.close(jobs)
        os.close(answers)


# --- the worker


def _answer(reader: Callable[[Any, ReadOptions], Iterator[Any]], jobs: int, answers: int, home: int) -> None:
    with open(jobs, "rb", closefd=False) as file:
        (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
        job = json.loads(file.read(length))
        source = Path(job["path"]) if job["path"] is not None else file.read(job["size"])
    _end_with(jobs, home)
    lists = {name: tuple(value) for name, value in job["options"].items() if isinstance(value, list)}
    with open(answers, "wb") as out:
        options = ReadOptions(**(job["options"] | lists | {"step": lambda share: _say(out, {"share": float(share)})}))
        max_memory = max(_LIBRARY, MEMORY_PER_BYTE * options.max_bytes) + job["size"] * (job["path"] is not None)
        limit_process(max_memory, job["seconds"])
        try:
            for part in reader(source, options):
                if isinstance(part, Facts):
                    _say(out, {"facts": asdict(part)})
                else:
                    _say(out, {"table": True})
                    _send(out, part)
            _say(out, {"end": True})
        except TableError as error:
            _say(out, {"error": [error.code, error.what, error.row, error.remedy]})


def _end_with(jobs: int, home: int) -> None:
    """End this process once nobody wants its answers, whatever a library does: a signal tells of the other end of a pipe."""
    import ctypes
    import fcntl

    with suppress(AttributeError, OSError):  # Linux: also with the process that waits, be it killed
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    fcntl.fcntl(jobs, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(jobs, fcntl.F_SETFL, fcntl.fcntl(jobs, fcntl.F_GETFL) | fcntl.FASYNC)
    if os.getppid() != home or select.select([jobs], [], [], 0)[0]:  # before anything could tell
        os._exit(0)


def _say(out: BinaryIO, message: dict[str, Any]) -> None:
    content = json.dumps(message).encode()
    out.write(_LENGTH.pack(len(content)) + content)
    out.flush()


def _send(out: BinaryIO, table: pa.Table) -> None:
    """A table as an Arrow stream, behind its length."""
    import pyarrow as pa

    size = pa.MockOutputStream()
    for sink in (size, out):
        if sink is out:
            out.write(_LENGTH.pack(size.size()))
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=True)) as stream:
            stream.write_table(table)
    out.flush()


def limit_process(n_bytes: int, seconds: float) -> None:
    """So much memory more than this process has, so much time of all processors, no file, and no core of what it held."""
    import resource

    try:
        held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (OSError, ValueError):  # a system that does not say
        held = 1 << 30
    limits = {
        resource.RLIMIT_AS: held + n_bytes,
        resource.RLIMIT_CPU: int(seconds * (os.cpu_count() or 1)) + 1,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for resource_limit, limit in limits.items():
        _, hard = resource.getrlimit(resource_limit)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with suppress(ValueError, OSError):  # a system that has no such limit
            resource.setrlimit(resource_limit, (limit, limit))
