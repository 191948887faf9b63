"""How each learner's line looks in every figure of a comparison: colour, marker and dash, the same whatever else is chosen.

Colour is never the only cue: each learner has a marker of its own, and a claim that does not hold is dashed, open and said in
words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dpviz.figures.theme import NEUTRAL, SERIES
from dpviz.learners import get_learner, learner_names

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "pentagon", "hexagon", "cross")
_WORDS = {"holds": "", "none": "", "unproven": ", claim unproven", "violated": ", claim violated"}


@dataclass(frozen=True, slots=True)
class LineStyle:
    """Colour (`#rrggbb`), marker symbol, dash of the line; `name` is the title with words about the claim."""

    name: str
    title: str
    colour: str
    symbol: str
    dash: str


def line_styles(verdicts: Mapping[str, str]) -> dict[str, LineStyle]:
    """The style of each learner of one figure, by the verdict on its claim. No two share a colour while there are enough.

    A learner keeps the colour of its place among all learners unless another one in the figure has it. Learners to compare
    with are grey.
    """
    every = [name for name in learner_names() if not get_learner(name).is_baseline]
    taken: set[str] = set()
    styles = {}
    for name in sorted(verdicts, key=learner_names().index):
        colour = NEUTRAL
        if name in every:
            place = every.index(name) % len(SERIES)
            colours = SERIES[place:] + SERIES[:place]
            colour = next((free for free in colours if free not in taken), colours[0])
            taken.add(colour)
        title, symbol = get_learner(name).title, symbol_of(name)
        words = _WORDS[verdicts[name]]
        look = (f"{symbol}-open", "dash") if words else (symbol, "solid")
        styles[name] = LineStyle(title + words, title, colour, *look)
    return styles


def symbol_of(learner: str) -> str:
    """The marker of a learner."""
    return SYMBOLS[learner_names().index(learner) % len(SYMBOLS)]
