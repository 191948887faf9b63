"""The Tree page: a learner of each kind, its node, one person, two trees, other epsilons, and where epsilon goes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from html import escape
from threading import Event, current_thread
from typing import Any

import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz import model_from_json
from dpviz.app import background, split_view, training
from dpviz.app.background import Job, Result, Status
from dpviz.app.held_out import TEST_SHARE
from dpviz.app.parts import escape_markdown
from dpviz.app.person import answer_sentence, leaf_reached
from dpviz.app.training import PATH, RERUNS
from dpviz.app.tree_view import SELECTED
from dpviz.charts.budget import split_of, split_sentence
from dpviz.charts.publish.test_result import result_sentences
from dpviz.charts.tree.text import node_in_words
from dpviz.charts.wording import percent
from dpviz.evaluation import paths
from dpviz.evaluation.resampling import Resamples
from dpviz.evaluation.shares import MovableShares
from dpviz.learners import FitRequest, get_learner
from dpviz.models.tree import Branch
from dpviz.results.verdict import ROW
from dpviz.table.role import DataRole
from tests.support.pages import (
    OF_EACH_KIND,
    SHARES,
    after_work,
    alerts,
    buttons,
    click,
    in_use,
    job_of,
    open_page,
    page_text,
    records,
    refusal,
    steps_of,
    texts,
    tree_on_screen,
    values_in,
    with_boxes_open,
    with_few_trees,
)
from tests.support.paths import SOON


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
    return open_page("tree", role, **with_few_trees(name))


@pytest.mark.slow
@pytest.mark.parametrize("role", list(DataRole))
@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_a_learner_of_each_kind_is_drawn_and_looks_no_more_guaranteed_than_it_is(name, role):
    test = drawn(name, role)
    said = texts(test)
    if why := refusal(name, role):
        assert any(escape_markdown(why) in text for kind, text in alerts(test) if kind == "error")
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
    assert name != "pf-tree" or escape_markdown(result_sentences(result.test_report, ROW)[0]) in said
    is_drawn = trained.tree is not None or bool(getattr(result.model, "trees", ()))
    assert bool(views(test)) == is_drawn
    assert ("not a single tree" in said) != is_drawn
    would = box_of(result) == "info"
    assert box_of(result) in [kind for kind, _ in alerts(test)]
    boxes = " ".join(text for _, text in alerts(test)).replace("\\", "")
    assert ("add/remove one row" in boxes) == result.claim.is_private
    assert ("Would be guaranteed if released: ε" in boxes) == would
    assert ("Not guaranteed, because" in boxes) == (not would)
    assert "Guaranteed: ε" not in boxes  # nothing on this page is released
    assert result.claim.because in page_text(test)
    assert escape_markdown(split_sentence(split_of(result))) in said
    (bar,) = [json.loads(view.proto.json) for view in test.main.get("bidi_component") if view.key == "split"]
    movable = MovableShares.of(trained.settings.request, result.schema)
    assert bar["shares"] == ([] if movable is None else pytest.approx([share for share in movable.automatic if share]))
    assert split_view.MAP not in test.session_state["_work"].jobs  # nobody has opened it


def shows_nothing_of_the_rows(test):
    """No count, no accuracy and no seed."""
    said, trained = texts(test), tree_on_screen(test)
    of_released_counts = "“40% of its held-out rows”"  # the legend quotes what leaves say of their own noisy counts
    assert not [words for words in ("exactly", "held-out") if words in page_text(test).replace(of_released_counts, "")]
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


@pytest.mark.slow
def test_accuracy_and_questions_are_told_with_their_reruns_beside_what_a_constant_reaches():
    test = after_work(open_page("tree"), RERUNS)
    (view,) = views(test)
    said, found = json.loads(view.proto.json)["said"], tree_on_screen(test).held_out
    low, high, own = (float(share) for share in re.findall(r"([0-9.]+)%", said["spread"]))
    assert own == round(100 * found.measures["accuracy"], 1)
    assert low <= float(said["lead"].rstrip("%")) <= high
    assert said["tested"] == f"right on {found.n_rows:,} held-out rows, mean of 5 trees"  # tests draw four
    rows = found.confusion.sum(axis=1)
    rarest = rows.argmin()
    of_100, name = 100 * found.confusion[rarest, rarest] / rows[rarest], in_use(DataRole.SIMULATED).schema.classes[rarest]
    assert said["besides"] == f"AUC {found.measures['auc']:.3f} · finds {of_100:.0f} of 100 {name}"
    assert f">constant {found.measures['majority']:.1%}<" in said["strip"]
    assert found.n_rows == round(0.2 * in_use(DataRole.SIMULATED).data.n_rows)
    assert found.measures["accuracy"] > 0.5
    (drawn,) = values_in(test, RERUNS)
    assert drawn.n_done == 4
    assert f"in {drawn.split_recurrence(tree_on_screen(test).tree)['']} of 4 reruns" in texts(test)


@pytest.mark.slow
def test_every_measure_is_listed_and_every_class_has_its_error():
    test = drawn("cart", DataRole.SIMULATED)
    listed, confused = (records(test, words) for words in ("Measures on held-out", "Confusion"))
    assert [line["measure"] for line in listed] == ["Accuracy", "Balanced accuracy", "AUC", "Log loss", "Brier score"]
    kept_aside = tree_on_screen(test).held_out
    counts = [[f"{count:,}" for count in row] for row in kept_aside.confusion.tolist()]
    assert [[line[name] for name in line if name.startswith("predicted")] for line in confused] == counts
    for code, (line, row) in enumerate(zip(confused, kept_aside.confusion.tolist(), strict=True)):
        wrong = sum(row) - row[code]
        ends = stats.binomtest(wrong, sum(row)).proportion_ci(0.95, "wilson")
        assert line["error"] == f"{percent(wrong / sum(row))} ({percent(ends.low)} to {percent(ends.high)})"


@pytest.mark.slow
def test_the_card_follows_the_chosen_node_falls_back_to_one_that_exists_and_no_tree_of_other_rows_is_shown():
    test = open_page("tree", depth="2", tree="Complete")
    for node, words in (("root.L", ": true"), ("root.R.R.R.R", "Leaf: predicts")):
        test.session_state["_selected_node"] = node
        assert words in texts(test.run())
    other = in_use(DataRole.PUBLIC)
    test.session_state["loaded"] = replace(other)
    test.selectbox(key="depth").set_value("1").run()
    assert tree_on_screen(test).result.schema == other.schema.scaled(0.8)


@pytest.mark.slow
def test_where_a_release_from_all_rows_is_deeper_the_page_says_so():
    for asked, deeper in (({"epsilon": "0.13"}, True), ({"epsilon": "0.13", "depth": "2"}, False), ({"epsilon": "1"}, False)):
        said = "Automatic depth: 1 for these rows; a release, trained on all rows, would have 2."
        assert (said in texts(open_page("tree", **asked))) is deeper


@pytest.mark.slow
def test_who_pays_for_the_noise_is_asked_for_and_said_per_group():
    test = open_page("tree")
    words = "Error and found share per group"
    assert not any(words in found.proto.body for found in test.get("html"))
    (chosen,) = (box for box in test.selectbox if box.label == "Test by group")
    name = chosen.options[1]
    chosen.select(name).run()
    report = tree_on_screen(test).result.test_report
    assert report.groups == name
    assert [line[name] for line in records(test, words)] == [entry.name for entry in report.by_group]
    assert f"groups='{name}'" in "".join(code.value for code in test.code)


@pytest.mark.slow
@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_another_draw_is_another_tree_which_the_address_names_only_where_rows_may_be_read(role):
    test = open_page("tree", role, epsilon="0.01")
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
@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_a_missing_row_count_is_explained_and_the_last_tree_stays_if_there_is_one(role):
    schema = replace(in_use(role).schema, n_public=None)
    for depth in ("2", "auto"):
        test = open_page("tree", role, schema=schema, depth=depth)
        good = tree_on_screen(test) if depth == "2" else None
        test.selectbox(key="depth").set_value("auto").run()
        ((_, problem),) = [(kind, text) for kind, text in alerts(test) if kind == "error"]
        assert "public row count" in problem
        assert "What to do" in problem
        assert ("What is shown is the answer before." in problem) == bool(good)
        assert len(views(test)) == bool(good)
        assert good is None or tree_on_screen(test) is good


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pf-forest", "s-gbdt"])
def test_a_model_of_many_trees_shows_them_one_by_one_under_a_line_that_says_how_it_does(name):
    test = open_page("tree", **with_few_trees(name))
    trained = tree_on_screen(test)
    assert f"{trained.held_out.measures['accuracy']:.1%}" in page_text(test)
    assert f"always the most frequent class: {trained.held_out.measures['majority']:.1%}" in page_text(test)
    first = views(test)[0].proto.json
    assert views(test.number_input(key="member").set_value(2).run())[0].proto.json != first


# --- try one person: the answer is the model's, its path lights up, and nothing typed leaves the session.


@pytest.mark.slow
def test_the_first_person_is_answered_at_once_and_a_change_lights_the_path_up():
    test = open_page("tree", DataRole.PRIVATE, depth="3")
    tree = tree_on_screen(test).tree
    others = {f.name: f.low if hasattr(f, "low") else f.categories[0] for f in tree.schema.features}
    asked = {tree.schema.feature_names[placed.node.rule.feature] for placed in tree.nodes() if isinstance(placed.node, Branch)}

    def cells():
        return others | {name: test.session_state[f"person {name}"] for name in asked}

    assert answer_sentence(tree, cells()) in page_text(test)
    number = next(box for box in test.number_input if str(box.key).startswith("person "))
    number.set_value(number.value + 1).run()
    assert test.session_state[SELECTED] == ".".join(("root", *leaf_reached(tree, cells())))
    assert answer_sentence(tree, cells()) in page_text(test)
    assert not [name for name in test.query_params if "person" in name]


def form(is_date):
    import streamlit as st

    from dpviz.app.person import person_screen
    from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
    from dpviz.table.dates import DateFeature
    from dpviz.table.schema import ClassTarget, NumericFeature, Schema

    age, seen = NumericFeature("age", 0, 90, missing_as=10), DateFeature("seen", 2000, 2030, order="dmy")
    schema = Schema((seen if is_date else age, NumericFeature("dose", 0, 1)), ClassTarget("outcome", ("well", "ill")))
    inner = Leaf(1) if is_date else Branch(ThresholdRule(1, 0.9), Leaf(1), Leaf(0))
    tree = Tree(schema, Branch(ThresholdRule(0, 2020 if is_date else 20), Leaf(0), inner))
    kept = st.session_state.setdefault("tree", tree)
    person_screen(kept, kept)


@pytest.mark.parametrize("is_date", [True, False])
def test_a_date_is_asked_for_as_it_is_written_and_a_missing_value_where_the_schema_has_a_rule_for_it(is_date):
    test = with_boxes_open(AppTest.from_function(form, args=(is_date,))).run()
    assert [box.value for box in test.text_input] == ["01.03.2024"] * is_date
    assert [box.label for box in test.checkbox] == ["age is missing"] * (not is_date)
    assert f"Predicted outcome: {'ill' if is_date else 'well'}" in page_text(test)
    for missing in test.checkbox:
        test.number_input[0].set_value(50).run()
        assert "Predicted outcome: ill" in page_text(test)
        missing.check().run()
        assert "Predicted outcome: well" in page_text(test)


# --- two trees at once: what is pinned, what stands beside it, and that neither costs anything.


def at(test: AppTest, epsilon: float) -> AppTest:
    test.session_state["epsilon"] = epsilon
    texts(test.run())
    return test


def names(drawn: AppTest | str) -> list[str]:
    """What the trees in a drawing, by default that of the page, are called; one name for a tree alone."""
    if isinstance(drawn, AppTest):
        (view,) = [found for found in drawn.get("bidi_component") if found.key == "tree-view"]
        drawn = json.loads(view.proto.json)["wide"]
    return [part.split('"')[1] for part in drawn.split(' role="tree" aria-label=')[1:]]


@pytest.fixture
def looks(monkeypatch) -> list[float]:
    """The epsilon of every fit of a tree on screen, in order."""
    found: list[float] = []

    def noted(fit):
        return lambda asked, *args, **how: found.append(asked.request.settings.epsilon) or fit(asked, *args, **how)

    for name in ("_tree", "_private_tree"):
        monkeypatch.setattr(training, name, noted(getattr(training, name)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_the_next_tree_stands_beside_a_pinned_one_until_it_is_unpinned(looks, monkeypatch, role):
    noted: list[str] = []
    monkeypatch.setattr(training, "note", lambda loaded, what, *more: noted.append(what))
    test = at(click(open_page("tree", role, depth="2", epsilon="2"), "Pin this tree"), 0.5)
    seed = "" if role is DataRole.PRIVATE else ", seed 1"
    first = [f"Pinned: PF-tree, ε = 2, depth 2{seed}", f"Now: PF-tree, ε = 0.5, depth 2{seed}"]
    assert names(test) == first
    lines = records(test, "Both trees in numbers")
    for line in lines:
        cells = (line[name].replace("−", "-").split()[0].rstrip("%") for name in ("Pinned", "Now", "Difference"))
        before, now, gap = map(float, cells)
        assert gap == pytest.approx(now - before, abs=0.11 if "%" in line["Now"] else 0.0011), line
    table = str(lines)
    assert "−1.5" in table
    if role is DataRole.PRIVATE:
        assert "ccuracy" not in table
        assert "held\\-out" not in texts(test)
        assert not {training.RERUNS, PATH} & {*test.session_state["_work"].jobs}
    else:
        assert f"{tree_on_screen(test).held_out.measures['accuracy']:.1%}" in table
    click(click(test, "Unpin"), "Pin this tree")
    assert looks == [2.0, 0.5]
    assert len(noted) == 2 * (role is DataRole.PRIVATE)
    test.session_state["loaded"] = replace(in_use(DataRole.PUBLIC))
    assert len(names(test.run())) == 1  # a pinned tree of other rows is gone


# --- the tree again: with fresh noise, at every epsilon it is dragged through; nothing a hand may be on moves meanwhile.


@pytest.mark.slow
def test_every_state_drawn_is_the_tree_of_its_epsilon_node_by_node_and_the_one_on_screen_is_among_them():
    test = after_work(open_page("tree", tree="Complete", depth="2", epsilon="0.37"), PATH).run()
    steps, accuracy = steps_of(test), tree_on_screen(test).held_out.measures["accuracy"]
    assert [step["value"] for step in steps] == sorted([*paths.EPSILONS, 0.37])
    rows, _ = in_use(DataRole.SIMULATED).data.split(TEST_SHARE, seed=0)
    for step in steps:
        epsilon = step["value"]
        model = dpviz.fit("pf-tree", rows, epsilon=epsilon, max_depth=2, depth=2, seed=1).model
        for drawing in (step["wide"], step["narrow"]):  # every node stands in both with what it asks or predicts
            drawn = dict(re.findall(r'data-path="([^"]+)"[^>]* aria-label="([^"]+)', drawing))
            assert list(drawn) == sorted(placed.id for placed in model.nodes())
            for placed in model.nodes():
                assert drawn[placed.id].startswith(escape(node_in_words(model, placed.path)))
        assert f"ε = {epsilon:g}: test accuracy" in step["words"]
        assert f"ε = {epsilon:g} (add/remove one row)" in step["guarantee"]["words"]
        assert 'class="split"' in step["split"]
        assert step["said"]["tested"].endswith("this tree alone")
        assert epsilon != 0.37 or step["said"]["lead"] == f"{accuracy:.1%}"


@pytest.mark.slow
def test_private_rows_learners_without_noise_and_very_deep_trees_have_nothing_to_drag_and_private_rows_no_map():
    private = open_page("tree", DataRole.PRIVATE, open_boxes=[SHARES], depth="2")
    deep = open_page("tree", depth="8", learner="FS tree")
    for test in (private, open_page("tree", learner="Decision tree (not private)"), deep):
        assert PATH not in test.session_state["_work"].jobs
        assert not steps_of(test)
    assert "No map for private rows" in texts(private)
    assert not [label for label in buttons(private) if label.startswith("Compute the map")]
    assert split_view.MAP not in private.session_state["_work"].jobs


@pytest.mark.slow
@pytest.mark.parametrize("is_running", [True, False])
def test_draws_that_another_session_left_half_done_are_not_shown_while_the_rest_is_made(monkeypatch, is_running):
    loaded = in_use(DataRole.SIMULATED)
    half = Resamples((tree_on_screen(open_page("tree", depth="2")).tree,), 30)
    job = Job(lambda progress, stop: None) if is_running else None
    now = Status((Result(half, complete=False),), (), None, False, job, False, None)
    monkeypatch.setattr(background, "autostart", lambda *_: now)
    assert training.current_resamples(FitRequest.of("pf-tree", max_depth=2, depth=2), loaded) is (None if is_running else half)


def places(block: Any, path: tuple[int, ...] = ()) -> dict[str, tuple[int, ...]]:
    """Where the block of every widget stands, by the widget's name."""
    found = {}
    for place, child in block.children.items():
        if hasattr(child, "children"):
            found |= places(child, (*path, place))
        elif name := getattr(child, "id", "") or getattr(child.proto, "id", ""):
            found[name] = path
    return found


@pytest.mark.slow
def test_no_control_of_the_tree_page_moves_when_draws_and_the_path_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit makes anew, and so closes, a list whose place has changed."""
    gate, run = Event(), Job.run

    def after_the_gate(job: Job) -> None:  # draws and paths wait for it; trees do not
        assert "dpviz_tree" in current_thread().name or gate.wait(SOON)
        run(job)

    monkeypatch.setattr(Job, "run", after_the_gate)
    test = open_page("tree", depth="2")
    early = places(test._tree)
    gate.set()
    late = places(after_work(test, RERUNS, PATH)._tree)
    stayed = early.keys() & late.keys()
    assert len(stayed) > 15
    assert {name: (early[name], late[name]) for name in stayed if early[name] != late[name]} == {}


# --- below the tree: where epsilon goes, shares moved on the bar, and the map of other shares.


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few draws."""
    monkeypatch.setattr(split_view, "DRAWS", 3)
    monkeypatch.setattr(split_view, "DRAWS_LARGE", 2)


@pytest.fixture
def bar(monkeypatch) -> dict[str, Any]:
    """What the bar was shown last, and what is called when it reports something."""
    seen: dict[str, Any] = {}
    monkeypatch.setattr(split_view, "component", lambda *_, **__: lambda **given: seen.update(given))
    return seen


def report(test: AppTest, bar: dict[str, Any], event: str, value: Any) -> None:
    """The bar reports an event, as it does in a browser: its callback runs, then the page."""
    state: dict[str, Any] = {split_view.KEY: {event: value}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_view.st, "session_state", state)
        bar[f"on_{event}_change"]()
    for key in state.keys() - {split_view.KEY}:
        test.session_state[key] = state[key]
    texts(test.run())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "url", "chosen"),
    [
        ("pf-tree", {"depth": "4"}, [0.25, 0.75]),  # two choices of two levels each
        ("pf-tree", {"depth": "3", "pf-tree.lookahead": "1"}, [0.2, 0.3, 0.5]),
        ("privatree", {}, [0.1, 0.3, 0.6]),
        ("privatree-star", {}, [0.3, 0.7]),  # whose quantiles have no share
    ],
)
def test_shares_moved_on_the_bar_are_those_of_the_next_tree_until_the_rule_is_asked_for_again(name, url, chosen, bar):
    test = open_page("tree", **(with_few_trees(name) | url))
    by_rule = bar["data"]
    for odd in (None, [], [1.0], [0.5, 0.25, 0.25, 0.0], "0.5,0.5", {"0": 1}):  # what no bar reports
        report(test, bar, "shares", odd)
    assert not bar["data"]["byHand"]
    assert len(by_rule["shares"]) == len(by_rule["names"]) == len(chosen)
    report(test, bar, "shares", chosen)
    assert bar["data"]["byHand"]
    assert bar["data"]["shares"] == pytest.approx(chosen, abs=1e-3)
    plan = tree_on_screen(test).result.plan
    assert "you" in {share.set_by for share in plan.shares}
    if name == "pf-tree":  # levels that are one choice pay their shares at once
        assert [share.epsilon for share in plan.shares] == pytest.approx(chosen, abs=1e-3)
    else:
        assert plan.of("leaf", plan.depth) == pytest.approx(chosen[-1] * plan.epsilon, rel=1e-3)
    report(test, bar, "rule", True)
    assert bar["data"]["shares"] == pytest.approx(by_rule["shares"])
    assert not bar["data"]["byHand"]


@pytest.mark.slow
def test_a_level_share_needs_a_fixed_depth_and_not_all_weights_may_be_zero():
    test = open_page("tree")
    assert test.toggle(key="pf-tree.level_shares.by-hand").disabled
    test.selectbox(key="depth").set_value("3").run()
    test.toggle(key="pf-tree.level_shares.by-hand").set_value(True).run()
    test.number_input(key="pf-tree.level_shares.depth 1").set_value(2.0).run()
    plan = tree_on_screen(test).result.plan
    assert [share.levels for share in plan.shares] == [1, 2]  # two levels are one choice, which pays both their shares
    assert [share.epsilon for share in plan.shares] == pytest.approx([0.25, 0.75])
    assert {share.set_by for share in plan.shares} == {"you"}
    for level in range(3):
        test.number_input(key=f"pf-tree.level_shares.depth {level}").set_value(0.0).run()
    assert "not all 0" in dict(alerts(test))["error"]


# --- the share map


def map_page(name: str = "privatree", **url: str) -> AppTest:
    """The Tree page with the map open and there."""
    test = open_page("tree", open_boxes=[SHARES], **(with_few_trees(name) | url))
    return after_work(test, split_view.MAP)


def maps(test: AppTest) -> list[str]:
    """What the maps are drawn from."""
    return [chart.proto.spec for chart in test.get("plotly_chart") if "Training accuracy" in chart.proto.alt]


@pytest.mark.slow
def test_shares_of_levels_fix_the_depth_and_do_not_make_the_map_stale_which_another_epsilon_does():
    test = map_page("pf-tree", epsilon="0.5")
    (found,) = values_in(test, split_view.MAP)
    job = job_of(test, split_view.MAP)
    click(test, "Use these shares")
    plan = tree_on_screen(test).result.plan
    assert found.movable.request.settings.depth == "auto"
    assert plan.depth == sum(found.movable.levels) == int(test.selectbox(key="depth").value)
    assert {share.set_by for share in plan.shares} == {"you"}
    assert "in use" in maps(test)[0]
    test.selectbox(key="depth").set_value("4").run()  # the map stays, and is of fewer levels than there are shares now
    assert "automatic choice" in maps(test)[0]
    test = map_page("pf-tree", depth="3")
    test.toggle(key="pf-tree.level_shares.by-hand").set_value(True).run()
    assert not any("stale" in text for _, text in alerts(test))
    job = job_of(test, split_view.MAP)
    test.session_state["epsilon"] = 0.3
    test.run()
    assert any("stale" in text for _, text in alerts(test))
    assert job_of(test, split_view.MAP) in (None, job)
