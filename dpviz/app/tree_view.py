"""The tree drawing as a widget: zoom, pan, choose a node by mouse, finger or keyboard. Its behaviour is in `tree_view.js`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from dpviz.app.component import component, event_in, ignore


def tree_view(
    svg_wide: str,
    svg_narrow: str,
    *,
    selected: str | None,
    key: str,
    ladders: Mapping[str, str] | None = None,
    at: Mapping[str, float] | None = None,
    on_dragged: Callable[[str], None] = lambda along: None,
) -> str | None:
    """Show a tree; return the id of the node that was chosen just now ("root.L"), None on every other run.

    `svg_wide` and `svg_narrow` are drawings of one tree by `dpviz.figures.tree.svg`; the narrow one is shown below 520 px. A tree
    of the same shape as the one before keeps zoom, place and focus. Choosing a node is one rerun: the widget marks it at once, so
    the drawings may be made without a selection. `selected` is the node to mark, as the page knows it; a choice made just now
    goes before it.

    `ladders` is the tree at other values of "epsilon" and of "depth", to drag through, as `dpviz.app.tree.ladder` packs them, and
    `at` where the drawings stand on them. `on_dragged` is called when another "epsilon" or "depth" was chosen;
    `event_in(key, "depth")` is its value.
    """
    marked = chosen_node(key) or selected
    data = {"wide": svg_wide, "narrow": svg_narrow, "selected": marked, "key": key, "ladders": ladders or {}, "at": at or {}}
    show = component("dpviz_tree", Path(__file__))
    dragged = {f"on_{along}_change": partial(on_dragged, along) for along in ("epsilon", "depth")}
    result = show(key=key, data=data, on_clicked_change=ignore, **dragged)
    return result.clicked


def chosen_node(key: str) -> str | None:
    """The node chosen just now in the tree of this key, for what is drawn above it; None on every other run."""
    return event_in(key, "clicked")
