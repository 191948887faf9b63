"""Chart of the lesson on groups: error and found share of a large and a small group over epsilon."""

import math

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.learn.groups import EPSILONS, GROUPS, N_ROWS, WANTED, GroupCurves
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, line, marker, panels
from dpviz.figures.theme import BLUE, NEUTRAL, ORANGE
from dpviz.figures.wording import chance
from dpviz.results.wording import number_text

_EPSILON = f"ε ({NEIGHBOURS})"
#: The two curves may lie on each other: the first is wide, so that both are seen.
_STYLES = ((BLUE, "solid", 6.0, "circle"), (ORANGE, "dash", 2.5, "x"))


def groups_figure(curves: GroupCurves) -> Figure:
    """Above how often the tree is wrong, below how many late loans it finds; a line per group, one more for the error wanted."""
    figure = panels(2, 420, top=36, spacing=0.08, layout={"legend": LEGEND_ABOVE})
    for place, shares in enumerate((curves.wrong, curves.found), start=1):
        for group, rows, values, (colour, dash, width, symbol) in zip(GROUPS, curves.sizes, shares, _STYLES, strict=True):
            name = f"{group}, {rows:,} rows"
            style = {"mode": "lines+markers", "line": line(colour, width, dash), "marker": marker(colour, symbol, 8, 1)}
            hover = f"ε = %{{x}}: %{{y:.1%}}<extra>{name}</extra>"
            more = {"name": name, "legendgroup": group, "showlegend": place == 1, "hovertemplate": hover}
            figure.add_scatter(x=list(EPSILONS), y=values, **style, **more, row=place, col=1)
    figure.add_hline(WANTED, row=1, col=1, line=line(NEUTRAL, 1.5, "dot"))
    for place, title in enumerate(("wrong", "late loans found"), start=1):
        figure.update_yaxes(title=title, tickformat=".0%", range=[0, 0.7 if place == 1 else 1], row=place, col=1)
    ticks = [0.01, 0.03, 0.1, 0.3, 1]
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[number_text(tick) for tick in ticks])
    return figure.update_xaxes(title=_EPSILON, row=2, col=1)


def groups_sentence(curves: GroupCurves) -> str:
    """From which epsilon on either group is served well."""
    town, village = (_from(curves.enough(group)) for group in range(2))
    return (
        f"{curves.small} of {N_ROWS:,} rows are from the {GROUPS[1]}. The tree is wrong about at most {chance(WANTED)} of the "
        f"{GROUPS[0]} {town}, of the {GROUPS[1]} {village} ({NEIGHBOURS})."
    )


def _from(epsilon: float) -> str:
    return f"from ε = {number_text(epsilon)} on" if math.isfinite(epsilon) else "at no ε shown"


def groups_rows(curves: GroupCurves) -> Rows:
    """One row per epsilon."""
    lines = zip(EPSILONS, *curves.wrong, *curves.found, strict=True)
    names = [f"{group}: {what}" for what in ("wrong", "late found") for group in GROUPS]
    return [{_EPSILON: number_text(eps), **dict(zip(names, map(chance, shares), strict=True))} for eps, *shares in lines]
