"""Kills itself while releasing: `python -m tests.support.crashing FOLDER SEED KILLS`; then several hammer one register.

Forks after imports, so that a hundred crashes take seconds. A child counts what Python does (every function that begins or
ends, every call of C) and sends itself SIGKILL at a chosen count: a random point of releasing that does not depend on how fast
the machine is. Prints one JSON object of facts and fails on a broken promise.
"""

import hashlib
import json
import os
import signal
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from dpviz.errors import RefusedRelease
from dpviz.learners import FitRequest
from dpviz.release.check import findings
from dpviz.release.files import is_file_with, put_in_place, read_key
from dpviz.release.records import State
from dpviz.release.register import Register
from dpviz.release.release import released_document
from tests.support.register_files import of_version
from tests.support.release_rows import publish, requested, small_rows

EPSILON = 0.1
SPARE = 5


def in_children(*works) -> list[int]:
    """Run each of `works` in a fork, all at once; what they return (a number below 100), or minus the signal that ended one."""
    children = []
    for work in works:
        child = os.fork()
        if not child:
            code = 99
            try:
                code = work() or 0
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def answer_of_child(work):
    """What `work` finds out in a fork, a value of JSON."""
    answer, question = os.pipe()
    assert in_children(lambda: os.write(question, json.dumps(work()).encode()) and 0) == [0]
    return json.loads(os.read(answer, 10_000))


#: A stage begins when one of these is called: spending, training, making the document, writing it.
BORDERS = {function.__code__: stage for stage, function in enumerate((FitRequest.fit, released_document, put_in_place), start=1)}


def counting(work, kill: tuple[int, int] | None) -> list[int]:
    """Events of each stage while `work` runs; killed in the stage `kill[0]` at its event `kill[1]`."""
    counts = [0]

    def note(frame, event, argument):
        if event == "call" and BORDERS.get(frame.f_code) == len(counts):
            counts.append(0)
        counts[-1] += 1
        if kill == (len(counts) - 1, counts[-1]):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counts


def run_until_killed(work, kill: tuple[int, int]) -> None:
    """`work` until it is killed there; to its end where there is no such event."""
    counting(work, kill)


def stages(folder: Path) -> list[int]:
    """Events of each stage of a whole release, in a register of its own."""
    register, data = Register(folder / "count" / "releases.db"), small_rows()
    register.declare("count", epsilon_cap=10)
    register.assign(data.fingerprint, "count")
    publish(register, data, requested(EPSILON))  # everything is imported and warm
    counts = answer_of_child(lambda: counting(lambda: publish(register, data, requested(EPSILON)), None))
    assert len(counts) == 1 + len(BORDERS), "releasing no longer calls what begins a stage"
    return counts


def kill_points(lengths: list[int], kills: int, seed: int) -> list[tuple[int, int]]:
    """Random events, as many in each stage: most happen in training, most of what can go wrong in writing."""
    rng = np.random.default_rng(seed)
    return [(int(stage), int(rng.integers(1, lengths[stage] + 1))) for stage in rng.integers(0, len(lengths), kills)]


def check(register: Register, names: list[str]) -> tuple[int, int]:
    """(released, interrupted) after a crash; every promise of the register holds."""
    on_disk = {str(path) for path in register.folder.glob("*.json")}
    assert on_disk <= {entry.file for entry in register.releases()}, "a file without its row"
    register.recover_interrupted()
    assert not list(register.folder.glob(".dpviz-*")), "a part that nobody will finish"
    entries = register.releases()
    tokens = [entry.token for entry in entries]
    assert len(set(tokens)) == len(tokens), "counted twice"
    assert set(tokens) <= set(names)
    for entry in entries:
        stands = Path(entry.file).exists()
        assert stands == (entry.state is State.RELEASED), entry
        assert not stands or is_file_with(Path(entry.file), entry.sha256), "a part of a file"
    assert sum(Fraction(entry.loss.epsilon) for entry in entries) <= Fraction(register.data_set("rows").epsilon_cap)
    released = sum(entry.state is State.RELEASED for entry in entries)
    return released, len(entries) - released


def crash(folder: Path, seed: int, kills: int) -> dict[str, object]:
    """`kills` crashes, then releases until the cap refuses."""
    lengths = stages(folder)
    register, data = Register(folder / "crash" / "releases.db"), small_rows()
    most = kills + SPARE
    register.declare("rows", epsilon_cap=most * EPSILON)
    register.assign(data.fingerprint, "rows")
    names: list[str] = []
    parts = [0, 0]
    codes = [_crash_at(register, data, names, kill, parts) for kill in kill_points(lengths, kills, seed)]
    released, interrupted = check(register, names)
    return {
        "events": lengths,
        "killed": sum(code != 0 for code in codes),
        "released": released,
        "interrupted": interrupted,
        "never begun": kills - released - interrupted,
        "parts left": parts[0],
        "recovered": parts[1],
        **_go_on(register, data, names, most),
    }


def _crash_at(register: Register, data, names: list[str], kill: tuple[int, int], parts: list[int]) -> int:
    """One crash; `parts` counts texts without a file, and files that are recovered."""
    names.append(f"crash{len(names)}")
    before = check(register, names)
    (code,) = in_children(lambda: run_until_killed(lambda: publish(register, data, requested(EPSILON), token=names[-1]), kill))
    assert code in (0, -signal.SIGKILL), code
    parts[0] += sum(bool(entry.sha256) and entry.state is State.STARTED for entry in register.releases())
    on_disk = len(list(register.folder.glob("*.json")))
    after = check(register, names)
    parts[1] += len(list(register.folder.glob("*.json"))) - on_disk
    assert sum(after) - sum(before) in ((0, 1) if code else (1,)), "lost or counted twice"
    assert code or after[0] == before[0] + 1, "a release that was told of is lost"
    assert kill[0] == 0 or sum(after) == sum(before) + 1, "trained before it was counted"
    return code


def _go_on(register: Register, data, names: list[str], most: int) -> dict[str, int]:
    """The same requests again: what was released is not released twice, what was interrupted stays so, the rest is done."""
    again = {"released in the end": 0, "refused again": 0}
    for name in names:
        known, count = register.find(name), len(register.releases())
        try:
            entry = publish(register, data, requested(EPSILON), token=name)
        except RefusedRelease:
            assert known is not None
            assert known.state is State.STARTED
            again["refused again"] += 1
        else:
            assert entry.state is State.RELEASED
            assert known in (None, entry)
            again["released in the end"] += 1
        assert len(register.releases()) == count + (known is None)
    _fill(register, data, most)
    return again


def _fill(register: Register, data, most: int) -> None:
    """Release until the cap refuses: exactly as many as it allows."""
    while True:
        try:
            publish(register, data, requested(EPSILON))
        except RefusedRelease:
            break
    assert len(register.releases()) == most


def hammer(folder: Path, processes: int, cap: int) -> dict[str, int]:
    """So many processes release from one register until the cap refuses; together they come to the cap and not above."""
    register, data = Register(folder / "hammer" / "releases.db"), small_rows()
    register.declare("rows", epsilon_cap=cap * EPSILON)
    register.assign(data.fingerprint, "rows")

    def until_refused() -> int:
        done = 0
        while True:
            try:
                publish(Register(register.path), data, requested(EPSILON))
                done += 1
            except RefusedRelease:
                return done

    done = in_children(*[until_refused] * processes)
    assert sum(done) == cap == len(register.releases()), done
    assert all(entry.state is State.RELEASED for entry in register.releases())
    return {"hammered": sum(done), "processes": processes}


def _declare(path: Path, name: str) -> None:
    Register(path).declare(name, epsilon_cap=1.0)


def make_at_once(folder: Path, rounds: int, processes: int) -> dict[str, int]:
    """A register that several processes make at the same moment is one register, and holds what each wrote."""
    for number in range(rounds):
        path = folder / f"made{number}" / "releases.db"
        works = [partial(_declare, path, f"rows {number}") for number in range(processes)]
        assert in_children(*works) == [0] * processes
        assert len(Register(path).data_sets()) == processes
    return {"made at once": rounds}


def contents_of(register: Register) -> tuple[object, ...]:
    """What a register holds; fingerprints by the data set that they are known as."""
    known = [register.data_set_of(text) for text in (hashlib.sha256(b"clinic").hexdigest(), small_rows().identity)]
    uses = [(use.data_set, use.what, use.times) for use in register.uncovered_uses()]
    names = [found.name for found in register.data_sets()]
    return names, known, uses, register.releases(), [register.cap_changes(name) for name in names], findings(register)


def migrate(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """Killed while an old register is imported: it is the old or the new one, holds what it held, and counts the same changes."""
    rng, killed = np.random.default_rng(seed), 0
    for version in (1, 3, 5):
        (folder / f"old{version}").mkdir()
        whole = of_version(version, folder / f"old{version}")
        (events,) = answer_of_child(partial(counting, whole.data_sets, None))
        expected, counter = contents_of(whole), read_key(whole.path)[1]
        assert expected[-1] == ()
        for number, event in enumerate(rng.integers(1, events + 1, kills)):
            place = folder / f"old{version}-{number}"
            place.mkdir()
            register = of_version(version, place)
            (code,) = in_children(partial(run_until_killed, register.data_sets, (0, int(event))))
            killed += code == -signal.SIGKILL
            assert contents_of(register) == expected, (version, event)
            assert read_key(register.path)[1] == counter
    return {"killed while imported": killed}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    seed, kills, most, times = map(int, sys.argv[2:])
    facts = crash(place, seed, kills) | hammer(place, processes=3, cap=most) | make_at_once(place, rounds=times, processes=6)
    facts |= migrate(place, kills, seed)
    print(json.dumps(facts))
