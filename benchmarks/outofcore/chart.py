"""A chart of lines with both axes logarithmic, as SVG without a colour of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 360, 60, 150, 20, 50
_DASHES = ("none", "8 4", "2 4")


def chart_svg(rows: Sequence[int], lines: Mapping[str, Sequence[float]]) -> str:
    """Processor seconds (lines by name) against rows."""
    across = _Axis(min(rows), max(rows), _LEFT, _WIDTH - _RIGHT)
    every = [value for values in lines.values() for value in values]
    up = _Axis(min(every), max(every), _HEIGHT - _BOTTOM, _TOP)
    parts = [*_grid(across, up)]
    for (name, values), dash in zip(lines.items(), _DASHES, strict=False):
        points = [(across.place(n), up.place(value)) for n, value in zip(rows, values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="{dash}"/>')
        parts.append(f'<text x="{points[-1][0] + 8:.1f}" y="{points[-1][1] + 4:.1f}">{name}</text>')
    about = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12"'
    title = "<title>Processor seconds against rows, both axes logarithmic</title>"
    return f'<svg {about} fill="currentColor">{title}{"".join(parts)}</svg>\n'


class _Axis:
    """Powers of ten between two places."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        self.start, self.step = start, (end - start) / max(self.high - self.low, 1)

    def place(self, value: float) -> float:
        return self.start + (math.log10(value) - self.low) * self.step

    @property
    def powers(self) -> range:
        return range(self.low, self.high + 1)


def _grid(across: _Axis, up: _Axis) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for power in across.powers:
        x = across.place(10.0**power)
        parts.append(_line(x, _TOP, x, bottom) + f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{10**power:,}</text>')
    for power in up.powers:
        y = up.place(10.0**power)
        parts.append(
            _line(_LEFT, y, right, y) + f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    parts.append(f'<text x="{(_LEFT + right) / 2:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">rows</text>')
    parts.append(f'<text x="{_LEFT}" y="12">processor seconds</text>')
    return parts


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="currentColor" stroke-opacity="0.2"/>'
