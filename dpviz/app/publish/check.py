"""The leak linter of the Publish page: everything a release takes as public, with its badge and the fix."""

from collections.abc import Sequence

import streamlit as st

from dpviz.app.parts import literal, plain
from dpviz.app.state import Loaded
from dpviz.release.records import n_uses
from dpviz.release.register import Register
from dpviz.release.release import Assumption, Status, assumptions
from dpviz.table.role import DataRole

_LOOK = {
    Status.DECLARED: ("gray", ":material/edit:"),
    Status.UNSAID: ("gray", ":material/remove:"),
    Status.READ: ("orange", ":material/visibility:"),
    Status.EXPLORED: ("orange", ":material/travel_explore:"),
    Status.DOUBTFUL: ("orange", ":material/help:"),
}


def n_explorations(book: Register, loaded: Loaded) -> int | None:
    """How often these rows were looked at; None where exploring costs nothing."""
    if loaded.role is not DataRole.PRIVATE:
        return None
    return n_uses(book.uncovered_uses(loaded.data.identity))


def check(book: Register, loaded: Loaded) -> None:
    """What must be mended, what is doubtful, and the long list of what was declared."""
    found = assumptions(loaded.schema, explored=n_explorations(book, loaded))
    of_file = [item for item in found if item.kind != "tuning"]  # as a release counts them: looks are its owner's alone
    blocking = [item for item in found if item.blocks]
    doubtful = [item for item in found if item.fix and not item.blocks]
    if not (blocking or doubtful):
        _every("Nothing was read from the data: assumptions", ":material/check:", of_file)
        return
    st.header("What is taken as public", anchor=False)
    if blocking:
        count = "1 assumption was" if len(blocking) == 1 else f"{len(blocking):,} assumptions were"
        st.error(f"**{count} read from the data.** No ε covers that, so nothing is released yet.", icon=":material/gpp_bad:")
    else:
        st.success("**Nothing was read from the data.**", icon=":material/check:")
    for item in (*blocking[:6], *doubtful):
        _line(item)
    if len(blocking) > 6:
        st.caption(f"And {len(blocking) - 6:,} more of this kind.")
    _every("Every assumption", ":material/checklist:", of_file)


def _line(item: Assumption) -> None:
    color, icon = _LOOK[item.status]
    of = f" of {literal(item.column)}" if item.column else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(str(item.status), color=color, icon=icon)
        st.markdown(f"{item.kind.capitalize()}{of}: {plain(item.what)}. **{plain(item.fix)}**", width="stretch")


def _every(label: str, icon: str, found: Sequence[Assumption]) -> None:
    with st.expander(f"{label} ({len(found):,})", icon=icon):
        st.caption("What was declared must be true without looking at the rows.")
        rows = [
            {"what": item.kind, "column": item.column, "taken as public": item.what, "badge": str(item.status), "fix": item.fix}
            for item in found
        ]
        st.dataframe(rows, hide_index=True, alt="Everything a release takes as public, where it comes from and how to fix it.")
