"""PF-tree, ours and the default: one level by itself is a permute-and-flip (PF), two together are an exponential mechanism.

A tree of public depth, whose levels are chosen two at a time: one private choice among *all* trees of two levels, by the
exponential mechanism, which factorises (`dpviz/privacy/two_levels.py`). Blocks above choose by impurity; the last one chooses two
splits below the root *together with their labels*, or one label for a whole child, by correct rows and impurity in a convex
combination (`dpviz/training/two_levels.py`), so the leaves cost nothing extra. A tree of odd depth begins with one level by
itself: one permute-and-flip by impurity, or for depth 1 by correct rows, together with both labels. Candidates come from the
schema alone. Pure epsilon-DP; discloses nothing, as it has no stopping rule.

Where a schema has too many candidates for pairs of them to be counted, or with `lookahead` 1, every level is chosen by itself.
For a numeric target every node releases a private cut, and one selection parts what lies below it from what lies above
(`dpviz/training/median_splits.py`); leaves get values from sums (`dpviz/training/estimate/leaf_means.py`).

Rows assigned at random do not grow the tree: the leaves' counts and a test come from these, with all of epsilon too (`leaves`;
see `dpviz/training/growing.py`).

Source: this project; utilities and what one row changes in `dpviz/training/two_levels.py` and `dpviz/training/scores.py`. On
which tables constants were chosen: `docs/project/tuning.md`.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.events import NO_STEP, BoundedRange, Cost, Event, Parallel, PureDP, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, HeldOutPart, Share
from dpviz.errors import ParameterError
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import NoiseSource, Output
from dpviz.privacy.two_levels import DepthTwoTree, TwoLevelChoice
from dpviz.table.candidates import CandidateGrid, multiscale_grid
from dpviz.table.schema import ClassTarget, NumericTarget, Schema
from dpviz.training.contract import FitByGrowing, LearnerSpec, always_claims, n_public_of
from dpviz.training.counted_rows import Rows, counter_of
from dpviz.training.estimate.leaf_means import LEAF_SUMS, WINDOW_PART
from dpviz.training.estimate.report import TEST
from dpviz.training.estimate.window import target_cuts
from dpviz.training.growing import LEAF_COUNTS, Decision, Label, Split, TreeRecipe
from dpviz.training.median_splits import MedianSplitter, places_of, rank_units
from dpviz.training.nodes import CountedNode
from dpviz.training.params import Settings, choice, per_class, share_weights
from dpviz.training.scores import (
    SCALE,
    Weighing,
    best_correct_rows,
    impurity_utilities,
    labelled_utilities,
    locate_labelled,
    require_scorable,
)
from dpviz.training.two_levels import TreeScore, fit_into_memory, locate_below

NAME = "pf-tree"
#: Parts of the rows held out at random for the counts of honest leaves (at least, at most), and for a test of these.
MIN_COUNTS_SHARE, MAX_COUNTS_SHARE, TEST_SHARE = 0.1, 0.15, 0.05
#: Rows times epsilon up to which noise hides the counts of leaves, and correct rows alone choose the last block.
FEW_ROWS_TIMES_EPSILON = 1000
#: For a number: the part of the rows for the sums of leaves.
SUM_SHARE = 0.3
#: Part of a level's share that buys the medians of a numeric target: at the root, where sums are centred on it, and below.
ROOT_MEDIAN_PART, MEDIAN_PART = 0.3, 0.2
LEVEL_GROWTH = 1.4
#: Of the depth: for levels chosen one by one, and two at a time.
DEPTH_CONSTANT, BLOCK_CONSTANT = 8.0, 16.0
#: What the rule for levels chosen two at a time may answer.
_DEPTHS = (1, 2, 3, *range(4, 13, 2))
#: A tree of more levels is cut down to so many before its levels are chosen one by one for want of memory.
MIN_CUT_DEPTH = 4
#: Where rows times epsilon are many, so much of the last block's utility is correct rows, the rest is impurity.
MIN_CORRECT_SHARE = 0.5
#: With more classes, the last level chooses the split first and labels the leaves afterwards (a public rule).
MAX_JOINT_CLASSES = 5
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
        "Honest: some rows are held out at random; the leaves' noisy counts, probabilities and a test come from these.",
    )
    lookahead: str = choice(
        ("auto", "2", "1"),
        "Levels chosen together",
        "2: one private choice for two levels, among all trees of that depth. 1: one for every node. Auto: 2, unless the schema "
        "has too many candidates.",
    )
    class_weights: tuple[float, ...] | None = per_class(
        "Class weights",
        "What a mistake about a row of each class costs. Splits and labels follow it; probabilities stay those of the rows.",
    )
    level_shares: tuple[float, ...] | None = share_weights(
        "Share of epsilon per level", "Weights from the root down. Deeper nodes hold fewer rows and need more."
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Depth by the public rule, shares proportional to 1.4^level or as given; levels chosen together pay the sum of theirs."""
    grid = multiscale_grid(schema)
    is_number = isinstance(schema.target, NumericTarget)
    if is_number:
        _require_of_numbers(params)
    elif params.class_weights and len(params.class_weights) != len(schema.classes):
        raise ParameterError(NAME, "class_weights", params.class_weights, f"{len(schema.classes)} numbers, one per class")
    together, why_one = _levels_together(schema, grid, settings, params)
    depth, notes = _depth(schema, settings, grid, together)
    weights = params.level_shares or tuple(LEVEL_GROWTH**level for level in range(depth))
    if len(weights) != depth:
        raise ParameterError(NAME, "level_shares", weights, f"{depth} numbers, one per level of the tree")
    held_out = _held_out(schema, settings, params)
    set_by = "you" if params.level_shares else f"rule: {LEVEL_GROWTH:g}^level"
    first = depth % together  # what is left over stands first
    choices = [*([(0, first)] if first else []), *((level, together) for level in range(first, depth, together))]
    parts = [
        (part, level, levels, share * sum(weights[level : level + levels]))
        for level, levels in choices
        for part, share in _parts(level, levels, depth, is_number)
    ]
    epsilons = split_budget(settings.epsilon, tuple(weight for *_, weight in parts))
    shares = (
        Share(part, level, eps, set_by=set_by, levels=levels, costs=_costs(part, eps, schema))
        for (part, level, levels, _), eps in zip(parts, epsilons, strict=True)
    )
    notes = (*notes, *why_one)
    for one in held_out:
        kept = f"{one.share:.0%} of the rows are held out at random for {_KEPT_FOR[one.part]}."
        who = "They pay all of ε" if schema.rows_per_person > 1 else f"Such a row pays ε = {one.epsilon:g}"
        notes = (*notes, f"{kept} {who} there and nothing elsewhere.")
    return BudgetPlan(settings.epsilon, depth, tuple(shares), notes, held_out=held_out)


def _costs(part: str, epsilon: float, schema: Schema) -> tuple[Cost, ...]:
    """Of one choice: the exponential mechanism or permute-and-flip, with another for the labels of many classes."""
    kind = BoundedRange if part.startswith("two levels") else PureDP
    if not part.endswith("leaf") or len(schema.classes) <= MAX_JOINT_CLASSES:
        return (kind(epsilon),)
    for_labels, for_splits = split_budget(epsilon, (1 - SPLIT_PART, SPLIT_PART))
    return kind(for_splits), PureDP(for_labels)


def _levels_together(schema: Schema, grid: CandidateGrid, settings: Settings, params: Params) -> tuple[int, tuple[str, ...]]:
    """(1 or 2, why it is 1 if nobody asked for that). Uses no data."""
    if params.lookahead == "1" or isinstance(schema.target, NumericTarget):
        return 1, ()
    depth = settings.fixed_or_max_depth
    if settings.depth == "auto" and schema.n_public is not None:
        most = min(depth, MIN_CUT_DEPTH)
        depth = auto_depth_of_blocks(schema.n_public, grid.n_candidates, settings.epsilon, most, len(schema.classes))
    if fit_into_memory(grid, len(schema.classes), depth):
        return 2, ()
    if params.lookahead == "2":
        raise ParameterError(NAME, "lookahead", 2, f"'auto' or 1 for {grid.n_candidates:,} candidates: they have too many pairs")
    return 1, (f"Every level is chosen by itself: {grid.n_candidates:,} candidates have too many pairs.",)


def _require_of_numbers(params: Params) -> None:
    if params.class_weights:
        raise ParameterError(NAME, "class_weights", params.class_weights, "None for a target that is a number")
    if params.leaves != "honest":
        raise ParameterError(NAME, "leaves", params.leaves, "'honest' for a target that is a number: its leaves have no labels")
    if params.lookahead == "2":
        raise ParameterError(NAME, "lookahead", 2, "'auto' or 1 for a target that is a number")


def _held_out(schema: Schema, settings: Settings, params: Params) -> tuple[HeldOutPart, ...]:
    """Rows that do not grow the tree. They spend all of epsilon too: a random assignment parts them from the rows that do."""
    if isinstance(schema.target, NumericTarget):
        leaves, usual, sums = (LEAF_SUMS, SUM_SHARE), TEST_SHARE, split_budget(settings.epsilon, (WINDOW_PART, 1 - WINDOW_PART))
    else:
        honest = params.leaves == "honest"
        leaves, usual = (LEAF_COUNTS, honest * counted_share(schema.n_public, settings.epsilon)), TEST_SHARE * honest
        sums = ()
    test_share = usual if settings.test_share is None else settings.test_share
    parts = (*leaves, sums), (TEST, test_share, ())
    return tuple(HeldOutPart(part, share, settings.epsilon, parts=paid) for part, share, paid in parts if share)


_KEPT_FOR = {LEAF_COUNTS: "the counts of the leaves", LEAF_SUMS: "the values of the leaves", TEST: "a test"}


def counted_share(n_public: int | None, epsilon: float) -> float:
    """The part of the rows that is counted in leaves: 10% from n_public * epsilon = 1000 on, up to 15% below. Uses no data.

    There noise hides the counts: more rows make better probabilities and a closer test, and cost little accuracy. Without a
    declared row count 10%.
    """
    wanted = MIN_COUNTS_SHARE * math.sqrt(FEW_ROWS_TIMES_EPSILON / (n_public * epsilon)) if n_public else MIN_COUNTS_SHARE
    return round(min(max(wanted, MIN_COUNTS_SHARE), MAX_COUNTS_SHARE), 2)


def _parts(level: int, levels: int, depth: int, is_number: bool) -> tuple[tuple[str, float], ...]:
    """What a choice pays for, and the part of its share."""
    if is_number:
        median = MEDIAN_PART if level else ROOT_MEDIAN_PART
        return ("median", median), ("node", 1 - median)
    what = "node" if levels == 1 else "two levels"
    return ((f"{what} and leaf" if level + levels == depth else what, 1.0),)


def _depth(schema: Schema, settings: Settings, grid: CandidateGrid, together: int) -> tuple[int, tuple[str, ...]]:
    """The depth, and notes that say why."""
    if settings.depth != "auto":
        return int(settings.depth), (f"Depth {settings.depth} was set by you.",)
    n_public = n_public_of(schema, NAME, "give the depth as a number (depth=3)")
    n_classes = len(schema.classes) if isinstance(schema.target, ClassTarget) else 2
    most, n_candidates = settings.max_depth, grid.n_candidates
    while together == 2 and most > MIN_CUT_DEPTH and not fit_into_memory(grid, n_classes, most):
        most -= 1
    asked = n_public, n_candidates, settings.epsilon, most, n_classes
    depth = auto_depth(*asked) if together == 1 else auto_depth_of_blocks(*asked)
    rule = "n/2^(k-1) ≥ {:g}·ln({})·k/ε" if together == 1 else "n·ε ≥ {:g}·ln({})·(k-1)^2"
    formula = rule.format(DEPTH_CONSTANT if together == 1 else BLOCK_CONSTANT, n_candidates)
    beyond = ", beyond 4 two levels at a time for nine times as much," if together == 2 and most > 4 else ""
    at_least = f"; at least {_levels_to_name(n_classes)}, for a leaf per class" if n_classes > 2 else ""
    rows = schema.rows_per_person
    count = f"{n_public:,}" if rows == 1 else f"{n_public:,} rows / {rows:,} per person"
    numbers = f"n = {count} and ε = {settings.epsilon * rows:g}"
    said = f"Depth {depth} of at most {most}: the deepest k with {formula}{beyond} for {numbers}{at_least}."
    deeper = next((k for k in _DEPTHS if depth < k <= settings.max_depth), None)
    if together == 1 or deeper is None:
        return depth, (said,)
    if deeper > most:
        return depth, (said, f"In a deeper tree {n_candidates:,} candidates have too many pairs.")
    enough = _needed_by_blocks(deeper, n_candidates) / n_public
    return depth, (said, f"From ε = {enough * rows:.2g} on the tree has {deeper} levels, and its choices are others.")


def auto_depth(n_public: int, n_candidates: int, epsilon: float, max_depth: int, n_classes: int = 2) -> int:
    """Of levels chosen one by one: the deepest k <= max_depth with n_public / 2^(k-1) >= 8 ln(n_candidates) k / epsilon.

    At least 1, and enough levels for a leaf per class: a shallower tree could not name every class. Uses no data.
    """
    need = DEPTH_CONSTANT * math.log(n_candidates) / epsilon
    deep_enough = (k for k in range(1, max_depth + 1) if n_public / 2 ** (k - 1) >= need * k)
    return max(*deep_enough, 1, min(max_depth, _levels_to_name(n_classes)))


def auto_depth_of_blocks(n_public: int, n_candidates: int, epsilon: float, max_depth: int, n_classes: int = 2) -> int:
    """Of levels chosen two at a time: the deepest k <= max_depth with n_public epsilon >= 16 ln(n_candidates) (k - 1)^2.

    Beyond the fourth, levels come two at a time, and need nine times what those above do: a fifth that is chosen by itself pays
    for no better tree. At least enough levels for a leaf per class. Uses no data.
    """
    deep_enough = (k for k in _DEPTHS if k <= max_depth and n_public * epsilon >= _needed_by_blocks(k, n_candidates))
    return max(*deep_enough, 1, min(max_depth, _levels_to_name(n_classes)))


def _needed_by_blocks(depth: int, n_candidates: int) -> float:
    """Rows times epsilon."""
    return BLOCK_CONSTANT * math.log(n_candidates) * min(depth - 1, 3) ** 2 * 3 ** max(0, depth - 4)


def correct_units(n_public: int | None, epsilon: float) -> int:
    """Of 1,024: how much of the last block's utility is correct rows. All up to n_public * epsilon = 1000, half from 16,000 on.

    Few rows tell best which labels are right; with many, impurity also ranks the rows of one label. Uses no data.
    """
    share = (FEW_ROWS_TIMES_EPSILON / (n_public * epsilon)) ** 0.25 if n_public else MIN_CORRECT_SHARE
    return int(SCALE * min(max(share, MIN_CORRECT_SHARE), 1.0))


def _levels_to_name(n_classes: int) -> int:
    """The least depth whose complete tree has as many leaves as there are classes."""
    return math.ceil(math.log2(n_classes))


def prepare(data: Rows, plan: BudgetPlan, params: Params, source: NoiseSource) -> TreeRecipe:
    """A complete tree of `plan.depth` levels."""
    if isinstance(data.schema.target, NumericTarget):
        return _prepare_numbers(data, plan, source)
    correct, weighing = correct_units(data.schema.n_public, plan.epsilon), Weighing.of(params.class_weights)
    require_scorable(data.n_rows * weighing.largest)
    choosing = _NodeChoices(multiscale_grid(data.schema), weighing, correct, source)
    shares = {share.level: share for share in plan.shares}

    def step(node: CountedNode) -> Decision:
        share = shares[node.level]
        is_last, is_joint = node.level + share.levels == plan.depth, node.n_classes <= MAX_JOINT_CLASSES
        if share.levels == 1:
            decide = (choosing.labelled_split if is_joint else choosing.split_then_labels) if is_last else choosing.split
        else:
            decide = (choosing.labelled_tree if is_joint else choosing.tree_then_labels) if is_last else choosing.tree
        return decide(node, share.epsilon)

    return TreeRecipe(
        counter_of(data).root(choosing.grid), step, kind=lambda level: "pairs" if shares[level].levels == 2 else "bins"
    )


def _prepare_numbers(data: Rows, plan: BudgetPlan, source: NoiseSource) -> TreeRecipe:
    cuts = target_cuts(data.schema)
    target = data.schema.target
    assert isinstance(target, NumericTarget)
    ranks = rank_units(data.schema.n_public, plan.epsilon)
    splitter = MedianSplitter(multiscale_grid(data.schema), cuts, places_of(target, cuts), ranks, source)

    def step(node: CountedNode) -> Decision:
        level = node.level
        return splitter.split(node, plan.of("median", level), plan.of("node", level), ends=level == plan.depth - 1)

    return TreeRecipe(counter_of(data).root(splitter.grid, cuts), step)


@dataclass(frozen=True)
class _NodeChoices:
    """The private choices at one node."""

    grid: CandidateGrid
    weighing: Weighing
    correct: int  #: `correct_units` of a last block
    source: NoiseSource

    def tree(self, node: CountedNode, epsilon: float) -> Split:
        """Two levels, by impurity."""
        chosen = self._two_levels(node, TreeScore(self.weighing), epsilon, "two levels")
        left, right = (Split(*self.grid.locate(below), NO_STEP) for below in chosen.value[1:])
        return Split(*self.grid.locate(chosen.value.root), chosen.event, (left, right))

    def labelled_tree(self, node: CountedNode, epsilon: float) -> Split:
        """Two levels together with their labels, by correct rows and impurity."""
        score = TreeScore(self.weighing, self.correct, self._repeats)
        chosen = self._two_levels(node, score, epsilon, "two levels and leaf")
        sizes = self.grid.n_candidates, node.n_classes, self._repeats
        left, right = (self._labelled(*locate_below(below, *sizes), NO_STEP) for below in chosen.value[1:])
        return Split(*self.grid.locate(chosen.value.root), chosen.event, (left, right))

    def tree_then_labels(self, node: CountedNode, epsilon: float) -> Split:
        """Two levels, by rows of the largest class of every leaf and impurity, then a label for every leaf."""
        for_labels, for_tree = split_budget(epsilon, (1 - SPLIT_PART, SPLIT_PART))
        chosen = self._two_levels(node, TreeScore(self.weighing, self.correct), for_tree, "two levels and leaf")
        feature, index = self.grid.locate(chosen.value.root)
        splits, events = list[Split](), list[Event]()
        sides = node.children(feature, self.grid.features[feature].left_bins(index))
        for side, candidate in zip(sides, chosen.value[1:], strict=True):
            left, total = (self.weighing.counts(counts) for counts in (side.left_counts[candidate], side.class_counts))
            labels, paid = self._labels(left, total, for_labels, node.level)
            splits.append(Split.with_labels(*self.grid.locate(candidate), labels, NO_STEP))
            events += paid
        return Split(feature, index, Sequential((chosen.event, Parallel(tuple(events)))), (splits[0], splits[1]))

    def _two_levels(self, node: CountedNode, score: TreeScore, epsilon: float, part: str) -> Output[DepthTwoTree]:
        choice = TwoLevelChoice(epsilon, score.width)
        return choice.release(score.utilities(node), source=self.source, part=part, level=node.level)

    def split(self, node: CountedNode, epsilon: float) -> Split:
        """By impurity."""
        utilities = node.remember(("impurity", self.weighing.key), lambda: impurity_utilities(*self._counts(node)))
        flip = PermuteAndFlip(epsilon, self.weighing.impurity)
        chosen = flip.release(utilities, source=self.source, part="node", level=node.level)
        return Split(*self.grid.locate(chosen.value), chosen.event)

    def labelled_split(self, node: CountedNode, epsilon: float) -> Decision:
        """Together with its two labels, or one label for everyone, by correct rows."""
        utilities = node.remember(("labelled", self.weighing.key), lambda: labelled_utilities(*self._counts(node), self._repeats))
        chosen = self._by_count(utilities, epsilon, node.level)
        located = locate_labelled(chosen.value, self.grid.n_candidates, node.n_classes, self._repeats)
        return self._labelled(*located, chosen.event)

    @property
    def _repeats(self) -> int:
        return max(1, self.grid.n_candidates // SPLITS_PER_CONSTANT)

    def _labelled(self, candidate: int | None, labels: tuple[int, int], event: Event) -> Label | Split:
        if candidate is None:
            return Label(labels[0], event)
        return Split.with_labels(*self.grid.locate(candidate), labels, event)

    def split_then_labels(self, node: CountedNode, epsilon: float) -> Split:
        """By correct rows, then a label for either side."""
        for_labels, for_split = split_budget(epsilon, (1 - SPLIT_PART, SPLIT_PART))
        left, total = self._counts(node)
        split = self._by_count(best_correct_rows(left, total), for_split, node.level)
        labels, paid = self._labels(left[split.value], total, for_labels, node.level)
        return Split.with_labels(*self.grid.locate(split.value), labels, Sequential((split.event, Parallel(tuple(paid)))))

    def _labels(self, left: np.ndarray, total: np.ndarray, epsilon: float, level: int) -> tuple[tuple[int, int], list[Event]]:
        """A label for either side, and their events."""
        one, other = (self._by_count(counts, epsilon, level) for counts in (left, total - left))
        return (one.value, other.value), [one.event, other.event]

    def _counts(self, node: CountedNode) -> tuple[np.ndarray, np.ndarray]:
        """Weighed class counts of the left child under every candidate, and of the node."""
        return self.weighing.counts(node.left_counts), self.weighing.counts(node.class_counts)

    def _by_count(self, utilities: np.ndarray, epsilon: float, level: int) -> Output[int]:
        flip = PermuteAndFlip(epsilon, self.weighing.count)
        return flip.release(utilities, source=self.source, part="node and leaf", level=level)


LEARNER = LearnerSpec(
    name=NAME,
    title="PF-tree",
    idea="One private choice among all trees of two levels, labels included, then below each of its leaves the next. Numbers are "
    "split at private cuts, level by level.",
    citation="This project",
    plan=plan,
    fit=FitByGrowing(prepare),
    claim=always_claims(
        "this project, see the learner's file",
        "holds",
        "Every block of two levels, or node, is one private choice. Levels add up; no row is in two nodes of a level, and every "
        "row is assigned at random to one part only.",
        evidence="dpviz/training/two_levels.py; dpviz/training/scores.py; Dong, Durfee & Rogers 2020; McKenna & Sheldon 2020",
    ),
    Params=Params,
    task="any",
    default_max_depth=8,
    counts=frozenset({"bins", "pairs", "leaves", "sums"}),
)
