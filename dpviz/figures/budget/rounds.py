"""The budget of boosting: what the first rounds cost."""

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.figures.charts import Figure, Rows, chart, line
from dpviz.figures.theme import BLUE
from dpviz.results.wording import number_text

AXIS = f"ε ({NEIGHBOURS})"


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
