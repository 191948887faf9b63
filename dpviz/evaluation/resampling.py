"""Fresh draws of a tree: the same rows and settings, new noise. What comes back, or most draws share, is signal; the rest chance.

Many trees on private rows spend epsilon many times: for simulated and public rows only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.evaluation.repeat import Workers, fit_each
from dpviz.learners import FitRequest
from dpviz.models.base import Model
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, ThresholdRule, Tree, as_tree
from dpviz.progress import Progress, Stop
from dpviz.randomness import child_seeds
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.validation import validate_count

#: Share of the draws, from the middle, whose thresholds are said.
MIDDLE = 0.8


@dataclass(frozen=True)
class Resamples:
    """Models of fresh draws."""

    models: tuple[Model, ...]  #: One per draw
    n_asked: int  #: Draws asked for; more than `n_done` after a stop

    @property
    def n_done(self) -> int:
        """Draws done."""
        return len(self.models)

    def merged(self) -> Resamples:
        """The same draws, labels only, with equal siblings merged."""
        models = (model.labels_only().merged() if isinstance(model, Tree) else model for model in self.models)
        return Resamples(tuple(models), self.n_asked)

    def split_recurrence(self, tree: Tree) -> dict[str, int]:
        """By path: the number of draws in which this node, and every question on the way to it, comes back.

        A question comes back as one about the same feature: how near its threshold is, `between` says. A leaf comes back as one
        with the same label, or any number. Merged or not: a leaf comes back in leaves with one label.
        """
        counts = Counter(path for path, _ in self._common_nodes(tree))
        return {placed.path: counts[placed.path] for placed in tree.nodes()}

    def threshold_range(self, tree: Tree) -> dict[str, tuple[float, float]]:
        """By path of every question about a number that comes back: the middle `MIDDLE` of the thresholds it comes back with."""
        thresholds_by_path: dict[str, list[float]] = {}
        for path, node in self._common_nodes(tree):
            if isinstance(node, Branch) and isinstance(node.rule, ThresholdRule):
                thresholds_by_path.setdefault(path, []).append(node.rule.threshold)
        return {path: _middle(thresholds) for path, thresholds in thresholds_by_path.items()}

    def first_feature(self) -> tuple[int, int, tuple[float, float] | None] | None:
        """The feature that most draws ask about first, in how many, and between which thresholds; None where none asks."""
        rules = [root.rule for root in map(_root, self.models) if isinstance(root, Branch)]
        if not rules:
            return None
        ((feature, times),) = Counter(rule.feature for rule in rules).most_common(1)
        thresholds = [rule.threshold for rule in rules if rule.feature == feature and isinstance(rule, ThresholdRule)]
        return feature, times, _middle(thresholds) if thresholds else None

    def _common_nodes(self, tree: Tree) -> Iterator[tuple[str, Node]]:
        """The path of what a tree and a draw both have, from the top down as far as it goes, and the draw's node there."""
        for model in self.models:
            yield from _common_nodes(tree.root, _root(model), "")


def _common_nodes(node: Node, rerun: Node, path: str) -> Iterator[tuple[str, Node]]:
    if isinstance(node, Branch):
        if isinstance(rerun, Branch) and node.rule.feature == rerun.rule.feature:
            yield path, rerun
            yield from _common_nodes(node.left, rerun.left, path + "L")
            yield from _common_nodes(node.right, rerun.right, path + "R")
    elif isinstance(node, NumberLeaf) or {node.label} == set(_labels(rerun)):
        yield path, rerun


def _root(model: Model) -> Node:
    """A constant is a single leaf."""
    tree = as_tree(model)
    assert tree is not None
    return tree.root


def _labels(node: Node) -> Iterator[int]:
    if isinstance(node, Branch):
        yield from _labels(node.left)
        yield from _labels(node.right)
    elif isinstance(node, Leaf):
        yield node.label


def _middle(thresholds: Sequence[float]) -> tuple[float, float]:
    aside = (1 - MIDDLE) / 2
    low, high = np.quantile(thresholds, (aside, 1 - aside), method="nearest")
    return float(low), float(high)


def resample(
    request: FitRequest,
    data: EncodedDataset,
    *,
    draws: int = 100,
    seed: int,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Resamples:
    """Train `draws` times with independent noise, whatever the seed of the request.

    `draws`: at least 1.
    `seed`: repeatable; the k-th draw does not depend on `draws`.
    `workers`: processes, each of which takes one share of the draws.
    `progress`: called with the share that is done, in (0, 1], after each draw, or each share of them.
    `stop`: asked before each draw, or each share. After a stop the draws done so far are returned.
    """
    draws = validate_count("resampling", "draws", draws)
    how: dict[str, Any] = {"workers": workers, "progress": progress, "stop": stop}
    together = math.ceil(draws / workers) if isinstance(workers, int) and workers > 1 else 1
    models = fit_each([request], data, child_seeds(seed, draws), _model, together, **how)
    return Resamples(tuple(model for [model] in models), draws)


def _model(result: FitResult, _: EncodedDataset) -> Model:
    return result.model
