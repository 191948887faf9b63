"""Views of our own: HTML with a style and a script, which are files beside the module that shows the view."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.charts.theme import LIGHT, role_variables

#: The theme, for every style sheet. Streamlit's own colours may be set on the host or on what it holds.
COLOURS = f":host,:host>*{{{role_variables(LIGHT)}}}\n"


@cache
def component(name: str, *modules: Path, html: str = "", css: str = "") -> Any:
    """A Streamlit component with the `.css` (where there is one) and `.js` files beside these modules, then `css`.

    Without `html` it shows the `markup` of the last module. Style sheets find the theme's colours as `--dp-ink` and so on.
    """
    style, script = ("".join(_text(module, suffix) for module in modules) for suffix in (".css", ".js"))
    dress = style + css
    return st.components.v2.component(name, html=html or markup(modules[-1]), css=dress and COLOURS + dress, js=script)


def _text(module: Path, suffix: str) -> str:
    file = module.with_suffix(suffix)
    return file.read_text(encoding="utf-8") if file.exists() else ""


def markup(module: Path) -> str:
    """The `.html` file beside a module, with `{neighbours}` filled in."""
    return _text(module, ".html").format(neighbours=NEIGHBOURS)


def event_in(key: str, name: str) -> str | None:
    """What the view of this key has just reported as `name`; None on every other run."""
    state = st.session_state.get(key)
    return state.get(name) if isinstance(state, dict) else None


def ignore() -> None:
    """For an event that is read from the result: Streamlit knows an event by its callback only."""
