"""FS: a greedy private tree with one child per category, a private cut for every number at every node, and noisy counts.

On each level of its path a row takes part in a noisy count that decides whether to go on, one exponential mechanism per number
that cuts it, and one that chooses the feature by the rows in its children's largest classes; at the leaf, in a noisy count and
noisy class counts. All have the same cost, epsilon / ((2 + b) d + 2) for b numbers and depth d, so numbers are expensive here.
Only the noisy count decides whether to go on, so nothing is disclosed.

Source: Friedman & Schuster 2010, KDD, "Data mining with differential privacy" (Max operator); depth 5 as in Fletcher & Islam.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpviz.accounting.events import BoundedRange, Event, Parallel, Sequential
from dpviz.accounting.guarantee import round_down
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.boxes import split_features
from dpviz.models.tree import Branch, Leaf, Node, ThresholdRule, Tree, child_per_category
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.selection import ExponentialMechanism
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformPoint
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims
from dpviz.training.params import NoParams, Settings

NAME = "fs-tree"
DEPTH = 5
#: The published mechanism makes no use of counts being monotone.
MAX = Sensitivity(1.0, monotone=False, source="a row changes the rows of the largest class of one child by at most one")

#: What the path has left of every feature: a range, or None where nothing is left to split.
RemainingRanges = tuple[tuple[float, float] | None, ...]


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """Equal parts for all mechanisms that a row can meet."""
    split_features(schema)
    depth = min(DEPTH, settings.max_depth) if settings.depth == "auto" else int(settings.depth)
    numbers = sum(isinstance(feature, NumericFeature) for feature in schema.features)
    part = round_down(Fraction(settings.epsilon) / ((2 + numbers) * depth + 2))
    rule = "rule: equal parts"
    shares = []
    for level in range(depth):
        shares.append(Share("count", level, part, set_by=rule, exact=False))
        shares += [Share("cut", level, part, numbers, rule, costs=(BoundedRange(part),))] if numbers else []
        shares.append(Share("node", level, part, set_by=rule, costs=(BoundedRange(part),)))
    leaf = [Share("count", depth, part, set_by=rule, exact=False), Share("leaf", depth, part, set_by=rule)]
    return BudgetPlan(settings.epsilon, depth, (*shares, *leaf))


def fit(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """Grow greedily."""
    root, event = _Grower(data, plan, source, plan.of("leaf", plan.depth)).node(np.arange(data.n_rows), _whole(data.schema), 0)
    return FitOutput(Tree(data.schema, root), event)


def _whole(schema: Schema) -> RemainingRanges:
    sides = ((f.low, f.high) if isinstance(f, NumericFeature) else (0.0, len(f.categories) - 1.0) for f in schema.features)
    return tuple(side if side[0] < side[1] else None for side in sides)


@dataclass(frozen=True, eq=False)
class _Grower:
    data: EncodedDataset
    plan: BudgetPlan
    source: NoiseSource
    epsilon: float  #: Of every mechanism

    @property
    def noise(self) -> LaplaceNoise:
        """On counts."""
        return LaplaceNoise(self.epsilon)

    def node(self, rows: np.ndarray, left: RemainingRanges, level: int) -> tuple[Node, Event]:
        """A subtree and its event."""
        count = self.noise.release(np.array([len(rows)]), source=self.source, part="count", level=level)
        able = (f for f, side in zip(self.data.schema.features, left, strict=True) if side is not None)
        children = max([2, *(len(f.categories) for f in able if isinstance(f, CategoricalFeature))])
        # fewer rows per child and class than the standard deviation of the noise
        is_few = float(count.value[0]) / (children * self.data.n_classes) < math.sqrt(2) / self.epsilon
        if level == self.plan.depth or not any(left) or is_few:
            leaf, event = self._leaf(rows, level)
            return leaf, Sequential((count.event, event))
        cuts, events = self._cuts(rows, left, level)
        feature, event = self._choose(rows, left, cuts, level)
        node, below = self._divide(rows, left, feature, cuts.get(feature), level)
        return node, Sequential((count.event, *events, event, below))

    def _leaf(self, rows: np.ndarray, level: int) -> tuple[Leaf, Event]:
        exact = np.bincount(self.data.target[rows], minlength=self.data.n_classes)
        counts = self.noise.release(exact, source=self.source, part="leaf", level=level)
        return Leaf(int(counts.value.argmax())), counts.event

    def _cuts(self, rows: np.ndarray, left: RemainingRanges, level: int) -> tuple[dict[int, float], list[Event]]:
        """A private cut for every number that has a range left, and their events."""
        cuts, events = {}, []
        for feature, side in enumerate(left):
            if side is None or isinstance(self.data.schema.features[feature], CategoricalFeature):
                continue
            cuts[feature], event = self._choose_cut(rows, feature, side, level)
            events.append(event)
        return cuts, events

    def _choose_cut(self, rows: np.ndarray, feature: int, side: tuple[float, float], level: int) -> tuple[float, Event]:
        """A point of the range, likelier where its two sides are purer; equally likely between neighbouring values."""
        values = np.clip(self.data.columns[feature][rows].astype(np.float64), *side)
        order = values.argsort(kind="stable")
        ends = np.concatenate([[side[0]], values[order], [side[1]]])
        below = np.zeros((len(rows) + 1, self.data.n_classes), dtype=np.int64)
        below[np.arange(1, len(rows) + 1), self.data.target[rows][order]] = 1
        below = below.cumsum(axis=0)
        utilities = below.max(axis=1) + (below[-1] - below).max(axis=1)
        wide = np.flatnonzero(np.diff(ends) > 0)
        mechanism = ExponentialMechanism(self.epsilon, MAX, np.log(np.diff(ends)[wide]))
        chosen = mechanism.release(utilities[wide], source=self.source, part="cut", level=level)
        low, high = ends[wide[chosen.value]], ends[wide[chosen.value] + 1]
        point = UniformPoint().release((low, high), source=self.source, part="cut", level=level)
        return point.value, chosen.event

    def _choose(self, rows: np.ndarray, left: RemainingRanges, cuts: dict[int, float], level: int) -> tuple[int, Event]:
        features = [feature for feature, side in enumerate(left) if side is not None]
        classes, utilities = self.data.target[rows], []
        for feature in features:  # rows in the largest class of each child, added up over the children
            column, cut = self.data.columns[feature][rows], cuts.get(feature)
            child = column.astype(np.int64) if cut is None else (column > cut).astype(np.int64)
            counts = np.bincount(child * self.data.n_classes + classes, minlength=self.data.n_classes)
            utilities.append(int(np.maximum.reduceat(counts, np.arange(0, len(counts), self.data.n_classes)).sum()))
        mechanism = ExponentialMechanism(self.epsilon, MAX)
        chosen = mechanism.release(np.array(utilities), source=self.source, part="node", level=level)
        return features[chosen.value], chosen.event

    def _divide(self, rows: np.ndarray, left: RemainingRanges, feature: int, cut: float | None, level: int) -> tuple[Node, Event]:
        """Children with disjoint rows."""
        column, side, declared = self.data.columns[feature][rows], left[feature], self.data.schema.features[feature]
        if isinstance(declared, CategoricalFeature):
            rest = _with(left, feature, None)
            children = [self.node(rows[column == code], rest, level + 1) for code in range(len(declared.categories))]
            return child_per_category(feature, [node for node, _ in children]), Parallel(tuple(event for _, event in children))
        assert cut is not None
        assert side is not None
        below, low_event = self.node(rows[column <= cut], _with(left, feature, (side[0], cut)), level + 1)
        above, high_event = self.node(rows[column > cut], _with(left, feature, (cut, side[1])), level + 1)
        return Branch(ThresholdRule(feature, cut), below, above), Parallel((low_event, high_event))


def _with(left: RemainingRanges, feature: int, side: tuple[float, float] | None) -> RemainingRanges:
    kept = side if side is not None and side[0] < side[1] else None
    return (*left[:feature], kept, *left[feature + 1 :])


LEARNER = LearnerSpec(
    name=NAME,
    title="FS tree",
    idea="A greedy tree that pays for every cut of every number.",
    citation="Friedman & Schuster 2010, KDD, Data mining with differential privacy",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Friedman & Schuster 2010",
        "holds",
        "Every question on a path has its part of epsilon, children hold disjoint rows, and noisy counts alone stop it.",
        evidence="dpviz/learners/published/fs_tree.py; Friedman & Schuster 2010",
    ),
)
