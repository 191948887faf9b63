"""What a session keeps: the data in use stay when something fails; a role decides what a draft may hold."""

from __future__ import annotations

import pytest
import streamlit as st

from dpviz.app import state
from dpviz.app.prepared import prepared
from dpviz.errors import SchemaError
from dpviz.io.csv import read_csv
from dpviz.table.proposal import propose_schema
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget, NumericFeature, Schema


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """An empty session and an empty address."""
    monkeypatch.setattr(st, "query_params", {})
    monkeypatch.setattr(st, "session_state", {})
    return st.session_state  # type: ignore[return-value]


def test_a_new_session_uses_the_first_sample_which_the_address_does_not_overrule() -> None:
    now = state.loaded()
    assert (now.sample, now.role, now.title) == ("health", DataRole.SIMULATED, "Health check")
    assert not now.schema.read_fields()
    st.query_params["data"] = "clinic"
    state.follow_url()
    assert state.loaded() is now


def test_a_failed_encoding_leaves_the_data_in_use() -> None:
    before = state.loaded()
    schema = Schema((NumericFeature("nowhere", 0, 1),), ClassTarget("y", ("a", "b")))
    with pytest.raises(SchemaError, match="has no column 'nowhere'"):
        state.use(DataRole.PUBLIC, "mine.csv", read_csv(b"a,y\n1,a\n2,b\n"), schema)
    assert state.loaded() is before


def test_an_upload_leaves_no_trace_in_the_address() -> None:
    state.use_sample("clinic")
    state.write_url()
    assert dict(st.query_params) == {"data": "clinic"}
    table = read_csv(b"age,y\n1,a\n2,b\n3,a\n4,b\n", name="mine.csv")
    state.use(DataRole.PUBLIC, "mine.csv", table, propose_schema(table))
    state.write_url()
    assert dict(st.query_params) == {}


def test_a_sample_is_put_aside_when_the_role_changes() -> None:
    work = prepared()
    work.change_role(DataRole.PRIVATE)
    assert (work.table, work.draft, work.sample) == (None, None, None)
    assert state.loaded().sample == "health"
