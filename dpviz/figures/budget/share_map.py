"""The share map: accuracy over three shares as a triangle of cells, over two shares or a growth factor as a line with its band.

Beside it, what one step more of each share buys. The triangle is SVG in the dashboard's colours, one cell per point, to be chosen
by mouse or keyboard; each cell carries its number, so colour is not the only cue. Source of the picture: Vos et al. 2023 (arXiv
2305.15394), Figure 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt
from pathlib import Path

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.budget.lab import ShareMap, StepGain
from dpviz.evaluation.budget.shares import GROWTHS, STEPS, MovableShares, Shares
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Figure, Rows, Style, band, chart, limits, line, marker
from dpviz.figures.theme import BLUE, GREEN, NEUTRAL, ORANGE
from dpviz.figures.wording import counted

WIDE, NARROW = 600, 330
#: A narrow drawing grows to this many pixels.
LARGEST_NARROW = 470
#: Shares closer than this count as the same.
SAME = 0.02
#: The scale of accuracy is at least this wide, so that noise does not look like a landscape.
LEAST_SPREAD = 0.05
#: From this relative height on a cell has the full colour, and its number the ground's.
FULL = 0.93
#: Style sheet of the triangle. Shades are mixed from the dashboard's own colours: they follow its theme.
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Frame:
    """From three shares to pixels: all on the first part is the top, on the second the left, on the third the right corner."""

    width: int

    @property
    def side(self) -> float:
        """Length of a side."""
        return self.width - 2.0 * 44

    @property
    def height(self) -> int:
        """Of the drawing."""
        return round(self.side * sqrt(3) / 2) + 84

    def place(self, shares: Sequence[float]) -> tuple[float, float]:
        """(x, y) of shares that sum to 1."""
        top, left, _ = shares
        x = 44 + self.side * (1 - left - top / 2)
        return round(x, 1), round(44 + self.side * sqrt(3) / 2 * (1 - top), 1)


def common_spread(maps: Sequence[ShareMap]) -> float:
    """How much accuracy the scale of maps side by side spans, below the best point of each."""
    return max(LEAST_SPREAD, *(float(np.ptp(found.means)) for found in maps))


def triangle_svg(found: ShareMap, *, current: Shares | None, spread: float = LEAST_SPREAD, narrow: bool = False) -> str:
    """Cells of a map of three parts with their accuracy; the automatic choice is a diamond where it lies.

    `current`, the shares in use when they were set by hand, have a ring. The lightest shade is `spread` below the best point;
    see `common_spread`.
    """
    frame, words = Frame(NARROW if narrow else WIDE), escape(map_sentence(found), quote=True)
    chosen = None if current is None else found.nearest(current)
    cells = "".join(_cell(found, at, frame, at == chosen, spread) for at in range(len(found.points)))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tri{" narrow" if narrow else ""}" viewBox="0 0 {frame.width} '
        f'{frame.height}" style="max-width:{LARGEST_NARROW if narrow else WIDE}px" role="listbox" aria-label="{words}">'
    )
    return f"{head}{_edges(frame)}{_corners(found.movable.parts, frame)}{cells}{_diamond(found.movable.automatic, frame)}</svg>"


def _edges(frame: Frame) -> str:
    corners = " L".join(f"{x} {y}" for x, y in map(frame.place, ((1, 0, 0), (0, 1, 0), (0, 0, 1))))
    return f'<path class="edge" d="M{corners} Z" aria-hidden="true"/>'


def _corners(parts: Sequence[str], frame: Frame) -> str:
    (top_x, top_y), (left_x, low), (right_x, _) = map(frame.place, ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    places = ((top_x, top_y - 12), (left_x, low + 22), (right_x, low + 22))
    words = zip(places, (part_title(part) for part in parts), strict=True)
    return "".join(f'<text class="corner" x="{x}" y="{y}" aria-hidden="true">all {escape(word)}</text>' for (x, y), word in words)


def _cell(found: ShareMap, at: int, frame: Frame, is_chosen: bool, spread: float) -> str:
    x, y = frame.place(found.points[at])
    means = found.means
    height = max(0.0, 1 - (means.max() - means[at]) / spread)
    shade = 95 if height >= FULL else round(6 + 64 * height)
    number = f"{100 * means[at]:.{0 if frame.width == NARROW else decimals(found)}f}"
    words = escape(point_words(found, at), quote=True)
    return (
        f'<g class="cell{" full" if height >= FULL else ""}" role="option" aria-selected="{str(is_chosen).lower()}" '
        f'data-key="{at}" data-x="{x}" data-y="{y}" style="--v:{shade}" aria-label="{words}"><title>{words}</title>'
        f'<path d="{_hexagon(x, y, frame.side / STEPS / sqrt(3))}"/><text x="{x}" y="{y + 4}">{number}</text></g>'
    )


def decimals(found: ShareMap) -> int:
    """Of a percentage: one where the draws tell tenths of a point apart, else none."""
    return int(1.96 * float(np.median(np.nan_to_num(found.errors, nan=1.0))) < 0.005)


def scale_text(spread: float) -> str:
    """What the shades mean."""
    return f"Darkest: the best point of its map; lightest: {100 * spread:.0f} points or more below it."


def _hexagon(x: float, y: float, radius: float) -> str:
    half = radius * sqrt(3) / 2
    corners = ((0, -radius), (half, -radius / 2), (half, radius / 2), (0, radius), (-half, radius / 2), (-half, -radius / 2))
    return "M" + " L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners) + " Z"


def _diamond(shares: Shares, frame: Frame) -> str:
    """Hollow, so that the number under it stays readable."""
    (x, y), r = frame.place(shares), frame.side / STEPS / 2.6
    line = f"M{x} {y - r:.1f} L{x + r:.1f} {y} L{x} {y + r:.1f} L{x - r:.1f} {y} Z"
    return f'<g aria-hidden="true"><path class="halo" d="{line}"/><path class="rule" d="{line}"/></g>'


def part_title(part: str) -> str:
    """What a share buys, for people."""
    titles = {"quantile": "quantiles", "node": "nodes", "leaf": "leaves", "depth 0": "root", "depth 0 and 1": "root and depth 1"}
    return titles.get(part, part)


def shares_words(parts: Sequence[str], shares: Shares) -> str:
    """As in "quantiles (20%), nodes (30%), leaves (50%)"."""
    return ", ".join(f"{part_title(part)} ({100 * share:.0f}%)" for part, share in zip(parts, shares, strict=True))


def point_words(found: ShareMap, at: int) -> str:
    """A point with its accuracy."""
    error = f", standard error {100 * found.errors[at]:.1f}" if found.n_draws > 1 else ""
    return f"{shares_words(found.movable.parts, found.points[at])}: {found.means[at]:.1%} right{error}"


def map_sentence(found: ShareMap) -> str:
    """The map in words: alt text, and the line above it."""
    parts, best = found.movable.parts, found.best
    rule = found.nearest(found.movable.automatic)
    behind = 100 * (found.means[best] - found.means[rule])
    others = len(found.as_good) - 1
    more = f"; {tied_text(others)}" if others else ""
    near = (
        "It is the point nearest the automatic choice."
        if rule == best
        else (f"The point nearest the automatic choice reaches {found.means[rule]:.1%}, {behind:.1f} points less.")
    )
    return (
        f"Training accuracy, mean of {found.n_draws} draws, {found.means.min():.1%} to {found.means.max():.1%}. "
        f"Best: {shares_words(parts, found.points[best])}{more}. {near}"
    )


def tied_text(others: int) -> str:
    """How many points are as good as the best, as far as the draws can tell."""
    return f"{counted(others, 'other point')} {'is' if others == 1 else 'are'} statistically tied with it"


def crossover_sentence(first: ShareMap, second: ShareMap) -> str:
    """Where the last share (leaves, or the lowest level) is good on few and on many rows: the paper's crossover."""
    small, large = sorted((first, second), key=lambda found: found.n_rows)
    part = part_title(small.movable.parts[-1])
    few, many = (f"{100 * found.centre()[-1]:.0f}%" for found in (small, large))
    change = large.centre()[-1] - small.centre()[-1]
    sizes = f"{small.n_rows:,} rows", f"{large.n_rows:,} rows"
    if abs(change) <= SAME:
        return (
            f"The good share for {part} is about {few} of ε with {sizes[0]} and about {many} with {sizes[1]}: no crossover here."
        )
    move = "falls" if change < 0 else "rises"
    return f"The good share for {part} {move} from about {few} of ε with {sizes[0]} to about {many} with {sizes[1]}."


def map_rows(found: ShareMap) -> Rows:
    """The map as a table: one line per point."""
    parts, good = found.movable.parts, set(found.as_good)
    return [
        {
            **{part_title(part): f"{share:.0%}" for part, share in zip(parts, point, strict=True)},
            "training accuracy": f"{found.means[at]:.2%}",
            "standard error, points": f"{100 * found.errors[at]:.2f}",
            "as good as the best": "yes" if at in good else "no",
        }
        for at, point in enumerate(found.points)
    ]


def line_places(movable: MovableShares) -> tuple[tuple[float, ...], str]:
    """(x of each point, what x is) when the map is a line: the first share in percent, or the growth factor."""
    if len(movable.parts) == 2:
        return tuple(100 * point[0] for point in movable.points), f"share of ε for {part_title(movable.parts[0])}, %"
    return GROWTHS, "each level gets this many times the share of the level above"


def line_figure(found: ShareMap, *, current: Shares | None, spread: float = LEAST_SPREAD) -> Figure:
    """Mean training accuracy with its 95% band along two shares or the growth factor; automatic and current choice marked."""
    x, title = line_places(found.movable)
    top = 100 * float(found.means.max())
    up = {"title": "training accuracy, %", "zeroline": False, "range": [top - 110 * spread, top + 15 * spread]}
    figure = chart(380, legend=LEGEND_ABOVE, xaxis=_across(title, len(found.movable.parts) > 2), yaxis=up)
    low, high = (100 * (found.means + sign * 1.96 * np.nan_to_num(found.errors)) for sign in (-1, 1))
    figure.add_scatter(**band(x, low, high, BLUE))
    words = [f"{point_words(found, at)}<extra></extra>" for at in range(len(x))]
    mean = {"mode": "lines+markers", "line": line(BLUE), "marker": {"size": 9}, "name": "mean"}
    figure.add_scatter(x=x, y=100 * found.means, hovertemplate=words, **mean)
    for shares, symbol, name in ((found.movable.automatic, "diamond", "automatic choice"), (current, "circle-open", "in use")):
        if shares is not None:
            at = found.nearest(shares)
            place = 100 * shares[0] / sum(shares) if len(shares) == 2 else x[at]
            mark = {"mode": "markers", "marker": marker(ORANGE, symbol, 16, 3), "name": name, "hoverinfo": "name"}
            figure.add_scatter(x=[place], y=[100 * found.means[at]], **mark)
    return figure


def _across(title: str, by_growth: bool) -> Style:
    growths = {"type": "log", "tickvals": GROWTHS, "ticktext": [f"{growth:g}" for growth in GROWTHS]}
    return {"title": title, "zeroline": False} | (growths if by_growth else {})


# --- one step more

_MARKS = {"gain": (GREEN, "triangle-up"), "loss": (ORANGE, "triangle-down"), "unclear": (NEUTRAL, "circle-open")}


def gains_figure(gains: Sequence[StepGain]) -> Figure:
    """What one step more of each share buys: a dot with its 95% interval around no change."""
    across = {"title": "change of training accuracy, points", "zeroline": False}
    figure = chart(90 + 46 * len(gains), showlegend=False, xaxis=across, yaxis=NAMES)
    for item in gains:
        colour, symbol = _MARKS[item.kind]
        between = limits([100 * (item.high - item.gain)], [100 * (item.gain - item.low)], colour)
        look = {"mode": "markers", "marker": marker(colour, symbol), "hovertemplate": f"{gain_words(item)}<extra></extra>"}
        figure.add_scatter(x=[100 * item.gain], y=[part_title(item.part)], error_x=between, **look)
    figure.add_vline(0, line=line(NEUTRAL, 1.5, "dot"))
    return figure


def gain_words(item: StepGain) -> str:
    """As in "leaves: +0.8 points (95%: +0.2 to +1.4)"."""
    low, gain, high = (f"{100 * value:+.1f}" for value in (item.low, item.gain, item.high))
    return f"{part_title(item.part)}: {gain} points (95%: {low} to {high})"


def gains_sentence(gains: Sequence[StepGain]) -> str:
    """All steps in words."""
    step = f"One step more, {100 / STEPS:.0f}% of ε ({NEIGHBOURS}) moved there from the other shares"
    better = [part_title(item.part) for item in gains if item.kind == "gain"]
    verdict = f"It pays for {' and '.join(better)}." if better else "No step is shown to help."
    return f"{step}: {'; '.join(map(gain_words, gains))}. {verdict}"


def gain_rows(movable: MovableShares, gains: Sequence[StepGain]) -> Rows:
    """The steps as a table."""
    return [
        {
            "one step more for": part_title(item.part),
            "leads to": shares_words(movable.parts, item.shares),
            "change, points": f"{100 * item.gain:+.2f}",
            "95% from": f"{100 * item.low:+.2f}",
            "95% to": f"{100 * item.high:+.2f}",
            "draws": f"{item.n_draws}",
        }
        for item in gains
    ]
