"""One tree per fresh draw, to step through or play. Its behaviour is in `redraws_view.js`."""

from pathlib import Path

from dpviz.app.component import CALM, STEPPER, component

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
    component("dpviz_redraws", STEPPER, Path(__file__), html=_HTML)(key=key, data={"drawings": drawings, "said": said})
