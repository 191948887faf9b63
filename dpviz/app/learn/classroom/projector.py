"""The view for a projector: large type, and nothing around the page."""

import streamlit as st

from dpviz.app.widgets import linked

_KEY = "projector"
_LARGE = """html { font-size: 22px !important; } [data-testid="stHeader"] { display: none; }
[data-testid="stMainBlockContainer"] { padding-top: 1.5rem; }"""


def is_on() -> bool:
    """Chosen, or in the link."""
    return bool(st.session_state.get(_KEY, st.query_params.get(_KEY) == "true"))


def dress() -> None:
    """Enlarge everything where it is on."""
    if is_on():
        st.html(f"<style>{_LARGE}</style>")


def ask() -> None:
    """The switch."""
    st.toggle("Projector view", help="Large type, and no menu. It stays on the other pages.", **linked(_KEY))
