"""The audit's HTML (`dpviz.figures.audit.html`) and drawings in the dashboard's colours; says which line was chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpviz.app.component import component, event_in, ignore


def audit_view(markup: str, *, key: str, on_choice: Callable[[], None] | None = None) -> None:
    """Show `markup`, a complete, escaped fragment of HTML or SVG, in the widget of this key.

    `on_choice` runs before the page when an element with a `data-key` is chosen: `event_in(key, "chosen")` is that key.
    """
    show = component("dpviz_audit", Path(__file__), html='<div class="dpa"></div>')
    show(key=key, data={"markup": markup}, on_chosen_change=on_choice or ignore)


def choice_in(key: str) -> str | None:
    """The `data-key` that was chosen just now in the view of this key; None on every other run."""
    return event_in(key, "chosen")
