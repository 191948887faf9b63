"""How each learner's line looks in every figure of a comparison: colour, marker and dash, the same whatever else is chosen.

Colour is never the only cue: each learner has a marker of its own, and a claim that does not hold is dashed, open and said in
words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from dpviz.figures.theme import NEUTRAL, SERIES
from dpviz.learners import get_learner, learner_names
from dpviz.learners.variants import parse_variant, place_of, variant_title

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


def line_styles(verdicts: Mapping[str, str], before: Mapping[str, LineStyle] = MappingProxyType({})) -> dict[str, LineStyle]:
    """The style of each learner of one figure, by the verdict on its claim. No two share a colour while there are enough.

    A learner keeps the colour and marker that it has in `before`; else it has the colour of its place among all learners unless
    another one in the figure has it. A variant takes colour and marker that are free. Learners to compare with are grey.
    """
    every = [name for name in learner_names() if not get_learner(name).is_baseline]
    kept = {name: (before[name].colour, before[name].symbol.removesuffix("-open")) for name in verdicts if name in before}
    taken = {part for look in kept.values() for part in look}
    styles = {}
    for name in sorted(verdicts, key=lambda name: (parse_variant(name)[0] != name, place_of(name))):
        learner, colour = parse_variant(name)[0], NEUTRAL
        title, symbol = variant_title(name), symbol_of(learner)
        if name in kept:
            colour, symbol = kept[name]
        else:
            if learner in every:
                colour = _free(SERIES, every.index(learner), taken)
            if name != learner:
                symbol = _free(SYMBOLS, SYMBOLS.index(symbol), taken)
        taken |= {colour, symbol}
        words = _WORDS[verdicts[name]]
        look = (f"{symbol}-open", "dash") if words else (symbol, "solid")
        styles[name] = LineStyle(title + words, title, colour, *look)
    return styles


def _free(of: Sequence[str], place: int, taken: set[str]) -> str:
    """The first from `place` on that is not taken, of all in a circle; the one at `place` where all are."""
    place %= len(of)
    return next((free for free in (*of[place:], *of[:place]) if free not in taken), of[place])


def broken(name: str) -> str:
    """A name on two lines where it has a remark: beside an axis it takes half the room, on the page and in a saved picture."""
    return name.replace(", ", ",<br>", 1) if ", " in name else name.replace(" (", "<br>(", 1)


def symbol_of(learner: str) -> str:
    """The marker of a learner."""
    return SYMBOLS[learner_names().index(learner) % len(SYMBOLS)]
