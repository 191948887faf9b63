"""What one step more of each share buys: a figure, a sentence and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.budget.lab import StepGain
from dpviz.evaluation.budget.shares import STEPS, MovableShares
from dpviz.figures.budget.share_map import part_title, shares_words

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def gains_figure(gains: Sequence[StepGain]) -> Figure:
    """What one step more of each share buys: a dot with its 95 % interval around no change."""
    from plotly.graph_objects import Figure

    looks = {"gain": ("#12937a", "triangle-up"), "loss": ("#d2691e", "triangle-down"), "unclear": ("#7d8a8f", "circle-open")}
    figure = Figure()
    for item in gains:
        colour, symbol = looks[item.kind]
        reach = 100 * (item.high - item.gain)
        figure.add_scatter(
            x=[100 * item.gain], y=[part_title(item.part)], mode="markers",
            error_x={"type": "data", "array": [reach], "color": colour, "thickness": 2.5, "width": 7},
            marker={"symbol": symbol, "size": 13, "color": colour, "line": {"width": 2, "color": colour}},
            hovertemplate=f"{gain_words(item)}<extra></extra>", showlegend=False,
        )  # fmt: skip
    figure.add_vline(0, line={"color": "#7d8a8f", "width": 1.5, "dash": "dot"})
    figure.update_layout(
        height=90 + 46 * len(gains),
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        xaxis={"title": "change of training accuracy, points", "zeroline": False},
        yaxis={"autorange": "reversed", "title": None, "automargin": True},
    )
    return figure


def gain_words(item: StepGain) -> str:
    """As in "leaves: +0.8 points (95 %: +0.2 to +1.4)"."""
    low, gain, high = (f"{100 * value:+.1f}" for value in (item.low, item.gain, item.high))
    return f"{part_title(item.part)}: {gain} points (95 %: {low} to {high})"


def gains_sentence(gains: Sequence[StepGain]) -> str:
    """All steps in words."""
    step = f"One step more, {100 / STEPS:.0f} % of ε ({NEIGHBOURS}) moved there from the other shares"
    better = [part_title(item.part) for item in gains if item.kind == "gain"]
    verdict = f"It pays for {' and '.join(better)}." if better else "No step is shown to pay."
    return f"{step}: {'; '.join(map(gain_words, gains))}. {verdict}"


def gain_rows(movable: MovableShares, gains: Sequence[StepGain]) -> list[dict[str, str]]:
    """The steps as a table."""
    return [
        {
            "one step more for": part_title(item.part),
            "leads to": shares_words(movable.parts, item.shares),
            "change, points": f"{100 * item.gain:+.2f}",
            "95 % from": f"{100 * item.low:+.2f}",
            "95 % to": f"{100 * item.high:+.2f}",
            "draws": f"{item.n_draws}",
        }
        for item in gains
    ]
