"""Fresh draws on the Tree page: what would have come out had the noise been other noise.

The player that steps through them is in `redraws.js`: paused at first, and nothing there runs the page anew.
"""

from pathlib import Path

import streamlit as st

from dpviz.app.component import STEPPER, component
from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.parts import plain
from dpviz.app.state import Loaded
from dpviz.app.tree.fresh import redraws_now
from dpviz.app.trees import Trained
from dpviz.app.widgets import chart, linked, table
from dpviz.evaluation.tree.redraws import Redraws, agreement, feature_use
from dpviz.figures.tree import redraws as drawn_figures
from dpviz.figures.tree.svg import tree_svg
from dpviz.models.tree import Tree
from dpviz.table.schema import NumericTarget

#: Draws to step through; all of them are counted.
MOST_SHOWN = 20


def redraws_screen(trained: Trained, loaded: Loaded) -> None:
    """On request: how the tree begins, which features are asked, how many draws agree; a player that steps through them."""
    drawn = redraws_now(trained.asked, loaded)
    if drawn is None or trained.tree is None or isinstance(loaded.schema.target, NumericTarget):
        return  # being drawn (the tree above says how far), or nothing is drawn again
    st.divider()
    if not st.toggle("Same data, fresh noise: what changes?", **linked("fresh")):
        return
    st.caption(f"{drawn.n_done} trees with the settings and rows of the one above, each with fresh noise. Simulations.")
    rows = rows_of_the_tree(loaded)
    agreeing = agreement(trained.tree.predict(rows), drawn, rows)
    sentences = drawn_figures.root_sentence(loaded.schema, drawn), drawn_figures.agreement_sentence(agreeing, drawn.n_done)
    st.markdown(plain(" ".join(sentences)))
    left, right = st.columns(2, gap="large")
    with left:
        _features(drawn, loaded)
    with right:
        _player(drawn, loaded)


def _features(drawn: Redraws, loaded: Loaded) -> None:
    st.header("Which features are asked", anchor=False)
    uses = feature_use(drawn)
    sentence = drawn_figures.feature_sentence(loaded.schema, uses, drawn.n_done)
    st.markdown(plain(sentence))
    if uses:
        chart(drawn_figures.feature_figure(loaded.schema, uses, drawn.n_done), sentence, key="redraws-features")
        table(drawn_figures.feature_rows(loaded.schema, uses), sentence, key="redraws-features")


def _player(drawn: Redraws, loaded: Loaded) -> None:
    st.header("Draw by draw", anchor=False)
    merged = drawn.merged()
    shown = [(number, model) for number, model in enumerate(merged.models[:MOST_SHOWN]) if isinstance(model, Tree)]
    if not shown:
        st.caption("These draws are single labels; there is nothing to step through.")
        return
    said = [drawn_figures.draw_words(loaded.schema, merged, number) for number, _ in shown]
    pairs = zip(shown, said, strict=True)
    drawings = [tree_svg(tree, widths=None, selected=None, narrow=True, title=words) for (_, tree), words in pairs]
    component("dpviz_redraws", STEPPER, Path(__file__))(key="redraws-player", data={"drawings": drawings, "said": said})
