"""What a fit returns: a model made of released values, with everything a reader must know about it."""

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET

from dpviz.accounting.claim import Claim, Disclosure, why_uncovered
from dpviz.accounting.events import Event
from dpviz.accounting.guarantee import PrivacyLoss, guarantee, of_person
from dpviz.accounting.ledger import Ledger, ledger_entries
from dpviz.accounting.plan import BudgetPlan
from dpviz.accounting.risk import Risk, stated_risks
from dpviz.errors import DpvizError, path_text
from dpviz.models.base import Model
from dpviz.models.new_rows import answers, probabilities
from dpviz.results.document import Booking, Estimate, LearnerEntry, Noise, PerPerson, Statement, TestEntry, document_text
from dpviz.results.exports import export
from dpviz.results.verdict import ROW, Unit, Verdict, verdict
from dpviz.results.wording import signs_spelled
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.raw import list_names
from dpviz.table.schema import ClassTarget, Schema


@dataclass(frozen=True)
class TestReport(ABC):
    """A model's private test result; see `dpviz.training.estimate.report` for classes and `number_report` for a number."""

    schema: Schema
    share: float  #: Part of the rows held out at random for this test
    epsilon: float  #: What each of these rows pays in all; they pay for nothing else
    #: The most rows of one person, which may be equal: intervals are wider by the square root of this.
    rows_per_person: int = field(default=1, kw_only=True)

    __test__ = False  # no test of pytest's

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows of the test, from noisy numbers; may be far off, even negative, where there are few."""

    @property
    @abstractmethod
    def estimates(self) -> dict[str, Estimate | None]:
        """By name of a measure (`dpviz.evaluation.metrics`); None where the model says too little for it."""

    @property
    @abstractmethod
    def entry(self) -> TestEntry:
        """What was released, and what follows from it, for the JSON document."""


@dataclass(frozen=True, repr=False)
class FitResult:
    """A trained model with everything a reader must know about it."""

    learner: str
    model: Model  #: Holds released values only
    ledger: Ledger  #: What was spent, and what it composes to
    claim: Claim  #: What the paper claims that a row loses, and our verdict; `claim_of_person` compares with `guarantee`
    plan: BudgetPlan  #: What was allowed to be spent
    params: Any  #: The learner's own parameters
    #: Depths, and epsilon and delta of a person with `plan.rows_per_person` rows, as asked for; a type that learners declare
    settings: Any
    schema: Schema
    disclosures: tuple[Disclosure, ...]  #: What the result reveals that the ledger does not cover
    noise: str  #: "simulation" or "release"
    seed: int | None  #: None for a release
    #: What the model is worth on rows held out from it at random; None where none were.
    test_report: TestReport | None = None
    unit: Unit = ROW  #: Whom the guarantee protects; one row where the rows are not bound to persons
    releasable: bool = True  #: False if a mechanism has no exact sampler
    planned: Event | None = None  #: What may be done to a row, whatever the rows; None where only the ledger is known

    def __post_init__(self) -> None:
        if self.test_report is not None and self.test_report.rows_per_person != self.unit.rows:
            object.__setattr__(self, "test_report", replace(self.test_report, rows_per_person=self.unit.rows))

    def __repr__(self) -> str:
        """A few lines: what was trained, what it costs, and whether it is a release."""
        about = f"{self.learner!r} predicts {self.schema.target.name!r:.40} from {list_names(self.schema.feature_names)}"
        return f"FitResult({about}\n  {signs_spelled(self.verdict().headline)}\n  {self.not_released_because or 'A release.'})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the tree as a picture, and its guarantee."""
        return export("notebook", self.to_json())

    def save(self, path: str | Path) -> None:
        """Write the document (`to_json`) as a file, UTF-8; `dpviz.load_result` reads it.

        Released values only. No register counts what is saved so: `dpviz.open_register` does. Raises DpvizError when the file
        cannot be written, or is there already.
        """
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(self.to_json() + "\n")
        except (OSError, ValueError) as error:
            what = f"The result cannot be saved: {getattr(error, 'strerror', None) or error}."
            raise DpvizError(
                what, where=path_text(path), remedy="Choose a new file, in a folder that may be written to."
            ) from None

    def export(self, name: str) -> str:
        """The result in another form, one of `dpviz.export_names()`.

        Returns
        -------
        str
            What a file of this form holds. Released values only.

        Raises
        ------
        UnknownName
            There is no such form.
        UnsupportedError
            The form cannot hold this model.
        """
        return export(name, self.to_json())

    @property
    def rows_per_person(self) -> int | None:
        """The most rows of one person among those trained on; None where the rows are not bound to persons."""
        return None if self.unit.is_row else self.unit.rows

    @cached_property
    def risk(self) -> Risk:
        """What the result lets others learn about one row; about a person `result.risk.for_rows(result.unit.rows)`.

        Steps that came about may be fewer because of the rows, so it is that of all that might have.
        """
        return Risk(self.planned or self.ledger.event)

    @property
    def guarantee(self) -> PrivacyLoss:
        """What a person loses, all rows of whom come or go together, whatever the rows; see `risk`. By default that of a row."""
        return self._of_unit(self.risk.event)

    @property
    def spent(self) -> PrivacyLoss:
        """The same by the steps of the ledger alone, which may be fewer."""
        return self._of_unit(self.ledger.event)

    @property
    def per_person(self) -> PrivacyLoss | None:
        """As `spent`; None where the rows are not bound to persons."""
        return None if self.unit.is_row else self.spent

    @property
    def claim_of_person(self) -> Claim:
        """What the paper claims that a person loses."""
        is_of_person = self.plan.rows_per_person == self.unit.rows
        return self.claim.of(of_person(self.claim.loss, self.unit.rows) if is_of_person else self.unit.loss_of(self.claim.loss))

    def verdict(self, *, released: bool | None = None) -> Verdict:
        """What may be said about its privacy. `released`: whether it comes from a released file; by default what it says."""
        return verdict(
            self.claim_of_person,
            self.spent,
            released=self.released if released is None else released,
            why_not=why_uncovered(self.disclosures, is_exact=self.releasable),
            unit=self.unit,
            risk=self.risk,
        )

    def _of_unit(self, event: Event) -> PrivacyLoss:
        """A file of before, whose settings are a row's, states what any mechanism with the row's loss costs a person."""
        if self.plan.rows_per_person == self.unit.rows:
            return guarantee(event, self.unit.rows)
        return self.unit.loss_of(guarantee(event))

    def predict(self, rows: Any) -> np.ndarray:
        """Names of classes, or numbers, for new rows: a frame, a table, a file, or encoded rows; no target is needed.

        One answer per input row, in order, shape (n_rows,); None (for a number not-a-number) where there is none. See
        `dpviz.models.new_rows.answers`.
        """
        return answers(self.model, rows)

    def predict_proba(self, rows: Any) -> np.ndarray:
        """Probability of every class for new rows, shape (n_rows, n_classes); not-a-number where `predict` has no answer.

        Raises UnsupportedError for a model that holds none.
        """
        return probabilities(self.model, rows)

    def score(self, rows: Any) -> float:
        """Accuracy on rows with a target, encoded or as `dpviz.encode` takes them; R² for a number. As private as the rows.

        Rows that the schema does not use count for nothing.

        Raises DpvizError without rows, and for R² if all rows have the same target value.
        """
        data = rows if isinstance(rows, EncodedDataset) else encode(rows, self.schema)
        if not data.n_rows:
            raise DpvizError("There are no rows to score.", remedy="Give at least one row.")
        measured = score(self.model, data)
        if math.isnan(measured):
            raise DpvizError("The rows all have the same number, so there is no R².", remedy="Give rows that differ.")
        return measured

    @property
    def released(self) -> bool:
        """True for a release: exact samplers, no seed, a finite loss, and nothing read from the data outside the ledger."""
        return self.not_released_because is None

    @cached_property
    def not_released_because(self) -> str | None:
        """Why this is not a release, in one sentence; None if it is one."""
        if self.noise != "release":
            return "A simulation, not a release."
        if not self.releasable:
            return "Not a release: its noise has no exact sampler."
        if not self.ledger.guarantee.is_finite:
            return "Not a release: nothing bounds the privacy loss."
        if not self.disclosures:
            return None
        more = f" ({len(self.disclosures):,} disclosures in all.)" if len(self.disclosures) > 1 else ""
        return f"Not a release: it discloses what the ledger does not cover. {self.disclosures[0].what}{more}"

    def to_json(self, booking: Booking | None = None) -> str:
        """The `dpviz-tree/1` document: released values only, no exact counts, no seed of a release.

        `booking`: what a register says of it. A release without one says that no register counts it.
        """
        asked = asdict(self.settings) | {"delta": self.settings.delta or 0.0}
        settings = {name: value for name, value in asked.items() if value is not None}  # such as a test's share
        if self.plan.rows_per_person > 1:  # else they are those of a row
            settings["rows_per_person"] = self.plan.rows_per_person
        warning = self.not_released_because
        source = self.noise if warning is None or self.noise == "simulation" else "exact samplers"
        seed = UNSET if warning is None or self.seed is None else self.seed
        statement = Statement(
            guarantee=self.ledger.guarantee,
            per_person=PerPerson.of(self.unit, self.spent),
            risk=stated_risks(self.risk, self.rows_per_person) or UNSET,
            claim=self.claim,
            ledger=tuple(ledger_entries(self.ledger)),
            disclosures=self.disclosures,
            noise=Noise(source, seed, warning),  # type: ignore[arg-type]
        )
        learner = LearnerEntry(self.learner, settings, asdict(self.params), self.plan.depth)
        report = None if self.test_report is None else self.test_report.entry
        return document_text(self.model, self.schema, learner, statement, report, booking)


def score(model: Model, data: EncodedDataset) -> float:
    """Accuracy of a model on rows, or R²; NaN without rows, and where all have the same number. As private as the rows."""
    predicted = model.predict(data)
    if not isinstance(data.schema.target, ClassTarget):
        return r_squared(data.target, predicted)
    return float(np.mean(predicted == data.target)) if data.n_rows else math.nan


def r_squared(target: np.ndarray, predicted: np.ndarray) -> float:
    """Share of the variance of `target` explained: 1 at best, 0 for predicting its mean; NaN if all targets are equal."""
    spread = np.ptp(target) if len(target) else 0.0
    if not spread:
        return math.nan
    missed, around = (target - predicted) / spread, (target - target.mean()) / spread
    return float(1 - np.square(missed).sum() / np.square(around).sum())
