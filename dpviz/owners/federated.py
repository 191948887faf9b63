"""S-GBDT trained by several owners of rows, each in its own process, without showing their rows to anybody.

Splits come from a public seed. In every round each owner sends the sums over its own rows, with a share of the noise, behind
masks that cancel in the sum (`secure_sum`). The aggregator sees the total, which is what one trainer with all rows would release.
So the model has the distribution of `s-gbdt` on all rows together, started from 0 (`initial_share=0`) with cuts of the declared
ranges (`histogram_share=0`), and costs the same.

What is guaranteed. The total carries the noise of the ledger, and nothing else is visible. Up to `colluding` owners may pool
their rows, noise and masks with the aggregator; the noise of the others is still that of the ledger, so the total carries more
from the start. For more of them see `epsilon_when_pooled`; whoever leaves its noise out, and owners whom the aggregator invents,
count as colluding. `several-owners.md`, beside this file, says whom one must trust with what, and what happens when somebody
leaves or lies.

This is a reference implementation: the process that starts the owners gives them their rows, and so knows them all; nothing
crosses a network, and keys are not signed.

Source: Kirschte et al. 2023, Algorithm 9; Bonawitz et al. 2017.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import covers
from dpviz.accounting.ledger import Ledger
from dpviz.errors import FederationError, NotRowWise, ParameterError
from dpviz.learners.ours import s_gbdt
from dpviz.models.base import Model
from dpviz.owners.aggregator import Aggregator
from dpviz.owners.owner_process import OwnerProcess, introduce
from dpviz.owners.terms import Terms
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.progress import Progress, Stop, all_steps
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.boosting.loss import loss_of
from dpviz.training.contract import FitResult, schema_disclosures
from dpviz.training.params import Settings, make_params


@dataclass(frozen=True)
class FederatedResult:
    """A model that several owners trained together."""

    #: As `dpviz.fit` returns it for all rows together. Its ledger covers every row of every owner, against anybody who sees the
    #: model and all totals, and up to `colluding` other owners.
    result: FitResult
    terms: Terms  #: Public
    void: tuple[int, ...]  #: Trees whose round somebody missed; they predict 0 everywhere
    gone: tuple[int, ...]  #: Owners who left

    @property
    def model(self) -> Model:
        """What they trained."""
        return self.result.model

    @property
    def ledger(self) -> Ledger:
        """What it costs a row of any owner."""
        return self.result.ledger


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
    schema: Schema | None = None,
    leaving: Mapping[int, int] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> FederatedResult:
    """Train `s-gbdt` on the rows of several owners, each in a process of its own.

    Parameters
    ----------
    parts : sequence of EncodedDataset
        The rows of every owner, disjoint; private. Features and target agree.
    epsilon, delta : float
        Privacy loss of all rounds under add/remove one row of any owner. `delta` 0 is the learner's default.
    public_seed : int
        For the splits. Owners agree on it, say by rolling dice together; it reveals nothing about any row.
    seed : int or None
        Simulates the owners' noise; None: every owner draws its share with exact samplers.
    colluding : int
        How many owners may pool what they know without harm to the others.
    schema : Schema, optional
        Of all rows together, public; else that of the parts, whose row counts are added up.
    leaving : mapping of int to int, optional
        Owner -> tree at which its process ends, to try out what happens.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between rounds.
    **params
        Those of `s-gbdt`; `initial_share` and `histogram_share` are 0.

    Raises
    ------
    ParameterError, SchemaError
        For invalid arguments.
    FederationError
        When owners disagree, send a malformed message, or too few are left.
    NotRowWise
        Without a seed, when one row may have changed others on the way to a part, such as a part of a permuted split.
    Cancelled
        When stopped.
    """
    for number in leaving or {}:
        if number not in range(len(parts)):
            raise ParameterError("train_federated", "leaving", number, f"an owner from 0 to {len(parts) - 1}")
    settings = Settings(epsilon=epsilon, max_depth=max_depth, depth=depth, delta=delta)  # type: ignore[arg-type]
    schema = _schema_of(parts, schema)
    terms, event = agreed(schema, len(parts), settings, params, public_seed=public_seed, colluding=colluding)
    if seed is None:
        _require_row_wise(parts)
    seeds = [None] * len(parts) if seed is None else child_seeds(seed, len(parts))
    aggregator = _trained(parts, terms, seeds, leaving or {}, progress, stop)
    chosen = _chosen(params)
    plan = s_gbdt.plan(schema, settings, chosen)
    claim = s_gbdt.LEARNER.claim(plan, chosen, schema)
    result = FitResult(
        learner=s_gbdt.NAME,
        model=aggregator.model(),
        ledger=Ledger(event),
        claim=replace(claim, because=f"{claim.because} {_condition(len(parts), colluding)}"),
        plan=plan,
        params=chosen,
        settings=settings,
        schema=schema,
        disclosures=schema_disclosures(schema),
        noise=(ExactNoise if seed is None else Simulation).name,
        seed=seed,
        rows_per_person=_rows_per_person(parts),
    )
    return FederatedResult(result, terms, tuple(aggregator.void), tuple(aggregator.gone))


def _condition(owners: int, colluding: int) -> str:
    """What the guarantee leans on beside the mechanism; whoever reads the file must know it."""
    kept = "no other owner passes on what it knows or leaves its noise out"
    if colluding:
        kept = f"no more than {colluding} of the other owners pass on what they know or leave their noise out"
    return f"Trained by {owners} owners, who share the noise: it covers an owner's rows as long as {kept}."


def _trained(
    parts: Sequence[EncodedDataset],
    terms: Terms,
    seeds: Sequence[int | None],
    leaving: Mapping[int, int],
    progress: Progress | None,
    stop: Stop | None,
) -> Aggregator:
    """All rounds, with a process per owner."""
    owners = {number: OwnerProcess() for number in range(len(parts))}
    try:
        introduce(owners, parts, terms, seeds)
        aggregator = Aggregator(terms)
        for tree in all_steps(range(terms.recipe.rounds), progress, stop):
            for number in (number for number, when in leaving.items() if when == tree):
                owners[number].end()
            aggregator.add(tree, _round(owners, aggregator, tree))
    finally:
        for owner in owners.values():
            owner.end()
    return aggregator


def _require_row_wise(parts: Sequence[EncodedDataset]) -> None:
    for part in parts:
        if part.not_row_wise:
            raise NotRowWise(part.not_row_wise)


def _rows_per_person(parts: Sequence[EncodedDataset]) -> int | None:
    """A person may be known to every owner."""
    bounds = [part.rows_per_person for part in parts]
    return None if None in bounds else sum(filter(None, bounds))


def _chosen(params: Mapping[str, Any]) -> s_gbdt.Params:
    for name, why in (("initial_share", "owners start from 0"), ("histogram_share", "owners cut declared ranges")):
        if params.get(name):
            raise ParameterError("train_federated", name, params[name], f"0: {why}")
    return make_params(s_gbdt.Params, s_gbdt.NAME, {**params, "initial_share": 0.0, "histogram_share": 0.0})


def agreed(
    schema: Schema, owners: int, settings: Settings, params: Mapping[str, Any], *, public_seed: int, colluding: int = 0
) -> tuple[Terms, GaussianRounds]:
    """The terms and their cost, from public values alone. Raises ParameterError, SchemaError."""
    if owners < 2:
        raise ParameterError("train_federated", "parts", owners, "the rows of at least two owners")
    if not 0 <= colluding <= owners - 1:
        raise ParameterError("train_federated", "colluding", colluding, f"a whole number from 0 to {owners - 1}")
    chosen = _chosen(params)
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


def _schema_of(parts: Sequence[EncodedDataset], agreed: Schema | None) -> Schema:
    if not parts:
        raise ParameterError("train_federated", "parts", 0, "the rows of at least two owners")
    first = agreed or parts[0].schema
    for number, part in enumerate(parts):
        if (part.schema.features, part.schema.target) != (first.features, first.target):
            what = f"Its features or target are declared differently from {'the schema' if agreed else 'owner 0'}'s."
            raise FederationError("plan", what, owner=number, remedy="Agree on one schema.")
    if agreed is not None:
        return agreed
    counts = [part.schema.n_public for part in parts]
    known = [count for count in counts if count is not None]
    read = tuple(dict.fromkeys(field for part in parts for field in part.schema.read_from_data))
    return replace(first, n_public=sum(known) if len(known) == len(counts) else None, read_from_data=read)


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
