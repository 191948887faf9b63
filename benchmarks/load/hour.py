"""An hour of twenty people who do everything at once: what does the server keep of it?

A real server (`dpviz app`) with a home, a register and a folder for temporary files of its own. Twenty sessions at a time:
each looks at trees, compares, uploads a table with its schema, or declares private rows and releases a tree of them; every
fourth visit breaks off without a word, somewhere, and comes back by a reload. Every minute the server is looked at: memory,
threads, open files, temporary files, processes. At the end the register is checked: a release that was seen confirmed is in it
once, and none is in it that nobody asked for.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic, sleep
from typing import Any

import numpy as np
import pandas as pd
from websockets.exceptions import ConnectionClosed

from benchmarks.load.measure import server
from benchmarks.load.memory import SWEEP, is_whole, status
from benchmarks.load.visitor import Visitor, Wanted, has, tree_at
from benchmarks.processes import below, seconds_used
from dpviz.randomness import generator, seed_from
from dpviz.release.checking import findings
from dpviz.release.register import ReleaseRegister
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SESSIONS = 20
PAUSE = (4.0, 16.0)
PATIENCE = 120.0
#: Share of visits whose browser is lost, and within how many seconds.
LOST_SHARE = 0.25
LOST_WITHIN = 8.0
#: Minutes after the last has gone: Streamlit keeps a session for two.
AFTER = 3.0
N_ROWS = 3000
ENDINGS = ("csv", "parquet", "xlsx")
SCHEMA = Schema(
    (NumericFeature("age", 0, 100), CategoricalFeature("ward", ("north", "south"))),
    ClassTarget("stays", ("no", "yes")),
    n_public=N_ROWS,
)


@dataclass(frozen=True, slots=True)
class Look:
    """After so many minutes: ended visits, megabytes of the server and its workers, the server's threads and open files.

    `processes` are below it, `zombies` those of them that ended and were not collected. Files and megabytes: in the folder for
    temporary files, and in the home, where register, drafts and releases are.
    """

    minutes: float
    visits: int
    server: float
    workers: float
    threads: int
    files: int
    processes: int
    zombies: int
    temporary: int
    temporary_size: float
    home: int
    home_size: float


@dataclass(frozen=True)
class Hour:
    """What was seen. `visits` and `lost` count by kind, `failed` says which visits did not come to their end.

    `logged` are errors in the server's log. `confirmed`, `pressed`, `released`: releases that visitors saw
    confirmed, those that were asked for, those in the register; `wrong` says what is wrong with it. `kept` counts files in the
    home at the end, by folder.
    """

    looks: tuple[Look, ...]
    visits: dict[str, int]
    lost: dict[str, int]
    failed: tuple[str, ...]
    logged: tuple[str, ...]
    confirmed: int
    pressed: int
    released: int
    wrong: tuple[str, ...]
    kept: dict[str, int]
    processor_seconds: float


@dataclass
class _Book:
    """What all visitors report."""

    lock: Lock = field(default_factory=Lock)
    visits: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    pressed: set[str] = field(default_factory=set)
    confirmed: set[str] = field(default_factory=set)


class _TooLong(Exception):
    """What was waited for did not come in time."""


class _Person:
    """One visit: a session, a clock, and what it does."""

    def __init__(self, address: str, page: str, query: str, rng: np.random.Generator, book: _Book, seconds: float) -> None:
        self.visitor, self.rng, self.book = Visitor(address, page, query), rng, book
        self.until = monotonic() + seconds
        self.visitor.open()

    def left(self) -> float:
        return max(0.0, self.until - monotonic())

    def see(self, wanted: Wanted, what: str) -> None:
        """Wait for it, then for the end of its page."""
        if self.visitor.watch(wanted, self.left()) is None or not self.visitor.finish(self.left()):
            raise _TooLong(what)

    def pause(self) -> None:
        self.visitor.watch(lambda element: False, min(self.left(), self.rng.uniform(*PAUSE)))

    def upload(self, label: str, name: str, content: bytes) -> None:
        self.visitor.upload(label, name, content, self.left())


def _trees(person: _Person, number: int) -> None:
    person.see(tree_at(1.0), "the first tree")
    for epsilon in person.rng.permutation(np.arange(2, 100))[:3] / 100:
        person.pause()
        person.visitor.choose_epsilon(float(epsilon))
        person.see(tree_at(float(epsilon)), "another tree")


def _sweep(person: _Person, number: int) -> None:
    person.see(is_whole, "all fits")


def _uploaded(person: _Person, number: int, *, role: str = "Public") -> None:
    """A table that nobody has uploaded before, with its schema, into use."""
    ending = ENDINGS[number % len(ENDINGS)]
    person.see(has("radio", "Whose rows"), "the Data page")
    person.visitor.answer(("Whose rows", role))
    if role == "Private":
        person.see(has("radio", "What does the first line"), "the question about the first line")
        person.visitor.answer(("What does the first line", "Column names"))
    else:
        person.see(has("button_group", "Which table"), "the question for a table")
        person.visitor.answer(("Which table", "A file"))
    person.see(has("file_uploader", "Table"), "the place for a file")
    person.upload("Table", f"rows.{ending}", table(person.rng, ending))
    person.see(has("file_uploader", "Schema or draft"), "the place for a schema")
    person.pause()
    person.upload("Schema or draft", "rows.schema.json", SCHEMA.to_json().encode())
    person.see(has("button", "Use this data"), "a finished draft")
    person.visitor.answer(("Use this data", True))
    person.see(has("markdown", "This is the data in use"), "the data in use")


def _upload(person: _Person, number: int) -> None:
    _uploaded(person, number)
    person.pause()
    person.visitor.go("")
    person.see(tree_at(1.0), "a tree of the upload")


def _release(person: _Person, number: int) -> None:
    _uploaded(person, number, role="Private")
    name = f"ward {number}"
    person.visitor.go("publish")
    person.see(_is_asked, "the question for a data set")
    if person.visitor.offers("These rows belong to"):
        person.visitor.answer(("These rows belong to", "a new data set: nobody in it is in any other"))
        person.see(has("checkbox", "Nobody in these rows"), "the question for the others")
        person.visitor.answer(("Nobody in these rows", True))
        person.see(has("text_input", "Name of the data set"), "the name")
    person.pause()
    said = ("Name of the data set", name), ("Whom it protects", "one patient"), ("Rows per person", 1.0), ("Cap on", 1.0)
    person.visitor.answer(*said, ("Declare it", True))
    person.see(has("checkbox", "Spend"), "the declared data set")
    person.visitor.answer(("Spend", True))
    person.see(_is_release, "the button")
    with person.book.lock:
        person.book.pressed.add(name)
    person.visitor.answer(("Release", True))
    person.see(has("markdown", "Released: number"), "the release")
    with person.book.lock:
        person.book.confirmed.add(name)


def _is_asked(element: Any) -> bool:
    return has("radio", "These rows belong to")(element) or has("text_input", "Name of the data set")(element)


def _is_release(element: Any) -> bool:
    return has("button", "Release")(element) and element.button.label == "Release"


_Kind = tuple[str, str, Callable[[_Person, int], None], float]
#: By kind: its page, its query, what it does, and how often.
KINDS: dict[str, _Kind] = {
    "trees": ("", "draw={}", _trees, 0.4),
    "comparison": ("compare", SWEEP + "&draw={}", _sweep, 0.2),
    "upload": ("data", "", _upload, 0.2),
    "release": ("data", "", _release, 0.2),
}


def table(rng: np.random.Generator, ending: str) -> bytes:
    """Rows that fit the schema, as a file."""
    age = rng.integers(18, 97, N_ROWS)
    rows = pd.DataFrame({"age": age, "ward": rng.choice(["north", "south"], N_ROWS), "stays": np.where(age > 60, "yes", "no")})
    file = BytesIO()
    {"csv": rows.to_csv, "parquet": rows.to_parquet, "xlsx": rows.to_excel}[ending](file, index=False)
    return file.getvalue()


def measure_hour(*, minutes: float, sessions: int = SESSIONS, every: float = 1.0, after: float = AFTER, seed: int = 0) -> Hour:
    """Let `sessions` in at a time for so many minutes; look `every` so many, and once more `after` the last has gone."""
    book, start, looks = _Book(), monotonic(), list[Look]()
    with TemporaryDirectory() as folder:
        home, temporary, log = (Path(folder) / name for name in ("home", "temporary", "log"))
        home.mkdir()
        temporary.mkdir()
        register = home / "releases.db"
        places = {"HOME": str(home), "TMPDIR": str(temporary), "DPVIZ_REGISTER": str(register)}
        with server(places, log) as (address, process), ThreadPoolExecutor(sessions) as crowd:
            until = start + minutes * 60

            def look() -> None:
                looks.append(_look(process, (monotonic() - start) / 60, book.visits.total(), temporary, home))

            busy = [crowd.submit(_visit_on, address, number, until, sessions, book, seed) for number in range(sessions)]
            for number in range(1, int(minutes / every) + 1):
                sleep(max(0.0, start + number * every * 60 - monotonic()))
                look()
            for one in busy:
                one.result()
            sleep(after * 60)
            look()
            used = sum(map(seconds_used, (process, *below(process))))
        lines = log.read_text(errors="replace").splitlines()
        wrong, released = _wrong(ReleaseRegister(register), book)
        kept = Counter(str(file.parent.relative_to(home)) for file in home.rglob("*") if file.is_file())
    logged = tuple(_raised(lines))
    counts = len(book.confirmed), len(book.pressed), released
    return Hour(tuple(looks), dict(book.visits), dict(book.lost), tuple(book.failed), logged, *counts, wrong, dict(kept), used)


def _raised(lines: list[str]) -> Iterator[str]:
    """What tracebacks end with."""
    is_within = False
    for line in lines:
        begins = "Traceback (most recent call last)" in line  # two processes may write theirs into each other
        if is_within and not begins and not line.startswith(" "):
            yield line
        is_within = begins or (is_within and line.startswith(" "))


def _visit_on(address: str, first: int, until: float, step: int, book: _Book, seed: int) -> None:
    """One seat: visits after each other."""
    number = first
    sleep(generator(seed_from(seed, first)).uniform(*PAUSE))
    while number == first or monotonic() < until:
        _visit(address, number, generator(seed_from(seed, number, 1)), book)
        number += step


def _visit(address: str, number: int, rng: np.random.Generator, book: _Book) -> None:
    kind = str(rng.choice(list(KINDS), p=[chance for *_, chance in KINDS.values()]))
    page, query, act, _ = KINDS[kind]
    is_lost, person = rng.random() < LOST_SHARE, None
    seconds = rng.uniform(0, LOST_WITHIN) if is_lost else PATIENCE
    problem = ""
    try:
        person = _Person(address, page, query.format(1000 + number), rng, book, seconds)
        act(person, number)
    except (_TooLong, OSError, ConnectionClosed, KeyError, StopIteration) as found:
        problem = "" if is_lost else f"{type(found).__name__} {found}"
    if person is not None:
        problem = "an exception on the page" if person.visitor.failed else problem
        problem = _leave(address, person, is_lost) or problem
    with book.lock:
        book.visits[kind] += 1
        book.lost[kind] += is_lost
        if problem:
            book.failed.append(f"{kind}: {problem}")


def _leave(address: str, person: _Person, is_lost: bool) -> str:
    """In order, or lost and back again; what went wrong."""
    if is_lost:
        person.visitor.lose()
        return _come_back(address, person)
    with suppress(ConnectionClosed):
        person.visitor.close()
    return ""


def _come_back(address: str, person: _Person) -> str:
    """Load the page again, as a browser does after a crash; what went wrong."""
    again = _Person(address, person.visitor.page, person.visitor.query, person.rng, person.book, PATIENCE)
    is_read = again.visitor.finish(PATIENCE)
    again.visitor.close()
    return "" if is_read and not again.visitor.failed else "a reload that did not end"


def _look(process: int, minutes: float, visits: int, temporary: Path, home: Path) -> Look:
    own, children = status(process), below(process)
    memory = own["VmRSS"] / 1024, sum(status(child)["VmRSS"] for child in children) / 1024
    counts = own["Threads"], len(list(Path(f"/proc/{process}/fd").iterdir())), len(children), sum(map(_is_zombie, children))
    held, kept = _sizes(temporary), _sizes(home)
    return Look(minutes, visits, *memory, *counts, len(held), sum(held) / 1e6, len(kept), sum(kept) / 1e6)


def _is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def _sizes(folder: Path) -> list[int]:
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found.append((Path(place) / name).lstat().st_size)
    return found


def _wrong(register: ReleaseRegister, book: _Book) -> tuple[tuple[str, ...], int]:
    """What is wrong with the register, and how many releases it has."""
    if not register.path.exists():
        return (("no register",) if book.pressed else ()), 0
    register.settle()
    entries = register.releases()
    per_set = Counter(entry.data_set for entry in entries)
    wrong = list(findings(register, files=[]))
    wrong += [f"{name}: {per_set[name]} releases, one was confirmed" for name in sorted(book.confirmed) if per_set[name] != 1]
    wrong += [f"{name}: {n} releases" for name, n in per_set.items() if n > 1]
    wrong += [f"{name}: a release that nobody asked for" for name in per_set if name not in book.pressed]
    return tuple(wrong), len(entries)
