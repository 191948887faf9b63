"""Fresh draws on the Tree page: what would have come out had the noise been other noise."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.state import Loaded
from dpviz.app.tree.fresh import DRAWS, redraws_now, redraws_task
from dpviz.app.tree.redraws_view import redraws_view
from dpviz.app.trees import Trained
from dpviz.app.widgets import chart, table
from dpviz.app.work.session import begin, poll
from dpviz.evaluation.compare.agreement import feature_use, regions
from dpviz.evaluation.compare.redraws import Redraws
from dpviz.figures.tree import redraws as drawn_figures
from dpviz.figures.tree.svg import tree_svg
from dpviz.models.tree import Tree
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget

#: Draws to step through; all of them are counted.
MOST_SHOWN = 20


def redraws_screen(trained: Trained, loaded: Loaded) -> None:
    """Which split begins the tree, which features are asked, where draws agree; a player that steps through them."""
    if trained.tree is None or loaded.role is DataRole.PRIVATE or isinstance(loaded.schema.target, NumericTarget):
        return  # the card of a node says why there are none of private rows; no number comes back to the last digit
    st.divider()
    st.header("Had the noise been other noise", anchor=False)
    drawn = redraws_now(trained.asked, loaded)
    if drawn is None:
        _offer(trained, loaded)
        return
    st.caption(f"{drawn.n_done} trees with the settings and rows of the one above, each with fresh noise. Simulations.")
    left, right = st.columns(2, gap="large")
    with left:
        _root(drawn, loaded)
        _regions(trained.tree, drawn, loaded)
    with right:
        _player(drawn, loaded)
        _features(drawn, loaded)


def _offer(trained: Trained, loaded: Loaded) -> None:
    st.markdown(f"Which splits come back in {DRAWS} fresh draws, which features, and where do the draws agree?")
    task = redraws_task(trained.asked, loaded)
    if poll(task).job is None:
        st.button("Draw them", icon=":material/replay:", key="redraws", on_click=begin, args=(task,))
    else:
        st.caption("Being drawn: see the card above.")


def _root(drawn: Redraws, loaded: Loaded) -> None:
    st.subheader("Which split begins the tree", anchor=False)
    sentence = drawn_figures.root_sentence(loaded.schema, drawn)
    st.markdown(plain(sentence))
    _chart(drawn_figures.root_figure(loaded.schema, drawn), sentence, "root")
    rows = [{"split at the root": words, "draws": count} for words, count in drawn_figures.root_rows(loaded.schema, drawn)]
    table(rows, sentence)


def _features(drawn: Redraws, loaded: Loaded) -> None:
    st.subheader("Which features are asked", anchor=False)
    uses = feature_use(drawn)
    sentence = drawn_figures.feature_sentence(loaded.schema, uses, drawn.n_done)
    st.markdown(plain(sentence))
    if uses:
        _chart(drawn_figures.feature_figure(loaded.schema, uses, drawn.n_done), sentence, "features")
        table(drawn_figures.feature_rows(loaded.schema, uses), sentence)


def _regions(tree: Tree, drawn: Redraws, loaded: Loaded) -> None:
    """Merged leaves, as the tree above is shown: a region is where one label holds."""
    st.subheader("Where the draws agree", anchor=False)
    merged = tree.merged()
    found = regions(merged, drawn, loaded.data)
    sentence = drawn_figures.region_sentence(found)
    st.markdown(plain(sentence))
    _chart(drawn_figures.region_figure(merged, found), sentence, "regions")
    table(drawn_figures.region_rows(merged, found), sentence)


def _player(drawn: Redraws, loaded: Loaded) -> None:
    st.subheader("Draw by draw", anchor=False)
    merged = drawn.merged()
    shown = [(number, model) for number, model in enumerate(merged.models[:MOST_SHOWN]) if isinstance(model, Tree)]
    if not shown:
        st.caption("These draws are single labels; there is nothing to step through.")
        return
    said = [drawn_figures.draw_words(loaded.schema, merged, number) for number, _ in shown]
    redraws_view([_drawing(tree, words) for (_, tree), words in zip(shown, said, strict=True)], said, key="redraws-player")


def _drawing(tree: Tree, words: str) -> str:
    return tree_svg(tree, widths=None, selected=None, narrow=True, title=words)


def _chart(figure: Any, sentence: str, key: str) -> None:
    chart(figure, sentence, key=f"redraws-{key}")
