"""Smooth or global? Two charts over the gap of one leaf: how likely its label flips, and what one row more reveals.

Pure functions of `LeafCurve`s -> a plotly Figure, a sentence for people who do not see it, and rows for a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.smooth_leaf import LeafCurve, Rule, delta_needed, first_violation
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.learn.mechanisms import FIRST, NEUTRAL, SECOND, Rows, laid_out, percent

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Name, colour, dash and marker of every rule: never by colour alone.
LOOKS: dict[Rule, tuple[str, str, str, str]] = {
    "smooth": ("smooth (published)", SECOND, "dash", "diamond-open"),
    "global": ("global", NEUTRAL, "dot", "square"),
    "permute-and-flip": ("permute-and-flip", FIRST, "solid", "circle"),
}
_ALLOWED = "#12806a"
#: Chances below this and losses above so many epsilons are drawn at the edge: nobody can tell them apart.
_LEAST_CHANCE, _MOST_LOSS = 1e-6, 100.0
_MOST_MARKERS = 12


def gaps_to_show(epsilon: float) -> int:
    """So many gaps that the first broken promise stands well inside."""
    broken = first_violation("smooth", epsilon)
    return max(8, math.ceil(1.6 * broken)) if broken is not None else 8


def leaf_figure(curves: Sequence[LeafCurve]) -> Figure:
    """Above: the chance that the smaller class is published. Below: the largest log ratio of neighbours, and epsilon."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.1)
    for curve in curves:
        title, colour, dash, symbol = LOOKS[curve.rule]
        line = {"color": colour, "dash": dash, "width": 2}
        marker = {"symbol": symbol, "size": 8, "maxdisplayed": _MOST_MARKERS}
        look = {"x": curve.gaps, "line": line, "marker": marker, "mode": "lines+markers", "name": title, "legendgroup": title}
        flip, loss = curve.flip.clip(_LEAST_CHANCE), (curve.log_ratio / curve.epsilon).clip(1e-3, _MOST_LOSS)
        hover = f"gap %{{x}}: %{{customdata}}<extra>{title}</extra>"
        figure.add_scatter(y=flip, customdata=[percent(p) for p in curve.flip], hovertemplate=hover, **look, row=1, col=1)
        words = [f"{number_text(value)} ε" for value in curve.log_ratio / curve.epsilon]
        figure.add_scatter(y=loss, customdata=words, hovertemplate=hover, showlegend=False, **look, row=2, col=1)
    figure.add_hline(1, row=2, col=1, line={"color": _ALLOWED, "width": 2})
    note = {"text": "allowed: 1 ε", "x": 1, "xref": "x2 domain", "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(y=0, yref="y2", **note)
    ticks = {"tickvals": [1e-6, 1e-4, 1e-2, 0.5], "ticktext": ["≤ 0.0001 %", "0.01 %", "1 %", "50 %"]}
    figure.update_yaxes(type="log", range=[-6.2, 0], title="smaller class published", **ticks, row=1, col=1)
    steps = {"tickvals": [0.01, 0.1, 1, 10, 100], "ticktext": ["0.01 ε", "0.1 ε", "1 ε", "10 ε", "≥ 100 ε"]}
    figure.update_yaxes(type="log", range=[-2, 2.1], title="what one row more reveals", **steps, row=2, col=1)
    figure.update_xaxes(title="gap, in rows", row=2, col=1)
    return laid_out(figure, 520)


def leaf_sentence(epsilon: float) -> str:
    """Where the smooth rule breaks its promise, and what an honest reading costs."""
    gap, (delta, _) = first_violation("smooth", epsilon), delta_needed("smooth", epsilon)
    if gap is None:
        return f"No gap was found at which the smooth rule breaks ε = {number_text(epsilon)} ({NEIGHBOURS})."
    return (
        f"At ε = {number_text(epsilon)} ({NEIGHBOURS}) the smooth rule breaks its promise from gap {gap:,} on, without any "
        f"limit. As (ε, δ) a single leaf needs δ = {number_text(delta)}; it should be far below one in the number of rows. "
        "Global sensitivity and permute-and-flip keep ε at every gap."
    )


def leaf_rows(curves: Sequence[LeafCurve]) -> Rows:
    """One row per gap: chance of the smaller class and loss in epsilons, per rule."""
    rows = []
    for place, gap in enumerate(curves[0].gaps):
        flips = {f"flips, {LOOKS[c.rule][0]}": percent(float(c.flip[place])) for c in curves}
        losses = {f"reveals, {LOOKS[c.rule][0]}": f"{number_text(float(c.log_ratio[place]) / c.epsilon)} ε" for c in curves}
        rows.append({"gap": f"{gap:,}", **flips, **losses})
    return rows
