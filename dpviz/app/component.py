"""Views of our own: HTML with a style and a script, which are files beside the module that shows the view."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.charts.theme import LIGHT, role_variables

#: The theme, for every style sheet. Streamlit's own colours may be set on the host or on what it holds.
COLOURS = f":host,:host>*{{{role_variables(LIGHT)}}}\n"


@cache
def component(name: str, module: Path, *, html: str = "", css: str = "") -> Any:
    """A Streamlit component with the `.js` file and (where there is one) the `.css` file beside a module, then `css`.

    Without `html` it shows the `.html` file of the module. Style sheets find the theme's colours as `--dp-ink` and so on.
    """
    css, html = file_text(module, ".css") + css, html or file_text(module, ".html")
    return st.components.v2.component(name, html=html, css=css and COLOURS + css, js=file_text(module, ".js"))


def file_text(module: Path, suffix: str) -> str:
    """The file of this suffix beside a module; empty where there is none."""
    file = module.with_suffix(suffix)
    return file.read_text(encoding="utf-8") if file.exists() else ""


def event_in(key: str, name: str) -> str | None:
    """What the view of this key has just reported as `name`; None on every other run."""
    state = st.session_state.get(key)
    return state.get(name) if isinstance(state, dict) else None


def ignore() -> None:
    """For an event that is read from the result: Streamlit knows an event by its callback only."""
