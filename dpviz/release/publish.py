"""The one way to a released file: promise, spend, train, write, release.

The promise uses public information only, before a row is touched: what the release will cost, and whether it may be made. Then
the cost is booked, the model is trained with exact samplers and randomness from the operating system, its file is written and
moved into place, and the release is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import NotReleasable, NotRowWise, RefusedRelease, RegisterError
from dpviz.learners import fit, get_learner, require_counts, require_task
from dpviz.privacy.source import ExactNoise
from dpviz.randomness import random_128_bits
from dpviz.release.assumptions import Assumption, assumptions
from dpviz.release.files import discard, move_into_place, write_part
from dpviz.release.records import DataSet, Entry, Seal, State
from dpviz.release.register import ReleaseRegister
from dpviz.table.schema import Schema
from dpviz.training.contract import FitResult
from dpviz.training.counting.contract import Rows
from dpviz.training.params import Settings, make_params


@dataclass(frozen=True)
class ReleaseRequest:
    """What is to be released: the arguments of `fit` other than the noise.

    `settings` are epsilon, delta, max_depth and depth; `params` the learner's own.
    """

    learner: str
    settings: dict[str, Any]
    params: dict[str, Any]

    @property
    def asked(self) -> dict[str, Any]:
        """Everything but the learner's name."""
        return {**self.settings, **self.params}

    def at(self, epsilon: float) -> ReleaseRequest:
        """The same at another epsilon."""
        return ReleaseRequest(self.learner, {**self.settings, "epsilon": epsilon}, self.params)


@dataclass(frozen=True)
class Promise:
    """What a release will cost one row, the claim behind it, and what it takes as public."""

    loss: PrivacyLoss
    claim: Claim
    assumptions: tuple[Assumption, ...]


def promise(schema: Schema, request: ReleaseRequest, *, explored: int | None = None) -> Promise:
    """What would be promised. Uses no row.

    Raises NotReleasable when a mechanism of the learner has no exact sampler; RefusedRelease when the learner is not private,
    its claim does not hold, or a value taken as public was read from the rows; UnknownName, ParameterError, WrongTask or
    SchemaError when the request itself is wrong.
    """
    spec = get_learner(request.learner)
    require_task(spec, schema)
    params = make_params(spec.Params, spec.name, request.params)
    plan = spec.plan(schema, Settings(**request.settings), params)
    claim = spec.claim(plan, params, schema)
    _require_sound(spec.title, claim)
    if not spec.exact:
        raise NotReleasable(spec.title)
    taken = assumptions(schema, explored=explored)
    _require_declared(taken)
    return Promise(PrivacyLoss(claim.epsilon, claim.delta), claim, taken)


def _require_sound(title: str, claim: Claim) -> None:
    if claim.verdict == "none" or not claim.is_private:
        what = f"{title} is not private: it would publish exact values."
    elif not claim.is_sound:
        what = f"The privacy claim of {title} is {claim.verdict}. {claim.because}"
    else:
        return
    raise RefusedRelease(what, remedy="Release a learner whose claim holds, such as 'pf-tree'.")


def _require_declared(taken: tuple[Assumption, ...]) -> None:
    read = [item for item in taken if item.blocks]
    if read:
        first = f"{read[0].kind} of {read[0].column!r}" if read[0].column else read[0].kind
        more = f" and {len(read) - 1:,} more" if len(read) > 1 else ""
        what = f"A released file may hold nothing that was read from the data, but the {first}{more} was."
        raise RefusedRelease(what, remedy="Declare it from public knowledge.")


def publish(
    register: ReleaseRegister,
    data: Rows,
    request: ReleaseRequest,
    *,
    token: str | None = None,
    file: Path | None = None,
    assign_to: str | None = None,
    columns: Iterable[str] = (),
    progress: Callable[[float], None] | None = None,
) -> Entry:
    """Release one model; its rows must have been assigned to a data set, or are assigned to `assign_to` with it.

    Raises RefusedRelease, OverCap, NotReleasable, NotRowWise, RegisterError or DpvizError before anything is spent, unless the
    message says otherwise.

    `token`: identifies this request: if it was released before, that release is returned and nothing is spent.
    `file`: a new file; by default one in the register's folder.
    `assign_to`: the data set the rows belong to. What is refused leaves them unassigned.
    `columns`: names of the table's columns, kept with the assignment.
    """
    token = token or f"{random_128_bits():032x}"
    before = register.find(token)
    if before is not None:
        register.settle()
        before = register.entry(token)
        if before.state is State.RELEASED:
            return before
    tell = progress or (lambda share: None)
    data_set = register.data_set_of(data.identity) if assign_to is None else register.data_set(assign_to)
    asked = float(request.settings["epsilon"])  # or what is left when the two differ by rounding only
    request = request.at(asked if data_set is None else register.balance(data_set.name).fitting(asked))
    promised = promise(data.schema, request)
    require_counts(get_learner(request.learner), data, request.settings.get("test_share"))
    if data.not_row_wise:
        raise NotRowWise(data.not_row_wise)
    target = file or register.folder / f"{request.learner}-{token[:12]}.json"
    _require_same_unit(data_set, data)
    register.start(
        token=token,
        fingerprint=data.identity,
        learner=request.learner,
        settings=request.asked,
        loss=promised.loss,
        disclosures=[item.to_dict() for item in promised.assumptions],
        file=target.absolute(),
        assign_to=assign_to,
        columns=columns,
    )
    tell(0.1)
    result = fit(request.learner, data, source=ExactNoise(), **request.asked)
    _require_as_promised(result, promised)
    tell(0.9)
    return _write(register, token, target, released_document(result, promised, register.seal_of(token)))


def _require_same_unit(data_set: DataSet | None, data: Rows) -> None:
    """What the register says about a person must be what holds for these rows."""
    if data_set is None or data.rows_per_person in (None, data_set.rows_per_unit):
        return
    declared, used = data_set.rows_per_unit, data.rows_per_person
    what = f"The data set declares at most {declared:,} rows for {data_set.unit!r}; of each person at most {used:,} are used."
    raise RefusedRelease(what, where=data_set.name, remedy="Keep as many rows of each person as the data set declares.")


def _require_as_promised(result: FitResult, promised: Promise) -> None:
    """What was done must not cost more than was booked; otherwise nothing is written."""
    spent = result.ledger.guarantee
    is_covered = spent.epsilon <= promised.loss.epsilon and spent.delta <= promised.loss.delta
    if not (result.released and result.seed is None and is_covered):
        raise RefusedRelease(
            "Training cost more than was promised. Nothing was written, and what was promised stays spent.",
            where=result.learner,
            remedy="Please report this: a learner's ledger exceeds its claim.",
        )


def released_document(result: FitResult, promised: Promise, seal: Seal) -> str:
    """The `dpviz-tree/1` document with its assumptions and its place in the register.

    How often the rows were explored is private and stays out, and so does the number of the entry, which would tell.
    """
    document = json.loads(result.to_json())
    public = [item for item in promised.assumptions if item.kind != "tuning"]
    document["assumptions"] = [item.to_dict() for item in public]
    document["promised"] = asdict(promised.loss)
    document["register"] = asdict(seal)
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _write(register: ReleaseRegister, token: str, target: Path, text: str) -> Entry:
    with write_part(target, token, text) as file:
        part = Path(file.name)
        try:
            sha256 = register.sealed(token, part)
        except BaseException:
            discard(part)
            raise
    move_into_place(part, target, sha256)
    try:
        return register.finish(token)
    except RegisterError:
        if _is_unknown(register, token):  # somebody has removed the register: no file stands without its entry
            discard(target)
        raise


def _is_unknown(register: ReleaseRegister, token: str) -> bool:
    try:
        return register.find(token) is None
    except RegisterError:  # nobody can tell now; the entry was there when the file was moved
        return False
