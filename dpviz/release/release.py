"""The one way to a released file: terms, recognise, book, train, write, finish. Nothing else spends.

The terms use public information only, before a row is touched: what the release will cost, whether it may be made, and what it
takes as public. Then the rows are recognised and the cost is booked, the model is trained with exact samplers and randomness from
the operating system, its file is written and moved into place, and the release is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.errors import RefusedRelease, UnansweredRows, no_exact_sampler, not_row_wise
from dpviz.learners import FitRequest, require_counts, require_task
from dpviz.learners.request import doubts, rows_of
from dpviz.privacy.source import ExactNoise
from dpviz.randomness import random_128_bits
from dpviz.release.files import SUFFIX, require_new_file
from dpviz.release.records import INSPECTION_WARNING, ReleaseRecord, State, protected_unit
from dpviz.release.register import Register
from dpviz.results.document import AssumptionEntry, Booking, Recorded
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target
from dpviz.training.counted_rows import CountedRows

#: A public row count with more digits than this, or not rounded to tens, looks counted rather than known.
MAX_DIGITS = 3
#: Fields of columns with an assumption of their own.
_COLUMN_FIELDS = frozenset({"kind", "low", "high", "categories", "classes"})


class Status(StrEnum):
    """Where an assumption comes from."""

    DECLARED = "declared"
    READ = "read from data"
    EXPLORED = "explored"
    DOUBTFUL = "looks exact"
    UNSAID = "not declared"


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing taken as public; `column` is empty where it belongs to none, `fix` where nothing needs fixing.

    `kind` is "range", "categories", "classes", "kind", "reading", "choice of columns", "row count", "correction", "tuning" or
    "place".
    What was read from the rows blocks a release: no epsilon covers it. What was declared only has to be true.
    """

    kind: str
    column: str
    what: str
    status: Status
    fix: str = ""

    @property
    def blocks(self) -> bool:
        """Whether it must be fixed before anything is released."""
        return self.status is Status.READ

    def to_dict(self) -> dict[str, str]:
        """For the register and the released file."""
        return {"kind": self.kind, "column": self.column, "what": self.what, "source": str(self.status)}


def assumptions(schema: Schema, *, explored: int | None = None) -> tuple[Assumption, ...]:
    """Every assumption of a release under `schema`, those that block it first.

    `explored` is how many fits on the same rows were looked at before, None when the rows are not private. It is private: shown
    to the owner, never written to the file.
    """
    items = [item for column in (*schema.features, schema.target) for item in _of_column(column)]
    count, read = schema.n_public, set(schema.read_from_data)
    if count is None:
        items.append(Assumption("row count", "", "none is taken as public", Status.UNSAID))
    elif "n_public" not in read and count % 10 ** max(1, len(str(count)) - MAX_DIGITS):
        fix = "Round it, unless the exact number is public."
        items.append(Assumption("row count", "", f"about {count:,} rows", Status.DOUBTFUL, fix))
    else:
        items.append(_value("row count", "", f"about {count:,} rows", {"n_public"} & read))
    if "features" in read:
        items.append(_value("choice of columns", "", "which columns are used", {"features"}))
    if schema.source:
        what = f"corrected after a look at how the rows fit, by: {schema.source}"
        items.append(Assumption("correction", "", what, Status.DECLARED))
    if explored:
        what = f"settings were chosen after {_count(explored, 'look', 'looks')} at these rows"
        fix = "Choose settings on simulated or public rows of the same kind (Compare page), then release them once."
        items.append(Assumption("tuning", "", what, Status.EXPLORED, fix))
    elif explored == 0:
        items.append(Assumption("tuning", "", "settings were chosen without looking at these rows", Status.DECLARED))
    return tuple(sorted(items, key=lambda item: (not item.blocks, item.status is Status.DECLARED)))


def _of_column(column: Feature | Target) -> Iterator[Assumption]:
    read = set(column.read_from_data)
    match column:
        case NumericFeature(name, low, high) | NumericTarget(name, low, high):
            yield _value("range", name, f"{low:g} to {high:g}", read & {"low", "high"})
        case CategoricalFeature(name, categories):
            yield _value("categories", name, _count(len(categories), "category", "categories"), read & {"categories"})
        case ClassTarget(name, classes):
            yield _value("classes", name, _count(len(classes), "class", "classes"), read & {"classes"})
    if "kind" in read:
        yield _value("kind", column.name, "whether it is a number or a list of categories", {"kind"})
    if read - _COLUMN_FIELDS:
        yield _value("reading", column.name, "how its cells are read: missing, unknown, whole numbers, dates", read)


def _value(kind: str, column: str, what: str, read: set[str]) -> Assumption:
    if read:
        return Assumption(kind, column, what, Status.READ, "Declare it from public knowledge on the Data page.")
    return Assumption(kind, column, what, Status.DECLARED)


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


@dataclass(frozen=True)
class ReleaseTerms:
    """What a release will cost one unit, what it tells about a row, the claim behind it, and what it takes as public."""

    loss: PrivacyLoss
    risk: Risk
    claim: Claim
    assumptions: tuple[Assumption, ...]


def preview_terms(schema: Schema, request: FitRequest, *, explored: int | None = None, together: bool = False) -> ReleaseTerms:
    """The terms of a release. Uses no row. `together`: the rows of a person are held out together; see `FitRequest.risk`.

    Raises RefusedRelease when the learner is not private, its claim does not hold, a mechanism of it has no exact sampler, or a
    value taken as public was read from the rows; UnsupportedError or SchemaError where it does not fit the schema.
    """
    spec = request.spec
    require_task(spec, schema)
    claim = request.claim_of_person(schema)
    if not (claim.is_sound and claim.is_private) or claim.verdict == "none":
        what = f"The privacy claim of {spec.title} is {claim.verdict}. {claim.because}"
        if claim.verdict == "none" or not claim.is_private:
            what = f"{spec.title} is not private: it would publish exact values."
        raise RefusedRelease(what, remedy="Release a learner whose claim holds, such as 'pf-tree'.")
    if not request.plan(schema).is_exact:
        raise no_exact_sampler(f"A mechanism of {spec.title}")
    items = assumptions(schema, explored=explored)
    if blocking := [item for item in items if item.blocks]:
        first = f"{blocking[0].kind} of {blocking[0].column!r}" if blocking[0].column else blocking[0].kind
        more = f" and {len(blocking) - 1:,} more" if len(blocking) > 1 else ""
        what = f"A released file may hold nothing that was read from the data, but the {first}{more} was."
        raise RefusedRelease(what, remedy="Declare it from public knowledge.")
    return ReleaseTerms(claim.loss, request.risk(schema, together=together), claim, items)


def release(
    register: Register,
    data_set: str,
    request: FitRequest,
    rows: Any,
    schema: Schema | None = None,
    *,
    token: str | None = None,
    file: Path | None = None,
    add_rows: bool = False,
    accept_rows: bool = False,
    disjoint_from: Iterable[str] = (),
    columns: Iterable[str] = (),
    progress: Callable[[float], None] | None = None,
) -> ReleaseRecord:
    """As `Register.release`, which says the rest. A command or a page says by the `code` of UnansweredRows how it is answered.

    `columns`: names of the table's columns, by default those of the schema. `token`: identifies this request: if it was released
    before, that release is returned and nothing is spent.
    """
    require_unseeded(request)
    token = token or f"{random_128_bits():032x}"
    if register.find(token) is not None:
        register.recover_interrupted()
        before = register.record(token)
        if before.state is State.RELEASED:
            return before
    progress = progress or (lambda share: None)
    target = file or register.folder / f"{request.learner}-{token[:12]}{SUFFIX}"
    require_new_file(target, make_folder=file is None)

    balance = register.balance(data_set)
    data, account = rows_of(rows, schema), balance.data_set
    request = request.at(epsilon=balance.fitting(request.settings.epsilon))  # or what is left, where only rounding differs
    terms = preview_terms(data.schema, request, together=data.rows_per_person is not None)
    if isinstance(data, CountedRows) and data.whereabouts:
        place = Assumption("place", "", data.whereabouts, Status.DECLARED)
        terms = replace(terms, assumptions=(*terms.assumptions, place))
    require_counts(request.spec, data, request.settings.test_share)
    if data.not_row_wise:
        raise not_row_wise(data.not_row_wise)
    declared, used = account.rows_per_unit, data.schema.rows_per_person
    if used != declared:
        what = f"The data set declares at most {declared:,} rows for {account.unit!r}; the schema of these rows says {used:,}."
        raise RefusedRelease(what, where=data_set, remedy=f"Give the schema as many: rows_per_person = {declared:,}.")
    require_source(register, data)
    if not accept_rows and (doubtful := doubts(data)):
        if account.role is DataRole.PRIVATE:
            register.note_inspection(INSPECTION_WARNING, data)
        remedy = "Correct the schema, or how the table is read, by what you know without the rows, or pass accept_rows=True."
        remedy += " Nothing was spent. Keep this private."
        raise UnansweredRows("few", " ".join(doubtful), where="", remedy=remedy)

    register.start(
        data_set,
        token=token,
        fingerprint=data.identity,
        learner=request.learner,
        settings=request.arguments,
        loss=terms.loss,
        disclosures=[item.to_dict() for item in terms.assumptions],
        file=target.absolute(),
        columns=tuple(columns) or (*data.schema.feature_names, data.schema.target.name),
        sums=data.table_sums,
        disjoint_from=disjoint_from,
        add_rows=add_rows,
    )
    progress(0.1)
    result = replace(request.fit(data, ExactNoise()), unit=protected_unit(account, data))
    _require_booked(result, terms)
    progress(0.9)
    register.keep_text(token, released_document(result, terms, register.reference_of(token)))
    return register.finish(token)


def require_unseeded(request: FitRequest) -> None:
    """Raise RefusedRelease where a seed is asked for."""
    if request.seed is not None:
        raise RefusedRelease("A seeded run protects nobody.", where="seed", remedy="Leave the seed out.")


def require_source(register: Register, data: Any) -> None:
    """Raise UnansweredRows ("source") where the schema was corrected after an inspection of these rows and names no source."""
    if not data.schema.source and register.is_corrected(data):
        what = "The schema was changed after a look at how these rows fit, and names no public source."
        remedy = "Name it in the schema: dataclasses.replace(schema, source='codebook of 2024, page 12'). Nothing was spent."
        raise UnansweredRows("source", what, where="source", remedy=remedy)


def _require_booked(result: FitResult, terms: ReleaseTerms) -> None:
    """Raise RefusedRelease where training cost more than was booked."""
    spent, booked = result.spent, terms.loss
    is_covered = spent.epsilon <= booked.epsilon and spent.delta <= booked.delta
    if not (result.released and result.seed is None and is_covered):
        raise RefusedRelease(
            "Training cost more than was promised. Nothing was written, and what was promised stays spent.",
            where=result.learner,
            remedy="Please report this: a learner's ledger exceeds its claim.",
        )


def released_document(result: FitResult, terms: ReleaseTerms, reference: Recorded) -> str:
    """The `dpviz-tree/1` document with its assumptions and its place in the register.

    How often the rows were explored is private and stays out, and so does the number of the release, which would tell.
    """
    public = tuple(AssumptionEntry(**item.to_dict()) for item in terms.assumptions if item.kind != "tuning")
    return result.to_json(Booking(public, terms.loss, reference)) + "\n"
