"""The tree on its page: the picture with its two choices, the chosen node, and the same tree as text."""

from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.app import background, frame
from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.parts import error, plain
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.tree.boosted import boosted_screen
from dpviz.app.tree.forest import forest_screen
from dpviz.app.tree.measured import measured_line, said_of
from dpviz.app.tree.node_card import node_card
from dpviz.app.tree.paths import WORDS, path_now
from dpviz.app.tree.pinned import beside, key_of, named, pair_words, pin_bar, pinned_now
from dpviz.app.tree.resampling import draws_of, is_resampled, resamples_now, resampling_task
from dpviz.app.tree_parts import split_bar
from dpviz.app.tree_view import chosen_node, tree_view
from dpviz.app.trees import Trained
from dpviz.app.widgets import on_demand
from dpviz.evaluation.tree.resampling import Resamples
from dpviz.figures.split import split_html, split_of
from dpviz.figures.tree.levels import level_epsilons, levels_in_words, shape_in_words
from dpviz.figures.tree.pair import Side, draw_pair
from dpviz.figures.tree.resampling import survival_sentence
from dpviz.figures.tree.svg import NodeNotes, draw_tree
from dpviz.figures.tree.text import rule_list
from dpviz.figures.wording import counted
from dpviz.learners import get_learner
from dpviz.learners.request import few_usable, remarks_on_settings
from dpviz.models.boosted import BoostedTrees
from dpviz.models.tree import Tree
from dpviz.training.estimate.collapse import collapse_leaves, intervals
from dpviz.training.estimate.numbers import LEAF_SUMS
from dpviz.training.exact_trace import ExactTrace, exact_trace
from dpviz.training.growing import LEAF_COUNTS

FOLDED, COMPLETE = "folded", "complete"
SELECTED = "_selected_node"
VIEW = "tree-view"
_FAINT = "Dashed: less than a third of them do. In brackets: where most of their thresholds are."
_TIED = "A question can be faint just because another one predicts about as well."
_ONLY = "“only 40%”: most of the leaf’s rows that were kept for probabilities have another label than those that grew it."


def tree_screen(trained: Trained, loaded: Loaded, row: Any) -> None:
    """The picture, the card of the chosen node below it, then the text twin; `row` gets the buttons of pinned trees."""
    _remarks(trained, loaded)
    complete = trained.tree
    if complete is None:
        model = trained.result.model
        measured_line(trained.held_out)
        split_bar(trained.result)
        boosted_screen(model, loaded) if isinstance(model, BoostedTrees) else forest_screen(model, loaded)
        return
    trace = exact_trace(complete, rows_of_the_tree(loaded)) if loaded.role.may_show_rows else None
    with st.container():
        pinned = pinned_now(loaded)
    with row:
        pin_bar(pinned, trained, loaded)
    fold = st.session_state.get("tree", FOLDED) == FOLDED
    shown = collapse_leaves(complete, trained.result.plan) if fold else complete
    drawn = resamples_now(trained.asked.request, loaded)
    now = named("Now", trained, shown, _notes(trained, shown, drawn, trace, loaded))
    if pinned is None:
        path = _picture(trained, now, loaded, None, fold=fold)
    else:
        before = beside(pinned, loaded, fold=fold)
        path = _picture(trained, now, loaded, (key_of(pinned, before, loaded), before), fold=fold)
        pair_words(pinned, trained, (before, now), loaded)
    node_card(trained, loaded, shown, path, trace)
    with on_demand("The same tree as text", icon=":material/notes:") as box:
        if box.open:
            st.markdown("\n".join(f"{number}. {plain(line.text)}" for number, line in enumerate(rule_list(shown), start=1)))
    with on_demand("How to read the picture", icon=":material/help:") as box:
        if box.open:
            st.markdown(_legend(trained, loaded, drawn, may_show_rows=trace is not None))
    for words in _depth_of_a_release(trained, loaded):
        st.caption(words)


def _remarks(trained: Trained, loaded: Loaded) -> None:
    """What a rule has replaced and what changes nothing; how few rows can be used only where the rows may be read."""
    few = few_usable(loaded.data) if loaded.role.may_read else ""
    for words in filter(None, (few, *map(str, remarks_on_settings(trained.asked.request, trained.result.schema)))):
        st.warning(plain(words), icon=":material/info:")


def ask_view() -> None:
    """Folded or complete; folded unless the URL says otherwise."""
    words = {FOLDED: "Folded", COMPLETE: "Complete"}
    more = {"help": prose("tree", "folded"), "key": "tree", "bind": "query-params"}
    st.segmented_control("Tree", tuple(words), format_func=words.__getitem__, default=FOLDED, required=True, **more)


def _legend(trained: Trained, loaded: Loaded, drawn: Resamples | None, *, may_show_rows: bool) -> str:
    said = ["The wider a line, the more rows."] if may_show_rows else []
    if trained.result.plan.held_out_part(LEAF_COUNTS) is not None:
        said += ["Bars: the probability of a leaf's label, with a 95% interval.", _ONLY]
    if trained.result.plan.held_out_part(LEAF_SUMS) is not None:
        said.append("Bars: the number of a leaf on the scale of all leaves, with a 95% interval of its mean.")
    if drawn is not None:
        asked = f"“26 of {drawn.n_done}”: that many reruns with new noise split on this feature here. The fewer, the fainter."
        said += [asked, _FAINT, _TIED]
    per_level = levels_in_words(trained.result.plan)
    return "\n".join(f"- {line}" for line in (*said, *([per_level] if per_level else [])))


def _depth_of_a_release(trained: Trained, loaded: Loaded) -> list[str]:
    """Said where the rule gives a release, which is trained on all rows, another depth than the tree on screen."""
    request, plan = trained.asked.request, trained.result.plan
    if request.settings.depth != "auto" or loaded.schema.n_public is None:
        return []
    whole = request.plan(loaded.schema)
    if whole.depth == plan.depth:
        return []
    return [f"Automatic depth: {plan.depth} for these rows; a release, trained on all rows, would have {whole.depth}."]


def _notes(trained: Trained, shown: Tree, drawn: Resamples | None, trace: ExactTrace | None, loaded: Loaded) -> NodeNotes:
    """How the tree is drawn: lines as wide as the share of the rows where rows may be shown, ink where it is drawn again."""
    assert trained.tree is not None
    bars = intervals(trained.tree, shown, trained.result.plan, trained.result.unit.rows)
    notes = NodeNotes(trace.shares(shown) if trace else {}, bars=bars)
    if drawn is None:  # room for what is to come
        request, schema = trained.asked.request, rows_of_the_tree(loaded).schema
        return replace(notes, n_draws=draws_of(request, schema) if is_resampled(request, loaded) else 0)
    return replace(notes, came_back=drawn.coming_back(shown), n_draws=drawn.n_done, between=drawn.between(shown))


def _picture(trained: Trained, now: Side, loaded: Loaded, pinned: tuple[str, Side] | None, *, fold: bool) -> str:
    """Draw the tree, beside the pinned one if there is one, to be dragged through epsilons; returns the chosen node's path."""
    chosen, path = chosen_in(VIEW, now.tree)
    climbing, steps = path_now(trained.asked.request, loaded, fold=fold, pinned=pinned)
    wide, narrow = (_drawing(trained, now, pinned, chosen, narrow=narrow) for narrow in (False, True))
    said = {"shape": shape_in_words(trained.result.plan), "split": split_html(split_of(trained.result))}
    drawn = resamples_now(trained.asked.request, loaded)
    if drawn is not None and not loaded.is_made_up:
        said["survives"] = survival_sentence(now.tree.schema, drawn)
    if trained.held_out is not None:
        said |= said_of(trained.held_out, loaded, trained.asked.request, drawn)
    if loaded.is_made_up:
        said["mark"] = "Made-up rows"
    epsilon = trained.asked.request.settings.epsilon
    tree_view(wide, narrow, selected=chosen, key=VIEW, steps=steps, epsilon=epsilon, said=said)
    with st.container(key=frame.WORK):
        if not now.notes.came_back and is_resampled(trained.asked.request, loaded):
            background.watch_missing(resampling_task(trained.asked.request, loaded), "Training the tree again with new noise")
        elif climbing is not None:
            background.watch(climbing, WORDS, at_end=True)  # half of the steps shows nothing
            for problem in background.state(climbing).problems:
                error(problem)
    return path


def _drawing(trained: Trained, now: Side, pinned: tuple[str, Side] | None, chosen: str, *, narrow: bool) -> str:
    if pinned is not None:
        return draw_pair(pinned[1], now, selected=chosen, narrow=narrow).standalone()
    levels = level_epsilons(trained.result.plan)
    title = _title(trained, now.tree)
    return draw_tree(now.tree, now.notes, narrow=narrow, selected=chosen, levels=levels, title=title).standalone()


def chosen_in(view: str, shown: Tree) -> tuple[str, str]:
    """Id and path of the node chosen in the tree of this view, or of the closest one above it that is on screen."""
    ids = {placed.id: placed.path for placed in shown.nodes()}
    chosen = st.session_state[SELECTED] = chosen_node(view) or st.session_state.get(SELECTED, "root")
    while chosen not in ids:
        chosen = chosen.rpartition(".")[0] or "root"
    return chosen, ids[chosen]


def _title(trained: Trained, shown: Tree) -> str:
    return f"{get_learner(trained.result.learner).title}, depth {shown.depth}, {counted(shown.n_leaves, 'leaf', 'leaves')}"
