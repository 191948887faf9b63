"""Whether a table is one that a register knows, whatever its order, form, schema or name.

Every table that is assigned to a data set leaves keyed digests of its row count and of the sums of its columns
(`dpviz.table.sums`). A table of the same count is taken for a known one where a column of many distinct cells has the same sum,
or two others have. Tables that are counted in an engine have no sums, and neither have those that were assigned before there
were any: they are taken for known ones by the names of their columns or their row count. Whoever releases is then asked, and the
answer is kept. This helps against forgetting. It is none against deceit: an edited copy has other sums.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dpviz.release import queries
from dpviz.table.sums import TableSums, looks_same

#: Tables of so few rows are not recognised by their row count alone.
_FEW_ROWS = 50
Keyed = Callable[[str], str]


@dataclass(frozen=True)
class Table:
    """What there is to recognise a table by. Private."""

    fingerprint: str  #: Of its encoded rows, keyed
    sums: TableSums
    columns: tuple[str, ...]  #: Names of its columns

    def digests(self, keyed: Keyed, kind: str, name: str) -> dict[str, bool]:
        """Keyed digest of each of its sums -> whether the column is wide. Constant columns tell nothing."""
        told = (one for one in self.sums.columns if not one.is_constant)
        return {keyed(f"{kind} {self.sums.n_rows} {one.text} {name}"): one.is_wide for one in told}

    def answers(self, keyed: Keyed, name: str) -> frozenset[str]:
        """Keyed digests that together say: this table is none of the data set `name`."""
        if self.sums.is_known:
            return frozenset(self.digests(keyed, "apart", name))
        return frozenset((keyed(f"apart {self.fingerprint} {name}"),))

    def kept(self, keyed: Keyed, name: str) -> frozenset[str]:
        """What an assignment to the data set `name` leaves behind."""
        counted = keyed(f"rows {self.sums.n_rows} {name}")
        summed = [keyed(f"summed {self.fingerprint} {name}")] if self.sums.is_known else []
        return frozenset((counted, *summed, *self.digests(keyed, "sum", name)))


def is_whole(connection: sqlite3.Connection, keyed: Keyed, table: Table, name: str) -> bool:
    """Whether every column is one of a table of this data set with as many rows, and enough to be sure of it."""
    mine = table.digests(keyed, "sum", name)
    found = _digests_of(connection, name)
    return table.sums.is_known and mine.keys() <= found and (any(mine.values()) or len(mine) > 1)


def recognised(connection: sqlite3.Connection, keyed: Keyed, table: Table, *, besides: str = "", sure: bool = False) -> list[str]:
    """Names of data sets that the table may be of, unless somebody has said that it is not; `sure`: by sums alone."""
    others = [known.name for known in queries.data_sets(connection) if known.name != besides]
    return [name for name in others if _may_be_of(connection, keyed, table, name, sure)]


def _may_be_of(connection: sqlite3.Connection, keyed: Keyed, table: Table, name: str, sure: bool) -> bool:
    found = _digests_of(connection, name)
    mine = table.digests(keyed, "sum", name)
    equal = [is_wide for digest, is_wide in mine.items() if digest in found]
    may_be = looks_same(equal, len(mine))
    if not (may_be or sure):
        names = set(queries.columns_of(connection).get(name, ()))
        same_count = table.sums.n_rows > _FEW_ROWS and keyed(f"rows {table.sums.n_rows} {name}") in found
        common = names & set(table.columns)
        if not (table.sums.is_known and _has_sums(connection, keyed, name, found)):
            may_be = same_count or bool(common) or (not names and bool(found))
        else:
            may_be = same_count and not common
    answers = table.answers(keyed, name)
    return may_be and not (answers and answers <= _every_digest(connection))


def _has_sums(connection: sqlite3.Connection, keyed: Keyed, name: str, found: frozenset[str]) -> bool:
    """Whether sums of all tables of a data set are known."""
    sql = "SELECT fingerprint FROM fingerprint WHERE data_set = ? AND columns <> ?"
    return all(keyed(f"summed {known} {name}") in found for (known,) in connection.execute(sql, (name, queries.MARK)))


def _digests_of(connection: sqlite3.Connection, name: str) -> frozenset[str]:
    return frozenset(one for (one,) in connection.execute("SELECT fingerprint FROM fingerprint WHERE data_set = ?", (name,)))


def _every_digest(connection: sqlite3.Connection) -> frozenset[str]:
    return frozenset(one for (one,) in connection.execute("SELECT fingerprint FROM fingerprint"))


def keep(connection: sqlite3.Connection, keyed: Keyed, table: Table, name: str, others: Iterable[str]) -> None:
    """Keep what the table is recognised by, and that it is none of the data sets `others`."""
    every = [*table.kept(keyed, name), *(digest for other in others for digest in table.answers(keyed, other))]
    now = queries.now()
    values = [(digest, name, now, queries.MARK) for digest in sorted(set(every) - _every_digest(connection))]
    connection.executemany("INSERT INTO fingerprint VALUES (?, ?, ?, ?)", values)


def by_name(names: Sequence[str]) -> str:
    """In words: 'one' and 'two'."""
    return " and ".join(f"{name!r}" for name in names)
