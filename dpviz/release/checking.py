"""Is the register as it was written? And what becomes of an old copy, where there is no other.

What is found: a row or an entry that was changed, removed, added or reordered (by the chain); entries missing at the end (by the
head beside the register, by released files, and by heads somebody noted). Nothing can find that the register, the file with the
head *and* every released file were put back together: then only a head noted elsewhere tells.
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
from dpviz.release import chain, queries, sidecar
from dpviz.release.files import is_file_with, text_of
from dpviz.release.records import Entry, Seal
from dpviz.release.register import ReleaseRegister, named_line
from dpviz.table.strict_json import parse_json, read

#: Stands for the learner of what was booked because nobody knows what was released.
UNKNOWN = "unknown"
_BEHIND = "The latest entry is missing: the register was truncated, or is an old copy."
_HEADLESS = "The file with the latest head is missing: nothing here tells whether the register is an old copy."


def findings(register: ReleaseRegister, *, heads: Iterable[str] = (), files: Iterable[Path] = ()) -> tuple[str, ...]:
    """What is wrong with a register, a sentence each; nothing where it holds all it ever held, as far as can be told.

    `heads` were noted elsewhere. `files` are released files elsewhere; those in the register's folder are always looked at.
    Other registers may have theirs in that folder, but each of these must be of this one.
    """
    kept, files = sidecar.read_head(register.path), tuple(files)
    released = {path: seal_in(path) for path in (*sorted(register.folder.glob("*.json")), *files)}
    with register.store.reading() as connection:
        found = list(chain.faults(connection))
        own = chain.identity(connection)
        if chain.may_be_old(connection, kept):
            found.append(_BEHIND if kept else _HEADLESS)
        missing = [head for head in heads if not chain.holds(connection, head.strip().lower())]
        found += [f"The head {head:.12}... is not in the register." for head in missing]
        for path, seal in released.items():
            if seal is not None and seal.of == own and not chain.holds(connection, seal.head):
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
        if seal.of != chain.identity(connection):
            return Match(Place.FOREIGN, sha256)
        item = chain.release_with_head(connection, seal.head)
        named = next((entry for entry in queries.entries(connection) if chain.digest(entry.token) == item), None)
    return Match(Place.LOST if named is None else Place.CHANGED, sha256, named)


def current_head(register: ReleaseRegister) -> str:
    """The hash of the last entry, to be noted elsewhere."""
    with register.store.reading() as connection:
        return chain.head(connection)


def restored(register: ReleaseRegister, *, reason: str, made_by: str) -> None:
    """Go on with an old copy, because there is no newer one. What was left of every cap counts as spent from now on.

    Nobody knows what was released since that copy was made, so nothing of it is given back; a cap may be raised afterwards, with
    a reason. Raises RefusedRelease where the register is not an old copy, or was changed besides.
    """
    given = named_line("reason", reason), named_line("name", made_by)
    kept = sidecar.read_head(register.path)
    seals = [seal for path in register.folder.glob("*.json") if (seal := seal_in(path)) is not None]
    with register.store.writing(on_old_copy=True) as connection:
        own = chain.identity(connection)
        known = [kept, *(seal.head for seal in seals if seal.of == own)]
        lost = sorted({head for head in known if head and not chain.holds(connection, head)})
        if next(chain.faults(connection), None) is not None:
            raise RefusedRelease("This copy was changed besides.", remedy="Put back a copy that `dpviz register check` accepts.")
        if not lost and not chain.may_be_old(connection, kept):
            raise RefusedRelease("This register is no old copy: it holds its latest entry.", remedy="There is nothing to do.")
        for data_set in queries.data_sets(connection):
            balance = queries.balance(connection, data_set)
            if balance.left.epsilon or balance.left.delta:
                queries.add_entry(connection, _as_spent(data_set.name, balance.left))
        values = (queries.now(), *given, json.dumps(lost))
        connection.execute("INSERT INTO restoration (at, reason, made_by, lost) VALUES (?, ?, ?, ?)", values)


def _as_spent(name: str, left: PrivacyLoss) -> tuple[object, ...]:
    what = [{"kind": "restoration", "column": "", "what": "nobody knows what was released since this copy", "source": "declared"}]
    token = f"{random_128_bits():032x}"
    return (token, name, queries.now(), UNKNOWN, "{}", left.epsilon, left.delta, json.dumps(what), "")
