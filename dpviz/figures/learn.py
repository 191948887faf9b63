"""Pictures of the lessons, and which epsilons others used, each with its sentence and its table."""

import math
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.evaluation.learn.deployments import Deployment, Protects
from dpviz.evaluation.learn.growing import Grown
from dpviz.evaluation.learn.lessons import Flip, NoisyChoice, NoisyCounts, PoisonedStump, guesses, guesses_by_tree
from dpviz.figures.audit import is_beyond
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Chart, Rows, Style, bar, chart, hatched_bar, line, marker, panels
from dpviz.figures.theme import BLUE, NEUTRAL, ORANGE, SERIES
from dpviz.figures.wording import chance, counted
from dpviz.learners import DEFAULT, get_learner
from dpviz.results.wording import number_text, rounded_up

#: Options of a node that get a bar of their own.
MOST_OPTIONS = 10
CLAIMED, FOUND, COMPOSED = "what the proof says", "really lost, at least", "what the steps add up to"


# --- composition


def adding_chart(
    found: AuditResult, own: AuditResult, n_features: int, every: Callable[[], Sequence[tuple[int, AuditResult]]]
) -> Chart:
    """Three bars: claimed, found by search, composed; the claim as a line through all. `every` is asked for the table alone."""
    values = {CLAIMED: found.claimed, FOUND: found.log_ratio, COMPOSED: found.composed}
    axis = {"title": f"ε ({NEIGHBOURS})", "range": [0, 1.15 * max(values.values())]}
    figure = chart(210, showlegend=False, xaxis=axis, yaxis=NAMES)
    broken = is_beyond(found)
    style = hatched_bar([NEUTRAL, ORANGE if broken else BLUE, NEUTRAL], ["", "/" if broken else "", "."])
    said = [f"\u2002{number_text(value)}" for value in values.values()]  # a space keeps it off the line of the claim
    words = {"text": said, "textposition": "outside", "cliponaxis": False, "hovertemplate": "%{y}: ε = %{text}<extra></extra>"}
    figure.add_bar(y=list(values), x=list(values.values()), orientation="h", marker=style, **words)
    figure.add_vline(found.claimed, line=line(NEUTRAL, 1.5, "dash"), layer="below")
    return Chart(figure, _adding_sentence(found, own, n_features), lambda: _adding_rows(every()))


def _adding_sentence(found: AuditResult, own: AuditResult, n_features: int) -> str:
    """The bars in words."""
    columns = "one feature" if n_features == 1 else f"{n_features} features"
    return (
        f"With {columns} the proof says ε = {number_text(found.claimed)}, search finds a loss of at least "
        f"{number_text(found.log_ratio)}, and the steps add up to {number_text(found.composed)} ({NEIGHBOURS}). An algorithm "
        f"that chooses once per node keeps within its claim: {number_text(own.log_ratio)} of {number_text(own.claimed)}."
    )


def _adding_rows(found: Sequence[tuple[int, AuditResult]]) -> Rows:
    """One row per number of features."""
    names = ("features", CLAIMED, FOUND, COMPOSED)
    cells = ((str(n), *map(number_text, (one.claimed, one.log_ratio, one.composed))) for n, one in found)
    return [dict(zip(names, row, strict=True)) for row in cells]


# --- growing


def options_chart(node: Grown) -> Chart:
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
    figure.add_scatter(x=[0] * len(names), y=above, **words)
    return Chart(figure, _options_sentence(node), _options_rows(node))


def _shown(node: Grown) -> list[tuple[str, float, bool]]:
    """(words, probability, drawn): the likeliest, the drawn one wherever it stands, and the others together."""
    options = list(node.options)
    kept = options[:MOST_OPTIONS] + [option for option in options[MOST_OPTIONS:] if option.drawn]
    rest = [option for option in options if option not in kept]
    lines = [(option.words, option.probability, option.drawn) for option in kept]
    if rest:
        lines.append((f"{len(rest)} others together", sum(option.probability for option in rest), False))
    return lines


def _options_sentence(node: Grown) -> str:
    """The bars in words."""
    best = node.options[0]
    said = f"{len(node.options)} options; the likeliest is “{best.words}” with {chance(best.probability)}"
    drawn = next((option for option in node.options if option.drawn), None)
    if drawn is not None:
        said += f"; drawn: “{drawn.words}”, chance {chance(drawn.probability)}"
    return f"{said}. This choice costs ε = {number_text(node.epsilon)} ({NEIGHBOURS})."


def _options_rows(node: Grown) -> Rows:
    """One row per option."""
    return [
        {"option": option.words, "chance": chance(option.probability), "drawn": "yes" if option.drawn else ""}
        for option in node.options
    ]


# --- poisoning


def poison_chart(stump: PoisonedStump, rows: Sequence[int]) -> Chart:
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
    figure.add_scatter(x=[rows[0], rows[-1]], y=[stump.majority] * 2, **level)
    return Chart(figure, _poison_sentence(stump), _poison_rows(stump, rows[::5]))


def _poison_sentence(stump: PoisonedStump) -> str:
    """The curves in words."""
    start = f"ε = {number_text(stump.epsilon)} ({NEIGHBOURS}): mean accuracy {chance(stump.accuracy)} without poison"
    if stump.protected:
        rows = counted(stump.protected, "row")
        return f"{start}; certain to beat the larger class ({chance(stump.majority)}) up to {rows} of {stump.n_train:,}."
    return f"{start}; nothing better than the larger class ({chance(stump.majority)}) is certain."


def _poison_rows(stump: PoisonedStump, rows: Sequence[int]) -> Rows:
    """One line per number of poisoned rows."""
    names = ("rows added or removed", "certain", "certain by the older bound")
    return [dict(zip(names, (f"{k:,}", chance(stump.tight(k)), chance(stump.published(k))), strict=True)) for k in rows]


COIN = 50
_EPSILON = f"ε ({NEIGHBOURS})"


# --- what epsilon means


def guesses_chart(epsilon: float, epsilons: Sequence[float]) -> Chart:
    """A hundred dots: right by a coin, what PF-tree allows on top, what another algorithm with this ε may, and the rest."""
    hidden: Style = {"visible": False, "fixedrange": True}
    across, down = hidden | {"range": [-0.7, 19.7]}, hidden | {"range": [4.6, -0.6]}
    figure = chart(250, top=36, legend=LEGEND_ABOVE, xaxis=across, yaxis=down)
    tree, most = (int(rounded_up(most)) for most in (guesses_by_tree(epsilon), guesses(epsilon)))
    for name, low, high, colour, symbol in (
        ("right by a coin", 0, COIN, NEUTRAL, "circle"),
        (f"more that {_tree()} allows", COIN, tree, ORANGE, "diamond"),
        ("more that any algorithm may allow", tree, most, BLUE, "square"),
        ("wrong at least", most, 100, NEUTRAL, "circle-open"),
    ):
        places = np.arange(low, high)
        style = {"mode": "markers", "marker": marker(colour, symbol, 11, 1.5), "hoverinfo": "name"}
        figure.add_scatter(x=places % 20, y=places // 20, name=f"{name}: {high - low}", **style)
    return Chart(figure, _guesses_sentence(epsilon), _guesses_rows(epsilons))


def _guesses_sentence(epsilon: float) -> str:
    """The dots in words."""
    return (
        f"ε = {number_text(epsilon)} ({NEIGHBOURS}): odds of {number_text(math.exp(epsilon))} to 1 at most, so at most "
        f"{rounded_up(guesses(epsilon))} of 100 guesses are right, whatever the algorithm. What {_tree()} does allows "
        f"{rounded_up(guesses_by_tree(epsilon))}; a coin gets {COIN}."
    )


def _tree() -> str:
    return get_learner(DEFAULT).title


def _guesses_rows(epsilons: Sequence[float]) -> Rows:
    """One row per epsilon."""
    names = _EPSILON, "odds at most", "right of 100 guesses, any algorithm", _tree()
    cells = (
        (number_text(eps), f"{number_text(math.exp(eps))} to 1", rounded_up(guesses(eps), 1), rounded_up(guesses_by_tree(eps), 1))
        for eps in epsilons
    )
    return [dict(zip(names, row, strict=True)) for row in cells]


# --- noise on a count


def counts_chart(noisy: NoisyCounts, counts: tuple[int, int]) -> Chart:
    """Two overlaid distributions of the noisy count, and below them the ratio between its two bounds."""
    layout = {"legend": LEGEND_ABOVE, "barmode": "overlay", "bargap": 0.12}
    figure = panels(2, 420, top=36, spacing=0.1, row_heights=[0.64, 0.36], layout=layout)
    for name, shares, colour, hatch in (("first table", noisy.first, BLUE, ""), ("second table", noisy.second, ORANGE, "/")):
        style = {"color": colour, "opacity": 0.62, "line": {"width": 1, "color": colour}, "pattern": {"shape": hatch}}
        hover = f"noisy count %{{x}}: %{{y:.1%}}<extra>{name}</extra>"
        figure.add_bar(x=noisy.outcomes, y=shares, name=name, marker=style, hovertemplate=hover, row=1, col=1)
    dots = {"mode": "markers", "marker": {"color": NEUTRAL, "size": 6}, "showlegend": False}
    hover = "noisy count %{x}: %{y:.2f} times<extra></extra>"
    figure.add_scatter(x=noisy.outcomes, y=noisy.ratios, hovertemplate=hover, **dots, row=2, col=1)
    for bound in (noisy.bound, 1 / noisy.bound):
        figure.add_hline(bound, row=2, col=1, line=line(ORANGE, 1.5, "dash"))
    edge = 1.25 * math.log10(max(noisy.bound, 1.1))
    figure.update_yaxes(type="log", range=[-edge, edge], title="times as likely", **_ticks(noisy.bound), row=2, col=1)
    figure.update_yaxes(title="probability", tickformat=".0%", row=1, col=1)
    figure.update_xaxes(title="noisy count that is published", row=2, col=1)
    return Chart(figure, _counts_sentence(noisy, counts), _counts_rows(noisy))


def _ticks(bound: float) -> Style:
    if bound < 1.02:
        return {"tickvals": [1.0], "ticktext": ["1"]}
    return {"tickvals": [1 / bound, 1.0, bound], "ticktext": [f"1/{number_text(bound)}", "1", number_text(bound)]}


def _counts_sentence(noisy: NoisyCounts, counts: tuple[int, int]) -> str:
    """Both distributions in words."""
    rows = "no row" if not noisy.distance else "one row" if noisy.distance == 1 else f"{noisy.distance} rows"
    return (
        f"True counts {counts[0]} and {counts[1]}, tables {rows} apart, ε = {number_text(noisy.epsilon)} ({NEIGHBOURS}). "
        f"No noisy count is more than {number_text(noisy.largest)} times as likely under one table as under the other; the bound "
        f"is {number_text(noisy.bound)}."
    )


def _counts_rows(noisy: NoisyCounts) -> Rows:
    """One row per noisy count."""
    found = zip(noisy.outcomes, noisy.first, noisy.second, noisy.ratios, strict=True)
    return [
        {"noisy count": str(k), "first table": chance(p), "second table": chance(q), "times as likely": number_text(r)}
        for k, p, q, r in found
    ]


# --- choosing


def choice_chart(names: Sequence[str], noisy: NoisyChoice, epsilon: float) -> Chart:
    """How often each option is chosen, by both mechanisms."""
    top = 1.15 * float(max(noisy.flip.max(), noisy.exponential.max()))
    axis = {"title": "chosen how often", "tickformat": ".0%", "range": [0, top]}
    figure = chart(340, top=36, legend=LEGEND_ABOVE, barmode="group", bargap=0.25, yaxis=axis)
    figure.update_layout(uniformtext={"minsize": 9, "mode": "show"})
    labels = [f"{name}<br>{count}" for name, count in zip(names, noisy.counts, strict=True)]
    for name, shares, style in (
        ("permute-and-flip", noisy.flip, hatched_bar(BLUE)),
        ("exponential mechanism", noisy.exponential, hatched_bar(ORANGE, "/")),
    ):
        words = {"text": [chance(share) for share in shares], "textposition": "outside"}
        hover = f"%{{x}}: %{{text}}<extra>{name}</extra>"
        figure.add_bar(x=labels, y=shares, name=name, marker=style, hovertemplate=hover, **words)
    return Chart(figure, _choice_sentence(noisy, epsilon), _choice_rows(names, noisy))


def coins_chart(names: Sequence[str], flips: Sequence[Flip]) -> Chart:
    """The coins flipped so far, in their order: how likely heads was, and what each showed."""
    across = {"title": "chance of heads", "tickformat": ".0%", "range": [0, 1.25], "tickvals": [0, 0.5, 1]}
    labels = [f"{place}. {names[flip.option]}" for place, flip in enumerate(flips, start=1)]
    figure = chart(70 + 42 * len(flips), showlegend=False, bargap=0.35, xaxis=across, yaxis=NAMES)
    for label, flip in zip(labels, flips, strict=True):
        words = f" {chance(flip.chance)}: {'heads' if flip.is_heads else 'tails'}"
        style = hatched_bar(BLUE) if flip.is_heads else hatched_bar(NEUTRAL, "/")
        figure.add_bar(**bar(label, flip.chance, words, style), hoverinfo="skip")
    return Chart(figure, _coins_sentence(names, flips))


def _coins_sentence(names: Sequence[str], flips: Sequence[Flip]) -> str:
    """The last coin in words, and what was chosen once it shows heads."""
    last = flips[-1]
    behind = "the largest" if not last.behind else f"{last.behind} behind the largest"
    name = names[last.option]
    said = f"{name.capitalize()} is {behind}, so its coin shows heads in {chance(last.chance)} of flips. It shows"
    return f"{said} heads: {name} is chosen." if last.is_heads else f"{said} tails: on to the next option."


def _choice_sentence(noisy: NoisyChoice, epsilon: float) -> str:
    """Who finds the best option how often."""
    return (
        f"ε = {number_text(epsilon)} ({NEIGHBOURS}): permute-and-flip picks a largest count in {chance(noisy.flip_best)} of "
        f"draws, the exponential mechanism in {chance(noisy.exponential_best)}."
    )


def _choice_rows(names: Sequence[str], noisy: NoisyChoice) -> Rows:
    """One row per option."""
    found = zip(names, noisy.counts, noisy.flip, noisy.exponential, strict=True)
    return [
        {"option": name, "count": str(count), "permute-and-flip": chance(p), "exponential mechanism": chance(q)}
        for name, count, p, q in found
    ]


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


def deployments_chart(found: Sequence[Deployment], *, mine: float) -> Chart:
    """A dot per entry with an epsilon; a line at one's own."""
    across = {"title": "published ε, each for its own unit", "type": "log", "zeroline": False, **_TICKS}
    places = NAMES | {"categoryorder": "array", "categoryarray": list(UNITS.values()), "zeroline": False}
    figure = chart(330, top=26, showlegend=False, xaxis=across, yaxis=places)
    for (kind, name), colour, symbol in zip(UNITS.items(), SERIES, _SYMBOLS, strict=False):
        items = [item for item in with_epsilon(found) if item.protects == kind]
        look = {"name": name, "mode": "markers", "marker": marker(colour, f"{symbol}-open", 11)}
        said = {"customdata": [hover_text(item) for item in items], "hovertemplate": "%{customdata}<extra></extra>"}
        figure.add_scatter(x=[item.epsilon for item in items], y=[name] * len(items), **look, **said)
    figure.add_vline(mine, line=line(NEUTRAL, 2, "dash"))
    return Chart(figure, _deployments_sentence(found, mine=mine), _deployment_rows(found))


_TICKS = {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"], "range": [-2.2, 1.8]}


def hover_text(item: Deployment) -> str:
    """One entry: who, what, when, and what its epsilon is about."""
    delta = f", δ = {item.delta}" if item.delta else ""
    about = f"ε = {number_text(item.epsilon or 0)}{delta} · {item.unit or 'unit not said'}"
    return f"<b>{item.curators}</b>, {item.year}<br>{item.name}<br>{about}<br>{item.status} review"


def _deployments_sentence(found: Sequence[Deployment], *, mine: float) -> str:
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


def _deployment_rows(found: Sequence[Deployment]) -> Rows:
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
