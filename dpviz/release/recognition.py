"""Whether a table is one that a register knows, whatever its order, form, schema or name.

Every table that is assigned to a data set leaves keyed digests of its row count and of the sums of its columns
(`dpviz.table.sums`). A table of the same count is taken for a known one where a column of many distinct cells has the same sum,
or two others have. Tables that are counted in an engine have no sums, and neither have those that were assigned before there
were any: they are taken for known ones by the names of their columns or their row count. Then it is asked, and the answer is
kept. This helps against forgetting. It is none against deceit: an edited copy has other sums.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpviz.table.sums import TableSums, looks_same

if TYPE_CHECKING:
    from dpviz.release.register import Register

#: Tables of so few rows are not recognised by their row count alone.
_FEW_ROWS = 50
#: What the column of names holds for a digest that is no assignment of rows.
MARK = '[""]'


@dataclass(frozen=True)
class Table:
    """What there is to recognise a table by, within a transaction of a register. Private."""

    register: Register
    fingerprint: str  #: Of its encoded rows
    sums: TableSums | None  #: None: it is known by its fingerprint alone
    columns: tuple[str, ...]  #: Names of its columns

    @property
    def keyed_hash(self) -> str:
        """Its fingerprint under the register's key."""
        return self.register.keyed_hash(self.fingerprint)

    def _digests(self, kind: str, name: str) -> dict[str, bool]:
        """Keyed digest of each of its sums -> whether the column is wide. Constant columns tell nothing."""
        sums, keyed = self.sums, self.register.keyed_hash
        if sums is None:
            return {}
        columns = (column for column in sums.columns if not column.is_constant)
        return {keyed(f"{kind} {sums.n_rows} {column.text} {name}"): column.is_wide for column in columns}

    def _answers(self, name: str) -> frozenset[str]:
        """Keyed digests that together say: this table is none of the data set `name`."""
        if self.sums is not None and self.sums.is_known:
            return frozenset(self._digests("apart", name))
        return frozenset((self.register.keyed_hash(f"apart {self.keyed_hash} {name}"),))

    def is_whole(self, name: str) -> bool:
        """Whether every column is one of a table of this data set with as many rows, and enough to be sure of it."""
        if self.sums is None or not self.sums.is_known:
            return False
        own = self._digests("sum", name)
        return own.keys() <= self.register.digests(name) and (any(own.values()) or len(own) > 1)

    def likely(self, *, sure: bool = False) -> list[str]:
        """Data sets that it may be of, unless the answer was that it is not; `sure`: by sums alone."""
        if self.sums is None:
            return []
        names = (data_set.name for data_set in self.register.data_sets())
        return [name for name in names if self._may_be_of(name, self.sums, sure)]

    def _may_be_of(self, name: str, sums: TableSums, sure: bool) -> bool:
        known, own, keyed = self.register.digests(name), self._digests("sum", name), self.register.keyed_hash
        may_be = looks_same([is_wide for digest, is_wide in own.items() if digest in known], len(own))
        if not (may_be or sure):
            names = self.register.columns_of(name)
            common = not names.isdisjoint(self.columns)
            same_count = sums.n_rows > _FEW_ROWS and keyed(f"rows {sums.n_rows} {name}") in known
            tables = self.register.digests(name, of_rows=True)
            if sums.is_known and all(keyed(f"summed {table} {name}") in known for table in tables):
                may_be = same_count and not common
            else:
                may_be = same_count or common or (not names and bool(known))
        answers = self._answers(name)
        return may_be and not (answers and answers <= self.register.digests())

    def recognition_digests(self, name: str, others: Iterable[str]) -> frozenset[str]:
        """What is kept for it to be recognised by, and that it is none of the data sets `others`."""
        if self.sums is None:
            return frozenset()
        digests = {self.register.keyed_hash(f"rows {self.sums.n_rows} {name}"), *self._digests("sum", name)}
        if self.sums.is_known:
            digests.add(self.register.keyed_hash(f"summed {self.keyed_hash} {name}"))
        return frozenset(digests.union(*map(self._answers, others)))
