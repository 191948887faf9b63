"""Epsilon per level, as a strip in the margin of a tree's picture: each level's label stands beside its row of cards."""

import math
from collections.abc import Iterator, Mapping

from dpviz.accounting.plan import BudgetPlan
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.tree.layout import Layout

#: Width of the strip, and of the bar of the level that costs most.
STRIP, BAR = 84.0, 62.0


def level_epsilons(plan: BudgetPlan) -> dict[int, float]:
    """Level (root = 0; the leaves stand at the plan's depth) -> epsilon one row pays there. Empty where something is exact.

    Rows that coins keep for the leaves pay nothing above them.
    """
    found: dict[int, float] = {}
    for share in plan.shares:
        level = plan.depth if share.part == "leaf" else share.level
        if level is not None:
            found[level] = found.get(level, 0.0) + share.composed
    for aside in plan.aside:
        if aside.part.startswith("leaf"):
            found[plan.depth] = aside.epsilon
    return found if all(map(math.isfinite, found.values())) else {}


def levels_in_words(plan: BudgetPlan) -> str:
    """As in "ε per level, from the root: 0.4, 0.6; leaves: 1, paid by rows kept for them alone."; empty for none."""
    found = level_epsilons(plan)
    above = ", ".join(number_text(value) for level, value in sorted(found.items()) if level < plan.depth)
    said = f"ε per level, from the root: {above}" if above else ""
    if plan.depth in found:
        kept = any(aside.part.startswith("leaf") for aside in plan.aside)
        at_leaves = f"leaves: {number_text(found[plan.depth])}" + (", paid by rows kept for them alone" if kept else "")
        said = f"{said}; {at_leaves}" if said else f"ε, {at_leaves}"
    return f"{said}." if said else ""


def strip_lines(levels: Mapping[int, float], layout: Layout) -> Iterator[str]:
    """Labels and bars left of the picture, for the levels that stand in rows of their own."""
    rows = {len(placed.path): placed for placed in layout.nodes if not placed.hangs}
    shown = {level: epsilon for level, epsilon in sorted(levels.items()) if level in rows and epsilon > 0}
    most = max(shown.values(), default=0.0)
    for level, epsilon in shown.items():
        placed = rows[level]
        y = placed.y + placed.height / 2
        yield f'<text class="side" x="{8 - STRIP:g}" y="{y - 2:.1f}">ε {number_text(epsilon)}</text>'
        yield f'<rect class="spent" x="{8 - STRIP:g}" y="{y + 5:.1f}" width="{BAR * epsilon / most:.1f}" height="4" rx="2"/>'
