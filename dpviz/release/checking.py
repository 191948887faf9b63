"""Is the register as it was written? And what becomes of an old copy, where there is no other.

What is found: a row or an entry that was changed, removed, added or reordered (by the chain); entries missing at the end (by the
head beside the register, by released files, and by heads somebody noted). Nothing can find that the register, the file with the
head *and* every released file were put back together: then only a head noted elsewhere tells.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import DocumentError, RefusedRelease
from dpviz.randomness import random_128_bits
from dpviz.release import beside, chain, queries
from dpviz.release.files import is_file_with, text_of
from dpviz.release.records import Seal
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
    kept, files = beside.read_head(register.path), tuple(files)
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
    found += list(_changed_files(register, released))
    return tuple(found)


def _changed_files(register: ReleaseRegister, released: Iterable[Path]) -> Iterator[str]:
    """Files that stand where a release was written but are not what was written there."""
    places = {entry.file: entry.sha256 for entry in register.releases() if entry.sha256}
    for path in released:
        expected = places.get(str(path.absolute()))
        if expected is not None and not is_file_with(path, expected):
            yield f"The released file {path.name} was changed."


def seal_in(path: Path) -> Seal | None:
    """What a released file says about the register; None where it says nothing or cannot be read."""
    try:
        document = read(dict, parse_json(text_of(path)))
        return read(Seal, document["register"], "register")
    except (OSError, UnicodeDecodeError, DocumentError, KeyError):
        return None


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
    kept = beside.read_head(register.path)
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
            left = queries.balance(connection, data_set).left
            if left.epsilon or left.delta:
                queries.add_entry(connection, _as_spent(data_set.name, left))
        values = (queries.now(), *given, json.dumps(lost))
        connection.execute("INSERT INTO restoration (at, reason, made_by, lost) VALUES (?, ?, ?, ?)", values)


def _as_spent(name: str, left: PrivacyLoss) -> tuple[object, ...]:
    what = [{"kind": "restoration", "column": "", "what": "nobody knows what was released since this copy", "source": "declared"}]
    token = f"{random_128_bits():032x}"
    return (token, name, queries.now(), UNKNOWN, "{}", left.epsilon, left.delta, json.dumps(what), "")
