"""Is the register as it was written, where does a file stand in it, and what do all releases tell together? All without rows.

Found is a release that was changed or removed (by its keyed digest and its number), an old copy (by the counter beside the
key), and a release that is missing (by its file). Nothing can find that the register, its key *and* every released file were put
back together: then only a released file that is kept elsewhere tells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.guarantee import PrivacyLoss, guarantee, round_up
from dpviz.accounting.ledger import ledger_from
from dpviz.accounting.risk import Risk
from dpviz.errors import DocumentError, DpvizError, RefusedRelease
from dpviz.randomness import random_128_bits
from dpviz.release.files import is_file_with, released_text, text_of
from dpviz.release.records import ReleaseRecord
from dpviz.release.register import Register, named_line, timestamp
from dpviz.results.document import Recorded, statement_of
from dpviz.table.strict_json import parse_json, read

#: Stands for the learner of what was booked because nobody knows what was released.
UNKNOWN = "unknown"


def findings(register: Register, *, files: Iterable[Path] = ()) -> tuple[str, ...]:
    """What is wrong with a register, a sentence each; nothing where it holds all it ever held, as far as can be told.

    `files` are released files elsewhere; those in the register's folder are always looked at. Other registers may have theirs in
    that folder, but each of these must be of this one.
    """
    files = tuple(files)
    paths = dict.fromkeys((*sorted(register.folder.glob("*.json")), *files))
    references = {path: reference for path in paths if (reference := reference_in(path)) is not None}
    with register.reading():
        problems = list(register.changes_outside())
        identity, heads = register.identity, _heads(register)
        if register.missing_changes():
            problems.append("The latest entry is missing: the register was truncated, or is an old copy.")
        for path, reference in references.items():
            if reference.of == identity and reference.head not in heads:
                problems.append(f"The release {path.name} is not in the register: it was truncated, or is an old copy.")
            elif reference.of != identity and path in files:
                problems.append(f"The release {path.name} is of another register.")
        hashes = {record.file: record.sha256 for record in register.releases() if record.sha256}
    for path in paths:
        sha256 = hashes.get(str(path.absolute()))
        if sha256 is not None and not is_file_with(path, sha256):
            problems.append(f"The released file {path.name} was changed.")
    return tuple(problems)


def _heads(register: Register) -> frozenset[str]:
    """What the files of all releases print, and of those that were given up when a backup was restored."""
    with register.reading() as connection:
        lost = [read(tuple[str, ...], parse_json(heads)) for (heads,) in connection.execute("SELECT lost FROM restoration")]
    return frozenset(record.seal for record in register.releases()).union(*lost)


def reference_in(path: Path) -> Recorded | None:
    """What a released file says about the register; None where it says nothing or cannot be read."""
    try:
        return reference_of(text_of(path))
    except (OSError, UnicodeDecodeError):
        return None


def reference_of(text: str | bytes) -> Recorded | None:
    """What the text of a released file says about the register; None where it says nothing."""
    try:
        return read(Recorded, read(dict, parse_json(text))["register"], "register")
    except (DocumentError, KeyError):
        return None


class Place(StrEnum):
    """Where a file stands in a register."""

    AS_RELEASED = "as released"  #: It is, to the byte, what a release of this register wrote
    CHANGED = "changed"  #: It names a release of this register, which wrote another file
    LOST = "not in its register"  #: It names this register, which holds no such release
    FOREIGN = "of another register"
    NO_ENTRY = "in no register"  #: It names none
    NO_REGISTER = "no register here"


@dataclass(frozen=True, slots=True)
class Match:
    """Where a file stands in a register: `record` is the release that wrote it, or that it names."""

    place: Place
    sha256: str
    record: ReleaseRecord | None = None


def match_file(register: Register, content: bytes) -> Match:
    """The release of a register that wrote this very file, by its SHA-256; else what the file says of its register."""
    sha256, reference = hashlib.sha256(content).hexdigest(), reference_of(content)
    if not register.path.exists():  # to open one would make it
        return Match(Place.NO_REGISTER, sha256)
    with register.reading():
        for record in register.releases():
            if record.sha256 == sha256:
                return Match(Place.AS_RELEASED, sha256, record)
        if reference is None:
            return Match(Place.NO_ENTRY, sha256)
        if reference.of != register.identity:
            return Match(Place.FOREIGN, sha256)
        named = [record for record in register.releases() if record.seal == reference.head]
    return Match(Place.CHANGED, sha256, named[0]) if named else Match(Place.LOST, sha256)


def resume(register: Register, *, reason: str, made_by: str) -> None:
    """Go on with an old copy, because there is no newer one. What was left of every cap counts as spent from now on.

    Nobody knows what was released since that copy was made, so nothing of it is given back; a cap may be raised afterwards, with
    a reason. Raises RefusedRelease where the register is not an old copy, or was changed besides.
    """
    grounds = {"reason": named_line("reason", reason), "made_by": named_line("made_by", made_by)}
    references = [reference for path in register.folder.glob("*.json") if (reference := reference_in(path)) is not None]
    with register.writing(on_old_copy=True):
        lost = sorted({one.head for one in references if one.of == register.identity} - _heads(register))
        if any(register.changes_outside()):
            raise RefusedRelease("This copy was changed besides.", remedy="Put back a copy that `dpviz register check` accepts.")
        if not lost and not register.missing_changes():
            raise RefusedRelease("This register is no old copy: it holds its latest entry.", remedy="There is nothing to do.")
        what = "nobody knows what was released since this copy"
        disclosures = [{"kind": "restoration", "column": "", "what": what, "source": "declared"}]
        for data_set in register.data_sets():
            left = register.balance(data_set.name).left
            if left.epsilon or left.delta:
                register.book(f"{random_128_bits():032x}", data_set.name, UNKNOWN, {}, left, disclosures, "")
        register.insert("restoration", at=timestamp(), **grounds, lost=json.dumps(lost))


@dataclass(frozen=True)
class ComposedReleases:
    """The releases of one data set as one sequence of steps: less than the sum of what each of them cost.

    The *sum* holds however the next epsilon was chosen, also after a look at the releases before (Rogers, Roth, Ullman & Vadhan
    2016): caps count it, and nothing here gives any of it back. The *composed* total is that of the steps that were run (Dong,
    Roth & Su 2022, Theorem 3.2); it holds where the settings of each release did not depend on what was released before.
    """

    risk: Risk  #: Of one unit, with all its rows
    delta: float  #: The largest of a single release, at which `loss` is stated
    n_unread: int  #: Releases without their file, which count as any algorithm of their cost

    @property
    def loss(self) -> PrivacyLoss:
        """What they cost one unit, at the delta of a single release: never more than it is at the sum of all deltas."""
        return PrivacyLoss(self.risk.epsilon_at(self.delta), self.delta)


def compose_releases(releases: Sequence[ReleaseRecord], rows: int = 1) -> ComposedReleases | None:
    """The total by what was run, for a unit with so many rows; None for fewer than two releases, with nothing to compose."""
    if len(releases) < 2:
        return None
    events = [_event(record, rows) for record in releases]
    unread = sum(event == _any_algorithm(record, rows) for event, record in zip(events, releases, strict=True))
    return ComposedReleases(Risk(Sequential(tuple(events)), rows=rows), max(record.loss.delta for record in releases), unread)


def _event(record: ReleaseRecord, rows: int) -> Event:
    """What was done to a row, or any algorithm of that cost where nothing says so."""
    with suppress(DpvizError):
        event = _steps(record.file, record.sha256)
        loss = guarantee(event, rows)
        if loss.epsilon <= record.loss.epsilon and loss.delta <= record.loss.delta:
            return event
    return _any_algorithm(record, rows)


def _any_algorithm(record: ReleaseRecord, rows: int) -> Event:
    """Any algorithm that costs a row its part of what is booked, as every learner here does."""
    part = round_up(Fraction(record.loss.epsilon) / rows)
    return Risk.of_any(PrivacyLoss(part, record.loss.delta)).event


@lru_cache(maxsize=1024)
def _steps(file: str, sha256: str) -> Event:
    """What a released file says was done. Raises DpvizError where it is gone, or is not the file that was released."""
    return ledger_from(statement_of(parse_json(released_text(Path(file), sha256))).ledger, "privacy.ledger").event
