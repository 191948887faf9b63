"""The data in use, the state that all pages share.

Everything else on screen follows from the data in use and from the settings in the URL. The URL may hold a sample's name,
never a value from a table or the name of a file.
"""

from dataclasses import dataclass, replace

import streamlit as st

from dpviz.app.widgets import keep_in_link
from dpviz.charts.as_python import RowsRead
from dpviz.errors import DpvizError, SchemaError
from dpviz.io.samples import Sample, load_sample, samples
from dpviz.learners import get_learner, learners_for
from dpviz.randomness import random_128_bits
from dpviz.release.records import DataSet, protected_unit
from dpviz.release.register import Register
from dpviz.results.verdict import Unit
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.table.sums import TableSums

DEFAULT_SAMPLE = "health"
_KEY, _PROBLEM = "loaded", "_problem_of_link"
_URL = "data"


@dataclass(frozen=True, eq=False)
class DataInUse:
    """The data in use. `sample` is the sample's name, None for an upload; `data` is the table encoded by the schema.

    `person` is the column that says whose row it is; None where nobody said. `is_made_up`: the rows stand in for private ones,
    simulated from their schema.
    """

    role: DataRole
    title: str
    sample: str | None
    table: RawTable
    schema: Schema
    data: EncodedDataset
    person: str | None = None
    is_made_up: bool = False

    @property
    def learners(self) -> tuple[str, ...]:
        """Learners for this target that may be shown: on private rows none that publishes them as they are."""
        names = learners_for(self.schema)
        return tuple(name for name in names if self.role is not DataRole.PRIVATE or get_learner(name).spends_epsilon)

    @property
    def is_as_bundled(self) -> bool:
        """A bundled sample as it comes, the same rows in every session: what is computed of it may be kept for all of them."""
        return self.role is not DataRole.PRIVATE and self.sample is not None and self.data is encoded_sample(self.sample)


def data_in_use() -> DataInUse:
    """The data in use; the sample named in the URL, or the default sample, in a new session."""
    if _KEY not in st.session_state:
        use_sample(DEFAULT_SAMPLE)
    return st.session_state[_KEY]


def rows_read() -> RowsRead:
    """How a script reads the data in use."""
    now = data_in_use()
    is_private = now.role is DataRole.PRIVATE  # how many rows those are is not said
    return RowsRead(now.sample, now.title, now.person, now.data.rows_per_person, is_private, is_private or now.data.n_rows >= 10)


def use(
    role: DataRole,
    title: str,
    table: RawTable,
    schema: Schema,
    sample: str | None = None,
    *,
    person: str | None = None,
) -> DataInUse:
    """Encode and put into use. Raises DpvizError and leaves what was in use when that fails.

    `person` is that of `encode`.
    Private rows may all be unusable: whether one is may not be told by an error.
    """
    data = encode(table, schema, person=person)
    if sample is None:
        require_not_private(role, table.fingerprint)
        require_not_private(role, data.identity, data.table_sums)
    if role.may_read and not data.n_rows:
        remedy = "Compare the declared categories, classes and kinds with the file, or replace missing and unknown cells."
        raise SchemaError(f"None of {table.n_rows:,} rows can be used with this schema.", remedy=remedy)
    st.session_state[_KEY] = DataInUse(role, title, sample, table, schema, data, person)
    return st.session_state[_KEY]


def require_not_private(role: DataRole, fingerprint: str, sums: TableSums | None = None) -> None:
    """Raise DpvizError for rows that the register knows as private, unless that is their role here, too."""
    book = Register()
    if not role.may_read or not book.path.exists():
        return
    if book.knows_as_private(fingerprint, sums):
        what = f"These rows are known as private; they cannot be used as {role} ones."
        raise DpvizError(what, remedy="Choose “Private” on the Data page. A mistake in the register is not undone here.")


def protect() -> None:
    """From now on the rows in use are private."""
    st.session_state[_KEY] = replace(data_in_use(), role=DataRole.PRIVATE)


def use_sample(name: str) -> DataInUse:
    """Put a bundled sample into use."""
    table, schema, data = _read_sample(name)
    sample = sample_of(name)
    assert sample is not None
    st.session_state[_KEY] = DataInUse(sample.role, sample.title, name, table, data.schema, data, schema.person)
    return st.session_state[_KEY]


def sample_of(name: str | None) -> Sample | None:
    """What comes with dpviz under this name; None for rows that do not."""
    return next((sample for sample in samples() if sample.name == name), None)


def encoded_sample(name: str) -> EncodedDataset:
    """A bundled sample, encoded; not in use."""
    return _read_sample(name)[2]


@st.cache_resource(show_spinner=False)
def _read_sample(name: str) -> tuple[RawTable, Schema, EncodedDataset]:
    """Read once for all sessions."""
    table, schema = load_sample(name)
    return table, schema, encode(table, schema)


def follow_url() -> DpvizError | None:
    """In a new session, use the sample the URL names; the problem of a name that is none, until other data are in use."""
    name = st.query_params.get(_URL)
    if _KEY not in st.session_state and name is not None:
        try:
            use_sample(name)
        except DpvizError as problem:
            st.session_state[_PROBLEM] = (data_in_use(), problem)
    about, unknown = st.session_state.get(_PROBLEM, (None, None))
    return unknown if about is st.session_state.get(_KEY) else None


def write_url() -> None:
    """Name the sample in use in the URL. The default sample and uploads leave no trace there."""
    keep_in_link(_URL, data_in_use().sample or DEFAULT_SAMPLE, default=DEFAULT_SAMPLE)


def hidden_seed(role: DataRole, key: str) -> int:
    """0 for rows anyone may see, so that results can be repeated; for private rows a secret of this session, kept under `key`."""
    if role is not DataRole.PRIVATE:
        return 0
    if key not in st.session_state:
        st.session_state[key] = random_128_bits() >> 65
    return st.session_state[key]


def unit_in_use() -> Unit:
    """The unit of the table in use, also while a page shows rows simulated from its schema."""
    return protected_unit(_known(), data_in_use().data)


def _known() -> DataSet | None:
    now, book = data_in_use(), Register()
    try:
        return book.data_set_of(now.data.identity, now.data.table_sums, now.table.names)
    except DpvizError:  # the Publish page says what is wrong with it, and nothing is released meanwhile
        return None
