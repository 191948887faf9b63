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
#: While a page is drawn anew, a file further down is still the one for the settings before: it cannot be taken away.
_STALE_FILE = """[data-stale="true"] [data-testid="stDownloadButton"], [data-stale="true"][class*="-png"]
{ pointer-events: none; interactivity: inert; }"""
#: The key of a row in which buttons stand beside a choice: as low as its parts, so that they share a line.
LOW = "low-buttons"
_LOW_BUTTONS = f".st-key-{LOW} .stButton button {{ min-height: 2rem; padding-block: 0; }}"
#: Chosen items of a list have white text, which falls short of AA on the dark theme's main colour. The light one's does for both:
#: a theme that changes with the time of day reruns nothing.
_CHOSEN = f"[data-tag] {{ background-color: {LIGHT.accent} !important; }}"
#: Under the pointer the chosen one of a row of buttons gets a lighter ground, on which its text falls short of AA.
_POINTED = '[data-variant="segmented_control"][data-selected]:hover { background-color: transparent !important; }'


def enter() -> None:
    """Start again through app.py if this run does not come from there (the address stays the same); then dress the page."""
    if getattr(PagesManager, "uses_pages_directory", False):
        PagesManager.uses_pages_directory = False
        st.rerun()
    st.html(f"<style>{_STALE_FILE} {_LOW_BUTTONS} {_CHOSEN} {_POINTED}</style>")


def also_at(name: str, first: Path) -> Any:
    """A page nobody sees that leads to the one in the file `first`: that stands at the bare address, people type its name."""

    def lead_there() -> None:
        st.switch_page(first, query_params=st.query_params.to_dict())

    return st.Page(lead_there, title=name, url_path=name, visibility="hidden")
