"""What one step more of each share buys: a figure, a sentence and a table."""

from collections.abc import Sequence

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.budget.lab import StepGain
from dpviz.evaluation.budget.shares import STEPS, MovableShares
from dpviz.figures.budget.share_map import part_title, shares_words
from dpviz.figures.charts import NAMES, Figure, Rows, chart, limits, line, marker
from dpviz.figures.theme import GREEN, NEUTRAL, ORANGE

_MARKS = {"gain": (GREEN, "triangle-up"), "loss": (ORANGE, "triangle-down"), "unclear": (NEUTRAL, "circle-open")}


def gains_figure(gains: Sequence[StepGain]) -> Figure:
    """What one step more of each share buys: a dot with its 95% interval around no change."""
    across = {"title": "change of training accuracy, points", "zeroline": False}
    figure = chart(90 + 46 * len(gains), showlegend=False, xaxis=across, yaxis=NAMES)
    for item in gains:
        colour, symbol = _MARKS[item.kind]
        figure.add_scatter(
            x=[100 * item.gain],
            y=[part_title(item.part)],
            mode="markers",
            error_x=limits([100 * (item.high - item.gain)], [100 * (item.gain - item.low)], colour),
            marker=marker(colour, symbol),
            hovertemplate=f"{gain_words(item)}<extra></extra>",
        )
    figure.add_vline(0, line=line(NEUTRAL, 1.5, "dot"))
    return figure


def gain_words(item: StepGain) -> str:
    """As in "leaves: +0.8 points (95%: +0.2 to +1.4)"."""
    low, gain, high = (f"{100 * value:+.1f}" for value in (item.low, item.gain, item.high))
    return f"{part_title(item.part)}: {gain} points (95%: {low} to {high})"


def gains_sentence(gains: Sequence[StepGain]) -> str:
    """All steps in words."""
    step = f"One step more, {100 / STEPS:.0f}% of ε ({NEIGHBOURS}) moved there from the other shares"
    better = [part_title(item.part) for item in gains if item.kind == "gain"]
    verdict = f"It pays for {' and '.join(better)}." if better else "No step is shown to pay."
    return f"{step}: {'; '.join(map(gain_words, gains))}. {verdict}"


def gain_rows(movable: MovableShares, gains: Sequence[StepGain]) -> Rows:
    """The steps as a table."""
    return [
        {
            "one step more for": part_title(item.part),
            "leads to": shares_words(movable.parts, item.shares),
            "change, points": f"{100 * item.gain:+.2f}",
            "95% from": f"{100 * item.low:+.2f}",
            "95% to": f"{100 * item.high:+.2f}",
            "draws": f"{item.n_draws}",
        }
        for item in gains
    ]
