"""A drawing with cells to choose by mouse, finger or keyboard. Its behaviour is in `picture_view.js`."""

from collections.abc import Callable
from pathlib import Path

from dpviz.app.component import component
from dpviz.figures.budget.share_map import STYLE


def picture_view(wide: str, narrow: str, *, key: str, on_choice: Callable[[], None]) -> None:
    """Show one of two drawings, complete, escaped SVG whose cells have data-key, data-x and data-y: the narrow one below 520 px.

    `on_choice` runs before the page when a cell is chosen: `event_in(key, "chosen")` is its data-key.
    """
    show = component("dpviz_picture", Path(__file__), html='<div class="picture"></div>', css=STYLE)
    show(key=key, data={"wide": wide, "narrow": narrow}, on_chosen_change=on_choice)
