"""The split of epsilon as one bar below the tree; where a learner's shares can be moved, by grips on the bar."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.app import background
from dpviz.app.component import component, event_in, ignore
from dpviz.app.parts import error, escape_markdown
from dpviz.app.prose import prose
from dpviz.app.state import DataInUse
from dpviz.app.training import canonical_key
from dpviz.app.widgets import show_chart
from dpviz.charts import budget as charts
from dpviz.charts.budget import STYLE, part_name, split_html, split_of, widths
from dpviz.errors import DpvizError
from dpviz.evaluation.shares import MovableShares, ShareMap, Shares, share_map
from dpviz.learners import FitRequest
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole

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
        _use_shares(movable, tuple(float(shares.get(place, 0.0)) for place in range(len(movable.parts))))


def _by_rule(movable: MovableShares) -> None:
    st.session_state[f"{movable.request.learner}.{movable.parameter}.by-hand"] = False


def _use_shares(movable: MovableShares, shares: Shares) -> None:
    """Put shares into the settings, as weights in percent; levels fix the depth too."""
    name = f"{movable.request.learner}.{movable.parameter}"
    st.session_state[f"{name}.by-hand"] = True
    weights, parts = movable.weights(shares), movable.parts
    if movable.by_level:
        st.session_state["depth"] = str(len(weights))
        parts = tuple(f"depth {level}" for level in range(len(weights)))
    for part, weight in zip(parts, weights, strict=True):
        st.session_state[f"{name}.{part}"] = round(100 * weight, 2)


# --- how accurate other shares are: the map


#: Draws per point; large tables vary less and take longer.
DRAWS, DRAWS_LARGE, LARGE = 50, 20, 5_000
MAP = "lab"
_PICTURE = "lab-map"


def share_map_screen(request: FitRequest, in_use: DataInUse) -> None:
    """The map of the shares in use. It begins when this is first shown."""
    if in_use.role is DataRole.PRIVATE:
        st.info(prose("tree", "no share map"), icon=":material/lock:")
        return
    try:
        movable = MovableShares.of(request, in_use.schema)
    except DpvizError as problem:
        error(problem)
        return
    if movable is None:
        words = f"{request.spec.title} has no shares to move with these settings. Choose an algorithm that has, or more levels."
        st.info(words, icon=":material/info:")
        return
    draws = DRAWS if in_use.data.n_rows <= LARGE else DRAWS_LARGE
    make = partial(share_map, movable, in_use.data, draws=draws, seed=0, workers=background.WORKERS)
    key = canonical_key(in_use, movable.request, lab=DRAWS)
    task = background.in_one(MAP, key, make, fallback_key=in_use.data.key)
    if not background.state(task).shown:
        background.autostart(task)
    with st.container(horizontal=True, vertical_alignment="center"):
        status = background.start_button(task, f"Compute the map ({draws} draws per point)", ":material/play_arrow:")
        if status.is_done:
            st.caption(":material/check: Computed for these settings.")
    background.show(task, "Computing the map")
    if not status.shown:
        return
    result, weights = status.result, getattr(request.params, movable.parameter)
    current = result.movable.of_weights(weights) if weights and len(weights) == sum(result.movable.levels) else None
    chart = charts.map_chart(result, current=current)
    st.caption(escape_markdown(chart.summary))
    stopped = f"Stopped after {result.n_draws} of {result.n_asked} draws. " if result.n_draws < result.n_asked else ""
    if len(result.movable.parts) == 3:
        st.caption(f"{stopped}Numbers: % right; darker is better. Click a cell to use its shares.")
        show_chart(chart, _PICTURE, on_select=partial(_use_cell, result))
    else:
        show_chart(chart, _PICTURE)
        st.caption(f"{stopped}The band is the 95% range of the mean.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        places, named = (
            sorted(range(len(result.points)), key=lambda at: -result.means[at]),
            partial(charts.point_words, result),
        )
        at = st.selectbox("Shares, the most accurate first", places, format_func=named, key=f"{_PICTURE}-point")
        chosen = (result.movable, result.points[at])
        st.button("Use these shares", key=f"{_PICTURE}-use", on_click=_use_shares, args=chosen)


def _use_cell(result: ShareMap) -> None:
    points = st.session_state[_PICTURE]["selection"]["points"]
    if points and "customdata" in points[0]:
        _use_shares(result.movable, result.points[int(points[0]["customdata"])])
