"""The exact output distribution of a learner on every data set of a universe, level by level.

For a learner that grows one tree, the probability of a tree is the product over its nodes, and what happens at a node depends
only on the rows that reach it (checked: prepared on these rows alone, the learner must do the same). So it is enough to list
what each level does with each small data set. Any other learner is listed whole: one level whose outcomes are models.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any

import numpy as np

from dpviz.errors import NotEnumerable
from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.evaluation.audit.universe import Universe
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, MedianSplit, Node, NumberLeaf, Rule
from dpviz.progress import Progress
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.window import target_cuts
from dpviz.training.growing import (
    Decision,
    Label,
    OrderedSplit,
    Split,
    TreeRecipe,
    rule_of,
    subset_rule,
)
from dpviz.training.nodes import CountedNode, node_of

#: Runs of a whole learner that are listed at most, all data sets of a universe together.
MOST_RUNS = 60_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """One thing a level can release."""

    #: For every subtree that the next level decides, from left to right, which kinds of rows reach it: bool of shape (n_kinds,).
    open: tuple[np.ndarray, ...]
    #: What is released, by the subtrees that follow; of a learner listed whole the model's body.
    complete: Callable[[Sequence[Node]], Node | dict[str, Any]]
    depth: int = 1  #: How many levels of the tree are decided


@dataclass(frozen=True, eq=False)
class Level:
    """What one level does with every data set."""

    outcomes: list[Outcome]
    #: low, high: shape (n_sets, n_outcomes). Natural logarithms of bounds on the probability of each outcome; equal where nothing
    #: was cut off.
    low: np.ndarray
    high: np.ndarray

    @property
    def has_children(self) -> bool:
        """True when some outcome has parts that are chosen at the next level."""
        return any(outcome.open for outcome in self.outcomes)


def level_distributions(planned: PlannedLearner, universe: Universe, tick: Progress = lambda share: None) -> list[Level]:
    """The distribution of each level; one level for a learner that is listed whole. `tick` is called for every data set.

    A learner that grows a tree is listed whole too when its steps depend on more than the rows at the node. Raises NotEnumerable.
    """
    if planned.request.spec.prepare is not None:
        try:
            return _by_level(planned, universe, tick)
        except _ReadsOtherRows:
            pass
    source, n_sets = Enumeration(), len(universe.keys)

    def listed() -> Iterator[tuple[dict[str, float], float]]:
        for index in range(n_sets):
            tick(index / n_sets)
            yield whole_distribution(planned, universe.dataset(index), source, most=MOST_RUNS / n_sets), 0.0

    return [_level(listed(), lambda text: Outcome((), lambda _: json.loads(text)))]


class _ReadsOtherRows(Exception):
    """The distribution at a node depends on rows elsewhere."""


def _level(listed: Iterable[tuple[dict[Any, float], float]], outcome: Callable[[Any], Outcome]) -> Level:
    """A level from the probability of each key, and the probability cut off, on every data set."""
    rows, cut = zip(*listed, strict=True)
    columns: dict[Any, int] = {}
    for key in chain.from_iterable(rows):
        columns.setdefault(key, len(columns))
    chances = np.zeros((len(rows), len(columns)))
    for index, row in enumerate(rows):
        chances[index, [columns[key] for key in row]] = list(row.values())
    with np.errstate(divide="ignore"):
        high = np.log(chances + np.maximum(0.0, cut)[:, None])
        return Level(list(map(outcome, columns)), np.log(chances), high)


def _by_level(planned: PlannedLearner, universe: Universe, tick: Progress) -> list[Level]:
    """What a growing learner decides at each level, on every data set as the rows of a node."""
    source, medians = Enumeration(), searched_medians(universe)
    own = [planned.prepare(universe.dataset(index), source) for index in range(len(universe.keys))]
    shared = planned.prepare(universe.kinds, source)  # on one row of every kind; nodes are parts of it

    def listed(depth: int) -> Iterator[tuple[dict[Any, float], float]]:
        for index, recipe in enumerate(own):
            tick((depth + index / len(own)) / (universe.depth + 1))
            rows = universe.rows(index)
            found, cut = node_distribution(shared, node_of(shared.root, rows, depth), source)
            alone, _ = node_distribution(recipe, node_of(recipe.root, np.arange(len(rows)), depth), source)
            if found != alone:
                raise _ReadsOtherRows
            yield {key: chance for key, chance in found.items() if _is_searched(key, medians)}, cut

    levels: list[Level] = []
    while not levels or levels[-1].has_children:
        depth = sum(level.outcomes[0].depth for level in levels)
        levels.append(_level(listed(depth), partial(outcome_of, universe.kinds)))
    return levels


def searched_medians(universe: Universe) -> set[float]:
    """Of the cuts between the same two numbers of the universe the middle one: its law is that of the others."""
    if not isinstance(universe.schema.target, NumericTarget):
        return set()
    cuts = target_cuts(universe.schema)
    between = np.searchsorted(np.unique(universe.kinds.target), cuts)
    groups = (cuts[between == place] for place in np.unique(between))
    return {float(group[len(group) // 2]) for group in groups}


def _is_searched(key: Any, medians: set[float]) -> bool:
    return not (isinstance(key, tuple) and isinstance(key[-1], MedianSplit)) or key[-1].median in medians


def whole_distribution(
    planned: PlannedLearner, data: EncodedDataset, source: Enumeration, *, most: float = MOST_RUNS
) -> dict[str, float]:
    """Probability of every model body (as JSON) the learner can release on `data`; raises NotEnumerable above `most` paths."""
    listed = source.outcomes(lambda: planned.fit(data, source).model, most=most)
    return _summed((json.dumps(model_body(model)), chance) for model, chance in listed)


def node_distribution(recipe: TreeRecipe, node: CountedNode, source: Enumeration) -> tuple[dict[Any, float], float]:
    """Probability of everything a step can publish at `node`, by `published_part`, and the probability cut off."""
    if recipe.distribution is not None:
        listed, cut = recipe.distribution(node)
    else:
        listed, cut = list(source.outcomes(lambda: recipe.step(node))), 0.0
    return _summed((published_part(node.grid, decision), chance) for decision, chance in listed), cut


def _summed(chances: Iterable[tuple[Any, float]]) -> dict[Any, float]:
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
        case OrderedSplit(feature, left_bins):
            return subset_rule(feature, left_bins)
        case Split(feature, index, median_split=MedianSplit() as median_split):
            return _rule(grid, feature, index), decision.below is not None, median_split
        case Split(feature, index, below=(left, right)):
            return _rule(grid, feature, index), (published_part(grid, left), published_part(grid, right))
    candidates = grid.features[decision.feature]
    if candidates.thresholds is not None and candidates.starts[decision.index]:
        what = "A split of a number into a range and the rest is not listed."
        raise NotEnumerable(what, remedy="Use a universe of categories.")
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
