"""Fresh draws of a tree: the same rows and settings, new noise. What comes back, or most draws share, is signal; the rest chance.

Many trees on private rows spend epsilon many times: for simulated and public rows only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from dpviz.evaluation.checks import require_count
from dpviz.evaluation.workers import in_chunks, kept_here, light
from dpviz.learners import fit
from dpviz.models.base import Model
from dpviz.models.constant import as_tree
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, Rule, ThresholdRule, Tree
from dpviz.progress import Progress, Stop
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Feature, NumericFeature

#: Thresholds that differ by at most this share of the declared range ask the same question.
NEAR = 1 / 16


@dataclass(frozen=True)
class Redraws:
    """Models of fresh draws."""

    models: tuple[Model, ...]  #: One per draw
    n_asked: int  #: Draws asked for; more than `n_done` after a stop

    @property
    def n_done(self) -> int:
        """Draws done."""
        return len(self.models)

    def merged(self) -> Redraws:
        """The same draws, labels only, with equal siblings merged."""
        models = (model.labels_only().merged() if isinstance(model, Tree) else model for model in self.models)
        return Redraws(tuple(models), self.n_asked)

    def coming_back(self, tree: Tree) -> dict[str, int]:
        """By path: the number of draws in which this node, and every question on the way to it, comes back.

        A question comes back as one about the same feature, with the same categories or a threshold within NEAR of the declared
        range; a leaf as one with the same label, or any number. Merged or not: a leaf comes back in leaves with one label.
        """
        found = dict.fromkeys((placed.path for placed in tree.nodes()), 0)
        for model in self.models:
            root = node_at(model, "")
            if root is not None:
                found |= {path: found[path] + 1 for path in _kept(tree, tree.root, root, "")}
        return found

    def same_feature(self, path: str, feature: int) -> int:
        """The number of draws that split on this feature at `path`."""
        nodes = (node_at(model, path) for model in self.models)
        return sum(isinstance(node, Branch) and node.rule.feature == feature for node in nodes)

    def root_rules(self) -> tuple[tuple[Rule, int], ...]:
        """The rules at the root with their number of draws, most frequent first; leaves do not count."""
        roots = (node_at(model, "") for model in self.models)
        return tuple(Counter(root.rule for root in roots if isinstance(root, Branch)).most_common())


def _kept(tree: Tree, node: Node, other: Node, path: str) -> Iterator[str]:
    """Paths of what both trees have, from the top down as far as it goes."""
    if isinstance(node, Branch):
        if isinstance(other, Branch) and _is_near(tree.schema.features[node.rule.feature], node.rule, other.rule):
            yield path
            yield from _kept(tree, node.left, other.left, path + "L")
            yield from _kept(tree, node.right, other.right, path + "R")
    elif isinstance(node, NumberLeaf) or {node.label} == set(_labels(other)):
        yield path


def _labels(node: Node) -> Iterator[int]:
    if isinstance(node, Branch):
        yield from _labels(node.left)
        yield from _labels(node.right)
    elif isinstance(node, Leaf):
        yield node.label


def _is_near(feature: Feature, rule: Rule, other: Rule) -> bool:
    if isinstance(rule, ThresholdRule) and isinstance(other, ThresholdRule) and isinstance(feature, NumericFeature):
        return rule.feature == other.feature and abs(rule.threshold - other.threshold) <= NEAR * (feature.high - feature.low)
    return rule == other


def node_at(model: Model, path: str) -> Node | None:
    """The node at the end of `path` ("" is the root); None where the model has none. A constant is a single leaf."""
    tree = as_tree(model)
    assert tree is not None
    try:
        return tree.node(path)
    except KeyError:
        return None


def redraws(
    name: str,
    data: EncodedDataset,
    *,
    draws: int = 100,
    seed: int,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **asked: Any,
) -> Redraws:
    """Train `draws` times with independent noise.

    `name`, `data`, `**asked`: as for `dpviz.fit`, without a seed or source.
    `draws`: at least 1.
    `seed`: repeatable; the k-th draw does not depend on `draws`.
    `workers`: processes, each of which takes one share of the draws.
    `progress`: called with the share that is done, in (0, 1], after each draw, or each share of them.
    `stop`: asked before each draw, or each share. After a stop the draws done so far are returned.
    """
    require_count("redraws", "draws", draws)
    together, fits = 1, partial(_fits, name, data, asked)
    if workers > 1:
        together, fits = math.ceil(draws / workers), partial(_fits_away, name, light(data), asked)
    found = in_chunks(fits, child_seeds(seed, draws), together, workers=workers, progress=progress, stop=stop)
    return Redraws(tuple(chain.from_iterable(found)), draws)


def _fits(name: str, data: EncodedDataset, asked: dict[str, Any], seeds: Sequence[int]) -> list[Model]:
    return [fit(name, data, seed=seed, **asked).model for seed in seeds]


def _fits_away(name: str, data: EncodedDataset, asked: dict[str, Any], seeds: Sequence[int]) -> list[Model]:
    return _fits(name, kept_here(data), asked, seeds)


@dataclass(frozen=True, slots=True)
class FeatureUse:
    """How many draws split on a feature: `anywhere`, and `at_level[d]` at depth d."""

    feature: int
    anywhere: int
    at_level: tuple[int, ...]


def feature_use(drawn: Redraws) -> tuple[FeatureUse, ...]:
    """Every feature that some draw splits on, most frequent first. A draw that is a constant splits on none."""
    trees = [model for model in drawn.models if isinstance(model, Tree)]
    splits = [{(p.node.rule.feature, p.depth) for p in tree.nodes() if isinstance(p.node, Branch)} for tree in trees]
    at_level = Counter(split for tree in splits for split in tree)
    anywhere = Counter(feature for tree in splits for feature in {feature for feature, _ in tree})
    levels = range(max((depth for _, depth in at_level), default=-1) + 1)
    found = (FeatureUse(feature, n, tuple(at_level[feature, depth] for depth in levels)) for feature, n in anywhere.items())
    return tuple(sorted(found, key=lambda use: (-use.anywhere, use.feature)))


def agreement(labels: Sequence[int] | np.ndarray, drawn: Redraws, data: EncodedDataset) -> np.ndarray:
    """Per row the share of draws that predict its label in `labels`; NaN without draws."""
    agree = np.array([model.predict(data) == labels for model in drawn.models])
    return agree.mean(axis=0) if len(agree) else np.full(data.n_rows, np.nan)
