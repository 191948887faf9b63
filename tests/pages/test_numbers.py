"""Every page with a target that is a number: what works shows it, what needs classes says so, nothing crashes."""

from functools import cache

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.explorations import AGREED
from dpviz.app.frame import PLAN_TAB
from dpviz.app.held_out import HeldOutNumber
from dpviz.app.parts import plain
from dpviz.app.state import Loaded
from dpviz.figures.split import split_of, split_sentence
from dpviz.figures.tree.boosted import steps_of
from dpviz.io.samples import load_sample
from dpviz.learners import get_learner, learners_for
from dpviz.models.boosted import BoostedTrees
from dpviz.models.tree import format_value
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.fits import FEW
from tests.support.pages import PAGES, after_work, opened, texts, tree_on_screen, unfolded

NUMBERS = learners_for(load_sample("rents")[1])
#: A private tree, a boosted model, a constant, and those without privacy.
KINDS = ("pf-tree", "s-gbdt", "dp-mean", "cart-regression", "gbdt")


@cache
def rents() -> EncodedDataset:
    return encode(*load_sample("rents"))


def page(name: str, role: DataRole = DataRole.SIMULATED, **url: str) -> AppTest:
    test = AppTest.from_file(str(PAGES / f"{name}.py"), default_timeout=60)
    table, schema = load_sample("rents")
    test.session_state["loaded"] = Loaded(role, "Rents", None, table, schema, rents())
    test.session_state[AGREED] = rents().identity
    for key, value in url.items():
        test.query_params[key] = value
    return unfolded(test).run()


def of_numbers(name: str) -> dict[str, str]:
    """URL parameters that choose a learner with few trees."""
    few = {f"{name}.{field}": str(value) for field, value in FEW.get(name, {}).items()}
    return {"learner-of-numbers": get_learner(name).title} | few


def tree_of(name: str, role: DataRole = DataRole.SIMULATED, **url: str) -> AppTest:
    return page("tree", role, **(of_numbers(name) | url))


# --- tree


@pytest.mark.parametrize(
    ("name", "role"),
    [*((name, DataRole.SIMULATED) for name in KINDS), ("pf-tree", DataRole.PRIVATE), ("s-gbdt", DataRole.PRIVATE)],
)
@pytest.mark.slow
def test_a_learner_of_each_kind_is_drawn_and_its_budget_shown(name, role):
    test = tree_of(name, role)
    said, trained = texts(test), tree_on_screen(test)
    assert trained.result.learner == name
    assert test.main.get("bidi_component")
    assert (trained.held_out is None) == (role is DataRole.PRIVATE)
    shown = said + "".join(view.proto.json for view in test.main.get("bidi_component"))
    assert f"{trained.held_out.measures['r2']:.3f}" in shown if trained.held_out else "Test R²" not in shown
    assert "most frequent" not in said
    if role is DataRole.PRIVATE:
        assert not [box for box in test.number_input if box.key == "boosted-row"]
    assert plain(split_sentence(split_of(trained.result))) in said


def test_private_rows_offer_no_learner_without_privacy():
    offered = page("tree", DataRole.PRIVATE).session_state["loaded"].learners
    assert all(get_learner(name).spends_epsilon for name in offered)


@pytest.mark.slow
def test_only_learners_that_fit_the_target_are_offered():
    assert list(page("tree").selectbox(key="learner-of-numbers").options) == [get_learner(name).title for name in NUMBERS]
    of_classes = opened("tree").selectbox(key="learner").options
    assert get_learner("dp-mean").title not in of_classes
    assert get_learner("pf-tree").title == of_classes[0]


def test_a_regression_tree_shows_its_numbers_and_exact_means_of_simulated_rows():
    test = tree_of("cart-regression", depth="2")
    tree = tree_on_screen(test).tree
    said = texts(test)
    for value in tree.values:
        assert f"→ {format_value(value)}" in said.replace("\\", "")
    train, _ = rents().split(0.2, seed=0)
    mean = format_value(float(train.target.mean()))
    assert f"mean `rent` {mean}" in said
    assert "comes back here" not in said


def test_what_is_kept_aside_is_measured_against_the_mean():
    test = tree_of("gbdt")
    kept = tree_on_screen(test).held_out
    assert isinstance(kept, HeldOutNumber)
    known = kept.measures
    assert known["r2"] == pytest.approx(1 - (known["rmse"] / known["mean_rmse"]) ** 2, abs=0.01)
    (line,) = [found.value for found in test.markdown if "Test R²" in found.value]
    assert line.startswith(f"**Test R² {known['r2']:.3f} (")
    assert f"RMSE {format_value(known['mean_rmse'])}" in line


@pytest.mark.slow
def test_a_boosted_model_goes_tree_by_tree_to_its_prediction():
    test = tree_of("s-gbdt")
    model = tree_on_screen(test).result.model
    assert isinstance(model, BoostedTrees)
    test.number_input(key="boosted-row").set_value(5).run()
    row = rents().take(slice(4, 5), share=1.0)
    steps = steps_of(model, row)
    assert steps.end == pytest.approx(float(model.scores(row)[0]))
    table = next(found.value for found in test.dataframe if "adds" in found.value)
    assert len(table) == model.splits.n_trees
    assert table["rent after it"].iloc[-1] == format_value(steps.end)
    assert f"Row 5 is predicted **{format_value(model.predict(row)[0])}**" in texts(test)
    test.number_input(key="member").set_value(2).run()
    assert "added to its rent" in texts(test)


# --- the other pages


@pytest.mark.slow
def test_compare_draws_r2_with_the_mean_and_offers_rmse():
    url = {"learners-of-numbers": [get_learner(name).title for name in ("dp-mean", "cart-regression")]}
    test = page("compare", **url, epsilons=["0.1", "1"], steps="1", draws="3", splits="3")
    measure = test.selectbox(key="measure-of-numbers")
    assert list(measure.options) == ["R²", "RMSE", "Mean absolute error"]
    said = texts(after_work(test, "compare"))
    assert "reaches R²" in said
    assert "the mean 0\\.000" in said
    measure = test.selectbox(key="measure-of-numbers").set_value("rmse").run()
    assert "reaches RMSE" in texts(measure)
    assert "units of the target" in "".join(chart.proto.spec for chart in measure.get("plotly_chart"))


@pytest.mark.parametrize(
    ("name", "url", "what"), [("robustness", {}, "A poisoning guarantee"), ("compare", {"tab": PLAN_TAB}, "A plan")]
)
@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_pages_that_need_classes_say_so_and_what_to_do(name, url, what, role):
    said = texts(page(name, role, **url))
    assert f"**{what} needs a target of classes; `rent` is a number.**" in said
    assert "Choose a table whose target is one of several classes on the Data page" in said


@pytest.mark.parametrize("name", ["audit", "learn", "data", "publish"])
@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_other_pages_open(name, role):
    assert texts(page(name, role))
