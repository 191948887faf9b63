"""Steps of a path of epsilons, fitted and drawn where Streamlit is not: trees, a strip with their measure, and what they say."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.charts.budget import split_html, split_of
from dpviz.charts.theme import fraction_of_range
from dpviz.charts.tree.svg import NodeNotes, draw_tree
from dpviz.charts.wording import capital, r2_text
from dpviz.errors import DpvizError
from dpviz.evaluation.paths import fit_step, has_rare_classes, references
from dpviz.evaluation.repeat import process_local_copy
from dpviz.learners import FitRequest
from dpviz.models.tree import as_tree
from dpviz.results.result import FitResult
from dpviz.results.verdict import ROW, Unit, Verdict, loss_text, times_text
from dpviz.results.wording import number_text
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget
from dpviz.training.estimate.collapse import collapse_leaves, intervals
from dpviz.training.exact_trace import exact_trace

HEIGHT, LINE = 54.0, 29.0
#: Where the label of a constant and that of what else the tree is compared with stand: far enough apart for any two values.
BELOW, ABOVE = 52.0, 12.0
#: Space at both ends, in percent of the width; places across are percents, so that text and dots keep their size.
MARGIN = 2.5
#: Where on the strip what a constant reaches is marked: to its right all that is better, to its left some of what is worse.
CONSTANT_AT = 1 / 3


@dataclass(frozen=True, eq=False)
class DrawnStep:
    """One step as it is drawn: its epsilon, and both drawings without their style sheet.

    `beside` is what the tree is compared with, by name; `guarantee` is what may be said of it, and `guesses` how many of 100
    can be right, both in words; `shape` is what the public rule makes of this epsilon, `split` where epsilon goes.
    """

    value: float
    wide: str
    narrow: str
    score: float
    beside: Mapping[str, float]
    guarantee: Mapping[str, str]
    guesses: str
    shape: str = ""
    split: str = ""


@dataclass(frozen=True)
class PathSteps:
    """What is the same at every step of a path. `fold` draws the folded tree, `unit` is whom the rows protect."""

    train: EncodedDataset
    test: EncodedDataset
    role: DataRole
    fold: bool
    unit: Unit = ROW

    def steps(self, requests: Sequence[tuple[float, FitRequest, int]]) -> list[DrawnStep | DpvizError]:
        """One step, or why the learner refuses it, per (value, request, draws to have room for); the fits share their counts."""
        train = process_local_copy(self.train)
        lines = cache(lambda depth: references(self.train, self.test, max_depth=depth))

        def draw_step(value: float, request: FitRequest, draws: int) -> DrawnStep | DpvizError:
            try:
                result, score = fit_step(request, train, self.test, role=self.role)
            except DpvizError as problem:
                return problem.with_traceback(None)
            beside = lines(request.comparison_depth(train.schema))
            return self._draw_step(value, replace(result, unit=self.unit), score, beside, draws)

        return [draw_step(*request) for request in requests]

    def _draw_step(self, value: float, result: FitResult, score: float, beside: Mapping[str, float], draws: int) -> DrawnStep:
        complete, plan = as_tree(result.model), result.plan
        assert complete is not None
        tree = collapse_leaves(complete, plan) if self.fold else complete
        widths = exact_trace(tree, self.train).shares(tree) if self.role.may_show_rows else {}
        notes = NodeNotes(widths, probabilities=intervals(complete, tree, plan, result.unit.rows), n_draws=draws)
        wide, narrow = (draw_tree(tree, notes, title="Tree", narrow=narrow).embedded() for narrow in (False, True))
        verdict, split = result.verdict(), split_html(split_of(result))
        guarantee, guesses = guarantee_words(verdict), times_text(verdict.right_guesses)
        return DrawnStep(value, wide, narrow, score, beside, guarantee, guesses, shape_in_words(plan), split)


def shape_in_words(plan: BudgetPlan) -> str:
    """How deep the public rule lets the tree grow, and which levels it chooses at once: "depth 4, two levels at once"."""
    most = max((share.levels for share in plan.shares), default=1)
    return f"depth {plan.depth}, {'two levels' if most > 1 else 'one level'} at once" if plan.depth else "depth 0"


#: While epsilon is dragged to where no tree has been trained yet.
PENDING = "ε = {}: let go to train this tree."


def guarantee_words(verdict: Verdict) -> dict[str, str]:
    """Kind and words: "Preview: ε = 1 (add/remove one row). At most 61 of 100 guesses about one row can be right, ..."."""
    if verdict.kind == "would":
        words = f"Preview: {loss_text(verdict.proven, verdict.unit)}"
    else:
        words = verdict.headline
    if verdict.proven.is_finite:
        times = times_text(verdict.right_guesses)
        most = f"At most {times}" if times.isdigit() else capital(times)
        words += f". {most} of 100 guesses about {verdict.unit.words} can be right, 50 by chance"
    return {"kind": verdict.kind, "words": f"{words}."}


def scale_of(constant: float) -> tuple[float, float]:
    """The ends of the strip: the same for all settings of a table, by what a constant reaches there."""
    return (constant - CONSTANT_AT) / (1 - CONSTANT_AT), 1.0


def strip_svg(score: float, scores: Sequence[float] | np.ndarray, references: Mapping[str, float], measure: str) -> str:
    """Dots for the draws, a larger one for the tree on screen, lines for what it is compared with, "constant" among that."""
    scale = scale_of(references["constant"])
    lines = "".join(_reference(name, value, scale, measure) for name, value in references.items() if np.isfinite(value))
    dots = "".join(_dot("draw", value, 4, scale) for value in scores) + _dot("this", score, 7, scale)
    base = f'<line class="base" x1="1%" x2="99%" y1="{LINE}" y2="{LINE}"/>'
    box = f'xmlns="http://www.w3.org/2000/svg" width="100%" height="{HEIGHT:.0f}" aria-hidden="true"'
    return f"<svg {box}>{base}{lines}{dots}</svg>"


def _score_text(value: float, measure: str) -> str:
    """A share in percent, or R²."""
    return "–" if not np.isfinite(value) else f"{value:.1%}" if measure.endswith("accuracy") else r2_text(value)


def headline(score: float, scores: Sequence[float] | np.ndarray, measure: str, tested: str) -> dict[str, str]:
    """The mean of the tree on screen and its reruns, on what, and their range; only the tree's own score without reruns."""
    finite_scores = np.array([value for value in (score, *scores) if np.isfinite(value)])
    if len(finite_scores) < 2:
        return {"lead": _score_text(score, measure), "tested": tested, "spread": ""}
    low, high = _score_text(finite_scores.min(), measure), _score_text(finite_scores.max(), measure)
    lead, tested = _score_text(float(finite_scores.mean()), measure), f"{tested}, mean of {len(finite_scores)} trees"
    return {"lead": lead, "tested": tested, "spread": f"{low} to {high}; this tree among them: {_score_text(score, measure)}"}


def step_in_words(step: DrawnStep, measure: str) -> str:
    """What a step shows: the measure of the tree, beside what it is compared with."""
    words = [f"ε = {number_text(step.value)}: {measure} {_score_text(step.score, measure)}"]
    words += [f"{name} {_score_text(value, measure)}" for name, value in step.beside.items()]
    words.append(f"right guesses of 100, at most: {step.guesses}")
    return "; ".join(filter(None, words))


def measure_of(train: EncodedDataset) -> str:
    """What leads: not accuracy where one class alone makes it look good."""
    if not isinstance(train.schema.target, ClassTarget):
        return "R²"
    return "balanced accuracy" if has_rare_classes(train) else "test accuracy"


def packed_steps(steps: Sequence[DrawnStep], measure: str, tested: str) -> str:
    """Everything the view shows, as gzipped JSON in base 64: the drawings repeat each other. "" without any step.

    The same steps give the same text at any time: what has not changed is not unpacked again. `tested` is empty where the rows
    are made up: then no measure is in it.
    """
    if not steps:
        return ""
    items = []
    for step in steps:
        item: dict[str, Any] = {"value": step.value, "wide": step.wide, "narrow": step.narrow, "said": {}}
        item |= {"guarantee": step.guarantee, "shape": step.shape, "split": step.split}
        if tested:
            item["said"] = headline(step.score, (), measure, f"{tested}, this tree alone")
            item["words"] = step_in_words(step, measure)
            item["strip"] = strip_svg(step.score, (), step.beside, measure)
        items.append(item)
    return base64.b64encode(gzip.compress(json.dumps(items).encode(), 6, mtime=0)).decode()


def _dot(kind: str, value: float, radius: int, scale: tuple[float, float]) -> str:
    return f'<circle class="{kind}" cx="{_x(value, scale)}" cy="{LINE}" r="{radius}"/>' if np.isfinite(value) else ""


def _reference(name: str, value: float, scale: tuple[float, float], measure: str) -> str:
    x = _x(value, scale)
    anchor = ("start", "middle", "end")[min(2, int(float(x[:-1]) * 3 / 100))]  # no label leaves a strip of half as much again
    line = f'<line class="reference" x1="{x}" x2="{x}" y1="{LINE - 12}" y2="{LINE + 12}"/>'
    y = BELOW if name == "constant" else ABOVE
    return f'{line}<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(name)} {_score_text(value, measure)}</text>'


def _x(value: float, scale: tuple[float, float]) -> str:
    return f"{MARGIN + fraction_of_range(value, *scale) * (100 - 2 * MARGIN):.2f}%"
