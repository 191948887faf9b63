"""The tree on its page: the picture with its two choices, the chosen node, and the same tree as text."""

from functools import partial
from typing import Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app import frame
from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.parts import error, plain
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.tree.boosted import boosted_screen
from dpviz.app.tree.forest import forest_screen
from dpviz.app.tree.fresh import is_drawn_again, redraws_now, redraws_task
from dpviz.app.tree.ladder import ladders_now, take_dragged
from dpviz.app.tree.node_card import node_card
from dpviz.app.tree.pinned import beside, key_of, named, pair_words, pin_bar, pinned_now
from dpviz.app.tree_view import chosen_node, tree_view
from dpviz.app.trees import Trained
from dpviz.app.widgets import on_demand
from dpviz.app.work.session import poll
from dpviz.app.work.watch import watch, watch_missing
from dpviz.evaluation.tree.redraws import Redraws
from dpviz.figures.tree.levels import level_epsilons, levels_in_words
from dpviz.figures.tree.pair import Side, pair_svg
from dpviz.figures.tree.svg import tree_svg
from dpviz.figures.tree.text import rule_list
from dpviz.figures.wording import counted
from dpviz.learners import get_learner
from dpviz.models.boosted import BoostedTrees
from dpviz.models.tree import Tree
from dpviz.table.schema import ClassTarget
from dpviz.training.exact_trace import ExactTrace, exact_trace
from dpviz.training.honest.folding import folded, intervals
from dpviz.training.honest.leaves import LEAF_COUNTS
from dpviz.training.honest.numbers import LEAF_SUMS
from dpviz.training.params import Settings, make_params

FOLDED, COMPLETE = "folded", "complete"
SELECTED = "_selected_node"
VIEW = "tree-view"
_FAINT = "Dashed: found in less than a third of them."
_TIED = "A question may be faint only because another one predicts about as well."
_NOISE = "A question found in none of them is replaced by “noise”."


def tree_screen(trained: Trained, loaded: Loaded) -> None:
    """The picture, the card of the chosen node below it, then the text twin."""
    complete = trained.tree
    if complete is None:
        model = trained.result.model
        boosted_screen(model, loaded) if isinstance(model, BoostedTrees) else forest_screen(model, loaded)
        return
    trace = exact_trace(complete, rows_of_the_tree(loaded)) if loaded.role.may_show_rows else None
    with st.container():
        pinned = pinned_now(loaded)
    with st.container(horizontal=True, vertical_alignment="bottom", key=frame.LOW):
        fold = _ask_view() == FOLDED
        pin_bar(pinned, trained, loaded)
    shown = folded(complete, trained.result.plan) if fold else complete
    drawn = redraws_now(trained.asked, loaded)
    now = named("Now", trained, shown, _style(trained, shown, drawn, trace, fold=fold))
    if pinned is None:
        path = _picture(trained, now, loaded, None, fold=fold)
    else:
        before = beside(pinned, loaded, fold=fold)
        path = _picture(trained, now, loaded, (key_of(pinned, before, loaded), before), fold=fold)
        pair_words(pinned, trained, (before, now), loaded)
    _legend(trained, loaded, drawn, may_show_rows=trace is not None)
    node_card(trained, loaded, shown, path, trace)
    with on_demand("The same tree as text", icon=":material/notes:") as box:
        if box.open:
            st.markdown("\n".join(f"{number}. {plain(line.text)}" for number, line in enumerate(rule_list(shown), start=1)))


def _ask_view() -> str:
    """Folded or complete; folded unless the URL says otherwise."""
    words = {FOLDED: "Folded", COMPLETE: "Complete"}
    more = {"help": prose("tree", "folded"), "key": "tree", "bind": "query-params"}
    return st.segmented_control("Tree", tuple(words), format_func=words.__getitem__, default=FOLDED, required=True, **more)


def _legend(trained: Trained, loaded: Loaded, drawn: Redraws | None, *, may_show_rows: bool) -> None:
    said = ["The wider a line, the more rows."] if may_show_rows else []
    if trained.result.plan.set_aside(LEAF_COUNTS) is not None:
        said.append("Bars: the probability of a leaf's label, with a 95% interval.")
    if trained.result.plan.set_aside(LEAF_SUMS) is not None:
        said.append("Bars: the number of a leaf on the scale of all leaves, with a 95% interval of its mean.")
    if drawn is not None:
        said += [f"The fainter a question, the fewer of {drawn.n_done} trees with fresh noise ask it there.", _FAINT, _TIED]
        said += [_NOISE] if isinstance(loaded.schema.target, ClassTarget) else []
    said += _depth_of_a_release(trained, loaded)
    per_level = levels_in_words(trained.result.plan)
    said += [f"{per_level[:-1]} ({NEIGHBOURS})."] if per_level else []
    st.caption(" ".join(said))
    if drawn is None and is_drawn_again(trained.asked, loaded):
        watch_missing(redraws_task(trained.asked, loaded), "Training the tree again with fresh noise")


def _depth_of_a_release(trained: Trained, loaded: Loaded) -> list[str]:
    """Said where the rule gives a release, which is trained on all rows, another depth than the tree on screen."""
    asked, plan = trained.asked, trained.result.plan
    if asked.settings["depth"] != "auto" or loaded.schema.n_public is None:
        return []
    spec = get_learner(asked.learner)
    whole = spec.plan(loaded.schema, Settings(**asked.settings), make_params(spec.Params, asked.learner, asked.params))
    if whole.depth == plan.depth:
        return []
    return [f"Automatic depth: {plan.depth} for these rows; a release, trained on all rows, would have {whole.depth}."]


def _style(trained: Trained, shown: Tree, drawn: Redraws | None, trace: ExactTrace | None, *, fold: bool) -> dict[str, Any]:
    """How the tree is drawn: lines as wide as the share of the rows where rows may be shown, ink where it is drawn again."""
    assert trained.tree is not None
    style = {"widths": trace.shares(shown) if trace else None, "bars": intervals(trained.tree, shown, trained.result.plan)}
    return style | ({} if drawn is None else {"came_back": drawn.coming_back(shown), "n_draws": drawn.n_done, "fold": fold})


def _picture(trained: Trained, now: Side, loaded: Loaded, pinned: tuple[str, Side] | None, *, fold: bool) -> str:
    """Draw the tree, beside the pinned one if there is one, to be dragged through its ladders; returns the chosen node's path."""
    chosen, path = chosen_in(VIEW, now.tree)
    climbing, ladders = ladders_now(trained.asked, loaded, fold=fold, pinned=pinned)
    wide, narrow = (_drawing(trained, now, pinned, chosen, narrow=narrow) for narrow in (False, True))
    at = {"epsilon": trained.asked.settings["epsilon"], "depth": trained.result.plan.depth}
    tree_view(wide, narrow, selected=chosen, key=VIEW, ladders=ladders, at=at, on_dragged=partial(take_dragged, VIEW))
    with st.container():
        if climbing:
            watch(*climbing, at_end=True)  # half a ladder shows nothing
            for problem in poll(climbing[0]).problems:
                error(problem)
    return path


def _drawing(trained: Trained, now: Side, pinned: tuple[str, Side] | None, chosen: str, *, narrow: bool) -> str:
    if pinned is not None:
        return pair_svg(pinned[1], now, selected=chosen, narrow=narrow)
    levels = level_epsilons(trained.result.plan)
    return tree_svg(now.tree, narrow=narrow, selected=chosen, levels=levels, title=_title(trained, now.tree), **now.style)


def chosen_in(view: str, shown: Tree) -> tuple[str, str]:
    """Id and path of the node chosen in the tree of this view, or of the closest one above it that is on screen."""
    ids = {placed.id: placed.path for placed in shown.nodes()}
    chosen = st.session_state[SELECTED] = chosen_node(view) or st.session_state.get(SELECTED, "root")
    while chosen not in ids:
        chosen = chosen.rpartition(".")[0] or "root"
    return chosen, ids[chosen]


def _title(trained: Trained, shown: Tree) -> str:
    return f"{get_learner(trained.result.learner).title}, depth {shown.depth}, {counted(shown.n_leaves, 'leaf', 'leaves')}"
