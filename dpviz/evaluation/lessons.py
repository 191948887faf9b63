"""A private tree grown one node at a time on made-up rows: each node's exact distribution, then one draw from it.

The step is the learner's own. Listing it tries every outcome; drawing it uses a seeded simulation, one seed per node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import UnsupportedError
from dpviz.evaluation.audit.evidence import AuditResult, BoundLearner, typical
from dpviz.evaluation.audit.exact import Universe, node_distribution, outcome_of, published_part
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.evaluation.audit.verify import verify
from dpviz.evaluation.poisoning import Distribution, most_rows, published_bound, tight_bound
from dpviz.learners import DEFAULT
from dpviz.models.tree import Leaf, Node, Tree, rule_in_words
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import Simulation
from dpviz.randomness import generator, seed_from
from dpviz.results.result import score
from dpviz.results.verdict import right_guesses
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.nodes import node_of

N_ROWS = 30
#: Two levels: a split, then splits that choose their labels too. Three nodes.
DEPTH = 2
N_STEPS = 2**DEPTH - 1
_ROWS_SEED = 30
WAITING = "not grown yet"
#: The lesson grows a tree step by step from all of its rows: none are set aside, and every node is a choice whose outcomes can be
#: listed. Two levels at once would be one step with more trees than anybody reads.
LABELS_ONLY: dict[str, Any] = {"leaves": "labels", "lookahead": "1"}


@dataclass(frozen=True)
class Option:
    """One outcome of a node: in words, its probability, and whether it was drawn."""

    words: str
    probability: float
    drawn: bool = False


@dataclass(frozen=True)
class NodeOutcomes:
    """A node and its possible outcomes, likeliest first."""

    path: str  #: "" is the root; L and R are steps
    rows: tuple[int, ...]  #: Positions of the rows that reach it
    options: tuple[Option, ...]
    epsilon: float  #: Cost of this choice, add/remove one row

    @property
    def agreement(self) -> float:
        """Probability that two independent draws agree."""
        return sum(option.probability**2 for option in self.options)

    @property
    def drawn(self) -> Option:
        """The outcome that was drawn."""
        return next(option for option in self.options if option.drawn)

    def without_draw(self) -> NodeOutcomes:
        """The same distribution before the draw."""
        return replace(self, options=tuple(replace(option, drawn=False) for option in self.options))


@dataclass(frozen=True)
class GrowingTree:
    """A tree after some steps."""

    tree: Tree  #: Nodes still to be grown are leaves of an extra class, `WAITING`
    nodes: tuple[NodeOutcomes, ...]  #: The nodes drawn so far, in order
    #: The nodes still to be drawn, with their distributions, next one first; empty when the tree is complete.
    waiting: tuple[NodeOutcomes, ...]

    def at(self, path: str) -> NodeOutcomes:
        """The node at `path`, drawn or waiting; for a leaf that came with its parent's choice, the parent."""
        nodes = {node.path: node for node in (*self.nodes, *self.waiting)}
        while path not in nodes:
            path = path[:-1]
        return nodes[path]

    @cached_property
    def spent(self) -> float:
        """The most one row has paid: the largest sum along a path."""
        paid = {node.path: node.epsilon for node in self.nodes}
        return max((sum(paid[path[:cut]] for cut in range(len(path) + 1)) for path in paid), default=0.0)


@cache
def lesson_rows() -> EncodedDataset:
    """Thirty made-up library loans: who brings books back late? Drawn by a rule, with some exceptions."""
    schema = Schema(
        (NumericFeature("books", 0, 6, whole=True), CategoricalFeature("visits", ("weekly", "monthly", "rarely"))),
        ClassTarget("back", ("on time", "late")),
        n_public=N_ROWS,
    )
    rng = generator(_ROWS_SEED)
    books, visits, chance = np.floor(7 * rng.random(N_ROWS)), np.floor(3 * rng.random(N_ROWS)), rng.random(N_ROWS)
    late = chance < np.where((books >= 3) & (visits >= 1), 0.92, 0.08)
    return EncodedDataset(schema, (books.astype(np.int32), visits.astype(np.uint8)), late.astype(np.uint8))


def growing_tree(epsilon: float, seed: int, steps: int) -> GrowingTree:
    """The tree after `steps` of `N_STEPS` draws. The draw of a node depends on the seed and on its rows, not on `steps`."""
    data = lesson_rows()
    waiting: list[tuple[str, np.ndarray]] = [("", np.arange(data.n_rows))]
    nodes: list[NodeOutcomes] = []
    keys: dict[str, Any] = {}
    while waiting and len(nodes) < steps:
        path, rows = waiting.pop(0)
        node, key = _grow(epsilon, seed, path, rows)
        nodes.append(node)
        keys[path] = key
        waiting += [(path + side, rows[part[rows]]) for side, part in zip("LR", outcome_of(data, key).open, strict=False)]
    upcoming = tuple(_grow(epsilon, seed, path, rows)[0].without_draw() for path, rows in waiting)
    target = ClassTarget(data.schema.target.name, (*data.schema.classes, WAITING))
    tree = Tree(Schema(data.schema.features, target, data.schema.n_public), _node(data, keys, ""))
    return GrowingTree(tree, tuple(nodes), upcoming)


def _grow(epsilon: float, seed: int, path: str, rows: np.ndarray) -> tuple[NodeOutcomes, Any]:
    """The node at `path` with its distribution, and the key of what was drawn."""
    data = lesson_rows()
    planned = BoundLearner.of(DEFAULT, data.schema, epsilon=epsilon, depth=DEPTH, **LABELS_ONLY)
    listing, drawing = Enumeration(), Simulation(seed_from(seed, int("1" + path.replace("L", "0").replace("R", "1"), 2)))
    growth = planned.prepare(data, listing)
    node = node_of(growth.root, rows, len(path))
    distribution, _ = node_distribution(growth, node, listing)
    own = planned.request.spec.prepare(data, planned.plan, planned.request.params, drawing)  # type: ignore[misc]
    decision = own.step(node_of(own.root, rows, len(path)))
    key = published_part(own.root.grid, decision)
    ranked = sorted(distribution.items(), key=lambda item: -item[1])
    options = tuple(Option(_words(data.schema, other), chance, other == key) for other, chance in ranked)
    return NodeOutcomes(path, tuple(rows.tolist()), options, planned.plan.shares[len(path)].epsilon), key


def _words(schema: Schema, key: Any) -> str:
    match key:
        case int():
            return f"everyone {schema.classes[key]}"
        case (rule, (left, right)):
            return f"{rule_in_words(schema, rule)}? true: {schema.classes[left]}, false: {schema.classes[right]}"
        case rule:
            return f"{rule_in_words(schema, rule)}?"


def _node(data: EncodedDataset, keys: dict[str, Any], path: str) -> Node:
    if path not in keys:
        return Leaf(data.n_classes)
    outcome = outcome_of(data, keys[path])
    below = [_node(data, keys, path + side) for side, _ in zip("LR", outcome.open, strict=False)]
    return outcome.complete(below)  # type: ignore[return-value]


# --- What the lessons compute: exact distributions on small made-up tables, so exact numbers may be shown.

# Every distribution is a mechanism's or a learner's own (`.pmf`, `.probabilities`, its enumerated step).

#: Noisy counts further out than this many steps are not drawn; those left out have little probability, and the same ratio.
MAX_STEPS = 30
#: Chances below e^-MAX_EXPONENT would round to 0 and a bound built on them would be wrong.
MAX_EXPONENT = 700
#: Rows of the tables on which features are added: more make the found loss a little larger and the search slower.
FEATURE_ROWS = 3
#: The learner whose paper counts the features of a row as different rows, and how it is grown complete, which refutes it.
BROKEN = "privatree"
COMPLETE: dict[str, Any] = {"grow_complete": True}


def guesses(epsilon: float) -> float:
    """At most this many of 100 fair guesses about one row are right, whatever the algorithm: 100 e^eps / (1 + e^eps)."""
    return right_guesses(PrivacyLoss(epsilon))


def guesses_by_tree(epsilon: float) -> float:
    """The same by what the default learner does to the typical table, with four levels at most: more allow less."""
    plan = typical(DEFAULT, epsilon=epsilon, max_depth=4)
    return right_guesses(PrivacyLoss(epsilon), risk=plan.request.risk(plan.schema))


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """The noisy count of two tables."""

    #: int64. Noisy counts, increasing.
    outcomes: np.ndarray
    #: first, second: exact probability of each under the two tables.
    first: np.ndarray
    second: np.ndarray
    epsilon: float  #: Of the noise, add/remove one row
    distance: int  #: Rows that are in one table only

    @property
    def ratios(self) -> np.ndarray:
        """How many times as likely each outcome is under the first table."""
        return self.first / self.second

    @property
    def largest(self) -> float:
        """The largest ratio, whichever table is likelier."""
        return float(np.maximum(self.ratios, 1 / self.ratios).max())

    @property
    def bound(self) -> float:
        """e^(distance eps): no ratio can be larger."""
        return math.exp(self.distance * self.epsilon)


def noisy_counts(counts: tuple[int, int], distance: int, epsilon: float) -> NoisyCounts:
    """Geometric noise on the counts of two tables that differ in `distance` rows."""
    noise = GeometricNoise(epsilon)
    reach = min(MAX_STEPS, max(3, noise.radius(0.005)))
    outcomes = np.arange(min(counts) - reach, max(counts) + reach + 1)
    first, second = (noise.pmf(outcomes - count) for count in counts)
    return NoisyCounts(outcomes, first, second, epsilon, distance)


@dataclass(frozen=True, eq=False)
class NoisyChoice:
    """How often each option is chosen: exact probabilities of both mechanisms, shape (n_options,)."""

    counts: tuple[int, ...]
    flip: np.ndarray
    exponential: np.ndarray

    @cached_property
    def is_best(self) -> np.ndarray:
        """Options with the largest count."""
        return np.array(self.counts) == max(self.counts)

    @property
    def flip_best(self) -> float:
        """How often permute-and-flip chooses a best option."""
        return float(self.flip[self.is_best].sum())

    @property
    def exponential_best(self) -> float:
        """How often the exponential mechanism does."""
        return float(self.exponential[self.is_best].sum())


def noisy_choice(counts: tuple[int, ...], epsilon: float) -> NoisyChoice:
    """Both mechanisms on counts of rows, at the same epsilon."""
    flip, exponential = (kind(epsilon, COUNT).probabilities(np.array(counts)) for kind in (PermuteAndFlip, ExponentialMechanism))
    return NoisyChoice(counts, flip, exponential)


@dataclass(frozen=True, slots=True)
class Flip:
    """One coin of permute-and-flip: the option it is for, how far that is behind, how likely heads is, and what it showed."""

    option: int
    behind: int
    chance: float
    is_heads: bool


def coin_by_coin(counts: tuple[int, ...], epsilon: float, *, rng: np.random.Generator) -> tuple[Flip, ...]:
    """One choice by permute-and-flip as its inventors describe it: options in random order, a coin each, until one shows heads.

    The last flip is heads: the best option's coin has no tails. Source: McKenna & Sheldon 2020, Algorithm 1.
    """
    flips = []
    for option in map(int, rng.permutation(len(counts))):
        behind = max(counts) - counts[option]
        chance = math.exp(-COUNT.exponent(epsilon) * behind)
        flips.append(Flip(option, behind, chance, bool(rng.random() < chance)))
        if flips[-1].is_heads:
            break
    return tuple(flips)


def adding_up(n_features: int, epsilon: float) -> tuple[AuditResult, AuditResult]:
    """(the broken proof, the default learner), both searched exhaustively on tables of this many features."""
    # identical columns: each tells the same about a row, so what they reveal about it adds up most plainly
    place = (Universe((2,), copies=n_features, depth=1, max_rows=FEATURE_ROWS),)
    broken = verify(BROKEN, epsilon=epsilon, universes=place, **COMPLETE)
    return broken, verify(DEFAULT, epsilon=epsilon, universes=place, leaves="labels")


@dataclass(frozen=True, eq=False)
class PoisonedStump:
    """What privacy proves about the accuracy of a tree with one split when rows are added or removed."""

    #: (accuracies, increasing; probability of at most each). Exact, over the learner's own draws.
    distribution: Distribution
    epsilon: float
    n_train: int
    majority: float  #: Accuracy of always saying the largest class

    @property
    def accuracy(self) -> float:
        """Exact mean accuracy without poison."""
        return self.tight(0)

    def tight(self, rows: int) -> float:
        """Whatever `rows` additions and removals do, the mean accuracy stays at least this."""
        return tight_bound(self.distribution, rows, self.epsilon)

    def published(self, rows: int) -> float:
        """The older bound e^(-k eps) E[A]."""
        return published_bound(self.accuracy, rows, self.epsilon)

    @property
    def protected_rows(self) -> int:
        """The most rows with which the tight bound stays above the majority class; 0 where none do."""
        return most_rows(self.tight, self.majority, self.n_train)

    @property
    def published_protected_rows(self) -> int:
        """The same by the older bound."""
        return most_rows(self.published, self.majority, self.n_train)


def poisoned_stump(train: EncodedDataset, test: EncodedDataset, epsilon: float) -> PoisonedStump:
    """List every tree of depth 1 the default learner can give, with its probability and its accuracy on clean test rows.

    Raises UnsupportedError for a learner that does not label its leaves in the same choice, and where epsilon times the rows is
    so large that unlikely trees round to impossible ones.
    """
    if epsilon * train.n_rows > MAX_EXPONENT:
        raise UnsupportedError("Chances of unlikely trees round to 0 here.", remedy="Take fewer rows or a smaller epsilon.")
    planned = BoundLearner.of(DEFAULT, train.schema, epsilon=epsilon, depth=1, leaves="labels")
    source = Enumeration()
    growth = planned.prepare(train, source)
    listed, _ = node_distribution(growth, growth.root, source)
    accuracies = np.array([_accuracy(outcome_of(train, key).complete(()), test) for key in listed])
    chances = np.array(list(listed.values()))
    values, places = np.unique(accuracies, return_inverse=True)
    at_most = np.minimum(1.0, np.bincount(places, chances).cumsum())
    at_most[-1] = 1.0
    majority = float(np.mean(test.target == train.class_counts().argmax()))
    return PoisonedStump((values, at_most), epsilon, train.n_rows, majority)


def _accuracy(root: object, test: EncodedDataset) -> float:
    if root is None:
        raise UnsupportedError("The default learner labels its leaves in a choice of their own.", remedy="List it whole.")
    return score(Tree(test.schema, root), test)  # type: ignore[arg-type]
