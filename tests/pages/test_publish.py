"""The Publish page: whose cap counts, what is taken as public, the release, and what became of it."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpviz import model_from_json
from dpviz.app.plan.expected import SLOT
from dpviz.app.publish import data as publish_data
from dpviz.app.publish import release as publish_release
from dpviz.errors import RefusedRelease
from dpviz.learners import fit
from dpviz.release import sidecar
from dpviz.release.export import register_json, register_lines
from dpviz.release.records import WARNED
from dpviz.release.register import ReleaseRegister
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.pages import after_work, button, in_use, opened, records, released, said_in_boxes, sample_of, shown, texts
from tests.support.tables import schema_of, table

NAME = "clinic 2024"


@pytest.fixture(autouse=True)
def register(monkeypatch, tmp_path):
    """A register of its own for every test."""
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    return ReleaseRegister()


@pytest.fixture
def assigned(register):
    """The private clinic's rows under a cap of 1."""
    register.declare(NAME, epsilon_cap=1.0, unit="one patient", rows_per_unit=2)
    register.assign(in_use(DataRole.PRIVATE).data.fingerprint, NAME)
    return register


def at_most(epsilon, rows):
    """Right guesses of 100 by one release of the clinic's rows: fewer than any algorithm with this epsilon may allow."""
    guesses = fit("pf-tree", in_use(DataRole.PRIVATE).data, epsilon=epsilon, max_depth=4, seed=1).risk.for_rows(rows).guesses()
    assert 0.5 < guesses < 1 / (1 + math.exp(-epsilon * rows)) - 0.01
    return f"at most {math.ceil(100 * guesses)}"


def test_a_new_table_is_asked_whose_it_is_before_anything_else():
    test = opened("publish", DataRole.PRIVATE)
    assert "A budget belongs to people, not to a file" in texts(test)
    assert test.text_input(key="publish-new-name").value == ""
    assert test.number_input(key="publish-cap").value is None
    assert "Release" not in [found.label for found in test.button]


@pytest.mark.slow
def test_declaring_a_data_set_assigns_the_rows(register):
    test = opened("publish", DataRole.PRIVATE)
    test.text_input(key="publish-new-name").set_value(NAME)
    test.text_input(key="publish-unit").set_value("one patient")
    test.number_input(key="publish-rows").set_value(3)
    test.number_input(key="publish-cap").set_value(1.5)
    button(test, "Declare it: nobody in it is in another").click().run()
    assert "cap ε = 4.5 (add/remove one patient, up to 3 rows; one row: ε = 1.5)" in shown(test)
    found = register.data_set_of(in_use(DataRole.PRIVATE).data.fingerprint)
    assert (found.name, found.epsilon_cap, found.role) == (NAME, 1.5, DataRole.PRIVATE)
    assert (found.unit, found.rows_per_unit) == ("one patient", 3)


def said(test):
    """Everything, captions too, as it is read."""
    return texts(test).replace("\\", "").replace("\u2060", "")


@pytest.mark.parametrize(
    ("name", "unit", "rows", "cap", "reason"),
    [
        ("", "one patient", 1, 1.0, "must be one line"),
        (NAME, "", 1, 1.0, "There is nobody it protects"),
        (NAME, "one patient", None, 1.0, "There is no number of rows"),
        (NAME, "one patient", 1, None, "There is no cap"),
    ],
)
def test_nothing_is_filled_in_and_what_is_missing_is_said(register, name, unit, rows, cap, reason):
    test = opened("publish", DataRole.PRIVATE)
    test.text_input(key="publish-new-name").set_value(name)
    test.text_input(key="publish-unit").set_value(unit)
    test.number_input(key="publish-rows").set_value(rows)
    test.number_input(key="publish-cap").set_value(cap)
    button(test, "Declare it: nobody in it is in another").click().run()
    assert reason in texts(test).replace("\\", "").replace("\u2060", "")
    assert register.data_sets() == ()


@pytest.mark.slow
def test_an_unseen_table_is_never_guessed_to_be_new(assigned):
    _, schema = sample_of(DataRole.PRIVATE)
    test = opened("publish", DataRole.PRIVATE, schema=schema.declare("age", low=0, high=120))
    assert test.radio(key="publish-kind").value is None
    test.radio(key="publish-kind").set_value("a data set named before").run()
    test.selectbox(key="publish-name").set_value(NAME).run()
    button(test, "Add them permanently").click().run()
    assert "cap ε = 2 (add/remove one patient, up to 2 rows; one row: ε = 1)" in shown(test)


def assign_in_use(register) -> None:
    data = in_use(DataRole.PRIVATE).data
    register.assign(data.identity, NAME, sums=data.table_sums)


@pytest.mark.slow
def test_the_same_table_under_another_schema_is_known(register):
    _, schema = sample_of(DataRole.PRIVATE)
    register.declare(NAME, epsilon_cap=1.0)
    assign_in_use(register)
    test = opened("publish", DataRole.PRIVATE, schema=schema.declare("age", low=0, high=121))
    assert "cap ε = 1 (add/remove one row)" in shown(test)
    assert not test.radio
    assert register.data_set_of(test.session_state["loaded"].data.identity).name == NAME


def test_an_old_copy_of_a_register_is_an_error_where_the_page_would_write_to_it(register):
    _, schema = sample_of(DataRole.PRIVATE)
    register.declare(NAME, epsilon_cap=1.0)
    assign_in_use(register)
    sidecar.keep_counter(register.path, 10**6)
    test = opened("publish", DataRole.PRIVATE, schema=schema.declare("age", low=0, high=122))
    assert not test.exception
    assert "is an old copy" in texts(test)
    assert "Release" not in [found.label for found in test.button]


def test_rows_with_the_columns_of_a_known_data_set_are_new_only_when_somebody_says_so(register):
    register.declare(NAME, epsilon_cap=1.0)
    table, schema = sample_of(DataRole.PRIVATE)
    register.assign("another year", NAME, columns=table.names)
    test = opened("publish", DataRole.PRIVATE, schema=schema.declare("age", low=0, high=120))
    test.radio(key="publish-kind").set_value("a new data set: nobody in it is in any other").run()
    assert f"These rows look like those of `{NAME}`" in texts(test)
    assert "publish-new-name" not in test.session_state
    test.checkbox(key="publish-others").check().run()
    assert test.text_input(key="publish-new-name").value == ""


@pytest.mark.slow
def test_private_rows_are_released_once_and_shown_with_their_file(assigned):
    test = released(opened("publish", DataRole.PRIVATE, epsilon="0.5"))
    assert "Released: number 1, ε = 1 (one row: ε = 0.5)" in shown(test)
    assert "Left: ε = 1 of 2 (one row: 0.5 of 1)" in shown(test)
    (entry,) = assigned.releases()
    document = json.loads(Path(entry.file).read_text())
    assert document["privacy"]["noise"] == {"source": "release"}
    for _ in range(3):
        test.run()
    assert len(assigned.releases()) == 1
    assert not test.error
    button(test, "Release another one").click().run()
    assert test.checkbox(key="publish-agreed").value is False


@pytest.mark.slow
def test_a_release_that_ends_while_the_page_is_drawn_is_shown_as_released(assigned, monkeypatch):
    import streamlit as st

    ask, seen = publish_data.ask_data_set, []

    def read_too_early(book, loaded):
        balance = ask(book, loaded)
        job = st.session_state["_work"].jobs.get(publish_release.SLOT, (None,))[0] if "_work" in st.session_state else None
        if job is not None:
            seen.append(balance.releases)
            job.wait(60)
        return balance

    monkeypatch.setattr(publish_data, "ask_data_set", read_too_early)
    test = opened("publish", DataRole.PRIVATE, epsilon="0.5")
    test.checkbox(key="publish-agreed").check().run()
    button(test, "Release").click().run()
    assert seen
    said = texts(test)
    assert "Released: number" in said
    assert "Permanently spent by 1 release" in said
    assert "Interrupted" not in said
    assert [found for found in test.get("download_button") if found.proto.label == "Download release (JSON)"]
    assert any("`ssh-keygen -Y sign -f KEY -n dpviz-release pf-tree-release-1.json`" in found.value for found in test.caption)


@pytest.mark.slow
def test_after_a_release_the_next_one_must_be_wished_for_anew(assigned):
    test = released(opened("publish", DataRole.PRIVATE, epsilon="0.1"))
    assert [found.label for found in test.button if "Release" in found.label] == ["Release another one"]
    button(test, "Release another one").click().run()
    assert button(test, "Release").disabled
    assert "Tick the box first." in texts(test)
    test = released(test)
    assert [entry.number for entry in assigned.releases()] == [1, 2]


@pytest.mark.slow
def test_over_the_cap_there_is_no_button_and_the_page_says_what_is_left(assigned):
    test = released(opened("publish", DataRole.PRIVATE, epsilon="0.8"))
    assert not test.error  # after a release only its success is said
    (view,) = [found for found in test.main.get("bidi_component") if found.key == "released-tree"]
    assert "The released tree of readmitted" in view.proto.json
    assert "is right for" in texts(test)
    assert not any("over the cap" in chart.proto.spec for chart in test.get("plotly_chart"))
    (promised, _) = records(test, "Right guesses")
    assert promised["by this release alone"] == promised["by all releases together"] == at_most(0.8, rows=2)
    button(test, "Release another one").click().run()
    assert "epsilon = 0.4 is left of the cap of 2" in shown(test)
    assert "Release" not in [found.label for found in test.button]
    assert len(assigned.releases()) == 1


def released_file(text):
    from dpviz.app.publish.released import released_tree
    from dpviz.results.verdict import ROW

    released_tree(text, ROW, key="released-tree")


@pytest.mark.parametrize(("epsilon", "expected"), [(1e4, "success"), (1e-3, "warning")])
def test_a_released_tree_no_better_than_always_one_class_is_introduced_as_that(epsilon, expected):
    text = fit("pf-tree", table(schema_of("numbers", 2), 2000), epsilon=epsilon, depth=1, seed=1).to_json()
    ((kind, said),) = said_in_boxes(AppTest.from_function(released_file, kwargs={"text": text}, default_timeout=60).run())
    assert "Always " in said
    assert (kind, "the model is no better" in said) == (expected, expected == "warning")


def test_a_learner_without_a_guarantee_cannot_be_released(assigned):
    test = opened("publish", DataRole.PRIVATE, learner="PrivaTree (corrected)")
    said = texts(test).replace("\\", "").replace("\u2060", "")
    assert "Nothing was spent." in said
    assert "Release" not in [found.label for found in test.button]


@pytest.mark.slow
def test_statements_are_shown_for_this_release_and_for_all_together(assigned):
    test = released(opened("publish", DataRole.PRIVATE, epsilon="0.5"))
    button(test, "Release another one").click().run()
    lines = {who: (alone, together) for who, alone, together in map(dict.values, records(test, "Right guesses"))}
    assert list(lines) == [
        "One patient, up to 2 rows: right guesses of 100, in or out",
        "One row: right guesses of 100, in or out",
    ]
    assert list(lines.values()) == [(at_most(0.5, rows=2), "at most 89"), (at_most(0.5, rows=1), "at most 74")]


@pytest.mark.slow
def test_looks_at_private_rows_are_noted_and_told_apart_from_releases(assigned):
    opened("tree", DataRole.PRIVATE)
    opened("budget", DataRole.PRIVATE, epsilon="0.5")
    test = opened("publish", DataRole.PRIVATE)
    said = texts(test).replace("\\", "")
    assert "settings were chosen after 2 looks at these rows" in said
    assert [item.label for item in test.expander if "not covered: keep to yourself" in item.label]
    assert assigned.balance(NAME).spent.epsilon == 0


def test_a_look_that_could_not_be_noted_is_said(assigned, monkeypatch):
    path = assigned.path
    with monkeypatch.context() as broken:
        broken.setenv("DPVIZ_REGISTER", str(path.parent / "releases.db" / "below a file"))
        test = opened("tree", DataRole.PRIVATE)
        assert not test.exception
    again = opened("publish", DataRole.PRIVATE)
    again.session_state["_exploration_problem"] = test.session_state["_exploration_problem"]
    again.run()
    assert "Some explorations of these rows in this session are missing" in texts(again)


@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PUBLIC])
@pytest.mark.slow
def test_looking_at_rows_anyone_may_see_is_not_noted(register, role):
    opened("tree", role)
    assert register.explorations() == ()
    assert ("simulated" if role is DataRole.SIMULATED else "public") in texts(opened("publish", role))


def test_values_read_from_the_data_block_the_release_and_name_the_fix(register):
    from dpviz.table.proposal import propose_schema

    table, schema = sample_of(DataRole.PRIVATE)
    read = propose_schema(table, schema.target.name)
    loaded = in_use(DataRole.PRIVATE, read)
    register.declare(NAME, epsilon_cap=1.0)
    register.assign(loaded.data.fingerprint, NAME)
    test = opened("publish", DataRole.PRIVATE, schema=read)
    said = texts(test)
    assert "read from the data" in said
    assert "Declare it from public knowledge on the Data page" in said.replace("\\", "")
    assert "Release" not in [found.label for found in test.button]


def test_an_interrupted_release_is_shown_as_counted(assigned):
    from dpviz.accounting.guarantee import PrivacyLoss

    fingerprint = in_use(DataRole.PRIVATE).data.fingerprint
    how = {"learner": "pf-tree", "settings": {}, "loss": PrivacyLoss(0.25), "file": Path("/nowhere/x.json")}
    assigned.start(token="t", fingerprint=fingerprint, **how)
    test = opened("publish", DataRole.PRIVATE)
    assert "Interrupted, or still under way: there is no file" in texts(test)
    assert "Left: ε = 1.5 of 2 (one row: 0.75 of 1)" in shown(test)


def test_a_register_that_cannot_be_used_is_an_error_and_nothing_is_released(register):
    register.path.write_text("dear diary, " * 100)
    test = opened("publish", DataRole.PRIVATE)
    assert ("error", True) in [(kind, "not a release register" in text) for kind, text in said_in_boxes(test)]
    assert not [found for found in test.button if found.label == "Release"]


@pytest.mark.slow
def test_a_released_file_can_be_taken_away_in_other_forms(assigned):
    test = released(opened("publish", DataRole.PRIVATE, epsilon="0.5"))
    test.toggle(key="publish-forms").set_value(True).run()
    forms = test.selectbox(key="released-1-form")
    assert len(forms.options) > 5
    assert not test.error


@pytest.mark.slow
@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_the_test_result_of_a_release_stands_beside_the_rows_only_where_they_are_not_private(register, role):
    register.declare("rows", epsilon_cap=1.0, role=role)
    register.assign(in_use(role).data.fingerprint, "rows")
    test = released(opened("publish", role, epsilon="0.5"))
    assert "rows held out at random" in texts(test)
    is_beside = any("private test result" in found.proto.body for found in test.get("html"))
    assert is_beside == (role is DataRole.SIMULATED)
    if is_beside:
        entry = register.balance("rows").releases[0]
        model = model_from_json(Path(entry.file).read_text("utf-8"))
        data = in_use(role).data
        exact = f"{(model.predict(data) == data.target).mean():.1%} ("
        (accuracy,) = [line for line in records(test, "Measures by the private test") if line["measure"] == "Accuracy"]
        assert accuracy["all rows in use"].startswith(exact)


@pytest.mark.slow
def test_a_released_file_that_was_changed_is_not_handed_out(assigned):
    test = released(opened("publish", DataRole.PRIVATE, epsilon="0.5"))
    Path(assigned.releases()[0].file).write_text("something else")
    test.run()
    assert "was changed. It stays spent." in texts(test)
    assert "publish-forms" not in test.session_state


@pytest.mark.slow
def test_a_cap_is_raised_with_a_reason_a_name_and_the_number_once_more(assigned):
    test = opened("publish", DataRole.PRIVATE)
    key = f"{NAME}-1.0-0.0"
    test.number_input(key=f"publish-cap-of-{key}").set_value(50.0).run()
    assert button(test, "Set this cap").disabled
    for box, text in (("why", "a second study"), ("who", "the owner"), ("again", "5")):
        test.text_input(key=f"publish-{box}-{key}").set_value(text).run()
        assert button(test, "Set this cap").disabled
    test.text_input(key=f"publish-again-{key}").set_value("50").run()
    button(test, "Set this cap").click().run()
    assert "cap ε = 100 (add/remove one patient, up to 2 rows; one row: ε = 50)" in shown(test)
    changes = [(it.epsilon_cap, it.made_by, it.reason) for it in assigned.cap_changes(NAME)]
    assert changes == [(1.0, "", ""), (50.0, "the owner", "a second study")]


def test_a_cap_is_lowered_without_further_ado(assigned):
    test = opened("publish", DataRole.PRIVATE)
    test.number_input(key=f"publish-cap-of-{NAME}-1.0-0.0").set_value(0.5).run()
    button(test, "Set this cap").click().run()
    assert "cap ε = 1 (add/remove one patient, up to 2 rows; one row: ε = 0.5)" in shown(test)


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
    test = opened("publish", rows=loaded)
    assert not test.error
    assert register.explorations() == ()
    test = released(test)
    said = "\n".join(box.value for box in test.error)
    assert "nothing was spent" in said
    assert "Far fewer rows are used" in said
    assert set(re.findall(r"\d[\d,]*", said)) == {"100,000"}
    assert register.releases() == ()
    assert [(item.what, item.times) for item in register.explorations()] == [(WARNED, 1)]
    assert "how the rows fit" not in f"{register_json(register)} {register_lines(register)} {texts(opened('register'))}"
    assert test.checkbox(key="publish-agreed").disabled
    test.checkbox(key="publish-accept-rows").check().run()
    released(test)
    assert len(register.releases()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("source", ["", "yearly report, page 3"])
def test_after_a_refusal_a_corrected_schema_needs_a_source_in_this_and_in_any_session(register, source):
    loaded = few_rows(register)
    draft = released(opened("publish", rows=loaded)).session_state["prepared"].draft
    assert draft.schema().read_fields() == ()
    corrected = replace(draft, source=source).with_row_count(800).schema()
    assert corrected.read_from_data == (() if source else ("n_public",))
    anew = replace(loaded.schema.declare(n_public=800), source=source)  # from a file, in another session
    again = replace(loaded, schema=anew, data=encode(loaded.table, anew))
    register.assign(again.data.identity, NAME)
    test = opened("publish", rows=again)
    assert any("names no public source" in box.value for box in test.error) is not bool(source)
    assert bool([box for box in test.button if box.label == "Release"]) is bool(source)
    if source:
        released(test)
        (entry,) = register.releases()
        assert source in Path(entry.file).read_text(encoding="utf-8")


def test_where_nothing_is_said_about_the_rows_nothing_is_a_look(assigned):
    opened("publish", DataRole.PRIVATE)
    assert assigned.explorations() == ()


def test_before_a_release_every_export_is_tried_and_without_a_report_there_is_no_button(assigned, monkeypatch):
    test = opened("publish", DataRole.PRIVATE, epsilon="0.2")
    assert "export formats hold it." in shown(test)

    def refuse(key, schema):
        raise RefusedRelease("No release of these columns: the report differs.", remedy="Rename it.")

    monkeypatch.setattr(publish_release, "_proof", refuse)
    test = opened("publish", DataRole.PRIVATE, epsilon="0.2")
    assert "the report differs" in shown(test)
    assert "Release" not in [found.label for found in test.button]


@pytest.mark.slow
def test_before_spending_the_page_says_what_to_expect_at_a_base_rate_that_private_rows_do_not_tell():
    test = opened("publish", DataRole.PRIVATE, epsilon="0.001")
    assert "Say how many of 100 rows are `readmitted`, as known without the data." in texts(test)
    (asked,) = [found for found in test.number_input if found.label == "Of 100 rows, `readmitted`"]
    assert asked.value is None
    said = texts(after_work(asked.set_value(20.0).run(), SLOT))
    for strength in ("little", "something", "much"):
        assert f"If features say {strength}, no better than always 'home' (80% right)." in said.replace("\\", "")
