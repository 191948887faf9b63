"""One tree per fresh draw, to step through or play. Its behaviour is in `redraws_view.js`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from dpviz.app.stepper import CALM, stepping_component

_HTML = f"""
<div class="redraws">
  <div class="bar" role="group" aria-label="Draw by draw">
    <button type="button" data-do="back">Back</button>
    <button type="button" data-do="step">Step</button>
    <button type="button" data-do="play" aria-pressed="false">Play</button>
  </div>
  <output class="said"></output>
  <div class="stage" role="img"></div>
  {CALM}
</div>
"""


def redraws_view(drawings: list[str], said: list[str], *, key: str) -> None:
    """Show drawings (complete, escaped SVG) one at a time with their words. Paused at first; nothing runs the page anew."""
    _component()(key=key, data={"drawings": drawings, "said": said})


@cache
def _component() -> Any:
    return stepping_component("dpviz_redraws", Path(__file__), _HTML)
