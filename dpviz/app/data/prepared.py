"""The table being prepared on the Data page, beside the data in use."""

from dataclasses import dataclass, replace

import streamlit as st

from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.draft_json import KeptDraft, draft_at
from dpviz.app.state import DRAFT, loaded
from dpviz.errors import DpvizError
from dpviz.io.samples import load_sample, samples
from dpviz.randomness import random_128_bits
from dpviz.table.dataset import EncodingReport
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

_PREPARED = "prepared"


@dataclass(eq=False)
class Prepared:
    """What the Data page works on: role, table (None: not chosen yet) and draft. Nothing of it is in use.

    `revision` counts drafts put in from outside (a new table, a schema file, values read from the data), so that widgets
    know when to start afresh; `problem` is the last one of choosing a table; `left_out` says which columns filling in left out,
    and why, `aside` what of a codebook was not taken. A draft without a table waits for its file to be chosen again. `looked` is
    the last draft that remembers a look at private rows, `checked` the schema last checked
    against the rows, what encoding did and what was doubtful. `delivered` is the draft that came with a sample,
    `names_confirmed` whether the owner of private rows said that the names are names, `key` where the draft is kept.
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
    delivered: SchemaDraft | None = None
    looked: SchemaDraft | None = None
    checked: tuple[Schema, EncodingReport | None, tuple[str, ...]] | None = None
    names_confirmed: bool = False
    key: str | None = None

    def choose(self, title: str, table: RawTable, draft: SchemaDraft, *, sample: str | None = None) -> None:
        """Work on another table."""
        self.title, self.table, self.sample, self.problem, self.left_out, self.aside = title, table, sample, None, (), ""
        self.delivered, self.names_confirmed, self.key, self.checked = draft if sample else None, False, None, None
        self.replace_draft(draft)

    def take(self, title: str, table: RawTable) -> None:
        """Work on a table without a schema: by the draft that waits for it, where there is one.

        Raises SchemaError when the table has other columns than that draft.
        """
        if self.table is not None or self.draft is None:
            self.choose(title, table, SchemaDraft.blank(table.names))
            return
        self.draft, self.title, self.table, self.problem = self.draft.for_table(table.names), title, table, None

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
            self.key, self.names_confirmed, self.checked = None, False, None  # what was kept stays at its address
        elif self.draft is not None and not role.may_read:
            self.replace_draft(self.draft.without_read())


def prepared() -> Prepared:
    """What the Data page works on; at first the draft that the address names, else the data in use."""
    if _PREPARED not in st.session_state:
        st.session_state[_PREPARED] = _first()
    return st.session_state[_PREPARED]


def prepare(work: Prepared) -> None:
    """Work on this from now on. For a callback."""
    st.session_state[_PREPARED] = work
    st.session_state["role"] = work.role


def in_use(looked: SchemaDraft | None = None) -> Prepared:
    """The data in use, to work on; a look at private rows by the draft `looked` is not forgotten."""
    now = loaded()
    draft = SchemaDraft.of(now.schema, now.table.names, person=now.person, rows_per_person=now.data.rows_per_person).after(looked)
    return Prepared(now.role, now.title, now.sample, now.table, draft, delivered=draft, looked=looked)


def _first() -> Prepared:
    key = st.session_state.get(DRAFT) or st.query_params.get(DRAFT)
    if not key:
        return in_use()
    try:
        return replace(_restored(draft_at(key)), key=key)
    except DpvizError as problem:
        return replace(in_use(), problem=problem)


def _restored(kept: KeptDraft) -> Prepared:
    """A kept draft with its sample, or waiting for its file.

    Its widgets are new ones: a browser may still send what older ones showed. Raises DpvizError when its sample is no longer
    what it was.
    """
    work = Prepared(kept.role, draft=kept.draft, revision=random_128_bits() >> 100, names_confirmed=True)
    if kept.sample is not None:
        sample = next((item for item in samples() if item.name == kept.sample and item.role is kept.role), None)
        if sample is None:
            raise DpvizError(f"There is no sample {kept.sample!r:.60} of {kept.role} rows.", remedy="Update dpviz.")
        table, schema = load_sample(kept.sample)
        delivered = SchemaDraft.of(schema, table.names, person=schema.person, rows_per_person=sample.rows_per_person)
        draft = kept.draft.for_table(table.names)
        work = replace(work, title=sample.title, sample=kept.sample, table=table, draft=draft, delivered=delivered)
    return work
