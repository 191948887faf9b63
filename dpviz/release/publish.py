"""The one way to a released file: promise, spend, train, write, release.

The promise uses public information only, before a row is touched: what the release will cost, and whether it may be made. Then
the cost is booked, the model is trained with exact samplers and randomness from the operating system, its file is written and
moved into place, and the release is recorded. `Register` is the same from Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.errors import NotReleasable, NotRowWise, ParameterError, RefusedRelease, RegisterError, UnansweredRows
from dpviz.learners import FitRequest, require_counts, require_task
from dpviz.learners.request import require_rows, rows_of, warn_of
from dpviz.privacy.source import ExactNoise
from dpviz.randomness import random_128_bits
from dpviz.release.assumptions import Assumption, assumptions
from dpviz.release.files import SUFFIX, discard, move_into_place, require_new_file, write_part
from dpviz.release.looks import note_look, require_source
from dpviz.release.records import WARNED, DataSet, Entry, Seal, State, protected
from dpviz.release.register import ReleaseRegister
from dpviz.results.document import AssumptionEntry, Booking, Recorded
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.training.counted_rows import Rows


@dataclass(frozen=True)
class Promise:
    """What a release will cost one row, what that tells about it, the claim behind it, and what it takes as public."""

    loss: PrivacyLoss
    risk: Risk
    claim: Claim
    assumptions: tuple[Assumption, ...]


def promise(schema: Schema, request: FitRequest, *, explored: int | None = None) -> Promise:
    """What would be promised. Uses no row.

    Raises NotReleasable when a mechanism of the learner has no exact sampler; RefusedRelease when the learner is not private,
    its claim does not hold, or a value taken as public was read from the rows; WrongTask or SchemaError where it does not fit the
    schema.
    """
    spec = request.spec
    require_task(spec, schema)
    claim = request.claim(schema)
    _require_sound(spec.title, claim)
    if not spec.exact:
        raise NotReleasable(f"A mechanism of {spec.title}")
    taken = assumptions(schema, explored=explored)
    _require_declared(taken)
    return Promise(PrivacyLoss(claim.epsilon, claim.delta), request.risk(schema), claim, taken)


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
    request: FitRequest,
    *,
    token: str | None = None,
    file: Path | None = None,
    assign_to: str | None = None,
    columns: Iterable[str] = (),
    add_rows: bool = True,
    accept_rows: bool = True,
    how_to_accept: str = "pass accept_rows=True",
    how_to_name_a_source: str = "Name it in the schema: dataclasses.replace(schema, source='codebook of 2024, page 12').",
    disjoint_from: Iterable[str] = (),
    progress: Callable[[float], None] | None = None,
) -> Entry:
    """Release one model; its rows must have been assigned to a data set, or are assigned to `assign_to` with it.

    Raises RefusedRelease, OverCap, NotReleasable, NotRowWise, RegisterError or DpvizError before anything is spent, unless the
    message says otherwise.

    `token`: identifies this request: if it was released before, that release is returned and nothing is spent.
    `file`: a new file, ending in .json; by default one in the register's folder.
    `assign_to`: the data set the rows belong to. What is refused leaves them unassigned.
    `columns`: names of the table's columns, kept with the assignment; by default those of the schema.
    `add_rows`: without it the rows have to be known as rows of that data set, else UnansweredRows is raised.
    `accept_rows`: without it a release from few of the rows is refused; that this was said of private ones is noted.
    `how_to_accept`, `how_to_name_a_source`: in the words of whoever asks. A schema that was corrected after a look at these rows
    names its public source.
    `disjoint_from`: data sets that nobody in these rows is in; UnansweredRows asks for it where the rows look like theirs.
    """
    if request.seed is not None:
        raise RefusedRelease("A seeded run protects nobody.", where="seed", remedy="Leave the seed out.")
    token = token or f"{random_128_bits():032x}"
    before = register.find(token)
    if before is not None:
        register.settle()
        before = register.entry(token)
        if before.state is State.RELEASED:
            return before
    tell = progress or (lambda share: None)
    target = file or register.folder / f"{request.learner}-{token[:12]}{SUFFIX}"
    require_new_file(target, make_folder=file is None)
    data_set = register.data_set_of(data.identity) if assign_to is None else register.data_set(assign_to)
    asked = request.settings.epsilon  # or what is left when the two differ by rounding only
    request = request.at(epsilon=asked if data_set is None else register.balance(data_set.name).fitting(asked))
    promised = promise(data.schema, request)
    require_counts(request.spec, data, request.settings.test_share)
    if data.not_row_wise:
        raise NotRowWise(data.not_row_wise)
    _require_same_unit(data_set, data)
    require_source(register, data, how_to_name_a_source)
    if not accept_rows:
        _require_rows(register, data_set, data, how_to_accept)
    register.start(
        token=token,
        fingerprint=data.identity,
        learner=request.learner,
        settings=request.arguments,
        loss=promised.loss,
        disclosures=[item.to_dict() for item in promised.assumptions],
        file=target.absolute(),
        assign_to=assign_to,
        columns=tuple(columns) or (*data.schema.feature_names, data.schema.target.name),
        sums=data.table_sums,
        disjoint_from=disjoint_from,
        add_rows=add_rows,
    )
    tell(0.1)
    result = replace(request.fit(data, ExactNoise()), unit=protected(data_set, data.rows_per_person))
    _require_as_promised(result, promised)
    tell(0.9)
    return _write(register, token, target, released_document(result, promised, register.seal_of(token)))


def _require_rows(register: ReleaseRegister, data_set: DataSet | None, data: Rows, how_to_accept: str) -> None:
    """Refuse a release on few of the rows; that somebody has learned this from private rows is noted."""
    try:
        require_rows(data, accept=how_to_accept)
    except RefusedRelease:
        if data_set is not None and data_set.role is DataRole.PRIVATE:
            note_look(register, WARNED, data)
        raise


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
    public = tuple(AssumptionEntry(**item.to_dict()) for item in promised.assumptions if item.kind != "tuning")
    return result.to_json(Booking(public, promised.loss, Recorded(seal.of, seal.head))) + "\n"


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


class Register(ReleaseRegister):
    """A register of releases: `declare` a data set, `release` from it, `balance` says what is left. See `open_register`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held open between calls."""

    def release(
        self,
        data_set: str,
        learner: str | FitRequest,
        rows: Any,
        *,
        schema: Schema | None = None,
        file: str | Path | None = None,
        add_rows: bool = False,
        accept_rows: bool = False,
        disjoint_from: str | Iterable[str] = (),
        **asked: Any,
    ) -> Entry:
        """Train with exact samplers, write the released file, and book what it costs under the cap of `data_set`.

        Parameters
        ----------
        data_set : str
            Declared before.
        learner : str or FitRequest
            What to train; with a name, `asked` are `epsilon` and what else `dpviz.fit` takes, without a seed.
        rows, schema
            As for `dpviz.fit`. Private.
        file : path, optional
            A new file that ends in .json; by default one in the register's folder.
        add_rows : bool
            These rows belong to the data set, for good; needed once per table.
        accept_rows : bool
            Release although few of the rows can be used.
        disjoint_from : str or sequence of str, optional
            Data sets whose rows these look like, but nobody in them is in these; the answer is kept.

        Returns
        -------
        Entry
            Its number, cost, file and SHA-256; `dpviz.load_result(entry.file)` reads it.

        Raises
        ------
        RefusedRelease, UnansweredRows, OverCap, NotReleasable, NotRowWise, RegisterError
            Before anything is spent, unless the message says otherwise.
        ParameterError
            Something is given beside a FitRequest that the request says.

        Warns
        -----
        ReplacedWarning, WithoutEffect
            As `dpviz.fit`.
        """
        if "assign" in asked:
            warnings.warn("assign is called add_rows now.", DeprecationWarning, stacklevel=2)
            add_rows = asked.pop("assign")
        if isinstance(learner, FitRequest):
            for name, value in asked.items():
                raise ParameterError("release", name, value, "left out: the FitRequest says what is asked for")
        request = learner if isinstance(learner, FitRequest) else FitRequest.of(learner, **asked)
        self.data_set(data_set)
        data, others = rows_of(rows, schema), (disjoint_from,) if isinstance(disjoint_from, str) else tuple(disjoint_from)
        answers: dict[str, Any] = {"add_rows": add_rows, "accept_rows": accept_rows, "disjoint_from": others}
        try:
            entry = publish(self, data, request, file=None if file is None else Path(file), assign_to=data_set, **answers)
        except UnansweredRows as question:
            raise _asked_in_python(question) from None
        warn_of(request, data, accepted=True)
        return entry


def _asked_in_python(question: UnansweredRows) -> UnansweredRows:
    if question.code == "unassigned":
        remedy = "Pass add_rows=True if they belong to it; else declare another data set."
    else:
        named = ", ".join(map(repr, question.data_sets))
        remedy = f"Release them under {question.data_sets[0]!r}, or pass disjoint_from=({named},) if nobody in them is in it."
    about = {"where": question.where, "remedy": remedy, "data_sets": question.data_sets}
    return UnansweredRows(question.code, question.what, **about)  # type: ignore[arg-type]


def open_register(path: str | Path | None = None) -> Register:
    """The register of releases at `path`; None is the one that the dashboard and the command line use.

    >>> with dpviz.open_register("releases.sqlite") as register:
    ...     register.declare("clinic", epsilon_cap=1.0, unit="one patient", rows_per_unit=3)
    ...     entry = register.release("clinic", "pf-tree", frame, schema=schema, epsilon=0.5, add_rows=True)
    ...     register.balance("clinic").left

    Returns
    -------
    Register
        To be used in a `with` block, or as it is.

    Raises
    ------
    RegisterError
        The register cannot be used; `code` says why.
    """
    return Register(path)
