"""Pictures of the lessons, and which epsilons others used, each with its sentence and its table."""

import math
from collections.abc import Sequence
from statistics import median

import numpy as np

from dpviz.charts.audit import is_beyond
from dpviz.charts.chart import LEGEND_ABOVE, NAMES, Chart, Style, bars, chart, hatched_bar, level_line, line, marker, panels
from dpviz.charts.theme import BLUE, NEUTRAL, ORANGE, SERIES
from dpviz.charts.wording import PERSONS, chance, count_text
from dpviz.evaluation.audit.evidence import AuditResult
from dpviz.evaluation.deployments import Deployment, Protects
from dpviz.evaluation.lessons import Flip, NodeOutcomes, NoisyChoice, NoisyCounts, PoisonedStump, guesses, guesses_by_tree
from dpviz.learners import DEFAULT, get_learner
from dpviz.results.wording import number_text, rounded_up

#: Options of a node that get a bar of their own.
MAX_OPTIONS = 10
CLAIM, LOWER_BOUND, COMPOSITION = "what the proof says", "really lost, at least", "what the steps add up to"


def adding_chart(published: AuditResult, sound: AuditResult, n_features: int) -> Chart:
    """Three bars: claimed, found by search, composed; the claim as a line through all."""
    values = {CLAIM: published.claimed, LOWER_BOUND: published.log_ratio, COMPOSITION: published.composed}
    axis = {"title": f"ε ({PERSONS})", "range": [0, 1.15 * max(values.values())]}
    figure = chart(210, showlegend=False, xaxis=axis, yaxis=NAMES)
    is_refuted = is_beyond(published)
    style = hatched_bar([NEUTRAL, ORANGE if is_refuted else BLUE, NEUTRAL], ["", "/" if is_refuted else "", "."])
    texts = [f"\u2002{number_text(value)}" for value in values.values()]  # a space keeps it off the line of the claim
    figure.add_bar(**bars(list(values), list(values.values()), texts, style), hovertemplate="%{y}: ε = %{text}<extra></extra>")
    level_line(figure, x=published.claimed, look=line(NEUTRAL, 1.5, "dash"), layer="below")
    columns = "one feature" if n_features == 1 else f"{n_features} features"
    words = (
        f"With {columns} the proof says ε = {number_text(published.claimed)}, search finds a loss of at least "
        f"{number_text(published.log_ratio)}, and the steps add up to {number_text(published.composed)} ({PERSONS}). "
        f"An algorithm that chooses once per node keeps within its claim: {number_text(sound.log_ratio)} of "
        f"{number_text(sound.claimed)}."
    )

    return Chart(figure, words, [{name: number_text(value) for name, value in values.items()}])


def options_chart(node: NodeOutcomes) -> Chart:
    """How likely each option is, its words above its bar; the drawn one in its own colour with a mark; the rest as one bar."""
    options = [option for place, option in enumerate(node.options) if place < MAX_OPTIONS or option.drawn]
    entries = [(option.words, option.probability, option.drawn) for option in options]
    if n_others := len(node.options) - len(options):
        other_probability = sum(option.probability for option in node.options) - sum(option.probability for option in options)
        entries.append((f"{n_others} others together", other_probability, False))
    names = [("▶ " if drawn else "") + f"{words} · {chance(share)}" for words, share, drawn in entries]
    shares = [share for _, share, _ in entries]
    style = hatched_bar([ORANGE if drawn else BLUE for *_, drawn in entries], ["/" if drawn else "" for *_, drawn in entries])
    places = list(range(len(names)))
    across = {"title": "chance of being drawn", "tickformat": ".0%", "range": [0, 1.05 * max(shares)], "nticks": 5}
    down = {"range": [len(names) - 0.5, -0.8], "visible": False}
    figure = chart(64 + 36 * len(names), showlegend=False, xaxis=across, yaxis=down)
    hover = {"customdata": names, "hovertemplate": "%{customdata}<extra></extra>"}
    figure.add_bar(y=places, x=shares, orientation="h", width=0.36, marker=style, **hover)
    words = {"text": names, "mode": "text", "textposition": "middle right", "hoverinfo": "skip"}
    figure.add_scatter(x=[0] * len(names), y=[place - 0.42 for place in places], **words)
    best, drawn = node.options[0], next((option for option in node.options if option.drawn), None)
    summary = f"{len(node.options)} options; the likeliest is “{best.words}” with {chance(best.probability)}"
    if drawn is not None:
        summary += f"; drawn: “{drawn.words}”, chance {chance(drawn.probability)}"
    rows = [
        {"option": option.words, "chance": chance(option.probability), "drawn": "yes" if option.drawn else ""}
        for option in node.options
    ]
    return Chart(figure, f"{summary}. This choice costs ε = {number_text(node.epsilon)} ({PERSONS}).", rows)


def poison_chart(stump: PoisonedStump, rows: Sequence[int]) -> Chart:
    """Accuracy that is certain however the rows were chosen: the tight bound, the older one, and the majority class."""
    across = {"title": f"rows added or removed, of {stump.n_train:,}", "rangemode": "tozero"}
    up = {"title": "mean accuracy", "tickformat": ".0%", "range": [0, 1]}
    figure = chart(360, top=36, legend=LEGEND_ABOVE, xaxis=across, yaxis=up)
    bounds = {"certain": stump.tight, "certain by the older bound": stump.published}
    for (name, bound), style in zip(bounds.items(), (line(BLUE, 3), line(ORANGE, 3, "dash")), strict=True):
        hover = f"%{{x}} rows: %{{y:.1%}}<extra>{name}</extra>"
        figure.add_scatter(x=list(rows), y=list(map(bound, rows)), mode="lines", name=name, line=style, hovertemplate=hover)
    level = {"name": "always the larger class", "mode": "lines", "line": line(NEUTRAL, 2, "dot"), "hoverinfo": "skip"}
    figure.add_scatter(x=[rows[0], rows[-1]], y=[stump.majority] * 2, **level)
    summary = f"ε = {number_text(stump.epsilon)} ({PERSONS}): mean accuracy {chance(stump.accuracy)} without poison"
    if stump.protected_rows:
        certain_rows = f"{count_text(stump.protected_rows, 'row')} of {stump.n_train:,}"
        summary += f"; certain to beat the larger class ({chance(stump.majority)}) up to {certain_rows}."
    else:
        summary += f"; nothing better than the larger class ({chance(stump.majority)}) is certain."
    cells = [{"rows added or removed": f"{k:,}", **{name: chance(bound(k)) for name, bound in bounds.items()}} for k in rows[::5]]
    return Chart(figure, summary, cells)


COIN = 50


def guesses_chart(epsilon: float, epsilons: Sequence[float]) -> Chart:
    """A hundred dots: right by a coin, what the default allows on top, what another algorithm with this ε may, and the rest."""
    hidden: Style = {"visible": False, "fixedrange": True}
    across, down = hidden | {"range": [-0.7, 19.7]}, hidden | {"range": [4.6, -0.6]}
    figure = chart(250, top=36, legend=LEGEND_ABOVE, xaxis=across, yaxis=down)
    tree, most = (int(rounded_up(most)) for most in (guesses_by_tree(epsilon), guesses(epsilon)))
    title = get_learner(DEFAULT).title
    for name, low, high, colour, symbol in (
        ("right by a coin", 0, COIN, NEUTRAL, "circle"),
        (f"more that {title} allows", COIN, tree, ORANGE, "diamond"),
        ("more that any algorithm may allow", tree, most, BLUE, "square"),
        ("wrong at least", most, 100, NEUTRAL, "circle-open"),
    ):
        places = np.arange(low, high)
        style = {"mode": "markers", "marker": marker(colour, symbol, 11, 1.5), "hoverinfo": "name"}
        figure.add_scatter(x=places % 20, y=places // 20, name=f"{name}: {high - low}", **style)
    summary = (
        f"ε = {number_text(epsilon)} ({PERSONS}): odds of {number_text(math.exp(epsilon))} to 1 at most, so at most {most} of "
        f"100 guesses are right, whatever the algorithm. What {title} does allows {tree}; a coin gets {COIN}."
    )
    rows = [
        {
            f"ε ({PERSONS})": number_text(eps),
            "odds at most": f"{number_text(math.exp(eps))} to 1",
            "right of 100 guesses, any algorithm": rounded_up(guesses(eps), 1),
            title: rounded_up(guesses_by_tree(eps), 1),
        }
        for eps in epsilons
    ]
    return Chart(figure, summary, rows)


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
        level_line(figure, y=bound, look=line(ORANGE, 1.5, "dash"), row=2, col=1)
    edge, bound_text = 1.25 * math.log10(max(noisy.bound, 1.1)), number_text(noisy.bound)
    ticks = {1 / noisy.bound: f"1/{bound_text}", 1.0: "1", noisy.bound: bound_text} if noisy.bound >= 1.02 else {1.0: "1"}
    times = {"type": "log", "range": [-edge, edge], "tickvals": list(ticks), "ticktext": list(ticks.values())}
    figure.update_yaxes(title="times as likely", **times, row=2, col=1)
    figure.update_yaxes(title="probability", tickformat=".0%", row=1, col=1)
    figure.update_xaxes(title="noisy count that is published", row=2, col=1)
    distance = "no person" if not noisy.distance else count_text(noisy.distance, "person", "people")
    summary = (
        f"True counts {counts[0]} and {counts[1]}, tables {distance} apart, ε = {number_text(noisy.epsilon)} ({PERSONS}). "
        f"No noisy count is more than {number_text(noisy.largest)} times as likely under one table as under the other; the bound "
        f"is {bound_text}."
    )
    rows = [
        {"noisy count": str(k), "first table": chance(p), "second table": chance(q), "times as likely": number_text(r)}
        for k, p, q, r in zip(noisy.outcomes, noisy.first, noisy.second, noisy.ratios, strict=True)
    ]
    return Chart(figure, summary, rows)


def choice_chart(names: Sequence[str], noisy: NoisyChoice, epsilon: float) -> Chart:
    """How often each option is chosen, by both mechanisms."""
    top = 1.15 * float(max(noisy.flip.max(), noisy.exponential.max()))
    axis = {"title": "chosen how often", "tickformat": ".0%", "range": [0, top]}
    figure = chart(340, top=36, legend=LEGEND_ABOVE, barmode="group", bargap=0.25, yaxis=axis)
    figure.update_layout(uniformtext={"minsize": 9, "mode": "show"})
    labels = [f"{name}<br>{count}" for name, count in zip(names, noisy.counts, strict=True)]
    mechanisms = {"permute-and-flip": noisy.flip, "exponential mechanism": noisy.exponential}
    for (name, shares), style in zip(mechanisms.items(), (hatched_bar(BLUE), hatched_bar(ORANGE, "/")), strict=True):
        words = {"text": list(map(chance, shares)), "textposition": "outside"}
        hover = f"%{{x}}: %{{text}}<extra>{name}</extra>"
        figure.add_bar(x=labels, y=shares, name=name, marker=style, hovertemplate=hover, **words)
    summary = (
        f"ε = {number_text(epsilon)} ({PERSONS}): permute-and-flip picks a largest count in {chance(noisy.flip_best)} of "
        f"draws, the exponential mechanism in {chance(noisy.exponential_best)}."
    )
    rows = [
        {"option": name, "count": str(count), **{by: chance(shares[place]) for by, shares in mechanisms.items()}}
        for place, (name, count) in enumerate(zip(names, noisy.counts, strict=True))
    ]
    return Chart(figure, summary, rows)


def coin_sentences(names: Sequence[str], flips: Sequence[Flip]) -> list[str]:
    """The coins flipped so far, in their order: how likely heads was, and what each showed."""
    lines = []
    for flip in flips:
        behind = f"{flip.behind} behind the largest" if flip.behind else "the largest"
        shows = f"heads: {names[flip.option]} is chosen" if flip.is_heads else "tails"
        lines.append(f"{names[flip.option].capitalize()} is {behind}: heads in {chance(flip.chance)} of flips. It shows {shows}.")
    return lines


#: What one epsilon protects -> its name, strongest first.
UNITS: dict[Protects, str] = {
    "person": "everything of<br>one person",
    "month": "one person's<br>month",
    "day": "one person's day,<br>event or trip",
    "other": "something else",
}
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def deployments_chart(entries: Sequence[Deployment], *, mine: float) -> Chart:
    """A dot per entry with an epsilon; a line at one's own."""
    ticks = {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"], "range": [-2.2, 1.8]}
    across = {"title": "published ε, each for its own unit", "type": "log", "zeroline": False, **ticks}
    places = NAMES | {"categoryorder": "array", "categoryarray": list(UNITS.values()), "zeroline": False}
    figure = chart(330, top=26, showlegend=False, xaxis=across, yaxis=places)
    epsilons: dict[Protects, list[float]] = {}
    for (kind, name), colour, symbol in zip(UNITS.items(), SERIES, _SYMBOLS, strict=False):
        items = [item for item in entries if item.protects == kind and item.epsilon is not None]
        epsilons[kind] = [item.epsilon or 0.0 for item in items]
        look = {"name": name, "mode": "markers", "marker": marker(colour, f"{symbol}-open", 11)}
        hover = {"customdata": list(map(_entry_text, items)), "hovertemplate": "%{customdata}<extra></extra>"}
        figure.add_scatter(x=epsilons[kind], y=[name] * len(items), **look, **hover)
    level_line(figure, x=mine, look=line(NEUTRAL, 2, "dash"))
    every, persons = [epsilon for of_kind in epsilons.values() for epsilon in of_kind], epsilons["person"]
    words = (
        f"{len(every)} entries give an ε, from {number_text(min(every))} to {number_text(max(every))}; "
        f"{sum(epsilon < mine for epsilon in every)} of them are below {number_text(mine)}. Where everything of one person is "
        f"protected, the median of {len(persons)} is {number_text(median(persons))}. "
        f"The other {len(entries) - len(every)} entries give none."
    )
    rows = [
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
        for item in entries
    ]
    return Chart(figure, words, rows)


def _entry_text(item: Deployment) -> str:
    """Who, what, when, and what its epsilon is about."""
    delta = f", δ = {item.delta}" if item.delta else ""
    about = f"ε = {number_text(item.epsilon or 0)}{delta} · {item.unit or 'unit not said'}"
    return f"<b>{item.curators}</b>, {item.year}<br>{item.name}<br>{about}<br>{item.status} review"
