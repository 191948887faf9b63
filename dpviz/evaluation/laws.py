"""The exact law of a learner on every data set of a universe, level by level.

For a learner that grows one tree, the law of a whole tree is the product of the laws of its nodes, and the law of a node
depends on the rows that reach it only. So it is enough to list what each level does with each small data set. Any other
learner is listed whole: one level whose outcomes are models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import Cancelled, NotListed
from dpviz.evaluation.enumeration import Enumeration
from dpviz.evaluation.universe import Universe
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, Node, Rule
from dpviz.training.contract import LearnerSpec
from dpviz.training.growing import Decision, Growth, Label, LabelledSplit, OrderedSplit, Split, rule_of, subset_rule
from dpviz.training.histograms import NodeRows

Stop = Callable[[], bool]


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

    def add(self, law: Iterable[tuple[Any, Callable[[], Outcome], float]], cut: float) -> None:
        row: dict[int, float] = {}
        for key, make, chance in law:
            if key not in self._number:
                self._number[key] = len(self.outcomes)
                self.outcomes.append(make())
            number = self._number[key]
            row[number] = row.get(number, 0.0) + chance
        self._rows.append(row)
        self._cut.append(max(0.0, cut))

    def level(self) -> LevelLaw:
        chances = np.zeros((len(self._rows), len(self.outcomes)))
        for index, row in enumerate(self._rows):
            chances[index, list(row)] = list(row.values())
        with np.errstate(divide="ignore"):
            return LevelLaw(self.outcomes, np.log(chances), np.log(chances + np.array(self._cut)[:, None]))


def level_laws(
    spec: LearnerSpec, plan: BudgetPlan, params: Any, universe: Universe, stop: Stop | None = None
) -> list[LevelLaw]:
    """The law of each level; one level for a learner that is listed whole. Raises Cancelled, DpvizError."""
    source = Enumeration()
    if spec.prepare is None:
        return [_whole_law(spec, plan, params, universe, source, stop)]
    growth = spec.prepare(universe.kinds, plan, params, source)
    if any(True for _ in growth.before):
        raise NotListed(
            "What this learner does before growing depends on the rows and cannot be listed.",
            remedy="Use a universe of categories.",
        )
    laws = [_node_law(growth, universe, source, 0, stop)]
    while laws[-1].has_children:
        laws.append(_node_law(growth, universe, source, len(laws), stop))
    return laws


def _whole_law(
    spec: LearnerSpec, plan: BudgetPlan, params: Any, universe: Universe, source: Enumeration, stop: Stop | None
) -> LevelLaw:
    table = _Table()
    for index in range(len(universe.keys)):
        _check(stop)
        data = universe.dataset(index)
        models = source.outcomes(lambda data=data: model_body(spec.fit(data, plan, params, source).model))  # type: ignore[misc]
        table.add(((repr(body), lambda body=body: Outcome(ends=body), chance) for body, chance in models), 0.0)  # type: ignore[misc]
    return table.level()


def _node_law(growth: Growth, universe: Universe, source: Enumeration, level: int, stop: Stop | None) -> LevelLaw:
    table = _Table()
    binned = growth.root.binned
    for index in range(len(universe.keys)):
        _check(stop)
        node = NodeRows(binned, universe.rows(index), level)
        decisions, cut = _decisions(growth, node, source)
        table.add(((_key(d), lambda d=d: _outcome(binned.grid, universe, d), chance) for d, chance in decisions), cut)  # type: ignore[misc]
    return table.level()


def _check(stop: Stop | None) -> None:
    if stop is not None and stop():
        raise Cancelled


def _decisions(growth: Growth, node: NodeRows, source: Enumeration) -> tuple[Iterable[tuple[Decision, float]], float]:
    if growth.law is not None:
        return growth.law(node)
    return source.outcomes(lambda: growth.step(node)), 0.0


def _key(decision: Decision) -> Any:
    """Equal for decisions that release the same."""
    match decision:
        case Label(label, _):
            return label
        case LabelledSplit(feature, index, labels, _):
            return feature, index, labels
        case Split(feature, index, _):
            return feature, index
        case OrderedSplit(feature, left_bins, _):
            return feature, left_bins.tobytes()


def _outcome(grid: Any, universe: Universe, decision: Decision) -> Outcome:
    match decision:
        case Label(label, _):
            return Outcome(ends=Leaf(label))
        case LabelledSplit(feature, index, (left, right), _):
            return Outcome(ends=Branch(rule_of(grid, feature, index), Leaf(left), Leaf(right)))
        case Split(feature, index, _):
            return _split(universe, rule_of(grid, feature, index))
        case OrderedSplit(feature, left_bins, _):
            return _split(universe, subset_rule(feature, left_bins))


def _split(universe: Universe, rule: Rule) -> Outcome:
    return Outcome(rule=rule, goes_left=rule.goes_left(universe.kinds.columns[rule.feature]))
