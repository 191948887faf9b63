"""A model of many trees on its page: what each feature does, one tree at a time, how the trees vote on one row."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.tree_view import tree_view
from dpviz.app.widgets import once_of, show_chart, whole_number
from dpviz.figures.tree.effects import asked_by, asked_in_words, by_size, effect_chart, effect_rows
from dpviz.figures.tree.svg import draw_tree
from dpviz.figures.tree.text import rule_list
from dpviz.figures.wording import counted
from dpviz.models.base import Model
from dpviz.models.effects import effects
from dpviz.models.tree import Tree
from dpviz.table.schema import NumericTarget

#: A tree with more leaves is told in words only.
MOST_DRAWN = 256


def forest_screen(model: Any, loaded: Loaded) -> None:
    """The effects of the features, then a chosen tree and the votes on a row. Says so where a model has no trees to draw."""
    effects_screen(model)
    if not getattr(model, "trees", ()):
        st.info("This model is not a single tree; it can be downloaded, not drawn.", icon=":material/info:")
    else:
        st.header("Tree by tree", anchor=False)
        one_tree(model, lambda number: "Every tree has one vote.")
    if hasattr(model, "votes") and loaded.role.may_read:
        st.header("The vote on a row", anchor=False)
        row = st.number_input(f"Row, of {loaded.data.n_rows:,}", 1, loaded.data.n_rows, key="voted-row")
        counts = model.votes(loaded.data.take(slice(row - 1, row), share=1.0))[0]
        classes = loaded.schema.classes
        chosen, actual = classes[int(counts.argmax())], classes[int(loaded.data.target[row - 1])]
        st.markdown(f"Row {row:,} is predicted {plain(chosen)}; in the data it is {plain(actual)}.")
        rows = [{"class": name, "votes": int(count)} for name, count in zip(classes, counts, strict=True)]
        st.dataframe(rows, hide_index=True, alt=f"Votes for each class on row {row}.")


def effects_screen(model: Model) -> None:
    """The effect of a chosen feature as a chart, and all of them as a table."""
    schema = model.schema
    st.header("What each feature does to the prediction", anchor=False)
    st.caption(prose("tree", "effects"))
    answer = 0
    if not isinstance(schema.target, NumericTarget):
        names = schema.classes
        answer = int(st.selectbox("Class", range(len(names)), 1, format_func=names.__getitem__, key="effect-class"))
    found = once_of(model, "_effects", effects)
    order = [effect.feature for effect in by_size(found, answer)]
    place = st.selectbox("Feature", order, format_func=schema.feature_names.__getitem__, key="effect-feature")
    shown = next(effect for effect in found if effect.feature == place)
    show_chart(effect_chart(schema, shown, answer), "effect")
    alt = "How far each feature moves the prediction, most first."
    st.dataframe(effect_rows(schema, found, answer), hide_index=True, height="content", alt=alt)


def one_tree(model: Any, say: Callable[[int], str]) -> None:
    """Choose a tree and draw it, with its text twin; `say` ends the line below the choice, by the number of the tree."""
    trees: Sequence[Tree] = model.trees
    number = _ask_tree(model, trees)
    tree = trees[number - 1].merged()
    leaves = counted(tree.n_leaves, "leaf", "leaves")
    st.caption(f"Equal sides merged: {leaves}, depth {tree.depth}. {say(number)}")
    if tree.n_leaves > MOST_DRAWN:
        st.info(f"More than {MOST_DRAWN} leaves are not drawn.", icon=":material/info:")
        return
    title = f"Tree {number} of {len(trees)}"
    wide, narrow = (draw_tree(tree, title=title, narrow=narrow).standalone() for narrow in (False, True))
    tree_view(wide, narrow, selected=None, key="member-view")
    with st.expander("The same tree as text", icon=":material/notes:"):
        st.markdown("\n".join(f"{place}. {plain(line.text)}" for place, line in enumerate(rule_list(tree), start=1)))


def _ask_tree(model: Any, trees: Sequence[Tree]) -> int:
    """The number of a tree: any, or one of those that ask about a feature."""
    asked = once_of(model, "_asked_by", lambda _: asked_by(trees))
    words = {
        f"All {len(trees):,} trees": None,
        **{asked_in_words(model.schema, place, len(numbers), len(trees)): place for place, numbers in asked.items()},
    }
    note = "How often a feature is used says little where features are chosen at random; its effect is shown above."
    feature = words[st.selectbox("Trees", words, key="asking", help=note)]
    if feature is None:
        return whole_number(f"Tree, of {len(trees):,}", 1, len(trees), 1, key="member")
    return int(st.selectbox("Open", asked[feature], format_func="Tree {}".format, key="asking-member"))
