"""How a learner looks in every figure of a comparison: colour, marker and words, the same whatever else is chosen.

Colours reach 3:1 on the light and the dark ground. They are never the only cue: each learner has a marker of its own, and
a claim that does not hold is dashed, open and said in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpviz.learners import get_learner, learner_names

COLOURS = ("#2f86c1", "#d2691e", "#12937a", "#c0569a", "#9a7d0a", "#7a6fd0", "#bb4f4f")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "pentagon", "hexagon", "cross")
NEUTRAL = "#7d8a8f"
_WORDS = {"holds": "", "none": "", "unproven": ", claim unproven", "violated": ", claim violated"}


@dataclass(frozen=True, slots=True)
class Look:
    """Colour (`#rrggbb`), marker symbol, dash of the line; `name` is the title with words about the claim."""

    name: str
    title: str
    colour: str
    symbol: str
    dash: str


def looks_of(verdicts: Mapping[str, str]) -> dict[str, Look]:
    """The look of each learner of one figure, by the verdict on its claim. No two share a colour while there are enough.

    A learner keeps the colour of its place among all learners unless another one in the figure has it. Learners to compare
    with are grey.
    """
    every = [name for name in learner_names() if not get_learner(name).is_baseline]
    taken: set[int] = set()
    looks = {}
    for name in sorted(verdicts, key=learner_names().index):
        place = every.index(name) % len(COLOURS) if name in every else -1
        if place >= 0:
            free = [(place + step) % len(COLOURS) for step in range(len(COLOURS))]
            place = next((choice for choice in free if choice not in taken), place)
            taken.add(place)
        looks[name] = _look(name, verdicts[name], place)
    return looks


def _look(learner: str, verdict: str, place: int) -> Look:
    title = get_learner(learner).title
    symbol = SYMBOLS[learner_names().index(learner) % len(SYMBOLS)]
    is_doubtful = verdict in ("unproven", "violated")
    return Look(
        name=title + _WORDS[verdict],
        title=title,
        colour=NEUTRAL if place < 0 else COLOURS[place],
        symbol=f"{symbol}-open" if is_doubtful else symbol,
        dash="dash" if is_doubtful else "solid",
    )


def translucent(colour: str, opacity: float) -> str:
    """The colour as `rgba(...)`."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
