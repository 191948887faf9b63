"""The tree on its page: the picture with its two choices, the chosen node, and the same tree as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.parts import plain
from dpviz.app.state import Loaded
from dpviz.app.tree.boosted import boosted_screen
from dpviz.app.tree.forest import forest_screen
from dpviz.app.tree.fresh import redraws_now
from dpviz.app.tree.node_card import node_card, paid_in_all, spent_at
from dpviz.app.tree_view import chosen_node, tree_view
from dpviz.app.trees import Trained
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.tree.svg import tree_svg
from dpviz.figures.tree.text import node_in_short, rule_list
from dpviz.figures.wording import counted
from dpviz.learners import get_learner
from dpviz.models.boosted import BoostedTrees
from dpviz.models.tree import Tree
from dpviz.training.exact_trace import ExactTrace, exact_trace

MERGED, COMPLETE = "merged", "complete"
BUDGET, ROWS = "ε", "rows"
SELECTED = "_selected_node"
VIEW = "tree-view"


def tree_screen(trained: Trained, loaded: Loaded) -> None:
    """The picture, the card of the chosen node below it, then the text twin."""
    complete = trained.tree
    if complete is None:
        model = trained.result.model
        boosted_screen(model, loaded) if isinstance(model, BoostedTrees) else forest_screen(model, loaded)
        return
    trace = exact_trace(complete, loaded.data) if loaded.role.may_show_rows else None
    view, width_of = _ask_view(may_show_rows=trace is not None)
    shown = complete.merged() if view == MERGED else complete
    path = _picture(trained, loaded, shown, _widths(trained, shown, trace if width_of == ROWS else None))
    node_card(trained, loaded, shown, path, trace)
    _text_twin(trained, complete, shown)


def _ask_view(*, may_show_rows: bool) -> tuple[str, str]:
    """(merged or complete, what the lines' width shows). Exact rows can be chosen for simulated data only."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        words = {MERGED: "Merged", COMPLETE: "Complete"}
        note = "Merged leaves out rules whose two sides predict the same. It costs nothing and predicts the same."
        view = _choice("Tree", words, note, key="tree")
        if not may_show_rows:
            return view, BUDGET
        titles = {BUDGET: "share of ε", ROWS: "exact rows"}
        note = "Exact rows are shown for simulated data only: publishing them would void any guarantee."
        return view, _choice("Line width", titles, note, key="width")


def _choice(label: str, titles: dict[str, str], note: str, *, key: str) -> str:
    """One of `titles`, the first unless the URL says otherwise."""
    more = {"help": note, "key": key, "bind": "query-params"}
    options = tuple(titles)
    return st.segmented_control(label, options, format_func=titles.__getitem__, default=options[0], required=True, **more)


def _widths(trained: Trained, shown: Tree, trace: ExactTrace | None) -> dict[str, float] | None:
    """Share of all rows that reach a node, or of epsilon spent at it; None where no epsilon is finite."""
    if trace is not None:
        n_rows = max(1, trace.rows(""))
        return {placed.path: trace.rows(placed.path) / n_rows for placed in shown.nodes()}
    complete, total = trained.tree, paid_in_all(trained.result.plan)
    if complete is None or not 0 < total < math.inf:
        return None
    return {placed.path: spent_at(trained.result.plan, complete, placed.path) / total for placed in shown.nodes()}


def _picture(trained: Trained, loaded: Loaded, shown: Tree, widths: Mapping[str, float] | None) -> str:
    """Draw the tree; returns the path of the chosen node."""
    ids = {placed.id: placed.path for placed in shown.nodes()}
    st.session_state[SELECTED] = chosen_node(VIEW) or st.session_state.get(SELECTED, "root")
    chosen = _nearest_kept(st.session_state[SELECTED], ids)
    marks, title = _marks(trained, loaded, shown), _title(trained, shown)
    style: dict[str, Any] = {"widths": widths, "selected": chosen, "marks": marks, "title": title}
    wide, narrow = (tree_svg(shown, narrow=narrow, **style) for narrow in (False, True))
    tree_view(wide, narrow, selected=chosen, key=VIEW)
    return ids[chosen]


def _nearest_kept(node_id: str, ids: Mapping[str, str]) -> str:
    """The chosen node, or the closest one above it that the tree on screen has."""
    while node_id not in ids and "." in node_id:
        node_id = node_id.rsplit(".", 1)[0]
    return node_id if node_id in ids else "root"


def _title(trained: Trained, shown: Tree) -> str:
    return f"{get_learner(trained.result.learner).title}, depth {shown.depth}, {counted(shown.n_leaves, 'leaf', 'leaves')}"


def _marks(trained: Trained, loaded: Loaded, shown: Tree) -> dict[str, str]:
    """Percent of fresh draws in which each node stood there, once they are drawn."""
    drawn = redraws_now(trained.asked, loaded)
    if drawn is None:
        return {}
    drawn = drawn.merged() if shown != trained.tree else drawn
    return {placed.path: f"{drawn.same_node(placed.path, placed.node) / drawn.n_done:.0%}" for placed in shown.nodes()}


def _text_twin(trained: Trained, complete: Tree, shown: Tree) -> None:
    """Rules one by one, and every node in a table."""
    with st.expander("The same tree as text", icon=":material/notes:"):
        st.markdown("\n".join(f"{number}. {plain(line.text)}" for number, line in enumerate(rule_list(shown), start=1)))
        rows = [_row(trained, complete, shown, placed.id, placed.path) for placed in shown.nodes()]
        st.dataframe(rows, hide_index=True, alt=f"Every node with its rule or label and the epsilon spent there, {NEIGHBOURS}.")


def _row(trained: Trained, complete: Tree, shown: Tree, node_id: str, path: str) -> dict[str, str | int]:
    label = node_in_short(shown, shown.node(path))
    spent = number_text(spent_at(trained.result.plan, complete, path))
    return {"node": node_id, "depth": len(path), "rule or label": label, f"ε ({NEIGHBOURS})": spent}
