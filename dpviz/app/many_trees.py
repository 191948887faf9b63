"""A model that is read, or one of many trees: its tree, or what each feature does and one tree at a time."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpviz.app.held_out import private_test
from dpviz.app.parts import escape_markdown
from dpviz.app.person import person_screen
from dpviz.app.prose import prose
from dpviz.app.tree_view import chosen_in, show_tree
from dpviz.app.widgets import on_demand, once_per, show_chart, whole_number
from dpviz.charts.tree.model import by_size, effect_chart, effect_rows, score_name
from dpviz.charts.tree.svg import NodeNotes
from dpviz.charts.wording import count_text
from dpviz.models.base import Model
from dpviz.models.boosted import BoostedTrees
from dpviz.models.effects import effects
from dpviz.models.tree import Tree, as_tree
from dpviz.results.result import FitResult
from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.collapse import collapse_leaves, intervals

#: A tree with more leaves is told in words only.
MAX_LEAVES = 256


def many_trees_screen(model: Any) -> None:
    """The effects of the features, then a tree to choose, with what it does and its text twin."""
    _effects_screen(model)
    trees: Sequence[Tree] = getattr(model, "trees", ())
    if not trees:
        st.info("This model is not a single tree; it can be downloaded, not drawn.", icon=":material/info:")
        return
    st.header("Tree by tree", anchor=False)
    number = whole_number(f"Tree, of {len(trees):,}", 1, len(trees), 1, key="member")
    tree = trees[number - 1].merged()
    leaves = count_text(tree.n_leaves, "leaf", "leaves")
    words = "Every tree has one vote."
    if isinstance(model, BoostedTrees):
        name = escape_markdown(score_name(model.schema, (number - 1) % model.n_scores))
        words = f"Every row reaches one leaf, whose number is added to its {name}."
    st.caption(f"Equal sides merged: {leaves}, depth {tree.depth}. {words}")
    if tree.n_leaves > MAX_LEAVES:
        st.info(f"More than {MAX_LEAVES} leaves are not drawn.", icon=":material/info:")
    else:
        show_tree(tree, title=f"Tree {number} of {len(trees)}", key="member-view", height=420)


def _effects_screen(model: Model) -> None:
    """The effect of a chosen feature as a chart, and all of them as a table."""
    schema = model.schema
    st.header("What each feature does to the prediction", anchor=False)
    st.caption(prose("tree", "effects"))
    answer = 0
    if not isinstance(schema.target, NumericTarget):
        names = schema.classes
        answer = int(st.selectbox("Class", range(len(names)), 1, format_func=names.__getitem__, key="effect-class"))
    all_effects = once_per(model, "_effects", effects)
    order = [effect.feature for effect in by_size(all_effects, answer)]
    place = st.selectbox("Feature", order, format_func=schema.feature_names.__getitem__, key="effect-feature")
    chosen = next(effect for effect in all_effects if effect.feature == place)
    show_chart(effect_chart(schema, chosen, answer), "effect")
    alt = "How far each feature moves the prediction, most first."
    st.dataframe(effect_rows(schema, all_effects, answer), hide_index=True, height="content", alt=alt)


def model_screen(result: FitResult, title: str, *, key: str) -> None:
    """The tree of a file with its probabilities, or what its features do; one person tried on it; its private test."""
    tree = as_tree(result.model)
    if tree is None:
        _effects_screen(result.model)
    else:
        folded = collapse_leaves(tree, result.plan)
        notes = NodeNotes(probabilities=intervals(tree, folded, result.plan, result.unit.rows))
        show_tree(folded, title=title, key=key, selected=chosen_in(key, folded)[0], notes=notes)
    person_screen(result.model, tree)
    if result.test_report is not None:
        with on_demand("Every measure of the private test", icon=":material/fact_check:") as box:
            if box.open:
                private_test(result.test_report, result.unit)
