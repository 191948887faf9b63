"""Small universes: every data set with at most a few rows over a few kinds of rows.

A data set is a multiset, written as how often each kind of row occurs. Data sets are numbered, so that neighbours and
the rows that reach a node are found by arithmetic.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np

from dpviz.errors import UnsupportedError
from dpviz.evaluation.audit.evidence import BoundLearner, Separation, WorstPair
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, MedianSplit, Node, NumberLeaf, Rule, SubsetRule, Tree
from dpviz.progress import Progress
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema
from dpviz.training.estimate.window import target_cuts
from dpviz.training.growing import Decision, Label, Split, TreeRecipe, rule_of
from dpviz.training.nodes import CountedNode, node_of

#: How often each kind of row occurs.
Counts = tuple[int, ...]


@dataclass(frozen=True)
class Universe:
    """All data sets of at most `max_rows` rows."""

    #: Values of each feature; `numeric` says whether they are numbers 0 .. bins-1 or categories.
    bins: tuple[int, ...]
    n_classes: int = 2  #: 0: the target is a number, at either end of its declared range
    numeric: bool = False
    copies: int = 1  #: Identical columns per feature
    depth: int = 1  #: Depth of the trees
    max_rows: int = 4

    @property
    def title(self) -> str:
        """In words: "2 features of 3 categories, 2 classes, depth 2, up to 4 rows"."""
        sizes = "/".join(map(str, sorted(set(self.bins))))
        kind = "whole numbers" if self.numeric else "categories"
        copied = f" in {self.copies} identical columns each" if self.copies > 1 else ""
        plural = "s" if len(self.bins) > 1 else ""
        count = f"{len(self.bins)} feature{plural} of {sizes} {kind}{copied}"
        target = f"{self.n_classes} classes" if self.n_classes else "a number to predict"
        return f"{count}, {target}, depth {self.depth}, up to {self.max_rows} rows"

    @cached_property
    def schema(self) -> Schema:
        """Declared; n_public is `max_rows`."""
        names = [[name] if self.copies == 1 else [f"{name}{copy + 1}" for copy in range(self.copies)] for name in "abcd"]
        features = [self._feature(name, size) for same, size in zip(names, self.bins, strict=False) for name in same]
        classes = tuple("xyzuvw"[: self.n_classes])
        target = ClassTarget("class", classes) if self.n_classes else NumericTarget("number", 0, 1)
        return Schema(tuple(features), target, n_public=self.max_rows)

    def _feature(self, name: str, size: int) -> Feature:
        if self.numeric:
            return NumericFeature(name, 0, size - 1, whole=True)
        return CategoricalFeature(name, tuple(f"{name}={value}" for value in range(size)))

    @cached_property
    def kinds(self) -> EncodedDataset:
        """One row of every kind: identical columns agree, all else occurs."""
        rows = np.array(list(product(*map(range, (*self.bins, self.n_classes or 2)))))
        dtype = np.int32 if self.numeric else np.uint8
        columns = tuple(rows[:, f].astype(dtype) for f in range(len(self.bins)) for _ in range(self.copies))
        return EncodedDataset(self.schema, columns, rows[:, -1].astype(np.uint8 if self.n_classes else np.float64))

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each kind occurs in each data set: int64 of shape (n_sets, n_kinds), in the order of `keys`."""
        n_kinds = self.kinds.n_rows
        sets = [chosen for size in range(self.max_rows + 1) for chosen in combinations_with_replacement(range(n_kinds), size)]
        counts = np.array([np.bincount(np.array(chosen, dtype=np.int64), minlength=n_kinds) for chosen in sets])
        return counts[np.argsort(counts @ self._radix)]

    @cached_property
    def _radix(self) -> np.ndarray:
        return (self.max_rows + 1) ** np.arange(self.kinds.n_rows, dtype=np.int64)

    @cached_property
    def keys(self) -> np.ndarray:
        """A number per data set, increasing."""
        return self.counts @ self._radix

    @cached_property
    def plus_one(self) -> np.ndarray:
        """Number of the data set with one more row of a kind, shape (n_sets, n_kinds); -1 where it would be too large."""
        grown = np.searchsorted(self.keys, self.keys[:, None] + self._radix[None, :])
        grown[self.counts.sum(axis=1) == self.max_rows] = -1
        return grown

    @property
    def starts(self) -> list[tuple[Counts, int]]:
        """Of every pair of neighbours the smaller data set, as counts, and the kind of the row that is added."""
        smaller, kinds = np.nonzero(self.plus_one >= 0)
        return list(zip(map(tuple, self.counts[smaller].tolist()), kinds.tolist(), strict=True))

    def part(self, kinds: np.ndarray) -> np.ndarray:
        """Number of each data set restricted to some kinds (bool of shape (n_kinds,)), shape (n_sets,)."""
        return np.searchsorted(self.keys, (self.counts * kinds) @ self._radix)

    def dataset(self, index: int) -> EncodedDataset:
        """Data set number `index`."""
        return self.kinds.take(_row_numbers(self.counts[index]), share=1.0)


# --- The exact law of what a learner releases, and the search for the output that tells two neighbouring data sets apart best.

# For a learner that grows one tree, the probability of a tree is the product over its nodes, and what happens at a node depends
# only on the rows that reach it (checked: prepared on these rows alone, the learner must do the same). So it is enough to know
# what it does with each small multiset of rows at each level. Any other learner is listed whole: its outcomes are models.
#
# For neighbours D and D + row, the log ratio of a tree is the sum of the log ratios of the decisions on the path of that row:
# elsewhere the same rows meet the same law. So the largest ratio over all trees is found from node to node, remembered by
# multiset, kind of the added row and level, without listing trees. Where noise was cut off, probabilities are bounds and the
# ratio is a certified lower bound: ln p_D(o) - ln(p_D'(o) + cut).
#
# Source: this project.

#: Runs of a whole learner that are listed at most, all data sets of a universe together.
MAX_RUNS = 60_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """One thing a level can release."""

    #: For every subtree that the next level decides, from left to right, which kinds of rows reach it: bool of shape (n_kinds,).
    open: tuple[np.ndarray, ...]
    #: What is released, by the subtrees that follow; of a learner listed whole the model's body.
    complete: Callable[[Sequence[Node]], Node | dict[str, Any]]
    depth: int = 1  #: How many levels of the tree are decided


class Law(NamedTuple):
    """Of each outcome of a level that can occur, its number and probability; and the probability that was cut off."""

    numbers: np.ndarray
    chances: np.ndarray
    cut: float


class NodeLaws:
    """What a planned learner does with each multiset of some kinds of rows (one row of each in `kinds`), level by level."""

    def __init__(
        self,
        planned: BoundLearner,
        kinds: EncodedDataset,
        *,
        max_runs: float = MAX_RUNS,
        tick: Progress = lambda share: None,
        expected: int = 1,
    ) -> None:
        self.planned, self.kinds = planned, kinds
        self._max_runs, self._tick, self._expected = max_runs, tick, expected
        self._source = Enumeration()
        self._medians = _searched_medians(kinds)
        self._shared = planned.prepare(kinds, self._source) if planned.request.spec.prepare is not None else None
        self._alone: dict[Counts, TreeRecipe] = {}
        self._pair: tuple[Counts, ...] = ()  # two data sets that are searched alone
        self._clear()

    def _clear(self) -> None:
        self.outcomes: list[list[Outcome]] = []
        self._numbers: list[dict[Any, int]] = []
        self._laws: dict[tuple[Counts, int], Law] = {}
        self._best: dict[tuple[Counts, int, int], tuple[float, float]] = {}
        self._tables: dict[int, np.ndarray] = {}
        self._same: set[tuple[Counts, int]] = set()

    def dataset(self, counts: Counts) -> EncodedDataset:
        """The rows of a multiset."""
        return self.kinds.take(_row_numbers(counts), share=1.0)

    def law(self, counts: Counts, level: int) -> Law:
        """What the level does with these rows. Raises UnsupportedError."""
        if (counts, level) not in self._laws:
            self._tick(min(1.0, len(self._laws) / self._expected))
            chances, cut = self._list_outcomes(counts, level)
            numbers = np.array([self._number(key, level) for key in chances], dtype=np.int64)
            self._laws[counts, level] = Law(numbers, np.array(list(chances.values())), max(0.0, cut))
        return self._laws[counts, level]

    def table(self, data_sets: np.ndarray, level: int) -> np.ndarray:
        """ln of the probability of each outcome (columns) on all data sets (counts). UnsupportedError where some is cut off."""
        if level in self._tables:
            return self._tables[level]
        laws = [self.law(tuple(counts.tolist()), level) for counts in data_sets]
        if any(law.cut for law in laws):
            raise UnsupportedError("The growing of this tree is known up to bounds only.", remedy="Use a universe of categories.")
        chances = np.zeros((len(laws), len(self.outcomes[level])))
        for place, law in enumerate(laws):
            chances[place, law.numbers] = law.chances
        with np.errstate(divide="ignore"):
            self._tables[level] = np.log(chances)
        return self._tables[level]

    def largest(self, starts: Iterable[tuple[Counts, int]]) -> Separation:
        """The output with the largest log ratio, over data sets and the kind of row that is added; of equals the fewest rows."""
        ordered = sorted(starts, key=lambda start: sum(start[0]))
        if len(ordered) == 1:
            self._pair = ordered[0][0], _plus_one(*ordered[0])
        try:
            best = [self.best(*start, 0) for start in ordered]
        except _ReadsOtherRows:  # listed whole, then
            self._shared = None
            self._clear()
            best = [self.best(*start, 0) for start in ordered]
        ratios = np.array(best)
        place, way = np.unravel_index(_ties(ratios).argmax(), ratios.shape)
        (counts, kind), grows = ordered[place], bool(way == 0)
        node, likelier, other = self._follow(counts, kind, 0, grows=grows)
        output = node if isinstance(node, dict) else model_body(Tree(self.kinds.schema, node))
        chances = (math.exp(other), math.exp(likelier)) if grows else (math.exp(likelier), math.exp(other))
        both = (self.dataset(counts), self.dataset(_plus_one(counts, kind)))
        return Separation(float(ratios[place, way]), output, WorstPair.of(*both, chances))

    def best(self, counts: Counts, kind: int, level: int) -> tuple[float, float]:
        """The largest ln P(D + row) - ln P(D) over all subtrees of a node with these rows, and the same the other way round."""
        key = counts, kind, level
        if key not in self._best:
            grows, shrinks = self._ratios(*key)
            self._best[key] = float(grows.max()), float(shrinks.max())
        return self._best[key]

    def _ratios(self, counts: Counts, kind: int, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Log ratio of every outcome and the best that may follow it, both ways."""
        laws = self.law(counts, level), self.law(_plus_one(counts, kind), level)
        (few, few_high), (many, many_high) = (self._bounds(law, level) for law in laws)
        with np.errstate(invalid="ignore"):
            ratios = [
                np.nan_to_num(ratio, nan=-np.inf, posinf=np.inf, neginf=-np.inf) for ratio in (many - few_high, few - many_high)
            ]
        follows = np.zeros((2, len(few)))
        known: dict[bytes, tuple[float, float]] = {}  # many outcomes send the same rows on
        for number in np.flatnonzero(np.isfinite(few) | np.isfinite(many)):
            for part in self.outcomes[level][number].open:
                rows = part.tobytes()
                if rows not in known:
                    below = _part_counts(counts, part)
                    known[rows] = self.best(below, kind, level + 1) if part[kind] else self._check_node(below, level + 1)
                follows[:, number] += known[rows]
        return ratios[0] + follows[0], ratios[1] + follows[1]

    def _check_node(self, counts: Counts, level: int) -> tuple[float, float]:
        """Nothing is gained below a node with the same rows on both sides: raises where its laws, or those below, read others."""
        if (counts, level) not in self._same:
            self._same.add((counts, level))
            for number in self.law(counts, level).numbers:
                for part in self.outcomes[level][number].open:
                    self._check_node(_part_counts(counts, part), level + 1)
        return 0.0, 0.0

    def _bounds(self, law: Law, level: int) -> tuple[np.ndarray, np.ndarray]:
        """ln of bounds on the probability of every outcome of the level."""
        chances = np.zeros(len(self.outcomes[level]))
        chances[law.numbers] = law.chances
        with np.errstate(divide="ignore"):
            return np.log(chances), np.log(chances + law.cut)

    def _follow(self, counts: Counts, kind: int | None, level: int, *, grows: bool) -> tuple[Any, float, float]:
        """(node or model body, ln of its probability where it is likelier, and on the other) with the largest ratio.

        The likeliest one where no row is added: `kind` is None.
        """
        low, high = self._bounds(self.law(counts, level), level)
        if kind is None:
            number = int(low.argmax())
            up = down = float(low[number])
        else:
            ratios = self._ratios(counts, kind, level)[0 if grows else 1]
            more, more_high = self._bounds(self.law(_plus_one(counts, kind), level), level)
            likelier, other = (more, high) if grows else (low, more_high)
            number = int(np.where(_ties(ratios), likelier, -np.inf).argmax())
            up, down = float(likelier[number]), float(other[number])
        outcome, below = self.outcomes[level][number], []
        for part in outcome.open:
            inside = kind if kind is not None and part[kind] else None
            node, more_likely, less_likely = self._follow(_part_counts(counts, part), inside, level + 1, grows=grows)
            below.append(node)
            up, down = up + more_likely, down + less_likely
        return outcome.complete(below), up, down

    def _list_outcomes(self, counts: Counts, level: int) -> tuple[dict[Any, float], float]:
        if self._shared is None:
            return whole_distribution(self.planned, self.dataset(counts), self._source, max_runs=self._max_runs), 0.0
        depth = sum(max(outcome.depth for outcome in outcomes) for outcomes in self.outcomes[:level])
        rows = _row_numbers(counts)
        chances, cut = node_distribution(self._shared, node_of(self._shared.root, rows, depth), self._source)
        for whole in (counts, *self._pair):  # alone, and among the rows of a pair
            if all(few <= many for few, many in zip(counts, whole, strict=True)):
                recipe = self._prepare(whole)
                first = np.cumsum((0, *whole[:-1]))
                own = np.concatenate([start + np.arange(count) for start, count in zip(first, counts, strict=True)])
                if chances != node_distribution(recipe, node_of(recipe.root, own, depth), self._source)[0]:
                    raise _ReadsOtherRows
        return {key: chance for key, chance in chances.items() if chance > 0 and self._is_searched(key)}, cut

    def _prepare(self, counts: Counts) -> TreeRecipe:
        """The learner, prepared on these rows alone."""
        if counts not in self._alone:
            self._alone[counts] = self.planned.prepare(self.dataset(counts), self._source)
        return self._alone[counts]

    def _is_searched(self, key: Any) -> bool:
        return not (isinstance(key, tuple) and isinstance(key[-1], MedianSplit)) or key[-1].median in self._medians

    def _number(self, key: Any, level: int) -> int:
        """Of an outcome among those of its level."""
        if level == len(self.outcomes):
            self.outcomes.append([])
            self._numbers.append({})
        numbers = self._numbers[level]
        if key not in numbers:
            numbers[key] = len(numbers)
            body = self._shared is None
            self.outcomes[level].append(Outcome((), lambda _: json.loads(key)) if body else outcome_of(self.kinds, key))
        return numbers[key]


class _ReadsOtherRows(UnsupportedError):
    """The law at a node depends on rows elsewhere."""

    def __init__(self) -> None:
        super().__init__("What this learner does at a node depends on other rows.", remedy="Audit it by sampling.")


def _row_numbers(counts: Counts | np.ndarray) -> np.ndarray:
    """The number of each kind, as often as it occurs."""
    return np.repeat(np.arange(len(counts)), counts)


def _plus_one(counts: Counts, kind: int) -> Counts:
    return (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])


def _part_counts(counts: Counts, part: np.ndarray) -> Counts:
    return tuple(count if inside else 0 for count, inside in zip(counts, part.tolist(), strict=True))


def _ties(ratios: np.ndarray) -> np.ndarray:
    """True where a ratio is the largest, rounding aside."""
    largest = ratios.max()
    return ratios >= (largest - 1e-12 if np.isfinite(largest) else largest)


def _searched_medians(kinds: EncodedDataset) -> set[float]:
    """Of the cuts between the same two numbers of a universe the middle one: its law is that of the others."""
    if not isinstance(kinds.schema.target, NumericTarget):
        return set()
    cuts = target_cuts(kinds.schema)
    between = np.searchsorted(np.unique(kinds.target), cuts)
    groups = (cuts[between == place] for place in np.unique(between))
    return {float(group[len(group) // 2]) for group in groups}


def whole_distribution(
    planned: BoundLearner, data: EncodedDataset, source: Enumeration, *, max_runs: float = MAX_RUNS
) -> dict[str, float]:
    """Probability of every model body (as JSON) that can be released of `data`; UnsupportedError above `max_runs` paths."""
    listed = source.outcomes(lambda: planned.fit(data, source).model, max_runs=max_runs)
    return _sum_chances((json.dumps(model_body(model)), chance) for model, chance in listed)


def node_distribution(recipe: TreeRecipe, node: CountedNode, source: Enumeration) -> tuple[dict[Any, float], float]:
    """Probability of everything a step can publish at `node`, by `published_part`, and the probability cut off."""
    if recipe.distribution is not None:
        listed, cut = recipe.distribution(node)
    else:
        listed, cut = list(source.outcomes(lambda: recipe.step(node))), 0.0
    return _sum_chances((published_part(node.grid, decision), chance) for decision, chance in listed), cut


def _sum_chances(chances: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    total: dict[Any, float] = {}
    for key, chance in chances:
        total[key] = total.get(key, 0.0) + chance
    return total


@lru_cache(maxsize=4096)  # a universe has few candidates, and asks for each millions of times
def _rule(grid: CandidateGrid, feature: int, index: int) -> Rule:
    return rule_of(grid, feature, index)


def published_part(grid: CandidateGrid, decision: Decision) -> Any:
    """What is published of a decision; equal for indistinguishable decisions."""
    match decision:
        case Label(label):
            return label
        case Split(feature, codes=tuple() as codes):
            return SubsetRule(feature, codes)
        case Split(feature, index, median_split=MedianSplit() as median_split):
            return _rule(grid, feature, index), decision.below is not None, median_split
        case Split(feature, index, below=(left, right)):
            return _rule(grid, feature, index), (published_part(grid, left), published_part(grid, right))
    candidates = grid.features[decision.feature]
    if candidates.thresholds is not None and candidates.starts[decision.index]:
        what = "A split of a number into a range and the rest is not listed."
        raise UnsupportedError(what, remedy="Use a universe of categories.")
    return _rule(grid, decision.feature, decision.index)


def outcome_of(kinds: EncodedDataset, key: Any) -> Outcome:
    """The outcome that `published_part` stands for, and which of `kinds` reach what is still open."""
    match key:
        case int():
            return Outcome((), lambda _: Leaf(key))
        case (rule, True, MedianSplit() as median_split):
            return Outcome(
                (), lambda _: Branch(rule, NumberLeaf(median_split.median), NumberLeaf(median_split.median), median_split)
            )
        case (rule, False, MedianSplit() as median_split):
            return Outcome(_sides(kinds, rule), lambda below: Branch(rule, below[0], below[1], median_split))
        case (rule, (left, right)):
            return _together(kinds, rule, outcome_of(kinds, left), outcome_of(kinds, right))
        case rule:
            return Outcome(_sides(kinds, rule), lambda below: Branch(rule, below[0], below[1]))


def _sides(kinds: EncodedDataset, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    goes_left = rule.goes_left(kinds.columns[rule.feature])
    return goes_left, ~goes_left


def _together(kinds: EncodedDataset, rule: Rule, left: Outcome, right: Outcome) -> Outcome:
    sides = _sides(kinds, rule)
    open_parts = tuple(side & part for side, outcome in zip(sides, (left, right), strict=True) for part in outcome.open)
    cut = len(left.open)

    def complete(below: Sequence[Node]) -> Node:
        return Branch(rule, left.complete(below[:cut]), right.complete(below[cut:]))  # type: ignore[arg-type]

    return Outcome(open_parts, complete, 1 + max(left.depth, right.depth))
