"""The line on top of the Data page: the table being declared; where that is the one in use, the line of every page."""

from __future__ import annotations

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.prepared import prepared
from dpviz.app.state import Loaded


def data_line(now: Loaded) -> None:
    """Whose rows are being declared and how many columns they have, and what the other pages use until then."""
    work = prepared()
    if work.draft is None or (work.table is now.table and work.role is now.role):
        parts.data_line(now)
        return
    title = parts.plain(work.title) if work.title else "A draft, its file not chosen yet"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        parts.role_badge(work.role)
        st.markdown(
            f"**{title}** · {len(work.draft.columns):,} columns · being declared; other pages still use {parts.plain(now.title)}",
            width="content",
        )
