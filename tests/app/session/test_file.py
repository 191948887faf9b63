"""A saved session comes back: table, schema, settings, models and curves; nothing changes when it cannot."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.draft_json import KeptDraft, draft_to_dict
from dpviz.app.session.file import OPENED
from dpviz.io.samples import load_sample
from dpviz.io.session import Choices, Curves, Session, session_from_json, session_to_json
from dpviz.table.role import DataRole
from tests.io.exports_models import exportable, schema_with_stand_ins
from tests.pages.opened import opened, slot_of, values_in

GRID = {
    "learners": ["cart", "majority"],
    "epsilons": [0.1, 1.0],
    "max_depths": [3],
    "n_rows": [None],
    "folds": 2,
    "repeats": 1,
    "seed": 0,
    "depth": "auto",
    "params": {},
}
ABOUT = {"along": "epsilon", "metric": "accuracy", "n_train": 300, "grid": GRID}
COLUMNS = (
    *("learner", "epsilon", "max_depth", "n_rows", "fold", "repeat"),
    *("depth", "claimed", "composed", "verdict", "accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "majority"),
)
ROW = ("cart", float("inf"), 3, 0, 0, 0, 3, float("inf"), float("inf"), "none", 0.8, 0.7, 0.75, 0.5, 0.2, 0.6)


def saved(**changes) -> str:
    _, schema = load_sample("clinic")
    choices = Choices("privatree", {"epsilon": 0.3, "max_depth": 3, "depth": 3}, {"bins": 7}, 12)
    model = exportable("pf-tree", schema_with_stand_ins()).text
    whole = Session(DataRole.SIMULATED, "Clinic", "clinic", schema, choices, (model,), curves=(Curves(ABOUT, COLUMNS, (ROW,)),))
    return session_to_json(replace(whole, **changes))


def after(text: str, table: str | None = None) -> AppTest:
    """A session, with this sample in use, in which the file was opened, as the callback does it."""

    def page() -> None:
        import streamlit as st

        from dpviz.app.session.file import open_session
        from dpviz.app.state import use_sample
        from dpviz.errors import DpvizError
        from dpviz.io.session import session_from_json

        if not st.session_state.get("done"):
            st.session_state["done"] = True
            if st.session_state["table"]:
                use_sample(st.session_state["table"])
            try:
                open_session(session_from_json(st.session_state["text"]))
            except DpvizError as problem:
                st.error(str(problem))

    test = AppTest.from_function(page, default_timeout=60)
    test.session_state["text"], test.session_state["table"] = text, table
    test.run()
    assert not test.exception, [found.message for found in test.exception]
    return test


def test_table_settings_models_and_curves_come_back():
    test = after(saved())
    state = test.session_state
    assert not test.error
    assert state["loaded"].sample == "clinic"
    assert (state["learner"], state["epsilon"], state["depth"], state["draw"]) == ("privatree", 0.3, "3", 12)
    assert state["privatree.bins"] == 7
    assert len(state[OPENED]) == 1
    (((fingerprint, along), (_, request)),) = slot_of(test, "compare").last.items()
    assert (fingerprint, along) == (state["loaded"].data.fingerprint, "epsilon")
    assert request.grid.learners == ("cart", "majority")
    (row,) = values_in(test, "compare")
    assert row["accuracy"] == 0.8


def test_another_schema_of_the_sample_is_used_and_has_no_name_for_the_link():
    _, schema = load_sample("clinic")
    test = after(saved(schema=schema.without(schema.feature_names[0])))
    assert test.session_state["loaded"].schema.n_features == schema.n_features - 1
    assert test.session_state["loaded"].sample is None


def test_a_schema_without_its_rows_becomes_the_draft_of_the_table_that_is_there():
    _, schema = load_sample("clinic")
    declared = schema.declare(schema.feature_names[0], low=0, high=120)
    state = after(saved(sample=None, schema=declared), table="clinic").session_state
    assert state["loaded"].schema == schema
    assert state["prepared"].draft.schema() == declared
    assert state["learner"] == "privatree"


@pytest.mark.parametrize("role", [DataRole.PUBLIC, DataRole.PRIVATE])
def test_a_file_never_changes_whose_rows_these_are(role):
    test = after(saved(sample=None, role=role), table="clinic")
    assert f"The file is of {role} rows and does not bring them along." in test.error[0].value
    assert test.session_state["prepared"].role is DataRole.SIMULATED
    assert "learner" not in test.session_state


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sample": "no-such-sample"}, "There is no sample 'no-such-sample' of simulated rows."),
        ({"choices": Choices("cart", {"epsilon": 1e-5, "max_depth": 3}, {}, 1)}, "outside what the sidebar offers"),
        ({"curves": (Curves({}, COLUMNS, (ROW,)),)}, "These curves lack what they are about."),
        ({"curves": (Curves(ABOUT, ("a",), ((1,),)),)}, "other columns than a comparison"),
        ({"curves": (Curves({**ABOUT, "metric": "beauty"}, COLUMNS, (ROW,)),)}, "do not say what they show"),
        ({"curves": (Curves({**ABOUT, "grid": {**GRID, "learners": ["x"]}}, COLUMNS, (ROW,)),)}, "no learner called 'x'"),
    ],
)
def test_what_cannot_be_opened_changes_nothing(changes, says):
    test = after(saved(**changes))
    assert says in test.error[0].value
    assert OPENED not in test.session_state
    assert "learner" not in test.session_state


def test_a_session_saved_on_the_data_page_holds_the_table_and_no_rows():
    test = opened("data")
    (button,) = [button for button in test.get("download_button") if button.label == "Save session"]
    assert button is not None
    assert "Never rows." in "\n".join(caption.value for caption in test.caption)


DRAFT = SchemaDraft(SchemaDraft.blank(("who", "age", "y")).columns, "y", None, False, "who", 4)


def test_the_table_being_declared_comes_back_beside_the_sample_in_use_and_waits_for_its_file():
    test = after(saved(draft=draft_to_dict(KeptDraft(DataRole.SIMULATED, DRAFT))), table="loans")
    assert not test.error
    assert test.session_state["loaded"].sample == "clinic"
    work = test.session_state["prepared"]
    assert (work.draft, work.table, work.role) == (DRAFT, None, DataRole.SIMULATED)
    assert test.session_state["role"] is DataRole.SIMULATED


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        (draft_to_dict(KeptDraft(DataRole.PRIVATE, DRAFT)), "The file is of private rows and does not bring them along."),
        (draft_to_dict(KeptDraft(DataRole.SIMULATED, DRAFT, "nope")), "There is no sample 'nope' of simulated rows."),
        ({"format": "dpviz-draft/1"}, "draft.sample"),
    ],
)
def test_a_draft_that_cannot_be_opened_changes_nothing(kept, says):
    test = after(saved(draft=kept), table="loans")
    assert says in test.error[0].value
    assert test.session_state["loaded"].sample == "loans"
    assert "learner" not in test.session_state


def test_the_person_column_of_a_table_comes_back_with_its_schema():
    _, schema = load_sample("clinic")
    dropped = schema.feature_names[0]
    text = saved(sample=None, schema=schema.without(dropped), person=dropped, rows_per_person=2)
    draft = after(text, table="clinic").session_state["prepared"].draft
    assert (draft.person, draft.rows_per_person) == (dropped, 2)


def test_mid_draft_the_session_holds_the_draft_on_screen():
    test = opened("data")
    test.number_input(key=f"n-public-{test.session_state['prepared'].revision}").set_value(750).run()
    download = next(button for button in test.get("download_button") if button.label == "Save session")
    assert download is not None

    def page() -> None:
        import streamlit as st

        from dpviz.app.session.file import session_now
        from dpviz.io.session import session_to_json

        st.session_state["saved"] = session_to_json(session_now())

    again = AppTest.from_function(page, default_timeout=60)
    for key in ("loaded", "prepared"):
        again.session_state[key] = test.session_state[key]
    again.run()
    assert not again.exception
    found = session_from_json(again.session_state["saved"])
    assert found.draft is not None
    assert found.draft["draft"]["n_public"] == 750


def test_what_is_on_screen_is_saved_and_private_rows_leave_nothing_but_what_was_declared():
    def page() -> None:
        import streamlit as st

        from dpviz.app import controls, state, tree_parts
        from dpviz.app.session.file import session_now
        from dpviz.io.session import session_to_json

        tree_parts.tree_on_page(controls.ask_settings(), state.loaded())
        st.session_state["saved"] = session_to_json(session_now())

    for role, n_models in ((DataRole.SIMULATED, 1), (DataRole.PRIVATE, 0)):
        from tests.pages.opened import in_use

        test = AppTest.from_function(page, default_timeout=60)
        test.session_state["loaded"] = in_use(role)
        test.run()
        while '"choices":null' in test.session_state["saved"]:  # still growing
            test.run()
        assert not test.exception
        found = session_from_json(test.session_state["saved"])
        assert len(found.models) == n_models
        assert json.loads(test.session_state["saved"])["choices"]["learner"] == "pf-tree"
        assert (found.choices.draw is None) == (role is DataRole.PRIVATE)


def test_curves_that_came_back_are_saved_again_as_they_were():
    def page() -> None:
        import streamlit as st

        from dpviz.app.session.file import open_session, session_now
        from dpviz.io.session import session_from_json, session_to_json

        open_session(session_from_json(st.session_state["text"]))
        st.session_state["again"] = session_to_json(session_now())

    test = AppTest.from_function(page, default_timeout=60)
    test.session_state["text"] = saved()
    test.run()
    assert not test.exception, [found.message for found in test.exception]
    first, again = session_from_json(saved()), session_from_json(test.session_state["again"])
    assert again.curves == first.curves
    assert again.models == first.models
