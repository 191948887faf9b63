"""Pictures of the lessons on mechanisms: a hundred guesses, two noisy counts, two ways to choose. Words and rows beside each.

Colours reach 3:1 on light and dark grounds; hatching, symbols and words say the same. A `..._sentence` is the alt text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.learn.lessons import NoisyChoice, NoisyCounts, guesses
from dpviz.figures.guarantee_text import number_text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

FIRST, SECOND, NEUTRAL = "#2f86c1", "#d2691e", "#7d8a8f"
Rows = list[dict[str, str]]
COIN = 50
#: Legend above the plot, small margins: the picture keeps its room on a telephone.
_LOOK: dict[str, Any] = {
    "margin": {"l": 8, "r": 12, "t": 36, "b": 8},
    "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "title": None},
}


def laid_out(figure: Figure, height: int, **layout: Any) -> Figure:
    """The figure with the look all lessons share."""
    return figure.update_layout(height=height, **(_LOOK | layout))


def percent(share: float) -> str:
    """A probability in words: "37 %", one digit more below 10 %, never a bare 0 or 100 that is not exact."""
    hundredths = 100 * share
    if 0 < hundredths < 0.1:
        return "under 0.1 %"
    if 99.9 < hundredths < 100:
        return "over 99.9 %"
    digits = 1 if hundredths < 9.95 or 99 < hundredths < 100 else 0
    return f"{hundredths:.{digits}f}".removesuffix(".0") + " %"


def hatched(*shapes: str) -> dict[str, Any]:
    """Plotly's pattern: hatching over the bar's own colour, in both themes; one shape, or one per bar."""
    shape = shapes[0] if len(shapes) == 1 else list(shapes)
    return {"shape": shape, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)", "size": 7, "solidity": 0.25}


# --- what epsilon means


def guesses_figure(epsilon: float) -> Figure:
    """A hundred dots: what a coin guesses right, what ε allows on top, and the rest."""
    from plotly.graph_objects import Figure

    figure = Figure()
    most = round(guesses(epsilon))
    for name, low, high, colour, symbol in (
        ("right by a coin", 0, COIN, NEUTRAL, "circle"),
        ("right on top, at most", COIN, most, SECOND, "diamond"),
        ("wrong at least", most, 100, NEUTRAL, "circle-open"),
    ):
        places = np.arange(low, high)
        marker = {"size": 11, "color": colour, "symbol": symbol, "line": {"width": 1.5, "color": colour}}
        label = f"{name}: {high - low}"
        figure.add_scatter(x=places % 20, y=places // 20, mode="markers", marker=marker, name=label, hoverinfo="name")
    hidden = {"visible": False, "fixedrange": True}
    return laid_out(figure, 250, xaxis=hidden | {"range": [-0.7, 19.7]}, yaxis=hidden | {"range": [4.6, -0.6]})


def guesses_sentence(epsilon: float) -> str:
    """The dots in words."""
    return (
        f"ε = {number_text(epsilon)} ({NEIGHBOURS}): odds of 1 to 1 become at most {number_text(math.exp(epsilon))} to 1, so at "
        f"most about {guesses(epsilon):.0f} of 100 guesses are right; a coin gets {COIN}."
    )


def guesses_rows(epsilons: Sequence[float]) -> Rows:
    """One row per epsilon."""
    names = f"ε ({NEIGHBOURS})", "odds at most", "right of 100 guesses, at most"
    cells = ((number_text(eps), f"{number_text(math.exp(eps))} to 1", f"{guesses(eps):.1f}") for eps in epsilons)
    return [dict(zip(names, row, strict=True)) for row in cells]


# --- noise on a count


def counts_figure(noisy: NoisyCounts) -> Figure:
    """Two overlaid distributions of the noisy count, and below them the ratio between its two bounds."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.64, 0.36], vertical_spacing=0.1)
    for name, chances, colour, hatching in (("first table", noisy.first, FIRST, ""), ("second table", noisy.second, SECOND, "/")):
        bar = {"color": colour, "opacity": 0.62, "line": {"width": 1, "color": colour}, "pattern": {"shape": hatching}}
        words = f"noisy count %{{x}}: %{{y:.1%}}<extra>{name}</extra>"
        figure.add_bar(x=noisy.outcomes, y=chances, name=name, marker=bar, hovertemplate=words, row=1, col=1)
    ratio = {"color": NEUTRAL, "size": 6}
    hover = "noisy count %{x}: %{y:.2f} times<extra></extra>"
    figure.add_scatter(
        x=noisy.outcomes, y=noisy.ratios, mode="markers", marker=ratio, hovertemplate=hover, showlegend=False, row=2, col=1
    )
    for bound in (noisy.bound, 1 / noisy.bound):
        figure.add_hline(bound, row=2, col=1, line={"color": SECOND, "dash": "dash", "width": 1.5})
    edge = 1.25 * math.log10(max(noisy.bound, 1.1))
    figure.update_yaxes(type="log", range=[-edge, edge], title="times as likely", **_ticks(noisy.bound), row=2, col=1)
    figure.update_yaxes(title="probability", tickformat=".0%", row=1, col=1)
    figure.update_xaxes(title="noisy count that is published", row=2, col=1)
    return laid_out(figure, 420, barmode="overlay", bargap=0.12)


def _ticks(bound: float) -> dict[str, Any]:
    if bound < 1.02:
        return {"tickvals": [1.0], "ticktext": ["1"]}
    return {"tickvals": [1 / bound, 1.0, bound], "ticktext": [f"1/{number_text(bound)}", "1", number_text(bound)]}


def counts_sentence(noisy: NoisyCounts, counts: tuple[int, int]) -> str:
    """Both distributions in words."""
    rows = "no row" if not noisy.distance else "one row" if noisy.distance == 1 else f"{noisy.distance} rows"
    return (
        f"True counts {counts[0]} and {counts[1]}, tables {rows} apart, ε = {number_text(noisy.epsilon)} ({NEIGHBOURS}): no "
        f"noisy count is more than {number_text(noisy.largest)} times as likely under one table as under the other; the bound is "
        f"{number_text(noisy.bound)}."
    )


def counts_rows(noisy: NoisyCounts) -> Rows:
    """One row per noisy count."""
    found = zip(noisy.outcomes, noisy.first, noisy.second, noisy.ratios, strict=True)
    return [
        {"noisy count": str(k), "first table": percent(p), "second table": percent(q), "times as likely": number_text(r)}
        for k, p, q, r in found
    ]


# --- choosing


def choice_figure(names: Sequence[str], noisy: NoisyChoice) -> Figure:
    """How often each option is chosen, by both mechanisms."""
    from plotly.graph_objects import Figure

    figure = Figure()
    labels = [f"{name}<br>{count}" for name, count in zip(names, noisy.counts, strict=True)]
    pairs = (
        ("permute-and-flip", noisy.flip, FIRST, ""),
        ("exponential mechanism", noisy.exponential, SECOND, "/"),
    )
    for name, chances, colour, hatching in pairs:
        bar = {"color": colour, "pattern": hatched(hatching)}
        text, words = [percent(share) for share in chances], f"%{{x}}: %{{text}}<extra>{name}</extra>"
        figure.add_bar(x=labels, y=chances, name=name, marker=bar, text=text, textposition="outside", hovertemplate=words)
    top = 1.15 * float(max(noisy.flip.max(), noisy.exponential.max()))
    axis = {"title": "chosen how often", "tickformat": ".0%", "range": [0, top]}
    return laid_out(figure, 340, barmode="group", bargap=0.25, yaxis=axis, uniformtext={"minsize": 9, "mode": "show"})


def choice_sentence(noisy: NoisyChoice, epsilon: float) -> str:
    """Who finds the best option how often."""
    return (
        f"ε = {number_text(epsilon)} ({NEIGHBOURS}): permute-and-flip picks a largest count in {percent(noisy.flip_best)} of "
        f"draws, the exponential mechanism in {percent(noisy.exponential_best)}."
    )


def choice_rows(names: Sequence[str], noisy: NoisyChoice) -> Rows:
    """One row per option."""
    found = zip(names, noisy.counts, noisy.flip, noisy.exponential, strict=True)
    return [
        {"option": name, "count": str(count), "permute-and-flip": percent(p), "exponential mechanism": percent(q)}
        for name, count, p, q in found
    ]
