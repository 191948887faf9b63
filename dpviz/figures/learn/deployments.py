"""What others published with, as dots on an axis of epsilon: one line of dots per unit of privacy, which are not alike."""

from collections.abc import Sequence
from statistics import median

from dpviz.evaluation.learn.deployments import Deployment, Protects
from dpviz.figures.charts import NAMES, Figure, Rows, chart, line, marker
from dpviz.figures.theme import NEUTRAL, SERIES
from dpviz.results.wording import number_text

#: What one epsilon protects -> its name, strongest first.
UNITS: dict[Protects, str] = {
    "person": "everything of<br>one person",
    "month": "one person's<br>month",
    "day": "one person's day,<br>event or trip",
    "other": "something else",
}
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def with_epsilon(found: Sequence[Deployment]) -> list[Deployment]:
    """Those that can stand on the axis."""
    return [item for item in found if item.epsilon is not None]


def deployments_figure(found: Sequence[Deployment], *, mine: float) -> Figure:
    """A dot per entry with an epsilon; a line at one's own."""
    across = {"title": "published ε, each for its own unit", "type": "log", "zeroline": False, **_TICKS}
    places = NAMES | {"categoryorder": "array", "categoryarray": list(UNITS.values()), "zeroline": False}
    figure = chart(330, top=26, showlegend=False, xaxis=across, yaxis=places)
    for (kind, name), colour, symbol in zip(UNITS.items(), SERIES, _SYMBOLS, strict=False):
        items = [item for item in with_epsilon(found) if item.protects == kind]
        look = {"name": name, "mode": "markers", "marker": marker(colour, f"{symbol}-open", 11)}
        said = {"customdata": [hover_text(item) for item in items], "hovertemplate": "%{customdata}<extra></extra>"}
        figure.add_scatter(x=[item.epsilon for item in items], y=[name] * len(items), **look, **said)
    return figure.add_vline(mine, line=line(NEUTRAL, 2, "dash"))


_TICKS = {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"], "range": [-2.2, 1.8]}


def hover_text(item: Deployment) -> str:
    """One entry: who, what, when, and what its epsilon is about."""
    delta = f", δ = {item.delta}" if item.delta else ""
    about = f"ε = {number_text(item.epsilon or 0)}{delta} · {item.unit or 'unit not said'}"
    return f"<b>{item.curators}</b>, {item.year}<br>{item.name}<br>{about}<br>{item.status} review"


def deployments_sentence(found: Sequence[Deployment], *, mine: float) -> str:
    """The figure in words: how many lie below one's own epsilon, and the median of those that protect a person."""
    shown = with_epsilon(found)
    epsilons = [item.epsilon for item in shown if item.epsilon is not None]
    smaller = sum(epsilon < mine for epsilon in epsilons)
    persons = [item.epsilon for item in shown if item.protects == "person" and item.epsilon is not None]
    return (
        f"{len(shown)} entries give an ε, from {number_text(min(epsilons))} to {number_text(max(epsilons))}; "
        f"{smaller} of them are below {number_text(mine)}. Where everything of one person is protected, the median of "
        f"{len(persons)} is {number_text(median(persons))}. The other {len(found) - len(shown)} entries give none."
    )


def deployment_rows(found: Sequence[Deployment]) -> Rows:
    """Every entry as a table."""
    return [
        {
            "published by": item.curators,
            "year": str(item.year),
            "what": item.name,
            "ε": "" if item.epsilon is None else number_text(item.epsilon),
            "δ": item.delta,
            "ρ": item.rho,
            "unit of privacy": item.unit,
            "variant": item.variant,
            "review": item.status,
        }
        for item in found
    ]
