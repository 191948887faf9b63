"""Epsilon per level, as a strip in the margin of a tree's picture: each level's label stands beside its row of cards."""

import math
from collections.abc import Iterator, Mapping

from dpviz.accounting.plan import BudgetPlan
from dpviz.figures.tree.layout import MARGIN, Layout
from dpviz.results.wording import number_text

#: Width of the strip, and of the bar of the level that costs most.
STRIP, BAR = 84.0, 58.0


def level_epsilons(plan: BudgetPlan) -> dict[tuple[int, int], float]:
    """First and last of the levels that are chosen together -> epsilon one row pays for them. Empty where something is exact.

    The root is level 0; the leaves stand at the plan's depth. Rows held out for the leaves spend nothing above them.
    """
    found: dict[tuple[int, int], float] = {}
    for share in plan.shares:
        level = plan.depth if share.part == "leaf" else share.level
        if level is not None:
            levels = level, level + share.levels - 1
            found[levels] = found.get(levels, 0.0) + share.composed
    for held_out in plan.held_out:
        if held_out.part.startswith("leaf"):
            found[plan.depth, plan.depth] = held_out.epsilon
    return found if all(map(math.isfinite, found.values())) else {}


def levels_in_words(plan: BudgetPlan) -> str:
    """As in "ε per level, from the root: 0.4, 0.6; leaves: 1, paid by rows kept for them alone."; empty for none."""
    found, at_leaves = level_epsilons(plan), (plan.depth, plan.depth)
    above = ", ".join(
        number_text(value) + (f" for {1 + last - first} levels" if last > first else "")
        for (first, last), value in sorted(found.items())
        if first < plan.depth
    )
    said = f"ε per level, from the root: {above}" if above else ""
    if at_leaves in found:
        kept = any(held_out.part.startswith("leaf") for held_out in plan.held_out)
        leaves = f"leaves: {number_text(found[at_leaves])}" + (", paid by rows kept for them alone" if kept else "")
        said = f"{said}; {leaves}" if said else f"ε, {leaves}"
    return f"{said}." if said else ""


def shape_in_words(plan: BudgetPlan) -> str:
    """How deep the public rule lets the tree grow, and which levels it chooses at once: "depth 4, two levels at once"."""
    most = max((1 + last - first for first, last in level_epsilons(plan)), default=1)
    together = f", {['one level', 'two levels'][min(most, 2) - 1]} at once" if plan.depth else ""
    return f"depth {plan.depth}{together}"


def strip_lines(levels: Mapping[tuple[int, int], float], layout: Layout) -> Iterator[str]:
    """Labels and bars left of the picture, for the levels that stand in rows of their own; a bracket per block of levels."""
    rows = {len(placed.path): placed for placed in layout.nodes if not placed.hangs}
    shown = {level: epsilon for level, epsilon in sorted(levels.items()) if level[0] in rows and epsilon > 0}
    most = max(shown.values(), default=0.0)
    for (first, last), epsilon in shown.items():
        top, bottom = rows[first].y, rows[last].bottom if last in rows else layout.height - MARGIN
        y = (top + bottom) / 2 if last > first else rows[first].y + rows[first].height / 2
        yield f'<text class="side" x="{8 - STRIP:g}" y="{y - 2:.1f}">ε {number_text(epsilon)}</text>'
        yield f'<rect class="spent" x="{8 - STRIP:g}" y="{y + 5:.1f}" width="{BAR * epsilon / most:.1f}" height="4" rx="2"/>'
        if last > first:
            yield f'<path class="block" d="M0 {top:.1f}h-6V{bottom:.1f}h6"/>'
