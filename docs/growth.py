"""Draws `docs/_static/growth.svg` from `data/benchmarks/growth.csv`: `python -m docs.growth`.

A panel per axis and measure, both scales logarithmic: a straight line is a power, and its slope the exponent.
"""

from __future__ import annotations

import math
from collections import defaultdict

from docs.tables import ROOT, read

CSV, PICTURE = ROOT / "data/benchmarks/growth.csv", ROOT / "docs/_static/growth.svg"
AXES = ("rows", "columns", "categories", "depth")
MEASURES = {"seconds": "processor seconds", "megabytes": "megabytes beyond the rows"}
#: Learner -> its colour on white and on black, and its mark.
STYLES = {"pf-tree": ("#1f6f8b", "circle"), "s-gbdt": ("#c2571a", "square"), "smooth-forest": ("#7a7a7a", "triangle")}
WIDTH, HEIGHT, GAP, LEFT, TOP = 190, 150, 46, 56, 44
#: The least distance of two labels on an axis.
APART = 26

Point = tuple[float, float]


def picture() -> str:
    """The SVG."""
    lines: dict[tuple[str, str, str], list[Point]] = defaultdict(list)
    for row in read(CSV):
        for measure in MEASURES:
            lines[measure, row["axis"], row["learner"]].append((float(row[row["axis"]]), float(row[measure])))
    width = LEFT + len(AXES) * (WIDTH + GAP)
    height = TOP + len(MEASURES) * (HEIGHT + GAP) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        "<title>Processor seconds and memory of a fit as rows, columns, categories and depth grow</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for place, (learner, (colour, mark)) in enumerate(STYLES.items()):
        at = LEFT + 130 * place
        parts += [_mark(mark, at, 12, colour), f'<text x="{at + 9}" y="16">{learner}</text>']
    for down, (measure, words) in enumerate(MEASURES.items()):
        of_measure = {key: points for key, points in lines.items() if key[0] == measure}
        heights = [y for points in of_measure.values() for _, y in points]
        for right, axis in enumerate(AXES):
            corner = (LEFT + right * (WIDTH + GAP), TOP + down * (HEIGHT + GAP))
            curves = {learner: points for (_, name, learner), points in of_measure.items() if name == axis}
            parts += _panel(corner, curves, axis, words if right == 0 else "", (min(heights), max(heights)))
    return "\n".join([*parts, "</svg>", ""])


def _panel(corner: Point, lines: dict[str, list[Point]], axis: str, words: str, ends: Point) -> list[str]:
    left, top = corner
    places = sorted({x for points in lines.values() for x, _ in points})
    decades = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)

    def across(value: float) -> float:
        return left + WIDTH * math.log(value / places[0]) / math.log(places[-1] / places[0])

    def up(value: float) -> float:
        return top + HEIGHT * (1 - (math.log10(value) - decades[0]) / (decades[-1] - decades[0]))

    parts = []
    for decade in decades:
        y = up(10.0**decade)
        parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{10.0**decade:g}</text>')
    labels = [x for x, after in zip(places, [*places[1:], math.inf], strict=True) if across(after) - across(x) > APART]
    parts += [f'<text x="{across(x):.1f}" y="{top + HEIGHT + 14}" text-anchor="middle">{_short(x)}</text>' for x in labels]
    parts.append(f'<text x="{left + WIDTH / 2}" y="{top + HEIGHT + 29}" text-anchor="middle" font-weight="bold">{axis}</text>')
    if words:
        parts.append(f'<text x="{left - 5}" y="{top - 6}">{words}</text>')
    for learner, points in lines.items():
        colour, mark = STYLES[learner]
        corners = [(across(x), up(y)) for x, y in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [_mark(mark, x, y, colour) for x, y in corners]
    return parts


def _mark(mark: str, x: float, y: float, colour: str) -> str:
    shapes = {"square": "m-3 -3h6v6h-6z", "triangle": "m0 -4l4 7h-8z", "circle": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z"}
    return f'<path d="M{x:.1f} {y:.1f}{shapes[mark]}" fill="{colour}"/>'


def _short(value: float) -> str:
    """10,000,000 as 10M."""
    for size, sign in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{sign}"
    return f"{value:g}"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
