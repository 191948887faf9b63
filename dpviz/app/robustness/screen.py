"""The Robustness page's main part: the verdict, the curves with their table, measured attacks, and what it all means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpviz.app.parts import error, plain
from dpviz.app.prose import prose
from dpviz.app.robustness import run, tiles
from dpviz.app.robustness.ask import Look, Question
from dpviz.app.robustness.tiles import Batch, Tile
from dpviz.app.state import Loaded
from dpviz.app.widgets import chart, download, table
from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.figures.robustness import text
from dpviz.figures.robustness.certified import Certified, is_noisy
from dpviz.figures.robustness.guaranteed_accuracy import MARKS, guarantee_figure
from dpviz.figures.robustness.table import attack_table, guarantee_frame, guarantee_rows
from dpviz.io.csv_text import frame_csv
from dpviz.table.role import DataRole

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

TEXTS = "robustness"
CURVES, ATTACK = "robustness", "robustness-attack"
#: Fits of rows anyone may see that are begun without being asked for.
MOST_UNASKED = 3000
_LAST = "_robustness_last"
_AGREED = "robust-keep-private"
_ICONS = {"proved": ":material/verified_user:", "votes": ":material/how_to_vote:"}


def private_notice(loaded: Loaded) -> bool:
    """In the private role: what no epsilon covers, and the question before anything is computed. True when it may go on."""
    if loaded.role is not DataRole.PRIVATE:
        return True
    st.warning(prose(TEXTS, "private"), icon=":material/lock:")
    return st.checkbox("I may see these rows, and will keep the curves to myself", key=_AGREED)


def robustness(question: Question, look: Look, loaded: Loaded, above: DeltaGenerator) -> tuple[Certified, ...]:
    """Verdict, curves, table and file; returns the curves on screen. `above` is for the verdict."""
    wanted = run.curve_tiles(question, loaded)
    batch = _begun(question, wanted, loaded)
    _status(batch, question, wanted, loaded)
    found, shown, is_current = _shown(batch, question, loaded)
    for problem in batch.problems:
        error(problem)
    if not found:
        return ()
    with above:
        _lead(found, look, is_current)
    _curves(found, shown, look, loaded)
    return found


def _begun(question: Question, wanted: Sequence[Tile], loaded: Loaded) -> Batch:
    """Small work on rows anyone may see begins by itself; all else waits for the button."""
    batch = tiles.look(CURVES, wanted)
    is_small = batch.n_missing * question.draws * question.splits <= MOST_UNASKED
    is_free = loaded.role is not DataRole.PRIVATE and batch.job is None and not batch.was_stopped and batch.problem is None
    if batch.n_missing and is_small and is_free:
        tiles.begin(CURVES, wanted)
        return tiles.look(CURVES, wanted)
    return batch


def _status(batch: Batch, question: Question, wanted: Sequence[Tile], loaded: Loaded) -> None:
    if batch.problem is not None:
        error(batch.problem)
    tiles.watch(CURVES, wanted, "Drawing the curves")
    if batch.job is None and batch.n_missing:
        fits = batch.n_missing * question.draws * question.splits
        look = {"icon": ":material/play_arrow:", "on_click": run.begin, "args": (CURVES, wanted, question, loaded)}
        st.button(f"Compute {batch.n_missing:,} of {len(wanted):,} curves (up to {fits:,} fits)", **look)


def _shown(batch: Batch, question: Question, loaded: Loaded) -> tuple[tuple[Certified, ...], Question, bool]:
    """(curves, their question, whether it is the one asked): what is there, else the last curves of these rows."""
    last = st.session_state.setdefault(_LAST, {})
    place = (loaded.data.fingerprint, str(loaded.role))
    if batch.values:
        last[place] = question
        return batch.values, question, True
    before = last.get(place)
    return (tiles.look_at(run.curve_tiles(before, loaded)), before, False) if before else ((), question, True)


def _lead(found: Sequence[Certified], look: Look, is_current: bool) -> None:
    st.header(plain(text.headline(found, look.wanted)), anchor=False)
    st.caption(prose(TEXTS, "counted"))
    if not is_current:
        st.info("The curves below are stale: they are for the settings before.", icon=":material/history:")


def _curves(found: Sequence[Certified], question: Question, look: Look, loaded: Loaded) -> None:
    attacks = measured(question, loaded)
    figure = guarantee_figure(found, up_to=look.up_to, unit=look.unit, wanted=look.wanted, attacks=attacks)
    chart(figure, text.guarantee_sentence(found, look.wanted), key="robust-curves")
    st.caption(MARKS)
    _verdicts(found, look)
    table(guarantee_rows(found, look.up_to), "Every curve at eleven numbers of poisoned rows.")
    _download(found, look, loaded)


def _verdicts(found: Sequence[Certified], look: Look) -> None:
    """One line per curve; what is refused is struck through and says why."""
    st.markdown("\n".join(f"- {_verdict(item, look)}" for item in found))
    if any(is_noisy(item) and item.table.n_done < item.table.n_asked for item in found):
        st.caption("Some curves were stopped early: fewer draws, a wider band.")


def _verdict(item: Certified, look: Look) -> str:
    struck = text.struck_text(item, look.wanted)
    stands = item.kind not in _ICONS or item.table.protected_rows(look.wanted) is not None
    icon = _ICONS.get(item.kind, ":material/gpp_bad:") if stands else ":material/help:"
    crossed = f"~~{plain(struck)}~~ " if struck else ""
    return f"{icon} **{plain(text.full_name(item))}**: {crossed}{plain(text.verdict_text(item, look.wanted))}"


def measured(question: Question, loaded: Loaded) -> pd.DataFrame | None:
    """Every attack that was measured with these settings; None when none was."""
    import pandas as pd

    frames = tiles.look_at(run.attack_tiles(question, loaded, tuple(ATTACKS)))
    return pd.concat(frames, ignore_index=True) if frames else None


def _download(found: Sequence[Certified], look: Look, loaded: Loaded) -> None:
    if loaded.role is DataRole.PRIVATE:
        st.caption("No file: computed on private rows without noise, not to be published.")
        return
    download("Download the curves (CSV)", lambda: frame_csv(guarantee_frame(found, look.up_to)), "robustness.csv")
    st.caption("Every point of every curve, published and proved. No row of the data.")


def attacks(question: Question, found: Sequence[Certified], loaded: Loaded) -> None:
    """Choose attacks, measure them in the background; they then stand as dots beside the curves."""
    st.header("Try to break it", anchor=False)
    st.markdown(prose(TEXTS, "attacks"))
    names = tuple(ATTACKS)
    look = {"format_func": lambda name: ATTACKS[name].title, "key": "robust-attacks", "persist_state": "session"}
    chosen = st.multiselect("Attacks", names, default=list(names[1:2]), bind="query-params", **look)
    st.caption(" ".join(f"{ATTACKS[name].title}: {ATTACKS[name].idea}" for name in chosen))
    wanted = run.attack_tiles(question, loaded, chosen)
    batch = tiles.look(ATTACK, wanted)
    reason = "" if chosen else "Choose an attack first."
    args: dict[str, Any] = {"on_click": run.begin, "args": (ATTACK, wanted, question, loaded), "help": reason or None}
    is_free = bool(batch.n_missing) and batch.job is None
    st.button(f"Measure ({batch.n_missing:,} curves)", icon=":material/bolt:", disabled=not is_free, **args)
    if chosen and not batch.n_missing:
        st.caption(":material/check: Measured for these settings.")
    tiles.watch(ATTACK, wanted, "Attacking")
    for problem in (*batch.problems, *((batch.problem,) if batch.problem else ())):
        error(problem)
    frame = measured(question, loaded)
    if frame is not None:
        table(attack_table(found, frame), "Every measured attack beside what is proved.")


def meaning() -> None:
    """What the words on this page mean."""
    st.header("How to read this", anchor=False)
    for column, section in zip(st.columns(3, gap="large"), ("bound", "band", "eyes"), strict=True):
        column.markdown(prose(TEXTS, section))
