"""The budget of boosting in two charts: what the first rounds cost, and how much of it single rows use."""

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.budget.boosting import IndividualLosses
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, chart, line
from dpviz.figures.theme import BLUE, NEUTRAL, ORANGE
from dpviz.results.wording import number_text

AXIS = f"ε ({NEIGHBOURS})"
_MOST_POINTS = 400
_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def rounds_figure(rounds: np.ndarray, epsilons: np.ndarray) -> Figure:
    """Composed epsilon over rounds."""
    figure = chart(280, top=36, xaxis={"title": "rounds"}, yaxis={"title": AXIS, "rangemode": "tozero"})
    hover = "%{x} rounds: ε = %{y:.3g}<extra></extra>"
    return figure.add_scatter(x=rounds, y=epsilons, mode="lines+markers", line=line(BLUE), hovertemplate=hover)


def rounds_sentence(rounds: np.ndarray, epsilons: np.ndarray, delta: float) -> str:
    """How the price grows, in words."""
    half = float(np.interp(rounds[-1] / 2, rounds, epsilons))
    return (
        f"All {rounds[-1]:,} rounds cost ε = {number_text(float(epsilons[-1]))} at δ = {number_text(delta)} ({NEIGHBOURS}), half "
        f"of them ε = {number_text(half)}: independent noise adds up by squares, so later rounds are cheaper."
    )


def rounds_rows(rounds: np.ndarray, epsilons: np.ndarray) -> Rows:
    """One row per point."""
    pairs = zip(rounds, epsilons, strict=True)
    return [{"rounds": f"{count:,}", AXIS: number_text(float(epsilon))} for count, epsilon in pairs]


def losses_figure(found: IndividualLosses) -> Figure:
    """Every row's own loss, rows in order of it, with and without the filter, and the bound for all."""
    across = {"title": "rows, least affected first", "tickformat": ".0%", "range": [0, 1]}
    up = {"title": "own ε", "range": [0, 1.15 * max(found.bound, float(found.plain.max(initial=0.0)))]}
    figure = chart(340, top=36, legend=LEGEND_ABOVE, xaxis=across, yaxis=up)
    for name, losses, colour, dash in _curves(found):
        place = np.unique(np.linspace(0, len(losses) - 1, min(_MOST_POINTS, len(losses))).astype(int))
        share, hover = (place + 0.5) / len(losses), f"ε = %{{y:.3g}}<extra>{name}</extra>"
        figure.add_scatter(x=share, y=losses[place], mode="lines", line=line(colour, dash=dash), name=name, hovertemplate=hover)
    figure.add_hline(found.bound, line=line(NEUTRAL, 1.5))
    note = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    return figure.add_annotation(y=found.bound, text="guaranteed for every row", **note)


def _curves(found: IndividualLosses) -> tuple[tuple[str, np.ndarray, str, str], ...]:
    return ("without the filter", found.plain, ORANGE, "dash"), ("with the filter", found.filtered, BLUE, "solid")


def losses_sentence(found: IndividualLosses) -> str:
    """What the middle row uses, in words."""
    plain, filtered = (number_text(float(np.median(losses))) for losses in (found.plain, found.filtered))
    return (
        f"The rounds promise every row ε = {number_text(found.bound)} ({NEIGHBOURS}). Counted by its own gradients, the middle "
        f"row loses ε = {plain}; with the individual filter, which spends what is left on more trees, {filtered}."
    )


def losses_rows(found: IndividualLosses) -> Rows:
    """One row per share of the rows."""
    return [
        {"share of rows": f"{share:.0%}"}
        | {f"own ε, {name}": number_text(float(np.quantile(losses, share))) for name, losses, *_ in _curves(found)}
        for share in _QUANTILES
    ]
