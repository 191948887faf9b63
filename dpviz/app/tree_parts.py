"""Parts of the pages about one tree: the verdict, what is growing, disclosures, export."""

from dataclasses import replace

import streamlit as st

from dpviz.accounting.claim import Disclosure
from dpviz.app import background, frame
from dpviz.app.controls import Sidebar, note_shown
from dpviz.app.explorations import keep_unnoted
from dpviz.app.exports import offer_export
from dpviz.app.guarantee_line import guarantee_line
from dpviz.app.parts import error, plain, plain_bound
from dpviz.app.protected import unit_in_use
from dpviz.app.state import Loaded
from dpviz.app.trees import Trained, last_tree, tree_task
from dpviz.app.widgets import on_demand
from dpviz.errors import DpvizError
from dpviz.figures.split import STYLE, split_html, split_of
from dpviz.learners import FitRequest, get_learner, result_verdict
from dpviz.learners.which import which_learner
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

_LOOK = {
    "released": (st.success, ":material/verified_user:"),
    "would": (st.info, ":material/shield:"),
    "uncovered": (st.warning, ":material/visibility:"),
    "unproven": (st.warning, ":material/help:"),
    "violated": (st.error, ":material/gpp_bad:"),
    "none": (st.warning, ":material/lock_open:"),
}
#: A tree that is trained within this many seconds is shown in the same run.
SHORT = 0.35
_BEFORE = "The tree below is still the one for the settings before."


def guarantee_of(result: FitResult, *, released: bool = False) -> None:
    """One line about the guarantee, and "why?", which opens the rest.

    `released`: it comes from a released file. What a page has trained itself is not released, whatever its noise.
    """
    said = result_verdict(result, released=released)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=frame.GUARANTEE):
        guarantee_line(said)
        with st.popover("why?", type="tertiary"):
            box, icon = _LOOK[said.kind]
            head = f"**{get_learner(result.learner).title}. {plain(said.headline)}.**"
            box(f"{head}  \n{plain(said.odds)} {said.because}", icon=icon)
            plain_bound(said.plain_bound)
            disclosures(result)


def split_bar(result: FitResult) -> None:
    """What every part is asked to cost and what is paid, as one bar; its numbers are in its words."""
    st.html(f"<style>{STYLE}</style>{split_html(split_of(result))}")


def noise_line(result: FitResult, role: DataRole = DataRole.SIMULATED) -> None:
    """Simulation or release, in words; of private rows neither: they are released on the Publish page only."""
    if role is DataRole.PRIVATE:
        st.caption(":material/lock: Explored, not released: covered by no guarantee until it is released on the Publish page.")
    elif result.released:
        st.caption(":material/verified: A release: exact samplers, no seed kept.")
    elif result.noise == "release" and result.not_released_because:
        st.caption(f":material/gpp_maybe: {plain(result.not_released_because)}")
    elif result.seed is None:
        st.caption(":material/science: Simulation, not a release: this learner has no exact sampler. Its seed is never shown.")
    else:
        st.caption(f":material/science: Simulation, not a release: its seed, {result.seed}, is known, so it protects nobody.")


def recommended_line(request: FitRequest, schema: Schema) -> None:
    """One line where the public rule recommends another learner than this; none without a declared number of rows."""
    if schema.n_public is None:
        return
    found = which_learner(schema, epsilon=request.settings.epsilon)
    if found.learner != request.learner:
        st.caption(f"Recommended by declared rows and ε alone: {get_learner(found.learner).title}. {found.lost}")


def tree_on_page(asked: Sidebar, loaded: Loaded) -> Trained | None:
    """Train what is asked for; returns the tree to draw: that one, or until it is there the one before, and says so.

    Its result says whom the rows in use protect, whatever rows stand in for them.
    """
    trained = _tree_on_page(asked, loaded)
    return trained and replace(trained, result=replace(trained.result, unit=unit_in_use()))


def _tree_on_page(asked: Sidebar, loaded: Loaded) -> Trained | None:
    try:
        task = tree_task(asked, loaded)
    except DpvizError as problem:
        before = last_tree(loaded)
        error(problem, kept=_BEFORE if before else "")
        return before
    status = background.autostart(task, SHORT)
    trained: Trained | None = status.result
    if trained is not None and status.is_current:
        note_shown(asked)
        keep_unnoted(trained.unnoted)
        return trained
    _say_why_not(task, status)
    return trained


def _say_why_not(task: background.Task, status: background.Status) -> None:
    """Why the tree on screen is not the one asked for: that is being trained, was stopped, or cannot be trained."""
    kept = _BEFORE if status.shown else ""
    if status.job is not None:
        background.watch(task, "Showing the previous tree; training the new one" if status.shown else "Training the tree")
    elif status.was_stopped:
        st.warning(f"Stopped. {kept}", icon=":material/pause_circle:")
        st.button("Train it after all", icon=":material/play_arrow:", on_click=background.start, args=(task,))
    for problem in status.problems:
        error(problem, kept=kept)


def disclosures(result: FitResult) -> None:
    """What is learned from the rows outside the ledger, each with its remedy."""
    found = result.disclosures
    if found:
        st.markdown(f":material/visibility: Learned from the rows, and not covered by ε ({len(found)}):")
        st.markdown("\n".join(f"- {line}" for line in disclosure_lines(found)))


def disclosure_lines(found: tuple[Disclosure, ...]) -> list[str]:
    """One line each, but at most three of a kind and then how many more there are."""
    kinds: dict[str, list[Disclosure]] = {}
    for item in found:
        kinds.setdefault(item.code, []).append(item)
    lines = []
    for items in kinds.values():
        lines += [f"{plain(item.what)} **{plain(item.remedy)}**" for item in items[:3]]
        lines += [f"And {len(items) - 3:,} more of this kind."] if len(items) > 3 else []
    return lines


@st.fragment
def export(trained: Trained, role: DataRole = DataRole.SIMULATED) -> None:
    """The model in any form, made and checked once the box is open. Not for private rows."""
    if role is DataRole.PRIVATE:
        st.caption("Keep what is on screen to yourself: the Publish page trains a new tree, records its cost and gives its file.")
        return
    with on_demand("Download this model", icon=":material/download:") as box:
        if box.open:
            _take_away(trained.result)


def _take_away(result: FitResult) -> None:
    try:
        document = result.to_json()
    except DpvizError as problem:  # a forest that would say where rows are
        error(problem)
        return
    label = "Download simulation" if result.noise == "simulation" else "Download"
    holds = "Holds rules, labels and released noisy counts, and says what is guaranteed; no exact counts and no rows."
    st.caption(holds if result.released else f"{holds} It says why it is not a release.")
    offer_export(document, f"{result.learner}-depth-{result.plan.depth}", key="take-away", label=label)
