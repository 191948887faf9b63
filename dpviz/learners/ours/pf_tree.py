"""PF-tree: our own learner, and the default.

A tree of public depth. On every level but the last, one permute-and-flip per node chooses a split by impurity. On the last level
it chooses a split *together with its two labels*, or one label for everyone, by the number of rows classified correctly, so the
leaves cost nothing extra. Candidates come from the schema alone. Pure epsilon-DP; discloses nothing, as it has no stopping rule.

For a numeric target every node releases a private median, and one selection parts what lies below it from what lies above
(`dpviz/training/halving.py`); leaves get values from sums (`dpviz/training/honest/numbers.py`).

Coins keep rows away from growing: the leaves' counts and a test come from these, with all of epsilon too (`leaves`; see
`dpviz/training/honest/leaves.py`).

Source: this project; utilities and their sensitivity in `dpviz/training/scores.py`. The constants 1.4 (level shares), 8 (depth
rule), 8 (weight of one label for everyone), those of `counted_share` and the shares for numbers were chosen on public benchmark
data.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.events import Parallel, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import Aside, BudgetPlan, Share
from dpviz.errors import ParameterError
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import NoiseSource, Released
from dpviz.table.candidates import CandidateGrid, multiscale_grid
from dpviz.table.schema import ClassTarget, NumericTarget, Schema
from dpviz.training.contract import LearnerSpec, always_claims, fit_by_growing, n_public_of
from dpviz.training.counting.contract import Rows
from dpviz.training.counting.in_memory import counted
from dpviz.training.growing import Decision, Label, LabelledSplit, Split, TreeRecipe
from dpviz.training.halving import Halving, target_cuts
from dpviz.training.histograms import CountedNode
from dpviz.training.honest.leaves import LEAF_COUNTS
from dpviz.training.honest.numbers import LEAF_SUMS
from dpviz.training.honest.report import TEST
from dpviz.training.params import Settings, choice, per_class, share_weights
from dpviz.training.scores import Weighing, best_correct_rows, impurity_utilities, labelled_utilities, locate_labelled

NAME = "pf-tree"
#: Parts of the rows that coins keep for the counts of honest leaves (at least, at most), and for a test of these.
LEAST_COUNTED, MOST_COUNTED, TEST_SHARE = 0.1, 0.15, 0.05
#: From this many rows times epsilon on, the least share is counted.
ENOUGH = 1000
#: For a number: the parts of the rows for the sums of leaves, and for a test of these.
SUM_SHARE, NUMBER_TEST_SHARE = 0.25, 0.1
#: Part of a level's share that buys the medians of a numeric target: at the root, where sums are centred on it, and below.
ROOT_MEDIAN_PART, MEDIAN_PART = 0.3, 0.2
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
    """How leaves are made, and level shares (None is the rule)."""

    leaves: str = choice(
        ("honest", "labels"),
        "Leaves",
        "Honest: coins keep some rows away from growing; the leaves' noisy counts, probabilities and a test come from these.",
    )
    class_weights: tuple[float, ...] | None = per_class(
        "Class weights",
        "What a mistake about a row of each class costs. Splits and labels follow it; probabilities stay those of the rows.",
    )
    level_shares: tuple[float, ...] | None = share_weights(
        "Share of epsilon per level", "Weights from the root down. Deeper nodes hold fewer rows and need more."
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Depth by the public rule, shares proportional to 1.4^level or as given."""
    grid = multiscale_grid(schema)
    depth, note = _depth(schema, settings, grid.n_candidates)
    is_number = isinstance(schema.target, NumericTarget)
    _require_of_numbers(params) if is_number else _require_of_classes(schema, params)
    weights = params.level_shares or tuple(LEVEL_GROWTH**level for level in range(depth))
    if len(weights) != depth:
        raise ParameterError(NAME, "level_shares", weights, f"{depth} numbers, one per level of the tree")
    aside = _aside(schema, settings, params)
    set_by = "you" if params.level_shares else f"rule: {LEVEL_GROWTH:g}^level"
    parts = [(part, level, share * weights[level]) for level in range(depth) for part, share in _parts(level, depth, is_number)]
    epsilons = split_budget(settings.epsilon, tuple(weight for *_, weight in parts))
    shares = (Share(part, level, eps, set_by=set_by) for (part, level, _), eps in zip(parts, epsilons, strict=True))
    notes = (note, *map(_aside_note, aside))
    return BudgetPlan(settings.epsilon, depth, tuple(shares), notes, aside=aside)


def _require_of_classes(schema: Schema, params: Params) -> None:
    if params.class_weights and len(params.class_weights) != len(schema.classes):
        raise ParameterError(NAME, "class_weights", params.class_weights, f"{len(schema.classes)} numbers, one per class")


def _require_of_numbers(params: Params) -> None:
    if params.class_weights:
        raise ParameterError(NAME, "class_weights", params.class_weights, "None for a target that is a number")
    if params.leaves != "honest":
        raise ParameterError(NAME, "leaves", params.leaves, "'honest' for a target that is a number: its leaves have no labels")


def _aside(schema: Schema, settings: Settings, params: Params) -> tuple[Aside, ...]:
    """Rows that do not grow the tree. They spend all of epsilon too: coins part them from the rows that do."""
    if isinstance(schema.target, NumericTarget):
        leaves, usual = (LEAF_SUMS, SUM_SHARE), NUMBER_TEST_SHARE
    else:
        honest = params.leaves == "honest"
        leaves, usual = (LEAF_COUNTS, honest * counted_share(schema.n_public, settings.epsilon)), TEST_SHARE * honest
    test_share = usual if settings.test_share is None else settings.test_share
    return tuple(Aside(part, share, settings.epsilon) for part, share in (leaves, (TEST, test_share)) if share)


_KEPT_FOR = {LEAF_COUNTS: "the counts of the leaves", LEAF_SUMS: "the values of the leaves", TEST: "a test"}


def counted_share(n_public: int | None, epsilon: float) -> float:
    """The part of the rows that is counted in leaves: 10% from n_public * epsilon = 1000 on, up to 15% below. Uses no data.

    There noise hides the counts: more rows make better probabilities and a closer test, and cost little accuracy. Without a
    declared row count 10%.
    """
    wanted = LEAST_COUNTED * math.sqrt(ENOUGH / (n_public * epsilon)) if n_public else LEAST_COUNTED
    return round(min(max(wanted, LEAST_COUNTED), MOST_COUNTED), 2)


def _aside_note(aside: Aside) -> str:
    kept = f"Random coins keep {aside.share:.0%} of the rows for {_KEPT_FOR[aside.part]}."
    return f"{kept} Such a row pays ε = {aside.epsilon:g} there and nothing elsewhere."


def _parts(level: int, depth: int, is_number: bool) -> tuple[tuple[str, float], ...]:
    """What a level pays for, and the part of its share."""
    if is_number:
        median = MEDIAN_PART if level else ROOT_MEDIAN_PART
        return ("median", median), ("node", 1 - median)
    return (("node and leaf" if level == depth - 1 else "node", 1.0),)


def _depth(schema: Schema, settings: Settings, n_candidates: int) -> tuple[int, str]:
    if settings.depth != "auto":
        return int(settings.depth), f"Depth {settings.depth} was set by you."
    n_public = n_public_of(schema, NAME, "give the depth as a number (depth=3)")
    n_classes = len(schema.classes) if isinstance(schema.target, ClassTarget) else 2
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


def prepare(data: Rows, plan: BudgetPlan, params: Params, source: NoiseSource) -> TreeRecipe:
    """A complete tree of `plan.depth` levels."""
    if isinstance(data.schema.target, NumericTarget):
        return _prepare_numbers(data, plan, source)
    choosing = _Choosing(multiscale_grid(data.schema), Weighing.of(params.class_weights), source)
    levels = tuple(share.epsilon for share in plan.shares)

    def step(node: CountedNode) -> Decision:
        if node.level < len(levels) - 1:
            return choosing.split(node, levels[node.level])
        if node.n_classes <= MOST_JOINT_CLASSES:
            return choosing.labelled_split(node, levels[-1])
        return choosing.split_then_labels(node, levels[-1])

    return TreeRecipe(counted(data).root(choosing.grid), step)


def _prepare_numbers(data: Rows, plan: BudgetPlan, source: NoiseSource) -> TreeRecipe:
    cuts = target_cuts(data.schema)
    halving = Halving(multiscale_grid(data.schema), cuts, source)

    def step(node: CountedNode) -> Decision:
        level = node.level
        return halving.split(node, plan.of("median", level), plan.of("node", level), ends=level == plan.depth - 1)

    return TreeRecipe(counted(data).banded(cuts).root(halving.grid), step)


@dataclass(frozen=True)
class _Choosing:
    """The private choices at one node."""

    grid: CandidateGrid
    weighing: Weighing
    source: NoiseSource

    def split(self, node: CountedNode, epsilon: float) -> Split:
        """By impurity."""
        utilities = node.remembered(("impurity", self.weighing.key), lambda: impurity_utilities(*self._counts(node)))
        chosen = PermuteAndFlip(epsilon, self.weighing.impurity).release(
            utilities, source=self.source, part="node", level=node.level
        )
        return Split(*self.grid.locate(chosen.value), chosen.event)

    def labelled_split(self, node: CountedNode, epsilon: float) -> Decision:
        """Together with its two labels, or one label for everyone, by correct rows."""
        repeats = max(1, self.grid.n_candidates // SPLITS_PER_CONSTANT)
        utilities = node.remembered(("labelled", self.weighing.key), lambda: labelled_utilities(*self._counts(node), repeats))
        chosen = self._by_count(utilities, epsilon, node)
        candidate, labels = locate_labelled(chosen.value, self.grid.n_candidates, node.n_classes, repeats)
        if candidate is None:
            return Label(labels[0], chosen.event)
        return LabelledSplit(*self.grid.locate(candidate), labels, chosen.event)

    def split_then_labels(self, node: CountedNode, epsilon: float) -> LabelledSplit:
        """By correct rows, then a label for either side."""
        for_labels, for_split = split_budget(epsilon, (1 - SPLIT_PART, SPLIT_PART))
        left, total = self._counts(node)
        split = self._by_count(best_correct_rows(left, total), for_split, node)
        labels = [self._by_count(counts, for_labels, node) for counts in (left[split.value], total - left[split.value])]
        event = Sequential((split.event, Parallel(tuple(label.event for label in labels))))
        return LabelledSplit(*self.grid.locate(split.value), (labels[0].value, labels[1].value), event)

    def _counts(self, node: CountedNode) -> tuple[np.ndarray, np.ndarray]:
        """Weighed class counts of the left child under every candidate, and of the node."""
        return self.weighing.counts(node.left_counts), self.weighing.counts(node.class_counts)

    def _by_count(self, utilities: np.ndarray, epsilon: float, node: CountedNode) -> Released[int]:
        flip = PermuteAndFlip(epsilon, self.weighing.count)
        return flip.release(utilities, source=self.source, part="node and leaf", level=node.level)


LEARNER = LearnerSpec(
    name=NAME,
    title="PF-tree",
    idea="One private choice per node; the last level chooses its labels along with its split. Splits numbers at medians.",
    citation="This project",
    plan=plan,
    fit=fit_by_growing(prepare),
    prepare=prepare,
    claim=always_claims(
        "this project, see the learner's file",
        "holds",
        "Every node is one private choice. Levels add up; no row is in two nodes of a level, and random coins put every row into "
        "one part only.",
        evidence="dpviz/training/scores.py; McKenna & Sheldon 2020",
    ),
    Params=Params,
    task="any",
    tests_itself=True,
    counts_only=True,
)
