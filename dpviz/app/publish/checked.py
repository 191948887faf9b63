"""A released file on the Register page: did this register write it, and what does it cost a person? No rows are needed."""

from typing import Any

import streamlit as st

from dpviz.app.parts import file_line, plain, upload
from dpviz.app.state import Loaded
from dpviz.app.widgets import table
from dpviz.figures.budget import spending_rows
from dpviz.figures.publish.released_file import CheckedFile, checked_file, sentences, title
from dpviz.release.check import Place
from dpviz.release.register import Register

_CHECKED = "_checked_file"
_MOST_MEGABYTES = 50
_LOOK = {
    Place.AS_RELEASED: (st.success, ":material/verified:"),
    Place.CHANGED: (st.error, ":material/gpp_bad:"),
    Place.LOST: (st.error, ":material/gpp_bad:"),
}


def data_line(loaded: Loaded) -> None:
    """The line on top of the Register page: the file that is checked; no table, for none is needed."""
    found: CheckedFile | None = st.session_state.get(_CHECKED)
    if found is None:
        st.markdown("No rows are needed here.")
    else:
        file_line(found.name, f"{title(found)} · checked without rows")


def ask_released_file() -> None:
    """A place to give one, and what was found of it."""
    upload("Check a released file", "check-file", _check, type="json", max_upload_size=_MOST_MEGABYTES)
    found: CheckedFile | None = st.session_state.get(_CHECKED)
    if found is None:
        return
    (_, where), *others = sentences(found)
    box, icon = _LOOK.get(found.match.place, (st.warning, ":material/help:"))
    box(f"**{plain(where)}**", icon=icon)
    st.markdown("\n".join(f"- **{name}**: {plain(said)}" for name, said in others))
    table(
        lambda: spending_rows(found.result.plan, found.result.ledger.spent()), "What its steps cost one row.", key="checked-steps"
    )
    st.caption(f"SHA-256: `{found.match.sha256}`")
    st.button("Close the file", icon=":material/close:", on_click=_close)


def _check(file: Any) -> None:
    _close()
    st.session_state[_CHECKED] = checked_file(file.getvalue(), file.name, Register())


def _close() -> None:
    st.session_state.pop(_CHECKED, None)
