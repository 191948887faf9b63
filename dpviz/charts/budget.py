"""Budget in pictures: shares of a plan as tables, rounds of boosting, accuracy over shares of epsilon.

The share map is a triangle of cells over three shares (source: Vos et al. 2023, arXiv 2305.15394, Figure 2), over two shares or a
growth factor a line with its band.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.accounting.plan import BudgetPlan
from dpviz.charts.chart import LEGEND_ABOVE, Chart, Figure, Rows, Style, band, chart, line, marker
from dpviz.charts.split import steps
from dpviz.charts.theme import BLUE, CLEAR, NEUTRAL, ORANGE, lighter, text_on
from dpviz.charts.wording import counted
from dpviz.evaluation.shares import GROWTHS, ShareMap, Shares
from dpviz.results.wording import number_text

AXIS = f"ε ({NEIGHBOURS})"


def spending_rows(plan: BudgetPlan, spent: Mapping[tuple[str, int | None], float]) -> Rows:
    """What one row pays on its way down the tree, a line per part and level."""
    return [{"where": step.level, "for": step.part, AXIS: number_text(step.epsilon)} for step in steps(plan, spent)]


# --- accuracy over shares

#: The scale of accuracy is at least this wide, so that noise does not look like a landscape.
LEAST_SPREAD = 0.05
#: From this relative height on a cell has the full colour.
FULL = 0.93
_CELL = 30
_PARTS = {"quantile": "quantiles", "node": "nodes", "leaf": "leaves", "depth 0": "root", "depth 0 and 1": "root and depth 1"}


def _part(part: str) -> str:
    return _PARTS.get(part, part)


def map_chart(found: ShareMap, *, current: Shares | None) -> Chart:
    """A triangle over three shares, else a line; the automatic choice and `current`, shares set by hand, are marked.

    The worst point, or one LEAST_SPREAD below the best, has the lightest shade. `customdata` of a point is its number.
    """
    spread = max(LEAST_SPREAD, float(np.ptp(found.means)))
    parts, best, good = found.movable.parts, found.best, set(found.as_good)
    rule, others = found.nearest(found.movable.automatic), len(good) - 1
    tied = f"; {counted(others, 'other point')} {'is' if others == 1 else 'are'} statistically tied with it" if others else ""
    behind = f"{found.means[rule]:.1%}, {100 * (found.means[best] - found.means[rule]):.1f} points less"
    automatic = f"The point nearest the automatic choice reaches {behind}."
    if rule == best:
        automatic = "It is the point nearest the automatic choice."
    said = (
        f"Training accuracy, mean of {found.n_draws} draws, {found.means.min():.1%} to {found.means.max():.1%}. "
        f"Best: {shares_words(parts, found.points[best])}{tied}. {automatic}"
    )
    rows = [
        {
            **{_part(part): f"{share:.0%}" for part, share in zip(parts, point, strict=True)},
            "training accuracy": f"{found.means[at]:.2%}",
            "standard error, points": f"{100 * found.errors[at]:.2f}",
            "as good as the best": "yes" if at in good else "no",
        }
        for at, point in enumerate(found.points)
    ]
    return Chart((_triangle if len(parts) == 3 else _line_over_shares)(found, current, spread), said, rows)


def _triangle(found: ShareMap, current: Shares | None, spread: float) -> Figure:
    """Every cell carries its number, so colour is not the only cue."""
    means = found.means
    heights = np.clip(1 - (means.max() - means) / spread, 0, 1)
    axis = {"tickformat": ".0%", "ticks": "", "tickvals": [0.5], "showgrid": False, "linecolor": NEUTRAL}
    sides = [axis | {"title": f"all {escape(_part(part))}"} for part in found.movable.parts]
    ternary = {"sum": 1, "bgcolor": CLEAR} | dict(zip(("aaxis", "baxis", "caxis"), sides, strict=True))
    figure = chart(520, top=70, legend=LEGEND_ABOVE, ternary=ternary, clickmode="event+select", dragmode=False)
    figure.update_layout(margin={"l": 50, "r": 50, "b": 50})  # words at the corners
    shades = [BLUE if height >= FULL else lighter(BLUE, 0.08 + 0.6 * float(height)) for height in heights]
    decimals = int(1.96 * float(np.median(np.nan_to_num(found.errors, nan=1.0))) < 0.005)  # where draws tell tenths apart
    figure.add_scatterternary(
        **_corners(found.points),
        customdata=list(range(len(shades))),
        mode="markers+text",
        marker={"symbol": "hexagon", "size": _CELL, "color": shades, "line": {"width": 0}},
        text=[f"{100 * mean:.{decimals}f}" for mean in means],
        textfont={"size": 11, "color": list(map(text_on, shades))},
        hovertext=[point_words(found, at) for at in range(len(shades))],
        hoverinfo="text",
        showlegend=False,
        unselected={"marker": {"opacity": 1}},
    )
    marks = [("automatic choice", found.movable.automatic, marker(ORANGE, "diamond-open", 24, 3))]
    marks += [("in use", found.points[found.nearest(current)], marker(ORANGE, "circle-open", 34, 3))] if current else []
    for name, shares, style in marks:
        figure.add_scatterternary(**_corners([shares]), mode="markers", marker=style, name=name, hoverinfo="skip")
    return figure


def _corners(points: Sequence[Shares]) -> Style:
    return dict(zip("abc", map(list, zip(*points, strict=True)), strict=True))


def _line_over_shares(found: ShareMap, current: Shares | None, spread: float) -> Figure:
    """Mean training accuracy with its 95% band along two shares or the growth factor; automatic and current choice marked."""
    is_share = len(found.movable.parts) == 2
    if is_share:
        x = [100 * point[0] for point in found.points]
        across: Style = {"title": f"share of ε for {_part(found.movable.parts[0])}, %", "zeroline": False}
    else:
        x = list(GROWTHS)
        ticks = {"type": "log", "tickvals": GROWTHS, "ticktext": [f"{growth:g}" for growth in GROWTHS]}
        across = {"title": "each level gets this many times the share of the level above", "zeroline": False} | ticks
    top = 100 * float(found.means.max())
    up = {"title": "training accuracy, %", "zeroline": False, "range": [top - 110 * spread, top + 15 * spread]}
    figure = chart(380, legend=LEGEND_ABOVE, xaxis=across, yaxis=up)
    low, high = (100 * (found.means + sign * 1.96 * np.nan_to_num(found.errors)) for sign in (-1, 1))
    figure.add_scatter(**band(x, low, high, BLUE))
    words = [f"{point_words(found, at)}<extra></extra>" for at in range(len(x))]
    mean = {"mode": "lines+markers", "line": line(BLUE), "marker": {"size": 9}, "name": "mean"}
    figure.add_scatter(x=x, y=100 * found.means, hovertemplate=words, **mean)
    for shares, symbol, name in ((found.movable.automatic, "diamond", "automatic choice"), (current, "circle-open", "in use")):
        if shares is not None:
            at = found.nearest(shares)
            place = 100 * shares[0] / sum(shares) if is_share else x[at]
            mark = {"mode": "markers", "marker": marker(ORANGE, symbol, 16, 3), "name": name, "hoverinfo": "name"}
            figure.add_scatter(x=[place], y=[100 * found.means[at]], **mark)
    return figure


def shares_words(parts: Sequence[str], shares: Shares) -> str:
    """As in "quantiles (20%), nodes (30%), leaves (50%)"."""
    return ", ".join(f"{_part(part)} ({100 * share:.0f}%)" for part, share in zip(parts, shares, strict=True))


def point_words(found: ShareMap, at: int) -> str:
    """A point with its accuracy."""
    error = f", standard error {100 * found.errors[at]:.1f}" if found.n_draws > 1 else ""
    return f"{shares_words(found.movable.parts, found.points[at])}: {found.means[at]:.1%} right{error}"
