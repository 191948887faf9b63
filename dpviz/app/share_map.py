"""How accurate other shares of epsilon are: the share map, beside it one of few or of many rows; what one step more buys."""

from functools import partial
from typing import Any

import streamlit as st

from dpviz.app import background
from dpviz.app.parts import error, plain
from dpviz.app.prose import prose
from dpviz.app.split_view import use_shares
from dpviz.app.state import Loaded, encoded_sample
from dpviz.app.training import canonical_key
from dpviz.app.widgets import show_chart
from dpviz.charts import budget as charts
from dpviz.errors import DpvizError
from dpviz.evaluation.shares import MovableShares, ShareMap, Shares, one_step_more, share_map
from dpviz.io.samples import samples
from dpviz.learners import FitRequest
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget

#: Draws per point; large tables vary less and take longer.
DRAWS, DRAWS_LARGE, LARGE = 50, 20, 5_000
GAIN_DRAWS = 200
MAP, GAINS = "lab", "lab-gains"
_PICTURE = "lab-map"
_NONE = "nothing"


def share_map_screen(request: FitRequest, loaded: Loaded) -> None:
    """The map of the shares in use, and what one step more of each buys. It begins when this is first shown."""
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
    current = getattr(request.params, movable.parameter)
    task = _maps_task(movable, loaded, _ask_beside(loaded))
    if not background.state(task).shown:
        background.autostart(task)
    with st.container(horizontal=True, vertical_alignment="center"):
        status = background.start_button(
            task, f"Compute the map ({_draws(loaded.data)} draws per point)", ":material/play_arrow:"
        )
        if status.is_done:
            st.caption(":material/check: Computed for these settings.")
    background.show(task, "Computing the map")
    if status.shown:
        _maps(status.shown, current)
    if status.is_current:
        st.divider()
        _gains(movable, loaded, current)


def _key(movable: MovableShares, loaded: Loaded) -> str:
    return canonical_key(loaded, movable.request, lab=DRAWS)


def _ask_beside(loaded: Loaded) -> str:
    """A simulated sample of classes to set beside: at first the one whose size differs most."""
    others = (sample for sample in samples() if sample.role is DataRole.SIMULATED and sample.name != loaded.sample)
    titles = {o.name: o.title for o in others if isinstance(encoded_sample(o.name).schema.target, ClassTarget)}
    sizes = {name: encoded_sample(name).n_rows for name in titles}
    farthest = max(sizes, key=lambda name: max(sizes[name], loaded.data.n_rows) / max(1, min(sizes[name], loaded.data.n_rows)))
    names = (*titles, _NONE)
    words = {name: f"{titles[name]} ({sizes[name]:,} rows)" for name in titles} | {_NONE: "Nothing"}
    help_text = "Few and many rows want different shares: the same map on another sample shows it."
    options = {"format_func": words.__getitem__, "help": help_text, "key": "beside", "bind": "query-params"}
    return st.selectbox("Compare with", names, names.index(farthest), **options, persist_state="session")


def _draws(data: EncodedDataset) -> int:
    return DRAWS if data.n_rows <= LARGE else DRAWS_LARGE


def _maps_task(movable: MovableShares, loaded: Loaded, beside: str) -> background.Task:
    """The map of the rows in use and, unless that is nothing, of the sample `beside`; values are (title, map)."""
    key = _key(movable, loaded)
    makes = {key: partial(_titled_map, loaded.title, movable, loaded.data)}
    if beside != _NONE:
        title = next(sample.title for sample in samples() if sample.name == beside)
        makes[f"{beside} {key}"] = partial(_titled_map, title, *_shares_of(beside, movable))
    return background.in_parts(MAP, makes, fallback_key=loaded.data.fingerprint)


def _shares_of(name: str, movable: MovableShares) -> tuple[MovableShares, EncodedDataset]:
    """The same shares for another table; with levels, of the same depth, so that the maps compare."""
    data = encoded_sample(name)
    depth = sum(movable.levels) if movable.by_level else movable.request.settings.depth
    other = MovableShares.of(movable.request.at(depth=depth), data.schema)
    assert other is not None
    return other, data


def _titled_map(title: str, movable: MovableShares, data: EncodedDataset, **how: Any) -> tuple[str, ShareMap]:
    return title, share_map(movable, data, draws=_draws(data), seed=0, workers=background.WORKERS, **how)


def _maps(found: tuple[tuple[str, ShareMap], ...], current: Shares | None) -> None:
    (title, here), *others = found
    shares = here.movable.of_weights(current) if current and len(current) == sum(here.movable.levels) else None
    others = [(name, there) for name, there in others if there.movable.parts == here.movable.parts]
    for _, there in others:
        st.markdown(f"**{plain(charts.crossover_sentence(here, there))}**")
    spread = charts.common_spread([here, *(there for _, there in others)])
    columns = st.columns(2, gap="large") if others else [st.container()]
    with columns[0]:
        _map(here, shares, title, _PICTURE, spread)
    for name, there in others:
        with columns[1]:
            _map(there, None, name, "lab-map-beside", spread)


def _map(found: ShareMap, current: Shares | None, title: str, key: str, spread: float) -> None:
    st.markdown(f"**{plain(title)}, {found.n_rows:,} rows**")
    chart = charts.map_chart(found, current=current, spread=spread)
    st.caption(plain(chart.summary))
    stopped = f"Stopped after {found.n_draws} of {found.n_asked} draws. " if found.n_draws < found.n_asked else ""
    if len(found.movable.parts) == 3:
        st.caption(f"{stopped}Numbers: % right. {charts.scale_text(spread)} Click a cell to use its shares.")
        show_chart(chart, key, on_select=partial(_use_cell, found, key))
    else:
        show_chart(chart, key)
        st.caption(f"{stopped}The band is the 95% range of the mean.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        places = sorted(range(len(found.points)), key=lambda at: -found.means[at])
        at = st.selectbox(
            "Shares, the most accurate first", places, format_func=partial(charts.point_words, found), key=f"{key}-point"
        )
        chosen = (found.movable, found.points[at])
        st.button("Use these shares", key=f"{key}-use", on_click=use_shares, args=chosen)
    if found.has_twins:
        st.caption("Some shares lead to the same plan for this algorithm, so moving between them changes nothing.")


def _use_cell(found: ShareMap, key: str) -> None:
    points = st.session_state[key]["selection"]["points"]
    if points and "customdata" in points[0]:
        use_shares(found.movable, found.points[int(points[0]["customdata"])])


def _gains(movable: MovableShares, loaded: Loaded, current: Shares | None) -> None:
    st.subheader("What one step more buys", anchor=False)
    start = movable.of_weights(current) if current else movable.automatic
    task = background.in_one(GAINS, f"{_key(movable, loaded)} {start}", partial(_gains_of, movable, loaded.data, start))
    whose = "the shares you set" if current else "the automatic choice"
    st.markdown(plain(f"From {whose}: {charts.shares_words(movable.parts, tuple(s / sum(start) for s in start))}."))
    status = background.start_button(task, f"Try one step more of each ({GAIN_DRAWS} draws)", ":material/play_arrow:")
    background.show(task, "Trying one step more of each share")
    if not status.shown:
        return
    of, gains = status.result
    chart = charts.gains_chart(of, gains)
    st.markdown(plain(chart.summary))
    show_chart(chart, "lab-gains-figure")


def _gains_of(movable: MovableShares, data: EncodedDataset, start: Shares, **how: Any) -> tuple[MovableShares, Any]:
    return movable, one_step_more(movable, data, start, draws=GAIN_DRAWS, seed=1, workers=background.WORKERS, **how)
