"""A private tree grown one node at a time on made-up rows: each node's exact distribution, then one draw from it.

The step is the learner's own. Listing it tries every outcome; drawing it uses a seeded simulation, one seed per node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.evaluation.audit.exact import node_distribution, outcome_of, published_part
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.learners import DEFAULT
from dpviz.models.tree import Leaf, Node, Tree, rule_in_words
from dpviz.privacy.source import Simulation
from dpviz.randomness import generator, seed_from
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
class Grown:
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

    def without_draw(self) -> Grown:
        """The same distribution before the draw."""
        options = tuple(Option(option.words, option.probability) for option in self.options)
        return Grown(self.path, self.rows, options, self.epsilon)


@dataclass(frozen=True)
class GrowingTree:
    """A tree after some steps."""

    tree: Tree  #: Nodes still to be grown are leaves of an extra class, `WAITING`
    nodes: tuple[Grown, ...]  #: The nodes drawn so far, in order
    #: The nodes still to be drawn, with their distributions, next one first; empty when the tree is complete.
    waiting: tuple[Grown, ...]

    def at(self, path: str) -> Grown:
        """The node at `path`, drawn or waiting; for a leaf that came with its parent's choice, the parent."""
        found = {node.path: node for node in (*self.nodes, *self.waiting)}
        while path not in found:
            path = path[:-1]
        return found[path]

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
    nodes: list[Grown] = []
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


def _grow(epsilon: float, seed: int, path: str, rows: np.ndarray) -> tuple[Grown, Any]:
    """The node at `path` with its distribution, and the key of what was drawn."""
    data = lesson_rows()
    planned = PlannedLearner.of(DEFAULT, data.schema, epsilon=epsilon, depth=DEPTH, **LABELS_ONLY)
    listing, drawing = Enumeration(), Simulation(seed_from(seed, int("1" + path.replace("L", "0").replace("R", "1"), 2)))
    growth = planned.prepare(data, listing)
    node = node_of(growth.root, rows, len(path))
    distribution, _ = node_distribution(growth, node, listing)
    own = planned.request.spec.prepare(data, planned.plan, planned.request.params, drawing)  # type: ignore[misc]
    decision = own.step(node_of(own.root, rows, len(path)))
    key = published_part(own.root.grid, decision)
    ranked = sorted(distribution.items(), key=lambda item: -item[1])
    options = tuple(Option(_words(data.schema, other), chance, other == key) for other, chance in ranked)
    return Grown(path, tuple(rows.tolist()), options, planned.plan.shares[len(path)].epsilon), key


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
