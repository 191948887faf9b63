"""What plotly's charts share: size and margins, legends, bars, bands, marks with their limits, reference lines, panels.

Plotly is loaded when the first chart is drawn: drawings in SVG, HTML and texts do without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpviz.charts.theme import NEUTRAL, WHITE, translucent

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as Figure
else:
    Figure = Any

#: A chart as a table; everything is written out, since ∞ appears among the numbers.
Rows = list[dict[str, str]]
Style = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A picture with what it says: `summary` in words, also for those who cannot see it, and its numbers as a table.

    `rows` may be a function, for numbers that take a moment; it is called when they are looked at. None: there is no table.
    """

    figure: Figure
    summary: str
    rows: Rows | Callable[[], Any] | None = None


LEGEND_ABOVE: Style = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
LEGEND_BELOW: Style = {"orientation": "h", "x": 0, "y": 0, "yanchor": "bottom", "yref": "container"}
#: A vertical axis of names, the first one on top.
NAMES: Style = {"autorange": "reversed", "title": None, "automargin": True}
#: A trace that is only there to be seen.
SILENT: Style = {"showlegend": False, "hoverinfo": "skip"}


def chart(height: int, *, top: int = 8, right: int = 12, **layout: Any) -> Figure:
    """An empty figure of this many pixels with small margins."""
    from plotly.graph_objects import Figure

    return Figure(layout=_size(height, top, right) | layout)


def panels(count: int, height: int, *, top: int = 8, spacing: float, layout: Style | None = None, **subplots: Any) -> Figure:
    """Empty figures one below the other over one horizontal axis; `subplots` goes to plotly's `make_subplots`."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=count, cols=1, shared_xaxes=True, vertical_spacing=spacing, **subplots)
    return figure.update_layout(_size(height, top, 12) | (layout or {}))


def _size(height: int, top: int, right: int) -> Style:
    return {"height": height, "margin": {"l": 8, "r": right, "t": top, "b": 8}}


def line(colour: str, width: float = 2.5, dash: str = "solid") -> Style:
    """A line of this colour, its width in pixels."""
    return {"color": colour, "width": width, "dash": dash}


def level_line(
    figure: Figure, *, x: float | None = None, y: float | None = None, words: str = "", look: Style | None = None, **more: Any
) -> None:
    """A line through the chart at one value of an axis, `words` beside it; `more` is for plotly's `add_vline` or `add_hline`."""
    add, at = (figure.add_vline, x) if y is None else (figure.add_hline, y)
    note = {"annotation_text": words} if words else {}
    add(at, line=look or line(NEUTRAL, 1.5, "dot"), **note, **more)
    if words and x is not None and figure.layout.xaxis.type == "log":  # plotly puts a line there by value, a text by power
        figure.layout.annotations[-1].x = math.log10(x)


def marker(colour: str, symbol: str, size: float = 13, edge: float = 2) -> Style:
    """A symbol with an outline, so that open ones are seen too."""
    return {"symbol": symbol, "size": size, "color": colour, "line": {"width": edge, "color": colour}}


def band(x: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str, opacity: float = 0.18) -> Style:
    """The area between two curves, as arguments of `add_scatter`."""
    ends = {"x": [*x, *reversed(x)], "y": [*high, *reversed(low)]}
    return ends | {"fill": "toself", "fillcolor": translucent(colour, opacity), "mode": "lines", "line": {"width": 0}} | SILENT


def limits(up: Any, down: Any, colour: str, *, thickness: float = 2, width: float = 6) -> Style:
    """Limits above and below points, as an `error_x` or `error_y`."""
    return {"type": "data", "array": up, "arrayminus": down, "color": colour, "thickness": thickness, "width": width}


def bars(names: Sequence[Any], lengths: Sequence[float], words: Sequence[str], style: Style) -> Style:
    """Bars from top to bottom with words at their ends, as arguments of `add_bar`."""
    ends = {"x": list(lengths), "y": list(names), "orientation": "h", "marker": style}
    return ends | {"text": list(words), "textposition": "outside", "textangle": 0, "cliponaxis": False}


def hatched_bar(colour: str | Sequence[str], hatch: str | Sequence[str] = "") -> Style:
    """A bar in its colour with hatching over it, or several with one each."""
    pattern = {"shape": hatch, "fillmode": "overlay", "fgcolor": translucent(WHITE, 0.5), "size": 7, "solidity": 0.25}
    return {"color": colour, "pattern": pattern}
