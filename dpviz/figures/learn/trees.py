"""Charts of the lessons on trees: losses that add up, what a node can become, and what poisoned rows can do."""

from collections.abc import Sequence

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.evaluation.learn.growing import Grown
from dpviz.evaluation.learn.lessons import PoisonedStump
from dpviz.figures.audit import is_beyond
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Figure, Rows, chart, hatched_bar, line
from dpviz.figures.theme import BLUE, NEUTRAL, ORANGE
from dpviz.figures.wording import chance, counted
from dpviz.results.wording import number_text

#: Options of a node that get a bar of their own.
MOST_OPTIONS = 10
CLAIMED, FOUND, COMPOSED = "what the proof says", "really lost, at least", "what the steps add up to"


# --- composition


def adding_figure(found: AuditResult) -> Figure:
    """Three bars: claimed, found by search, composed; the claim as a line through all."""
    values = {CLAIMED: found.claimed, FOUND: found.log_ratio, COMPOSED: found.composed}
    axis = {"title": f"ε ({NEIGHBOURS})", "range": [0, 1.15 * max(values.values())]}
    figure = chart(210, showlegend=False, xaxis=axis, yaxis=NAMES)
    broken = is_beyond(found)
    style = hatched_bar([NEUTRAL, ORANGE if broken else BLUE, NEUTRAL], ["", "/" if broken else "", "."])
    said = [f"\u2002{number_text(value)}" for value in values.values()]  # a space keeps it off the line of the claim
    words = {"text": said, "textposition": "outside", "cliponaxis": False, "hovertemplate": "%{y}: ε = %{text}<extra></extra>"}
    figure.add_bar(y=list(values), x=list(values.values()), orientation="h", marker=style, **words)
    figure.add_vline(found.claimed, line=line(NEUTRAL, 1.5, "dash"), layer="below")
    return figure


def adding_sentence(found: AuditResult, own: AuditResult, n_features: int) -> str:
    """The bars in words."""
    columns = "one feature" if n_features == 1 else f"{n_features} features"
    return (
        f"With {columns} the proof says ε = {number_text(found.claimed)}, search finds a loss of at least "
        f"{number_text(found.log_ratio)}, and the steps add up to {number_text(found.composed)} ({NEIGHBOURS}). An algorithm "
        f"that chooses once per node keeps within its claim: {number_text(own.log_ratio)} of {number_text(own.claimed)}."
    )


def adding_rows(found: Sequence[tuple[int, AuditResult]]) -> Rows:
    """One row per number of features."""
    names = ("features", CLAIMED, FOUND, COMPOSED)
    cells = ((str(n), *map(number_text, (one.claimed, one.log_ratio, one.composed))) for n, one in found)
    return [dict(zip(names, row, strict=True)) for row in cells]


# --- growing


def options_figure(node: Grown) -> Figure:
    """How likely each option is, its words above its bar; the drawn one in its own colour with a mark; the rest as one bar."""
    shown = _shown(node)
    names = [("▶ " if drawn else "") + f"{words} · {chance(share)}" for words, share, drawn in shown]
    shares, chosen = [share for _, share, _ in shown], [drawn for *_, drawn in shown]
    style = hatched_bar([ORANGE if drawn else BLUE for drawn in chosen], ["/" if drawn else "" for drawn in chosen])
    places = list(range(len(names)))
    across = {"title": "chance of being drawn", "tickformat": ".0%", "range": [0, 1.05 * max(shares)], "nticks": 5}
    down = {"range": [len(names) - 0.5, -0.8], "visible": False}
    figure = chart(64 + 36 * len(names), showlegend=False, xaxis=across, yaxis=down)
    hover = {"customdata": names, "hovertemplate": "%{customdata}<extra></extra>"}
    figure.add_bar(y=places, x=shares, orientation="h", width=0.36, marker=style, **hover)
    above = [place - 0.42 for place in places]
    words = {"text": names, "mode": "text", "textposition": "middle right", "hoverinfo": "skip"}
    return figure.add_scatter(x=[0] * len(names), y=above, **words)


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
    said = f"{len(node.options)} options; the likeliest is “{best.words}” with {chance(best.probability)}"
    drawn = next((option for option in node.options if option.drawn), None)
    if drawn is not None:
        said += f"; drawn: “{drawn.words}”, chance {chance(drawn.probability)}"
    return f"{said}. This choice costs ε = {number_text(node.epsilon)} ({NEIGHBOURS})."


def options_rows(node: Grown) -> Rows:
    """One row per option."""
    return [
        {"option": option.words, "chance": chance(option.probability), "drawn": "yes" if option.drawn else ""}
        for option in node.options
    ]


# --- poisoning


def poison_figure(stump: PoisonedStump, rows: Sequence[int]) -> Figure:
    """Accuracy that is certain however the rows were chosen: the tight bound, the older one, and the majority class."""
    across = {"title": f"rows added or removed, of {stump.n_train:,}", "rangemode": "tozero"}
    up = {"title": "mean accuracy", "tickformat": ".0%", "range": [0, 1]}
    figure = chart(360, top=36, legend=LEGEND_ABOVE, xaxis=across, yaxis=up)
    for name, bound, style in (
        ("certain", stump.tight, line(BLUE, 3)),
        ("certain by the older bound", stump.published, line(ORANGE, 3, "dash")),
    ):
        hover = f"%{{x}} rows: %{{y:.1%}}<extra>{name}</extra>"
        values = [bound(k) for k in rows]
        figure.add_scatter(x=list(rows), y=values, mode="lines", name=name, line=style, hovertemplate=hover)
    level = {"name": "always the larger class", "mode": "lines", "line": line(NEUTRAL, 2, "dot"), "hoverinfo": "skip"}
    return figure.add_scatter(x=[rows[0], rows[-1]], y=[stump.majority] * 2, **level)


def poison_sentence(stump: PoisonedStump) -> str:
    """The curves in words."""
    start = f"ε = {number_text(stump.epsilon)} ({NEIGHBOURS}): mean accuracy {chance(stump.accuracy)} without poison"
    if stump.protected:
        rows = counted(stump.protected, "row")
        return f"{start}; certain to beat the larger class ({chance(stump.majority)}) up to {rows} of {stump.n_train:,}."
    return f"{start}; nothing better than the larger class ({chance(stump.majority)}) is certain."


def poison_rows(stump: PoisonedStump, rows: Sequence[int]) -> Rows:
    """One line per number of poisoned rows."""
    names = ("rows added or removed", "certain", "certain by the older bound")
    return [dict(zip(names, (f"{k:,}", chance(stump.tight(k)), chance(stump.published(k))), strict=True)) for k in rows]
