"""Whether a table is one that a register knows, whatever its order, form, schema or name.

Every table that is assigned to a data set leaves keyed digests of its row count and of the sums of its columns
(`dpviz.table.sums`). A table of the same count is taken for a known one where a column of many distinct cells has the same sum,
or two others have. Tables that are counted in an engine have no sums, and neither have those that were assigned before there
were any: they are taken for known ones by the names of their columns or their row count. Then it is asked, and the answer is
kept. This helps against forgetting. It is none against deceit: an edited copy has other sums.
"""

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dpviz.table.strict_json import parse_json, read
from dpviz.table.sums import TableSums, looks_same

#: Tables of so few rows are not recognised by their row count alone.
_FEW_ROWS = 50
#: What the column of names holds for a digest that is no assignment of rows.
MARK = '[""]'


@dataclass(frozen=True)
class Table:
    """What there is to recognise a table by. Private."""

    fingerprint: str  #: Of its encoded rows, keyed
    sums: TableSums
    columns: tuple[str, ...]  #: Names of its columns
    keyed: Callable[[str], str]  #: The digest under the register's key

    def digests(self, kind: str, name: str) -> dict[str, bool]:
        """Keyed digest of each of its sums -> whether the column is wide. Constant columns tell nothing."""
        told = (one for one in self.sums.columns if not one.is_constant)
        return {self.keyed(f"{kind} {self.sums.n_rows} {one.text} {name}"): one.is_wide for one in told}

    def answers(self, name: str) -> frozenset[str]:
        """Keyed digests that together say: this table is none of the data set `name`."""
        if self.sums.is_known:
            return frozenset(self.digests("apart", name))
        return frozenset((self.keyed(f"apart {self.fingerprint} {name}"),))

    def is_whole(self, connection: sqlite3.Connection, name: str) -> bool:
        """Whether every column is one of a table of this data set with as many rows, and enough to be sure of it."""
        mine = self.digests("sum", name)
        return self.sums.is_known and mine.keys() <= _digests(connection, name) and (any(mine.values()) or len(mine) > 1)

    def may_be_of(self, connection: sqlite3.Connection, name: str, *, sure: bool = False) -> bool:
        """Whether it may be of the data set `name`, unless the answer was that it is not; `sure`: by sums alone."""
        found, mine = _digests(connection, name), self.digests("sum", name)
        may_be = looks_same([is_wide for digest, is_wide in mine.items() if digest in found], len(mine))
        if not (may_be or sure):
            names = set(columns_of(connection).get(name, ()))
            same_count = self.sums.n_rows > _FEW_ROWS and self.keyed(f"rows {self.sums.n_rows} {name}") in found
            common = names & set(self.columns)
            if self.sums.is_known and self._sums_are_known(connection, name, found):
                may_be = same_count and not common
            else:
                may_be = same_count or bool(common) or (not names and bool(found))
        answers = self.answers(name)
        return may_be and not (answers and answers <= _digests(connection))

    def _sums_are_known(self, connection: sqlite3.Connection, name: str, found: frozenset[str]) -> bool:
        """Whether sums of all tables of a data set are known."""
        sql = "SELECT fingerprint FROM fingerprint WHERE data_set = ? AND columns <> ?"
        return all(self.keyed(f"summed {known} {name}") in found for (known,) in connection.execute(sql, (name, MARK)))

    def keep(self, connection: sqlite3.Connection, name: str, others: Iterable[str], now: str) -> None:
        """Keep what it is recognised by, and that it is none of the data sets `others`."""
        kept = {self.keyed(f"rows {self.sums.n_rows} {name}"), *self.digests("sum", name)}
        if self.sums.is_known:
            kept.add(self.keyed(f"summed {self.fingerprint} {name}"))
        kept.update(digest for other in others for digest in self.answers(other))
        values = [(digest, name, now, MARK) for digest in sorted(kept - _digests(connection))]
        connection.executemany("INSERT INTO fingerprint VALUES (?, ?, ?, ?)", values)


def columns_of(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Data set -> every name of a column of the rows assigned to it."""
    found: dict[str, dict[str, None]] = {}
    sql = "SELECT data_set, columns FROM fingerprint WHERE columns <> ? ORDER BY rowid"
    for name, columns in connection.execute(sql, (MARK,)):
        found.setdefault(name, {}).update(dict.fromkeys(read(tuple[str, ...], parse_json(columns))))
    return {name: tuple(columns) for name, columns in found.items()}


def _digests(connection: sqlite3.Connection, name: str | None = None) -> frozenset[str]:
    where, values = ("", ()) if name is None else (" WHERE data_set = ?", (name,))
    return frozenset(one for (one,) in connection.execute(f"SELECT fingerprint FROM fingerprint{where}", values))
