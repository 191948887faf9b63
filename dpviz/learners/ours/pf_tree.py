"""PF-tree: our own learner, and the default.

A tree of public depth. On every level but the last, one permute-and-flip per node chooses a split by impurity. On the last level
it chooses a split *together with its two labels*, or one label for everyone, by the number of rows classified correctly, so the
leaves cost nothing extra. Candidates come from the schema alone. Pure epsilon-DP; discloses nothing, as it has no stopping rule.

Source: this project; utilities and their sensitivity in `dpviz/training/scores.py`. The constants 1.4 (level shares), 8 (depth
rule) and 8 (weight of one label for everyone) were chosen on public benchmark data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpviz.accounting.events import Parallel, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import ParameterError
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid, multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.contract import LearnerSpec, always_claims, fit_by_growing, n_public_of
from dpviz.training.growing import Decision, Label, LabelledSplit, Split, TreeRecipe
from dpviz.training.histograms import NodeRows, root_rows
from dpviz.training.params import Settings, share_weights
from dpviz.training.scores import IMPURITY, best_correct_rows, impurity_utilities, labelled_utilities, locate_labelled

NAME = "pf-tree"
LEVEL_GROWTH = 1.4
DEPTH_CONSTANT = 8.0
#: With more classes, the last level chooses the split first and labels the leaves afterwards (a public rule).
MOST_JOINT_CLASSES = 5
#: One label for everyone is a candidate once per this many splits; more often would waste weight where classes are balanced.
SPLITS_PER_CONSTANT = 8
#: Part of the last level's share that pays for the split when labels are chosen afterwards.
SPLIT_PART = 0.5


@dataclass(frozen=True, slots=True)
class Params:
    """Level shares; None is the rule."""

    level_shares: tuple[float, ...] | None = share_weights(
        "Share of epsilon per level", "Weights from the root down. Deeper nodes hold fewer rows and need more."
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Depth by the public rule, shares proportional to 1.4^level or as given."""
    grid = multiscale_grid(schema)
    depth, note = _depth(schema, settings, grid.n_candidates)
    weights = params.level_shares or tuple(LEVEL_GROWTH**level for level in range(depth))
    if len(weights) != depth:
        raise ParameterError(NAME, "level_shares", weights, f"{depth} numbers, one per level of the tree")
    set_by = "you" if params.level_shares else f"rule: {LEVEL_GROWTH:g}^level"
    epsilons = split_budget(settings.epsilon, weights)
    shares = (Share(_part(level, depth), level, eps, set_by=set_by) for level, eps in enumerate(epsilons))
    return BudgetPlan(settings.epsilon, depth, tuple(shares), (note,))


def _part(level: int, depth: int) -> str:
    return "node and leaf" if level == depth - 1 else "node"


def _depth(schema: Schema, settings: Settings, n_candidates: int) -> tuple[int, str]:
    if settings.depth != "auto":
        return int(settings.depth), f"Depth {settings.depth} was set by you."
    n_public = n_public_of(schema, NAME, "give the depth as a number (depth=3)")
    n_classes = len(schema.classes)
    depth = auto_depth(n_public, n_candidates, settings.epsilon, settings.max_depth, n_classes)
    at_least = f"; at least {levels_to_name(n_classes)}, for a leaf per class" if n_classes > 2 else ""
    return depth, (
        f"Depth {depth} of at most {settings.max_depth}: the deepest k with "
        f"n/2^(k-1) ≥ {DEPTH_CONSTANT:g}·ln({n_candidates})·k/ε for n = {n_public:,} and ε = {settings.epsilon:g}{at_least}."
    )


def auto_depth(n_public: int, n_candidates: int, epsilon: float, max_depth: int, n_classes: int = 2) -> int:
    """The deepest k <= max_depth with n_public / 2^(k-1) >= 8 ln(n_candidates) k / epsilon. Uses no data.

    At least 1, and enough levels for a leaf per class: a shallower tree could not name every class.
    """
    need = DEPTH_CONSTANT * math.log(n_candidates) / epsilon
    deep_enough = max((k for k in range(1, max_depth + 1) if n_public / 2 ** (k - 1) >= need * k), default=1)
    return max(deep_enough, min(max_depth, levels_to_name(n_classes)))


def levels_to_name(n_classes: int) -> int:
    """The least depth whose complete tree has as many leaves as there are classes."""
    return math.ceil(math.log2(n_classes))


def prepare(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> TreeRecipe:
    """A complete tree of `plan.depth` levels."""
    grid = multiscale_grid(data.schema)
    levels = tuple(share.epsilon for share in plan.shares)

    def step(node: NodeRows) -> Decision:
        if node.level < len(levels) - 1:
            return _choose_split(grid, node, levels[node.level], source)
        if node.binned.n_classes <= MOST_JOINT_CLASSES:
            return _choose_labelled_split(grid, node, levels[-1], source)
        return _choose_split_then_labels(grid, node, levels[-1], source)

    return TreeRecipe(root_rows(data, grid), step)


def _choose_split(grid: CandidateGrid, node: NodeRows, epsilon: float, source: NoiseSource) -> Split:
    left = node.left_counts
    utilities = impurity_utilities(left, node.class_counts)
    chosen = PermuteAndFlip(epsilon, IMPURITY).release(utilities, source=source, part="node", level=node.level)
    return Split(*grid.locate(chosen.value), chosen.event)


def _choose_labelled_split(grid: CandidateGrid, node: NodeRows, epsilon: float, source: NoiseSource) -> Decision:
    repeats = max(1, grid.n_candidates // SPLITS_PER_CONSTANT)
    utilities = labelled_utilities(node.left_counts, node.class_counts, repeats)
    chosen = PermuteAndFlip(epsilon, COUNT).release(utilities, source=source, part="node and leaf", level=node.level)
    candidate, labels = locate_labelled(chosen.value, grid.n_candidates, node.binned.n_classes, repeats)
    if candidate is None:
        return Label(labels[0], chosen.event)
    return LabelledSplit(*grid.locate(candidate), labels, chosen.event)


def _choose_split_then_labels(grid: CandidateGrid, node: NodeRows, epsilon: float, source: NoiseSource) -> LabelledSplit:
    for_labels, for_split = split_budget(epsilon, (1 - SPLIT_PART, SPLIT_PART))
    left = node.left_counts
    split = PermuteAndFlip(for_split, COUNT).release(
        best_correct_rows(left, node.class_counts), source=source, part="node and leaf", level=node.level
    )
    labels = [
        PermuteAndFlip(for_labels, COUNT).release(counts, source=source, part="node and leaf", level=node.level)
        for counts in (left[split.value], node.class_counts - left[split.value])
    ]
    event = Sequential((split.event, Parallel(tuple(label.event for label in labels))))
    return LabelledSplit(*grid.locate(split.value), (labels[0].value, labels[1].value), event)


LEARNER = LearnerSpec(
    name=NAME,
    title="PF-tree",
    idea="One private choice per node; the last level chooses its labels along with its split.",
    citation="This project",
    plan=plan,
    fit=fit_by_growing(prepare),
    prepare=prepare,
    claim=always_claims(
        "this project, see the learner's file",
        "holds",
        "Every step is one permute-and-flip; levels add up, nodes of a level hold disjoint rows.",
    ),
    Params=Params,
)
