"""How often a backdoor works against the share of poisoned rows, measured and proved; and pictures of its trigger as SVG."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.figures.charts import LEGEND_BELOW, Figure, Rows, Style, chart, limits, line, line_mode
from dpviz.figures.compare.style import symbol_of
from dpviz.figures.robustness.certified import epsilon_colours
from dpviz.figures.robustness.guaranteed_accuracy import DASHES
from dpviz.figures.theme import NEUTRAL, ORANGE, WHITE, grey
from dpviz.learners import get_learner
from dpviz.results.wording import number_text

if TYPE_CHECKING:
    import pandas as pd


THICK = 2.2
#: Drawing units of a pixel.
SIDE = 10
#: Of the picture, in CSS pixels.
WIDTH = 168
FRAME = ORANGE


def backdoor_figure(curves: pd.DataFrame) -> Figure:
    """How often the trigger works against the poisoned share: measured dots with limits; what is proved, as a dotted ceiling."""
    across = {"title": "rows with the trigger, share of the training rows", "tickformat": ".1%", "zeroline": False}
    up = {"title": "trigger works", "tickformat": ".0%", "range": [-0.03, 1.05], "zeroline": False}
    figure = chart(440, xaxis=across, yaxis=up, legend=LEGEND_BELOW, hovermode="closest")
    hues = epsilon_colours(curves.epsilon[curves.published.notna()])
    names = list(dict.fromkeys(map(str, curves.learner)))
    for (learner, epsilon), frame in curves.groupby(["learner", "epsilon"], sort=False):
        colour = hues[epsilon] if frame.published.notna().any() else NEUTRAL
        style = line(colour, THICK, DASHES[names.index(str(learner)) % len(DASHES)])
        _add_success(figure, str(learner), float(epsilon), frame, style)
    return figure


def _series(title: str, epsilon: float, frame: pd.DataFrame) -> str:
    """Title, and epsilon where one is spent."""
    return f"{title}, ε = {number_text(epsilon)}" if frame.published.notna().any() else title


def _add_success(figure: Figure, learner: str, epsilon: float, frame: pd.DataFrame, style: Style) -> None:
    name, colour = _series(get_learner(learner).title, epsilon, frame), style["color"]
    up, down = frame.success_high - frame.success, frame.success - frame.success_low
    dots = {"symbol": symbol_of(learner), "size": 9, "color": colour}
    look = {
        "error_y": limits(up, down, colour, thickness=1, width=4),
        "mode": line_mode(len(frame)),
        "line": style,
        "marker": dots,
    }
    hover = f"<b>{name}</b><br>%{{customdata:,}} rows: works on %{{y:.1%}}<extra></extra>"
    said = {"name": f"{name}: measured", "customdata": frame.poisoned_rows, "hovertemplate": hover}
    figure.add_scatter(x=frame.poisoned_share, y=frame.success, **look, **said)
    if frame.tight_high.notna().any():
        ceiling = {"mode": "lines", "line": line(colour, 1.2, "dot")}
        ceiling["hovertemplate"] = f"<b>{name}</b><br>proved: at most %{{y:.1%}}<extra></extra>"
        figure.add_scatter(x=frame.poisoned_share, y=frame.tight_high, name=f"{name}: at most, proved", **ceiling)


def backdoor_rows(curves: pd.DataFrame) -> Rows:
    """The figure as a table."""
    return [
        {
            "algorithm": get_learner(line.learner).title,
            f"ε ({NEIGHBOURS})": number_text(line.epsilon) if line.published == line.published else "none",
            "rows with the trigger": f"{line.poisoned_rows:,}",
            "trigger works": f"{line.success:.1%}",
            "95% limits": f"{line.success_low:.1%} to {line.success_high:.1%}",
            "at most, proved": f"{line.tight_high:.1%}" if line.tight_high == line.tight_high else "nothing",
            "accuracy without trigger": f"{line.accuracy:.1%}",
        }
        for line in curves.itertuples()
    ]


def backdoor_sentence(curves: pd.DataFrame) -> str:
    """The figure in words: every curve at its most poisoned place."""
    said = []
    for (learner, epsilon), frame in curves.groupby(["learner", "epsilon"], sort=False):
        last = frame.iloc[-1]
        name = _series(get_learner(str(learner)).title, float(epsilon), frame)
        said.append(f"{name}: with {int(last.poisoned_rows)} rows the trigger works on {last.success:.0%}")
    return ". ".join(said) + "."


def picture_svg(pixels: np.ndarray, *, title: str, framed: Collection[int] = ()) -> str:
    """A picture of shape (side, side), from 0 (paper) to 1 (ink), with a frame around the pixels numbered `framed`, row by row.

    `title` is for those who do not see it; escaped here.
    """
    side = pixels.shape[0]
    size = side * SIDE
    box = f'viewBox="-2 -2 {size + 4} {size + 4}" width="{WIDTH}" height="{WIDTH}"'
    paper = f'<rect width="{size}" height="{size}" fill="{WHITE}" stroke="{NEUTRAL}"/>'
    inked = "".join(_square(number, side, grey(value)) for number, value in enumerate(pixels.ravel().tolist()) if value > 0)
    frames = "".join(_square(number, side, f'none" stroke="{FRAME}" stroke-width="2') for number in framed)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" {box}>'
    return f"{head}{paper}{inked}{frames}</svg>"


def _square(number: int, side: int, fill: str) -> str:
    down, right = divmod(number, side)
    return f'<rect x="{right * SIDE}" y="{down * SIDE}" width="{SIDE}" height="{SIDE}" fill="{fill}"/>'
