"""The audit's HTML (`dpviz.figures.audit.worst_pair`) and drawings in the dashboard's colours; says which line was chosen."""

from collections.abc import Callable
from pathlib import Path

from dpviz.app.component import component, ignore


def audit_view(markup: str, *, key: str, on_choice: Callable[[], None] | None = None) -> None:
    """Show `markup`, a complete, escaped fragment of HTML or SVG, in the widget of this key.

    `on_choice` runs before the page when an element with a `data-key` is chosen: `event_in(key, "chosen")` is that key.
    """
    show = component("dpviz_audit", Path(__file__), html='<div class="dpa"></div>')
    show(key=key, data={"markup": markup}, on_chosen_change=on_choice or ignore)
