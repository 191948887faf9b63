"""One tree per fresh draw, to step through or play. Its behaviour is in `redraws_view.js`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_HTML = """
<div class="redraws">
  <div class="bar" role="group" aria-label="Draw by draw">
    <button type="button" data-do="back">Back</button>
    <button type="button" data-do="step">Step</button>
    <button type="button" data-do="play" aria-pressed="false">Play</button>
  </div>
  <output class="said"></output>
  <div class="stage" role="img"></div>
  <p class="calm" hidden>Play is left out because this device asks for less motion. Step shows the same draws.</p>
</div>
"""


def redraws_view(drawings: list[str], said: list[str], *, key: str) -> None:
    """Show drawings (complete, escaped SVG) one at a time with their words. Paused at first; nothing runs the page anew."""
    _component()(key=key, data={"drawings": drawings, "said": said})


@cache
def _component() -> Any:
    here = Path(__file__)
    css, js = (here.with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".css", ".js"))
    return st.components.v2.component("dpviz_redraws", html=_HTML, css=css, js=js)
