"""Fresh draws of a tree: the same rows, the same settings, new noise. Which rules come back, and which are only luck.

The counts describe what one private tree can be trusted to say. They are computed from many trees, and many trees on
private rows spend many times epsilon: for simulated and public rows only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

from dpviz.errors import ParameterError
from dpviz.learners import fit
from dpviz.models.base import Model
from dpviz.models.constant import Constant
from dpviz.models.tree import Branch, Leaf, Node, Rule, Tree
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset

#: True, or set, when the caller wants no more.
Stop = Callable[[], bool] | Event


@dataclass(frozen=True)
class Redraws:
    """Models of fresh draws.

    Attributes
    ----------
    models : tuple of Model
        One per draw that was done.
    n_asked : int
        Draws asked for; more than `n_done` after a stop.
    """

    models: tuple[Model, ...]
    n_asked: int

    @property
    def n_done(self) -> int:
        """Draws that were done."""
        return len(self.models)

    def merged(self) -> Redraws:
        """The same draws with equal siblings merged, to compare with a merged tree."""
        return Redraws(tuple(model.merged() if isinstance(model, Tree) else model for model in self.models), self.n_asked)

    def same_node(self, path: str, node: Node) -> int:
        """In how many draws the same rule (for a leaf: a leaf with the same label) stands at `path`."""
        if isinstance(node, Branch):
            return self._count(path, lambda other: isinstance(other, Branch) and other.rule == node.rule)
        return self._count(path, lambda other: other == node)

    def same_feature(self, path: str, feature: int) -> int:
        """In how many draws the rule at `path` asks about the feature at this position."""
        return self._count(path, lambda other: isinstance(other, Branch) and other.rule.feature == feature)

    def root_rules(self) -> tuple[tuple[Rule, int], ...]:
        """Rules that stood at the root with their number of draws, most frequent first; empty without a branch."""
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
    progress: Callable[[float], None] | None = None,
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
        Told the share that is done, in (0, 1], after each draw.
    stop : callable or threading.Event, optional
        Looked at before each draw. After a stop the draws done so far are returned.
    """
    if draws < 1:
        raise ParameterError("redraws", "draws", draws, "at least 1")
    stopped = stop.is_set if isinstance(stop, Event) else stop
    models: list[Model] = []
    for child in child_seeds(seed, draws):
        if stopped is not None and stopped():
            break
        models.append(fit(name, data, seed=child, **asked).model)
        if progress is not None:
            progress(len(models) / draws)
    return Redraws(tuple(models), draws)
