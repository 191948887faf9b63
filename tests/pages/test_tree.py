import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz import model_from_json
from dpviz.app import split_view
from dpviz.app.held_out import HeldOut
from dpviz.app.parts import escape_markdown
from dpviz.app.training import RERUNS as SLOT
from dpviz.charts.budget import split_of, split_sentence
from dpviz.charts.publish.test_result import result_sentences
from dpviz.evaluation.shares import MovableShares
from dpviz.learners import get_learner
from dpviz.results.verdict import ROW
from dpviz.table.role import DataRole
from tests.support.pages import (
    OF_EACH_KIND,
    after_work,
    click,
    in_use,
    opened,
    records,
    refusal,
    said_in_boxes,
    shown,
    texts,
    tree_on_screen,
    unfolded,
    values_in,
    with_few_trees,
)


def box_of(result):
    """A would-be guarantee is information, a violated claim an error, and everything else that is not guaranteed a warning."""
    is_exact = result.releasable
    would = result.claim.is_sound and result.ledger.guarantee.is_finite and is_exact and not result.disclosures
    return "error" if result.claim.verdict == "violated" else "info" if would else "warning"


def views(test):
    """The drawings of trees."""
    return [view for view in test.main.get("bidi_component") if view.key in ("tree-view", "member-view")]


@cache
def drawn(name: str, role: DataRole) -> AppTest:
    """The page of a learner, opened once for all who only look at it."""
    return opened("tree", role, **with_few_trees(name))


@pytest.mark.slow
@pytest.mark.parametrize("role", list(DataRole))
@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_a_learner_of_each_kind_is_drawn_and_looks_no_more_guaranteed_than_it_is(name, role):
    test = drawn(name, role)
    said = texts(test)
    if why := refusal(name, role):
        assert any(escape_markdown(why) in text for kind, text in said_in_boxes(test) if kind == "error")
        return
    trained = tree_on_screen(test)
    result = trained.result
    assert ("Rows here, exactly" in said) <= (role is DataRole.SIMULATED)
    assert bool(test.get("download_button")) == (role is not DataRole.PRIVATE)
    if role is DataRole.PRIVATE:
        shows_nothing_of_the_rows(test)
    if name not in in_use(role).learners:  # predicts something else, or would show private rows as they are
        assert result.learner != name
        return
    assert result.learner == name
    is_drawn = trained.tree is not None or bool(getattr(result.model, "trees", ()))
    assert bool(views(test)) == is_drawn
    assert ("not a single tree" in said) != is_drawn
    would = box_of(result) == "info"
    assert box_of(result) in [kind for kind, _ in said_in_boxes(test)]
    boxes = " ".join(text for _, text in said_in_boxes(test)).replace("\\", "")
    assert ("add/remove one row" in boxes) == result.claim.is_private
    assert ("Would be guaranteed if released: ε" in boxes) == would
    assert ("Not guaranteed, because" in boxes) == (not would)
    assert "Guaranteed: ε" not in boxes  # nothing on this page is released
    assert result.claim.because in shown(test)
    assert escape_markdown(split_sentence(split_of(result))) in said
    (bar,) = [json.loads(view.proto.json) for view in test.main.get("bidi_component") if view.key == "split"]
    movable = MovableShares.of(trained.asked.request, result.schema)
    assert bar["shares"] == ([] if movable is None else pytest.approx([share for share in movable.automatic if share]))
    assert split_view.MAP not in test.session_state["_work"].jobs  # nobody has opened it


def shows_nothing_of_the_rows(test):
    """No count, no accuracy and no seed."""
    said, trained = texts(test), tree_on_screen(test)
    assert not [words for words in ("exactly", "held-out") if words in shown(test)]
    assert not [widget for widget in test.number_input if widget.label == "Seed"]
    assert ("every rerun would spend ε again" in said) == (trained.tree is not None)
    assert trained.held_out is None
    assert trained.result.seed is None
    assert get_learner(trained.result.learner).spends_epsilon
    assert (trained.result.noise == "release") == trained.result.releasable
    noise = json.loads(trained.result.to_json())["privacy"]["noise"]
    assert "seed" not in noise
    assert ("warning" in noise) == (not trained.result.released)
    assert "draw" not in test.query_params


def test_accuracy_stands_beside_what_a_constant_reaches():
    test = after_work(opened("tree"), SLOT)
    (view,) = views(test)
    said, found = json.loads(view.proto.json)["said"], tree_on_screen(test).held_out
    low, high, own = (float(share) for share in re.findall(r"([0-9.]+)%", said["spread"]))
    assert own == round(100 * found.measures["accuracy"], 1)
    assert low <= float(said["lead"].rstrip("%")) <= high
    assert said["tested"] == f"right on {found.n_rows:,} held-out rows, mean of 5 trees"  # tests draw four
    assert said["besides"].startswith(f"AUC {found.measures['auc']:.3f} · finds ")
    assert f">constant {found.measures['majority']:.1%}<" in said["strip"]
    assert found.n_rows == round(0.2 * in_use(DataRole.SIMULATED).data.n_rows)
    assert found.measures["accuracy"] > 0.5


def test_every_measure_is_listed_and_every_class_has_its_error():
    test = drawn("cart", DataRole.SIMULATED)
    listed, confused = (records(test, words) for words in ("Measures on held-out", "Confusion"))
    assert [line["measure"] for line in listed] == ["Accuracy", "Balanced accuracy", "AUC", "Log loss", "Brier score"]
    kept_aside = tree_on_screen(test).held_out
    counts = [[f"{count:,}" for count in row] for row in kept_aside.confused.tolist()]
    assert [[line[name] for name in line if name.startswith("predicted")] for line in confused] == counts


@pytest.mark.slow
def test_the_card_follows_the_chosen_node_falls_back_to_one_that_exists_and_no_tree_of_other_rows_is_shown():
    test = opened("tree", depth="2", tree="Complete")
    for node, words in (("root.L", ": true"), ("root.R.R.R.R", "Leaf: predicts")):
        test.session_state["_selected_node"] = node
        assert words in texts(test.run())
    other = in_use(DataRole.PUBLIC)
    test.session_state["loaded"] = replace(other)
    test.selectbox(key="depth").set_value("1").run()
    assert tree_on_screen(test).result.schema == other.schema.scaled(0.8)


def test_resampling_runs_in_the_background_and_their_count_reaches_the_card():
    test = opened("tree", depth="1", epsilon="10")
    said = texts(after_work(test, SLOT))
    (drawn,) = values_in(test, SLOT)
    assert drawn.n_done == 4
    assert f"in {drawn.coming_back(tree_on_screen(test).tree)['']} of 4 reruns" in said


@pytest.mark.slow
def test_where_a_release_from_all_rows_is_deeper_the_page_says_so():
    for asked, deeper in (({"epsilon": "0.13"}, True), ({"epsilon": "0.13", "depth": "2"}, False), ({"epsilon": "1"}, False)):
        said = "Automatic depth: 1 for these rows; a release, trained on all rows, would have 2."
        assert (said in texts(opened("tree", **asked))) is deeper


@pytest.mark.slow
def test_who_pays_for_the_noise_is_asked_for_and_said_per_group():
    test = opened("tree")
    words = "Error and found share per group"
    assert not any(words in found.proto.body for found in test.get("html"))
    (chosen,) = (box for box in test.selectbox if box.label == "Test by group")
    name = chosen.options[1]
    chosen.select(name).run()
    report = tree_on_screen(test).result.test_report
    assert report.groups == name
    assert [line[name] for line in records(test, words)] == [entry.name for entry in report.by_group]
    assert f"groups='{name}'" in "".join(code.value for code in test.code)


@pytest.mark.parametrize("role", list(DataRole))
def test_the_private_test_result_is_said_in_words(role):
    test = drawn("pf-tree", role)
    assert escape_markdown(result_sentences(tree_on_screen(test).result.test_report, ROW)[0]) in texts(test)


@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_another_draw_is_another_tree_which_the_address_names_only_where_rows_may_be_read(role):
    test = opened("tree", role, epsilon="0.01")
    first = tree_on_screen(test).result
    assert tree_on_screen(test.run()).result is first
    second = tree_on_screen(click(test, "New noise")).result
    assert second.model != first.model
    if role is DataRole.PRIVATE:
        assert "draw" not in test.query_params
        return
    assert second.seed == first.seed + 1
    assert test.query_params["draw"] in (str(second.seed), [str(second.seed)])
    data = in_use(role).data
    assert (model_from_json(second.to_json()).predict(data) == second.model.predict(data)).all()


@pytest.mark.slow
def test_a_missing_row_count_is_explained_and_the_last_tree_stays_if_there_is_one():
    schema = replace(in_use(DataRole.SIMULATED).schema, n_public=None)
    for depth in ("2", "auto"):
        test = opened("tree", schema=schema, depth=depth)
        good = tree_on_screen(test) if depth == "2" else None
        test.selectbox(key="depth").set_value("auto").run()
        ((_, problem),) = [(kind, text) for kind, text in said_in_boxes(test) if kind == "error"]
        assert "public row count" in problem
        assert "What to do" in problem
        assert ("still the one for the settings before" in problem) == bool(good)
        assert len(views(test)) == bool(good)
        assert good is None or tree_on_screen(test) is good


@pytest.mark.slow
def test_a_forest_shows_its_trees_one_by_one_under_a_line_that_says_how_it_does():
    test = opened("tree", **with_few_trees("pf-forest"))
    trained = tree_on_screen(test)
    assert f"{trained.held_out.measures['accuracy']:.1%}" in shown(test)
    assert f"always the most frequent class: {trained.held_out.measures['majority']:.1%}" in shown(test)
    first = views(test)[0].proto.json
    assert views(test.number_input(key="member").set_value(2).run())[0].proto.json != first


def test_accuracy_never_leads_where_a_class_is_rare():
    known = {"accuracy": 0.97, "balanced_accuracy": 0.5, "auc": 0.61, "majority": 0.97}
    between = {name: (value - 0.01, value + 0.01) for name, value in known.items()}
    found = HeldOut(known, between, np.diag([97, 3]))
    test = unfolded(AppTest.from_function(_measured))
    test.session_state["found"] = found
    listed = records(test.run(), "Measures on held-out rows")
    assert [line["measure"] for line in listed] == ["Balanced accuracy", "Accuracy", "AUC"]


def _measured():
    import streamlit as st

    from dpviz.app.held_out import measured_screen
    from tests.support.tables import schema_of

    measured_screen(st.session_state["found"], schema_of())
