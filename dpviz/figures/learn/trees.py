"""Pictures of the lessons on trees: losses that add up, what a node can become, and what poisoned rows can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.evaluation.learn.growing import Grown
from dpviz.evaluation.learn.lessons import PoisonedStump
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.learn.mechanisms import FIRST, NEUTRAL, SECOND, Rows, hatched, laid_out, percent

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Options of a node that get a bar of their own.
MOST_OPTIONS = 10
#: Margins of a figure without a legend.
BARE = {"l": 8, "r": 12, "t": 8, "b": 8}
CLAIMED, FOUND, COMPOSED = "what the proof says", "really lost, at least", "what the steps add up to"


# --- composition


def adding_figure(found: AuditResult) -> Figure:
    """Three bars: claimed, found by search, composed; the claim as a line through all."""
    from plotly.graph_objects import Figure

    figure = Figure()
    values = {CLAIMED: found.claimed, FOUND: found.log_ratio, COMPOSED: found.composed}
    broken = found.log_ratio > found.claimed * (1 + 1e-9)
    colours = (NEUTRAL, SECOND if broken else FIRST, NEUTRAL)
    bar = {"color": colours, "pattern": hatched("", "/" if broken else "", ".")}
    text = [f"\u2002{number_text(value)}" for value in values.values()]  # a space keeps it off the line of the claim
    words = "%{y}: ε = %{text}<extra></extra>"
    figure.add_bar(
        y=list(values),
        x=list(values.values()),
        orientation="h",
        marker=bar,
        text=text,
        textposition="outside",
        cliponaxis=False,
        hovertemplate=words,
    )
    figure.add_vline(found.claimed, line={"color": NEUTRAL, "dash": "dash", "width": 1.5}, layer="below")
    axis = {"title": f"ε ({NEIGHBOURS})", "range": [0, 1.15 * max(values.values())]}
    down = {"autorange": "reversed", "title": None, "automargin": True}
    return laid_out(figure, 210, xaxis=axis, yaxis=down, showlegend=False, margin=BARE)


def adding_sentence(found: AuditResult, own: AuditResult, n_features: int) -> str:
    """The bars in words."""
    columns = "one feature" if n_features == 1 else f"{n_features} features"
    return (
        f"With {columns} the proof says ε = {number_text(found.claimed)}, search finds a loss of at least "
        f"{number_text(found.log_ratio)}, and the steps add up to {number_text(found.composed)} ({NEIGHBOURS}). A learner that "
        f"chooses once per node keeps within its claim: {number_text(own.log_ratio)} of {number_text(own.claimed)}."
    )


def adding_rows(found: Sequence[tuple[int, AuditResult]]) -> Rows:
    """One row per number of features."""
    names = ("features", CLAIMED, FOUND, COMPOSED)
    cells = ((str(n), *map(number_text, (one.claimed, one.log_ratio, one.composed))) for n, one in found)
    return [dict(zip(names, row, strict=True)) for row in cells]


# --- growing


def options_figure(node: Grown) -> Figure:
    """How likely each option is, its words above its bar; the drawn one in its own colour with a mark; the rest as one bar."""
    from plotly.graph_objects import Figure

    shown = _shown(node)
    shares = [share for _, share, _ in shown]
    names = [("▶ " if drawn else "") + f"{words} · {percent(share)}" for words, share, drawn in shown]
    colours = [SECOND if drawn else FIRST for _, _, drawn in shown]
    bar = {"color": colours, "pattern": hatched(*("/" if drawn else "" for _, _, drawn in shown))}
    places = list(range(len(shown)))
    figure = Figure()
    hover = "%{customdata}<extra></extra>"
    figure.add_bar(y=places, x=shares, orientation="h", width=0.36, marker=bar, customdata=names, hovertemplate=hover)
    above = [place - 0.42 for place in places]
    figure.add_scatter(x=[0] * len(shown), y=above, text=names, mode="text", textposition="middle right", hoverinfo="skip")
    axis = {"title": "chance of being drawn", "tickformat": ".0%", "range": [0, 1.05 * max(shares)], "nticks": 5}
    look = {"range": [len(shown) - 0.5, -0.8], "visible": False}
    return laid_out(figure, 64 + 36 * len(shown), xaxis=axis, yaxis=look, showlegend=False, margin=BARE)


def _shown(node: Grown) -> list[tuple[str, float, bool]]:
    """(words, probability, drawn): the likeliest, the drawn one wherever it stands, and the others together."""
    options = list(node.options)
    kept = options[:MOST_OPTIONS] + [option for option in options[MOST_OPTIONS:] if option.drawn]
    rest = [option for option in options if option not in kept]
    lines = [(option.words, option.probability, option.drawn) for option in kept]
    if rest:
        lines.append((f"{len(rest)} others together", sum(option.probability for option in rest), False))
    return lines


def options_sentence(node: Grown) -> str:
    """The bars in words."""
    best = node.options[0]
    said = f"{len(node.options)} options; the likeliest is “{best.words}” with {percent(best.probability)}"
    drawn = next((option for option in node.options if option.drawn), None)
    if drawn is not None:
        said += f"; drawn: “{drawn.words}”, chance {percent(drawn.probability)}"
    return f"{said}. This choice costs ε = {number_text(node.epsilon)} ({NEIGHBOURS})."


def options_rows(node: Grown) -> Rows:
    """One row per option."""
    return [
        {"option": option.words, "chance": percent(option.probability), "drawn": "yes" if option.drawn else ""}
        for option in node.options
    ]


# --- poisoning


def poison_figure(stump: PoisonedStump, rows: Sequence[int]) -> Figure:
    """Accuracy that is certain however the rows were chosen: the tight bound, the older one, and the majority class."""
    from plotly.graph_objects import Figure

    figure = Figure()
    lines = (
        ("certain", [stump.tight(k) for k in rows], FIRST, "solid"),
        ("certain by the older bound", [stump.published(k) for k in rows], SECOND, "dash"),
    )
    for name, values, colour, dash in lines:
        words = f"%{{x}} rows: %{{y:.1%}}<extra>{name}</extra>"
        figure.add_scatter(
            x=list(rows), y=values, mode="lines", name=name, line={"color": colour, "dash": dash, "width": 3}, hovertemplate=words
        )
    figure.add_scatter(
        x=[rows[0], rows[-1]],
        y=[stump.majority] * 2,
        mode="lines",
        name="always the larger class",
        line={"color": NEUTRAL, "dash": "dot", "width": 2},
        hoverinfo="skip",
    )
    across = {"title": f"rows added or removed, of {stump.n_train:,}", "rangemode": "tozero"}
    up = {"title": "mean accuracy", "tickformat": ".0%", "range": [0, 1]}
    return laid_out(figure, 360, xaxis=across, yaxis=up)


def poison_sentence(stump: PoisonedStump) -> str:
    """The curves in words."""
    start = f"ε = {number_text(stump.epsilon)} ({NEIGHBOURS}): mean accuracy {percent(stump.accuracy)} without poison"
    if stump.protected:
        rows = "1 row" if stump.protected == 1 else f"{stump.protected:,} rows"
        return f"{start}; certain to beat the larger class ({percent(stump.majority)}) up to {rows} of {stump.n_train:,}."
    return f"{start}; nothing better than the larger class ({percent(stump.majority)}) is certain."


def poison_rows(stump: PoisonedStump, rows: Sequence[int]) -> Rows:
    """One line per number of poisoned rows."""
    names = ("rows added or removed", "certain", "certain by the older bound")
    return [dict(zip(names, (f"{k:,}", percent(stump.tight(k)), percent(stump.published(k))), strict=True)) for k in rows]
