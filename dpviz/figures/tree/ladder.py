"""One step of a ladder of epsilons or depths: the tree, wide and narrow, and a strip with the test measure of all draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from dpviz.evaluation.tree.ladder import Rung
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.tree.levels import level_epsilons
from dpviz.figures.tree.pair import Side, pair_sentence, pair_svg
from dpviz.figures.tree.style import tree_css
from dpviz.figures.tree.svg import tree_svg
from dpviz.models.tree import Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.training.exact_trace import exact_trace
from dpviz.training.honest.folding import folded, intervals

HEIGHT, LINE = 54.0, 34.0
#: Space at both ends, in percent of the width; places across are percents, so that text and dots keep their size.
MARGIN = 2.5
#: Fewest units between the ends of the scale, so that differences of chance do not fill it.
LEAST_SPAN = 0.02
#: What is below is drawn at the lower end: R2 has no least value, and one bad draw must not push the others together.
LOWEST = -0.2


@dataclass(frozen=True, eq=False)
class Step:
    """One rung as it is drawn: its value (an epsilon or a depth), both drawings without their style sheet, and the strip.

    `beside` is what the tree is compared with, by name; `shown` and `style` are the tree and how `tree_svg` draws it. `note`
    is what else there is to say.
    """

    value: float
    wide: str
    narrow: str
    score: float
    scores: np.ndarray
    beside: Mapping[str, float]
    shown: Tree
    style: Mapping[str, Any]
    note: str = ""


def step(
    value: float, rung: Rung, complete: Tree, beside: Mapping[str, float], *, rows: EncodedDataset | None, fold: bool
) -> Step:
    """`fold`: as the page shows the tree, folded or complete. `rows`: those that lines may count, None for none."""
    plan = rung.result.plan
    shown = folded(complete, plan) if fold else complete
    bars = intervals(complete, shown, plan)
    widths = None if rows is None else exact_trace(shown, rows).shares(shown)
    style: dict[str, Any] = {"widths": widths, "bars": bars, "fold": fold}
    style |= {"came_back": rung.drawn.coming_back(shown), "n_draws": rung.drawn.n_done}
    drawn: dict[str, Any] = {"selected": None, "title": "Tree", "levels": level_epsilons(plan), **style}
    both = (tree_svg(shown, narrow=narrow, **drawn) for narrow in (False, True))
    wide, narrow = (_without(tree_css(numbers=bool(shown.values)), drawing) for drawing in both)
    return Step(value, wide, narrow, rung.score, rung.scores, beside, shown, style)


def beside_pinned(one: Step, what: str, pinned: Side) -> Step:
    """The step with the pinned tree beside it; `what` as in `step_in_words`."""
    now = Side(f"Now: {what} {number_text(one.value)}", one.shown, dict(one.style))
    both = (pair_svg(pinned, now, selected=None, narrow=narrow) for narrow in (False, True))
    numbers = bool(pinned.tree.values or one.shown.values)
    wide, narrow = (_without(tree_css(numbers=numbers, pair=True), drawing) for drawing in both)
    return replace(one, wide=wide, narrow=narrow, note=pair_sentence(pinned, now))


def _without(sheet: str, drawing: str) -> str:
    """The drawing without its style sheet, which the view has already."""
    return drawing.replace(f"<style>{escape(sheet)}</style>\n", "", 1)


def scale_of(steps: Sequence[Step]) -> tuple[float, float]:
    """The ends of the strip, the same for all steps."""
    known = np.concatenate([[*one.scores, one.score, *one.beside.values()] for one in steps])
    known = np.maximum(known[np.isfinite(known)], LOWEST)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    spare = max(0.0, LEAST_SPAN - (high - low)) / 2
    return low - spare, high + spare


def strip_svg(one: Step, scale: tuple[float, float]) -> str:
    """Dots for the draws, a larger one for the tree on screen, lines for what it is compared with."""
    lines = "".join(_reference(name, value, scale) for name, value in one.beside.items() if np.isfinite(value))
    dots = "".join(_dot("draw", value, 4, scale) for value in one.scores) + _dot("this", one.score, 7, scale)
    base = f'<line class="base" x1="1%" x2="99%" y1="{LINE}" y2="{LINE}"/>'
    box = f'xmlns="http://www.w3.org/2000/svg" width="100%" height="{HEIGHT:.0f}" aria-hidden="true"'
    return f"<svg {box}>{base}{lines}{dots}</svg>"


def step_in_words(one: Step, what: str, measure: str) -> str:
    """What a step shows: the measure of the tree and of the draws, beside what it is compared with.

    `what` the step is a value of: "ε =" or "Depth".
    """
    is_share = measure.endswith("accuracy")

    def said(value: float) -> str:
        return "–" if not np.isfinite(value) else f"{value:.1%}" if is_share else f"{value:.3f}"

    spread = ""
    if len(one.scores):
        spread = f"; {len(one.scores)} fresh draws: {said(one.scores.min())} to {said(one.scores.max())}"
    beside = "".join(f"; {name} {said(value)}" for name, value in one.beside.items())
    return f"{what} {number_text(one.value)}: {measure} {said(one.score)}{spread}{beside}{one.note and f'. {one.note}'}"


def _dot(kind: str, value: float, radius: int, scale: tuple[float, float]) -> str:
    return f'<circle class="{kind}" cx="{_x(value, scale)}" cy="{LINE}" r="{radius}"/>' if np.isfinite(value) else ""


def _reference(name: str, value: float, scale: tuple[float, float]) -> str:
    x = _x(value, scale)
    anchor = "end" if value > sum(scale) / 2 else "start"
    line = f'<line class="reference" x1="{x}" x2="{x}" y1="18" y2="{HEIGHT - 4}"/>'
    return f'{line}<text x="{x}" y="12" text-anchor="{anchor}">{escape(name)}</text>'


def _x(value: float, scale: tuple[float, float]) -> str:
    low, high = scale
    return f"{MARGIN + max(0.0, value - low) / (high - low) * (100 - 2 * MARGIN):.2f}%"
