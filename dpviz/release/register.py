"""The release register: which rows belong to which data set, what may be spent on them, and what was spent.

A release is three commits: its cost is booked (*started*) before a row is touched, its text is kept here once it is trained, and
it is *released* with its file in place. Whatever happens in between, what was spent stays spent, and no file is in place without
a record here. Each release has a keyed digest of what it cost; `dpviz.release.check` says what it finds.
"""

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, TypeVar

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import DpvizError, ParameterError, RefusedRelease, RegisterError, UnansweredRows, UnknownName
from dpviz.learners import FitRequest
from dpviz.release.files import put_in_place
from dpviz.release.migration import DIGEST_COLUMNS, mark_of
from dpviz.release.recognition import MARK, Table
from dpviz.release.records import Balance, CapChange, DataSet, ReleaseRecord, State, UncoveredUse, check_caps
from dpviz.release.store import Store
from dpviz.results.document import Recorded
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.table.strict_json import parse_json, read
from dpviz.table.sums import TableSums
from dpviz.table.validation import validate_flag
from dpviz.training.counted_rows import Rows

T = TypeVar("T")
#: The environment variable that names the register's file.
VARIABLE = "DPVIZ_REGISTER"
MAX_NAME_LENGTH = 80
#: Tables are alike when this share of all their column names is in both.
ALIKE = 0.5
_TOKEN = re.compile("[0-9A-Za-z]{1,64}")
#: A use that is never listed: it holds the digest of the schema at the first inspection of these rows.
_FIRST_SCHEMA = "the schema at the first look"


class Register(Store):
    """A register of releases: `declare` a data set, `release` from it, `balance` says what is left. See `open_register`.

    One file, by default what DPVIZ_REGISTER says, else `~/.local/share/dpviz/releases.db`. Methods raise RegisterError where it
    cannot be used.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        default = os.environ.get(VARIABLE) or Path.home() / ".local" / "share" / "dpviz" / "releases.db"
        super().__init__(_path("path", default if path is None else path))

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
        **settings: Any,
    ) -> ReleaseRecord:
        """Train with exact samplers, write the released file, and book what it costs under the cap of `data_set`.

        Parameters
        ----------
        data_set : str
            Declared before.
        learner : str or FitRequest
            What to train; with a name, `settings` are `epsilon` and what else `dpviz.fit` takes, without a seed.
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
        RefusedRelease, UnansweredRows, RegisterError
            Before anything is spent, unless the message says otherwise.
        ParameterError
            Something is given beside a FitRequest that the request says.

        Warns
        -----
        SettingWarning
            As `dpviz.fit`.
        """
        from dpviz.learners.request import rows_of, warn_of
        from dpviz.release.release import release

        if "assign" in settings:
            warnings.warn("assign is called add_rows now.", DeprecationWarning, stacklevel=2)
            add_rows = settings.pop("assign")
        if isinstance(learner, FitRequest):
            for name, value in settings.items():
                raise ParameterError("release", name, value, "left out: the FitRequest says what is asked for")
        is_one = isinstance(disjoint_from, str) or not isinstance(disjoint_from, Iterable)
        others: tuple[Any, ...] = (disjoint_from,) if is_one else tuple(disjoint_from)
        if not all(isinstance(other, str) for other in others):
            raise ParameterError("release", "disjoint_from", disjoint_from, "the name of a data set, or several")
        target = None if file is None else _path("file", file)
        request = learner if isinstance(learner, FitRequest) else FitRequest.of(learner, **settings)
        answers: dict[str, Any] = {"add_rows": add_rows, "accept_rows": accept_rows}
        for name, value in answers.items():
            validate_flag("release", name, value)
        self.data_set(data_set)
        data = rows_of(rows, schema)
        record = release(self, data_set, request, data, file=target, disjoint_from=others, **answers)
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
        if role not in [*DataRole]:
            raise ParameterError("a data set", "role", role, f"one of {', '.join(map(repr, map(str, DataRole)))}")
        caps = {"epsilon_cap": float(epsilon_cap), "delta_cap": float(delta_cap)}
        with self.writing():
            if name in [data_set.name for data_set in self.data_sets()]:
                remedy = "Assign these rows to it, or choose another name."
                raise RefusedRelease("There is already a data set of this name.", where=name, remedy=remedy)
            about = {"role": str(role), "unit": unit, "rows_per_unit": int(rows_per_unit), "declared": timestamp()}
            self.insert("data_set", name=name, **about, **caps)
            self.insert("cap_change", data_set=name, at=about["declared"], **caps)
            return self.data_set(name)

    def change_caps(
        self, name: str, *, epsilon_cap: float, delta_cap: float = 0.0, reason: str = "", made_by: str = ""
    ) -> DataSet:
        """Set other caps. The change is recorded; what was spent stays spent, even above the new cap.

        Raises RefusedRelease when a cap is raised without a reason and a name.
        """
        check_caps(epsilon_cap, delta_cap, 1)
        grounds = {"reason": reason, "made_by": made_by}
        for field, text in grounds.items():
            grounds[field] = "" if isinstance(text, str) and not text.strip() else named_line(field, text)
        with self.writing() as connection:
            before = self.data_set(name)
            if (epsilon_cap > before.epsilon_cap or delta_cap > before.delta_cap) and not all(grounds.values()):
                remedy = "Say why, and who decides. Both stay in the history of the cap."
                raise RefusedRelease("A cap is raised only with a reason and a name.", where=name, remedy=remedy)
            caps = {"epsilon_cap": float(epsilon_cap), "delta_cap": float(delta_cap)}
            connection.execute("UPDATE data_set SET epsilon_cap = ?, delta_cap = ? WHERE name = ?", (*caps.values(), name))
            self.insert("cap_change", data_set=name, at=timestamp(), **caps, **grounds)
            return self.data_set(name)

    def data_set(self, name: str) -> DataSet:
        """The data set called `name`; raises UnknownName."""
        return _find("data set", name, {data_set.name: data_set for data_set in self.data_sets()})

    def data_sets(self) -> tuple[DataSet, ...]:
        """All data sets, by name."""
        return self.records(DataSet, "SELECT * FROM data_set ORDER BY name")

    def cap_changes(self, name: str) -> tuple[CapChange, ...]:
        """Every cap this data set has had, oldest first."""
        return self.records(CapChange, "SELECT * FROM cap_change WHERE data_set = ? ORDER BY number", name)

    def balance(self, name: str) -> Balance:
        """What was spent on a data set and what is left; raises UnknownName."""
        with self.reading():
            return Balance(self.data_set(name), self.releases(name))

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
        with self.writing():
            return self._assign(name, Table(self, fingerprint, sums, tuple(columns)), tuple(disjoint_from), add_rows=True)

    def _assign(self, name: str, table: Table, others: tuple[str, ...], *, add_rows: bool) -> DataSet:
        """`add_rows`: these rows are said to belong to the data set; else they have to be known as its rows."""
        data_set, before = self.data_set(name), self.data_set_of(table.fingerprint)
        for other in others:
            self.data_set(other)
        if before is not None and before.name != name:
            what = f"These rows are already assigned to {before.name!r}."
            raise RefusedRelease(what, where=name, remedy=f"Release them under {before.name!r}.")
        if before is None:
            if not add_rows and not table.is_whole(name):
                what = "These rows are not assigned to this data set yet."
                remedy = "Pass add_rows=True if they belong to it; else declare another data set."
                raise UnansweredRows("unassigned", what, where=name, remedy=remedy)
            likely = [other for other in table.likely() if other not in (name, *others)]
            if likely:
                what = f"These rows look like rows of {' and '.join(map(repr, likely))}, whose cap would count."
                names = ", ".join(map(repr, likely))
                remedy = f"Release them under {likely[0]!r}, or pass disjoint_from=({names},) if nobody in them is in it."
                raise UnansweredRows("recognised", what, where=name, remedy=remedy, data_sets=likely)
            self._keep_digest(table.keyed_hash, name, json.dumps(table.columns))
        for digest in sorted(table.recognition_digests(name, others) - self.digests()):
            self._keep_digest(digest, name, MARK)
        return data_set

    def _keep_digest(self, digest: str, name: str, columns: str) -> None:
        self.insert("fingerprint", fingerprint=digest, data_set=name, assigned=timestamp(), columns=columns)

    def data_set_of(
        self, fingerprint: str, sums: TableSums | None = None, columns: Iterable[str] = (), *, add_rows: bool = False
    ) -> DataSet | None:
        """The data set of these rows: assigned before, or of which alone this is a table in another order, form or schema.

        `add_rows`: they are assigned to it under this schema, too.
        """
        columns = tuple(columns)
        with self.reading():
            table = Table(self, fingerprint, sums, columns)
            where = "WHERE name = (SELECT data_set FROM fingerprint WHERE fingerprint = ?)"
            for data_set in self.records(DataSet, f"SELECT * FROM data_set {where}", table.keyed_hash):
                return data_set
            likely = table.likely(sure=True)
            if len(likely) != 1 or not table.is_whole(likely[0]):
                return None
            data_set = self.data_set(likely[0])
        if add_rows:
            self.assign(fingerprint, data_set.name, columns=columns, sums=sums)
        return data_set

    def looks_like(self, fingerprint: str, sums: TableSums, columns: Iterable[str]) -> tuple[str, ...]:
        """Names of data sets that these rows may be of, as far as the answer was not that they are not."""
        with self.reading():
            return tuple(Table(self, fingerprint, sums, tuple(columns)).likely())

    def alike(self, columns: Iterable[str]) -> tuple[DataSet, ...]:
        """Data sets whose rows have mostly the same columns (at least half of all names), the most alike first."""
        names = set(columns)
        with self.reading():
            columns_of = {data_set: self.columns_of(data_set.name) for data_set in self.data_sets()}
            shares = {one: len(names & theirs) / len(names | theirs) for one, theirs in columns_of.items() if theirs}
            return tuple(sorted((one for one in shares if shares[one] >= ALIKE), key=lambda one: (-shares[one], one.name)))

    def knows_as_private(self, fingerprint: str, sums: TableSums | None) -> bool:
        """Whether these rows belong to a private data set, or were used as private ones."""
        with self.reading():
            data_set = self.data_set_of(fingerprint)
            if data_set is not None:
                return data_set.role is DataRole.PRIVATE
            likely = Table(self, fingerprint, sums, ()).likely(sure=True)
            is_private = any(self.data_set(name).role is DataRole.PRIVATE for name in likely)
            return is_private or bool(self.uncovered_uses(fingerprint))

    def digests(self, name: str | None = None, *, of_rows: bool = False) -> frozenset[str]:
        """Keyed digests of a data set, or of all; `of_rows`: those of assigned rows alone."""
        sql = "SELECT fingerprint FROM fingerprint WHERE data_set = coalesce(?, data_set) AND (? OR columns <> ?)"
        with self.reading() as connection:
            return frozenset(digest for (digest,) in connection.execute(sql, (name, not of_rows, MARK)))

    def columns_of(self, name: str) -> frozenset[str]:
        """Every name of a column of the rows assigned to a data set."""
        with self.reading() as connection:
            cursor = connection.execute("SELECT columns FROM fingerprint WHERE data_set = ? AND columns <> ?", (name, MARK))
            return frozenset(column for (columns,) in cursor for column in read(tuple[str, ...], parse_json(columns)))

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
        """Spend `loss` of one unit, for good, before a row is touched.

        `add_rows` assigns the rows as `assign` does, in the same step: whatever is refused here leaves them unassigned. Without
        it they have to be known as rows of the data set, by their fingerprint or by `sums`.
        Raises RefusedRelease when the rows are of another data set, this token was used before, or it would exceed the cap (it
        says what is left); UnansweredRows when it has to be said whose they are.
        """
        if not _TOKEN.fullmatch(token):  # it names a file
            raise ParameterError("a release", "token", token, "1 to 64 letters and digits")
        with self.writing():
            if any(self.changes_outside()):
                raise self.refusal("changed")
            table = Table(self, fingerprint, sums, tuple(columns))
            self._assign(data_set, table, tuple(disjoint_from), add_rows=add_rows)
            if self.find(token) is not None:
                raise RefusedRelease("This release was started before.", where=token, remedy="Start a new one.")
            self.balance(data_set).require_room(loss)
            self.book(token, data_set, learner, settings, loss, list(disclosures), str(file))
            return self.record(token)

    def book(
        self,
        token: str,
        data_set: str,
        learner: str,
        settings: dict[str, Any],
        loss: PrivacyLoss,
        disclosures: list[dict[str, str]],
        file: str,
    ) -> None:
        """A release that is started, in the open transaction."""
        texts = (json.dumps(settings, sort_keys=True), json.dumps(disclosures))
        content = (token, data_set, timestamp(), learner, texts[0], float(loss.epsilon), float(loss.delta), texts[1])
        booked = dict(zip(DIGEST_COLUMNS, content, strict=True))
        mark = mark_of(booked, self.keyed_hash)
        self.insert("release", **booked, file=file, seal=mark, digest=mark, state=str(State.STARTED))

    def changes_outside(self) -> Iterator[str]:
        """Releases that are not as they were booked, or are gone, and caps without a record of them: a sentence each."""
        with self.reading() as connection:
            columns, numbers = ("number", "digest", *DIGEST_COLUMNS), set[int]()
            for row in connection.execute(f"SELECT {', '.join(columns)} FROM release ORDER BY number"):
                release = dict(zip(columns, row, strict=True))
                numbers.add(release["number"])
                if mark_of(release, self.keyed_hash) != release["digest"]:
                    yield f"Release number {release['number']:,} was changed outside dpviz."
            (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'release'").fetchone()
            for number in sorted(set(range(1, 1 + last)) - numbers):
                yield f"Release number {number:,} is gone."
            for data_set in self.data_sets():
                changes = self.cap_changes(data_set.name)
                if not changes or changes[-1].cap != data_set.cap:
                    yield f"The cap of {data_set.name!r} was changed without a record of it."

    def keep_text(self, token: str, text: str) -> None:
        """Keep the text of a finished file until it stands in its place.

        Raises RegisterError where no such release waits for its file.
        """
        sql = "UPDATE release SET text = ?, sha256 = ? WHERE token = ? AND state = 'started' AND sha256 = ''"
        with self.writing() as connection:
            if connection.execute(sql, (text, sha256(text.encode()).hexdigest(), token)).rowcount != 1:
                raise self.refusal("behind")

    def finish(self, token: str) -> ReleaseRecord:
        """Put the file of a release, whose text is kept, in its place: *released*. Repeating it changes nothing.

        Raises DpvizError where the file cannot be written (its text stays kept), RegisterError where it has no record any more.
        """
        sql = "SELECT file, text, sha256 FROM release WHERE token = ? AND state = 'started' AND sha256 <> ''"
        with self.writing() as connection:
            row = connection.execute(sql, (token,)).fetchone()
            if row is not None:
                done = "UPDATE release SET state = 'released', finished = ?, text = '' WHERE token = ?"
                connection.execute(done, (timestamp(), token))
                put_in_place(Path(row[0]), token, row[1], row[2])
        record = self.find(token)
        if record is None:  # the register was removed or replaced meanwhile: no file stands without its record
            if row is not None:
                with suppress(OSError):
                    Path(row[0]).unlink()
            raise self.refusal("behind")
        return record

    @property
    def identity(self) -> str:
        """What tells this register from others."""
        with self.reading() as connection:
            return str(connection.execute("SELECT identity FROM register").fetchone()[0])

    def reference_of(self, token: str) -> Recorded:
        """What a release with this token prints: whose register it is in, and its digest.

        Raises RegisterError where there is no such record, or no longer.
        """
        with self.reading():
            record = self.find(token)
            if record is None:
                raise self.refusal("behind")
            return Recorded(self.identity, record.seal)

    def recover_interrupted(self) -> tuple[ReleaseRecord, ...]:
        """After a crash: finish every release whose text is kept, and return those. All others stay spent."""
        records = []
        for record in self.releases():
            if record.state is State.STARTED and record.sha256:
                try:
                    records.append(self.finish(record.token))
                except RegisterError:
                    raise
                except DpvizError:  # its place is taken, or cannot be written to: it stays kept
                    continue
        return tuple(records)

    def record(self, token: str) -> ReleaseRecord:
        """The release with this token; raises UnknownName."""
        return _find("release", token, {record.token: record for record in self.releases()})

    def find(self, token: str) -> ReleaseRecord | None:
        """The release with this token, if it was started."""
        return next(iter(self.records(ReleaseRecord, "SELECT * FROM release WHERE token = ?", token)), None)

    def releases(self, name: str | None = None) -> tuple[ReleaseRecord, ...]:
        """All releases, or those of one data set, in the order they were started."""
        sql = "SELECT * FROM release WHERE data_set = coalesce(?, data_set) ORDER BY number"
        return self.records(ReleaseRecord, sql, name)

    # --- uses of private rows that no guarantee covers

    def note_use(self, fingerprint: str, *, what: str, learner: str = "", settings: dict[str, Any], times: int = 1) -> None:
        """Record that private rows were used. The same use again raises its count."""
        with self.writing() as connection:
            values = (self.keyed_hash(fingerprint), what, learner, json.dumps(settings, sort_keys=True), times, timestamp())
            connection.execute(
                "INSERT INTO exploration (fingerprint, what, learner, settings, times, at) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET times = times + excluded.times, at = excluded.at",
                values,
            )

    def uncovered_uses(self, fingerprint: str | None = None) -> tuple[UncoveredUse, ...]:
        """All, or those of the data set these rows are assigned to (of these very rows while they are not); latest first."""
        sql = (
            "SELECT e.*, coalesce(f.data_set, '') AS data_set FROM exploration AS e "
            "LEFT JOIN fingerprint AS f USING (fingerprint) WHERE e.what <> ? ORDER BY e.at DESC, e.rowid DESC"
        )
        with self.reading():
            uses = self.records(UncoveredUse, sql, _FIRST_SCHEMA)
            if fingerprint is None:
                return uses
            own, data_set = self.keyed_hash(fingerprint), self.data_set_of(fingerprint)
        return tuple(use for use in uses if use.fingerprint == own or (data_set and use.data_set == data_set.name))

    def note_inspection(self, what: str, data: Rows) -> None:
        """Note an inspection of these rows by their schema (INSPECTION, INSPECTION_WARNING), with the first schema's digest."""
        self.note_use(data.identity, what=what, settings={})
        if not self._first_schemas(data):
            self.note_use(_inspection_key(data), what=_FIRST_SCHEMA, settings={"schema": _digest_of(data.schema)})

    def is_corrected(self, data: Rows) -> bool:
        """Whether the first inspection of these rows was by another schema than theirs, in whichever session and order."""
        first = self._first_schemas(data)
        return bool(first) and _digest_of(data.schema) not in first

    def _first_schemas(self, data: Rows) -> frozenset[str]:
        sql = "SELECT settings FROM exploration WHERE fingerprint = ? AND what = ?"
        with self.reading() as connection:
            uses = connection.execute(sql, (self.keyed_hash(_inspection_key(data)), _FIRST_SCHEMA)).fetchall()
            return frozenset(str(read(dict, parse_json(settings)).get("schema")) for (settings,) in uses)


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


def timestamp() -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def named_line(field: str, text: str) -> str:
    """`text` without surrounding blanks, one printable line of at most MAX_NAME_LENGTH characters."""
    flat = text.strip() if isinstance(text, str) else ""
    if not flat or len(flat) > MAX_NAME_LENGTH or not flat.isprintable():
        raise ParameterError("a data set", field, text, f"one line of 1 to {MAX_NAME_LENGTH} characters")
    return flat


def _path(name: str, path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterError("the register", name, path, "a path")
    return Path(path)


def _inspection_key(data: Rows) -> str:
    """Rows are told again by their count and the sum of the column to predict, under any schema."""
    sums = data.table_sums
    target = next((column for column in sums.columns if column.name == data.schema.target.name), None) if sums.is_known else None
    return f"look {data.identity}" if target is None else f"look {sums.n_rows} {target.text}"


def _digest_of(schema: Schema) -> str:
    return sha256(replace(schema, source="").key.encode()).hexdigest()[:16]


def _find(kind: str, name: str, known: dict[str, T]) -> T:
    if not isinstance(name, str) or name not in known:
        raise UnknownName(kind, name, list(known))
    return known[name]
