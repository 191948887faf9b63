"""S-GBDT trained by several owners of rows, each in its own process, without showing their rows to anybody.

Splits come from a public seed. In every round each owner sends the sums over its own rows, with a share of the noise, behind
masks that cancel in the sum (`secure_sum`). The aggregator sees the total, which is what one trainer with all rows would release.
So the model has the distribution of `s-gbdt` on all rows together, started from 0 (`initial_share=0`), and costs the same.

What is guaranteed. *Everybody is honest but curious*: the total carries the noise of the ledger, and nothing else is visible.
*Owners collude*: up to `colluding` of them may pool their rows, noise and masks with the aggregator; the noise of the others is
still that of the ledger, so the total carries more from the start. For more of them see `epsilon_when_pooled`. *An owner leaves*:
the round is void (its tree predicts 0 everywhere), nobody reveals a mask to rescue it, and the others go on with larger shares
of the noise. If the missing message arrives late, it reveals one total with all its noise: a round already paid for, since void
rounds count. *An owner lies*: a message of the wrong length is refused and nothing is added up; invented numbers go unnoticed,
and so does missing noise: for the others such an owner colludes. *The aggregator lies*: naming owners who have left makes shares
of noise smaller, but then the masks do not cancel; owners it invents count as colluding.

This is a simulation in one respect: the process that starts the owners gives them their rows, and so knows them all.

Source: Kirschte et al. 2023, Algorithm 9; Bonawitz et al. 2017.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import covers
from dpviz.accounting.ledger import Ledger
from dpviz.errors import FederationError, ParameterError
from dpviz.learners.ours import s_gbdt
from dpviz.models.boosted import BoostedTrees
from dpviz.owners.owner_process import OwnerProcess, introduce
from dpviz.owners.secure_sum import read_message, sum_of
from dpviz.owners.terms import Terms
from dpviz.progress import Progress, Stop, all_steps
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.boosting.loss import loss_of
from dpviz.training.boosting.rounds import boosted
from dpviz.training.params import Settings, make_params


@dataclass(frozen=True)
class FederatedResult:
    """A model that several owners trained together.

    Attributes
    ----------
    model : BoostedTrees
    ledger : Ledger
        Covers every row of every owner, against anybody who sees the model and all totals, and up to `colluding` other owners.
    terms : Terms
        Public.
    void : tuple of int
        Trees whose round somebody missed; they predict 0 everywhere.
    gone : tuple of int
        Owners who left.
    """

    model: BoostedTrees
    ledger: Ledger
    terms: Terms
    void: tuple[int, ...]
    gone: tuple[int, ...]


def train_federated(
    parts: Sequence[EncodedDataset],
    *,
    epsilon: float,
    delta: float = 0.0,
    max_depth: int = 6,
    depth: int | str = "auto",
    public_seed: int,
    seed: int | None,
    colluding: int = 0,
    leaving: Mapping[int, int] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> FederatedResult:
    """Train `s-gbdt` on the rows of several owners, each in a process of its own.

    Parameters
    ----------
    parts : sequence of EncodedDataset
        The rows of every owner, disjoint; private. Features and target agree, `n_public` are added up.
    epsilon, delta : float
        Privacy loss of all rounds under add/remove one row of any owner. `delta` 0 is the learner's default.
    public_seed : int
        For the splits. Owners agree on it, say by rolling dice together; it reveals nothing about any row.
    seed : int or None
        Simulates the owners' noise; None: every owner draws its share with exact samplers.
    colluding : int
        How many owners may pool what they know without harm to the others.
    leaving : mapping of int to int, optional
        Owner -> tree at which its process ends, to try out what happens.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between rounds.
    **params
        Those of `s-gbdt`; `initial_share` is 0.

    Raises
    ------
    ParameterError, SchemaError
        For invalid arguments.
    FederationError
        When owners disagree, send a malformed message, or too few are left.
    Cancelled
        When stopped.
    """
    for number in leaving or {}:
        if number not in range(len(parts)):
            raise ParameterError("train_federated", "leaving", number, f"an owner from 0 to {len(parts) - 1}")
    settings = Settings(epsilon=epsilon, max_depth=max_depth, depth=depth, delta=delta)  # type: ignore[arg-type]
    terms, event = agreed(_schema_of(parts), len(parts), settings, params, public_seed=public_seed, colluding=colluding)
    seeds = [None] * len(parts) if seed is None else child_seeds(seed, len(parts))
    owners = {number: OwnerProcess() for number in range(len(parts))}
    try:
        introduce(owners, parts, terms, seeds)
        aggregator = Aggregator(terms)
        for tree in all_steps(range(terms.recipe.rounds), progress, stop):
            for number, when in (leaving or {}).items():
                if when == tree:
                    owners[number].end()
            aggregator.add(tree, _round(owners, aggregator, tree))
    finally:
        for owner in owners.values():
            owner.end()
    return FederatedResult(aggregator.model(), Ledger(event), terms, tuple(aggregator.void), tuple(aggregator.gone))


def agreed(
    schema: Schema, owners: int, settings: Settings, params: Mapping[str, Any], *, public_seed: int, colluding: int = 0
) -> tuple[Terms, GaussianRounds]:
    """The terms and their cost, from public values alone. Raises ParameterError, SchemaError."""
    if owners < 2:
        raise ParameterError("train_federated", "parts", owners, "the rows of at least two owners")
    if not 0 <= colluding <= owners - 1:
        raise ParameterError("train_federated", "colluding", colluding, f"a whole number from 0 to {owners - 1}")
    chosen = make_params(s_gbdt.Params, s_gbdt.NAME, {**params, "initial_share": 0.0})
    if chosen.static_noise:
        raise ParameterError("train_federated", "static_noise", True, "False: owners share the noise of sums, not of their ratio")
    plan = s_gbdt.plan(schema, settings, chosen)
    event = s_gbdt.trees_event(plan, chosen)
    recipe = s_gbdt.recipe(event, loss_of(schema, chosen.newton), chosen, schema.n_public)
    more = sqrt(owners / (owners - colluding))
    terms = Terms(
        schema=schema,
        shape=s_gbdt.tree_shape(schema, plan.depth, chosen),
        depth=plan.depth,
        multiscale=chosen.multiscale,
        numeric_weight=chosen.numeric_weight,
        public_seed=public_seed,
        newton=chosen.newton,
        recipe=replace(recipe, noise_multiplier=recipe.noise_multiplier * more),
        owners=owners,
        colluding=colluding,
    )
    return terms, event


def epsilon_when_pooled(event: GaussianRounds, terms: Terms, pooled: int) -> float:
    """The epsilon (add/remove one row, at the event's delta) of the other owners when `pooled` owners collude.

    Raises ParameterError when nobody is left to protect.
    """
    if not 0 <= pooled < terms.owners:
        raise ParameterError("epsilon_when_pooled", "pooled", pooled, f"a whole number from 0 to {terms.owners - 1}")
    kept = sqrt((terms.owners - pooled) / (terms.owners - terms.colluding))

    def enough(epsilon: float) -> bool:
        return covers(replace(event, epsilon=epsilon, noise_multiplier=event.noise_multiplier * kept))

    high = event.epsilon
    while not enough(high):
        high *= 2
    low = 0.0
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


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


def _schema_of(parts: Sequence[EncodedDataset]) -> Schema:
    if not parts:
        raise ParameterError("train_federated", "parts", 0, "the rows of at least two owners")
    first = parts[0].schema
    for number, part in enumerate(parts):
        if (part.schema.features, part.schema.target) != (first.features, first.target):
            what = "Its features or target are declared differently from owner 0's."
            raise FederationError("plan", what, owner=number, remedy="Agree on one schema.")
    counts = [part.schema.n_public for part in parts]
    known = [count for count in counts if count is not None]
    return replace(first, n_public=sum(known) if len(known) == len(counts) else None)


def _round(owners: Mapping[int, OwnerProcess], aggregator: Aggregator, tree: int) -> dict[int, Any]:
    """The messages of the owners taking part; an owner whose process has ended is missing."""
    request: dict[str, Any] = {"tree": tree, "taking_part": aggregator.taking_part}
    if tree:
        before = aggregator.totals[-1]
        request["learn"] = None if before is None else before.tolist()
    for number in aggregator.taking_part:
        owners[number].ask(request)
    answers = {number: owners[number].hear() for number in aggregator.taking_part}
    return {number: answer["masked"] for number, answer in answers.items() if answer is not None}
