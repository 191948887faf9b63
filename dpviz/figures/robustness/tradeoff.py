"""What one epsilon means for privacy, accuracy and robustness: three panels over one axis."""

from collections.abc import Sequence

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.evaluation.robustness.certificates import Certificate
from dpviz.figures.charts import Figure, Rows, Style, cursor_line, line, line_mode, panels
from dpviz.figures.robustness.certified import Certified
from dpviz.figures.theme import NEUTRAL, SERIES
from dpviz.results.verdict import ROW, Unit, right_guesses
from dpviz.results.wording import number_text, rounded_up

AXIS = f"ε ({NEIGHBOURS})"
_STYLES = ("circle", "%{y:.1f} of 100"), ("square", "%{y:.1%}"), ("diamond", "%{y:,} rows")


def panel_names(unit: Unit = ROW) -> tuple[str, str, str]:
    """What the panels are about."""
    return f"right guesses about {unit.words}", "mean accuracy", "poisoned rows withstood"


def guesses_of(item: Certified, unit: Unit = ROW) -> float | None:
    """Of 100 fair guesses about one unit, how many can be right at most; None where nothing is proved."""
    bound = item.table.bounds[0]
    if item.table.reason or not isinstance(bound, Certificate):
        return None
    return right_guesses(PrivacyLoss(bound.epsilon, bound.delta), unit, item.risk)


def three_numbers(item: Certified, wanted: float | None, unit: Unit = ROW) -> tuple[str, str, str]:
    """The panels at one epsilon, in words."""
    guesses, rows = guesses_of(item, unit), item.table.protected_rows(wanted)
    return (
        "no limit" if guesses is None else f"{rounded_up(guesses, 1)} of 100",
        f"{item.table.accuracy:.1%}",
        "none" if rows is None else f"{rows:,}",
    )


def tradeoff_figure(found: Sequence[Certified], *, chosen: float, wanted: float | None, unit: Unit = ROW) -> Figure:
    """Three panels over one epsilon axis, with a cursor at the chosen epsilon."""
    x = [item.epsilon for item in found]
    first, *others = panel_names(unit)
    titles = (f"{first}, of 100", *others)
    figure = panels(3, 560, top=30, spacing=0.09, subplot_titles=titles, layout=_axes(x))
    guesses, accuracy = [guesses_of(item, unit) for item in found], [item.table.accuracy for item in found]
    withstood = [item.table.protected_rows(wanted) for item in found]
    for row, (y, (symbol, shown)) in enumerate(zip((guesses, accuracy, withstood), _STYLES, strict=True)):
        style = {"line": line(SERIES[row]), "marker": {"size": 8, "symbol": symbol, "color": SERIES[row]}}
        hover = f"{shown}<extra></extra>"
        figure.add_scatter(x=x, y=y, mode=line_mode(len(x)), hovertemplate=hover, **style, row=row + 1, col=1)
    level = found[0].table.majority if wanted is None else wanted
    figure.add_hline(level, line=line(NEUTRAL, 1.5, "dot"), row=2, col=1)
    return figure.add_shape(**cursor_line(chosen, line(NEUTRAL, 2)))


def _axes(x: Sequence[float | None]) -> Style:
    ticks = {"type": "log", "tickvals": list(x), "ticktext": [number_text(e or 0) for e in x], "zeroline": False}
    across = {"xaxis": ticks, "xaxis2": ticks, "xaxis3": {**ticks, "title": AXIS}}
    heights = {"yaxis": {"range": [48, 102]}, "yaxis2": {"tickformat": ".0%"}, "yaxis3": {"rangemode": "tozero"}}
    return {"showlegend": False, "hovermode": "x", **across, **heights}


def tradeoff_rows(found: Sequence[Certified], wanted: float | None, unit: Unit = ROW) -> Rows:
    """The three panels as a table."""
    return [
        {AXIS: number_text(item.epsilon or 0)} | dict(zip(panel_names(unit), three_numbers(item, wanted, unit), strict=True))
        for item in found
    ]


def tradeoff_sentence(item: Certified, wanted: float | None, unit: Unit = ROW) -> str:
    """The cursor in words."""
    guesses, accuracy, rows = three_numbers(item, wanted, unit)
    return (
        f"{item.title} at ε = {number_text(item.epsilon or 0)} ({NEIGHBOURS}): {guesses} guesses about {unit.words} "
        f"can be right (a coin: 50), mean accuracy {accuracy}, poisoned rows withstood: {rows}."
    )


def ends_sentence(found: Sequence[Certified], wanted: float | None, unit: Unit = ROW) -> str:
    """From the smallest to the largest epsilon that was computed, how the three numbers change."""
    ends = sorted(found, key=lambda item: item.epsilon or 0)
    (low, high), both = (ends[0], ends[-1]), [three_numbers(item, wanted, unit) for item in (ends[0], ends[-1])]
    changes = ", ".join(f"{name} from {a} to {b}" for name, a, b in zip(panel_names(unit), *both, strict=True))
    return f"From ε = {number_text(low.epsilon or 0)} to {number_text(high.epsilon or 0)}: {changes}."
