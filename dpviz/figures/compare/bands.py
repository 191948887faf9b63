"""Curves of accuracy, R² or error side by side: a band per learner, lines to compare with, and the words.

A band reaches from the 5 % to the 95 % outcome over draws and folds, its line is the median: what one tree may turn out to
be, not how well its mean is known (Hofman, Goldstein and Hullman, CHI 2020: ranges of means are read as ranges of outcomes).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.compare.comparison import ERRORS, METRICS, Curve, Point
from dpviz.figures.compare.measure_text import LEAST_R2, level_name, measure_text, tick_format
from dpviz.figures.compare.style import NEUTRAL, Look, looks_of, translucent
from dpviz.figures.guarantee_text import number_text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Along -> title of the axis.
AXES = {
    "epsilon": f"ε asked for ({NEIGHBOURS})",
    "max_depth": "most levels of rules",
    "n_rows": "training rows",
}
#: Lines of learners without privacy, in their order: all grey, so that each needs a dash of its own.
LEVEL_DASHES = ("dashdot", "longdash", "longdashdot", "12px,3px,2px,3px,2px,3px")
COMPOSED_AXIS = f"ε the steps compose to ({NEIGHBOURS})"


def placed(curve: Curve, *, composed: bool) -> tuple[tuple[float, Point], ...]:
    """(x, point) of what can be drawn, by x. With `composed`, points move to what the steps compose to."""
    places = ((point.composed if composed else point.x, point) for point in curve.points)
    return tuple(sorted((place for place in places if math.isfinite(place[0])), key=lambda place: place[0]))


def off_axis(curves: Iterable[Curve]) -> tuple[str, ...]:
    """Private learners with points whose composed epsilon is infinite: no place on the axis."""
    return tuple(curve.learner for curve in curves if _claims(curve) and any(math.isinf(p.composed) for p in curve.points))


def _claims(curve: Curve) -> bool:
    return curve.verdict != "none"


def compare_figure(
    curves: Sequence[Curve], *, along: str, metric: str, level: float | None, composed: bool = False, chosen: float | None = None
) -> Figure:
    """Bands and lines.

    Parameters
    ----------
    along : str
        epsilon, max_depth or n_rows.
    level : float or None
        What guessing reaches: a dotted line.
    composed : bool
        Along epsilon: use the composed one for the x position.
    chosen : float or None
        Mark this place.
    """
    from plotly.graph_objects import Figure

    figure = Figure()
    ends, looks, dashes = _ends(curves, composed), _looks(curves), cycle(LEVEL_DASHES)
    for curve in curves:
        look = looks[curve.learner]
        if _is_level(curve, along):
            _add_level(figure, look.name, curve.points[0].median, metric, ends, next(dashes))
        else:
            _add_band(figure, curve, look, along, metric, composed)
    if level is not None and math.isfinite(ends[0]):
        _add_level(figure, level_name(metric), level, metric, ends, "dot")
    if chosen is not None and not composed:
        figure.add_vline(chosen, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    figure.update_layout(**_layout(along, metric, composed, ends))
    if is_cut(curves, metric):
        figure.update_yaxes(range=[LEAST_R2, 1.02])
    return figure


def is_cut(curves: Sequence[Curve], metric: str) -> bool:
    """True when the figure does not show how bad the worst R² is."""
    return metric == "r2" and any(point.low < LEAST_R2 for curve in curves for point in curve.points)


def _looks(curves: Sequence[Curve]) -> dict[str, Look]:
    return looks_of({curve.learner: curve.verdict for curve in curves})


def _is_level(curve: Curve, along: str) -> bool:
    """A learner without privacy has one place at every epsilon."""
    return along == "epsilon" and len(curve.points) == 1 and math.isinf(curve.points[0].x)


def _ends(curves: Sequence[Curve], composed: bool) -> tuple[float, float]:
    places = [x for curve in curves for x, _ in placed(curve, composed=composed)]
    return (min(places), max(places)) if places else (math.inf, -math.inf)


def _add_level(figure: Figure, name: str, height: float, metric: str, ends: tuple[float, float], dash: str) -> None:
    if math.isfinite(ends[0]):
        hover = f"{name}: {measure_text(height, metric)}<extra></extra>"
        line = {"color": NEUTRAL, "width": 2, "dash": dash}
        figure.add_scatter(x=list(ends), y=[height] * 2, name=name, mode="lines", line=line, hovertemplate=hover)


def _add_band(figure: Figure, curve: Curve, look: Look, along: str, metric: str, composed: bool) -> None:
    places = placed(curve, composed=composed)
    if not places:
        return
    x, points = [place[0] for place in places], [place[1] for place in places]
    fill = translucent(look.colour, 0.16)
    outline = [point.high for point in points] + [point.low for point in reversed(points)]
    silent = {"showlegend": False, "hoverinfo": "skip", "legendgroup": curve.learner, "mode": "lines"}
    figure.add_scatter(x=x + x[::-1], y=outline, fill="toself", fillcolor=fill, line={"width": 0, "color": fill}, **silent)
    figure.add_scatter(
        x=x,
        y=[point.median for point in points],
        name=look.name,
        legendgroup=curve.learner,
        mode="lines+markers",
        line={"color": look.colour, "width": 2.5, "dash": look.dash},
        marker={"symbol": look.symbol, "size": 8, "color": look.colour, "line": {"color": look.colour, "width": 1.5}},
        customdata=[_hover(point, along, metric) for point in points],
        hovertemplate=f"<b>{look.name}</b><br>%{{customdata}}<extra></extra>",
    )


def _hover(point: Point, along: str, metric: str) -> str:
    low, median, high = (measure_text(value, metric) for value in (point.low, point.median, point.high))
    said = f"median {median}, 5–95 %: {low} to {high}<br>{point.n_fits:,} fits"
    return f"{_place_words(along, point.x)}<br>{said}<br>composed ε {number_text(point.composed)} ({NEIGHBOURS})"


def _place_words(along: str, x: float) -> str:
    if along == "epsilon":
        return "at no ε" if math.isinf(x) else f"at ε = {number_text(x)} ({NEIGHBOURS})"
    return f"with at most {x:.0f} levels" if along == "max_depth" else f"with {x:,.0f} training rows"


def _layout(along: str, metric: str, composed: bool, ends: tuple[float, float]) -> dict[str, Any]:
    title = COMPOSED_AXIS if composed else AXES[along]
    quiet = {"zeroline": False}
    across: dict[str, Any] = {"title": title, **quiet}
    if along != "max_depth":
        across |= {"type": "log", **_ticks(*ends, thin=along == "n_rows")}
    else:
        across |= {"dtick": 1}
    return {
        "height": 460,
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "xaxis": across,
        "yaxis": {"title": f"{METRICS[metric]} on held-out rows", "tickformat": tick_format(metric), **quiet},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        "hovermode": "closest",
    }


def _ticks(low: float, high: float, *, thin: bool) -> dict[str, Any]:
    """Round numbers on a log axis: 1, 3, 10 and so on, written out."""
    if not math.isfinite(low):
        return {}
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in ((1, 2, 5) if thin else (1, 3))]
    inside = [value for value in values if low * 0.7 <= value <= high * 1.4]
    return {"tickvals": inside, "ticktext": [number_text(value) for value in inside]}


def headline(curves: Sequence[Curve], *, along: str, x: float, metric: str, level: float | None) -> str:
    """The chosen place in words: the best private learner whose claim holds, the others' best, and what guessing reaches."""
    found = [(curve, point) for curve in curves if (point := curve.at(x)) is not None]
    sound = [pair for pair in found if pair[0].is_sound]
    if not sound:
        return "No learner whose claim holds was fitted here."
    best, point = (min if metric in ERRORS else max)(sound, key=lambda pair: pair[1].median)
    looks = _looks(curves)
    said = f"{_capital(_place_words(along, x))}, {looks[best.learner].title} reaches {_reach(point, metric)}"
    beside = [f"{looks[c.learner].title} {measure_text(p.median, metric)}" for c, p in found if not c.is_private]
    guess = "the mean" if metric in ("r2", "rmse") else "guessing"
    beside += [f"{guess} {measure_text(level, metric)}"] if level is not None else []
    return f"{said}; {', '.join(beside)}." if beside else f"{said}."


def _reach(point: Point, metric: str) -> str:
    low, high = measure_text(point.low, metric), measure_text(point.high, metric)
    return f"{METRICS[metric]} {measure_text(point.median, metric)} (nine of ten draws: {low} to {high})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def curve_rows(curves: Sequence[Curve], *, along: str, metric: str) -> list[dict[str, str]]:
    """The figure as a table: one line per learner and place."""
    looks = _looks(curves)
    return [
        {
            "learner": looks[curve.learner].title,
            "claim": "none made" if curve.verdict == "none" else curve.verdict,
            AXES[along]: _place_cell(along, point.x),
            COMPOSED_AXIS: number_text(point.composed),
            f"median {METRICS[metric]}": measure_text(point.median, metric),
            "5 %": measure_text(point.low, metric),
            "95 %": measure_text(point.high, metric),
            "fits": f"{point.n_fits:,}",
        }
        for curve in curves
        for point in curve.points
    ]


def _place_cell(along: str, x: float) -> str:
    return number_text(x) if along == "epsilon" else f"{x:,.0f}"
