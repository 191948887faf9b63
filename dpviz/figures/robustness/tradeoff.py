"""What one epsilon means for privacy, accuracy and robustness: three panels over one axis."""

from collections.abc import Sequence

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.evaluation.robustness.certificates import Certificate
from dpviz.figures.charts import Figure, Rows, Style, cursor_line, joined, line, panels
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.robustness.certified import Certified
from dpviz.figures.theme import NEUTRAL, SERIES

AXIS = f"ε ({NEIGHBOURS})"
PANELS = ("right guesses about one row", "mean accuracy", "poisoned rows withstood")
_STYLES = ("circle", "%{y:.1f} of 100"), ("square", "%{y:.1%}"), ("diamond", "%{y:,} rows")


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
    x = [item.epsilon for item in found]
    titles = (f"{PANELS[0]}, of 100", *PANELS[1:])
    figure = panels(3, 560, top=30, spacing=0.09, subplot_titles=titles, layout=_axes(x))
    guesses, accuracy = [guesses_of(item) for item in found], [item.table.accuracy for item in found]
    withstood = [item.table.protected_rows(wanted) for item in found]
    for row, (y, (symbol, shown)) in enumerate(zip((guesses, accuracy, withstood), _STYLES, strict=True)):
        style = {"line": line(SERIES[row]), "marker": {"size": 8, "symbol": symbol, "color": SERIES[row]}}
        hover = f"{shown}<extra></extra>"
        figure.add_scatter(x=x, y=y, mode=joined(len(x)), hovertemplate=hover, **style, row=row + 1, col=1)
    level = found[0].table.majority if wanted is None else wanted
    figure.add_hline(level, line=line(NEUTRAL, 1.5, "dot"), row=2, col=1)
    return figure.add_shape(**cursor_line(chosen, line(NEUTRAL, 2)))


def _axes(x: Sequence[float | None]) -> Style:
    ticks = {"type": "log", "tickvals": list(x), "ticktext": [number_text(e or 0) for e in x], "zeroline": False}
    across = {"xaxis": ticks, "xaxis2": ticks, "xaxis3": {**ticks, "title": AXIS}}
    heights = {"yaxis": {"range": [48, 102]}, "yaxis2": {"tickformat": ".0%"}, "yaxis3": {"rangemode": "tozero"}}
    return {"showlegend": False, "hovermode": "x", **across, **heights}


def tradeoff_rows(found: Sequence[Certified], wanted: float | None) -> Rows:
    """The three panels as a table."""
    return [
        {AXIS: number_text(item.epsilon or 0)} | dict(zip(PANELS, three_numbers(item, wanted), strict=True)) for item in found
    ]


def tradeoff_sentence(item: Certified, wanted: float | None) -> str:
    """The cursor in words."""
    guesses, accuracy, rows = three_numbers(item, wanted)
    return (
        f"{item.title} at ε = {number_text(item.epsilon or 0)} ({NEIGHBOURS}): {guesses} guesses about one row can be right "
        f"(a coin: 50), mean accuracy {accuracy}, poisoned rows withstood: {rows}."
    )


def ends_sentence(found: Sequence[Certified], wanted: float | None) -> str:
    """From the smallest to the largest epsilon that was computed, how the three numbers change."""
    ends = sorted(found, key=lambda item: item.epsilon or 0)
    (low, high), both = (ends[0], ends[-1]), [three_numbers(item, wanted) for item in (ends[0], ends[-1])]
    changes = ", ".join(f"{name} from {a} to {b}" for name, a, b in zip(PANELS, *both, strict=True))
    return f"From ε = {number_text(low.epsilon or 0)} to {number_text(high.epsilon or 0)}: {changes}."
