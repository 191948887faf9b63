"""One tree per fresh draw, to step through or play. Its behaviour is in `redraws_view.js`."""

from pathlib import Path

from dpviz.app.component import CALM, STEPPER, component, markup

_HTML = markup(Path(__file__), calm=CALM)


def redraws_view(drawings: list[str], said: list[str], *, key: str) -> None:
    """Show drawings (complete, escaped SVG) one at a time with their words. Paused at first; nothing runs the page anew."""
    component("dpviz_redraws", STEPPER, Path(__file__), html=_HTML)(key=key, data={"drawings": drawings, "said": said})
