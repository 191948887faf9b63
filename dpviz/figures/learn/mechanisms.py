"""Charts of the lessons on mechanisms: a hundred guesses, two noisy counts, two ways to choose."""

import math
from collections.abc import Sequence

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.learn.lessons import Flip, NoisyChoice, NoisyCounts, guesses, guesses_by_tree
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Figure, Rows, Style, bar, chart, hatched_bar, line, marker, panels
from dpviz.figures.theme import BLUE, NEUTRAL, ORANGE
from dpviz.figures.wording import chance
from dpviz.learners import DEFAULT, get_learner
from dpviz.results.wording import number_text, rounded_up

COIN = 50
_EPSILON = f"ε ({NEIGHBOURS})"


# --- what epsilon means


def guesses_figure(epsilon: float) -> Figure:
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
    return figure


def guesses_sentence(epsilon: float) -> str:
    """The dots in words."""
    return (
        f"ε = {number_text(epsilon)} ({NEIGHBOURS}): odds of {number_text(math.exp(epsilon))} to 1 at most, so at most "
        f"{rounded_up(guesses(epsilon))} of 100 guesses are right, whatever the algorithm. What {_tree()} does allows "
        f"{rounded_up(guesses_by_tree(epsilon))}; a coin gets {COIN}."
    )


def _tree() -> str:
    return get_learner(DEFAULT).title


def guesses_rows(epsilons: Sequence[float]) -> Rows:
    """One row per epsilon."""
    names = _EPSILON, "odds at most", "right of 100 guesses, any algorithm", _tree()
    cells = (
        (number_text(eps), f"{number_text(math.exp(eps))} to 1", rounded_up(guesses(eps), 1), rounded_up(guesses_by_tree(eps), 1))
        for eps in epsilons
    )
    return [dict(zip(names, row, strict=True)) for row in cells]


# --- noise on a count


def counts_figure(noisy: NoisyCounts) -> Figure:
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
    return figure.update_xaxes(title="noisy count that is published", row=2, col=1)


def _ticks(bound: float) -> Style:
    if bound < 1.02:
        return {"tickvals": [1.0], "ticktext": ["1"]}
    return {"tickvals": [1 / bound, 1.0, bound], "ticktext": [f"1/{number_text(bound)}", "1", number_text(bound)]}


def counts_sentence(noisy: NoisyCounts, counts: tuple[int, int]) -> str:
    """Both distributions in words."""
    rows = "no row" if not noisy.distance else "one row" if noisy.distance == 1 else f"{noisy.distance} rows"
    return (
        f"True counts {counts[0]} and {counts[1]}, tables {rows} apart, ε = {number_text(noisy.epsilon)} ({NEIGHBOURS}). "
        f"No noisy count is more than {number_text(noisy.largest)} times as likely under one table as under the other; the bound "
        f"is {number_text(noisy.bound)}."
    )


def counts_rows(noisy: NoisyCounts) -> Rows:
    """One row per noisy count."""
    found = zip(noisy.outcomes, noisy.first, noisy.second, noisy.ratios, strict=True)
    return [
        {"noisy count": str(k), "first table": chance(p), "second table": chance(q), "times as likely": number_text(r)}
        for k, p, q, r in found
    ]


# --- choosing


def choice_figure(names: Sequence[str], noisy: NoisyChoice) -> Figure:
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
    return figure


def coins_figure(names: Sequence[str], flips: Sequence[Flip]) -> Figure:
    """The coins flipped so far, in their order: how likely heads was, and what each showed."""
    across = {"title": "chance of heads", "tickformat": ".0%", "range": [0, 1.25], "tickvals": [0, 0.5, 1]}
    labels = [f"{place}. {names[flip.option]}" for place, flip in enumerate(flips, start=1)]
    figure = chart(70 + 42 * len(flips), showlegend=False, bargap=0.35, xaxis=across, yaxis=NAMES)
    for label, flip in zip(labels, flips, strict=True):
        words = f" {chance(flip.chance)}: {'heads' if flip.is_heads else 'tails'}"
        style = hatched_bar(BLUE) if flip.is_heads else hatched_bar(NEUTRAL, "/")
        figure.add_bar(**bar(label, flip.chance, words, style), hoverinfo="skip")
    return figure


def coins_sentence(names: Sequence[str], flips: Sequence[Flip]) -> str:
    """The last coin in words, and what was chosen once it shows heads."""
    last = flips[-1]
    behind = "the largest" if not last.behind else f"{last.behind} behind the largest"
    name = names[last.option]
    said = f"{name.capitalize()} is {behind}, so its coin shows heads in {chance(last.chance)} of flips. It shows"
    return f"{said} heads: {name} is chosen." if last.is_heads else f"{said} tails: on to the next option."


def choice_sentence(noisy: NoisyChoice, epsilon: float) -> str:
    """Who finds the best option how often."""
    return (
        f"ε = {number_text(epsilon)} ({NEIGHBOURS}): permute-and-flip picks a largest count in {chance(noisy.flip_best)} of "
        f"draws, the exponential mechanism in {chance(noisy.exponential_best)}."
    )


def choice_rows(names: Sequence[str], noisy: NoisyChoice) -> Rows:
    """One row per option."""
    found = zip(names, noisy.counts, noisy.flip, noisy.exponential, strict=True)
    return [
        {"option": name, "count": str(count), "permute-and-flip": chance(p), "exponential mechanism": chance(q)}
        for name, count, p, q in found
    ]
