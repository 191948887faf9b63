"""Is the register as it was written? And what becomes of an old copy, where there is no other.

What is found: a release that was changed or removed (by its keyed digest and its number), an old copy (by the counter beside the
key), and a release that is missing (by its file). Nothing can find that the register, its key *and* every released file were put
back together: then only a released file that is kept elsewhere tells.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import DocumentError, RefusedRelease
from dpviz.randomness import random_128_bits
from dpviz.release import queries, sidecar
from dpviz.release.files import is_file_with, text_of
from dpviz.release.records import Entry, Seal
from dpviz.release.register import ReleaseRegister, named_line
from dpviz.release.store import counter_of
from dpviz.table.strict_json import parse_json, read

#: Stands for the learner of what was booked because nobody knows what was released.
UNKNOWN = "unknown"
_BEHIND = "The latest entry is missing: the register was truncated, or is an old copy."


def findings(register: ReleaseRegister, *, files: Iterable[Path] = ()) -> tuple[str, ...]:
    """What is wrong with a register, a sentence each; nothing where it holds all it ever held, as far as can be told.

    `files` are released files elsewhere; those in the register's folder are always looked at. Other registers may have theirs in
    that folder, but each of these must be of this one.
    """
    files = tuple(files)
    released = {path: seal_in(path) for path in (*sorted(register.folder.glob("*.json")), *files)}
    with register.store.reading() as connection:
        found = list(queries.changed_releases(connection, register.store.keyed))
        own, seals = queries.identity(connection), queries.seals(connection)
        if sidecar.read_counter(register.path) > counter_of(connection):
            found.append(_BEHIND)
        for path, seal in released.items():
            if seal is not None and seal.of == own and seal.head not in seals:
                found.append(f"The release {path.name} is not in the register: it was truncated, or is an old copy.")
    strange = [path for path in files if (seal := released[path]) is not None and seal.of != own]
    found += [f"The release {path.name} is of another register." for path in strange]
    found += [*_changed_files(register, released), *_unrecorded_caps(register)]
    return tuple(found)


def _changed_files(register: ReleaseRegister, released: Iterable[Path]) -> Iterator[str]:
    """Files that stand where a release was written but are not what was written there."""
    places = {entry.file: entry.sha256 for entry in register.releases() if entry.sha256}
    for path in released:
        expected = places.get(str(path.absolute()))
        if expected is not None and not is_file_with(path, expected):
            yield f"The released file {path.name} was changed."


def _unrecorded_caps(register: ReleaseRegister) -> Iterator[str]:
    """Data sets under other caps than the last recorded change set."""
    with register.store.reading() as connection:
        for known in queries.data_sets(connection):
            if not queries.has_recorded_caps(connection, known):
                yield f"The cap of {known.name!r} was changed without a record of it."


def seal_in(path: Path) -> Seal | None:
    """What a released file says about the register; None where it says nothing or cannot be read."""
    try:
        return seal_of(text_of(path))
    except (OSError, UnicodeDecodeError):
        return None


def seal_of(text: str | bytes) -> Seal | None:
    """What the text of a released file says about the register; None where it says nothing."""
    try:
        return read(Seal, read(dict, parse_json(text))["register"], "register")
    except (DocumentError, KeyError):
        return None


class Place(StrEnum):
    """Where a file stands in a register."""

    AS_RELEASED = "as released"  #: It is, to the byte, what a release of this register wrote
    CHANGED = "changed"  #: It names a release of this register, which wrote another file
    LOST = "not in its register"  #: It names this register, which holds no such release
    FOREIGN = "of another register"
    UNRECORDED = "in no register"  #: It names none
    NO_REGISTER = "no register here"


@dataclass(frozen=True, slots=True)
class Match:
    """Where a file stands in a register: `entry` is the release that wrote it, or that it names."""

    place: Place
    sha256: str
    entry: Entry | None = None


def matched(register: ReleaseRegister, content: bytes) -> Match:
    """The release of a register that wrote this very file, by its SHA-256; else what the file says of its register."""
    sha256, seal = hashlib.sha256(content).hexdigest(), seal_of(content)
    if not register.path.exists():  # to open one would make it
        return Match(Place.NO_REGISTER, sha256)
    with register.store.reading() as connection:
        written = next(iter(queries.entries(connection, "WHERE sha256 = ?", sha256)), None)
        if written is not None:
            return Match(Place.AS_RELEASED, sha256, written)
        if seal is None:
            return Match(Place.UNRECORDED, sha256)
        if seal.of != queries.identity(connection):
            return Match(Place.FOREIGN, sha256)
        named = next(iter(queries.entries(connection, "WHERE seal = ?", seal.head)), None)
    return Match(Place.LOST if named is None else Place.CHANGED, sha256, named)


def restored(register: ReleaseRegister, *, reason: str, made_by: str) -> None:
    """Go on with an old copy, because there is no newer one. What was left of every cap counts as spent from now on.

    Nobody knows what was released since that copy was made, so nothing of it is given back; a cap may be raised afterwards, with
    a reason. Raises RefusedRelease where the register is not an old copy, or was changed besides.
    """
    given = named_line("reason", reason), named_line("name", made_by)
    printed = [seal for path in register.folder.glob("*.json") if (seal := seal_in(path)) is not None]
    kept = sidecar.read_counter(register.path)
    with register.store.writing(on_old_copy=True) as connection:
        own, seals = queries.identity(connection), queries.seals(connection)
        lost = sorted({seal.head for seal in printed if seal.of == own} - seals)
        if any(queries.changed_releases(connection, register.store.keyed)):
            raise RefusedRelease("This copy was changed besides.", remedy="Put back a copy that `dpviz register check` accepts.")
        if not lost and kept <= counter_of(connection):
            raise RefusedRelease("This register is no old copy: it holds its latest entry.", remedy="There is nothing to do.")
        for data_set in queries.data_sets(connection):
            balance = queries.balance(connection, data_set)
            if balance.left.epsilon or balance.left.delta:
                queries.add_entry(connection, _as_spent(data_set.name, balance.left), register.store.keyed)
        values = (queries.now(), *given, json.dumps(lost))
        connection.execute("INSERT INTO restoration (at, reason, made_by, lost) VALUES (?, ?, ?, ?)", values)


def _as_spent(name: str, left: PrivacyLoss) -> tuple[object, ...]:
    what = [{"kind": "restoration", "column": "", "what": "nobody knows what was released since this copy", "source": "declared"}]
    token = f"{random_128_bits():032x}"
    return (token, name, queries.now(), UNKNOWN, "{}", left.epsilon, left.delta, json.dumps(what), "")
