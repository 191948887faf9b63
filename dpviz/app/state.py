"""What a session holds: the data in use. Everything else on screen follows from it and from the settings in the URL."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpviz.io.samples import load_sample
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

DEFAULT_SAMPLE = "loans"
_KEY = "loaded"


@dataclass(frozen=True, eq=False)
class Loaded:
    """The data in use. `sample` is the sample's name, None for an upload; `data` is the table encoded by the schema."""

    role: DataRole
    title: str
    sample: str | None
    table: RawTable
    schema: Schema
    data: EncodedDataset


def loaded() -> Loaded:
    """The data in use; the default sample in a new session."""
    if _KEY not in st.session_state:
        use_sample(DEFAULT_SAMPLE)
    return st.session_state[_KEY]


def use(role: DataRole, title: str, table: RawTable, schema: Schema, sample: str | None = None) -> Loaded:
    """Encode and put into use. Raises DpvizError and leaves what was in use when that fails."""
    st.session_state[_KEY] = Loaded(role, title, sample, table, schema, encode(table, schema))
    return st.session_state[_KEY]


def use_sample(name: str) -> Loaded:
    """Put a bundled sample into use."""
    table, schema = load_sample(name)
    role = DataRole.SIMULATED if name in ("loans", "clinic") else DataRole.PUBLIC
    return use(role, name, table, schema, sample=name)
