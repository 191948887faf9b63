"""The release register: which rows belong to which data set, what may be spent on them, and what was spent.

A release is two commits: its cost is booked (*started*) before a row is touched, and it is *released* once its file is in
place. Whatever happens in between, what was spent stays spent, and no file is in place without a record here. Each release has a
keyed digest of what it cost; `dpviz.release.check` says what it finds.
"""

import json
import re
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, TypeVar

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import DocumentError, ParameterError, RefusedRelease, RegisterError, UnansweredRows, UnknownName
from dpviz.learners import FitRequest
from dpviz.release.files import is_file_with, recover, sha256_of
from dpviz.release.recognition import Table, columns_of
from dpviz.release.records import (
    Balance,
    CapChange,
    DataSet,
    RegisterReference,
    ReleaseRecord,
    State,
    UncoveredUse,
    check_caps,
)
from dpviz.release.store import Store, default_path, digest, refusal
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.table.strict_json import parse_json, read
from dpviz.table.sums import TableSums
from dpviz.training.counted_rows import Rows

T = TypeVar("T")
LONGEST_NAME = 80
#: Tables are alike when this share of all their column names is in both.
ALIKE = 0.5
_TOKEN = re.compile("[0-9A-Za-z]{1,64}")
#: A use that is never listed: it holds the digest of the schema at the first inspection of these rows.
_FIRST_SCHEMA = "the schema at the first look"
_BOOKED = "token, data_set, started, learner, settings, epsilon, delta, disclosures"


class Register:
    """A register of releases: `declare` a data set, `release` from it, `balance` says what is left. See `open_register`.

    One file, by default what DPVIZ_REGISTER says, else `~/.local/share/dpviz/releases.db`. Methods raise RegisterError where it
    cannot be used.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.store = Store(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held open between calls."""

    @property
    def folder(self) -> Path:
        """Where released files go by default."""
        return self.path.parent / "releases"

    def release(
        self,
        data_set: str,
        learner: str | FitRequest,
        rows: Any,
        *,
        schema: Schema | None = None,
        file: str | Path | None = None,
        add_rows: bool = False,
        accept_rows: bool = False,
        disjoint_from: str | Iterable[str] = (),
        **asked: Any,
    ) -> ReleaseRecord:
        """Train with exact samplers, write the released file, and book what it costs under the cap of `data_set`.

        Parameters
        ----------
        data_set : str
            Declared before.
        learner : str or FitRequest
            What to train; with a name, `asked` are `epsilon` and what else `dpviz.fit` takes, without a seed.
        rows, schema
            As for `dpviz.fit`. Private.
        file : path, optional
            A new file that ends in .json; by default one in the register's folder.
        add_rows : bool
            These rows belong to the data set, for good; needed once per table.
        accept_rows : bool
            Release although few of the rows can be used.
        disjoint_from : str or sequence of str, optional
            Data sets whose rows these look like, but nobody in them is in these; the answer is kept.

        Returns
        -------
        ReleaseRecord
            Its number, cost, file and SHA-256; `dpviz.load_result(record.file)` reads it.

        Raises
        ------
        RefusedRelease, UnansweredRows, OverCap, NotReleasable, NotRowWise, RegisterError
            Before anything is spent, unless the message says otherwise.
        ParameterError
            Something is given beside a FitRequest that the request says.

        Warns
        -----
        ReplacedWarning, WithoutEffect
            As `dpviz.fit`.
        """
        from dpviz.learners.request import rows_of, warn_of
        from dpviz.release.release import release

        if "assign" in asked:
            warnings.warn("assign is called add_rows now.", DeprecationWarning, stacklevel=2)
            add_rows = asked.pop("assign")
        if isinstance(learner, FitRequest):
            for name, value in asked.items():
                raise ParameterError("release", name, value, "left out: the FitRequest says what is asked for")
        request = learner if isinstance(learner, FitRequest) else FitRequest.of(learner, **asked)
        self.data_set(data_set)
        data, others = rows_of(rows, schema), (disjoint_from,) if isinstance(disjoint_from, str) else disjoint_from
        answers: dict[str, Any] = {"add_rows": add_rows, "accept_rows": accept_rows, "disjoint_from": others}
        record = release(self, data_set, request, data, file=None if file is None else Path(file), **answers)
        warn_of(request, data, accepted=True)
        return record

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
        known = DataSet(name, role, unit, int(rows_per_unit), float(epsilon_cap), float(delta_cap), now())
        with self.store.writing() as connection:
            if select_data_sets(connection, "WHERE name = ?", name):
                remedy = "Assign these rows to it, or choose another name."
                raise RefusedRelease("There is already a data set of this name.", where=name, remedy=remedy)
            connection.execute("INSERT INTO data_set VALUES (?, ?, ?, ?, ?, ?, ?)", (name, str(role), *astuple(known)[2:]))
            _note_caps(connection, CapChange(name, known.declared, known.epsilon_cap, known.delta_cap))
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
            before = _data_set(connection, name)
            if (epsilon_cap > before.epsilon_cap or delta_cap > before.delta_cap) and not all(given):
                remedy = "Say why, and who decides. Both stay in the history of the cap."
                raise RefusedRelease("A cap is raised only with a reason and a name.", where=name, remedy=remedy)
            sql = "UPDATE data_set SET epsilon_cap = ?, delta_cap = ? WHERE name = ?"
            connection.execute(sql, (float(epsilon_cap), float(delta_cap), name))
            _note_caps(connection, CapChange(name, now(), float(epsilon_cap), float(delta_cap), *given))
        return self.data_set(name)

    def data_set(self, name: str) -> DataSet:
        """The data set called `name`; raises UnknownName."""
        with self.store.reading() as connection:
            return _data_set(connection, name)

    def data_sets(self) -> tuple[DataSet, ...]:
        """All data sets, by name."""
        with self.store.reading() as connection:
            return select_data_sets(connection)

    def cap_changes(self, name: str) -> tuple[CapChange, ...]:
        """Every cap this data set has had, oldest first."""
        with self.store.reading() as connection:
            return _cap_changes(connection, name)

    def balance(self, name: str) -> Balance:
        """What was spent on a data set and what is left; raises UnknownName."""
        with self.store.reading() as connection:
            return balance_of(connection, _data_set(connection, name))

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
            return self._assign(connection, fingerprint, name, tuple(columns), sums, tuple(disjoint_from), add_rows=True)

    def _assign(
        self,
        connection: sqlite3.Connection,
        fingerprint: str,
        name: str,
        columns: tuple[str, ...],
        sums: TableSums | None,
        others: tuple[str, ...],
        *,
        add_rows: bool,
    ) -> DataSet:
        """`add_rows`: these rows are said to belong to the data set; else they have to be known as its rows."""
        found, before = _data_set(connection, name), self._data_set_of(connection, fingerprint)
        for other in others:
            _data_set(connection, other)
        table = None if sums is None else self._table(fingerprint, sums, columns)
        if before is not None and before.name != name:
            what = f"These rows are already assigned to {before.name!r}."
            raise RefusedRelease(what, where=name, remedy=f"Release them under {before.name!r}.")
        if before is None:
            if not add_rows and not (table and table.is_whole(connection, name)):
                what = "These rows are not assigned to this data set yet."
                remedy = "Pass add_rows=True if they belong to it; else declare another data set."
                raise UnansweredRows("unassigned", what, where=name, remedy=remedy)
            likely = [one for one in _likely(connection, table) if one not in (name, *others)] if table else []
            if likely:
                what = f"These rows look like rows of {' and '.join(map(repr, likely))}, whose cap would count."
                named = ", ".join(map(repr, likely))
                remedy = f"Release them under {likely[0]!r}, or pass disjoint_from=({named},) if nobody in them is in it."
                raise UnansweredRows("recognised", what, where=name, remedy=remedy, data_sets=likely)
            values = (self.store.keyed(fingerprint), name, now(), json.dumps(columns))
            connection.execute("INSERT INTO fingerprint VALUES (?, ?, ?, ?)", values)
        if table is not None:
            table.keep(connection, name, others, now())
        return found

    def _table(self, fingerprint: str, sums: TableSums, columns: Iterable[str] = ()) -> Table:
        return Table(self.store.keyed(fingerprint), sums, tuple(columns), self.store.keyed)

    def _data_set_of(self, connection: sqlite3.Connection, fingerprint: str) -> DataSet | None:
        where = "WHERE name = (SELECT data_set FROM fingerprint WHERE fingerprint = ?)"
        return next(iter(select_data_sets(connection, where, self.store.keyed(fingerprint))), None)

    def data_set_of(
        self, fingerprint: str, sums: TableSums | None = None, columns: Iterable[str] = (), *, add_rows: bool = False
    ) -> DataSet | None:
        """The data set of these rows: assigned before, or of which alone this is a table in another order, form or schema.

        `add_rows`: they are assigned to it under this schema, too.
        """
        columns = tuple(columns)
        with self.store.reading() as connection:
            known = self._data_set_of(connection, fingerprint)
            if known is not None or sums is None:
                return known
            table = self._table(fingerprint, sums, columns)
            likely = _likely(connection, table, sure=True)
            if len(likely) != 1 or not table.is_whole(connection, likely[0]):
                return None
            known = _data_set(connection, likely[0])
        if add_rows:
            self.assign(fingerprint, known.name, columns=columns, sums=sums)
        return known

    def looks_like(self, fingerprint: str, sums: TableSums, columns: Iterable[str]) -> tuple[str, ...]:
        """Names of data sets that these rows may be of, as far as the answer was not that they are not."""
        with self.store.reading() as connection:
            return tuple(_likely(connection, self._table(fingerprint, sums, columns)))

    def alike(self, columns: Iterable[str]) -> tuple[DataSet, ...]:
        """Data sets whose rows have mostly the same columns (at least half of all names), the most alike first."""
        names = set(columns)
        with self.store.reading() as connection:
            known = columns_of(connection)
            shares = {name: len(names & set(theirs)) / len(names | set(theirs)) for name, theirs in known.items() if theirs}
            likely = sorted((-share, name) for name, share in shares.items() if share >= ALIKE)
            return tuple(_data_set(connection, name) for _, name in likely)

    def knows_as_private(self, fingerprint: str, sums: TableSums | None = None) -> bool:
        """Whether these rows belong to a private data set, or were used as private ones."""
        with self.store.reading() as connection:
            found = self._data_set_of(connection, fingerprint)
            if found is not None:
                return found.role is DataRole.PRIVATE
            likely = [] if sums is None else _likely(connection, self._table(fingerprint, sums), sure=True)
            if any(_data_set(connection, name).role is DataRole.PRIVATE for name in likely):
                return True
        return bool(self.uncovered_uses(fingerprint))

    # --- releases

    def start(
        self,
        data_set: str,
        *,
        token: str,
        fingerprint: str,
        learner: str,
        settings: dict[str, Any],
        loss: PrivacyLoss,
        disclosures: Iterable[dict[str, str]] = (),
        file: Path,
        columns: Iterable[str] = (),
        sums: TableSums | None = None,
        disjoint_from: Iterable[str] = (),
        add_rows: bool = False,
    ) -> ReleaseRecord:
        """Spend `loss`, for good, before a row is touched.

        `add_rows` assigns the rows as `assign` does, in the same step: whatever is refused here leaves them unassigned. Without
        it they have to be known as rows of the data set, by their fingerprint or by `sums`.
        Raises RefusedRelease when the rows are of another data set, or this token was used before; UnansweredRows when it
        has to be said whose they are; OverCap, which says what is left, when it would exceed the cap.
        """
        if not _TOKEN.fullmatch(token):  # it names a file
            raise ParameterError("a release", "token", token, "1 to 64 letters and digits")
        texts = (json.dumps(settings, sort_keys=True), json.dumps(list(disclosures)))
        with self.store.writing() as connection:
            if any(self.changed_releases(connection)):
                raise refusal("changed", self.path)
            about = (fingerprint, data_set, tuple(columns), sums, tuple(disjoint_from))
            known = self._assign(connection, *about, add_rows=add_rows)
            if not has_recorded_caps(connection, known):
                raise refusal("changed", self.path)
            if select_releases(connection, "WHERE token = ?", token):
                raise RefusedRelease("This release was started before.", where=token, remedy="Start a new one.")
            balance_of(connection, known).require_room(loss)
            values = (token, known.name, now(), learner, texts[0], loss.epsilon, loss.delta, texts[1])
            self.add_release(connection, values, str(file))
        return self.record(token)

    def add_release(self, connection: sqlite3.Connection, values: tuple[Any, ...], file: str) -> None:
        """A release that is started, within an open transaction: `values` are those of _BOOKED."""
        mark = self.store.keyed(digest(*values[:5], *map(float, values[5:7]), values[7]))
        sql = f"INSERT INTO release ({_BOOKED}, file, seal, digest, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'started')"
        connection.execute(sql, (*values, file, mark, mark))

    def changed_releases(self, connection: sqlite3.Connection) -> Iterator[str]:
        """Releases that are not as they were booked, or are gone, a sentence each."""
        numbers = list[int]()
        for number, mark, *content in connection.execute(f"SELECT number, digest, {_BOOKED} FROM release ORDER BY number"):
            numbers.append(number)
            if self.store.keyed(digest(*content)) != mark:
                yield f"Release number {number:,} was changed outside dpviz."
        last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'release'").fetchone()
        for number in sorted(set(range(1, 1 + (last[0] if last else 0))) - set(numbers)):
            yield f"Release number {number:,} is gone."

    def note_file(self, token: str, file: Path) -> str:
        """Record and return the hash of the finished file before it is moved to its place: by it it is known after a crash.

        Raises RegisterError where no such release waits for its file.
        """
        written = sha256_of(file)
        with self.store.writing() as connection:
            sql = "UPDATE release SET sha256 = ? WHERE token = ? AND state = 'started' AND sha256 = ''"
            if connection.execute(sql, (written, token)).rowcount != 1:
                raise refusal("behind", self.path)
        return written

    def mark_released(self, token: str) -> ReleaseRecord:
        """The file is in its place: *released*. Repeating it changes nothing. Raises RegisterError where it has no record."""
        sql = "UPDATE release SET state = 'released', finished = ? WHERE token = ? AND state = 'started' AND sha256 <> ''"
        with self.store.writing() as connection:
            connection.execute(sql, (now(), token))
            found = select_releases(connection, "WHERE token = ?", token)
        if not found:
            raise refusal("behind", self.path)
        return found[0]

    def reference_of(self, token: str) -> RegisterReference:
        """What a release with this token prints: whose register it is in, and its digest.

        Raises RegisterError where there is no such record, or no longer.
        """
        with self.store.reading() as connection:
            found = connection.execute("SELECT seal FROM release WHERE token = ?", (token,)).fetchone()
            if found is None:
                raise refusal("behind", self.path)
            return RegisterReference(identity(connection), str(found[0]))

    def recover_interrupted(self) -> tuple[ReleaseRecord, ...]:
        """After a crash: mark as released every release whose complete file is there, and return those that changed.

        A whole file that was not moved to its place yet is moved there, half a one is removed. All others stay spent.
        """
        waiting = [record for record in self.releases() if record.state is State.STARTED]
        for record in waiting:
            recover(Path(record.file), record.token, lambda token: self.record(token).sha256)
        noted = [self.record(one.token) for one in waiting]
        return tuple(self.mark_released(one.token) for one in noted if one.sha256 and is_file_with(Path(one.file), one.sha256))

    def record(self, token: str) -> ReleaseRecord:
        """The release with this token; raises UnknownName."""
        found = self.find(token)
        if found is None:
            raise UnknownName("release", token, [record.token for record in self.releases()])
        return found

    def find(self, token: str) -> ReleaseRecord | None:
        """The release with this token, if it was started."""
        with self.store.reading() as connection:
            return next(iter(select_releases(connection, "WHERE token = ?", token)), None)

    def releases(self, name: str | None = None) -> tuple[ReleaseRecord, ...]:
        """All releases, or those of one data set, in the order they were started."""
        with self.store.reading() as connection:
            return select_releases(connection) if name is None else select_releases(connection, "WHERE data_set = ?", name)

    # --- uses of private rows that no guarantee covers

    def note_use(self, fingerprint: str, *, what: str, learner: str = "", settings: dict[str, Any], times: int = 1) -> None:
        """Record that private rows were used. The same use again raises its count."""
        with self.store.writing() as connection:
            values = (self.store.keyed(fingerprint), what, learner, json.dumps(settings, sort_keys=True), times, now())
            connection.execute(
                "INSERT INTO exploration (fingerprint, what, learner, settings, times, at) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET times = times + excluded.times, at = excluded.at",
                values,
            )

    def uncovered_uses(self, fingerprint: str | None = None) -> tuple[UncoveredUse, ...]:
        """All, or those of the data set these rows are assigned to (of these very rows while they are not); latest first."""
        with self.store.reading() as connection:
            every = tuple(use for use in _uses(connection) if use.what != _FIRST_SCHEMA)
            if fingerprint is None:
                return every
            own, known = self.store.keyed(fingerprint), self._data_set_of(connection, fingerprint)
        return tuple(use for use in every if use.fingerprint == own or (known and use.data_set == known.name))

    def note_inspection(self, what: str, data: Rows) -> None:
        """Note an inspection (INSPECTION or WARNED) of these rows by their schema. The digest of the first schema is kept."""
        self.note_use(data.identity, what=what, settings={})
        if not self._first_schemas(data):
            self.note_use(_inspected(data), what=_FIRST_SCHEMA, settings={"schema": _digest_of(data.schema)})

    def is_corrected(self, data: Rows) -> bool:
        """Whether the first inspection of these rows was by another schema than theirs, in whichever session and order."""
        first = self._first_schemas(data)
        return bool(first) and _digest_of(data.schema) not in first

    def _first_schemas(self, data: Rows) -> frozenset[str]:
        with self.store.reading() as connection:
            own = self.store.keyed(_inspected(data))
            found = (use for use in _uses(connection) if use.fingerprint == own and use.what == _FIRST_SCHEMA)
            return frozenset(str(use.settings.get("schema")) for use in found)


def open_register(path: str | Path | None = None) -> Register:
    """The register of releases at `path`; None is the one that the dashboard and the command line use.

    >>> with dpviz.open_register("releases.sqlite") as register:
    ...     register.declare("clinic", epsilon_cap=1.0, unit="one patient", rows_per_unit=3)
    ...     record = register.release("clinic", "pf-tree", frame, schema=schema, epsilon=0.5, add_rows=True)
    ...     register.balance("clinic").left

    Returns
    -------
    Register
        To be used in a `with` block, or as it is.

    Raises
    ------
    RegisterError
        The register cannot be used; `code` says why.
    """
    return Register(path)


def now() -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def named_line(what: str, text: str) -> str:
    """`text` without surrounding blanks, one printable line of at most LONGEST_NAME characters."""
    flat = text.strip()
    if not flat or len(flat) > LONGEST_NAME or not flat.isprintable():
        raise ParameterError("a data set", what, text, f"one line of 1 to {LONGEST_NAME} characters")
    return flat


def _inspected(data: Rows) -> str:
    """Rows are told again by their count and the sum of the column to predict, under any schema."""
    sums = data.table_sums
    target = next((one for one in sums.columns if one.name == data.schema.target.name), None) if sums.is_known else None
    return f"look {data.identity}" if target is None else f"look {sums.n_rows} {target.text}"


def _digest_of(schema: Schema) -> str:
    return sha256(replace(schema, source="").key.encode()).hexdigest()[:16]


# --- SQL, within the transaction of the caller


def identity(connection: sqlite3.Connection) -> str:
    """What tells this register from others."""
    return str(connection.execute("SELECT identity FROM register").fetchone()[0])


def balance_of(connection: sqlite3.Connection, data_set: DataSet) -> Balance:
    """What was spent on a data set."""
    return Balance(data_set, select_releases(connection, "WHERE data_set = ?", data_set.name))


def has_recorded_caps(connection: sqlite3.Connection, known: DataSet) -> bool:
    """Whether a data set is under the caps of its last recorded change."""
    caps = [(change.epsilon_cap, change.delta_cap) for change in _cap_changes(connection, known.name)]
    return caps[-1:] == [(known.epsilon_cap, known.delta_cap)]


def _note_caps(connection: sqlite3.Connection, change: CapChange) -> None:
    sql = "INSERT INTO cap_change (data_set, at, epsilon_cap, delta_cap, reason, made_by) VALUES (?, ?, ?, ?, ?, ?)"
    connection.execute(sql, astuple(change))


def _cap_changes(connection: sqlite3.Connection, name: str) -> tuple[CapChange, ...]:
    columns = ", ".join(field.name for field in fields(CapChange))
    return _records(connection, CapChange, f"SELECT {columns} FROM cap_change WHERE data_set = ? ORDER BY number", (name,))


def select_data_sets(connection: sqlite3.Connection, where: str = "", *values: str) -> tuple[DataSet, ...]:
    """All data sets, or those that meet a condition, by name."""
    return _records(connection, DataSet, f"SELECT * FROM data_set {where} ORDER BY name", values)


def _data_set(connection: sqlite3.Connection, name: str) -> DataSet:
    found = select_data_sets(connection, "WHERE name = ?", name)
    if not found:
        raise UnknownName("data set", name, [known.name for known in select_data_sets(connection)])
    return found[0]


def _likely(connection: sqlite3.Connection, table: Table, *, sure: bool = False) -> list[str]:
    return [known.name for known in select_data_sets(connection) if table.may_be_of(connection, known.name, sure=sure)]


def select_releases(connection: sqlite3.Connection, where: str = "", *values: str) -> tuple[ReleaseRecord, ...]:
    """All releases, or those that meet a condition, in the order they were started."""
    return _records(connection, ReleaseRecord, f"SELECT * FROM release {where} ORDER BY number", values)


def _uses(connection: sqlite3.Connection) -> tuple[UncoveredUse, ...]:
    """All, with the data set their rows are assigned to (or an empty text), the latest first."""
    sql = (
        "SELECT e.*, coalesce(f.data_set, '') AS data_set "
        "FROM exploration AS e LEFT JOIN fingerprint AS f USING (fingerprint) ORDER BY e.at DESC, e.rowid DESC"
    )
    return _records(connection, UncoveredUse, sql)


def _records(connection: sqlite3.Connection, kind: type[T], sql: str, values: Sequence[str] = ()) -> tuple[T, ...]:
    cursor = connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    try:
        return tuple(read(kind, _plain(dict(zip(names, row, strict=True)))) for row in cursor)
    except DocumentError as error:
        remedy = "Put back a copy. Do not start a new one: what was spent stays spent."
        raise RegisterError("damaged", "A record of the release register cannot be read.", remedy=remedy) from error


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as a record has it: columns of JSON are parsed, epsilon and delta are one loss."""
    parsed = {name: parse_json(read(str, row[name])) for name in ("settings", "disclosures") if name in row}
    return row | parsed | {"loss": {"epsilon": row.get("epsilon"), "delta": row.get("delta")}}
