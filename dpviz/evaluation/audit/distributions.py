"""The exact output distribution of a learner on every data set of a universe, level by level.

For a learner that grows one tree, the probability of a tree is the product over its nodes, and what happens at a node depends
only on the rows that reach it (checked: prepared on these rows alone, the learner must do the same). So it is enough to list
what each level does with each small data set. Any other learner is listed whole: one level whose outcomes are models.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.errors import NotEnumerable
from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.evaluation.audit.universe import Universe
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, Node, Rule
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset
from dpviz.training.growing import Decision, Label, LabelledSplit, OrderedSplit, Split, TreeRecipe, rule_of, subset_rule
from dpviz.training.histograms import NodeRows

#: Hears which share of a level is done; may raise Cancelled.
Tick = Callable[[float], None]

#: Runs of a whole learner that are listed at most, all data sets of a universe together.
MOST_RUNS = 60_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """One thing a level can release.

    Attributes
    ----------
    ends : Node, dict or None
        The finished subtree (or, for a learner listed whole, the model's body); None when children follow.
    rule : Rule or None
        The split whose children follow.
    goes_left : ndarray of shape (n_kinds,), bool, or None
    """

    ends: Node | dict[str, Any] | None = None
    rule: Rule | None = None
    goes_left: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class LevelDistribution:
    """What one level does with every data set.

    Attributes
    ----------
    outcomes : list of Outcome
    low, high : ndarray of shape (n_sets, n_outcomes)
        Natural logarithms of bounds on the probability of each outcome; equal where nothing was cut off.
    """

    outcomes: list[Outcome]
    low: np.ndarray
    high: np.ndarray

    @property
    def has_children(self) -> bool:
        """True when some outcome is a split whose children are chosen at the next level."""
        return any(outcome.ends is None for outcome in self.outcomes)


@dataclass
class _Table:
    """Outcomes met so far, and for each data set the probability of each."""

    outcomes: list[Outcome] = field(default_factory=list)
    _number: dict[Any, int] = field(default_factory=dict)
    _rows: list[dict[int, float]] = field(default_factory=list)
    _cut: list[float] = field(default_factory=list)

    def add(self, distribution: dict[Any, float], make: Callable[[Any], Outcome], cut: float) -> None:
        for key in distribution:
            if key not in self._number:
                self._number[key] = len(self.outcomes)
                self.outcomes.append(make(key))
        self._rows.append({self._number[key]: chance for key, chance in distribution.items()})
        self._cut.append(max(0.0, cut))

    def level(self) -> LevelDistribution:
        chances = np.zeros((len(self._rows), len(self.outcomes)))
        for index, row in enumerate(self._rows):
            chances[index, list(row)] = list(row.values())
        with np.errstate(divide="ignore"):
            return LevelDistribution(self.outcomes, np.log(chances), np.log(chances + np.array(self._cut)[:, None]))


def level_distributions(planned: PlannedLearner, universe: Universe, tick: Tick | None = None) -> list[LevelDistribution]:
    """The distribution of each level; one level for a learner that is listed whole. `tick` hears of every data set.

    A learner that grows a tree is listed whole too when its steps depend on more than the rows at the node. Raises NotEnumerable.
    """
    tell = tick or _silent
    if planned.spec.prepare is None:
        return [_whole_distribution(planned, universe, tell)]
    try:
        return _Levels.of(planned, universe, tell).distributions()
    except _ReadsOtherRows:
        return [_whole_distribution(planned, universe, tell)]


def _silent(share: float) -> None:
    pass


class _ReadsOtherRows(Exception):
    """The distribution of a node is not the same whether its rows are all rows or a part of them."""


def _whole_distribution(planned: PlannedLearner, universe: Universe, tick: Tick) -> LevelDistribution:
    table = _Table()
    n_sets = len(universe.keys)
    source = Enumeration()
    for index in range(n_sets):
        tick(index / n_sets)
        distribution = whole_distribution(planned, universe.dataset(index), source, most=MOST_RUNS / n_sets)
        table.add(distribution, lambda text: Outcome(ends=json.loads(text)), 0.0)
    return table.level()


def whole_distribution(
    planned: PlannedLearner, data: EncodedDataset, source: Enumeration, *, most: float = MOST_RUNS
) -> dict[str, float]:
    """Probability of every model body (as JSON) the learner can release on `data`; raises NotEnumerable above `most` paths."""
    distribution: dict[str, float] = {}
    for model, chance in source.outcomes(lambda: planned.fit(data, source).model, most=most):
        body = json.dumps(model_body(model))
        distribution[body] = distribution.get(body, 0.0) + chance
    return distribution


@dataclass(frozen=True)
class _Levels:
    """Lists the decisions of a growing learner at each level, on every data set as the rows of a node."""

    universe: Universe
    source: Enumeration
    shared: TreeRecipe  # prepared on one row of every kind; nodes are parts of it
    own: list[TreeRecipe]  # prepared on each data set
    tick: Tick

    @classmethod
    def of(cls, planned: PlannedLearner, universe: Universe, tick: Tick) -> _Levels:
        source = Enumeration()
        own = [planned.prepare(universe.dataset(index), source) for index in range(len(universe.keys))]
        return cls(universe, source, planned.prepare(universe.kinds, source), own, tick)

    def distributions(self) -> list[LevelDistribution]:
        distributions = [self._distribution(0)]
        while distributions[-1].has_children:
            distributions.append(self._distribution(len(distributions)))
        return distributions

    def _distribution(self, level: int) -> LevelDistribution:
        table = _Table()
        binned = self.shared.root.binned
        for index, own in enumerate(self.own):
            self.tick((level + index / len(self.own)) / (self.universe.depth + 1))
            rows = self.universe.rows(index)
            distribution, cut = node_distribution(self.shared, NodeRows(binned, rows, level), self.source)
            alone, _ = node_distribution(own, NodeRows(own.root.binned, np.arange(len(rows)), level), self.source)
            if distribution != alone:
                raise _ReadsOtherRows
            table.add(distribution, lambda key: outcome_of(self.universe.kinds, key), cut)
        return table.level()


def node_distribution(growth: TreeRecipe, node: NodeRows, source: Enumeration) -> tuple[dict[Any, float], float]:
    """Probability of everything a step can publish at `node`, by `released`, and the mass cut off."""
    if growth.distribution is not None:
        listed, cut = growth.distribution(node)
    else:
        listed, cut = list(source.outcomes(lambda: growth.step(node))), 0.0
    distribution: dict[Any, float] = {}
    for decision, chance in listed:
        key = released(node.binned.grid, decision)
        distribution[key] = distribution.get(key, 0.0) + chance
    return distribution, cut


def released(grid: CandidateGrid, decision: Decision) -> Any:
    """What is published of a decision: equal for decisions that nobody can tell apart."""
    match decision:
        case Label(label, _):
            return label
        case LabelledSplit(feature, index, labels, _):
            return rule_of(grid, feature, index), labels
        case Split(feature, index, _):
            _require_one_rule(grid, feature, index)
            return rule_of(grid, feature, index)
        case OrderedSplit(feature, left_bins, _):
            return subset_rule(feature, left_bins)


def _require_one_rule(grid: CandidateGrid, feature: int, index: int) -> None:
    candidates = grid.features[feature]
    if candidates.thresholds is not None and candidates.starts[index]:
        raise NotEnumerable(
            "A split of a number into a range and the rest is not listed.", remedy="Use a universe of categories."
        )


def outcome_of(kinds: EncodedDataset, key: Any) -> Outcome:
    """The outcome that `released` stands for, and which of `kinds` it sends left."""
    match key:
        case int():
            return Outcome(ends=Leaf(key))
        case (rule, (left, right)):
            return Outcome(ends=Branch(rule, Leaf(left), Leaf(right)))
        case rule:
            return Outcome(rule=rule, goes_left=rule.goes_left(kinds.columns[rule.feature]))
