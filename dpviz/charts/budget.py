"""Where ε goes: the split at one look, in HTML, and accuracy over other shares.

Where the claim holds, the bar is both what is asked and what is paid. Where it does not, what is asked is only an outline, and
what is paid stands below it on the same scale: what has no bound is an open, hatched piece of one width with ∞ in it. The map is
a triangle over three shares (Vos et al. 2023, arXiv 2305.15394, Figure 2), over two shares or a growth factor a line with a band.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.charts.chart import LEGEND_ABOVE, Chart, Figure, Rows, Style, band, chart, line, marker
from dpviz.charts.theme import BLUE, CLEAR, MAUVE, NEUTRAL, ORANGE, PINK, TEAL, UNSOUND, lighter, text_on
from dpviz.charts.wording import count_text, percent
from dpviz.evaluation.shares import GROWTHS, ShareMap, Shares
from dpviz.results.result import FitResult
from dpviz.results.verdict import ROW, Unit, bare_text
from dpviz.results.wording import number_text

STYLE = Path(__file__).with_name("split.css").read_text(encoding="utf-8")
FROM_ROWS = "read from the rows"
#: Part -> (name on screen, colour, class of hatching in the style sheet).
_PARTS = {
    "quantile": ("quantiles", MAUVE, "up"),
    "median": ("medians", MAUVE, ""),
    "cut": ("cuts", NEUTRAL, "down"),
    "node": ("levels", BLUE, ""),
    "node, numeric": ("node, numeric", BLUE, ""),
    "node, categorical": ("node, categorical", BLUE, "down"),
    "node and leaf": ("level and leaves", TEAL, "cross"),
    "two levels": ("two levels at once", BLUE, "bars"),
    "two levels and leaf": ("two levels and leaves", TEAL, "grid"),
    "tree": ("tree", NEUTRAL, "down"),
    "initial score": ("initial score", MAUVE, "cross"),
    "count": ("count", MAUVE, "dots"),
    "test": ("test", PINK, "cross"),
    **dict.fromkeys(("leaf", "leaf counts", "leaf sums"), ("leaves", ORANGE, "dots")),
    **{part: (part, UNSOUND, "down") for part in (FROM_ROWS, "stopping rule", "groups")},
}
#: Width of a piece without a bound, in percent of the bar; all of them together take at most HALF.
OPEN, HALF = 14.0, 50.0


def _look(part: str) -> tuple[str, str, str]:
    return _PARTS.get(part, (part, NEUTRAL, "down"))


def part_name(part: str) -> str:
    """What a part is called on screen."""
    return _look(part)[0]


@dataclass(frozen=True, slots=True)
class SpendingStep:
    """What one unit pays for one part at one level: `epsilon` may be infinite."""

    level: str
    part: str
    epsilon: float


def spending_steps(plan: BudgetPlan, spent: Mapping[tuple[str, int | None], float], unit: Unit = ROW) -> tuple[SpendingStep, ...]:
    """The costliest path from top to bottom: epsilon by part and level, of a unit where a row pays `spent`."""
    levels = {(share.part, share.level): share.levels for share in plan.shares}
    is_deep = any(level is not None for _, level in spent)

    def where(part: str, level: int | None) -> str:
        return _level_title(level, plan.depth, levels.get((part, level), 1)) if is_deep else "all"

    return tuple(
        SpendingStep(where(part, level), part, _of_unit(epsilon, unit))
        for (part, level), epsilon in sorted(spent.items(), key=lambda entry: -1 if entry[0][1] is None else entry[0][1])
        if epsilon
    )


def _of_unit(epsilon: float, unit: Unit) -> float:
    """What all rows of a unit pay, where one of them pays `epsilon`."""
    return unit.loss_of(PrivacyLoss(epsilon)).epsilon


def _planned_steps(plan: BudgetPlan, unit: Unit) -> tuple[SpendingStep, ...]:
    """What a plan asks of one unit, from top to bottom, as its paper counts.

    Each step as often as a row meets it, or once where that alone makes epsilon; of features in parallel the numeric ones.
    """
    groups = {share.group for share in plan.shares} - {"categorical"} or {"categorical"}
    shares = [share for share in plan.shares if share.group in groups]
    is_composed = sum(share.composed for share in shares) <= plan.epsilon * (1 + 1e-6)
    costs = ((share, share.composed if is_composed else share.epsilon) for share in shares)
    return tuple(
        SpendingStep(_level_title(share.level, plan.depth, share.levels), share.part, _of_unit(epsilon, unit))
        for share, epsilon in sorted(costs, key=lambda item: -1 if item[0].level is None else item[0].level)
        if epsilon
    )


def _level_title(level: int | None, depth: int, levels: int) -> str:
    """Where a step stands: as in "root and depth 1"; `levels` from `level` down."""
    if level is None:
        return "before the tree"
    names = {0: "root", depth: "leaves"}
    first = names.get(level, f"depth {level}")
    return first if levels == 1 else f"{first} and depth {level + 1}" if level == 0 else f"{first} and {level + 1}"


@dataclass(frozen=True, slots=True)
class Split:
    """What one unit is asked to pay, part by part, and what it pays.

    `held_out` are rows that pay for one other part instead, as much as the rows of `asked` in all. `is_sound`: what is asked is
    what is paid, and nothing else was read from the rows.
    """

    asked: tuple[SpendingStep, ...]
    held_out: tuple[HeldOutPart, ...]
    paid: tuple[SpendingStep, ...]
    claimed: PrivacyLoss
    proven: PrivacyLoss
    is_sound: bool
    unit: Unit = ROW

    @property
    def scale(self) -> float:
        """The ε that takes the whole width left by what has no bound."""
        return max(_finite(self.asked), _finite(self.paid), *(part.epsilon for part in self.held_out), 0.0) or 1.0


def split_of(result: FitResult) -> Split:
    """The split of a result, from its plan, claim and ledger."""
    plan, claim, outcome = result.plan, result.claim, result.verdict()
    is_sound = claim.is_sound and result.ledger.guarantee.epsilon <= claim.epsilon and not result.disclosures
    paid = spending_steps(plan, result.ledger.spent(), result.unit)
    if result.disclosures:
        paid = (*paid, SpendingStep("", FROM_ROWS, math.inf))
    elif not is_sound and not outcome.proven.is_finite and all(math.isfinite(step.epsilon) for step in paid):
        paid = (*paid, SpendingStep("", "what a counterexample shows", math.inf))
    plan_steps = _planned_steps(plan, result.unit) if claim.is_private else ()
    held_out = [replace(part, epsilon=_of_unit(part.epsilon, result.unit)) for part in (plan.held_out if plan_steps else ())]
    return Split(plan_steps, tuple(held_out), paid, result.claim_of_person.loss, outcome.proven, is_sound, result.unit)


def _finite(path: Iterable[SpendingStep]) -> float:
    return sum(step.epsilon for step in path if math.isfinite(step.epsilon))


def widths(path: Sequence[SpendingStep], split: Split) -> tuple[float, ...]:
    """Of each piece, in percent of the bar."""
    n_open = sum(math.isinf(step.epsilon) for step in split.paid)
    open_width = min(OPEN, HALF / max(1, n_open))
    room = 100 - open_width * (0 if split.is_sound else n_open)
    return tuple(open_width if math.isinf(step.epsilon) else room * step.epsilon / split.scale for step in path)


def split_html(split: Split) -> str:
    """The bar with its legend; see `STYLE`."""
    lines = []
    if split.asked:
        name, kind = ("ε", "asked") if split.is_sound else ("asked", "asked unsound")
        held_out = [(_piece(part.part, 100 * part.epsilon / split.scale), part.epsilon) for part in split.held_out]
        by_others = "".join(f'<div class="bar kept"><i {piece}></i></div>' for piece, epsilon in held_out if epsilon)
        lines.append(_line(name, kind, split.asked, split, bare_text(split.claimed), by_others))
    if not split.is_sound:
        end = bare_text(split.proven) if split.proven.is_finite else "no bound"
        lines.append(_line("paid", "paid unsound", split.paid, split, end))
    legend = f'<p class="parts">{"".join(_legend(split))}</p>'
    words = escape(split_sentence(split), quote=True)
    return f'<div class="split" role="img" aria-label="{words}">{"".join(lines)}{legend}</div>'


def _line(name: str, kind: str, path: Sequence[SpendingStep], split: Split, end: str, more: str = "") -> str:
    pieces = []
    for step, width in zip(path, widths(path, split), strict=True):
        level = f", {step.level}" if step.level else ""
        title = escape(f"{part_name(step.part)}{level}: ε = {number_text(step.epsilon)}", quote=True)
        piece, label = _piece(step.part, width, is_open=math.isinf(step.epsilon)), number_text(step.epsilon)
        pieces.append(f'<i {piece} title="{title}"><b>{label}</b></i>')
    bars = f'<div class="bars"><div class="bar">{"".join(pieces)}</div>{more}</div>'
    return f'<div class="line {kind}"><span class="name">{name}</span>{bars}<span class="end">{escape(end)}</span></div>'


def _piece(part: str, width: float | None = None, *, is_open: bool = False) -> str:
    """Attributes of a piece in the look of its part; the style sheet hides a number that has no room."""
    _, colour, hatch = _look(part)
    size = "" if width is None else f";width:{width:.2f}%"
    return f'class="{"open" if is_open else hatch}" style="--c:{colour}{size}"'


def _legend(split: Split) -> Iterator[str]:
    """Each part once, with what its steps cost: those that are paid where that is more than what is asked."""
    path = split.asked if split.is_sound else split.paid
    absent = [step for step in split.asked if step.part not in {paid.part for paid in path}]
    keys = [(part, costs) for part, costs in _costs((*path, *absent)).items()]
    keys += [(part.part, f"{number_text(part.epsilon)} (other rows: {percent(part.share)})") for part in split.held_out]
    return (f"<span><i {_piece(part)}></i>{escape(f'{part_name(part)} {cost}')}</span>" for part, cost in keys)


def _costs(path: Iterable[SpendingStep]) -> dict[str, str]:
    """By part what its steps cost, as in "0.2 + 0.3", "3 × 0.17"; what is infinite is said once."""
    parts: dict[str, list[str]] = {}
    for step in path:
        parts.setdefault(step.part, []).append(number_text(step.epsilon))
    words = {}
    for part, costs in parts.items():
        is_many = len(costs) > 1 and len(set(costs)) == 1
        words[part] = "∞" if "∞" in costs else f"{len(costs)} × {costs[0]}" if is_many else " + ".join(costs)
    return words


def split_sentence(split: Split) -> str:
    """The bar in words."""
    costs = (_costs(path).items() for path in (split.asked, split.paid))
    asked, paid = (", ".join(f"{part_name(part)} {cost}" for part, cost in parts) for parts in costs)
    held_out = "".join(
        f"; {percent(part.share)} of the rows pay {number_text(part.epsilon)} for {part_name(part.part)} instead"
        for part in split.held_out
    )
    if split.is_sound:
        return f"What {split.unit.words} pays, at most: {asked}{held_out}."
    first = f"Asked: {asked}{held_out}. " if split.asked else ""
    end = bare_text(split.proven) if split.proven.is_finite else "no bound"
    return f"{first}Really paid: {paid}: {end}."


def spending_rows(plan: BudgetPlan, spent: Mapping[tuple[str, int | None], float], unit: Unit = ROW) -> Rows:
    """What one unit, whose every row pays `spent`, pays on its way down the tree, a line per part and level."""
    title = f"ε ({unit.neighbours})"
    path = spending_steps(plan, spent, unit)
    return [{"where": step.level, "for": part_name(step.part), title: number_text(step.epsilon)} for step in path]


# --- accuracy over shares

#: The scale of accuracy is at least this wide, so that noise does not look like a landscape.
MIN_SPREAD = 0.05
#: From this relative height on a cell has the full colour.
FULL = 0.93
_CELL = 30
_LEVELS = {"depth 0": "root", "depth 0 and 1": "root and depth 1"}


def _part(part: str) -> str:
    return _LEVELS.get(part) or part_name(part)


def map_chart(share_map: ShareMap, *, current: Shares | None) -> Chart:
    """A triangle over three shares, else a line; the automatic choice and `current`, shares set by hand, are marked.

    The worst point, or one MIN_SPREAD below the best, has the lightest shade. `customdata` of a point is its number.
    """
    spread = max(MIN_SPREAD, float(np.ptp(share_map.means)))
    parts, best, good = share_map.movable.parts, share_map.best, set(share_map.as_good)
    rule, n_tied = share_map.nearest(share_map.movable.automatic), len(good) - 1
    tied = f"; {count_text(n_tied, 'other point')} {'is' if n_tied == 1 else 'are'} statistically tied with it" if n_tied else ""
    behind = f"{share_map.means[rule]:.1%}, {100 * (share_map.means[best] - share_map.means[rule]):.1f} points less"
    automatic = f"The point nearest the automatic choice reaches {behind}."
    if rule == best:
        automatic = "It is the point nearest the automatic choice."
    summary = (
        f"Training accuracy, mean of {share_map.n_draws} draws, {share_map.means.min():.1%} to {share_map.means.max():.1%}. "
        f"Best: {_shares_words(parts, share_map.points[best])}{tied}. {automatic}"
    )
    rows = [
        {
            **{_part(part): f"{share:.0%}" for part, share in zip(parts, point, strict=True)},
            "training accuracy": f"{share_map.means[at]:.2%}",
            "standard error, points": f"{100 * share_map.errors[at]:.2f}",
            "as good as the best": "yes" if at in good else "no",
        }
        for at, point in enumerate(share_map.points)
    ]
    return Chart((_triangle if len(parts) == 3 else _line_over_shares)(share_map, current, spread), summary, rows)


def _triangle(share_map: ShareMap, current: Shares | None, spread: float) -> Figure:
    """Every cell carries its number, so colour is not the only cue."""
    means = share_map.means
    heights = np.clip(1 - (means.max() - means) / spread, 0, 1)
    axis = {"tickformat": ".0%", "ticks": "", "tickvals": [0.5], "showgrid": False, "linecolor": NEUTRAL}
    sides = [axis | {"title": f"all {escape(_part(part))}"} for part in share_map.movable.parts]
    ternary = {"sum": 1, "bgcolor": CLEAR} | dict(zip(("aaxis", "baxis", "caxis"), sides, strict=True))
    figure = chart(520, top=70, legend=LEGEND_ABOVE, ternary=ternary, clickmode="event+select", dragmode=False)
    figure.update_layout(margin={"l": 50, "r": 50, "b": 50})  # words at the corners
    shades = [BLUE if height >= FULL else lighter(BLUE, 0.08 + 0.6 * float(height)) for height in heights]
    decimals = int(1.96 * float(np.median(np.nan_to_num(share_map.errors, nan=1.0))) < 0.005)  # where draws tell tenths apart
    figure.add_scatterternary(
        **_corners(share_map.points),
        customdata=list(range(len(shades))),
        mode="markers+text",
        marker={"symbol": "hexagon", "size": _CELL, "color": shades, "line": {"width": 0}},
        text=[f"{100 * mean:.{decimals}f}" for mean in means],
        textfont={"size": 11, "color": list(map(text_on, shades))},
        hovertext=[point_words(share_map, at) for at in range(len(shades))],
        hoverinfo="text",
        showlegend=False,
        unselected={"marker": {"opacity": 1}},
    )
    marks = [("automatic choice", share_map.movable.automatic, marker(ORANGE, "diamond-open", 24, 3))]
    marks += [("in use", share_map.points[share_map.nearest(current)], marker(ORANGE, "circle-open", 34, 3))] if current else []
    for name, shares, style in marks:
        figure.add_scatterternary(**_corners([shares]), mode="markers", marker=style, name=name, hoverinfo="skip")
    return figure


def _corners(points: Sequence[Shares]) -> Style:
    return dict(zip("abc", map(list, zip(*points, strict=True)), strict=True))


def _line_over_shares(share_map: ShareMap, current: Shares | None, spread: float) -> Figure:
    """Mean training accuracy with its 95% band along two shares or the growth factor; automatic and current choice marked."""
    is_share = len(share_map.movable.parts) == 2
    if is_share:
        x = [100 * point[0] for point in share_map.points]
        across: Style = {"title": f"share of ε for {_part(share_map.movable.parts[0])}, %", "zeroline": False}
    else:
        x = list(GROWTHS)
        ticks = {"type": "log", "tickvals": GROWTHS, "ticktext": [f"{growth:g}" for growth in GROWTHS]}
        across = {"title": "each level gets this many times the share of the level above", "zeroline": False} | ticks
    top = 100 * float(share_map.means.max())
    up = {"title": "training accuracy, %", "zeroline": False, "range": [top - 110 * spread, top + 15 * spread]}
    figure = chart(380, legend=LEGEND_ABOVE, xaxis=across, yaxis=up)
    low, high = (100 * (share_map.means + sign * 1.96 * np.nan_to_num(share_map.errors)) for sign in (-1, 1))
    figure.add_scatter(**band(x, low, high, BLUE))
    words = [f"{point_words(share_map, at)}<extra></extra>" for at in range(len(x))]
    mean = {"mode": "lines+markers", "line": line(BLUE), "marker": {"size": 9}, "name": "mean"}
    figure.add_scatter(x=x, y=100 * share_map.means, hovertemplate=words, **mean)
    automatic = share_map.movable.automatic
    for shares, symbol, name in ((automatic, "diamond", "automatic choice"), (current, "circle-open", "in use")):
        if shares is not None:
            at = share_map.nearest(shares)
            place = 100 * shares[0] / sum(shares) if is_share else x[at]
            mark = {"mode": "markers", "marker": marker(ORANGE, symbol, 16, 3), "name": name, "hoverinfo": "name"}
            figure.add_scatter(x=[place], y=[100 * share_map.means[at]], **mark)
    return figure


def _shares_words(parts: Sequence[str], shares: Shares) -> str:
    """As in "quantiles (20%), nodes (30%), leaves (50%)"."""
    return ", ".join(f"{_part(part)} ({100 * share:.0f}%)" for part, share in zip(parts, shares, strict=True))


def point_words(share_map: ShareMap, at: int) -> str:
    """A point with its accuracy."""
    error = f", standard error {100 * share_map.errors[at]:.1f}" if share_map.n_draws > 1 else ""
    return f"{_shares_words(share_map.movable.parts, share_map.points[at])}: {share_map.means[at]:.1%} right{error}"
