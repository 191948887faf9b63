"""S-GBDT trained by several owners of rows, as its paper has it (Algorithm 9), in one process.

Splits come from a public seed. In every round each owner computes the leaves of the same tree from its own rows, as
`s-gbdt-published` does: noisy sums, with the whole noise and accounts of its own rows. The model's leaf is the mean of theirs.

What is guaranteed: what an owner releases is private by itself, so neither another owner nor whoever takes the means need be
trusted; a row is taken to be in one part, so the model costs it what that part's training costs (in two, the sum of both). The
price is accuracy: k owners add k whole noises. The paper adds leaves up by secure aggregation, which hides each owner's; nothing
here rests on that, and this process reads all parts.

Source: Kirschte et al. 2023, Algorithm 9 and section IX.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.errors import ParameterError, RefusedRelease, SchemaError, not_row_wise
from dpviz.learners.published.boosted import s_gbdt_published as s_gbdt
from dpviz.learners.request import FitRequest, check_row_count, warn_of_disclosures
from dpviz.privacy.source import ExactNoise, NoiseSource, Simulation, record_sampler
from dpviz.progress import Progress, Stop, all_steps
from dpviz.randomness import child_seeds
from dpviz.results.result import FitResult
from dpviz.results.verdict import Unit
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.table.validation import validate_count, validate_flag
from dpviz.training.boosting.loss import loss_of
from dpviz.training.boosting.rounds import Rounds, boosted_model
from dpviz.training.contract import FitOutput
from dpviz.training.params import Settings


def train_federated(
    parts: Sequence[EncodedDataset],
    *,
    epsilon: float,
    delta: float | None = None,
    max_depth: int = 6,
    depth: int | str = "auto",
    public_seed: int,
    seed: int | None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    accept_rows: bool = False,
    **params: Any,
) -> FitResult:
    """Train `s-gbdt-published` on the rows of several owners: leaves are means of what each owner released.

    Parameters
    ----------
    parts : sequence of EncodedDataset
        The rows of every owner; private. Features and target agree. They are taken to be disjoint: a row that two owners hold
        pays twice, and so does a person, but where every owner limits the rows of each. Nobody can check that without comparing
        rows; only a table that is given twice is recognised.
    epsilon, delta : float
        Privacy loss of all rounds of a person, whose rows with all owners that may know them come or go together. `delta` None
        is the learner's default.
    public_seed : int
        For the splits. Owners agree on it, say by rolling dice together; it reveals nothing about any row.
    seed : int or None
        Simulates the owners' noise; None: exact samplers.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between rounds.
    accept_rows : bool
        Release although few of an owner's rows are used, or far from as many as that owner declares.
    **params
        Those of `s-gbdt-published`; `initial_share` is 0.

    Returns
    -------
    FitResult
        As of `dpviz.fit`. Its ledger covers every row of every owner, against anybody, the other owners included.

    Warns
    -----
    PublicValuesWarning
        Without a seed, when something that must be public was read from the rows of an owner.

    Raises
    ------
    ParameterError, SchemaError
        For invalid arguments, and for parts whose features or target are declared differently.
    RefusedRelease
        Without a seed, when one row may have changed others on the way to a part, such as a part of a permuted split.
    RefusedRelease
        When two owners have the same rows; without a seed, also when they have parts of one table. Without a seed, when few of an
        owner's rows can be used, until `accept_rows`; that this is raised is private.
    Cancelled
        When stopped.
    """
    validate_flag("train_federated", "accept_rows", accept_rows)
    schema = _schema_of(parts)
    if params.get("initial_share"):
        raise ParameterError("train_federated", "initial_share", params["initial_share"], "0: owners start from 0")
    public_seed = validate_count("train_federated", "public_seed", public_seed, 0)
    if seed is not None:
        seed = validate_count("train_federated", "seed", seed, 0)
    settings = Settings(epsilon=epsilon, max_depth=max_depth, depth=depth, delta=delta)  # type: ignore[arg-type]
    request = FitRequest(s_gbdt.NAME, settings, {**params, "initial_share": 0.0}, seed)
    if seed is None:
        if blamed := next((part.not_row_wise for part in parts if part.not_row_wise), ""):
            raise not_row_wise(blamed)
        for number, part in enumerate(parts if not accept_rows else ()):
            check_row_count(part, accept="pass accept_rows=True", where=f"Owner {number}")
    bounds = [part.rows_per_person for part in parts]  # a person with bounded rows may be known to every owner
    is_bounded = None not in bounds
    most_rows = sum(filter(None, bounds)) if is_bounded else max(part.schema.rows_per_person for part in parts)
    unit = Unit(most_rows, is_bounded=is_bounded)
    plan, chosen = request.plan(replace(schema, rows_per_person=unit.rows)), request.params
    event, cost = plan.rounds("tree")
    recipe = s_gbdt.recipe_of(schema, cost, chosen)
    _require_disjoint(parts, is_release=seed is None)
    trees = s_gbdt.draw(schema, plan, chosen, recipe, Simulation(public_seed))
    loss = loss_of(schema, newton=False)
    sources = _sources(seed, len(parts))
    owners = [Rounds(part, trees, loss, 0.0, recipe, source) for part, source in zip(parts, sources, strict=True)]
    values = []
    for tree in all_steps(range(recipe.rounds), progress, stop):
        released = [owner.release(tree) for owner in owners]
        values.append(np.mean(released, axis=0))
        for owner in owners:
            owner.learn(values[-1])
    grown = FitOutput(boosted_model(trees, loss, 0.0, values), record_sampler(sources[0], event))  # all sources are of one kind
    result = request.result(schema, plan, grown, sources[0], unit)
    who = "A person may be known to all of them."
    if not is_bounded:
        who = "Assumed: nobody's rows are with two of them; whoever is with two pays twice."
    because = f"{result.claim.because} Leaves are means of those of {len(parts)} owners (Algorithm 9). {who}"
    result = replace(result, claim=replace(result.claim, because=because), seed=seed)
    warn_of_disclosures(result)
    return result


def _sources(seed: int | None, owners: int) -> list[NoiseSource]:
    """Each owner's own noise."""
    return [ExactNoise() for _ in range(owners)] if seed is None else [Simulation(one) for one in child_seeds(seed, owners)]


def _require_disjoint(parts: Sequence[EncodedDataset], *, is_release: bool) -> None:
    """Refuse rows that are given twice; for a release also parts of one table, of which nothing says that they are disjoint."""
    for second, part in enumerate(parts):
        for first, other in enumerate(parts[:second]):
            if not (part.n_rows and other.n_rows):
                continue
            is_same = part is other or part.fingerprint == other.fingerprint
            if is_same or (is_release and part.table_sums.may_be(other.table_sums)):
                what = "the same rows" if is_same else "rows of one table"
                remedy = "Give every owner's own rows. Rows of one table need no federation: train on the table."
                raise RefusedRelease(f"Owners {first} and {second} have {what}: a row would pay twice.", remedy=remedy)


def _schema_of(parts: Sequence[EncodedDataset]) -> Schema:
    """Of all rows together: public row counts add up, and what one owner read from its rows all disclose."""
    if not isinstance(parts, Sequence) or not all(isinstance(part, EncodedDataset) for part in parts):
        raise ParameterError("train_federated", "parts", type(parts).__name__, "a list of encoded rows, one entry per owner")
    if len(parts) < 2:
        raise ParameterError("train_federated", "parts", len(parts), "the rows of at least two owners")
    first = parts[0].schema
    for number, part in enumerate(parts):
        if (part.schema.features, part.schema.target) != (first.features, first.target):
            what = "Its features or target are declared differently from owner 0's."
            raise SchemaError(what, field=f"owner {number}", remedy="Agree on one schema.")
    counts = [part.schema.n_public for part in parts]
    known = [count for count in counts if count is not None]
    read = tuple(dict.fromkeys(field for part in parts for field in part.schema.read_from_data))
    return replace(first, n_public=sum(known) if len(known) == len(counts) else None, read_from_data=read)
