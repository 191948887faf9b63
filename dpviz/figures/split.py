"""The split of ε at one look, in HTML: one bar of what every part is asked to cost, and what is really paid.

Where the claim holds, the bar is both. Where it does not, what is asked is only an outline, and what is paid stands below it on
the same scale: what has no bound is an open, hatched piece of one width with ∞ in it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.figures.charts import longest
from dpviz.figures.theme import BLUE, MAUVE, NEUTRAL, ORANGE, PINK, TEAL, UNSOUND
from dpviz.figures.wording import percent
from dpviz.learners import result_verdict
from dpviz.results.result import FitResult
from dpviz.results.verdict import ROW, Unit, bare_text, short_text
from dpviz.results.wording import number_text

STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
#: Part -> (colour, hatching).
PART_STYLES = {
    "quantile": (MAUVE, "/"),
    "median": (MAUVE, ""),
    "node": (BLUE, ""),
    "node, numeric": (BLUE, ""),
    "node, categorical": (BLUE, "\\"),
    "node and leaf": (TEAL, "x"),
    "two levels": (BLUE, "|"),
    "two levels and leaf": (TEAL, "+"),
    "leaf": (ORANGE, "."),
    "tree": (NEUTRAL, "\\"),
    "initial score": (MAUVE, "x"),
    "count": (MAUVE, "."),
    "test": (PINK, "x"),
}
OTHER = (NEUTRAL, "\\")
Spent = Mapping[tuple[str, int | None], float]
#: Width of a piece without a bound, in percent of the bar; all of them together take at most HALF.
OPEN, HALF = 14.0, 50.0
#: A piece narrower than this, in percent, has no number in it.
LEAST_LABELLED = 9.0
FROM_ROWS = "read from the rows"
_NAMES = {
    "node": "levels",
    "node and leaf": "level and leaves",
    "two levels": "two levels at once",
    "two levels and leaf": "two levels and leaves",
    "leaf": "leaves",
}
_NAMES |= {"quantile": "quantiles", "median": "medians", "cut": "cuts", "leaf counts": "leaves", "leaf sums": "leaves"}
_HATCHES = {"/": "up", "\\": "down", "x": "cross", "+": "grid", "|": "bars", ".": "dots"}


@dataclass(frozen=True, slots=True)
class SpendingStep:
    """What one row pays for one part at one level: `start` is what it has paid before, `epsilon` may be infinite."""

    level: str
    part: str
    start: float
    epsilon: float


def steps(plan: BudgetPlan, spent: Spent) -> tuple[SpendingStep, ...]:
    """The costliest path from top to bottom; what is infinite counts nothing towards the starts below it."""
    found, paid = [], 0.0
    levels = {(share.part, share.level): share.levels for share in plan.shares}
    deepest = any(level is not None for _, level in spent)
    for (part, level), epsilon in sorted(spent.items(), key=lambda entry: -1 if entry[0][1] is None else entry[0][1]):
        if epsilon:
            where = level_title(level, plan.depth, levels.get((part, level), 1)) if deepest else "all"
            found.append(SpendingStep(where, part, paid, epsilon))
            paid += epsilon if math.isfinite(epsilon) else 0.0
    return tuple(found)


def asked_steps(plan: BudgetPlan) -> tuple[SpendingStep, ...]:
    """What a plan asks of one row, from top to bottom, as its paper counts.

    Each step as often as a row meets it, or once where that alone makes epsilon; of features in parallel the numeric ones.
    """
    kept = {share.group for share in plan.shares} - {"categorical"} or {"categorical"}
    shares = [share for share in plan.shares if share.group in kept]
    is_composed = sum(share.composed for share in shares) <= plan.epsilon * (1 + 1e-6)
    found, start = [], 0.0
    for share in sorted(shares, key=lambda share: -1 if share.level is None else share.level):
        epsilon = share.composed if is_composed else share.epsilon
        if epsilon:
            found.append(SpendingStep(level_title(share.level, plan.depth, share.levels), share.part, start, epsilon))
            start += epsilon
    return tuple(found)


def level_title(level: int | None, depth: int, levels: int = 1) -> str:
    """Where a step stands: as in "root and depth 1"; `levels` from `level` down."""
    if level is None:
        return "before the tree"
    names = {0: "root", depth: "leaves"}
    first = names.get(level, f"depth {level}")
    return first if levels == 1 else f"{first} and depth {level + 1}" if level == 0 else f"{first} and {level + 1}"


@dataclass(frozen=True, slots=True)
class Split:
    """What one row is asked to pay, part by part, and what it pays.

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
        return longest((_finite(self.asked), _finite(self.paid), *(part.epsilon for part in self.held_out)))


def split_of(result: FitResult) -> Split:
    """The split of a result, from its plan, claim and ledger."""
    plan, claim, said = result.plan, result.claim, result_verdict(result)
    is_sound = claim.is_sound and result.ledger.guarantee.epsilon <= claim.epsilon and not result.disclosures
    paid = steps(plan, result.ledger.spent())
    end = _finite(paid)
    if result.disclosures:
        paid = (*paid, SpendingStep("", FROM_ROWS, end, math.inf))
    elif not is_sound and not said.proven.is_finite and all(math.isfinite(step.epsilon) for step in paid):
        paid = (*paid, SpendingStep("", "what a counterexample shows", end, math.inf))
    asked = asked_steps(plan) if claim.is_private else ()
    held_out = plan.held_out if asked else ()
    return Split(asked, held_out, paid, PrivacyLoss(claim.epsilon, claim.delta), said.proven, is_sound, result.unit)


def _finite(path: Iterable[SpendingStep]) -> float:
    return sum(step.epsilon for step in path if math.isfinite(step.epsilon))


def widths(path: Sequence[SpendingStep], split: Split) -> tuple[float, ...]:
    """Of each piece, in percent of the bar."""
    n_open = sum(math.isinf(step.epsilon) for step in split.paid)
    each = min(OPEN, HALF / max(1, n_open))
    room = 100 - each * (0 if split.is_sound else n_open)
    return tuple(each if math.isinf(step.epsilon) else room * step.epsilon / split.scale for step in path)


def split_html(split: Split) -> str:
    """The bar with its legend; see `STYLE`."""
    return (
        f'<div class="split" role="img" aria-label="{escape(split_sentence(split), quote=True)}">{"".join(_lines(split))}</div>'
    )


def _lines(split: Split) -> Iterator[str]:
    if split.asked:
        name, kind = ("ε", "asked") if split.is_sound else ("asked", "asked unsound")
        rows = "".join(
            f'<div class="bar kept"><i class="{_hatch(part.part)}" style="{_style(part.part, width)}"></i></div>'
            for part in split.held_out
            if (width := 100 * part.epsilon / split.scale)
        )
        yield _line(name, kind, split.asked, split, short_text(split.claimed, split.unit), rows)
    if not split.is_sound:
        end = short_text(split.proven, split.unit) if split.proven.is_finite else "no bound"
        yield _line("paid", "paid unsound", split.paid, split, end)
    yield f'<p class="parts">{"".join(_legend(split))}</p>'


def _line(name: str, kind: str, path: Sequence[SpendingStep], split: Split, end: str, more: str = "") -> str:
    pieces = "".join(_piece(step, width) for step, width in zip(path, widths(path, split), strict=True))
    bars = f'<div class="bars"><div class="bar">{pieces}</div>{more}</div>'
    return f'<div class="line {kind}"><span class="name">{name}</span>{bars}<span class="end">{escape(end)}</span></div>'


def _piece(step: SpendingStep, width: float) -> str:
    is_open = math.isinf(step.epsilon)
    label = "∞" if is_open else number_text(step.epsilon) if width >= LEAST_LABELLED else ""
    title = escape(
        f"{part_name(step.part)}{f', {step.level}' if step.level else ''}: ε = {number_text(step.epsilon)}", quote=True
    )
    kind = "open" if is_open else _hatch(step.part)
    return f'<i class="{kind}" title="{title}" style="{_style(step.part, width)}"><b>{label}</b></i>'


def _look(part: str) -> tuple[str, str]:
    return PART_STYLES.get("leaf" if part_name(part) == "leaves" else part, OTHER)


def _hatch(part: str) -> str:
    return _HATCHES.get(_look(part)[1], "")


def _style(part: str, width: float) -> str:
    colour = UNSOUND if part not in PART_STYLES and part in (FROM_ROWS, "stopping rule", "groups") else _look(part)[0]
    return f"--c:{colour};width:{width:.2f}%"


def part_name(part: str) -> str:
    """What a part is called on screen."""
    return _NAMES.get(part, part)


def _legend(split: Split) -> Iterator[str]:
    """Each part once, with what its steps cost: those that are paid where that is more than what is asked."""
    path = split.asked if split.is_sound else split.paid
    absent = [step for step in split.asked if step.part not in {paid.part for paid in path}]
    parts: dict[str, list[float]] = {}
    for step in (*path, *absent):
        parts.setdefault(step.part, []).append(step.epsilon)
    for part, costs in parts.items():
        yield _key(part, f"{part_name(part)} {costs_text(costs)}")
    for held_out in split.held_out:
        cost = f"{number_text(held_out.epsilon)} (other rows: {percent(held_out.share)})"
        yield _key(held_out.part, f"{part_name(held_out.part)} {cost}")


def _key(part: str, words: str) -> str:
    return f'<span><i class="{_hatch(part)}" style="{_style(part, 0).partition(";")[0]}"></i>{escape(words)}</span>'


def costs_text(costs: Sequence[float]) -> str:
    """As in "0.2 + 0.3", "3 × 0.17"; what is infinite is said once."""
    if any(map(math.isinf, costs)):
        return "∞"
    words = [number_text(cost) for cost in costs]
    if len(words) > 1 and len(set(words)) == 1:
        return f"{len(words)} × {words[0]}"
    return " + ".join(words)


def split_sentence(split: Split) -> str:
    """The bar in words."""
    asked = _said(split.asked)
    held_out = "".join(
        f"; {percent(part.share)} of the rows pay {number_text(part.epsilon)} for {part_name(part.part)} instead"
        for part in split.held_out
    )
    if split.is_sound:
        return f"What {split.unit.words} pays, at most: {asked}{held_out}."
    first = f"Asked: {asked}{held_out}. " if split.asked else ""
    end = bare_text(split.unit.loss_of(split.proven)) if split.proven.is_finite else "no bound"
    return f"{first}Really paid: {_said(split.paid)}: {end}."


def _said(path: Iterable[SpendingStep]) -> str:
    parts: dict[str, list[float]] = {}
    for step in path:
        parts.setdefault(step.part, []).append(step.epsilon)
    return ", ".join(f"{part_name(part)} {costs_text(costs)}" for part, costs in parts.items())
