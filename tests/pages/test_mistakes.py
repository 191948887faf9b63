"""Mistakes one click could make with private rows: each is stopped, on every page."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.app import state
from dpviz.app.explorations import CONSENT
from dpviz.app.preparation import Preparation
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.state import require_not_private
from dpviz.errors import DpvizError
from dpviz.evaluation.simulate import synthetic_rows
from dpviz.table.role import DataRole
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema
from dpviz.table.sums import sum_table
from tests.support.pages import PAGES, click, in_use, open_page, sample_of, texts
from tests.support.paths import SOON

NAME = "clinic 2024"

pytestmark = pytest.mark.usefixtures("register")


def at_work_on_private_rows() -> AppTest:
    """The Data page with a private table at hand."""
    table, schema = sample_of(DataRole.PRIVATE)
    test = AppTest.from_file(str(PAGES / "data.py"), default_timeout=SOON)
    test.session_state["loaded"] = in_use(DataRole.PRIVATE)
    test.session_state["prepared"] = Preparation(DataRole.PRIVATE, "A table", None, table, SchemaDraft.of(schema, table.names))
    return test.run()


@pytest.mark.slow
@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PUBLIC])
def test_lowering_the_role_asks_first_and_then_empties_the_table(role):
    test = at_work_on_private_rows()
    test.radio(key="role").set_value(role).run()
    work = test.session_state["prepared"]
    assert "The table at hand is private" in texts(test)
    assert (work.role, work.table is None) == (DataRole.PRIVATE, False)
    click(test, "Stay with private rows")
    assert test.radio(key="role").value is DataRole.PRIVATE
    test.radio(key="role").set_value(role).run()
    click(test, f"Close it, and continue with {role} rows")
    assert (work.role, work.table, work.draft) == (role, None, None)
    assert test.session_state["loaded"].role is DataRole.PRIVATE


def test_rows_the_register_knows_as_private_in_whatever_way_are_used_as_nothing_else(register):
    rows, public = in_use(DataRole.PRIVATE), in_use(DataRole.PUBLIC).data
    others = dpviz.encode(rows.table, rows.schema.declare(n_public=17))
    register.declare("wine", epsilon_cap=1.0, role=DataRole.PUBLIC)
    register.assign(public.identity, "wine")
    require_not_private(DataRole.PUBLIC, public.identity)
    require_not_private(DataRole.PUBLIC, others.identity, others.table_sums)
    register.note_use(rows.data.identity, what="tree", learner="pf-tree", settings={})
    with pytest.raises(DpvizError, match="known as private"):  # explored as such
        require_not_private(DataRole.PUBLIC, rows.data.identity)
    register.declare(NAME, epsilon_cap=1.0)
    register.assign(rows.data.identity, NAME, sums=rows.data.table_sums, disjoint_from=["wine"])
    for role in (DataRole.SIMULATED, DataRole.PUBLIC):
        for sums in (others.table_sums, sum_table(rows.table)):  # encoded by another schema, and before there is one
            with pytest.raises(DpvizError, match="These rows are known as private"):
                require_not_private(role, others.identity, sums)
        with pytest.raises(DpvizError, match="These rows are known as private"):
            state.use(role, "A table", rows.table, rows.schema)
    require_not_private(DataRole.PRIVATE, others.identity, others.table_sums)


def test_rows_in_use_become_private_when_they_are_assigned_to_a_private_data_set(register):
    register.declare(NAME, epsilon_cap=1.0)
    register.assign(in_use(DataRole.PRIVATE).data.identity, NAME)
    test = open_page("publish", DataRole.SIMULATED)
    assert test.session_state["loaded"].role is DataRole.PRIVATE
    assert "Practice: simulated rows" not in texts(test)


@pytest.mark.parametrize("page", ["tree", "compare", "robustness"])
@pytest.mark.slow
def test_no_page_looks_at_private_rows_before_somebody_agrees_once_which_can_be_taken_back(page, register):
    test = open_page(page, DataRole.PRIVATE, agreed=False)
    assert "Made-up rows, simulated from the schema" in texts(test)
    assert register.uncovered_uses() == ()
    click(test, "Look at them and record it")
    assert "You look at the private rows" in texts(test)
    assert test.session_state[CONSENT] == in_use(DataRole.PRIVATE).data.identity
    looks = [item.times for item in register.uncovered_uses()]
    assert looks == [1] * (page == "tree")
    agreed = test.session_state["loaded"]
    test.session_state["loaded"] = replace(agreed, data=replace(agreed.data, target=agreed.data.target[::-1].copy()))
    assert "describe nobody" in texts(test.run()), "nobody has agreed to look at other rows"
    test.session_state["loaded"] = agreed
    texts(test.run())
    click(test, "Back to simulated rows")
    assert "describe nobody" in texts(test)
    assert [item.times for item in register.uncovered_uses()] == looks


@pytest.mark.slow
def test_a_tree_of_made_up_rows_leads_with_what_to_expect_and_with_no_measure_of_them():
    test = open_page("tree", DataRole.PRIVATE, agreed=False)
    (view,) = (json.loads(found.proto.json) for found in test.get("bidi_component") if found.key == "tree-view")
    assert view["said"]["mark"] == "Made-up rows"
    assert not {"lead", "tested", "besides", "strip"} & view["said"].keys()
    assert test.header[0].value == "What to expect"
    assert "Every measure on the held-out rows" not in texts(test)


def test_what_stands_in_for_private_rows_follows_from_the_schema_alone():
    numbers = Schema((NumericFeature("x", 0, 9), CategoricalFeature("c", ("a", "b"))), NumericTarget("y", 10, 20))
    rows = synthetic_rows(numbers, n_rows=500, seed=1)
    assert rows.n_rows == rows.schema.n_public == 500
    assert 10 <= rows.target.min() < rows.target.max() <= 20
    assert rows.fingerprint == synthetic_rows(numbers, n_rows=500, seed=1).fingerprint
