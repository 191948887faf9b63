"""The table being prepared on the Data page, beside the data in use.

Of private rows only their owner may look at how they fit, and says so first. What is changed after that look may follow from the
rows: it counts as read from the data, and a release refuses it, until it is put back or its public source is named. A release
refused because few rows fit is such a look too.
"""

from dataclasses import dataclass, replace

import streamlit as st

from dpviz.app import parts
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.state import DataInUse, data_in_use
from dpviz.errors import DpvizError
from dpviz.table.dataset import EncodingReport
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

_KEY = "prepared"


@dataclass(eq=False)
class Preparation:
    """What the Data page works on: role, table (None: not chosen yet) and draft. Nothing of it is in use.

    `revision` counts drafts put in from outside (a new table, a schema file, values read from the data), so that widgets
    know when to start afresh; `problem` is the last one of choosing a table; `left_out` says which columns filling in left out,
    and why, `aside` what of a codebook was not taken. `looked` is the last draft that remembers a look at private rows, `checked`
    the schema last checked against the rows, what encoding did and what was doubtful.
    """

    role: DataRole
    title: str = ""
    sample: str | None = None
    table: RawTable | None = None
    draft: SchemaDraft | None = None
    revision: int = 0
    problem: DpvizError | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    aside: str = ""
    looked: SchemaDraft | None = None
    checked: tuple[Schema, EncodingReport | None, tuple[str, ...]] | None = None

    def choose(self, title: str, table: RawTable, draft: SchemaDraft, *, sample: str | None = None) -> None:
        """Work on another table."""
        self.title, self.table, self.sample, self.problem, self.left_out, self.aside = title, table, sample, None, (), ""
        self.checked = None
        self.replace_draft(draft)

    def replace_draft(self, draft: SchemaDraft) -> None:
        """Put another draft in place of the present one. A look at private rows is remembered."""
        self.remember_look()
        self.draft = draft.after(self.looked)
        self.revision += 1

    def remember_look(self) -> None:
        """Of the draft at hand, if its owner looked at private rows by it."""
        if self.draft is not None and self.draft.before is not None:
            self.looked = self.draft

    def would_uncover(self, role: DataRole) -> bool:
        """Whether under this role the table at hand, a private one, would be shown."""
        return self.role is DataRole.PRIVATE and role.may_read and self.table is not None

    def change_role(self, role: DataRole) -> None:
        """Declare whose rows these are. A sample keeps its own role, so it is put aside, and so is a private table.

        Private rows keep nothing read.
        """
        if role is self.role:
            return
        put_aside = self.sample is not None or self.would_uncover(role)
        self.remember_look()
        self.role, self.problem, self.left_out, self.aside = role, None, (), ""
        if put_aside:
            self.title, self.table, self.draft, self.sample = "", None, None, None
            self.checked = None
        elif self.draft is not None and not role.may_read:
            self.replace_draft(self.draft.without_read())


def preparation() -> Preparation:
    """What the Data page works on, as long as the session lasts; at first the data in use."""
    if _KEY not in st.session_state:
        now = data_in_use()
        draft = SchemaDraft.of(now.schema, now.table.names, person=now.person)
        st.session_state[_KEY] = Preparation(now.role, now.title, now.sample, now.table, draft)
    return st.session_state[_KEY]


def data_line(now: DataInUse) -> None:
    """The line on top of the Data page: the table being declared; where that is the one in use, the line of every page."""
    work = preparation()
    if work.draft is None or (work.table is now.table and work.role is now.role):
        parts.data_line(now)
        return
    title = parts.escape_markdown(work.title) if work.title else "A draft, its file not chosen yet"
    columns = f"{len(work.draft.columns):,} columns"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        parts.role_badge(work.role)
        words = f"**{title}** · {columns} · being declared; other pages still use {parts.escape_markdown(now.title)}"
        st.markdown(words, width="content")


def note_refused_release(now: DataInUse) -> None:
    """A release of private rows was refused because few fit: a look, after which corrections need a source."""
    if now.role.may_read:
        return
    work = preparation()
    in_use = SchemaDraft.of(now.schema, now.table.names, person=now.person)
    declared = work.draft if work.draft is not None and work.table is now.table else in_use.after(work.looked)
    work.looked = declared.looked_at()
    if work.draft is not None:
        work.draft = work.draft.after(work.looked)


def schema_doubts(now: DataInUse) -> tuple[str, ...]:
    """What the check of these rows by this schema found doubtful; nothing where nobody has asked for it."""
    work = preparation()
    if work.checked is None or work.table is not now.table:
        return ()
    schema, _, found = work.checked
    return found if replace(schema, source="") == replace(now.schema, source="") else ()
