"""What one epsilon means for privacy, accuracy and robustness: three panels over one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.evaluation.robustness.bounds import Certificate
from dpviz.figures.compare.style import COLOURS, NEUTRAL, SYMBOLS
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.robustness.certified import Certified, majority_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

PANELS = ("guesses right about one row, of 100", "mean accuracy", "poisoned rows withstood")
_SIZES = {"height": 560, "margin": {"l": 8, "r": 12, "t": 30, "b": 8}, "showlegend": False, "hovermode": "x"}


def guesses_of(item: Certified) -> float | None:
    """Of 100 fair guesses about one row, how many can be right at most; None where nothing is proved."""
    bound = item.table.bounds[0]
    if item.table.reason or not isinstance(bound, Certificate):
        return None
    return 100 * PrivacyLoss(bound.epsilon, bound.delta).guesses_right


def three_numbers(item: Certified, wanted: float | None) -> tuple[str, str, str]:
    """The panels at one epsilon, in words."""
    guesses, rows = guesses_of(item), item.table.protected_rows(wanted)
    return (
        "no limit" if guesses is None else f"{guesses:.1f} of 100",
        f"{item.table.accuracy:.1%}",
        "none" if rows is None else f"{rows:,}",
    )


def tradeoff_figure(found: Sequence[Certified], *, chosen: float, wanted: float | None) -> Figure:
    """Three panels over one epsilon axis, with a cursor at the chosen epsilon."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.09, subplot_titles=PANELS)
    x = [item.epsilon for item in found]
    values = ([guesses_of(i) for i in found], [i.table.accuracy for i in found], [i.table.protected_rows(wanted) for i in found])
    looks = zip(values, COLOURS, ("%{y:.1f} of 100", "%{y:.1%}", "%{y:,} rows"), strict=False)
    for row, (heights, colour, shown) in enumerate(looks, start=1):
        line = {"color": colour, "width": 2.5}
        marker = {"size": 8, "symbol": SYMBOLS[row - 1], "color": colour}
        hover = f"{shown}<extra></extra>"
        figure.add_scatter(x=x, y=heights, mode="lines+markers", line=line, marker=marker, hovertemplate=hover, row=row, col=1)
    level = majority_of(found) if wanted is None else wanted
    figure.add_hline(level, line={"color": NEUTRAL, "width": 1.5, "dash": "dot"}, row=2, col=1)
    figure.add_vline(chosen, line={"color": NEUTRAL, "width": 2}, row="all", col=1)
    figure.update_layout(**_SIZES, **_tradeoff_axes(x))
    return figure


def _tradeoff_axes(x: Sequence[float | None]) -> dict[str, Any]:
    ticks = {"type": "log", "tickvals": list(x), "ticktext": [number_text(e or 0) for e in x], "zeroline": False}
    last = {**ticks, "title": f"ε ({NEIGHBOURS})"}
    heights = {"yaxis": {"range": [48, 102]}, "yaxis2": {"tickformat": ".0%"}, "yaxis3": {"rangemode": "tozero"}}
    return {"xaxis": ticks, "xaxis2": ticks, "xaxis3": last, **heights}


def tradeoff_rows(found: Sequence[Certified], wanted: float | None) -> list[dict[str, str]]:
    """The three panels as a table."""
    return [
        {f"ε ({NEIGHBOURS})": number_text(item.epsilon or 0)} | dict(zip(PANELS, three_numbers(item, wanted), strict=True))
        for item in found
    ]


def tradeoff_sentence(item: Certified, wanted: float | None) -> str:
    """The cursor in words."""
    guesses, accuracy, rows = three_numbers(item, wanted)
    return (
        f"{item.title} at ε = {number_text(item.epsilon or 0)} ({NEIGHBOURS}): {guesses} guesses about one row can be right "
        f"(a coin: 50), mean accuracy {accuracy}, poisoned rows withstood: {rows}."
    )
