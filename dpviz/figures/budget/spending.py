"""Where epsilon went: one row's way down the tree, level below level, from what it pays first to what it has paid in all.

Every bar begins where the one above ends, so the last one is what the steps compose to, beside a line at what is claimed. Parts
differ by colour *and* hatching; what is infinite is an open, hatched bar with ∞ and words.
"""

import math
from html import escape
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.accounting.plan import BudgetPlan
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Figure, Rows, Style, bar, chart, hatched_bar, line, longest, outline
from dpviz.figures.split import OTHER, PART_STYLES, SpendingStep, Spent, asked_steps, level_title, steps
from dpviz.figures.theme import NEUTRAL, SOUND, UNSOUND, WHITE, translucent
from dpviz.figures.wording import capital, percent
from dpviz.results.verdict import NO_BOUND, ROW, Unit, Verdict, short_text, verdict
from dpviz.results.wording import number_text

AXIS = f"ε ({NEIGHBOURS})"
IN_ALL = "in all"
#: Between pieces of one bar.
_SEAM = {"line": {"color": translucent(WHITE, 0.7), "width": 1}}
#: What a formula has and a sentence has not.
_SIGNS = frozenset("^≥≤·/*")


def spending_figure(plan: BudgetPlan, spent: Spent, claim: Claim, guarantee: PrivacyLoss, unit: Unit = ROW) -> Figure:
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
    return figure


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


def spending_sentence(plan: BudgetPlan, spent: Spent, claim: Claim, guarantee: PrivacyLoss, unit: Unit = ROW) -> str:
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
