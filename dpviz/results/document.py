"""The JSON document `dpviz-tree/1`: a model and everything that must be said about it.

One definition: the types here and in `dpviz/models/document.py` are what is written, what is read, and what the published JSON
Schema describes (`json_schema.py`). Released values only: no exact counts, no seed of a release. Readers ignore unknown keys and
refuse unknown versions.
"""

import json
import math
import platform
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss, guarantee
from dpviz.accounting.ledger import LedgerRow, ledger_from
from dpviz.accounting.risk import StatedRisk
from dpviz.models.base import Model
from dpviz.models.document import NodeBody, model_body
from dpviz.results.verdict import ROW, Unit
from dpviz.table.schema import Schema
from dpviz.table.strict_json import FilledText, plain, read, with_infinity, wrong
from dpviz.version import VERSION

#: What is said of a release of which the document names no entry in a register.
NO_REGISTER_ENTRY = "Not recorded in any register: nobody adds its cost to that of other releases of the same rows."


_SETTINGS = {
    "required": ["epsilon", "max_depth", "depth", "delta"],
    "properties": {"rows_per_person": {"type": "integer", "minimum": 1}},
}


class LearnerEntry(Struct):
    """What was trained: `depth` is that of the plan.

    Epsilon and delta of the `settings` are those of one person with up to `rows_per_person` rows, which stands among them; of
    one row where it does not.
    """

    name: FilledText
    settings: Annotated[dict[str, Any], Meta(extra_json_schema=_SETTINGS)]
    parameters: dict[str, Any]
    depth: Annotated[int, Meta(ge=0)]

    @property
    def rows_per_person(self) -> int:
        """The rows of a person whose epsilon and delta the settings are."""
        return read(_Rows, self.settings, "learner.settings").rows_per_person


class _Rows(Struct):
    rows_per_person: Annotated[int, Meta(ge=1, lt=2**31)] = 1


class Noise(Struct, omit_defaults=True):
    """Where the noise came from. A release has neither seed nor warning; the warning says why this is none."""

    source: Literal["simulation", "release", "exact samplers"]
    seed: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    warning: str | None = None


class PerPerson(Struct):
    """What it costs one `unit` with at most `rows` rows; it follows from the ledger, or from the guarantee for one row.

    `unit`: the owner's word for one person, such as "one patient". `bounded`: no more rows of a person were used; false where
    that is the owner's word.
    """

    rows: Annotated[int, Meta(ge=1, lt=2**31)]
    epsilon: float
    delta: float = 0.0
    unit: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    bounded: bool = True

    @classmethod
    def of(cls, unit: Unit, loss: PrivacyLoss) -> "PerPerson | UnsetType":
        """For a unit that loses `loss`; nothing for a row."""
        if unit.is_row:
            return UNSET
        return cls(unit.rows, loss.epsilon, loss.delta, unit.name or UNSET, unit.is_bounded)


class Statement(Struct, kw_only=True):
    """What is said about privacy: every epsilon is for data sets that differ by one row.

    Only a claim that `holds` is a guarantee. `ledger`: the steps as `ledger_entries` writes them.
    """

    neighbours: str = NEIGHBOURS
    guarantee: PrivacyLoss
    per_person: PerPerson | UnsetType = UNSET
    risk: tuple[StatedRisk, ...] | UnsetType = UNSET  #: Of one row, and of one person; left out where nothing bounds the loss
    claim: Claim
    ledger: tuple[dict[str, Any], ...]
    disclosures: tuple[Disclosure, ...]
    noise: Noise

    @property
    def steps(self) -> tuple[LedgerRow, ...]:
        """The lines of the ledger; raises DocumentError for one that is none."""
        return read(tuple[LedgerRow, ...], self.ledger, "privacy.ledger")

    @property
    def unit(self) -> Unit:
        """Whom the guarantee protects."""
        person = self.per_person
        return ROW if isinstance(person, UnsetType) else Unit(person.rows, person.unit or "", person.bounded)

    @property
    def loss(self) -> PrivacyLoss:
        """What its unit loses."""
        person = self.per_person
        return self.guarantee if isinstance(person, UnsetType) else PrivacyLoss(person.epsilon, person.delta)


class Estimate(Struct, frozen=True):
    """A number that was estimated from noisy counts, with the ends of its 95% interval."""

    value: float
    low: float
    high: float


class Band(Struct, frozen=True):
    """Rows whose probability was predicted as about `predicted`; `observed` is the share for which it came true."""

    predicted: float
    observed: Estimate


class GroupEntry(Struct, frozen=True):
    """Of the rows with one category: the share whose label is wrong, and per class the share that is found."""

    name: str
    error: Estimate
    found: tuple[Estimate, ...]


_Positive = Annotated[float, Meta(gt=0)]
_Share = Annotated[float, Meta(gt=0, lt=1)]
_Whole = tuple[int, ...]


class TestEntry(Struct):
    """What the model is worth on rows held out from it at random. Every figure follows from the table, or for numbers the sums.

    `table`: every answer of the model, with the noisy counts of the rows that got it, per actual class. `counted`: the same of
    the rows that made the probabilities. `groups`: a feature whose categories are counted apart, for each answer in their order;
    then `table` has every answer as often. `confusion`: share of all rows per actual class, then per predicted class. Numbers are
    read within `centre` +- `width`; `sums` are noisy, in 2^-30 rows, by error and by place: Bernstein weights of degree 4.
    """

    __test__ = False  # type: ignore[misc]  # no test of pytest's

    share: _Share
    epsilon: _Positive
    confidence: float | UnsetType = UNSET
    table: Annotated[tuple[NodeBody, ...], Meta(min_length=1)] | UnsetType = UNSET
    counted: tuple[_Whole, ...] | UnsetType = UNSET
    groups: FilledText | UnsetType = UNSET
    by_group: tuple[GroupEntry, ...] | UnsetType = UNSET
    accuracy: Estimate | UnsetType = UNSET
    confusion: tuple[tuple[Estimate, ...], ...] | UnsetType = UNSET
    auc: Estimate | UnsetType | None = UNSET
    log_loss: Estimate | UnsetType | None = UNSET
    calibration: tuple[Band, ...] | UnsetType = UNSET
    table_epsilon: _Positive | UnsetType = UNSET
    centre: float | UnsetType = UNSET
    width: _Positive | UnsetType = UNSET
    sums: Annotated[tuple[_Whole, ...], Meta(min_length=5, max_length=5)] | UnsetType = UNSET
    r_squared: Estimate | UnsetType = UNSET
    rmse: Estimate | UnsetType = UNSET
    absolute_error: Estimate | UnsetType = UNSET


class AssumptionEntry(Struct):
    """What a release takes as public, and where it came from."""

    kind: str
    column: str
    what: str
    source: str


class Recorded(Struct):
    """Which register the release is in (`of`), and the hash of the entry with which it was booked (`head`)."""

    of: Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
    head: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Booking(Struct):
    """What a register adds to a released document: assumptions, the loss that was booked before training, the entry."""

    assumptions: tuple[AssumptionEntry, ...]
    promised: PrivacyLoss
    register: Recorded


class Document(Struct):
    """A model and everything that must be said about it. Released values only: no rows, no exact counts, no seed of a release.

    Readers ignore keys they do not know and refuse other formats. `assumptions`, `promised` and `register` are those of a release
    from a register; a release that no register counts has null for `register`.
    """

    format: Literal["dpviz-tree/1"]
    kind: str
    schema: dict[str, Any]
    learner: LearnerEntry | UnsetType = UNSET
    privacy: Statement | UnsetType = UNSET
    test_report: TestEntry | UnsetType = UNSET
    versions: dict[str, str] | UnsetType = UNSET
    assumptions: tuple[AssumptionEntry, ...] | UnsetType = UNSET
    promised: PrivacyLoss | UnsetType = UNSET
    register: Recorded | UnsetType | None = UNSET


def statement_of(document: Any) -> Statement:
    """What a parsed document states; where it is silent, nothing is guaranteed. Raises DocumentError naming the place."""
    privacy = read(dict, document).get("privacy")
    if privacy is None:
        nothing, loss = Claim(math.inf, "", "none", "The document says nothing about privacy."), PrivacyLoss(math.inf)
        return Statement(claim=nothing, guarantee=loss, ledger=(), disclosures=(), noise=Noise("simulation"))
    statement = read(Statement, with_infinity(privacy, "epsilon"), "privacy")
    if statement.neighbours != NEIGHBOURS:
        raise wrong(f"This must be {NEIGHBOURS!r}; got {statement.neighbours!r:.60}.", "privacy.neighbours")
    assert isinstance(statement.steps, tuple)
    # in files of before, what is said of a person follows from a row's
    if statement.loss != statement.unit.loss_of(statement.guarantee):
        ours = guarantee(ledger_from(statement.ledger, "privacy.ledger").event, statement.unit.rows)
        if not (_is_same(statement.loss.epsilon, ours.epsilon) and _is_same(statement.loss.delta, ours.delta)):
            raise wrong("This does not follow from the steps of the ledger.", "privacy.per_person")
    return statement


def _is_same(one: float, other: float) -> bool:
    """But for the last digits, in which mathematical functions differ between computers."""
    return one == other or math.isclose(one, other, rel_tol=1e-9)


def learner_of(document: Any) -> LearnerEntry:
    """What a parsed document says was trained."""
    return read(LearnerEntry, read(dict, document).get("learner", {}), "learner")


def is_recorded(document: Any) -> bool:
    """True where a parsed document names its entry in a register."""
    return read(dict, document).get("register") is not None


def document_text(
    model: Model,
    schema: Schema,
    learner: LearnerEntry,
    privacy: Statement,
    test_report: TestEntry | None,
    booking: Booking | None,
) -> str:
    """The whole document as indented JSON text. A release without a booking says that no register counts it."""
    is_release = privacy.noise.source == "release"
    document = Document(
        format="dpviz-tree/1",
        kind=model.kind,
        schema=schema.to_dict(),
        learner=learner,
        privacy=privacy,
        test_report=test_report or UNSET,
        versions={"dpviz": VERSION, "numpy": np.__version__, "python": platform.python_version()},
        assumptions=booking.assumptions if booking else UNSET,
        promised=booking.promised if booking else UNSET,
        register=booking.register if booking else None if is_release else UNSET,
    )
    told = plain(document)
    whole = {"format": told.pop("format"), "kind": told.pop("kind"), **model_body(model), **told}
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
