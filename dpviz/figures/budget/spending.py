"""Where epsilon went: the split as the paper counts it and as one row pays it, per level, and claimed beside composed.

Pure functions of public things and released events -> plotly Figures, with rows for a table and a sentence for people who
do not see them. Parts are told apart by colour *and* hatching; what is infinite is an open, hatched bar with ∞ and words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.figures.guarantee_text import number_text, verdict

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

AXIS = f"ε ({NEIGHBOURS})"
PAID = "what one row<br>really pays"
#: Part -> (colour, hatching). Colours reach 3:1 on light and dark grounds and stay apart for colour-blind eyes.
LOOK = {
    "quantile": ("#b07aa1", "/"),
    "node": ("#2f86c1", ""),
    "node, numeric": ("#2f86c1", ""),
    "node, categorical": ("#2f86c1", "\\"),
    "node and leaf": ("#12a07e", "x"),
    "leaf": ("#d2691e", "."),
    "tree": ("#7d8a8f", "\\"),
    "initial score": ("#b07aa1", "x"),
    "count": ("#b07aa1", "."),
}
_OTHER = ("#7d8a8f", "\\")
_GROUPS = {"": "all features"}
_SILENT: dict[str, Any] = {"showlegend": False, "hoverinfo": "skip", "cliponaxis": False}
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
    """Stacked horizontal bars: leaf, node and quantile shares as counted, and what one row really pays."""
    segments = split_segments(plan, spent)
    figure = _stacked(segments, horizontal=True)
    bars = dict.fromkeys(segment.bar for segment in segments)
    _add_totals(figure, segments)
    along = {"title": AXIS, "range": [0, (1.75 if _endless_parts(segments) else 1.2) * _longest_bar(segments)]}
    figure.update_layout(height=90 + 64 * len(bars), xaxis=along, yaxis={"autorange": "reversed", "title": None})
    return figure


def _add_totals(figure: Figure, segments: tuple[Segment, ...]) -> None:
    """The sum behind each bar, in the page's own ink."""
    totals = _by_part((segment.bar, segment.epsilon) for segment in segments)
    longest = _longest_bar(segments)
    ends = _by_part((segment.bar, _length(segment.epsilon, longest)) for segment in segments)
    words = [f"  ∞ ({_endless_parts(segments)})" if math.isinf(total) else f"  {number_text(total)}" for total in totals.values()]
    figure.add_scatter(x=list(ends.values()), y=list(ends), text=words, mode="text", textposition="middle right", **_SILENT)


def _endless_parts(segments: tuple[Segment, ...]) -> str:
    return ", ".join(dict.fromkeys(segment.part for segment in segments if math.isinf(segment.epsilon)))


def _length(epsilon: float, longest: float) -> float:
    """How long a piece is drawn: what is infinite as a third of the longest bar, open."""
    return longest / 3 if math.isinf(epsilon) else epsilon


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
    figure = _stacked(segments, horizontal=False)
    order = list(dict.fromkeys(segment.bar for segment in segments))
    places = {"categoryorder": "array", "categoryarray": order, "title": "where in the tree"}
    figure.update_layout(height=320, yaxis_title=AXIS, xaxis=places)
    return figure


def levels_sentence(plan: BudgetPlan) -> str:
    """The level figure in words."""
    totals = _by_part((segment.bar.replace("<br>", " "), segment.epsilon) for segment in level_segments(plan))
    return f"ε one row pays ({NEIGHBOURS}) — " + ", ".join(f"{bar}: {number_text(total)}" for bar, total in totals.items()) + "."


def claim_figure(claim: Claim, guarantee: PrivacyLoss) -> Figure:
    """Two bars: what is claimed, and what the steps compose to. Hatched: the number cannot be relied on."""
    said = verdict(claim, guarantee)
    doubtful = not said.proven.is_finite
    rows = (("claimed", claim.epsilon, said.kind != "sound"), ("composed from<br>the steps", guarantee.epsilon, doubtful))
    longest = _longest(epsilon for _, epsilon, _ in rows)
    figure = _empty()
    for name, epsilon, unsafe in rows:
        words = _claim_words(epsilon, claim, name == "claimed")
        figure.add_bar(**_one_bar(name, epsilon, longest, words, unsafe))
    along = {"title": AXIS, "range": [0, (1.35 if guarantee.is_finite and claim.is_private else 1.75) * longest]}
    figure.update_layout(height=190, showlegend=False, yaxis={"autorange": "reversed"}, xaxis=along)
    return figure


def _claim_words(epsilon: float, claim: Claim, is_claim: bool) -> str:
    if math.isinf(epsilon):
        return "∞: nothing is claimed" if is_claim else "∞: no bound"
    note = {"violated": ": violated", "unproven": ": unproven"}.get(claim.verdict, "") if is_claim else ""
    return number_text(epsilon) + note


def _one_bar(name: str, epsilon: float, longest: float, words: str, doubtful: bool) -> dict[str, Any]:
    color = "#c2410c" if doubtful else "#12806a"
    look = _open(color) if math.isinf(epsilon) else _filled(color, "/" if doubtful else "")
    length = 1.3 * longest if math.isinf(epsilon) else epsilon
    return _bar(name, length, f" {words}", "outside", look, horizontal=True) | {"showlegend": False, "hoverinfo": "skip"}


def _stacked(segments: tuple[Segment, ...], *, horizontal: bool) -> Figure:
    figure = _empty()
    longest = _longest_bar(segments)
    named: set[str] = set()
    for segment in segments:
        color, hatch = LOOK.get(segment.part, _OTHER)
        endless, length = math.isinf(segment.epsilon), _length(segment.epsilon, longest)
        words = "" if endless else number_text(segment.epsilon)
        look = _open(color) if endless else _filled(color, hatch)
        bar = _bar(segment.bar, length, words if length > longest / 14 else "", "inside", look, horizontal=horizontal)
        value = "∞" if endless else number_text(segment.epsilon)
        hover = f"{segment.part}: ε = {value} ({NEIGHBOURS})<extra></extra>"
        legend = {"name": segment.part, "legendgroup": segment.part, "showlegend": segment.part not in named}
        figure.add_bar(**bar, **legend, hovertemplate=hover)
        named.add(segment.part)
    return figure


def _empty() -> Figure:
    from plotly.graph_objects import Figure

    figure = Figure()
    figure.update_layout(
        barmode="stack",
        bargap=0.35,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "traceorder": "normal"},
    )
    return figure


def _bar(name: str, length: float, words: str, position: str, look: dict[str, Any], *, horizontal: bool) -> dict[str, Any]:
    ends = {"x": [length], "y": [name], "orientation": "h"} if horizontal else {"x": [name], "y": [length]}
    text = {"text": [words], "textposition": position, "textangle": 0, "insidetextanchor": "middle", "cliponaxis": False}
    return ends | text | {"marker": look}


def _filled(color: str, hatch: str) -> dict[str, Any]:
    pattern = {"shape": hatch, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.45)", "size": 7, "solidity": 0.25}
    return {"color": color, "pattern": pattern, "line": {"color": "rgba(255,255,255,.7)", "width": 1}}


def _open(color: str) -> dict[str, Any]:
    """Only lines: a bar without an end."""
    pattern = {"shape": "/", "fillmode": "replace", "fgcolor": color, "bgcolor": "rgba(0,0,0,0)", "size": 9, "solidity": 0.15}
    return {"color": color, "pattern": pattern, "line": {"color": color, "width": 2}}


def _longest(lengths: Iterable[float]) -> float:
    """The longest finite length; 1 when there is none."""
    return max((length for length in lengths if math.isfinite(length)), default=0.0) or 1.0


def _longest_bar(segments: tuple[Segment, ...]) -> float:
    return _longest(_by_part((s.bar, s.epsilon) for s in segments if math.isfinite(s.epsilon)).values())


def share_rows(plan: BudgetPlan) -> list[dict[str, Any]]:
    """The plan as a table: one line per share, with who set it. Infinite and whole numbers are written out as text."""
    return [_share_row(share, plan.depth) for share in plan.shares]


def _share_row(share: Share, depth: int) -> dict[str, Any]:
    return {
        "for": share.part,
        "where": _level_title(share.level, depth).replace("<br>", " "),
        "features": share.group or _GROUPS[""],
        "ε each": number_text(share.epsilon),
        "times a row meets it": share.n_compositions,
        "ε one row pays": number_text(share.composed),
        "set by": share.set_by,
    }


def claim_rows(claim: Claim, guarantee: PrivacyLoss) -> list[dict[str, str]]:
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


def split_rows(plan: BudgetPlan, spent: Spent) -> list[dict[str, str]]:
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
