"""Two trees at once: one is pinned, and the tree of the next settings stands beside it.

The address holds both, as far as they can be drawn again: a tree of private rows cannot, so it stays in its session, as it is.
Nothing is trained, read or drawn again because a tree is pinned, swapped or unpinned.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import DEPTHS, Sidebar, depth_of, sidebar_of
from dpviz.app.held_out import HeldOut, parts_of, rows_of_the_tree
from dpviz.app.parts import error, plain
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.tree.resampling import SLOT as DRAWN
from dpviz.app.tree.resampling import is_resampled, resampling_task
from dpviz.app.trees import SLOT, Trained, canonical_key, tree_task
from dpviz.app.work.session import begin_unasked, put
from dpviz.app.work.watch import watch_missing
from dpviz.errors import DpvizError
from dpviz.evaluation.compare.comparison import METRICS
from dpviz.evaluation.intervals import paired_difference
from dpviz.evaluation.tree.resampling import Resamples
from dpviz.figures.compare.measure_text import gap_text, gap_unit, measure_text
from dpviz.figures.tree.pair import Side, pair_rows, pair_sentence
from dpviz.figures.wording import capital
from dpviz.learners import FitRequest, get_learner
from dpviz.models.tree import Tree
from dpviz.results.wording import number_text
from dpviz.table.checked_numbers import checked_count, checked_number
from dpviz.table.role import DataRole
from dpviz.training.estimate.collapse import collapse_leaves, intervals
from dpviz.training.exact_trace import exact_trace

_KEY, _PROBLEM, _URL = "_pinned", "_pinned_problem", "pinned"
#: Seconds that the page waits for a pinned tree, or its draws, that is not there yet.
_SHORT = 0.25


@dataclass(frozen=True, slots=True)
class Pinned:
    """A pinned tree of the rows `about` says; `trained` is None while the tree of a link is being trained."""

    about: tuple[str, str]
    asked: Sidebar
    trained: Trained | None


def pin_bar(pinned: Trained | None, trained: Trained, loaded: Loaded) -> None:
    """The buttons."""
    if pinned is None:
        words = "It stays on screen, next to the tree of the next settings."
        st.button("Pin this tree", icon=":material/push_pin:", help=words, on_click=_pin, args=(loaded, trained))
        return
    words = "The settings become those of the pinned tree, and this one is pinned."
    st.button("Swap", icon=":material/swap_horiz:", help=words, on_click=_swap, args=(loaded, pinned, trained))
    st.button("Unpin", icon=":material/close:", on_click=st.session_state.update, args=({_KEY: None},))


def _pin(loaded: Loaded, trained: Trained) -> None:
    st.session_state[_KEY] = Pinned(_about(loaded), trained.asked, trained)
    st.session_state.pop(_PROBLEM, None)


def _swap(loaded: Loaded, pinned: Trained, now: Trained) -> None:
    """The pinned tree goes back where the page looks for the tree of its settings: it is not trained again."""
    st.session_state.update(pinned.asked.widgets)
    task = tree_task(pinned.asked, loaded)
    put(task, {task.keys[0]: pinned})
    _pin(loaded, now)


def _about(loaded: Loaded) -> tuple[str, str]:
    return loaded.data.fingerprint, str(loaded.role)


# --- the address


def pinned_now(loaded: Loaded) -> Trained | None:
    """The pinned tree of these rows; the address is read in a new session and written in every run."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = _from_link(loaded)
    pinned: Pinned | None = st.session_state[_KEY]
    if pinned is not None and pinned.about != _about(loaded):
        pinned = None
    if pinned is not None and pinned.trained is None:
        pinned = _trained(pinned, loaded)
    st.session_state[_KEY] = pinned
    _write_link(pinned, loaded)
    about, problem = st.session_state.get(_PROBLEM, (None, None))
    if pinned is None and about == _about(loaded):
        error(problem)
    return pinned.trained if pinned else None


def _from_link(loaded: Loaded) -> Pinned | None:
    text = st.query_params.get(_URL)
    if text is None or loaded.role is DataRole.PRIVATE:  # a link must not train a tree of private rows
        return None
    try:
        return Pinned(_about(loaded), _asked(json.loads(text), loaded), None)
    except (DpvizError, ValueError, TypeError, KeyError, RecursionError):
        problem = DpvizError("The pinned tree of this link cannot be read.", remedy="Pin a tree again and copy the address then.")
        st.session_state[_PROBLEM] = (_about(loaded), problem)
        return None


def _asked(given: dict[str, Any], loaded: Loaded) -> Sidebar:
    """Checked: anybody may write a link. Raises DpvizError, ValueError, TypeError or KeyError."""
    learner, epsilon, depth, draw = (given[name] for name in ("learner", "epsilon", "depth", "draw"))
    params = dict(given["params"])
    is_known = learner in loaded.learners and depth in DEPTHS
    if not is_known:
        raise ValueError
    checked_number("a link", "epsilon", epsilon, least=1e-4, most=100, allowed="a number from 0.0001 to 100")
    checked_count("a link", "draw", draw, 1, 1_000_000)
    request = FitRequest.of(learner, seed=draw, epsilon=epsilon, **depth_of(depth))
    return sidebar_of(replace(request, params=params), draw)


def _write_link(pinned: Pinned | None, loaded: Loaded) -> None:
    if pinned is None or loaded.role is DataRole.PRIVATE:
        st.query_params.pop(_URL, None)
        return
    request = pinned.asked.request
    settings = {"epsilon": request.settings.epsilon, "depth": str(request.settings.depth)}
    held = {"learner": request.learner, **settings, "draw": pinned.asked.draw, "params": request.given}
    text = json.dumps(held, separators=(",", ":"))
    if st.query_params.get(_URL) != text:
        st.query_params[_URL] = text


def _trained(pinned: Pinned, loaded: Loaded) -> Pinned | None:
    """The tree of a link, once it is trained; None when it cannot be."""
    task = replace(tree_task(pinned.asked, loaded), slot=_URL, shelf=SLOT)
    status = begin_unasked(task, _SHORT)
    if status.values:
        return replace(pinned, trained=status.values[0]) if status.values[0].tree is not None else None
    for problem in status.problems:
        st.session_state[_PROBLEM] = (_about(loaded), problem)
    watch_missing(task, "Training the pinned tree")
    return None if status.problems or status.was_stopped else pinned


# --- what is shown


def beside(pinned: Trained, loaded: Loaded, *, fold: bool) -> Side:
    """The pinned tree as it is drawn; lines mean rows where rows may be shown."""
    complete, plan = pinned.tree, pinned.result.plan
    assert complete is not None
    shown = collapse_leaves(complete, plan) if fold else complete
    widths = exact_trace(complete, rows_of_the_tree(loaded)).shares(shown) if loaded.role.may_show_rows else None
    style: dict[str, Any] = {"widths": widths, "bars": intervals(complete, shown, plan, pinned.result.unit.rows)}
    drawn = _draws(pinned, loaded)
    if drawn is not None:
        style |= {"came_back": drawn.coming_back(shown), "n_draws": drawn.n_done, "between": drawn.between(shown)}
    return named("Pinned", pinned, shown, style)


def key_of(pinned: Trained, side: Side, loaded: Loaded) -> str:
    """One text per drawing of a pinned tree that can be drawn again."""
    drawn = {"n_nodes": len(side.tree.leaves), "n_draws": side.style.get("n_draws")}
    return canonical_key(loaded, pinned.asked.request, draw=pinned.asked.draw, **drawn)


def _draws(pinned: Trained, loaded: Loaded) -> Resamples | None:
    """Fresh draws of the pinned tree, in a slot of their own; None for private rows, which are never drawn again."""
    if not is_resampled(pinned.asked.request, loaded):
        return None
    task = replace(resampling_task(pinned.asked.request, loaded), slot="resampling-of-pinned", shelf=DRAWN)
    status = begin_unasked(task, _SHORT)
    drawn: tuple[Resamples, ...] = () if status.job is not None else status.values
    with st.container():
        if not drawn:
            watch_missing(task, "Training the pinned tree again with new noise")
    return drawn[0] if drawn and drawn[0].n_done else None


def named(name: str, trained: Trained, shown: Tree, style: dict[str, Any]) -> Side:
    """A tree under its settings, as far as a reader of two trees needs them."""
    settings = f"ε = {number_text(trained.result.settings.epsilon)}, depth {trained.result.plan.depth}"
    seed = "" if trained.result.seed is None else f", seed {trained.result.seed}"
    return Side(f"{name}: {get_learner(trained.result.learner).title}, {settings}{seed}", shown, style)


def pair_words(pinned: Trained, trained: Trained, sides: tuple[Side, Side], loaded: Loaded) -> None:
    """What differs in words and numbers, and every place of both trees as a table."""
    if pinned.result.model is trained.result.model:
        st.markdown("Change ε, the depth or the seed: the next tree is shown next to the pinned one.")
        return
    st.markdown(plain(pair_sentence(*sides) + _paired(pinned, trained, loaded)))
    st.table(delta_rows(pinned, trained, sides))
    private = "A link cannot bring back a tree of private rows: it would be another look."
    held = private if loaded.role is DataRole.PRIVATE else "The address of this page holds both trees."
    st.caption(f"{prose('tree', 'kinds of difference')} {held}")
    with st.expander("Both trees as text", icon=":material/notes:"):
        words = "Every place of both trees: what is there, and whether it is the same."
        st.dataframe(pair_rows(*sides), hide_index=True, alt=words)


def _paired(pinned: Trained, trained: Trained, loaded: Loaded) -> str:
    """The difference in accuracy with its interval, on the same held-out rows; nothing for numbers and private rows."""
    if not isinstance(trained.held_out, HeldOut) or not isinstance(pinned.held_out, HeldOut):
        return ""
    parts = parts_of(loaded.data)
    assert parts is not None
    test = parts[1]
    right = [one.result.model.predict(test) == test.target for one in (trained, pinned)]
    gap, low, high = (f"{100 * value:+.1f}" for value in paired_difference(*right))
    return f" Accuracy on the same {test.n_rows:,} held-out rows: {gap} points (95%: {low} to {high})."


def delta_rows(pinned: Trained, trained: Trained, sides: tuple[Side, Side]) -> list[dict[str, str]]:
    """Epsilon, size and every measure of both trees with the difference."""
    both = pinned, trained
    epsilons = [one.result.settings.epsilon for one in both]
    rows = [_row(f"ε ({NEIGHBOURS})", epsilons, number_text, lambda gap: f"{'+' * (gap > 0)}{number_text(gap)}")]
    rows.append(_row("Leaves on screen", [side.tree.n_leaves for side in sides], str, lambda gap: f"{'+' * (gap > 0)}{gap}"))
    first, second = (one.held_out.measures if one.held_out is not None else {} for one in both)
    for name in METRICS:
        values = [first.get(name, math.nan), second.get(name, math.nan)]
        if not any(map(math.isnan, values)):
            rows.append(_row(capital(METRICS[name]), values, partial(measure_text, metric=name), partial(_gap, name)))
    return rows


def _row(name: str, values: list[Any], text: Callable[[Any], str], gap: Callable[[Any], str]) -> dict[str, str]:
    return {"Measure": name, "Pinned": text(values[0]), "Now": text(values[1]), "Difference": gap(values[1] - values[0])}


def _gap(name: str, gap: float) -> str:
    unit = gap_unit(name)
    return f"{gap:+.3f}" if name not in ("accuracy", "balanced_accuracy", "rmse", "mae") else f"{gap_text(gap, name)} {unit}"
