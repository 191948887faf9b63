"""What a session holds: the data in use, and the table being prepared beside it.

Everything else on screen follows from the data in use and from the settings in the URL. The URL may hold a sample's name,
never a value from a table or the name of a file.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpviz.app.data.draft import SchemaDraft
from dpviz.errors import DpvizError
from dpviz.io.samples import load_sample, samples
from dpviz.learners import get_learner, learners_for
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

DEFAULT_SAMPLE = "loans"
_KEY = "loaded"
_PREPARED = "prepared"
_URL = "data"


@dataclass(frozen=True, eq=False)
class Loaded:
    """The data in use. `sample` is the sample's name, None for an upload; `data` is the table encoded by the schema."""

    role: DataRole
    title: str
    sample: str | None
    table: RawTable
    schema: Schema
    data: EncodedDataset

    @property
    def learners(self) -> tuple[str, ...]:
        """Learners for this target that may be shown: on private rows none that publishes them as they are."""
        names = learners_for(self.schema)
        return tuple(name for name in names if self.role is not DataRole.PRIVATE or get_learner(name).spends_epsilon)


@dataclass(eq=False)
class Prepared:
    """What the Data page works on: role, table (None: not chosen yet) and draft. Nothing of it is in use.

    `revision` counts drafts put in from outside (a new table, a schema file, values read from the data), so that widgets
    know when to start afresh; `problem` is the last one of choosing a table; `left_out` says which columns filling in left out,
    and why.
    """

    role: DataRole
    title: str = ""
    sample: str | None = None
    table: RawTable | None = None
    draft: SchemaDraft | None = None
    revision: int = 0
    problem: DpvizError | None = None
    left_out: tuple[tuple[str, str], ...] = ()

    def choose(self, title: str, table: RawTable, draft: SchemaDraft, *, sample: str | None = None) -> None:
        """Work on another table."""
        self.title, self.table, self.sample, self.problem, self.left_out = title, table, sample, None, ()
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


def loaded() -> Loaded:
    """The data in use; the sample named in the URL, or the default sample, in a new session."""
    if _KEY not in st.session_state:
        use_sample(DEFAULT_SAMPLE)
    return st.session_state[_KEY]


def prepared() -> Prepared:
    """What the Data page works on; at first the data in use."""
    if _PREPARED not in st.session_state:
        now = loaded()
        draft = SchemaDraft.of(now.schema, now.table.names)
        st.session_state[_PREPARED] = Prepared(now.role, now.title, now.sample, now.table, draft)
    return st.session_state[_PREPARED]


def use(role: DataRole, title: str, table: RawTable, schema: Schema, sample: str | None = None) -> Loaded:
    """Encode and put into use. Raises DpvizError and leaves what was in use when that fails."""
    st.session_state[_KEY] = Loaded(role, title, sample, table, schema, encode(table, schema))
    return st.session_state[_KEY]


def use_sample(name: str) -> Loaded:
    """Put a bundled sample into use."""
    table, schema = load_sample(name)
    sample = next(sample for sample in samples() if sample.name == name)
    return use(DataRole(sample.role), sample.title, table, schema, sample=name)


def follow_url() -> DpvizError | None:
    """In a new session, use the sample the URL names; the problem when there is none of that name."""
    name = st.query_params.get(_URL)
    if _KEY in st.session_state or name is None:
        return None
    try:
        use_sample(name)
    except DpvizError as problem:
        return problem
    return None


def write_url() -> None:
    """Name the sample in use in the URL. The default sample and uploads leave no trace there."""
    sample = loaded().sample
    if sample is None or sample == DEFAULT_SAMPLE:
        st.query_params.pop(_URL, None)
    elif st.query_params.get(_URL) != sample:
        st.query_params[_URL] = sample
