"""Budget in pictures: what one row pays on its way down the tree, rounds of boosting, accuracy over shares of epsilon.

Where epsilon went: every bar begins where the one above ends, so the last one is what the steps compose to, beside a line at what
is claimed. Parts differ by colour *and* hatching; what is infinite is an open, hatched bar with ∞ and words. The share map is a
triangle of cells over three shares (source: Vos et al. 2023, arXiv 2305.15394, Figure 2), over two shares or a growth factor a
line with its band; beside it stands what one step more of each share buys.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.accounting.plan import BudgetPlan
from dpviz.evaluation.budget.lab import ShareMap, StepGain
from dpviz.evaluation.budget.shares import GROWTHS, STEPS, MovableShares, Shares
from dpviz.figures.charts import (
    LEGEND_ABOVE,
    NAMES,
    Chart,
    Figure,
    Rows,
    Style,
    band,
    bar,
    chart,
    hatched_bar,
    limits,
    line,
    longest,
    marker,
    outline,
)
from dpviz.figures.split import OTHER, PART_STYLES, SpendingStep, Spent, asked_steps, level_title, steps
from dpviz.figures.theme import BLUE, CLEAR, GREEN, NEUTRAL, ORANGE, SOUND, UNSOUND, WHITE, lighter, text_on, translucent
from dpviz.figures.wording import capital, counted, percent
from dpviz.results.verdict import NO_BOUND, ROW, Unit, Verdict, short_text, verdict
from dpviz.results.wording import number_text

AXIS = f"ε ({NEIGHBOURS})"
IN_ALL = "in all"
#: Between pieces of one bar.
_SEAM = {"line": {"color": translucent(WHITE, 0.7), "width": 1}}
#: What a formula has and a sentence has not.
_SIGNS = frozenset("^≥≤·/*")


def spending_chart(plan: BudgetPlan, spent: Spent, claim: Claim, guarantee: PrivacyLoss, unit: Unit = ROW) -> Chart:
    """A bar per part and level, the sum below, and a line at what is claimed."""
    path = steps(plan, spent)
    finite = sum(step.epsilon for step in path if math.isfinite(step.epsilon))
    most = longest((finite, claim.epsilon, guarantee.epsilon))
    levels = list(dict.fromkeys(step.level for step in path))
    places = NAMES | {"categoryorder": "array", "categoryarray": [*levels, IN_ALL]}
    endless = not guarantee.is_finite
    end = (1.6 if endless else 1.2) * most
    along = {"title": AXIS, "range": [0, end]}
    rows = 38 * (len(levels) + 1)
    legend = LEGEND_ABOVE | {"y": 1 + 22 / rows, "traceorder": "normal"}  # above what stands at the line
    layout: Style = {"barmode": "overlay", "bargap": 0.3, "legend": legend, "xaxis": along, "yaxis": places}
    figure = chart(142 + rows, top=52, **layout)
    named: set[str] = set()
    for step in path:
        _add_step(figure, step, most, is_named=step.part in named)
        named.add(step.part)
    _add_total(figure, verdict(claim, guarantee, released=True, unit=unit), guarantee, finite, most)
    if math.isfinite(claim.epsilon):
        figure.add_vline(claim.epsilon, line=line(NEUTRAL, 2, "dash"))
        title = "claimed" if unit.rows == 1 else "claimed, one row"
        side = "right" if claim.epsilon > end / 2 else "left"  # the words stay within a narrow chart
        note = {"yref": "paper", "y": 1, "yanchor": "bottom", "xanchor": side, "showarrow": False}
        figure.add_annotation(x=claim.epsilon, text=f"{title}: {number_text(claim.epsilon)}", **note)
    return Chart(figure, _spending_sentence(plan, spent, claim, guarantee, unit), spending_rows(plan, spent))


def _add_step(figure: Figure, step: SpendingStep, most: float, *, is_named: bool) -> None:
    colour, hatch = PART_STYLES.get(step.part, OTHER)
    endless, value = math.isinf(step.epsilon), number_text(step.epsilon)
    length = most / 4 if endless else step.epsilon
    style = outline(colour) if endless else hatched_bar(colour, hatch) | _SEAM
    drawn = bar(step.level, length, f" {value}", style, inside=not endless and length > most / 14)
    drawn |= {"name": step.part, "legendgroup": step.part, "showlegend": not is_named}
    figure.add_bar(**drawn, base=step.start, hovertemplate=f"{step.part}: ε = {value} ({NEIGHBOURS})<extra></extra>")


def _add_total(figure: Figure, said: Verdict, guarantee: PrivacyLoss, finite: float, most: float) -> None:
    """What the steps compose to; hatched where it cannot be relied on."""
    endless, unit = not guarantee.is_finite, said.unit
    colour = SOUND if said.proven.is_finite else UNSOUND
    style = outline(colour) if endless else hatched_bar(colour, "" if said.proven.is_finite else "/")
    length = max(finite, most) * 1.05 if endless else guarantee.epsilon
    words = " ∞: no bound" if endless else f" {number_text(guarantee.epsilon)}"
    is_long = said.proven.is_finite and unit.rows > 1
    if is_long:
        words = f" {escape(unit.words)}: {number_text(said.per_person.epsilon)}; one row:{words}"
    figure.add_bar(
        **bar(IN_ALL, length, words, style, inside=is_long and length > most / 2), name=IN_ALL, showlegend=False, hoverinfo="skip"
    )


def _spending_sentence(plan: BudgetPlan, spent: Spent, claim: Claim, guarantee: PrivacyLoss, unit: Unit = ROW) -> str:
    """The figure in words: what one unit pays, and one row, against what is claimed; the relation is said above it."""
    finite = sum(step.epsilon for step in steps(plan, spent) if math.isfinite(step.epsilon))
    if guarantee.is_finite and verdict(claim, guarantee, released=True).proven == NO_BOUND:
        return f"Nothing bounds what {unit.words} pays: a counterexample refutes the claim. {_claimed(plan, claim, unit)}"
    said = f"{capital(unit.words)} pays {short_text(PrivacyLoss(guarantee.epsilon), unit)} in all"
    if not guarantee.is_finite and finite:
        said += f"; without the exact steps it would pay {number_text(finite)}"
    return f"{said}. {_claimed(plan, claim, unit, guarantee)}"


def _claimed(plan: BudgetPlan, claim: Claim, unit: Unit, said: PrivacyLoss | None = None) -> str:
    """`said`: what was just said that is paid."""
    if not claim.is_private:
        return "Nothing is claimed."
    fate = {"holds": "which holds", "unproven": "which is not proven", "violated": "which is violated"}[claim.verdict]
    grouped = " The paper counts one feature of each kind." if any(share.group for share in plan.shares) else ""
    is_said = said is not None and claim.epsilon == said.epsilon and not unit.is_row
    asked = "the same" if is_said else short_text(PrivacyLoss(claim.epsilon), unit)
    return f"Claimed is {asked}, {fate}.{grouped}"


def spending_rows(plan: BudgetPlan, spent: Spent) -> Rows:
    """The figure as a table."""
    return [{"where": step.level, "for": step.part, AXIS: number_text(step.epsilon)} for step in steps(plan, spent)]


def share_rows(plan: BudgetPlan) -> list[dict[str, Any]]:
    """The plan as a table: one line per share, with who set it. Infinite and whole numbers are written out as text."""
    return [
        {
            "for": share.part,
            "where": level_title(share.level, plan.depth, share.levels),
            "features": share.group or "all features",
            "ε each": number_text(share.epsilon),
            "times a row meets it": share.n_compositions,
            "ε one row pays": number_text(share.composed),
            "set by": share.set_by,
        }
        for share in plan.shares
    ]


def shares_sentence(title: str, plan: BudgetPlan) -> str:
    """What each part gets of epsilon, as PrivaTree counts: once per level, and of features in parallel the numeric ones."""
    parts: dict[str, float] = {}
    for step in asked_steps(plan):
        parts[step.part] = parts.get(step.part, 0.0) + step.epsilon
    said = ", ".join(f"{part} {percent(epsilon / plan.epsilon)}" for part, epsilon in parts.items())
    return f"{title}, by its own count: {said} of ε."


def deciders(plan: BudgetPlan) -> dict[str, tuple[str, ...]]:
    """Who set them, in words -> the parts they set."""
    found: dict[str, dict[str, None]] = {}
    for share in plan.shares:
        who = "set by you" if share.set_by == "you" else "set by a public rule of the algorithm, before any row is read"
        found.setdefault(who, {})[share.part] = None
    return {who: tuple(parts) for who, parts in found.items()}


def plain_notes(plan: BudgetPlan) -> tuple[str, ...]:
    """The notes of the plan that are sentences."""
    return tuple(note for note in plan.notes if not _SIGNS & set(note))


def formulas(plan: BudgetPlan) -> tuple[str, ...]:
    """The rules with their numbers: of the shares, and the notes that are formulas."""
    rules: dict[str, dict[str, None]] = {}
    for share in plan.shares:
        if share.set_by not in ("", "you"):
            rules.setdefault(share.set_by.removeprefix("rule: "), {})[share.part] = None
    of_shares = [f"{', '.join(parts)}: {rule}" for rule, parts in rules.items()]
    return (*of_shares, *(note for note in plan.notes if _SIGNS & set(note)))


# --- rounds of boosting


def rounds_chart(rounds: np.ndarray, epsilons: np.ndarray, delta: float) -> Chart:
    """Composed epsilon over rounds."""
    figure = chart(280, top=36, xaxis={"title": "rounds"}, yaxis={"title": AXIS, "rangemode": "tozero"})
    hover = "%{x} rounds: ε = %{y:.3g}<extra></extra>"
    figure.add_scatter(x=rounds, y=epsilons, mode="lines+markers", line=line(BLUE), hovertemplate=hover)
    half = float(np.interp(rounds[-1] / 2, rounds, epsilons))
    said = (
        f"All {rounds[-1]:,} rounds cost ε = {number_text(float(epsilons[-1]))} at δ = {number_text(delta)} ({NEIGHBOURS}), half "
        f"of them ε = {number_text(half)}: independent noise adds up by squares, so later rounds are cheaper."
    )
    pairs = zip(rounds, epsilons, strict=True)
    return Chart(figure, said, [{"rounds": f"{count:,}", AXIS: number_text(float(epsilon))} for count, epsilon in pairs])


# --- accuracy over shares

#: Shares closer than this count as the same.
SAME = 0.02
#: The scale of accuracy is at least this wide, so that noise does not look like a landscape.
LEAST_SPREAD = 0.05
#: From this relative height on a cell has the full colour.
FULL = 0.93
_CELL = 30


def common_spread(maps: Sequence[ShareMap]) -> float:
    """How much accuracy the scale of maps side by side spans, below the best point of each."""
    return max(LEAST_SPREAD, *(float(np.ptp(found.means)) for found in maps))


def map_chart(found: ShareMap, *, current: Shares | None, spread: float = LEAST_SPREAD) -> Chart:
    """A triangle over three shares, else a line; the automatic choice and `current`, shares set by hand, are marked.

    Accuracy `spread` below the best point has the lightest shade; see `common_spread`. `customdata` of a point is its number.
    """
    draw = _triangle if len(found.movable.parts) == 3 else _line_over_shares
    return Chart(draw(found, current, spread), map_sentence(found), _map_rows(found))


def _triangle(found: ShareMap, current: Shares | None, spread: float) -> Figure:
    """Every cell carries its number, so colour is not the only cue."""
    means = found.means
    heights = np.clip(1 - (means.max() - means) / spread, 0, 1)
    axis = {"tickformat": ".0%", "ticks": "", "tickvals": [0.5], "showgrid": False, "linecolor": NEUTRAL}
    sides = [axis | {"title": f"all {escape(part_title(part))}"} for part in found.movable.parts]
    ternary = {"sum": 1, "bgcolor": CLEAR} | dict(zip(("aaxis", "baxis", "caxis"), sides, strict=True))
    figure = chart(520, top=70, legend=LEGEND_ABOVE, ternary=ternary, clickmode="event+select", dragmode=False)
    figure.update_layout(margin={"l": 50, "r": 50, "b": 50})  # words at the corners
    shades = [BLUE if height >= FULL else lighter(BLUE, 0.08 + 0.6 * float(height)) for height in heights]
    figure.add_scatterternary(
        **_corners(found.points),
        customdata=list(range(len(shades))),
        mode="markers+text",
        marker={"symbol": "hexagon", "size": _CELL, "color": shades, "line": {"width": 0}},
        text=[f"{100 * mean:.{decimals(found)}f}" for mean in means],
        textfont={"size": 11, "color": list(map(text_on, shades))},
        hovertext=[point_words(found, at) for at in range(len(shades))],
        hoverinfo="text",
        showlegend=False,
        unselected={"marker": {"opacity": 1}},
    )
    marks = [("automatic choice", found.movable.automatic, marker(ORANGE, "diamond-open", 24, 3))]
    marks += [("in use", found.points[found.nearest(current)], marker(ORANGE, "circle-open", 34, 3))] if current else []
    for name, shares, style in marks:
        figure.add_scatterternary(**_corners([shares]), mode="markers", marker=style, name=name, hoverinfo="skip")
    return figure


def _corners(points: Sequence[Shares]) -> Style:
    return dict(zip("abc", map(list, zip(*points, strict=True)), strict=True))


def decimals(found: ShareMap) -> int:
    """Of a percentage: one where the draws tell tenths of a point apart, else none."""
    return int(1.96 * float(np.median(np.nan_to_num(found.errors, nan=1.0))) < 0.005)


def scale_text(spread: float) -> str:
    """What the shades mean."""
    return f"Darkest: the best point of its map; lightest: {100 * spread:.0f} points or more below it."


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


def _map_rows(found: ShareMap) -> Rows:
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


def _line_places(movable: MovableShares) -> tuple[tuple[float, ...], str]:
    """(x of each point, what x is) when the map is a line: the first share in percent, or the growth factor."""
    if len(movable.parts) == 2:
        return tuple(100 * point[0] for point in movable.points), f"share of ε for {part_title(movable.parts[0])}, %"
    return GROWTHS, "each level gets this many times the share of the level above"


def _line_over_shares(found: ShareMap, current: Shares | None, spread: float) -> Figure:
    """Mean training accuracy with its 95% band along two shares or the growth factor; automatic and current choice marked."""
    x, title = _line_places(found.movable)
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


def gains_chart(movable: MovableShares, gains: Sequence[StepGain]) -> Chart:
    """What one step more of each share buys: a dot with its 95% interval around no change."""
    across = {"title": "change of training accuracy, points", "zeroline": False}
    figure = chart(90 + 46 * len(gains), showlegend=False, xaxis=across, yaxis=NAMES)
    for item in gains:
        colour, symbol = _MARKS[item.kind]
        between = limits([100 * (item.high - item.gain)], [100 * (item.gain - item.low)], colour)
        look = {"mode": "markers", "marker": marker(colour, symbol), "hovertemplate": f"{_gain_words(item)}<extra></extra>"}
        figure.add_scatter(x=[100 * item.gain], y=[part_title(item.part)], error_x=between, **look)
    figure.add_vline(0, line=line(NEUTRAL, 1.5, "dot"))
    return Chart(figure, _gains_sentence(gains), _gain_rows(movable, gains))


def _gain_words(item: StepGain) -> str:
    """As in "leaves: +0.8 points (95%: +0.2 to +1.4)"."""
    low, gain, high = (f"{100 * value:+.1f}" for value in (item.low, item.gain, item.high))
    return f"{part_title(item.part)}: {gain} points (95%: {low} to {high})"


def _gains_sentence(gains: Sequence[StepGain]) -> str:
    """All steps in words."""
    step = f"One step more, {100 / STEPS:.0f}% of ε ({NEIGHBOURS}) moved there from the other shares"
    better = [part_title(item.part) for item in gains if item.kind == "gain"]
    verdict = f"It pays for {' and '.join(better)}." if better else "No step is shown to help."
    return f"{step}: {'; '.join(map(_gain_words, gains))}. {verdict}"


def _gain_rows(movable: MovableShares, gains: Sequence[StepGain]) -> Rows:
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
