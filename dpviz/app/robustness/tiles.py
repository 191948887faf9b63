"""Answers that stay in the session, each under a key of its own; what is missing is computed in the background, one by one.

A page asks for several tiles at once and draws those that are there. What is stopped half way is kept, and still counts as
missing. Keys hold fingerprints, settings and seeds, never rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any

import streamlit as st

from dpviz.app.work import long_work
from dpviz.app.work.jobs import Job
from dpviz.errors import Cancelled, DpvizError

_KEPT = "_robustness_tiles"
_MOST = 400
_EVERY = 0.5
Make = Callable[[Callable[[float], None], Callable[[], bool]], Any]


@dataclass(frozen=True)
class Tile:
    """One answer: its key, and how to compute it given `progress` (a share) and `stop`."""

    key: str
    make: Make


@dataclass(frozen=True)
class Kept:
    """What there is of a tile: its value, or why there is none; `is_whole` is False when it was stopped half way."""

    value: Any
    is_whole: bool = True
    problem: DpvizError | None = None


@dataclass(frozen=True)
class Batch:
    """Where the tiles of a lane stand.

    Attributes
    ----------
    there : tuple of Kept or None
        One per tile.
    job : Job or None
        The missing ones are being computed.
    was_stopped : bool
        Computing them was stopped.
    problem : DpvizError or None
        It failed as a whole.
    """

    there: tuple[Kept | None, ...]
    job: Job | None
    was_stopped: bool
    problem: DpvizError | None

    @property
    def n_missing(self) -> int:
        """Tiles that are not there as a whole."""
        return sum(kept is None or not kept.is_whole for kept in self.there)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values that are there, whole or not."""
        return tuple(kept.value for kept in self.there if kept is not None and kept.problem is None)

    @property
    def problems(self) -> tuple[DpvizError, ...]:
        """Why some tiles can never be there."""
        return tuple(kept.problem for kept in self.there if kept is not None and kept.problem is not None)


def look(lane: str, tiles: Sequence[Tile]) -> Batch:
    """Where these tiles stand. Work of the lane for other tiles is stopped; what it finished stays."""
    seen = long_work.look(lane, _name(tiles))
    found = _kept()
    return Batch(tuple(found.get(tile.key) for tile in tiles), seen.job, seen.was_stopped, seen.problem)


def begin(lane: str, tiles: Sequence[Tile]) -> Job:
    """Compute those of the tiles that are missing."""
    return long_work.begin(lane, _name(tiles), _working(tiles, _kept()))


def _working(tiles: Sequence[Tile], found: dict[str, Kept]) -> Callable[[Callable[[float], None], Event], int]:
    """`found` is handed over, because work off the page has no session."""
    missing = [tile for tile in tiles if tile.key not in found or not found[tile.key].is_whole]

    def work(progress: Callable[[float], None], stop: Event) -> int:
        for place, tile in enumerate(missing):
            if stop.is_set():
                raise Cancelled
            found[tile.key] = _made(tile, partial(_tell, progress, place, len(missing)), stop)
            _drop_oldest(found)
        return len(missing)

    return work


def _tell(progress: Callable[[float], None], place: int, count: int, share: float) -> None:
    progress((place + share) / count)


def _made(tile: Tile, tell: Callable[[float], None], stop: Event) -> Kept:
    try:
        value = tile.make(tell, stop.is_set)
    except Cancelled:
        raise
    except DpvizError as problem:
        return Kept(None, problem=problem)
    return Kept(value, not stop.is_set())


def _drop_oldest(found: dict[str, Kept]) -> None:
    for key in list(found)[: max(0, len(found) - _MOST)]:
        del found[key]


def _kept() -> dict[str, Kept]:
    return st.session_state.setdefault(_KEPT, {})


def _name(tiles: Sequence[Tile]) -> str:
    return hashlib.sha256("\n".join(tile.key for tile in tiles).encode()).hexdigest()


def watch(lane: str, tiles: Sequence[Tile], words: str) -> None:
    """Progress and Cancel of work under way; the page is drawn anew whenever a tile is done. Why it ended early, otherwise."""
    batch = look(lane, tiles)
    if batch.job is not None:
        _watch(batch.job, tiles, batch.n_missing, words)
    elif batch.was_stopped:
        st.info(f"Stopped. What was done is kept; {batch.n_missing:,} of {len(tiles):,} are missing.", icon=":material/pause:")


def _watch(job: Job, tiles: Sequence[Tile], n_missing: int, words: str) -> None:
    found = _kept()

    @st.fragment(run_every=_EVERY)
    def poll() -> None:
        left = sum(tile.key not in found or not found[tile.key].is_whole for tile in tiles)
        if job.is_done or left < n_missing:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(job.share, text=f":material/hourglass_top: {words}, {_left_text(job)} …")
            if st.button("Cancel", key=f"Cancel: {words}", help="What is done is kept."):
                job.stop()
                st.rerun()

    poll()


def _left_text(job: Job) -> str:
    if not job.has_begun:
        return "waiting for other work on this server"
    seconds = job.seconds_left
    return f"{job.share:.0%}" if seconds is None else f"{job.share:.0%}, about {max(1, round(seconds)):,} s left"


def look_at(tiles: Sequence[Tile]) -> tuple[Any, ...]:
    """The values that are there, without touching any work."""
    found = _kept()
    kept = (found.get(tile.key) for tile in tiles)
    return tuple(item.value for item in kept if item is not None and item.problem is None)
