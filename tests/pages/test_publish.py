"""The Publish page: whose cap counts, what is taken as public, the release, and what became of it."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import dpviz
from dpviz.app import publish as page_state
from dpviz.app.expected import SLOT
from dpviz.app.state import DataInUse
from dpviz.charts.publish import exports
from dpviz.errors import RefusedRelease
from dpviz.learners import fit
from dpviz.release import files
from dpviz.release.export import register_json, register_lines
from dpviz.release.records import INSPECTION_WARNING
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.pages import (
    after_work,
    alerts,
    button,
    buttons,
    click,
    in_use,
    open_page,
    page_text,
    records,
    release_job,
    release_tree,
    sample_of,
    texts,
)
from tests.support.paths import SOON
from tests.support.release_rows import start
from tests.support.tables import schema_of, table

NAME = "clinic 2024"
REGISTER = {"publish-view": "Register"}

pytestmark = pytest.mark.usefixtures("register")


@pytest.fixture
def assigned(register):
    """The private clinic's rows under a cap of 1."""
    register.declare(NAME, epsilon_cap=1.0, unit="one patient")
    register.assign(in_use(DataRole.PRIVATE).data.fingerprint, NAME)
    return register


def at_most(epsilon):
    """Right guesses of 100 by one release of the clinic's rows: fewer than any algorithm with this epsilon may allow."""
    guesses = fit("pf-tree", in_use(DataRole.PRIVATE).data, epsilon=epsilon, max_depth=4, seed=1).risk.guesses()
    assert 0.5 < guesses < 1 / (1 + math.exp(-epsilon)) - 0.01
    return f"at most {math.ceil(100 * guesses)}"


@pytest.mark.slow
def test_an_unseen_table_is_never_guessed_to_be_new_nor_an_old_one(assigned):
    table, schema = sample_of(DataRole.PRIVATE)
    other = schema.declare("age", low=0, high=120)
    of_three = replace(other, rows_per_person=3)
    assert "Every ε: add/remove one person, up to 3 rows." in page_text(open_page("publish", DataRole.PRIVATE, schema=of_three))
    assigned.declare("another", epsilon_cap=1.0)
    assigned.assign("another year", "another", columns=table.names)
    test = open_page("publish", DataRole.PRIVATE, schema=other)
    assert test.radio(key="publish-kind").value is None
    test.radio(key="publish-kind").set_value("a new data set: nobody in it is in any other").run()
    assert "These rows look like those of" in texts(test)
    assert "publish-new-name" not in test.session_state
    test.checkbox(key="publish-others").check().run()
    assert test.text_input(key="publish-new-name").value == ""
    test.radio(key="publish-kind").set_value("a data set named before").run()
    test.selectbox(key="publish-name").set_value(NAME).run()
    assert button(test, "Add them permanently").disabled, "rows that look like those of another one"
    test.checkbox(key="publish-others").check().run()
    click(test, "Add them permanently")
    assert "cap ε = 1 (add/remove one row)" in page_text(test)
    files.keep_counter(assigned.path, 10**6)
    test = open_page("publish", DataRole.PRIVATE, schema=schema.declare("age", low=0, high=122))
    assert "is an old copy" in texts(test)
    assert "Release" not in buttons(test)


@pytest.mark.slow
def test_looks_are_noted_of_private_rows_alone_told_apart_from_releases_and_one_that_could_not_be_is_said(assigned, monkeypatch):
    for role in (DataRole.SIMULATED, DataRole.PUBLIC):
        open_page("tree", role)
    assert assigned.uncovered_uses() == ()
    for epsilon in ("1", "0.5"):
        open_page("tree", DataRole.PRIVATE, epsilon=epsilon)
    with monkeypatch.context() as broken:
        (assigned.path.parent / "file").touch()
        broken.setenv("DPVIZ_REGISTER", str(assigned.path.parent / "file" / "below"))
        problem = open_page("tree", DataRole.PRIVATE).session_state["_exploration_problem"]
    test = open_page("publish", DataRole.PRIVATE)
    assert "settings were chosen after 2 looks at these rows" in page_text(test)
    assert "Explored, covered by no guarantee: 2 looks, not covered: keep to yourself." in page_text(test)
    assert assigned.balance(NAME).spent.epsilon == 0
    test.session_state["_exploration_problem"] = problem
    assert "Some explorations of these rows in this session are missing" in texts(test.run())


@pytest.mark.slow
def test_a_cap_is_raised_with_a_reason_a_name_and_the_number_once_more(assigned):
    test = open_page("publish", DataRole.PRIVATE)
    key = f"{NAME}-1.0-0.0"
    test.number_input(key=f"publish-cap-of-{key}").set_value(50.0).run()
    for box, typed in (("why", "a second study"), ("who", "the owner"), ("again", 5.0), ("again", 50.0)):
        assert button(test, "Set this cap").disabled
        (test.number_input if box == "again" else test.text_input)(key=f"publish-{box}-{key}").set_value(typed).run()
    button(test, "Set this cap").click().run()
    assert "cap ε = 50 (add/remove one row)" in page_text(test)
    changes = [(it.epsilon_cap, it.made_by, it.reason) for it in assigned.cap_changes(NAME)]
    assert changes == [(1.0, "", ""), (50.0, "the owner", "a second study")]


def few_rows(register):
    """Private rows, assigned, far fewer than declared."""
    register.declare(NAME, epsilon_cap=1.0)
    schema = sample_of(DataRole.PRIVATE)[1].declare(n_public=100_000)
    loaded = in_use(DataRole.PRIVATE, schema)
    register.assign(loaded.data.identity, NAME)
    return loaded


@pytest.mark.slow
def test_private_rows_are_not_told_about_unasked_and_a_refused_release_spends_nothing(register):
    loaded = few_rows(register)
    test = open_page("publish", rows=loaded)
    assert not test.error
    assert register.uncovered_uses() == ()
    test = release_tree(test)
    said = "\n".join(box.value for box in test.error)
    assert "nothing was spent" in said
    assert "Far fewer rows are used" in said
    assert set(re.findall(r"\d[\d,]*", said)) == {"100,000"}
    assert register.releases() == ()
    assert [(item.what, item.times) for item in register.uncovered_uses()] == [(INSPECTION_WARNING, 1)]
    of_others = texts(open_page("publish", rows=loaded, **REGISTER))
    assert "how the rows fit" not in f"{register_json(register)} {register_lines(register)} {of_others}"
    assert test.checkbox(key="publish-agreed").disabled
    assert button(test, "Release").disabled
    test.checkbox(key="publish-accept-rows").check().run()
    assert test.checkbox(key="publish-agreed").value  # what was agreed to before the refusal
    release_tree(test)
    assert len(register.releases()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("source", ["", "yearly report, page 3"])
def test_after_a_refusal_a_corrected_schema_needs_a_source_in_this_and_in_any_session(register, source):
    loaded = few_rows(register)
    draft = release_tree(open_page("publish", rows=loaded)).session_state["prepared"].draft
    assert draft.schema().read_fields() == ()
    corrected = replace(draft, source=source).with_row_count(800).schema()
    assert corrected.read_from_data == (() if source else ("n_public",))
    anew = replace(loaded.schema.declare(n_public=800), source=source)  # from a file, in another session
    again = replace(loaded, schema=anew, data=encode(loaded.table, anew))
    register.assign(again.data.identity, NAME)
    test = open_page("publish", rows=again)
    assert any("names no public source" in box.value for box in test.error) is not bool(source)
    assert bool([box for box in test.button if box.label == "Release"]) is bool(source)
    if source:
        release_tree(test)
        (entry,) = register.releases()
        assert source in Path(entry.file).read_text(encoding="utf-8")


@pytest.mark.slow
def test_before_a_release_every_export_is_tried_and_without_a_report_there_is_no_button(assigned, monkeypatch):
    test = open_page("publish", DataRole.PRIVATE, epsilon="0.2")
    assert "export formats hold it." in page_text(test)

    def refuse(schema):
        raise RefusedRelease("No release of these columns: the report differs.", remedy="Rename it.")

    st.cache_resource.clear()
    monkeypatch.setattr(exports, "proof_of", refuse)
    test = open_page("publish", DataRole.PRIVATE, epsilon="0.2")
    assert "the report differs" in page_text(test)
    assert "Release" not in buttons(test)


@pytest.mark.slow
def test_before_spending_the_page_says_what_to_expect_at_a_base_rate_that_private_rows_do_not_tell():
    test = open_page("publish", DataRole.PRIVATE, epsilon="0.001")
    assert "Say how many of 100 rows are `readmitted`, as known without the data." in texts(test)
    (asked,) = [found for found in test.number_input if found.label == "Of 100 rows, `readmitted`"]
    assert asked.value is None
    said = texts(after_work(asked.set_value(20.0).run(), SLOT))
    for strength in ("little", "something", "much"):
        assert f"If features say {strength}, no better than always 'home' (80% right)." in said.replace("\\", "")


@pytest.mark.slow
def test_a_new_table_is_asked_whose_it_is_and_nothing_is_filled_in(register):
    """What is missing is said; declared in full, the rows are assigned."""
    test = open_page("publish", DataRole.PRIVATE)
    keys = {"name": "publish-new-name", "unit": "publish-unit", "cap": "publish-cap"}
    assert test.text_input(key=keys["name"]).value == ""
    assert test.number_input(key=keys["cap"]).value is None
    assert "Release" not in buttons(test)
    whole = {"name": NAME, "unit": "one patient", "cap": 1.5}
    for missing in ("name", "unit", "cap"):
        typed = whole | {missing: "" if missing in ("name", "unit") else None}
        for name, value in typed.items():
            (test.text_input if name in ("name", "unit") else test.number_input)(key=keys[name]).set_value(value)
        click(test, "Declare it: nobody in it is in another")
        assert test.error
        assert register.data_sets() == ()
    test.number_input(key=keys["cap"]).set_value(1.5)
    click(test, "Declare it: nobody in it is in another")
    assert "cap ε = 1.5 (add/remove one row)" in page_text(test)
    found = register.data_set_of(in_use(DataRole.PRIVATE).data.fingerprint)
    assert (found.name, found.epsilon_cap, found.role) == (NAME, 1.5, DataRole.PRIVATE)
    assert (found.unit, found.rows_per_unit) == ("one patient", 1)


@pytest.mark.slow
def test_private_rows_are_released_once_per_wish_and_never_over_the_cap(assigned):
    test = release_tree(open_page("publish", DataRole.PRIVATE, epsilon="0.5"))
    assert "Released: number 1, ε = 0.5." in page_text(test)
    assert "Left: ε = 0.5 of 1" in page_text(test)
    assert "rows held out at random" in page_text(test)  # its private test, in words
    assert any("`ssh-keygen -Y sign -f KEY -n dpviz-release pf-tree-release-1.json`" in found.value for found in test.caption)
    (view,) = [found for found in test.main.get("bidi_component") if found.key == "released-tree"]
    assert "The released tree of readmitted" in view.proto.json
    (entry,) = assigned.releases()
    assert json.loads(Path(entry.file).read_text())["privacy"]["noise"] == {"source": "release"}
    for _ in range(3):
        test.run()
    assert len(assigned.releases()) == 1
    assert not test.error
    test.toggle(key="publish-forms").set_value(True).run()
    assert len(test.selectbox(key="released-1-form").options) > 5
    assert [label for label in buttons(test) if "Release" in label] == ["Release another one"]
    click(test, "Release another one")
    assert test.checkbox(key="publish-agreed").value is False
    assert button(test, "Release").disabled
    (patient,) = (list(line.values()) for line in records(test, "Right guesses"))
    assert patient == ["One patient, 1 row: right guesses of 100, in or out", at_most(0.5), "at most 74"]
    test = release_tree(test)
    assert [entry.number for entry in assigned.releases()] == [1, 2]
    Path(assigned.releases()[1].file).write_text("something else")
    assert "was changed. It stays spent." in texts(test.run())
    (patient,) = (list(line.values()) for line in records(test, "Right guesses"))
    assert patient[1:] == ["at most 63", "at most 74"], "what its steps tell stands in the file alone"
    click(test, "Release another one")
    assert "Release" not in buttons(test)
    assert "the cap of 1" in page_text(test)


@pytest.mark.slow
def test_a_release_that_ends_while_the_page_is_drawn_is_shown_as_released(assigned, monkeypatch):
    ask, seen = page_state.ask_data_set, []

    def read_too_early(book, loaded):
        balance = ask(book, loaded)
        if job := release_job(st.session_state):
            seen.append(balance.releases)
            job.wait(SOON)
        return balance

    monkeypatch.setattr(page_state, "ask_data_set", read_too_early)
    test = open_page("publish", DataRole.PRIVATE, epsilon="0.5")
    test.checkbox(key="publish-agreed").check().run()
    click(test, "Release")
    assert seen
    assert "Permanently spent by 1 release" in texts(test)
    assert "Interrupted" not in texts(test)


@pytest.mark.parametrize("why", ["a learner without a guarantee", "values read from the data", "interrupted", "no register"])
def test_what_hinders_a_release_is_said_with_what_to_do_and_nothing_is_spent(register, why):
    table, schema = sample_of(DataRole.PRIVATE)
    schema = propose_schema(table, schema.target.name) if why == "values read from the data" else schema
    loaded, learner = in_use(DataRole.PRIVATE, schema), "PF-tree"
    if why == "no register":
        register.path.write_text("dear diary, " * 100)
    else:
        register.declare(NAME, epsilon_cap=1.0, unit="one patient")
        register.assign(loaded.data.fingerprint, NAME)
    if why == "interrupted":
        start(register, epsilon=0.25, name=NAME, fingerprint=loaded.data.fingerprint)
    elif why == "a learner without a guarantee":
        learner = "PrivaTree (corrected)"
    test = open_page("publish", DataRole.PRIVATE, schema=schema, learner=learner)
    words = {
        "interrupted": "Left: ε = 0.75 of 1",
        "no register": "not a release register",
        "values read from the data": "Declare it from public knowledge on the Data page",
        "a learner without a guarantee": "Nothing was spent.",
    }
    assert words[why] in page_text(test)
    assert "Release" not in buttons(test)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "expected"), [("100", "success"), ("0.001", "warning")])
def test_a_released_tree_no_better_than_always_one_class_is_introduced_as_that(register, epsilon, expected):
    data = table(schema_of("numbers", 2).declare(n_public=2000), 2000)
    register.declare("rows", epsilon_cap=1000.0, role=DataRole.SIMULATED)
    register.assign(data.identity, "rows")
    rows = DataInUse(DataRole.SIMULATED, "Numbers", None, RawTable(()), data.schema, data)
    test = release_tree(open_page("publish", rows=rows, epsilon=epsilon))
    ((kind, said),) = [(kind, said) for kind, said in alerts(test) if "Always " in said]
    assert (kind, "the model is no better" in said) == (expected, expected == "warning")


@pytest.mark.slow
def test_rows_released_in_python_are_known_on_the_page_in_another_form_and_their_cap_counts(register):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(0, 1, 200), "y": rng.choice(["a", "b"], 200)})
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=200)
    register.declare(NAME, epsilon_cap=1.0, unit="one patient")
    asked = {"epsilon": 0.6, "add_rows": True, "accept_rows": True}
    dpviz.open_register(register.path).release(NAME, "majority", frame, schema=schema, **asked)
    read, schema = dpviz.read_table(frame[::-1].to_csv(index=False).encode()), schema.declare("x", high=2.0)
    test = open_page("publish", rows=DataInUse(DataRole.PRIVATE, "Mine", None, read, schema, encode(read, schema)), epsilon="0.6")
    assert f"Data set `{NAME}`" in page_text(test)
    assert "ε = 0.4 is left of the cap of 1" in page_text(test)
    assert "Release" not in buttons(test)
