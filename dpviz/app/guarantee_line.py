"""What is guaranteed of the tree on screen: one line that follows epsilon while it is dragged, and its reasons one click away."""

from pathlib import Path

import streamlit as st

from dpviz.accounting.claim import Disclosure
from dpviz.app import frame
from dpviz.app.component import component
from dpviz.app.parts import escape_markdown, plain_bound
from dpviz.charts.tree.paths import PENDING, guarantee_words
from dpviz.learners import get_learner
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole

_LOOK = {
    "released": (st.success, ":material/verified_user:"),
    "would": (st.info, ":material/shield:"),
    "uncovered": (st.warning, ":material/visibility:"),
    "unproven": (st.warning, ":material/help:"),
    "violated": (st.error, ":material/gpp_bad:"),
    "none": (st.warning, ":material/lock_open:"),
}


def guarantee_of(result: FitResult) -> None:
    """One line about the guarantee, and "why?", which opens the rest. What a page has trained itself is not released."""
    verdict = result.verdict(released=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=frame.GUARANTEE):
        data = guarantee_words(verdict) | {"pending": PENDING}
        component("dpviz_guarantee", Path(__file__))(key="guarantee", data=data)
        with st.popover("why?", type="tertiary"):
            box, icon = _LOOK[verdict.kind]
            head = f"**{get_learner(result.learner).title}. {escape_markdown(verdict.headline)}.**"
            box(f"{head}  \n{escape_markdown(verdict.odds)} {verdict.because}", icon=icon)
            plain_bound(verdict.plain_bound)
            if result.disclosures:
                st.markdown(f":material/visibility: Learned from the rows, and not covered by ε ({len(result.disclosures)}):")
                st.markdown("\n".join(f"- {line}" for line in _disclosure_lines(result.disclosures)))


def noise_line(result: FitResult, role: DataRole) -> None:
    """Simulation or release, in words; of private rows neither: they are released on the Publish page only."""
    if role is DataRole.PRIVATE:
        st.caption(":material/lock: Explored, not released: covered by no guarantee until it is released on the Publish page.")
    elif result.released:
        st.caption(":material/verified: A release: exact samplers, no seed kept.")
    elif result.noise == "release" and result.not_released_because:
        st.caption(f":material/gpp_maybe: {escape_markdown(result.not_released_because)}")
    elif result.seed is None:
        st.caption(":material/science: Simulation, not a release: this learner has no exact sampler. Its seed is never shown.")
    else:
        st.caption(f":material/science: Simulation, not a release: its seed, {result.seed}, is known, so it protects nobody.")


def _disclosure_lines(disclosures: tuple[Disclosure, ...]) -> list[str]:
    """One line each, but at most three of a kind and then how many more there are."""
    kinds: dict[str, list[Disclosure]] = {}
    for item in disclosures:
        kinds.setdefault(item.code, []).append(item)
    lines = []
    for items in kinds.values():
        lines += [f"{escape_markdown(item.what)} **{escape_markdown(item.remedy)}**" for item in items[:3]]
        lines += [f"And {len(items) - 3:,} more of this kind."] if len(items) > 3 else []
    return lines
