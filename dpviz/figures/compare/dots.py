"""Twenty-five dots per learner, each a share of 4% of what its draws turn out to be, on one scale.

Dots of one size are counted more reliably than bands are read (Kay, Kola, Hullman and Munson, CHI 2016). The drawing is SVG
with an empty mark per learner, which the widget moves from draw to draw.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from dpviz.evaluation.compare.comparison import N_DOTS
from dpviz.figures.compare.measure_text import measure_text
from dpviz.figures.compare.style import LineStyle
from dpviz.figures.theme import LIGHT, NEUTRAL

#: Said before the first dot is seen (pilot users read a dot as a data set).
WHAT_A_DOT_IS = (
    f"Each dot is one of {N_DOTS} equally likely results: {100 / N_DOTS:.0f}% of what a fresh draw of the "
    "noise (on one of the splits) gives. A dot is not a row and not a data set. A number on a stack says how many dots it holds."
)
#: Style sheet of the drawing.
STYLE = "\n" + Path(__file__).with_suffix(".css").read_text(encoding="utf-8").replace("NEUTRAL", NEUTRAL)
WIDE, NARROW = 960, 340
_RADIUS = {WIDE: 5.5, NARROW: 4.0}
_EDGE = 16
#: Stacks above this many dots are pressed together, and their number is written on them.
_TALLEST = 7


@dataclass(frozen=True, slots=True)
class DotRow:
    """A learner's dots: how they look, and its quantiles in ascending order."""

    style: LineStyle
    dots: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """From outcomes to pixels."""

    low: float
    high: float
    width: int

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return _EDGE + (value - self.low) / (self.high - self.low) * (self.width - 2 * _EDGE)


def scale_of(values: Sequence[float], width: int) -> Scale:
    """Everything fits, with a little room."""
    low, high = min(values), max(values)
    room = max(0.004 * max(1.0, abs(high)), 0.06 * (high - low))
    return Scale(low - room, high + room, width)


def stack_dots(dots: Sequence[float], scale: Scale, radius: float) -> list[tuple[float, int]]:
    """(x, place in its stack) of each dot: dots nearer than a diameter to the first of a stack join it, at their mean x.

    Source: Wilkinson, Dot plots, The American Statistician 53 (1999).
    """
    stacks: list[list[float]] = []
    for x in sorted(map(scale.x, dots)):
        if stacks and x - stacks[-1][0] < 2 * radius:
            stacks[-1].append(x)
        else:
            stacks.append([x])
    return [(sum(stack) / len(stack), place) for stack in stacks for place in range(len(stack))]


def dots_svg(rows: Sequence[DotRow], scale: Scale, *, metric: str = "accuracy") -> str:
    """The drawing. Each learner's mark is `<g class="draw" data-row="0">`, hidden until a draw is shown."""
    radius = _RADIUS[scale.width]
    parts, top = [], 4.0
    for place, row in enumerate(rows):
        drawn = stack_dots(row.dots, scale, radius)
        height = 2 * radius * min(_TALLEST, 1 + max(level for _, level in drawn)) + 12
        base = top + 24 + height
        parts.append(_row(row, place, drawn, base, scale, radius, top))
        top = base + 16
    axis, lines = _axis(scale, top + 2, metric), _lines(scale, top)
    words = escape("; ".join(row_words(row, metric=metric) for row in rows))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scale.width} {top + 30:.0f}" role="img" aria-label="{words}">'
    return f"{head}{lines}{''.join(parts)}{axis}</svg>"


def dots_file(svg: str) -> str:
    """A drawing of `dots_svg` that stands by itself: of a fixed size, on white, with its own style."""
    width, height = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups()  # type: ignore[union-attr]
    style = f"<style>{STYLE} text {{ font-family: sans-serif; fill: {LIGHT.ink}; }}</style>"
    ground = f'<rect width="{width}" height="{height}" fill="{LIGHT.ground}"/>'
    head, _, rest = svg.partition(">")
    return f'{head} width="{width}" height="{height}">{style}{ground}{rest}'


def _row(row: DotRow, place: int, drawn: list[tuple[float, int]], base: float, scale: Scale, radius: float, top: float) -> str:
    colour = row.style.colour
    is_open = row.style.dash != "solid"
    paint = f'fill="none" stroke="{colour}" stroke-width="1.8"' if is_open else f'fill="{colour}"'
    size = radius - (1.2 if is_open else 0.5)
    counts = Counter(x for x, _ in drawn)
    heights = [base - radius - 2 * radius * level * min(1, (_TALLEST - 1) / max(1, counts[x] - 1)) for x, level in drawn]
    circles = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>' for (x, _), y in zip(drawn, heights, strict=True))
    top_of = base - 2 * radius * _TALLEST - 4
    pressed = (f'<text x="{x:.1f}" y="{top_of:.1f}" class="tick">{n}</text>' for x, n in counts.items() if n > _TALLEST)
    title = f'<text x="{_EDGE}" y="{top + 14:.1f}" class="name">{escape(row.style.name)}</text>'
    line = f'<line x1="{_EDGE}" x2="{scale.width - _EDGE}" y1="{base:.1f}" y2="{base:.1f}" class="base"/>'
    mark = (
        f'<g class="draw" data-row="{place}" visibility="hidden"><line y1="{top + 20:.1f}" y2="{base + 7:.1f}"/>'
        f'<circle cy="{base + 7:.1f}" r="4.5"/></g>'
    )
    return f"{title}{line}<g {paint}>{circles}</g>{''.join(pressed)}{mark}"


def _lines(scale: Scale, bottom: float) -> str:
    places = (scale.x(value) for value in _ticks(scale))
    return "".join(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{bottom:.1f}" class="grid"/>' for x in places)


def _axis(scale: Scale, y: float, metric: str) -> str:
    words = ((scale.x(value), _value(value, metric, short=True)) for value in _ticks(scale))
    return "".join(f'<text x="{x:.1f}" y="{y + 18:.1f}" class="tick">{text}</text>' for x, text in words)


def _ticks(scale: Scale) -> list[float]:
    span = scale.high - scale.low
    most = 9 if scale.width == WIDE else 4
    power = math.floor(math.log10(span / most))
    step = next(digit * 10.0**power for digit in (1, 2, 5, 10) if span / (digit * 10.0**power) <= most)
    return [number * step for number in range(math.floor(scale.low / step) + 1, math.floor(scale.high / step) + 1)]


def row_words(row: DotRow, *, metric: str) -> str:
    """One learner's dots in words, for those who do not see them."""
    low, middle, high = row.dots[1], row.dots[len(row.dots) // 2], row.dots[-2]
    values = (_value(value, metric) for value in (middle, low, high))
    return "{}: half of the draws reach {}; nearly all lie from {} to {}".format(row.style.name, *values)


def dot_rows(rows: Sequence[DotRow], *, metric: str = "accuracy") -> list[dict[str, str]]:
    """The dots as a table: one line per learner."""
    names = {"lowest dot": 0, "5th": 4, "13th (median)": 12, "21st": 20, "highest dot": -1}
    return [{"learner": row.style.name} | {name: _value(row.dots[at], metric) for name, at in names.items()} for row in rows]


def _value(value: float, metric: str, *, short: bool = False) -> str:
    if metric not in ("accuracy", "balanced_accuracy"):
        return f"{round(value, 12) + 0.0:,.6g}" if short else measure_text(value, metric)
    text = f"{100 * value:.1f}"
    return f"{text.removesuffix('.0') if short else text}%"
