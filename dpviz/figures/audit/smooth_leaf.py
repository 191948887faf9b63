"""Smooth or global? Two charts over the gap of one leaf: how likely its label flips, and what one row more reveals."""

import math
from collections.abc import Sequence

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.smooth_leaf import LeafCurve, Rule, delta_needed, first_violation
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, line, panels
from dpviz.figures.theme import BLUE, NEUTRAL, ORANGE, SOUND
from dpviz.figures.wording import chance
from dpviz.results.wording import number_text

#: Name, colour, dash and marker of every rule: never by colour alone.
STYLES: dict[Rule, tuple[str, str, str, str]] = {
    "smooth": ("smooth (published)", ORANGE, "dash", "diamond-open"),
    "global": ("global", NEUTRAL, "dot", "square"),
    "permute-and-flip": ("permute-and-flip", BLUE, "solid", "circle"),
}
#: Chances below this and losses above this many epsilons are drawn at the edge: the difference means nothing to a reader.
_LEAST_CHANCE, _MOST_LOSS = 1e-6, 100.0
_MOST_MARKERS = 12


def gaps_to_show(epsilon: float) -> int:
    """How many gaps to draw, so that the first broken promise is well inside the chart."""
    broken = first_violation("smooth", epsilon)
    return max(8, math.ceil(1.6 * broken)) if broken is not None else 8


def leaf_figure(curves: Sequence[LeafCurve]) -> Figure:
    """Above: the chance that the smaller class is published. Below: the largest log ratio of neighbours, and epsilon."""
    figure = panels(2, 520, top=36, spacing=0.1, layout={"legend": LEGEND_ABOVE})
    for curve in curves:
        title, colour, dash, symbol = STYLES[curve.rule]
        style = {"line": line(colour, 2, dash), "marker": {"symbol": symbol, "size": 8, "maxdisplayed": _MOST_MARKERS}}
        about = {"x": curve.gaps, "mode": "lines+markers", "name": title, "legendgroup": title, **style}
        about["hovertemplate"] = f"gap %{{x}}: %{{customdata}}<extra>{title}</extra>"
        flip, losses = curve.flip.clip(_LEAST_CHANCE), curve.log_ratio / curve.epsilon
        figure.add_scatter(y=flip, customdata=[chance(p) for p in curve.flip], **about, row=1, col=1)
        words = [f"{number_text(loss)} ε" for loss in losses]
        figure.add_scatter(y=losses.clip(1e-3, _MOST_LOSS), customdata=words, showlegend=False, **about, row=2, col=1)
    figure.add_hline(1, row=2, col=1, line=line(SOUND, 2))
    note = {"text": "allowed: 1 ε", "x": 1, "xref": "x2 domain", "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(y=0, yref="y2", **note)
    ticks = {"tickvals": [1e-6, 1e-4, 1e-2, 0.5], "ticktext": ["≤ 0.0001%", "0.01%", "1%", "50%"]}
    figure.update_yaxes(type="log", range=[-6.2, 0], title="smaller class published", **ticks, row=1, col=1)
    steps = {"tickvals": [0.01, 0.1, 1, 10, 100], "ticktext": ["0.01 ε", "0.1 ε", "1 ε", "10 ε", "≥ 100 ε"]}
    figure.update_yaxes(type="log", range=[-2, 2.1], title="what one row more reveals", **steps, row=2, col=1)
    return figure.update_xaxes(title="gap, in rows", row=2, col=1)


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
        flips = {f"flips, {STYLES[c.rule][0]}": chance(float(c.flip[place])) for c in curves}
        losses = {f"reveals, {STYLES[c.rule][0]}": f"{number_text(float(c.log_ratio[place]) / c.epsilon)} ε" for c in curves}
        rows.append({"gap": f"{gap:,}", **flips, **losses})
    return rows
