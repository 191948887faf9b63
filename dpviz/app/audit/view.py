"""The audit's HTML (`dpviz.figures.audit.html`) and drawings in the dashboard's colours; says which line was chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st


def audit_view(markup: str, *, key: str, on_choice: Callable[[], None] | None = None) -> None:
    """Show a fragment. `on_choice` runs before the page when an element with a `data-key` is chosen; see `choice_in`.

    Parameters
    ----------
    markup : str
        A complete, escaped fragment of HTML or SVG.
    key : str
        The widget's key.
    """
    _component()(key=key, data={"markup": markup}, on_chosen_change=on_choice or _nothing)


def choice_in(key: str) -> str | None:
    """The `data-key` that was chosen just now in the view of this key; None on every other run."""
    state = st.session_state.get(key)
    return state.get("chosen") if isinstance(state, dict) else None


def _nothing() -> None:
    """Streamlit knows an event by its callback; a view without choices has none to make."""


@cache
def _component() -> Any:
    here = Path(__file__)
    css, js = (here.with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".css", ".js"))
    return st.components.v2.component("dpviz_audit", html='<div class="dpa"></div>', css=css, js=js)
