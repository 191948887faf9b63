"""Guaranteed accuracy against poisoned rows: proved as a heavy line, the estimate thin, Corollary 2 thin and dotted.

Refused curves are struck through.

One hue per epsilon, one dash per learner. Bounds come from `evaluation.robustness.poisoning`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.evaluation.robustness.poisoning import curve_rows
from dpviz.figures.charts import LEGEND_BELOW, SILENT, Figure, Style, chart, limits, line, marker
from dpviz.figures.robustness.certified import Certified, epsilon_colours
from dpviz.figures.theme import NEUTRAL, VOTES, WHITE, translucent

if TYPE_CHECKING:
    import pandas as pd

Unit = Literal["rows", "share"]

#: What is proved, and the estimate from the same draws.
HEAVY, THIN = 3.5, 1.2
#: Learners at one epsilon share its hue and differ in these.
DASHES = ("solid", "dash", "dashdot", "longdash")
#: Room below the majority class that is still drawn, in accuracy.
BELOW = 0.25
#: Up to so many rows every number of them is named below the axis.
FEW = 8
#: Pixels across the plot on the narrowest screen.
TELEPHONE = 200.0
AXES = {"rows": "poisoned rows (a changed row counts as two)", "share": "poisoned rows, share of the training rows"}
_ATTACK_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def guarantee_figure(
    found: Sequence[Certified], *, up_to: float, unit: Unit, wanted: float | None = None, attacks: pd.DataFrame | None = None
) -> Figure:
    """Guaranteed accuracy from 0 to `up_to` (a share of the training rows) poisoned rows, counted as `unit` says.

    `wanted` is the accuracy to stay above, None for that of the majority class; `attacks` come from `attack_curve`, one or more.
    """
    bottom, top = _range(found, wanted, attacks)
    up = {"title": "mean accuracy, at least", "tickformat": ".0%", "range": [bottom, top], "zeroline": False}
    across, lines = _across(found, up_to, unit), _lines(found)
    figure = chart(600 + 22 * len(found), legend=LEGEND_BELOW, hovermode="closest", xaxis=across, yaxis=up)
    for item, style in zip(found, lines, strict=True):
        _add(figure, item, up_to, unit, style)
    for item, style in zip(found, lines, strict=True):
        if attacks is not None:
            _add_attacks(figure, item, attacks, unit, style["color"])
    _add_level(figure, found, wanted, bottom)
    _add_crossings(figure, [(item, style["color"]) for item, style in zip(found, lines, strict=True)], wanted, up_to, unit)
    return figure


def _lines(found: Sequence[Certified]) -> list[Style]:
    """The line of each curve: its hue by epsilon, its dash by learner; what is refused is grey."""
    hues = epsilon_colours(item.epsilon for item in found if item.kind == "proved")
    learners = list(dict.fromkeys(item.table.learner for item in found if item.kind == "proved"))
    dashes = {name: DASHES[place % len(DASHES)] for place, name in enumerate(learners)}
    return [line(_hue(item, hues), HEAVY, dashes.get(item.table.learner, "solid")) for item in found]


def _hue(item: Certified, hues: dict[float | None, str]) -> str:
    return VOTES if item.kind == "votes" else hues[item.epsilon] if item.kind == "proved" else NEUTRAL


def _add(figure: Figure, item: Certified, up_to: float, unit: Unit, style: Style) -> None:
    table, name, rows = item.table, item.name, np.array(curve_rows(item.table.n_train, up_to))
    shares = rows / max(1, table.n_train)
    low, tight, published = (np.array([bound(int(k)) for k in rows]) for bound in (table.low, table.tight, table.published))
    head = f"<b>{name}</b><br>%{{customdata[0]:,}} poisoned rows (%{{customdata[1]:.2%}})<br>"
    about = {
        "x": shares if unit == "share" else rows,
        "legendgroup": name,
        "mode": "lines",
        "customdata": np.column_stack((rows, shares, low, tight, published)),
        "hovertemplate": f"{head}{_hover(item)}<extra></extra>",
    }
    match item.kind:
        case "proved":
            figure.add_scatter(**about, y=low, name=f"{name}: proved", line=style)
            thin = {"line": style | {"width": THIN}, "showlegend": False}
            figure.add_scatter(**about, y=tight, name=f"{name}: estimate", **thin)
            if not np.isnan(published).any():
                dots = {"line": style | {"width": THIN, "dash": "dot"}, "showlegend": False}
                figure.add_scatter(**about, y=published, name=f"{name}: Corollary 2", **dots)
        case "votes":
            figure.add_scatter(**about, y=low, name=f"{item.title}: certified", line=style | {"shape": "hv"})
        case "refused":  # struck through: grey, dotted, crossed out, and said so
            crosses = {"symbol": "x-thin", "size": 7, "maxdisplayed": 12, "line": {"color": NEUTRAL, "width": 1.5}}
            struck = about | {"mode": "lines+markers", "marker": crosses, "line": line(NEUTRAL, 1.5, "dot")}
            figure.add_scatter(**struck, y=published, name=f"<s>{name}</s>: published, refused")
        case "silent":  # nothing is claimed or proved: its accuracy without poison
            hover = f"<b>{name}</b><br>without poison %{{y:.1%}}, no guarantee<extra></extra>"
            point = {"mode": "markers", "marker": marker(NEUTRAL, "circle-open", 11), "hovertemplate": hover}
            figure.add_scatter(x=[0], y=[table.accuracy], name=f"{item.title}: no guarantee", **point)


def _hover(item: Certified) -> str:
    """What is said of a point of a curve; numbers are columns of its data."""
    if item.kind == "votes":
        return "certified: %{customdata[2]:.1%}"
    if item.kind == "refused":
        return "published, but refused: %{customdata[4]:.1%}"
    proved = f"proved with {1 - item.table.beta:.0%} confidence: %{{customdata[2]:.1%}}, estimate %{{customdata[3]:.1%}}"
    return proved if math.isnan(item.table.published(0)) else f"{proved}<br>published: %{{customdata[4]:.1%}}"


def _add_attacks(figure: Figure, item: Certified, attacks: pd.DataFrame, unit: Unit, colour: str) -> None:
    symbols = dict(zip(ATTACKS, _ATTACK_SYMBOLS, strict=False))
    for attack, frame in attack_rows(item, attacks).groupby("attack", sort=False):
        title = ATTACKS[str(attack)].title
        said = [f"{k:,} poisoned rows<br>measured {m:.1%}" for k, m in zip(frame.poisoned_rows, frame.accuracy, strict=True)]
        dots = {"symbol": symbols[str(attack)], "size": 9, "color": colour, "line": {"color": WHITE, "width": 1}}
        spread = limits(frame.high - frame.accuracy, frame.accuracy - frame.low, colour, thickness=1.2, width=4)
        look = {"error_y": spread, "name": f"{item.name}: {title.lower()}", "mode": "markers", "marker": dots}
        hover = f"<b>{item.name}</b><br>{title}<br>%{{customdata}}<extra></extra>"
        x = frame.poisoned_share if unit == "share" else frame.poisoned_rows
        figure.add_scatter(x=x, y=frame.accuracy, customdata=said, hovertemplate=hover, **look)


def attack_rows(certified: Certified, attacks: pd.DataFrame) -> pd.DataFrame:
    """The lines of measured attacks that are about this learner at this epsilon."""
    same = attacks.learner == certified.table.learner
    return attacks[same if certified.epsilon is None else same & (attacks.epsilon == certified.epsilon)]


def _range(found: Sequence[Certified], wanted: float | None, attacks: pd.DataFrame | None) -> tuple[float, float]:
    levels = [item.table.accuracy for item in found] + ([wanted] if wanted is not None else [])
    lows = [found[0].table.majority - BELOW] + ([wanted - 0.05] if wanted is not None else [])
    if attacks is not None:
        for item in found:
            about = attack_rows(item, attacks)
            lows += list(about.low - 0.03)
            levels += list(about.high)
    return max(0.0, min(lows)), min(1.0, max(levels) + 0.03)


def _add_level(figure: Figure, found: Sequence[Certified], wanted: float | None, bottom: float) -> None:
    """The line to stay above, and below it what is worth nothing."""
    majority = found[0].table.majority
    level, words = (majority, "majority class") if wanted is None else (wanted, "stay above")
    area = {"line": {"width": 0}, "fillcolor": translucent(NEUTRAL, 0.16), "layer": "below"}
    figure.add_shape(type="rect", xref="paper", x0=0, x1=1, y0=bottom, y1=majority, **area)
    figure.add_hline(level, line=line(NEUTRAL, 1.5, "dot"))
    place = {"xref": "paper", "x": 0.995, "y": level, "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(text=f"{words} {level:.1%}", **place)


def _add_crossings(
    figure: Figure, coloured: Sequence[tuple[Certified, str]], wanted: float | None, up_to: float, unit: Unit
) -> None:
    """Where what is proved falls to the line to stay above: a ring, and below it the number of rows, once for equal ones."""
    kinds = ("proved", "votes")
    known = [(item, hue, item.table.protected_rows(wanted) if item.kind in kinds else None) for item, hue in coloured]
    rings = [(rows, item, hue) for item, hue, rows in known if rows is not None and item.share(rows) <= up_to]
    texts = ring_texts({rows: item.share(rows) / up_to for rows, item, _ in rings})
    for rows, item, hue in rings:
        level = item.table.majority if wanted is None else wanted
        words, place = texts.pop(rows, ("", "bottom center"))
        text = {"text": [words], "textposition": place, "textfont": {"size": 14}}
        dot = {"mode": "markers+text", "marker": marker(hue, "circle-open", 11, 3), "cliponaxis": False}
        figure.add_scatter(x=[item.share(rows) if unit == "share" else rows], y=[level], name="crossing", **text, **dot, **SILENT)


def ring_texts(places: Mapping[int, float]) -> dict[int, tuple[str, str]]:
    """By number of rows, at places from 0 to 1: its text and where it stands.

    A number that would meet another on a telephone stands a line lower; on a wider chart they only move apart.
    """
    ends: list[float] = []  # of the numbers in each line
    found = {}
    for rows, place in sorted(places.items()):
        x, width = place * TELEPHONE, 9.0 * len(f"{rows:,}")
        side, start = ("right", x) if x < width else ("left", x - width) if x > TELEPHONE - width else ("center", x - width / 2)
        line = next((line for line, end in enumerate(ends) if end <= start), len(ends))
        ends[line : line + 1] = [start + width]
        found[rows] = "&nbsp;<br>" * line + f"<b>{rows:,}</b>", f"bottom {side}"
    return found


def _across(found: Sequence[Certified], up_to: float, unit: Unit) -> Style:
    end = up_to if unit == "share" else max(item.table.n_train for item in found) * up_to
    ticks = {"tickformat": ".2~%"} if unit == "share" else {"tickformat": ",d"} | ({"dtick": 1} if end < FEW else {})
    return {"title": AXES[unit], "zeroline": False, "range": [-0.015 * end, max(1e-9, 1.015 * end)]} | ticks
