"""What goes through draws, one step or played: how the two views that do so are put together. See `stepper.js`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

#: Stands below a view whose Play button was left out.
CALM = '<p class="calm" hidden>Play is left out because this device asks for less motion. Step shows the same draws.</p>'


def stepping_component(name: str, view: Path, html: str, *, css: str = "") -> Any:
    """A component whose behaviour and looks are the stepper's, followed by those that stand beside the file `view`."""
    shared = Path(__file__)
    looks, behaviour = (
        "".join(path.with_suffix(suffix).read_text(encoding="utf-8") for path in (shared, view)) for suffix in (".css", ".js")
    )
    return st.components.v2.component(name, html=html, css=looks + css, js=behaviour)
