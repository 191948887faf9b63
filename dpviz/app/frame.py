"""One way into every page: through app.py.

Until `st.navigation` has run once, Streamlit takes the files in `pages/` for an app of its own: the first visitor of a fresh
server who follows a link to a page would get the page without app.py around it. There is no public switch for that.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager


def enter() -> None:
    """Start again through app.py if this run does not come from there. The address stays the same."""
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
