"""Whoever adds up what the owners send: it sees masked messages, learns totals, and goes on without owners who have left."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dpviz.errors import FederationError
from dpviz.models.boosted import BoostedTrees
from dpviz.owners.secure_sum import read_message, sum_of
from dpviz.owners.terms import Terms
from dpviz.training.boosting.rounds import boosted


class Aggregator:
    """Sees masked messages, learns totals."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.taking_part = list(range(terms.owners))
        self.gone: list[int] = []
        self.void: list[int] = []
        self.totals: list[np.ndarray | None] = []

    def add(self, tree: int, sent: Mapping[int, Any]) -> np.ndarray | None:
        """The total of one round; None when a message is missing, after which training goes on without its owner.

        Raises FederationError for a malformed message, or when too few owners are left.
        """
        length = self.terms.length(tree)
        messages = {owner: read_message(owner, sent[owner], length) for owner in self.taking_part if owner in sent}
        total = sum_of(messages, self.taking_part)
        self.totals.append(total)
        if total is None:
            self.void.append(tree)
            self._without(sorted(set(self.taking_part) - set(messages)))
        return total

    def _without(self, gone: Iterable[int]) -> None:
        self.gone += gone
        self.taking_part = [owner for owner in self.taking_part if owner not in self.gone]
        needed = max(2, self.terms.colluding + 1)
        if len(self.taking_part) < needed:
            what = f"Only {len(self.taking_part)} of {self.terms.owners} owners are left, too few to hide among."
            raise FederationError("few", what, remedy=f"Start again with at least {needed} owners who stay.")

    def model(self) -> BoostedTrees:
        """The model, which anybody can compute from the totals."""
        values = [self.terms.values(tree, total) for tree, total in enumerate(self.totals)]
        return boosted(self.terms.trees, self.terms.loss, 0.0, values)
