"""Guaranteed accuracy against poisoned rows: proved curves with their band, published ones dashed, refused ones struck through.

What each mark means is said in `MARKS`; colour is never the only cue. Bounds come from `evaluation.robustness.poisoning`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.evaluation.robustness.poisoning import curve_rows
from dpviz.figures.compare.style import NEUTRAL, looks_of, translucent
from dpviz.figures.robustness.certified import Certified, majority_of

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

Unit = Literal["rows", "share"]

#: A vote on disjoint rows: neither private nor one of the ordinary learners.
VOTES = "#5f8f2f"
#: Curves of one learner at several epsilons differ in their width, the smallest epsilon widest.
WIDTHS = (3.5, 2.2, 1.3)
#: Room below the majority class that is still drawn, in accuracy.
BELOW = 0.25
AXES = {"rows": "poisoned rows (added or removed; a changed row is two)", "share": "poisoned rows, share of the training rows"}
MARKS = (
    "Solid: proved, with its 95 % band below. Dashed: the published bound for the same learner. Dotted grey with crosses: "
    "published, but refused. Steps: certified by vote, no band needed. Dots: measured attacks with 95 % limits."
)
_ATTACK_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def guarantee_figure(
    found: Sequence[Certified], *, up_to: float, unit: Unit, wanted: float | None = None, attacks: pd.DataFrame | None = None
) -> Figure:
    """Guaranteed accuracy from 0 to `up_to` (a share of the training rows) poisoned rows.

    Parameters
    ----------
    unit : str
        What the horizontal axis counts: rows, or their share.
    wanted : float or None
        An accuracy to stay above: a line.
    attacks : DataFrame or None
        From `attack_curve`, one or more of them.
    """
    from plotly.graph_objects import Figure

    figure = Figure()
    style = _Style.of(found)
    for certified in found:
        _add(figure, certified, up_to, unit, style)
    if attacks is not None and len(attacks):
        _add_attacks(figure, found, attacks, unit, style)
    bottom, top = _range(found, wanted, attacks)
    _add_vacuous(figure, found, bottom)
    if wanted is not None:
        figure.add_hline(wanted, line={"color": NEUTRAL, "width": 1.5, "dash": "dashdot"}, annotation_text="wanted")
    figure.update_layout(**_layout(found, up_to, unit, (bottom, top)))
    return figure


@dataclass(frozen=True)
class _Style:
    """Colour by learner, width by epsilon; what is refused is grey."""

    colours: dict[str, str]
    widths: dict[float | None, float]

    @classmethod
    def of(cls, found: Sequence[Certified]) -> _Style:
        looks = looks_of({item.table.learner: item.verdict for item in found if item.kind == "proved"})
        colours = {name: look.colour for name, look in looks.items()}
        colours |= {item.table.learner: VOTES for item in found if item.kind == "votes"}
        epsilons = sorted({item.epsilon for item in found if item.epsilon is not None})
        return cls(colours, {epsilon: WIDTHS[min(place, len(WIDTHS) - 1)] for place, epsilon in enumerate(epsilons)})

    def colour(self, item: Certified) -> str:
        return self.colours.get(item.table.learner, NEUTRAL)

    def line(self, item: Certified) -> dict[str, Any]:
        return {"color": self.colour(item), "width": self.widths.get(item.epsilon, WIDTHS[1])}


def _places(certified: Certified, up_to: float, unit: Unit) -> tuple[tuple[int, ...], list[float]]:
    rows = curve_rows(certified.table.n_train, up_to)
    return rows, [certified.share(k) if unit == "share" else k for k in rows]


def _add(figure: Figure, certified: Certified, up_to: float, unit: Unit, style: _Style) -> None:
    rows, x = _places(certified, up_to, unit)
    line = style.line(certified)
    match certified.kind:
        case "proved":
            _add_proved(figure, certified, rows, x, line)
        case "votes":
            line["shape"] = "hv"
            _add_line(figure, certified, rows, x, line, certified.table.low, f"{certified.title}: certified")
        case "refused":
            _add_refused(figure, certified, rows, x)
        case "silent":
            _add_silent(figure, certified)


def _add_proved(figure: Figure, certified: Certified, rows: tuple[int, ...], x: list[float], line: dict[str, Any]) -> None:
    table, colour = certified.table, line["color"]
    tight, low = [table.tight(k) for k in rows], [table.low(k) for k in rows]
    fill = translucent(colour, 0.18)
    silent = {"showlegend": False, "hoverinfo": "skip", "mode": "lines", "legendgroup": certified.name}
    figure.add_scatter(x=x + x[::-1], y=tight + low[::-1], fill="toself", fillcolor=fill, line={"width": 0}, **silent)
    _add_line(figure, certified, rows, x, line, table.tight, f"{certified.name}: proved")
    dashed = {"color": colour, "width": line["width"], "dash": "dash"}
    _add_line(figure, certified, rows, x, dashed, table.published, f"{certified.name}: published", legend=False)


def _add_line(
    figure: Figure,
    certified: Certified,
    rows: tuple[int, ...],
    x: list[float],
    line: dict[str, Any],
    bound: Callable[[int], float],
    name: str,
    *,
    legend: bool = True,
) -> None:
    figure.add_scatter(
        x=x,
        y=[bound(k) for k in rows],
        name=name,
        mode="lines",
        line=line,
        showlegend=legend,
        legendgroup=certified.name,
        customdata=[_hover(certified, k) for k in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _hover(certified: Certified, rows: int) -> str:
    table = certified.table
    head = f"<b>{certified.name}</b><br>{rows:,} poisoned rows ({certified.share(rows):.2%})<br>"
    if certified.kind == "votes":
        return f"{head}certified: {table.low(rows):.1%}"
    if certified.kind == "refused":
        return f"{head}published, but refused: {table.published(rows):.1%}"
    proved = f"proved: {table.tight(rows):.1%}, with {1 - table.beta:.0%} confidence {table.low(rows):.1%}"
    return f"{head}{proved}<br>published: {table.published(rows):.1%}"


def _add_refused(figure: Figure, certified: Certified, rows: tuple[int, ...], x: list[float]) -> None:
    """The published curve, struck through: grey, dotted, crossed out, and said so."""
    figure.add_scatter(
        x=x,
        y=[certified.table.published(k) for k in rows],
        name=f"<s>{certified.name}</s>: published, refused",
        mode="lines+markers",
        line={"color": NEUTRAL, "width": 1.5, "dash": "dot"},
        marker={"symbol": "x-thin", "size": 7, "maxdisplayed": 12, "line": {"color": NEUTRAL, "width": 1.5}},
        customdata=[_hover(certified, k) for k in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _add_silent(figure: Figure, certified: Certified) -> None:
    """Nothing is claimed or proved: where the learner stands without poison."""
    figure.add_scatter(
        x=[0],
        y=[certified.table.accuracy],
        name=f"{certified.title}: no guarantee",
        mode="markers",
        marker={"symbol": "circle-open", "size": 11, "color": NEUTRAL, "line": {"color": NEUTRAL, "width": 2}},
        hovertemplate=f"<b>{certified.name}</b><br>without poison %{{y:.1%}}, no guarantee<extra></extra>",
    )


def _add_attacks(figure: Figure, found: Sequence[Certified], attacks: pd.DataFrame, unit: Unit, style: _Style) -> None:
    symbols = dict(zip(ATTACKS, _ATTACK_SYMBOLS, strict=False))
    for certified in found:
        for attack, frame in attack_rows(certified, attacks).groupby("attack", sort=False):
            look = {"color": style.colour(certified), "symbol": symbols[str(attack)]}
            _add_dots(figure, certified, ATTACKS[str(attack)].title, frame, unit, look)


def attack_rows(certified: Certified, attacks: pd.DataFrame) -> pd.DataFrame:
    """The lines of measured attacks that are about this learner at this epsilon."""
    same = attacks.learner == certified.table.learner
    return attacks[same if certified.epsilon is None else same & (attacks.epsilon == certified.epsilon)]


def _add_dots(figure: Figure, certified: Certified, attack: str, frame: pd.DataFrame, unit: Unit, look: dict[str, str]) -> None:
    up, down = frame.high - frame.accuracy, frame.accuracy - frame.low
    error = {"type": "data", "array": up, "arrayminus": down, "color": look["color"], "thickness": 1.2, "width": 4}
    said = [f"{k:,} poisoned rows<br>measured {m:.1%}" for k, m in zip(frame.poisoned_rows, frame.accuracy, strict=True)]
    figure.add_scatter(
        x=frame.poisoned_share if unit == "share" else frame.poisoned_rows,
        y=frame.accuracy,
        error_y=error,
        name=f"{certified.name}: {attack.lower()}",
        mode="markers",
        marker={**look, "size": 9, "line": {"color": "#ffffff", "width": 1}},
        customdata=said,
        hovertemplate=f"<b>{certified.name}</b><br>{attack}<br>%{{customdata}}<extra></extra>",
    )


def _range(found: Sequence[Certified], wanted: float | None, attacks: pd.DataFrame | None) -> tuple[float, float]:
    levels = [item.table.accuracy for item in found] + ([wanted] if wanted is not None else [])
    lows = [majority_of(found) - BELOW] + ([wanted - 0.05] if wanted is not None else [])
    if attacks is not None:
        for item in found:
            about = attack_rows(item, attacks)
            lows += list(about.low - 0.03)
            levels += list(about.high)
    return max(0.0, min(lows)), min(1.0, max(levels) + 0.03)


def _add_vacuous(figure: Figure, found: Sequence[Certified], bottom: float) -> None:
    top = majority_of(found)
    look = {"line": {"width": 0}, "fillcolor": translucent(NEUTRAL, 0.2), "layer": "below"}
    figure.add_shape(type="rect", xref="paper", x0=0, x1=1, y0=bottom, y1=top, **look)
    place = {"xref": "paper", "x": 0.01, "y": bottom, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(text=f"worth nothing: the majority class alone reaches {top:.1%}", align="left", **place)


def _layout(found: Sequence[Certified], up_to: float, unit: Unit, heights: tuple[float, float]) -> dict[str, Any]:
    end = up_to if unit == "share" else max(item.table.n_train for item in found) * up_to
    across: dict[str, Any] = {"title": AXES[unit], "zeroline": False, "range": [-0.015 * end, max(1e-9, 1.015 * end)]}
    across["tickformat"] = ".2~%" if unit == "share" else ",d"
    return {
        "height": 400 + 22 * len(found),
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "xaxis": across,
        "yaxis": {"title": "mean accuracy, at least", "tickformat": ".0%", "range": list(heights), "zeroline": False},
        "legend": {"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0},
        "hovermode": "closest",
    }
