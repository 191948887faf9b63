"""The tree drawing as a widget: zoom, pan, choose a node by mouse, finger or keyboard. Its behaviour is in `tree_view.js`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.app.component import component, event_in, ignore
from dpviz.app.parts import escape_markdown
from dpviz.app.widgets import on_demand
from dpviz.charts.tree.svg import NodeNotes, draw_tree
from dpviz.charts.tree.text import rule_list
from dpviz.models.tree import Tree


def tree_view(
    svg_wide: str,
    svg_narrow: str,
    *,
    selected: str | None,
    key: str,
    steps: str = "",
    epsilon: float | None = None,
    captions: Mapping[str, str] | None = None,
    height: int | None = None,
) -> None:
    """Show a tree, of which a node can be chosen: see `chosen_in`.

    `svg_wide` and `svg_narrow` are drawings of one tree by `dpviz.charts.tree.svg`; the narrow one is shown below 520 px. A tree
    of the same shape as the one before keeps zoom, place and focus. Choosing a node is one rerun: the widget marks it at once, so
    the drawings may be made without a selection. `selected` is the node to mark, as the page knows it.

    `captions` stand around the drawing: the line above it ("lead", "tested", "spread", "besides", "strip"; left out where nothing
    was measured), "survives" and "shape" below it, and a "mark" on it. `steps` is the tree at other epsilons, which are shown
    while `epsilon_slider` is dragged, as `dpviz.app.training` packs them; `epsilon` is that of the drawings.
    """
    data: dict[str, Any] = {"wide": svg_wide, "narrow": svg_narrow, "selected": selected, "key": key}
    data |= {"steps": steps, "epsilon": epsilon, "said": captions, "height": height}
    component("dpviz_tree", Path(__file__))(key=key, data=data, on_clicked_change=ignore)


def show_tree(
    tree: Tree, *, title: str, key: str, selected: str | None = None, notes: NodeNotes | None = None, height: int | None = None
) -> None:
    """A tree as it is, and on demand its rules as text."""
    wide, narrow = (
        draw_tree(tree, notes or NodeNotes(), title=title, selected=selected, narrow=narrow).standalone()
        for narrow in (False, True)
    )
    tree_view(wide, narrow, selected=selected, key=key, height=height)
    with on_demand("The same tree as text", icon=":material/notes:", key=f"text of {key}") as box:
        if box.open:
            tree_text(tree)


def tree_text(tree: Tree) -> None:
    """The rules of a tree, a line each."""
    st.markdown("\n".join(f"{number}. {escape_markdown(line.text)}" for number, line in enumerate(rule_list(tree), start=1)))


def chosen_node(key: str) -> str | None:
    """The node chosen just now in the tree of this key, for what is drawn above it; None on every other run."""
    return event_in(key, "clicked")


#: Holds the id of the node that was chosen last, in whatever tree.
SELECTED = "_selected_node"


def chosen_in(key: str, tree: Tree) -> tuple[str, str]:
    """Id and path of the node chosen in the tree of this key, or of the closest one above it that is on screen."""
    ids = {placed.id: placed.path for placed in tree.nodes()}
    chosen = st.session_state[SELECTED] = chosen_node(key) or st.session_state.get(SELECTED, "root")
    while chosen not in ids:
        chosen = chosen.rpartition(".")[0] or "root"
    return chosen, ids[chosen]
