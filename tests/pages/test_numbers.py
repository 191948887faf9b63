"""Every page with a target that is a number: what works shows it, what needs classes says so, nothing crashes."""

import json
from dataclasses import replace
from functools import cache, partial

import pytest

from dpviz.app import plan_tab
from dpviz.app.frame import PLAN_TAB
from dpviz.app.parts import escape_markdown
from dpviz.app.state import DataInUse
from dpviz.charts.budget import split_of, split_sentence
from dpviz.evaluation import plan as consequences
from dpviz.io.samples import load_sample
from dpviz.learners import get_learner, learners_for
from dpviz.models.tree import format_value
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.fits import FEW
from tests.support.pages import after_work, click, in_use, open_page, page_text, texts, tree_on_screen

#: A private tree, a boosted model, a constant, and those without privacy.
KINDS = ("pf-tree", "s-gbdt", "dp-mean", "cart-regression", "gbdt")
SIMULATED, PRIVATE = DataRole.SIMULATED, DataRole.PRIVATE


@cache
def rents(role):
    table, schema = load_sample("rents")
    return DataInUse(role, "Rents", None, table, schema, encode(table, schema))


def page(name, role=SIMULATED, **url):
    return open_page(name, role, rows=rents(role), **url)


def tree_of(name, role=SIMULATED, **url):
    few = {f"{name}.{field}": str(value) for field, value in FEW.get(name, {}).items()}
    return page("tree", role, **({"learner-of-numbers": get_learner(name).title} | few | url))


@pytest.mark.parametrize(("name", "role"), [*((name, SIMULATED) for name in KINDS), ("pf-tree", PRIVATE), ("s-gbdt", PRIVATE)])
@pytest.mark.slow
def test_a_learner_of_each_kind_is_drawn_measured_against_the_mean_and_its_budget_shown(name, role):
    test = tree_of(name, role)
    said, trained = texts(test), tree_on_screen(test)
    views = test.main.get("bidi_component")
    assert trained.result.learner == name
    assert "most frequent" not in said
    assert escape_markdown(split_sentence(split_of(trained.result))) in said
    if role is PRIVATE:
        assert trained.held_out is None
        assert "held\\-out" not in said
        return
    known = trained.held_out.measures
    measure = f"{known['r2']:.3f}".replace("-", "−")
    assert measure in page_text(test) or any(json.dumps(measure)[1:-1] in view.proto.json for view in views)
    assert known["r2"] == pytest.approx(1 - (known["rmse"] / known["mean_rmse"]) ** 2, abs=0.01)
    if name == "gbdt":
        assert f"RMSE {format_value(known['mean_rmse'])}" in page_text(test)


@pytest.mark.slow
def test_only_learners_that_fit_the_target_are_offered_and_none_without_privacy_for_private_rows():
    names = learners_for(rents(SIMULATED).schema)
    assert list(page("tree").selectbox(key="learner-of-numbers").options) == [get_learner(name).title for name in names]
    assert get_learner("dp-mean").title not in open_page("tree").selectbox(key="learner").options
    offered = page("tree", PRIVATE).session_state["loaded"].learners
    assert offered
    assert all(get_learner(name).spends_epsilon for name in offered)


def test_a_regression_tree_shows_its_numbers_and_exact_means_of_simulated_rows():
    test = tree_of("cart-regression", depth="2")
    said = page_text(test)
    for value in tree_on_screen(test).tree.values:
        assert f"→ {format_value(value)}" in said
    train, _ = rents(SIMULATED).data.split(0.2, seed=0)
    assert f"mean `rent` {format_value(float(train.target.mean()))}" in said


@pytest.mark.slow
def test_compare_draws_r2_with_the_mean_and_offers_rmse():
    names = [get_learner(name).title for name in ("dp-mean", "cart-regression")]
    asked = {"learners-of-numbers": names, "epsilons": ["0.1", "1"], "steps": "1", "draws": "3", "splits": "3"}
    test = after_work(page("compare", **asked), "compare")
    measure = test.selectbox(key="measure-of-numbers")
    assert list(measure.options) == ["R²", "RMSE", "Mean absolute error"]
    assert "the mean 0.000" in page_text(test)
    assert "reaches RMSE" in texts(measure.set_value("rmse").run())
    assert "units of the target" in "".join(found.proto.body for found in test.get("html"))


NEEDS_CLASSES = {"robustness": "A poisoning guarantee", "compare": "A plan"}


@pytest.mark.parametrize("name", [*NEEDS_CLASSES, "audit", "learn", "data", "publish"])
@pytest.mark.parametrize("role", [SIMULATED, PRIVATE])
def test_other_pages_open_and_those_that_need_classes_say_so(name, role):
    said = texts(page(name, role, **({"tab": PLAN_TAB} if name == "compare" else {})))
    assert said
    assert f"{NEEDS_CLASSES.get(name, '')} needs a target of classes; `rent` is a number." in said or name not in NEEDS_CLASSES


# --- a person with up to three rows: every page counts what three rows cost, and says whose number that is.


PERSON = "ε = 0.9 (add/remove one person, up to 3 rows)"


def of_three():
    """The clinic, a person of which is whoever has this age: three rows of it are kept."""
    now = in_use(DataRole.SIMULATED)
    schema = replace(now.schema, features=tuple(found for found in now.schema.features if found.name != "age"))
    data = encode(now.table, schema, person="age", rows_per_person=3)
    return replace(now, schema=schema, data=data, person="age")


@pytest.mark.slow
def test_tree_and_plan_count_the_persons_epsilon_beside_guesses_about_the_person(monkeypatch):
    few = partial(consequences.consequences_steps, epsilons=(0.3, 0.9, 3.0), draws=5)
    monkeypatch.setattr(consequences, "consequences_steps", few)
    said = page_text(open_page("tree", rows=of_three(), epsilon="0.9"))
    assert PERSON in said
    assert "(add/remove one row)" not in said
    test = open_page("compare", tab=PLAN_TAB, rows=of_three(), epsilon="0.9", wanted="Accuracy → rows")
    assert f"Held fixed: PF-tree, {PERSON}" in page_text(test)
    said = page_text(after_work(click(test, "Compute the three curves"), plan_tab.CURVES))
    boxes = [line for line in said.splitlines() if line.startswith("**:material/") and "** at " in line]
    assert len(boxes) == 3
    assert all("ε = 0.9" in line and "one row" not in line for line in boxes), boxes
    assert "Move ε (add/remove one person, up to 3 rows)" in said
