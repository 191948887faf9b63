"""One way into every page: through app.py.

Until `st.navigation` has run once, Streamlit takes the files in `pages/` for an app of its own: the first visitor of a fresh
server who follows a link to a page would get the page without app.py around it. There is no public switch for that, so this
file uses a private one, and does without where Streamlit no longer has it (`tests/pages/test_frame.py` notices).
"""

from base64 import b64encode
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from dpviz.figures.theme import LIGHT

_DRAWING = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M16 9v5M16 14H8v5M16 14h8v5" fill="none" stroke="{LIGHT.accent}" stroke-width="2.5"/>
<rect x="10" y="2" width="12" height="8" rx="2" fill="{LIGHT.accent}"/>
<circle cx="8" cy="23" r="5" fill="{LIGHT.class_colour(0)}"/>
<circle cx="24" cy="23" r="5" fill="{LIGHT.class_colour(1)}"/></svg>"""
#: The icon of the browser tab. Drawn here, because a named Streamlit icon would be fetched from the internet.
ICON = "data:image/svg+xml;base64," + b64encode(_DRAWING.encode()).decode()
#: The key of a row in which buttons stand beside a choice: `frame.css` makes them as low as its parts.
LOW = "low-buttons"
_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8").replace("ACCENT", LIGHT.accent)


def enter() -> None:
    """Start again through app.py if this run does not come from there (the address stays the same); then dress the page."""
    if getattr(PagesManager, "uses_pages_directory", False):
        PagesManager.uses_pages_directory = False
        st.rerun()
    st.html(f"<style>{_STYLE}</style>")


def also_at(name: str, first: Path) -> Any:
    """A page nobody sees that leads to the one in the file `first`: that stands at the bare address, people type its name."""

    def lead_there() -> None:
        st.switch_page(first, query_params=st.query_params.to_dict())

    return st.Page(lead_there, title=name, url_path=name, visibility="hidden")
