"""Where epsilon went: the split as the paper counts it and as one row pays it, per level, and claimed next to composed.

Parts differ by colour *and* hatching; what is infinite is an open, hatched bar with ∞ and words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, SILENT, Figure, Rows, bar, chart, filled, longest, open_ended
from dpviz.figures.guarantee_text import number_text, verdict
from dpviz.figures.theme import BLUE, MAUVE, NEUTRAL, ORANGE, SOUND, TEAL, UNSOUND, WHITE, translucent

AXIS = f"ε ({NEIGHBOURS})"
PAID = "what one row<br>really pays"
#: Part -> (colour, hatching).
PART_STYLES = {
    "quantile": (MAUVE, "/"),
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


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a bar: `bar` names the bar, `part` what it buys, `epsilon` its length (infinite: drawn open)."""

    bar: str
    part: str
    epsilon: float


def split_segments(plan: BudgetPlan, spent: Spent) -> tuple[Segment, ...]:
    """One bar per group of features as the claim counts it, and a last one with what one row pays."""
    groups = tuple(dict.fromkeys(share.group for share in plan.shares if share.group)) or ("",)
    counted = tuple(
        Segment(_group_title(group), part, epsilon)
        for group in groups
        for part, epsilon in _by_part((s.part, s.epsilon) for s in plan.shares if s.group in ("", group)).items()
    )
    return counted + tuple(Segment(PAID, part, epsilon) for part, epsilon in _paid(plan, spent).items())


def _group_title(group: str) -> str:
    return f"{group} features,<br>as the paper counts" if group else "as planned"


def _by_part(costs: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part, epsilon in costs:
        total[part] = total.get(part, 0.0) + epsilon
    return total


def _paid(plan: BudgetPlan, spent: Spent) -> dict[str, float]:
    """Epsilon per part on the costliest path. With an infinite step no path is the costliest: then the plan, and that step."""
    paid = _by_part((part, epsilon) for (part, _), epsilon in spent.items())
    if all(map(math.isfinite, paid.values())):
        return paid
    endless = {part: epsilon for part, epsilon in paid.items() if math.isinf(epsilon)}
    planned = _by_part((share.part, share.composed) for share in plan.shares)
    return planned | endless


def split_figure(plan: BudgetPlan, spent: Spent) -> Figure:
    """Stacked horizontal bars: leaf, node and quantile shares as counted, and what one row really pays; the sum behind each."""
    segments = split_segments(plan, spent)
    totals, most, endless = _totals(segments), _longest_bar(segments), _endless_parts(segments)
    along = {"title": AXIS, "range": [0, (1.75 if endless else 1.2) * most]}
    figure = _stacked(segments, 90 + 64 * len(totals), horizontal=True, xaxis=along, yaxis=NAMES)
    ends = _by_part((segment.bar, _length(segment.epsilon, most)) for segment in segments)
    words = [f"  ∞ ({endless})" if math.isinf(total) else f"  {number_text(total)}" for total in totals.values()]
    ink = {"mode": "text", "textposition": "middle right", "cliponaxis": False, **SILENT}
    figure.add_scatter(x=list(ends.values()), y=list(ends), text=words, **ink)
    return figure


def _totals(segments: tuple[Segment, ...]) -> dict[str, float]:
    return _by_part((segment.bar, segment.epsilon) for segment in segments)


def _longest_bar(segments: tuple[Segment, ...]) -> float:
    return longest(_totals(tuple(segment for segment in segments if math.isfinite(segment.epsilon))).values())


def _endless_parts(segments: tuple[Segment, ...]) -> str:
    return ", ".join(dict.fromkeys(segment.part for segment in segments if math.isinf(segment.epsilon)))


def _length(epsilon: float, most: float) -> float:
    """How long a piece is drawn: what is infinite as a third of the longest bar, open."""
    return most / 3 if math.isinf(epsilon) else epsilon


def split_sentence(plan: BudgetPlan, spent: Spent) -> str:
    """The split figure in words: alt text, and the line above it."""
    paid = _paid(plan, spent).values()
    said = f"One row pays ε = {number_text(sum(paid))} in all ({NEIGHBOURS})"
    finite = sum(filter(math.isfinite, paid))
    if 0 < finite < sum(paid):
        said += f"; without the exact steps it would pay {number_text(finite)}"
    if any(share.group for share in plan.shares):
        return f"{said}. The paper counts one feature of each kind: {number_text(plan.epsilon)}."
    return f"{said}; {number_text(plan.epsilon)} was planned."


def level_segments(plan: BudgetPlan) -> tuple[Segment, ...]:
    """What one row pays at each depth, before the tree included."""
    return tuple(Segment(_level_title(share.level, plan.depth), _kind(share), share.composed) for share in plan.shares)


def _kind(share: Share) -> str:
    """Part and group: "node, numeric"."""
    return f"{share.part}, {share.group}" if share.part == "node" and share.group else share.part


def _level_title(level: int | None, depth: int) -> str:
    if level is None:
        return "before<br>the tree"
    names = {0: "root", depth: "leaves"}
    return "all" if not depth else names.get(level, f"depth {level}")


def levels_figure(plan: BudgetPlan) -> Figure:
    """Stacked bars by depth: what one row pays at each level of the plan."""
    segments = level_segments(plan)
    order = list(dict.fromkeys(segment.bar for segment in segments))
    places = {"categoryorder": "array", "categoryarray": order, "title": "where in the tree"}
    return _stacked(segments, 320, horizontal=False, xaxis=places, yaxis={"title": AXIS})


def levels_sentence(plan: BudgetPlan) -> str:
    """The level figure in words."""
    totals = _by_part((segment.bar.replace("<br>", " "), segment.epsilon) for segment in level_segments(plan))
    return f"ε one row pays ({NEIGHBOURS}) — " + ", ".join(f"{bar}: {number_text(total)}" for bar, total in totals.items()) + "."


def claim_figure(claim: Claim, guarantee: PrivacyLoss) -> Figure:
    """Two bars: what is claimed, and what the steps compose to. Hatched: the number cannot be relied on."""
    said = verdict(claim, guarantee)
    unproven = not said.proven.is_finite
    rows = (("claimed", claim.epsilon, said.kind != "sound"), ("composed from<br>the steps", guarantee.epsilon, unproven))
    most = longest(epsilon for _, epsilon, _ in rows)
    along = {"title": AXIS, "range": [0, (1.35 if guarantee.is_finite and claim.is_private else 1.75) * most]}
    figure = chart(190, bargap=0.35, showlegend=False, yaxis=NAMES, xaxis=along)
    for name, epsilon, doubtful in rows:
        colour = UNSOUND if doubtful else SOUND
        style = open_ended(colour) if math.isinf(epsilon) else filled(colour, "/" if doubtful else "")
        words = _claim_words(epsilon, claim, name == "claimed")
        figure.add_bar(**bar(name, min(epsilon, 1.3 * most), f" {words}", style), hoverinfo="skip")
    return figure


def _claim_words(epsilon: float, claim: Claim, is_claim: bool) -> str:
    if math.isinf(epsilon):
        return "∞: nothing is claimed" if is_claim else "∞: no bound"
    note = {"violated": ": violated", "unproven": ": unproven"}.get(claim.verdict, "") if is_claim else ""
    return number_text(epsilon) + note


def _stacked(segments: tuple[Segment, ...], height: int, *, horizontal: bool, **layout: Any) -> Figure:
    legend = LEGEND_ABOVE | {"y": 1.0, "traceorder": "normal"}
    figure = chart(height, barmode="stack", bargap=0.35, legend=legend, **layout)
    most = _longest_bar(segments)
    named: set[str] = set()
    for segment in segments:
        colour, hatch = PART_STYLES.get(segment.part, _OTHER)
        endless, length = math.isinf(segment.epsilon), _length(segment.epsilon, most)
        style = open_ended(colour) if endless else filled(colour, hatch) | _SEAM
        value = number_text(segment.epsilon)
        words = value if not endless and length > most / 14 else ""
        figure.add_bar(
            **bar(segment.bar, length, words, style, horizontal=horizontal, inside=True),
            name=segment.part,
            legendgroup=segment.part,
            showlegend=segment.part not in named,
            hovertemplate=f"{segment.part}: ε = {value} ({NEIGHBOURS})<extra></extra>",
        )
        named.add(segment.part)
    return figure


def share_rows(plan: BudgetPlan) -> list[dict[str, Any]]:
    """The plan as a table: one line per share, with who set it. Infinite and whole numbers are written out as text."""
    return [
        {
            "for": share.part,
            "where": _level_title(share.level, plan.depth).replace("<br>", " "),
            "features": share.group or "all features",
            "ε each": number_text(share.epsilon),
            "times a row meets it": share.n_compositions,
            "ε one row pays": number_text(share.composed),
            "set by": share.set_by,
        }
        for share in plan.shares
    ]


def claim_rows(claim: Claim, guarantee: PrivacyLoss) -> Rows:
    """Claimed and composed as a table."""
    return [
        {"epsilon": "claimed", AXIS: number_text(claim.epsilon), "from": claim.source, "verdict": claim.verdict},
        {"epsilon": "composed", AXIS: number_text(guarantee.epsilon), "from": "adding up the steps", "verdict": ""},
    ]


def claim_sentence(claim: Claim, guarantee: PrivacyLoss) -> str:
    """The claim figure in words, and why the two differ."""
    said = f"ε = {number_text(claim.epsilon)} is claimed ({claim.verdict})"
    claimed = said if claim.is_private else "Nothing is claimed"
    return f"{claimed}; the steps compose to ε = {number_text(guarantee.epsilon)} ({NEIGHBOURS}). {claim.because}"


def split_rows(plan: BudgetPlan, spent: Spent) -> Rows:
    """The split as a table: one line per piece of a bar."""
    return [
        {"bar": segment.bar.replace("<br>", " "), "for": segment.part, AXIS: number_text(segment.epsilon)}
        for segment in split_segments(plan, spent)
    ]


def deciders(plan: BudgetPlan) -> dict[str, tuple[str, ...]]:
    """Who set it -> the parts they set."""
    found: dict[str, dict[str, None]] = {}
    for share in plan.shares:
        found.setdefault(share.set_by or "the learner", {})[share.part] = None
    return {who: tuple(parts) for who, parts in found.items()}
