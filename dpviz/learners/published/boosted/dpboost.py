"""DPBoost, as improved by the authors of S-GBDT: boosted trees whose splits and leaves both spend epsilon. For comparison.

The trees of an ensemble hold disjoint rows (every row draws its tree), so each can spend all of the ensemble's epsilon: half on
its splits, level by level, and half on its leaves. Ensembles follow one another on the same rows. The value of a leaf is sum of
gradients / (rows + ridge); one row moves it by at most clip / (1 + ridge).
Gradients above the limit are clipped, or their rows leave the tree (`filter`). Classes start from even odds, because steps of at
most one gradient from the log-odds of a rare class seldom cross one half. Discloses nothing.

Source: Li, Wu, Wen & He 2020, "Privacy-preserving gradient boosting decision trees"; Kirschte et al. 2023, section V.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpviz.accounting.events import BoundedRange, Event, Parallel, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.boosted import BoostedTrees
from dpviz.models.boxes import split_features
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.source import NoiseSource, Output
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.boosting.greedy import GreedyTree
from dpviz.training.boosting.loss import Loss, gradient_limit, initial_score, loss_of
from dpviz.training.boosting.rounds import in_target_units
from dpviz.training.boosting.trees import NestedNode, pack
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims, n_public_of
from dpviz.training.counted_rows import row_order
from dpviz.training.forests import rows_to_trees
from dpviz.training.params import Settings, flag, number, whole

NAME = "dpboost"
#: Trees by default.
_FOR_CLASSES, _FOR_NUMBER = 2, 10


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of the learner."""

    trees: int = whole(
        0,
        "Trees",
        f"In each ensemble, on disjoint rows. 0: {_FOR_CLASSES} for classes, {_FOR_NUMBER} for a number.",
        low=0,
        high=1000,
    )
    ensembles: int = whole(1, "Ensembles", "Each sees all rows and has its part of epsilon.", low=1, high=100)
    learning_rate: float = number(1.0, "Learning rate", "Step of a tree.", low=0.001, high=1)
    ridge: float = number(100.0, "Ridge", "Added to the rows of a leaf.", low=0, high=1000)
    clip: float = gradient_limit()
    numeric_weight: float = number(
        10.0, "Weight of numbers", "What all cuts of a number weigh together; one category weighs 1.", low=0.01, high=1000
    )
    filter: bool = flag(False, "Filter by gradient", "Rows above the limit leave the tree.")
    initial_share: float = number(
        0.1, "Share for the start", "Share of epsilon for the first score of a number.", low=0, high=0.9
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Half of an ensemble's epsilon for splits, half for leaves. Raises SchemaError without a split or a row count it needs."""
    split_features(schema)
    starts = params.initial_share > 0 and isinstance(schema.target, NumericTarget)
    if starts:
        n_public_of(schema, NAME, "start from 0 (initial_share=0)")
    depth = settings.fixed_or_max_depth
    per_ensemble = [1 / (2 * depth)] * depth + [0.5]
    rest = (1 - params.initial_share) / params.ensembles if starts else 1 / params.ensembles
    weights = (params.initial_share if starts else 0.0, *(rest * weight for weight in per_ensemble * params.ensembles))
    start, *costs = split_budget(settings.epsilon, weights)
    first = (Share("initial score", None, start, set_by="initial_share"),) if starts else ()
    shares = []
    for place, cost in enumerate(costs):
        level = place % (depth + 1)
        if level == depth:
            shares.append(Share("leaf", depth, cost, set_by="half of an ensemble's", exact=False))
        else:
            by = "half of an ensemble's, over the levels"
            shares.append(Share("node", level, cost, set_by=by, costs=(BoundedRange(cost),), exact=False))
    asked = params.initial_share not in (0, Params().initial_share) and not isinstance(schema.target, NumericTarget)
    replaced = (f"initial_share = {params.initial_share:g} has no effect: classes start from 0.",) if asked else ()
    return BudgetPlan(settings.epsilon, depth, (*first, *shares), replaced, replaced=replaced)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """One ensemble after another."""
    loss = loss_of(data.schema, newton=False)
    initial, before = initial_score(loss, data.target, data.schema.n_public or 1, plan.of("initial score"), source)
    boosting = _State(data, loss, initial, plan, params, source)
    events = [boosting.ensemble(number) for number in range(params.ensembles)]
    return FitOutput(boosting.model(initial), Sequential((*before, *events)))


@dataclass
class _State:
    """The trees so far, and the scores of the rows. Private."""

    data: EncodedDataset
    loss: Loss
    initial: float
    plan: BudgetPlan
    params: Params
    source: NoiseSource
    nested: list[NestedNode] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        order = row_order(self.data)  # so that sums in floating point do not depend on the order of the rows
        self.columns = tuple(column[order] for column in self.data.columns)
        self.target = self.data.target[order]
        self.rows = EncodedDataset(self.data.schema, self.columns, self.target)
        self.scores = np.full((self.data.n_rows, self.loss.n_scores), self.initial)

    @property
    def clip(self) -> float:
        """The largest gradient of a row."""
        return self.params.clip or self.loss.usual_clip

    @property
    def n_trees(self) -> int:
        """Trees of an ensemble, the same number for every score."""
        is_number = isinstance(self.data.schema.target, NumericTarget)
        asked = self.params.trees or (_FOR_NUMBER if is_number else _FOR_CLASSES)
        return -(-asked // self.loss.n_scores) * self.loss.n_scores

    def ensemble(self, number: int) -> Event:
        """Train the trees of an ensemble on disjoint rows."""
        shares = [share for share in self.plan.shares if share.level is not None]
        costs = [share.epsilon for share in shares[number * (self.plan.depth + 1) : (number + 1) * (self.plan.depth + 1)]]
        tree_of = rows_to_trees(self.rows, self.n_trees, self.source)
        scores = (tree % self.loss.n_scores for tree in range(self.n_trees))
        return Parallel(tuple(self._tree(np.flatnonzero(tree_of == tree), s, costs) for tree, s in enumerate(scores)))

    def _tree(self, rows: np.ndarray, score: int, costs: list[float]) -> Event:
        downhill, _ = self.loss.gradients(self.scores[rows], self.target[rows])
        gradients, clip = downhill[:, score], self.clip
        if self.params.filter:
            kept = np.abs(gradients) <= clip
            rows, gradients = rows[kept], gradients[kept]
        columns = tuple(column[rows] for column in self.columns)
        gradients = np.clip(gradients, -clip, clip)
        asked = self.params.ridge, tuple(costs[:-1]), self.params.numeric_weight
        greedy = GreedyTree(self.data.schema, columns, gradients, clip, *asked, self.source)
        nested, leaves = greedy.tree()
        noisy = self._leaf_means([gradients[leaf] for leaf in leaves], costs[-1])
        values = self.params.learning_rate * noisy.value
        self.nested.append(nested)
        self.values.append(values)
        cells = pack(self.data.schema, [nested]).cells_of(np.column_stack(self.columns).astype(np.float64), 0)
        self.scores[:, score] += values[cells]
        return Sequential((*greedy.events(), noisy.event))

    def _leaf_means(self, gradients: list[np.ndarray], epsilon: float) -> Output[np.ndarray]:
        """Noisy means of the leaves' gradients; the leaves hold disjoint rows."""
        ridge = self.params.ridge
        exact = np.array([leaf.sum() / max(len(leaf) + ridge, 1e-12) for leaf in gradients])
        noise = LaplaceNoise(epsilon, l1=self.clip / (1 + ridge))
        return noise.release(exact, source=self.source, part="leaf", level=self.plan.depth)

    def model(self, initial: float) -> BoostedTrees:
        """The trained model, in the units of the target."""
        trees = pack(self.data.schema, self.nested)
        values = [cells[of_tree] for cells, of_tree in zip(self.values, trees.cells_by_tree(), strict=True)]
        return in_target_units(trees.splits, np.concatenate(values), initial)


LEARNER = LearnerSpec(
    name=NAME,
    title="DPBoost",
    idea="Boosts trees on disjoint rows; every split and every leaf costs budget. For numbers and classes.",
    citation="Li, Wu, Wen & He 2020; Kirschte et al. 2023",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Li et al. 2020, as improved by Kirschte et al. 2023",
        "holds",
        "Trees of an ensemble hold disjoint rows; their splits, their leaves and the ensembles add up.",
        evidence="dpviz/learners/published/boosted/dpboost.py",
    ),
    Params=Params,
    task="any",
)
