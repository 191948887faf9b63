"""A boosted model on its page: what each feature does, one tree at a time, what each tree adds to one row."""

import numpy as np
import streamlit as st

from dpviz.app.parts import literal, plain
from dpviz.app.state import Loaded
from dpviz.app.tree.forest import effects_screen, one_tree
from dpviz.app.widgets import show_chart
from dpviz.figures.tree.boosted import score_name, scores_in_words, steps_chart, steps_of
from dpviz.models.boosted import BoostedTrees
from dpviz.models.tree import format_value
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget


def boosted_screen(model: BoostedTrees, loaded: Loaded) -> None:
    """The effects of the features, then a chosen tree, then one row on its way through all of them."""
    effects_screen(model)
    st.header("Tree by tree", anchor=False)
    one_tree(model, lambda number: _adds_to(model, number))
    if loaded.role.may_read:
        _row(model, loaded)


def _adds_to(model: BoostedTrees, number: int) -> str:
    name = plain(score_name(model.schema, (number - 1) % model.n_scores))
    return f"Every row reaches one leaf, whose number is added to its {name}."


def _row(model: BoostedTrees, loaded: Loaded) -> None:
    st.header("From tree to tree, for one row", anchor=False)
    place = st.number_input(f"Row, of {loaded.data.n_rows:,}", 1, loaded.data.n_rows, key="boosted-row")
    row = loaded.data.take(slice(place - 1, place), share=1.0)
    st.markdown(_predicted(model, row, place))
    steps = steps_chart(steps_of(model, row, _ask_score(model)))
    st.markdown(plain(steps.summary))
    show_chart(steps, "boosted-steps")


def _predicted(model: BoostedTrees, row: EncodedDataset, place: int) -> str:
    said, actual = model.predict(row)[0], row.target[0]
    if isinstance(model.schema.target, ClassTarget):
        classes, scores = model.schema.classes, np.ravel(model.scores(row))
        words = f"{literal(classes[said])} ({plain(', '.join(scores_in_words(model, scores.tolist())))})"
        return f"Row {place:,} is predicted {words}; in the data it is {literal(classes[actual])}."
    clipped = " (kept inside the declared range)" if said != model.scores(row)[0] else ""
    return f"Row {place:,} is predicted **{format_value(said)}**{clipped}; in the data it is **{format_value(float(actual))}**."


def _ask_score(model: BoostedTrees) -> int:
    """Which score is followed; there is a choice only where every class has one."""
    if model.n_scores == 1:
        return 0
    return int(st.selectbox("Class", range(model.n_scores), format_func=model.schema.classes.__getitem__, key="boosted-class"))
