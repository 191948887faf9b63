"""Small pictures as inline SVG, one square per pixel, with some pixels framed: what a backdoor's trigger looks like."""

from collections.abc import Collection
from html import escape

import numpy as np

from dpviz.figures.theme import NEUTRAL, ORANGE, WHITE, grey

#: Drawing units of a pixel.
SIDE = 10
#: Of the picture, in CSS pixels.
WIDTH = 168
FRAME = ORANGE


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
