"""The table being prepared on the Data page, beside the data in use."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpviz.app.data.draft import SchemaDraft
from dpviz.app.state import loaded
from dpviz.errors import DpvizError
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole

_PREPARED = "prepared"


@dataclass(eq=False)
class Prepared:
    """What the Data page works on: role, table (None: not chosen yet) and draft. Nothing of it is in use.

    `revision` counts drafts put in from outside (a new table, a schema file, values read from the data), so that widgets
    know when to start afresh; `problem` is the last one of choosing a table; `left_out` says which columns filling in left out,
    and why. `person` is the column that says whose row it is, with the rows kept of each; None where every row is somebody else.
    """

    role: DataRole
    title: str = ""
    sample: str | None = None
    table: RawTable | None = None
    draft: SchemaDraft | None = None
    revision: int = 0
    problem: DpvizError | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    person: str | None = None
    rows_per_person: int | None = None

    def choose(self, title: str, table: RawTable, draft: SchemaDraft, *, sample: str | None = None) -> None:
        """Work on another table."""
        self.title, self.table, self.sample, self.problem, self.left_out = title, table, sample, None, ()
        self.person = self.rows_per_person = None
        self.replace_draft(draft)

    def replace_draft(self, draft: SchemaDraft) -> None:
        """Put another draft in place of the present one."""
        self.draft = draft
        self.revision += 1

    def change_role(self, role: DataRole) -> None:
        """Declare whose rows these are. A sample keeps its own role, so it is put aside; private rows keep nothing read."""
        if role is self.role:
            return
        self.role, self.problem, self.left_out = role, None, ()
        if self.sample is not None:
            self.title, self.table, self.draft, self.sample = "", None, None, None
        elif self.draft is not None and not role.may_read:
            self.replace_draft(self.draft.without_read())


def prepared() -> Prepared:
    """What the Data page works on; at first the data in use."""
    if _PREPARED not in st.session_state:
        now = loaded()
        draft = SchemaDraft.of(now.schema, now.table.names)
        st.session_state[_PREPARED] = Prepared(now.role, now.title, now.sample, now.table, draft)
    return st.session_state[_PREPARED]
