"""Fresh draws of a tree: the same rows and settings, new noise. Rules that come back are signal, the others chance.

Many trees on private rows spend epsilon many times: for simulated and public rows only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpviz.evaluation.checks import require_count
from dpviz.learners import fit
from dpviz.models.base import Model
from dpviz.models.constant import Constant
from dpviz.models.tree import Branch, Leaf, Node, Rule, Tree
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset


@dataclass(frozen=True)
class Redraws:
    """Models of fresh draws.

    Attributes
    ----------
    models : tuple of Model
        One per draw.
    n_asked : int
        Draws asked for; more than `n_done` after a stop.
    """

    models: tuple[Model, ...]
    n_asked: int

    @property
    def n_done(self) -> int:
        """Draws done."""
        return len(self.models)

    def merged(self) -> Redraws:
        """The same draws with equal siblings merged, for comparison with a merged tree."""
        return Redraws(tuple(model.merged() if isinstance(model, Tree) else model for model in self.models), self.n_asked)

    def same_node(self, path: str, node: Node) -> int:
        """The number of draws with the same rule (for a leaf: a leaf with the same label) at `path`."""
        if isinstance(node, Branch):
            return self._count(path, lambda other: isinstance(other, Branch) and other.rule == node.rule)
        return self._count(path, lambda other: other == node)

    def same_feature(self, path: str, feature: int) -> int:
        """The number of draws that split on this feature at `path`."""
        return self._count(path, lambda other: isinstance(other, Branch) and other.rule.feature == feature)

    def root_rules(self) -> tuple[tuple[Rule, int], ...]:
        """The rules at the root with their number of draws, most frequent first; leaves do not count."""
        roots = (node_at(model, "") for model in self.models)
        return tuple(Counter(root.rule for root in roots if isinstance(root, Branch)).most_common())

    def _count(self, path: str, same: Callable[[Node], bool]) -> int:
        nodes = (node_at(model, path) for model in self.models)
        return sum(node is not None and same(node) for node in nodes)


def node_at(model: Model, path: str) -> Node | None:
    """The node at the end of `path` ("" is the root); None where the model has none. A constant is a single leaf."""
    if isinstance(model, Constant):
        return Leaf(model.label) if not path else None
    assert isinstance(model, Tree)
    try:
        return model.node(path)
    except KeyError:
        return None


def redraws(
    name: str,
    data: EncodedDataset,
    *,
    draws: int = 100,
    seed: int,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **asked: Any,
) -> Redraws:
    """Train `draws` times with independent noise.

    Parameters
    ----------
    name, data, **asked
        As for `dpviz.fit`, without a seed or source.
    draws : int
        At least 1.
    seed : int
        Repeatable; the k-th draw does not depend on `draws`.
    progress : callable, optional
        Called with the share that is done, in (0, 1], after each draw.
    stop : callable or threading.Event, optional
        Asked before each draw. After a stop the draws done so far are returned.
    """
    require_count("redraws", "draws", draws)
    models = (fit(name, data, seed=child, **asked).model for child in steps(child_seeds(seed, draws), progress, stop))
    return Redraws(tuple(models), draws)
