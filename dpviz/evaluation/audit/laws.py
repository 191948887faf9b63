"""The exact law of a learner on every data set of a universe, level by level.

For a learner that grows one tree, the law of a whole tree is the product of the laws of its nodes, and the law of a node
depends on the rows that reach it only (checked: prepared on these rows alone it must do the same). So it is enough to list
what each level does with each small data set. Any other learner is listed whole: one level whose outcomes are models.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.errors import NotListed
from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.evaluation.audit.question import Question
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
class LevelLaw:
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

    def add(self, law: dict[Any, float], make: Callable[[Any], Outcome], cut: float) -> None:
        for key in law:
            if key not in self._number:
                self._number[key] = len(self.outcomes)
                self.outcomes.append(make(key))
        self._rows.append({self._number[key]: chance for key, chance in law.items()})
        self._cut.append(max(0.0, cut))

    def level(self) -> LevelLaw:
        chances = np.zeros((len(self._rows), len(self.outcomes)))
        for index, row in enumerate(self._rows):
            chances[index, list(row)] = list(row.values())
        with np.errstate(divide="ignore"):
            return LevelLaw(self.outcomes, np.log(chances), np.log(chances + np.array(self._cut)[:, None]))


def level_laws(question: Question, universe: Universe, tick: Tick | None = None) -> list[LevelLaw]:
    """The law of each level; one level for a learner that is listed whole. `tick` hears of every data set.

    A learner that grows a tree is listed whole too when its steps depend on more than the rows at the node. Raises NotListed.
    """
    tell = tick or _silent
    if question.spec.prepare is None:
        return [_whole_law(question, universe, tell)]
    try:
        return _Levels.of(question, universe, tell).laws()
    except _ReadsOtherRows:
        return [_whole_law(question, universe, tell)]


def _silent(share: float) -> None:
    pass


class _ReadsOtherRows(Exception):
    """The law of a node is not the same whether its rows are all rows or a part of them."""


def _whole_law(question: Question, universe: Universe, tick: Tick) -> LevelLaw:
    table = _Table()
    n_sets = len(universe.keys)
    source = Enumeration()
    for index in range(n_sets):
        tick(index / n_sets)
        law = whole_law(question, universe.dataset(index), source, most=MOST_RUNS / n_sets)
        table.add(law, lambda text: Outcome(ends=json.loads(text)), 0.0)
    return table.level()


def whole_law(question: Question, data: EncodedDataset, source: Enumeration, *, most: float = MOST_RUNS) -> dict[str, float]:
    """Probability of every model body (as JSON) the learner can release on `data`; raises NotListed above `most` paths."""
    law: dict[str, float] = {}
    for model, chance in source.outcomes(lambda: question.fit(data, source).model, most=most):
        body = json.dumps(model_body(model))
        law[body] = law.get(body, 0.0) + chance
    return law


@dataclass(frozen=True)
class _Levels:
    """Lists the decisions of a growing learner at each level, on every data set as the rows of a node."""

    universe: Universe
    source: Enumeration
    shared: TreeRecipe  # prepared on one row of every kind; nodes are parts of it
    own: list[TreeRecipe]  # prepared on each data set
    tick: Tick

    @classmethod
    def of(cls, question: Question, universe: Universe, tick: Tick) -> _Levels:
        source = Enumeration()
        own = [question.prepare(universe.dataset(index), source) for index in range(len(universe.keys))]
        return cls(universe, source, question.prepare(universe.kinds, source), own, tick)

    def laws(self) -> list[LevelLaw]:
        laws = [self._law(0)]
        while laws[-1].has_children:
            laws.append(self._law(len(laws)))
        return laws

    def _law(self, level: int) -> LevelLaw:
        table = _Table()
        binned = self.shared.root.binned
        for index, own in enumerate(self.own):
            self.tick((level + index / len(self.own)) / (self.universe.depth + 1))
            rows = self.universe.rows(index)
            law, cut = node_law(self.shared, NodeRows(binned, rows, level), self.source)
            alone, _ = node_law(own, NodeRows(own.root.binned, np.arange(len(rows)), level), self.source)
            if law != alone:
                raise _ReadsOtherRows
            table.add(law, lambda key: outcome_of(self.universe.kinds, key), cut)
        return table.level()


def node_law(growth: TreeRecipe, node: NodeRows, source: Enumeration) -> tuple[dict[Any, float], float]:
    """Probability of everything a step can publish at `node`, by `released`, and the mass cut off."""
    if growth.distribution is not None:
        listed, cut = growth.distribution(node)
    else:
        listed, cut = list(source.outcomes(lambda: growth.step(node))), 0.0
    law: dict[Any, float] = {}
    for decision, chance in listed:
        key = released(node.binned.grid, decision)
        law[key] = law.get(key, 0.0) + chance
    return law, cut


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
        raise NotListed("A split of a number into a range and the rest is not listed.", remedy="Use a universe of categories.")


def outcome_of(kinds: EncodedDataset, key: Any) -> Outcome:
    """The outcome that `released` stands for, and which of `kinds` it sends left."""
    match key:
        case int():
            return Outcome(ends=Leaf(key))
        case (rule, (left, right)):
            return Outcome(ends=Branch(rule, Leaf(left), Leaf(right)))
        case rule:
            return Outcome(rule=rule, goes_left=rule.goes_left(kinds.columns[rule.feature]))
