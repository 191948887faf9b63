"""The split of epsilon as one bar below the tree; where a learner's shares can be moved, by grips on the bar."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.app.component import component, event_in, ignore
from dpviz.charts.budget import STYLE, part_name, split_html, split_of, widths
from dpviz.errors import DpvizError
from dpviz.evaluation.shares import MovableShares, Shares
from dpviz.learners import FitRequest
from dpviz.results.result import FitResult

KEY = "split"


def split_view(result: FitResult, request: FitRequest) -> None:
    """What every part is asked to cost and what is paid, as one bar; its numbers are in its words.

    A grip between two parts moves the share of epsilon from one to the other: the settings take the weights.
    """
    split = split_of(result)
    take: Callable[[], None] = ignore
    rule: Callable[[], None] = ignore
    try:
        movable = MovableShares.of(request, result.schema)
    except DpvizError:  # the fit says why
        movable = None
    data: dict[str, Any] = {
        "html": split_html(split),
        "shares": [],
        "names": [],
        "width": sum(widths(split.asked, split)),
        "byHand": False,
    }
    if movable is not None and split.asked:
        weights = getattr(request.params, movable.parameter)
        by_hand = weights is not None and len(weights) == sum(movable.levels) and sum(weights) > 0
        shares = movable.of_weights(weights) if by_hand else movable.automatic
        places = [place for place, share in enumerate(shares) if share]
        names = [movable.parts[place] if movable.by_level else part_name(movable.parts[place]) for place in places]
        data |= {"shares": [shares[place] / sum(shares) for place in places], "names": names, "byHand": by_hand}
        take, rule = partial(_take, movable, places), partial(_by_rule, movable)
    events = {"on_shares_change": take, "on_rule_change": rule}
    component("dpviz_split", Path(__file__), css=STYLE)(key=KEY, data=data, **events)


def _take(movable: MovableShares, places: list[int]) -> None:
    """The shares that were chosen on the bar; parts that have none are not on it."""
    chosen = event_in(KEY, "shares")
    if isinstance(chosen, list) and len(chosen) == len(places):
        shares = dict(zip(places, chosen, strict=True))
        use_shares(movable, tuple(float(shares.get(place, 0.0)) for place in range(len(movable.parts))))


def _by_rule(movable: MovableShares) -> None:
    st.session_state[f"{movable.request.learner}.{movable.parameter}.by-hand"] = False


def use_shares(movable: MovableShares, shares: Shares) -> None:
    """Put shares into the settings, as weights in percent; levels fix the depth too."""
    name = f"{movable.request.learner}.{movable.parameter}"
    st.session_state[f"{name}.by-hand"] = True
    weights, parts = movable.weights(shares), movable.parts
    if movable.by_level:
        st.session_state["depth"] = str(len(weights))
        parts = tuple(f"depth {level}" for level in range(len(weights)))
    for part, weight in zip(parts, weights, strict=True):
        st.session_state[f"{name}.{part}"] = round(100 * weight, 2)
