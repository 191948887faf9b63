"""Two trees at once: one is pinned, and the tree of the next settings stands beside it.

The pinned tree stays in its session, as it is; the address holds the settings of the other one.
Nothing is trained, read or drawn again because a tree is pinned or unpinned.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from dpviz.app import background
from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.parts import escape_markdown
from dpviz.app.prose import prose
from dpviz.app.state import DataInUse
from dpviz.app.training import TrainedTree, about, is_resampled, resampling_task
from dpviz.app.widgets import rows_table
from dpviz.charts.compare import gap_text, gap_unit, measure_text
from dpviz.charts.tree.pair import Side, pair_sentence
from dpviz.charts.tree.svg import NodeNotes
from dpviz.charts.wording import capital, minus
from dpviz.evaluation.comparison import METRICS
from dpviz.evaluation.resampling import Resamples
from dpviz.learners import get_learner
from dpviz.models.tree import Tree
from dpviz.results.wording import number_text
from dpviz.training.estimate.collapse import collapse_leaves, intervals
from dpviz.training.exact_trace import exact_trace

_KEY = "_pinned"


def pin_bar(pinned: TrainedTree | None, trained: TrainedTree, in_use: DataInUse) -> None:
    """The buttons."""
    if pinned is None:
        words = "It stays on screen, next to the tree of the next settings."
        pin = {_KEY: (about(in_use), trained)}
        st.button("Pin this tree", icon=":material/push_pin:", help=words, on_click=st.session_state.update, args=(pin,))
        return
    st.button("Unpin", icon=":material/close:", on_click=st.session_state.update, args=({_KEY: None},))


def current_pin(in_use: DataInUse) -> TrainedTree | None:
    """The pinned tree of these rows; that of others is let go."""
    rows, trained = st.session_state.get(_KEY) or (None, None)
    if rows == about(in_use):
        return trained
    st.session_state[_KEY] = None
    return None


# --- what is shown


def pinned_side(pinned: TrainedTree, in_use: DataInUse, *, fold: bool) -> Side:
    """The pinned tree as it is drawn; lines mean rows where rows may be shown."""
    complete = pinned.tree
    assert complete is not None
    tree = collapse_leaves(complete, pinned.result.plan) if fold else complete
    row_shares = exact_trace(complete, rows_of_the_tree(in_use)).shares(tree) if in_use.role.may_show_rows else {}
    request = pinned.settings.request
    # where they are there since it was the tree on screen; none of private rows
    reruns = background.values_of(resampling_task(request, in_use)) if is_resampled(request, in_use) else ()
    return pair_side("Pinned", pinned, tree, row_shares, next((one for one in reruns if one.n_done), None))


def pair_side(name: str, trained: TrainedTree, tree: Tree, row_shares: Mapping[str, float], reruns: Resamples | None) -> Side:
    """A tree with its notes, folded or complete, under its settings as far as a reader of two trees needs them."""
    result = trained.result
    assert trained.tree is not None
    notes = NodeNotes(row_shares, probabilities=intervals(trained.tree, tree, result.plan, result.unit.rows))
    if reruns is not None:
        counts, ranges = reruns.split_recurrence(tree), reruns.threshold_range(tree)
        notes = replace(notes, rerun_counts=counts, n_draws=reruns.n_done, threshold_ranges=ranges)
    settings = f"ε = {number_text(result.settings.epsilon)}, depth {result.plan.depth}"
    seed = "" if result.seed is None else f", seed {result.seed}"
    return Side(f"{name}: {get_learner(result.learner).title}, {settings}{seed}", tree, notes)


def pair_words(pinned: TrainedTree, trained: TrainedTree, sides: tuple[Side, Side]) -> None:
    """What differs in words and numbers."""
    if pinned.result.model is trained.result.model:
        st.markdown("Change ε, the depth or the seed: the next tree is shown next to the pinned one.")
        return
    st.markdown(escape_markdown(pair_sentence(*sides)))
    rows_table(_delta_rows(pinned, trained, sides), "Both trees in numbers, and the difference.")
    st.caption(f"{prose('tree', 'kinds of difference')} The address of this page holds the settings of the tree now.")


def _delta_rows(pinned: TrainedTree, trained: TrainedTree, sides: tuple[Side, Side]) -> list[dict[str, str]]:
    """Epsilon, size and every measure of both trees with the difference."""
    epsilons = [one.result.settings.epsilon for one in (pinned, trained)]
    leaves = [side.tree.n_leaves for side in sides]
    rows = [(f"ε ({trained.result.unit.neighbours})", *map(number_text, epsilons), _gap_text(epsilons[1] - epsilons[0]))]
    rows.append(("Leaves on screen", *map(str, leaves), _gap_text(leaves[1] - leaves[0])))
    before, now = (one.held_out.measures if one.held_out is not None else {} for one in (pinned, trained))
    for name, title in METRICS.items():
        if not any(math.isnan(found.get(name, math.nan)) for found in (before, now)):
            gap = now[name] - before[name]
            has_unit = name in ("accuracy", "balanced_accuracy", "rmse", "mae")
            words = f"{gap_text(gap, name)} {gap_unit(name)}" if has_unit else minus(f"{round(gap, 3) + 0.0:+.3f}")
            rows.append((capital(title), measure_text(before[name], name), measure_text(now[name], name), words))
    return [dict(zip(("Measure", "Pinned", "Now", "Difference"), row, strict=True)) for row in rows]


def _gap_text(gap: float) -> str:
    return f"{'+' * (gap > 0)}{minus(number_text(gap))}"
