"""The release register: which rows belong to which data set, what may be spent on them, and what was spent.

A release is two commits: its cost is booked (*started*) before a row is touched, and it is *released* once its file is in
place. Whatever happens in between, what was spent stays spent, and no file is in place without an entry here. Each release has a
keyed digest of what it cost; `dpviz.release.checking` says what it finds.
"""

import json
import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import ParameterError, RefusedRelease, UnansweredRows, UnknownName
from dpviz.release import queries, recognition
from dpviz.release.files import is_file_with, recover, sha256_of
from dpviz.release.records import (
    SCHEMA_AT_LOOK,
    Balance,
    CapChange,
    DataSet,
    Entry,
    Exploration,
    Seal,
    State,
    check_caps,
    require_room,
)
from dpviz.release.store import Store, default_path, refusal
from dpviz.table.role import DataRole
from dpviz.table.sums import TableSums

LONGEST_NAME = 80
#: Tables are alike when this share of all their column names is in both.
ALIKE = 0.5
_TOKEN = re.compile("[0-9A-Za-z]{1,64}")


class ReleaseRegister:
    """One register file, by default what DPVIZ_REGISTER says, else `~/.local/share/dpviz/releases.db`.

    See `dpviz.release.store` for what its methods raise when the file cannot be used.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.store = Store(self.path)

    @property
    def folder(self) -> Path:
        """Where released files go by default."""
        return self.path.parent / "releases"

    # --- data sets

    def declare(
        self,
        name: str,
        *,
        epsilon_cap: float,
        delta_cap: float = 0.0,
        unit: str = "one row",
        rows_per_unit: int = 1,
        role: DataRole = DataRole.PRIVATE,
    ) -> DataSet:
        """A new data set, disjoint from all others: nobody may be in two.

        Raises RefusedRelease when the name is taken, ParameterError for caps that cannot be.
        """
        name, unit = named_line("name", name), named_line("unit", unit)
        check_caps(epsilon_cap, delta_cap, rows_per_unit)
        values = (name, str(role), unit, int(rows_per_unit), float(epsilon_cap), float(delta_cap), queries.now())
        with self.store.writing() as connection:
            if queries.find_data_set(connection, name) is not None:
                remedy = "Assign these rows to it, or choose another name."
                raise RefusedRelease("There is already a data set of this name.", where=name, remedy=remedy)
            connection.execute("INSERT INTO data_set VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            queries.note_caps(connection, CapChange(name, values[-1], *values[4:6]))
        return self.data_set(name)

    def change_caps(
        self, name: str, *, epsilon_cap: float, delta_cap: float = 0.0, reason: str = "", made_by: str = ""
    ) -> DataSet:
        """Set other caps. The change is recorded; what was spent stays spent, even above the new cap.

        Raises RefusedRelease when a cap is raised without a reason and a name.
        """
        check_caps(epsilon_cap, delta_cap, 1)
        given = tuple(named_line(what, text) if text.strip() else "" for what, text in (("reason", reason), ("name", made_by)))
        with self.store.writing() as connection:
            before = queries.data_set(connection, name)
            if (epsilon_cap > before.epsilon_cap or delta_cap > before.delta_cap) and not all(given):
                remedy = "Say why, and who decides. Both stay in the history of the cap."
                raise RefusedRelease("A cap is raised only with a reason and a name.", where=name, remedy=remedy)
            sql = "UPDATE data_set SET epsilon_cap = ?, delta_cap = ? WHERE name = ?"
            connection.execute(sql, (float(epsilon_cap), float(delta_cap), name))
            queries.note_caps(connection, CapChange(name, queries.now(), float(epsilon_cap), float(delta_cap), *given))
        return self.data_set(name)

    def data_set(self, name: str) -> DataSet:
        """The data set called `name`; raises UnknownName."""
        with self.store.reading() as connection:
            return queries.data_set(connection, name)

    def data_sets(self) -> tuple[DataSet, ...]:
        """All data sets, by name."""
        with self.store.reading() as connection:
            return queries.data_sets(connection)

    def cap_changes(self, name: str) -> tuple[CapChange, ...]:
        """Every cap this data set has had, oldest first."""
        with self.store.reading() as connection:
            return queries.cap_changes(connection, name)

    # --- which rows belong to which

    def assign(
        self,
        fingerprint: str,
        name: str,
        *,
        columns: Iterable[str] = (),
        sums: TableSums | None = None,
        disjoint_from: Iterable[str] = (),
    ) -> DataSet:
        """Assign these rows to the data set `name`, for good. Repeating it changes nothing.

        `columns` are the names of the table's columns, which are public: by them other rows of the data set are recognised. By
        `sums` the same table is, in any form. `disjoint_from`: data sets that nobody in these rows is in, for good.
        Raises RefusedRelease when the rows are assigned to another data set, UnansweredRows when they look like rows of one that
        `disjoint_from` does not name.
        """
        with self.store.writing() as connection:
            return self._assign(connection, fingerprint, name, columns, sums, disjoint_from)

    def _assign(
        self,
        connection: sqlite3.Connection,
        fingerprint: str,
        name: str,
        columns: Iterable[str],
        sums: TableSums | None,
        disjoint_from: Iterable[str],
        is_said: bool = True,
    ) -> DataSet:
        """`is_said`: somebody has said that these rows belong to the data set; else they have to be known as its rows."""
        found, known, others = queries.data_set(connection, name), self.store.keyed(fingerprint), tuple(disjoint_from)
        for other in others:
            queries.data_set(connection, other)
        columns = tuple(columns)
        table = None if sums is None else recognition.Table(known, sums, columns)
        before = queries.data_set_of_rows(connection, known)
        if before is not None and before.name != name:
            what = f"These rows are already assigned to {before.name!r}."
            raise RefusedRelease(what, where=name, remedy=f"Release them under {before.name!r}.")
        if before is None:
            if not is_said and not (table and recognition.is_whole(connection, self.store.keyed, table, name)):
                what, remedy = "These rows are not assigned to this data set yet.", "Assign them to it, if they belong to it."
                raise UnansweredRows("unassigned", what, where=name, remedy=remedy)
            if table is not None:
                self._require_unknown(connection, table, name, others)
            values = (known, name, queries.now(), json.dumps(columns))
            connection.execute("INSERT INTO fingerprint VALUES (?, ?, ?, ?)", values)
        if table is not None:
            recognition.keep(connection, self.store.keyed, table, name, others)
        return found

    def _require_unknown(
        self, connection: sqlite3.Connection, table: recognition.Table, name: str, others: tuple[str, ...]
    ) -> None:
        """Raise UnansweredRows where a table looks like one of another data set, and nobody has said that it is none of it."""
        found = [one for one in recognition.recognised(connection, self.store.keyed, table, besides=name) if one not in others]
        if found:
            what = f"These rows look like rows of {recognition.by_name(found)}, whose cap would count."
            remedy = f"Release them under {found[0]!r}, or say that nobody in them is in {recognition.by_name(found)}."
            raise UnansweredRows("recognised", what, where=name, remedy=remedy, data_sets=found)

    def data_set_of(self, fingerprint: str) -> DataSet | None:
        """The data set these rows are assigned to; None when they are not assigned yet."""
        with self.store.reading() as connection:
            return queries.data_set_of_rows(connection, self.store.keyed(fingerprint))

    def recognise(self, fingerprint: str, sums: TableSums, columns: Iterable[str]) -> DataSet | None:
        """As `known_as`; the rows are assigned to that data set under this schema, too."""
        columns = tuple(columns)
        known = self.known_as(fingerprint, sums, columns)
        if known is not None and self.data_set_of(fingerprint) is None:
            self.assign(fingerprint, known.name, columns=columns, sums=sums)
        return known

    def known_as(self, fingerprint: str, sums: TableSums, columns: Iterable[str]) -> DataSet | None:
        """The data set of these rows: assigned before, or of which alone this is a table in another order, form or schema."""
        with self.store.reading() as connection:
            known = queries.data_set_of_rows(connection, self.store.keyed(fingerprint))
            if known is not None:
                return known
            table, keyed = recognition.Table(self.store.keyed(fingerprint), sums, tuple(columns)), self.store.keyed
            found = recognition.recognised(connection, keyed, table, sure=True)
            whole = [name for name in found if recognition.is_whole(connection, keyed, table, name)]
            return queries.data_set(connection, whole[0]) if whole == found and len(found) == 1 else None

    def looks_like(self, fingerprint: str, sums: TableSums, columns: Iterable[str]) -> tuple[str, ...]:
        """Names of data sets that these rows may be of, as far as nobody has said that they are not."""
        with self.store.reading() as connection:
            table = recognition.Table(self.store.keyed(fingerprint), sums, tuple(columns))
            return tuple(recognition.recognised(connection, self.store.keyed, table))

    def knows_as_private(self, fingerprint: str, sums: TableSums | None = None) -> bool:
        """Whether these rows belong to a private data set, or were explored as private ones."""
        found = self.data_set_of(fingerprint)
        if found is not None:
            return found.role is DataRole.PRIVATE
        if self.explorations(fingerprint):
            return True
        if sums is None:
            return False
        with self.store.reading() as connection:
            table = recognition.Table(self.store.keyed(fingerprint), sums, ())
            names = recognition.recognised(connection, self.store.keyed, table, sure=True)
            return any(queries.data_set(connection, name).role is DataRole.PRIVATE for name in names)

    def alike(self, columns: Iterable[str]) -> tuple[DataSet, ...]:
        """Data sets whose rows have mostly the same columns (at least half of all names), the most alike first."""
        names = set(columns)
        with self.store.reading() as connection:
            known = queries.columns_of(connection)
            shares = {name: len(names & set(theirs)) / len(names | set(theirs)) for name, theirs in known.items() if theirs}
            likely = sorted((-share, name) for name, share in shares.items() if share >= ALIKE)
            return tuple(queries.data_set(connection, name) for _, name in likely)

    # --- releases

    def start(
        self,
        *,
        token: str,
        fingerprint: str,
        learner: str,
        settings: dict[str, Any],
        loss: PrivacyLoss,
        disclosures: Iterable[dict[str, str]] = (),
        file: Path,
        assign_to: str | None = None,
        columns: Iterable[str] = (),
        sums: TableSums | None = None,
        disjoint_from: Iterable[str] = (),
        add_rows: bool = True,
    ) -> Entry:
        """Spend `loss`, for good, before a row is touched.

        `assign_to` assigns the rows as `assign` does, in the same step: whatever is refused here leaves them unassigned. Without
        `add_rows` they have to be known as rows of it, by their fingerprint or by `sums`.
        Raises RefusedRelease when the rows are not assigned to a data set, or this token was used before; UnansweredRows when it
        has to be said whose they are; OverCap, which says what is left, when it would exceed the cap.
        """
        if not _TOKEN.fullmatch(token):  # it names a file
            raise ParameterError("a release", "token", token, "1 to 64 letters and digits")
        texts = (json.dumps(settings, sort_keys=True), json.dumps(list(disclosures)))
        with self.store.writing() as connection:
            if any(queries.changed_releases(connection, self.store.keyed)):
                raise refusal("changed", self.path)
            if assign_to is not None:
                self._assign(connection, fingerprint, assign_to, columns, sums, disjoint_from, add_rows)
            data_set = queries.data_set_of_rows(connection, self.store.keyed(fingerprint))
            if data_set is None:
                remedy = "Assign them to one, or declare a new one that is disjoint from all others."
                raise RefusedRelease("These rows are not assigned to a data set yet.", remedy=remedy)
            if assign_to is None and sums is not None:
                table = recognition.Table(self.store.keyed(fingerprint), sums, tuple(columns))
                recognition.keep(connection, self.store.keyed, table, data_set.name, ())
            if not queries.has_recorded_caps(connection, data_set):
                raise refusal("changed", self.path)
            if queries.find_entry(connection, token) is not None:
                raise RefusedRelease("This release was started before.", where=token, remedy="Start a new one.")
            require_room(queries.balance(connection, data_set), loss)
            about = (token, data_set.name, queries.now(), learner, texts[0])
            queries.add_entry(connection, (*about, loss.epsilon, loss.delta, texts[1], str(file)), self.store.keyed)
        return self.entry(token)

    def sealed(self, token: str, file: Path) -> str:
        """Record and return the hash of the finished file before it is moved to its place: by it it is known after a crash.

        Raises RegisterError where no such release waits for its file.
        """
        sha256 = sha256_of(file)
        with self.store.writing() as connection:
            sql = "UPDATE release SET sha256 = ? WHERE token = ? AND state = 'started' AND sha256 = ''"
            if connection.execute(sql, (sha256, token)).rowcount != 1:
                raise refusal("behind", self.path)
        return sha256

    def finish(self, token: str) -> Entry:
        """The file is in its place: *released*. Repeating it changes nothing. Raises RegisterError where it has no entry."""
        sql = "UPDATE release SET state = 'released', finished = ? WHERE token = ? AND state = 'started' AND sha256 <> ''"
        with self.store.writing() as connection:
            connection.execute(sql, (queries.now(), token))
            found = queries.find_entry(connection, token)
        if found is None:
            raise refusal("behind", self.path)
        return found

    def seal_of(self, token: str) -> Seal:
        """What a release with this token prints: whose register it is in, and its digest.

        Raises RegisterError where there is no such entry, or no longer.
        """
        with self.store.reading() as connection:
            seal = queries.seal_of_release(connection, token)
            if seal is None:
                raise refusal("behind", self.path)
            return Seal(queries.identity(connection), seal)

    def settle(self) -> tuple[Entry, ...]:
        """After a crash: mark as released every release whose complete file is there, and return those that changed.

        A whole file that was not moved to its place yet is moved there, half a one is removed. All others stay spent.
        """
        waiting = [entry for entry in self.releases() if entry.state is State.STARTED]
        for entry in waiting:
            recover(Path(entry.file), entry.token, lambda token: self.entry(token).sha256)
        whole = [entry for it in waiting if (entry := self.entry(it.token)).sha256 and is_file_with(Path(it.file), entry.sha256)]
        return tuple(self.finish(entry.token) for entry in whole)

    def entry(self, token: str) -> Entry:
        """The release with this token; raises UnknownName."""
        found = self.find(token)
        if found is None:
            raise UnknownName("release", token, [entry.token for entry in self.releases()])
        return found

    def find(self, token: str) -> Entry | None:
        """The release with this token, if it was started."""
        with self.store.reading() as connection:
            return queries.find_entry(connection, token)

    def releases(self, name: str | None = None) -> tuple[Entry, ...]:
        """All releases, or those of one data set, in the order they were started."""
        with self.store.reading() as connection:
            return queries.entries(connection) if name is None else queries.entries(connection, "WHERE data_set = ?", name)

    def balance(self, name: str) -> Balance:
        """What was spent on a data set and what is left; raises UnknownName."""
        with self.store.reading() as connection:
            return queries.balance(connection, queries.data_set(connection, name))

    # --- explorations

    def note_exploration(self, fingerprint: str, *, what: str, learner: str, settings: dict[str, Any], times: int = 1) -> None:
        """Record that private rows were explored. Exploring the same thing again raises its count."""
        about = (what, learner, json.dumps(settings, sort_keys=True), times, queries.now())
        with self.store.writing() as connection:
            values = (self.store.keyed(fingerprint), *about)
            connection.execute(
                "INSERT INTO exploration (fingerprint, what, learner, settings, times, at) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET times = times + excluded.times, at = excluded.at",
                values,
            )

    def explorations(self, fingerprint: str | None = None) -> tuple[Exploration, ...]:
        """All, or those of the data set these rows are assigned to (of these very rows while they are not); latest first."""
        with self.store.reading() as connection:
            every = tuple(item for item in queries.explorations(connection) if item.what != SCHEMA_AT_LOOK)
            if fingerprint is None:
                return every
            own = self.store.keyed(fingerprint)
            known = queries.data_set_of_rows(connection, own)
        return tuple(item for item in every if item.fingerprint == own or (known and item.data_set == known.name))

    def note_schema(self, rows: str, digest: str) -> None:
        """Keep the digest of the schema by which these rows were first looked at; a later one changes nothing."""
        if not self.schemas_at_looks(rows):
            self.note_exploration(f"look {rows}", what=SCHEMA_AT_LOOK, learner="", settings={"schema": digest})

    def schemas_at_looks(self, rows: str) -> frozenset[str]:
        """Digests of the schemas by which these rows were first looked at: one, or none."""
        with self.store.reading() as connection:
            own, every = self.store.keyed(f"look {rows}"), queries.explorations(connection)
        found = (item for item in every if item.fingerprint == own and item.what == SCHEMA_AT_LOOK)
        return frozenset(str(item.settings.get("schema")) for item in found)


def named_line(what: str, text: str) -> str:
    """`text` without surrounding blanks, one printable line of at most LONGEST_NAME characters."""
    flat = text.strip()
    if not flat or len(flat) > LONGEST_NAME or not flat.isprintable():
        raise ParameterError("a data set", what, text, f"one line of 1 to {LONGEST_NAME} characters")
    return flat
