"""How text and sheets are read: what the first line holds, and where that is a row, everything a header would have said."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.app import parts
from dpviz.io.csv_lines import DELIMITERS
from dpviz.io.text import ENCODINGS
from dpviz.table.role import DataRole

HEADER, ROW = "Column names", "The first row"


def ask_reading(role: DataRole) -> dict[str, Any] | None:
    """Arguments of `read_table`; None until the owner has answered.

    What a header holds is shown as column names. For private rows nothing is taken for a header unless the owner says so.
    """
    first = st.radio(
        "What does the first line of a text file or sheet hold?",
        (HEADER, ROW),
        index=0 if role.may_read else None,
        horizontal=True,
        key=f"first-line-{role}",
    )
    if first == HEADER:
        return {}
    if first is None:
        parts.why_disabled(
            "Say first what the first line holds: column names are shown, rows are not. Other kinds of file need no answer."
        )
        return None
    return _ask_names()


def _ask_names() -> dict[str, Any] | None:
    text = st.text_area("Column names, in order", key="names", placeholder="age\nward\noutcome", help="One per line.")
    marks, encodings = st.columns(2)
    delimiter = marks.selectbox("Cells are separated by", list(DELIMITERS), format_func=DELIMITERS.__getitem__, key="delimiter")
    encoding = encodings.selectbox("Encoding", ENCODINGS, key="encoding", help="cp1252 is what Excel on Windows writes.")
    names = [name.strip() for name in text.split("\n") if name.strip()]
    parts.why_disabled("" if names else "Give the column names first.")
    return {"names": names, "delimiter": delimiter, "encoding": encoding} if names else None
