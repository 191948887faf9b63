"""The Robustness page's parts: verdict, curves with their table, measured attacks, what it all means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dpviz.app import background
from dpviz.app.parts import plain, why_disabled
from dpviz.app.prose import prose
from dpviz.app.robustness import run
from dpviz.app.robustness.ask import RobustnessRequest, View
from dpviz.app.state import Loaded
from dpviz.app.widgets import download, linked, on_demand, show_chart, table
from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.figures import robustness as text
from dpviz.figures.robustness import Certified, attack_table, attacked_sentence, guarantee_chart, guarantee_frame, is_noisy
from dpviz.io.csv_text import frame_csv
from dpviz.results.wording import number_text
from dpviz.table.role import DataRole

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

TEXTS = "robustness"
#: Fits of rows anyone may see that are begun without being asked for.
MOST_UNASKED = 3000
#: The axis shows so many poisoned rows, of however few rows.
FEWEST = 5
#: So many seconds the page waits for a first curve rather than show none and come back later.
_PATIENCE = 1.0
_ICONS = {"proved": ":material/verified_user:", "votes": ":material/how_to_vote:"}


def robustness(request: RobustnessRequest, view: View, loaded: Loaded, above: DeltaGenerator) -> tuple[Certified, ...]:
    """Verdict, curves, table and file; returns the curves on screen. `above` is for the verdict."""
    task = run.curves_task(request, loaded)
    status = background.state(task)
    if loaded.role is not DataRole.PRIVATE and status.n_missing * request.draws * request.splits <= MOST_UNASKED:
        status = background.autostart(task, _PATIENCE)
    background.show(task, "Drawing the curves", stale="")
    if status.job is None and status.n_missing:
        fits = status.n_missing * request.draws * request.splits
        label = f"Compute {status.n_missing:,} of {len(task.keys):,} curves (up to {fits:,} fits)"
        st.button(label, icon=":material/play_arrow:", on_click=run.begin_noted, args=(task, request, loaded))
    if not status.shown:
        return ()
    found: tuple[Certified, ...] = status.shown
    view = replace(view, up_to=max(view.up_to, FEWEST / max(1, found[0].table.n_train)))
    with above:
        st.markdown(f"**{plain(text.headline(found, view.wanted))}**")
        if not status.is_current:
            st.info("The curves below are stale: they are for the settings before.", icon=":material/history:")
    _curves(found, status.asked, view, loaded)
    return found


def _curves(found: Sequence[Certified], request: RobustnessRequest, view: View, loaded: Loaded) -> None:
    attacks = measured_attacks(request, loaded)
    show_chart(guarantee_chart(found, up_to=view.up_to, unit=view.unit, wanted=view.wanted, attacks=attacks), "robust-curves")
    st.caption(prose(TEXTS, "counted"))
    st.caption(text.marks_text(found, view.wanted, are_attacked=attacks is not None))
    st.markdown("\n".join(f"- {_verdict(item, view)}" for item in found))
    if any(is_noisy(item) and item.table.n_done < item.table.n_asked for item in found):
        st.caption("Some curves were stopped early: fewer draws, and less is proved.")
    _download(found, view, loaded)


def _verdict(item: Certified, view: View) -> str:
    struck = text.struck_text(item, view.wanted)
    stands = item.kind not in _ICONS or item.table.protected_rows(view.wanted) is not None
    icon = _ICONS.get(item.kind, ":material/gpp_bad:") if stands else ":material/help:"
    crossed = f"~~{plain(struck)}~~ " if struck else ""
    return f"{icon} **{plain(text.full_name(item))}**: {crossed}{plain(text.verdict_text(item, view.wanted))}"


def measured_attacks(request: RobustnessRequest, loaded: Loaded) -> pd.DataFrame | None:
    """Every attack that was measured with these settings; None when none was."""
    import pandas as pd

    frames = background.values_of(run.attacks_task(request, loaded, tuple(ATTACKS)))
    return pd.concat(frames, ignore_index=True) if frames else None


def _download(found: Sequence[Certified], view: View, loaded: Loaded) -> None:
    if loaded.role is DataRole.PRIVATE:
        st.caption("No file: computed on private rows without noise, not to be published.")
        return
    download("Download the curves (CSV)", lambda: frame_csv(guarantee_frame(found, view.up_to)), "robustness.csv")
    st.caption("Every point of every curve, published and proved. No row of the data.")


def attacks(request: RobustnessRequest, found: Sequence[Certified], loaded: Loaded) -> None:
    """Choose attacks, measure them in the background; they then stand as dots beside the curves."""
    st.header("Try to break it", anchor=False)
    shares = " and ".join(f"{number_text(100 * share)}%" for share in run.ATTACKED)
    st.markdown(prose(TEXTS, "attacks", shares=shares))
    names = tuple(ATTACKS)
    options = {"format_func": lambda name: ATTACKS[name].title, **linked("robust-attacks")}
    chosen = st.multiselect("Attacks", names, default=list(names[1:2]), **options)
    st.caption(" ".join(f"{ATTACKS[name].title}: {ATTACKS[name].idea}" for name in chosen))
    task = run.attacks_task(request, loaded, chosen)
    count = background.state(task).n_missing
    begin = partial(run.begin_noted, request=request, loaded=loaded)
    background.start_button(task, f"Measure ({count:,} curves)", ":material/bolt:", on_click=begin)
    why_disabled("" if chosen else "Choose an attack first.")
    if chosen and not count:
        st.caption(":material/check: Measured for these settings.")
    background.show(task, "Attacking")
    frame = measured_attacks(request, loaded)
    if frame is not None:
        weaker = attacked_sentence(frame)
        if weaker:
            st.warning(plain(weaker), icon=":material/trending_down:")
        table(attack_table(found, frame), "Every measured attack beside what is proved.", key="robust-attacked")


def meaning() -> None:
    """What the words on this page mean."""
    with on_demand("How to read this page", icon=":material/help:") as box:
        if box.open:
            for column, section in zip(st.columns(3, gap="large"), ("bound", "band", "eyes"), strict=True):
                column.markdown(prose(TEXTS, section))
