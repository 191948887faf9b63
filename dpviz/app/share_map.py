"""How accurate other shares of epsilon are: the share map."""

from functools import partial

import streamlit as st

from dpviz.app import background
from dpviz.app.parts import error, escape_markdown
from dpviz.app.prose import prose
from dpviz.app.split_view import use_shares
from dpviz.app.state import Loaded
from dpviz.app.training import canonical_key
from dpviz.app.widgets import show_chart
from dpviz.charts import budget as charts
from dpviz.errors import DpvizError
from dpviz.evaluation.shares import MovableShares, ShareMap, Shares, share_map
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole

#: Draws per point; large tables vary less and take longer.
DRAWS, DRAWS_LARGE, LARGE = 50, 20, 5_000
MAP = "lab"
_PICTURE = "lab-map"


def share_map_screen(request: FitRequest, loaded: Loaded) -> None:
    """The map of the shares in use. It begins when this is first shown."""
    if loaded.role is DataRole.PRIVATE:
        st.info(prose("tree", "no share map"), icon=":material/lock:")
        return
    try:
        movable = MovableShares.of(request, loaded.schema)
    except DpvizError as problem:
        error(problem)
        return
    if movable is None:
        words = f"{request.spec.title} has no shares to move with these settings. Choose an algorithm that has, or more levels."
        st.info(words, icon=":material/info:")
        return
    draws = DRAWS if loaded.data.n_rows <= LARGE else DRAWS_LARGE
    make = partial(share_map, movable, loaded.data, draws=draws, seed=0, workers=background.WORKERS)
    key = canonical_key(loaded, movable.request, lab=DRAWS)
    task = background.in_one(MAP, key, make, fallback_key=loaded.data.fingerprint)
    if not background.state(task).shown:
        background.autostart(task)
    with st.container(horizontal=True, vertical_alignment="center"):
        status = background.start_button(task, f"Compute the map ({draws} draws per point)", ":material/play_arrow:")
        if status.is_done:
            st.caption(":material/check: Computed for these settings.")
    background.show(task, "Computing the map")
    if status.shown:
        _map(status.result, getattr(request.params, movable.parameter))


def _map(found: ShareMap, weights: Shares | None) -> None:
    current = found.movable.of_weights(weights) if weights and len(weights) == sum(found.movable.levels) else None
    chart = charts.map_chart(found, current=current)
    st.caption(escape_markdown(chart.summary))
    stopped = f"Stopped after {found.n_draws} of {found.n_asked} draws. " if found.n_draws < found.n_asked else ""
    if len(found.movable.parts) == 3:
        st.caption(f"{stopped}Numbers: % right; darker is better. Click a cell to use its shares.")
        show_chart(chart, _PICTURE, on_select=partial(_use_cell, found))
    else:
        show_chart(chart, _PICTURE)
        st.caption(f"{stopped}The band is the 95% range of the mean.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        places = sorted(range(len(found.points)), key=lambda at: -found.means[at])
        at = st.selectbox(
            "Shares, the most accurate first", places, format_func=partial(charts.point_words, found), key=f"{_PICTURE}-point"
        )
        chosen = (found.movable, found.points[at])
        st.button("Use these shares", key=f"{_PICTURE}-use", on_click=use_shares, args=chosen)
    if found.has_twins:
        st.caption("Some shares lead to the same plan for this algorithm, so moving between them changes nothing.")


def _use_cell(found: ShareMap) -> None:
    points = st.session_state[_PICTURE]["selection"]["points"]
    if points and "customdata" in points[0]:
        use_shares(found.movable, found.points[int(points[0]["customdata"])])
