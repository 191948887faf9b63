"""Try one person: the answer is the model's, its path lights up, and nothing typed leaves the session."""

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.person import answer_sentence, leaf_reached
from dpviz.app.tree_view import SELECTED
from dpviz.models.tree import Branch
from dpviz.table.role import DataRole
from tests.support.pages import opened, shown, tree_on_screen, unfolded


def test_the_first_person_is_answered_at_once_and_a_change_lights_the_path_up():
    test = opened("tree", DataRole.PRIVATE, depth="3")
    tree = tree_on_screen(test).tree
    others = {f.name: f.low if hasattr(f, "low") else f.categories[0] for f in tree.schema.features}
    asked = {tree.schema.feature_names[placed.node.rule.feature] for placed in tree.nodes() if isinstance(placed.node, Branch)}

    def cells():
        return others | {name: test.session_state[f"person {name}"] for name in asked}

    assert answer_sentence(tree, cells()) in shown(test)
    number = next(box for box in test.number_input if str(box.key).startswith("person "))
    number.set_value(number.value + 1).run()
    assert test.session_state[SELECTED] == ".".join(("root", *leaf_reached(tree, cells())))
    assert answer_sentence(tree, cells()) in shown(test)
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
    test = unfolded(AppTest.from_function(form, args=(is_date,))).run()
    assert [box.value for box in test.text_input] == ["01.03.2024"] * is_date
    assert [box.label for box in test.checkbox] == ["age is missing"] * (not is_date)
    assert f"Predicted outcome: {'ill' if is_date else 'well'}" in shown(test)
    for missing in test.checkbox:
        test.number_input[0].set_value(50).run()
        assert "Predicted outcome: ill" in shown(test)
        missing.check().run()
        assert "Predicted outcome: well" in shown(test)
