"""Where epsilon went: one row's way down the tree, level below level, from what it pays first to what it has paid in all.

Every bar begins where the one above ends, so the last one is what the steps compose to, beside a line at what is claimed. Parts
differ by colour *and* hatching; what is infinite is an open, hatched bar with ∞ and words.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.accounting.plan import BudgetPlan
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Figure, Rows, Style, bar, chart, filled, line, longest, open_ended
from dpviz.figures.guarantee_text import number_text, verdict
from dpviz.figures.theme import BLUE, MAUVE, NEUTRAL, ORANGE, SOUND, TEAL, UNSOUND, WHITE, translucent

AXIS = f"ε ({NEIGHBOURS})"
IN_ALL = "in all"
#: Part -> (colour, hatching).
PART_STYLES = {
    "quantile": (MAUVE, "/"),
    "median": (MAUVE, ""),
    "node": (BLUE, ""),
    "node, numeric": (BLUE, ""),
    "node, categorical": (BLUE, "\\"),
    "node and leaf": (TEAL, "x"),
    "leaf": (ORANGE, "."),
    "tree": (NEUTRAL, "\\"),
    "initial score": (MAUVE, "x"),
    "count": (MAUVE, "."),
}
_OTHER = (NEUTRAL, "\\")
#: Between pieces of one bar.
_SEAM = {"line": {"color": translucent(WHITE, 0.7), "width": 1}}
Spent = Mapping[tuple[str, int | None], float]
#: What a formula has and a sentence has not.
_SIGNS = frozenset("^≥≤·/*")


@dataclass(frozen=True, slots=True)
class Step:
    """What one row pays for one part at one level: `start` is what it has paid before, `epsilon` may be infinite."""

    level: str
    part: str
    start: float
    epsilon: float


def steps(plan: BudgetPlan, spent: Spent) -> tuple[Step, ...]:
    """The costliest path from top to bottom; what is infinite counts nothing towards the starts below it."""
    found, paid = [], 0.0
    deepest = any(level is not None for _, level in spent)
    for (part, level), epsilon in sorted(spent.items(), key=lambda entry: -1 if entry[0][1] is None else entry[0][1]):
        if epsilon:
            found.append(Step(_level_title(level, plan.depth) if deepest else "all", part, paid, epsilon))
            paid += epsilon if math.isfinite(epsilon) else 0.0
    return tuple(found)


def _level_title(level: int | None, depth: int) -> str:
    if level is None:
        return "before the tree"
    names = {0: "root", depth: "leaves"}
    return names.get(level, f"depth {level}")


def spending_figure(plan: BudgetPlan, spent: Spent, claim: Claim, guarantee: PrivacyLoss) -> Figure:
    """A bar per part and level, the sum below, and a line at what is claimed."""
    path = steps(plan, spent)
    finite = sum(step.epsilon for step in path if math.isfinite(step.epsilon))
    most = longest((finite, claim.epsilon, guarantee.epsilon))
    levels = list(dict.fromkeys(step.level for step in path))
    places = NAMES | {"categoryorder": "array", "categoryarray": [*levels, IN_ALL]}
    endless = not guarantee.is_finite
    along = {"title": AXIS, "range": [0, (1.6 if endless else 1.2) * most]}
    legend = LEGEND_ABOVE | {"y": 1.0, "traceorder": "normal"}
    layout: Style = {"barmode": "overlay", "bargap": 0.3, "legend": legend, "xaxis": along, "yaxis": places}
    figure = chart(120 + 38 * (len(levels) + 1), top=30, **layout)
    named: set[str] = set()
    for step in path:
        _add_step(figure, step, most, is_named=step.part in named)
        named.add(step.part)
    _add_total(figure, claim, guarantee, finite, most)
    if math.isfinite(claim.epsilon):
        figure.add_vline(claim.epsilon, line=line(NEUTRAL, 2, "dash"))
        note = {"yref": "paper", "y": 1, "yanchor": "bottom", "xanchor": "center", "showarrow": False}
        figure.add_annotation(x=claim.epsilon, text=f"claimed: {number_text(claim.epsilon)}", **note)
    return figure


def _add_step(figure: Figure, step: Step, most: float, *, is_named: bool) -> None:
    colour, hatch = PART_STYLES.get(step.part, _OTHER)
    endless, value = math.isinf(step.epsilon), number_text(step.epsilon)
    length = most / 4 if endless else step.epsilon
    style = open_ended(colour) if endless else filled(colour, hatch) | _SEAM
    drawn = bar(step.level, length, f" {value}", style, inside=not endless and length > most / 14)
    drawn |= {"name": step.part, "legendgroup": step.part, "showlegend": not is_named}
    figure.add_bar(**drawn, base=step.start, hovertemplate=f"{step.part}: ε = {value} ({NEIGHBOURS})<extra></extra>")


def _add_total(figure: Figure, claim: Claim, guarantee: PrivacyLoss, finite: float, most: float) -> None:
    """What the steps compose to; hatched where it cannot be relied on."""
    said, endless = verdict(claim, guarantee, released=True), not guarantee.is_finite
    colour = SOUND if said.proven.is_finite else UNSOUND
    style = open_ended(colour) if endless else filled(colour, "" if said.proven.is_finite else "/")
    length = max(finite, most) * 1.05 if endless else guarantee.epsilon
    words = " ∞: no bound" if endless else f" {number_text(guarantee.epsilon)}"
    figure.add_bar(**bar(IN_ALL, length, words, style), name=IN_ALL, showlegend=False, hoverinfo="skip")


def spending_sentence(plan: BudgetPlan, spent: Spent, claim: Claim, guarantee: PrivacyLoss) -> str:
    """The figure in words: what one row pays, against what is claimed."""
    finite = sum(step.epsilon for step in steps(plan, spent) if math.isfinite(step.epsilon))
    said = f"One row pays ε = {number_text(guarantee.epsilon)} in all ({NEIGHBOURS})"
    if not guarantee.is_finite and finite:
        said += f"; without the exact steps it would pay {number_text(finite)}"
    if not claim.is_private:
        return f"{said}. Nothing is claimed."
    fate = {"holds": "which holds", "unproven": "which is not proven", "violated": "which is violated"}[claim.verdict]
    grouped = " The paper counts one feature of each kind." if any(share.group for share in plan.shares) else ""
    return f"{said}. Claimed is ε = {number_text(claim.epsilon)}, {fate}.{grouped}"


def spending_rows(plan: BudgetPlan, spent: Spent) -> Rows:
    """The figure as a table."""
    return [{"where": step.level, "for": step.part, AXIS: number_text(step.epsilon)} for step in steps(plan, spent)]


def share_rows(plan: BudgetPlan) -> list[dict[str, Any]]:
    """The plan as a table: one line per share, with who set it. Infinite and whole numbers are written out as text."""
    return [
        {
            "for": share.part,
            "where": _level_title(share.level, plan.depth),
            "features": share.group or "all features",
            "ε each": number_text(share.epsilon),
            "times a row meets it": share.n_compositions,
            "ε one row pays": number_text(share.composed),
            "set by": share.set_by,
        }
        for share in plan.shares
    ]


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
