"""The fits of every learner at one place of the curves: a box over all of its points, and the same as a table."""

from collections.abc import Mapping

import numpy as np

from dpviz.evaluation.compare.comparison import METRICS
from dpviz.figures.charts import NAMES, Figure, Rows, chart
from dpviz.figures.compare.measure_text import measure_text, tick_format
from dpviz.figures.compare.style import LineStyle, broken
from dpviz.figures.theme import CLEAR, translucent

#: What a box and a point are; shown with them.
MEANING = (
    "A point is one fit: a fresh draw of the noise on one of the splits. It is not a row. The box holds the middle half of an "
    "algorithm's fits, the line in it is their median, and the ends reach to the worst and the best."
)
_QUARTERS = {"lowest": 0.0, "25%": 0.25, "median": 0.5, "75%": 0.75, "highest": 1.0}


def box_figure(outcomes: Mapping[str, np.ndarray], styles: Mapping[str, LineStyle], metric: str = "accuracy") -> Figure:
    """A box with all points per learner; `outcomes` by learner, in the unit of `metric`. Open where a claim does not hold."""
    across = {"title": f"{METRICS[metric]} on held-out rows", "tickformat": tick_format(metric), "zeroline": False}
    figure = chart(106 + 84 * len(outcomes), top=34, right=16, showlegend=False, xaxis=across, yaxis=NAMES)
    for learner, values in outcomes.items():
        style = styles[learner]
        said = [f"{style.name}: {measure_text(float(value), metric)}" for value in values]
        figure.add_box(
            x=values,
            name=broken(style.name),
            orientation="h",
            boxpoints="all",
            pointpos=0,
            jitter=0.6,
            fillcolor=CLEAR if style.symbol.endswith("-open") else translucent(style.colour, 0.16),
            line={"color": style.colour, "width": 2},
            marker={"symbol": style.symbol, "size": 6, "color": style.colour, "opacity": 0.6},
            hoveron="points",
            text=said,
            hovertemplate="%{text}<extra></extra>",
        )
    return figure


def box_rows(outcomes: Mapping[str, np.ndarray], styles: Mapping[str, LineStyle], metric: str = "accuracy") -> Rows:
    """The boxes as a table, one line per learner. Quarters are counted as plotly counts them (Hazen)."""
    return [
        {"algorithm": styles[learner].name}
        | {name: measure_text(float(np.quantile(values, at, method="hazen")), metric) for name, at in _QUARTERS.items()}
        | {"fits": f"{len(values):,}"}
        for learner, values in outcomes.items()
    ]


def box_words(outcomes: Mapping[str, np.ndarray], styles: Mapping[str, LineStyle], metric: str = "accuracy") -> str:
    """The boxes in words, for those who do not see them."""
    said = (
        f"{row['algorithm']}: half of {row['fits']} fits from {row['25%']} to {row['75%']}, median {row['median']}"
        for row in box_rows(outcomes, styles, metric)
    )
    return "; ".join(said) + "."
