"""Try one person: the answer is the model's, its path lights up, and nothing typed leaves the session."""

from streamlit.testing.v1 import AppTest

from dpviz.app.tree_view import SELECTED
from dpviz.figures.tree.person import answer_sentence, leaf_reached
from dpviz.models.tree import Branch
from dpviz.table.role import DataRole
from tests.support.pages import opened, texts, tree_on_screen, unfolded


def typed(test, tree):
    """What stands in the form, for the features that are asked."""
    asked = {placed.node.rule.feature for placed in tree.nodes() if isinstance(placed.node, Branch)}
    names = [tree.schema.feature_names[place] for place in asked]
    return {name: test.session_state[f"person {name}"] for name in names}


def test_a_typical_person_is_answered_at_once_and_a_change_lights_the_path_up():
    test = opened("tree", DataRole.PRIVATE, depth="3")
    tree = tree_on_screen(test).tree
    others = {f.name: f.low if hasattr(f, "low") else f.categories[0] for f in tree.schema.features}
    assert answer_sentence(tree, others | typed(test, tree)) in texts(test).replace("\\", "")
    number = next(box for box in test.number_input if str(box.key).startswith("person "))
    number.set_value(number.value + 1).run()
    cells = others | typed(test, tree)
    assert test.session_state[SELECTED] == ".".join(("root", *leaf_reached(tree, cells)))
    assert answer_sentence(tree, cells) in texts(test).replace("\\", "")
    assert not [name for name in test.query_params if "person" in name]


def test_a_missing_value_can_be_said_where_the_schema_has_a_rule_for_it():
    test = unfolded(AppTest.from_function(_partly_known)).run()
    assert [box.label for box in test.checkbox] == ["age is missing"]
    assert "Predicted outcome: well" in texts(test).replace("\\", "")
    test.number_input[0].set_value(50).run()
    assert "Predicted outcome: ill" in texts(test).replace("\\", "")
    test.checkbox[0].check().run()
    assert "Predicted outcome: well" in texts(test).replace("\\", "")


def _partly_known():
    import streamlit as st

    from dpviz.app.person import person_screen
    from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
    from dpviz.table.schema import ClassTarget, NumericFeature, Schema

    features = (NumericFeature("age", 0, 90, missing_as=10), NumericFeature("dose", 0, 1))
    inner = Branch(ThresholdRule(1, 0.9), Leaf(1), Leaf(0))
    tree = Tree(Schema(features, ClassTarget("outcome", ("well", "ill"))), Branch(ThresholdRule(0, 20), Leaf(0), inner))
    kept = st.session_state.setdefault("tree", tree)
    person_screen(kept, kept)


def test_a_date_is_asked_for_as_it_is_written():
    test = unfolded(AppTest.from_function(_dates)).run()
    assert test.text_input[0].value == "01.03.2024"
    assert "Predicted outcome: ill" in texts(test).replace("\\", "")


def _dates():
    import streamlit as st

    from dpviz.app.person import person_screen
    from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
    from dpviz.table.dates import DateFeature
    from dpviz.table.schema import ClassTarget, NumericFeature, Schema

    features = (DateFeature("seen", 2000, 2030, order="dmy"), NumericFeature("dose", 0, 1))
    tree = Tree(Schema(features, ClassTarget("outcome", ("well", "ill"))), Branch(ThresholdRule(0, 2020), Leaf(0), Leaf(1)))
    kept = st.session_state.setdefault("tree", tree)
    person_screen(kept, kept)
