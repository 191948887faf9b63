"""The contract between learners and everything that uses them.

A learner is one file in `dpviz/learners/` that ends in `LEARNER = LearnerSpec(...)`. Widgets, validation, error texts, the
documentation table and the contract tests all come from that one value.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dpviz.accounting.claim import Claim, Disclosure, Verdict
from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.guarantee import PrivacyLoss, for_unit
from dpviz.accounting.ledger import Ledger
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import DpvizError, SchemaError
from dpviz.models.base import Model
from dpviz.models.document import model_document
from dpviz.models.new_rows import answers, probabilities
from dpviz.models.tree import Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, Schema
from dpviz.training.counting.contract import Rows
from dpviz.training.counting.in_memory import counted
from dpviz.training.growing import TreeRecipe, grow
from dpviz.training.honest.leaves import grow_honestly
from dpviz.training.honest.number_report import NumberReport
from dpviz.training.honest.report import TestReport
from dpviz.training.params import NoParams, Settings

#: What a learner predicts; "any" means both.
Task = Literal["classes", "number", "any"]


@dataclass(frozen=True, slots=True)
class FitOutput:
    """What a learner's `fit` returns: a model made of released values, its event, the learner's own disclosures, its test."""

    model: Model
    event: Event
    disclosures: tuple[Disclosure, ...] = ()
    test_report: TestReport | NumberReport | None = None


#: Learners that are not `counts_only` are given an EncodedDataset.
Fit = Callable[[Any, BudgetPlan, Any, NoiseSource], FitOutput]
Prepare = Callable[[Any, BudgetPlan, Any, NoiseSource], TreeRecipe]
ClaimRule = Callable[[BudgetPlan, Any, Schema], Claim]


def fit_by_growing(prepare: Prepare) -> Fit:
    """The `fit` of a learner that grows one tree by the recipe that `prepare` returns."""

    def fit(data: Rows, plan: BudgetPlan, params: Any, source: NoiseSource) -> FitOutput:
        recipe = prepare(data, plan, params, source)
        if plan.aside:
            tree, event, report = grow_honestly(counted(data), plan, recipe, source)
            return FitOutput(tree, after(recipe.before, event), recipe.disclosures, report)
        root, event = grow(recipe.root, recipe.step, source)
        return FitOutput(Tree(data.schema, root), after(recipe.before, event), recipe.disclosures)

    return fit


def after(before: tuple[Event, ...], event: Event) -> Event:
    """`event`, preceded by the events `before` on the same rows."""
    return Sequential((*before, event)) if before else event


def always_claims(source: str, verdict: Verdict, because: str, evidence: str = "") -> ClaimRule:
    """The `claim` of a learner that claims all of its budget, with the same verdict for every plan."""
    return lambda plan, params, schema: Claim(plan.epsilon, source, verdict, because, plan.delta, evidence)


@dataclass(frozen=True, slots=True)
class Departure:
    """One difference between a learner and its source. Pages, screens and the command line show these."""

    #: paper, here: what the source does (or what was measured there), and what this learner does: one sentence each.
    paper: str
    here: str
    why: str  #: The reason, in one sentence


@dataclass(frozen=True)
class LearnerSpec:
    """One learner."""

    #: name, title, idea, citation: registry name, name for people, one sentence, source.
    name: str
    title: str
    idea: str
    citation: str
    #: Depth and shares from public values alone; raises SchemaError if a public value it needs is missing.
    plan: Callable[[Schema, Settings, Any], BudgetPlan]
    #: Trains. Everything it learns from `data` goes through a mechanism drawn from `source`, or is a disclosure.
    fit: Fit
    claim: ClaimRule  #: What the paper claims for this plan, with our verdict
    #: For a learner that grows one tree: what `fit` grows. Verification enumerates it step by step.
    prepare: Prepare | None = None
    #: Every known difference from the source that `citation` names; empty for a learner that has no paper.
    departures: tuple[Departure, ...] = ()
    #: Frozen dataclass of the learner's own parameters, with fields from `dpviz.training.params`.
    Params: type = NoParams
    task: Task = "classes"  #: What it predicts
    #: is_baseline, spends_epsilon: drawn as a line for comparison; False for a learner without privacy, for which epsilon and the
    #: noise change nothing.
    is_baseline: bool = False
    spends_epsilon: bool = True
    exact: bool = True  #: True if every mechanism has an exact sampler, so that `ExactNoise()` works
    #: True if its model votes and every row reaches one voter, trained on its own rows alone: votes then certify predictions.
    one_voter_per_row: bool = False
    published: tuple[str, str] | None = None  #: (version, method) of its column in the papers' accuracy tables
    #: True if its `plan` and `fit` see to `Settings.test_share`; otherwise `dpviz/training/honest/testing.py` does.
    tests_itself: bool = False
    #: True if it asks nothing of rows but what `dpviz.training.counting` answers: then they may be anywhere.
    counts_only: bool = False
    needs: str = ""  #: A package without which it is declared but not registered; "" for none

    @property
    def tasks(self) -> tuple[str, ...]:
        """The kinds of target it predicts: "classes", "number" or both; it is shown with the first."""
        return ("classes", "number") if self.task == "any" else (self.task,)


@dataclass(frozen=True)
class FitResult:
    """A trained model with everything a reader must know about it."""

    learner: str
    model: Model  #: Holds released values only
    ledger: Ledger  #: What was spent, and what it composes to
    claim: Claim  #: What the paper claims, and our verdict
    plan: BudgetPlan  #: What was allowed to be spent
    params: Any
    settings: Settings
    schema: Schema
    disclosures: tuple[Disclosure, ...]  #: What the result reveals that the ledger does not cover
    noise: str  #: "simulation" or "release"
    seed: int | None  #: None for a release
    #: What the model is worth on rows that coins kept away from it; None where none were kept.
    test_report: TestReport | NumberReport | None = None
    rows_per_person: int | None = None  #: The most rows of one person among those trained on; None where nothing bounds them

    @property
    def per_person(self) -> PrivacyLoss | None:
        """What it costs one person, all rows of whom come or go together; None where the rows are not bound to persons."""
        return None if self.rows_per_person is None else for_unit(self.ledger.guarantee, self.rows_per_person)

    def predict(self, rows: Any) -> np.ndarray:
        """Names of classes, or numbers, for new rows: a DataFrame, a table, or the path or bytes of a file; no target is needed.

        One answer per input row, in order, shape (n_rows,); None (for a number not-a-number) where there is none. See
        `dpviz.models.new_rows.answers`.
        """
        return answers(self.model, rows)

    def predict_proba(self, rows: Any) -> np.ndarray:
        """Probability of every class for new rows, shape (n_rows, n_classes); not-a-number where `predict` has no answer.

        Raises NoProbabilities for a model that holds none.
        """
        return probabilities(self.model, rows)

    def score(self, data: EncodedDataset) -> float:
        """Accuracy on `data`, or R² for a numeric target. As private as the rows it is computed on.

        Raises DpvizError without rows, and for R² if all rows have the same target value.
        """
        if not data.n_rows:
            raise DpvizError("There are no rows to score.", remedy="Give at least one row.")
        found = score(self.model, data)
        if math.isnan(found):
            raise DpvizError("The rows all have the same number, so there is no R².", remedy="Give rows that differ.")
        return found

    @property
    def released(self) -> bool:
        """True for a release: exact samplers, no seed, a finite loss, and nothing read from the data outside the ledger."""
        return self.not_released_because is None

    @cached_property
    def not_released_because(self) -> str | None:
        """Why this is not a release, in one sentence; None if it is one."""
        if self.noise != "release":
            return "A simulation, not a release."
        if not self.ledger.guarantee.is_finite:
            return "Not a release: nothing bounds the privacy loss."
        if not self.disclosures:
            return None
        more = f" ({len(self.disclosures):,} disclosures in all.)" if len(self.disclosures) > 1 else ""
        return f"Not a release: it discloses what the ledger does not cover. {self.disclosures[0].what}{more}"

    def to_json(self) -> str:
        """The `dpviz-tree/1` document: released values only, no exact counts, no seed of a release."""
        return model_document(
            model=self.model,
            schema=self.schema,
            test_report=None if self.test_report is None else self.test_report.to_dict(),
            learner=self.learner,
            settings=self.settings,
            params=self.params,
            claim=self.claim,
            ledger=self.ledger,
            rows_per_person=self.rows_per_person,
            plan=self.plan,
            disclosures=self.disclosures,
            noise=self.noise,
            seed=self.seed,
            warning=self.not_released_because,
        )


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


def n_public_of(schema: Schema, learner: str, instead: str) -> int:
    """The public row count; raises SchemaError with two remedies, of which `instead` is the second."""
    if schema.n_public is None:
        raise SchemaError(
            f"The learner {learner!r} needs a public row count, and none is declared.",
            field="n_public",
            remedy=f"Declare one (schema.declare(n_public=...), rounded is fine), or {instead}.",
        )
    return schema.n_public


def schema_disclosures(schema: Schema) -> tuple[Disclosure, ...]:
    """One disclosure per public value that was read from the data."""
    return tuple(_read_value(column, field) for column, field in schema.read_fields())


def _read_value(column: str, field: str) -> Disclosure:
    what = "The row count" if column == "n_public" else f"{_FIELD_WORDS.get(field, field)} of {column!r}"
    remedy = "Declare it from public knowledge."
    return Disclosure(code=f"schema-{field}", what=f"{what} was read from the data.", remedy=remedy, field=column)


_FIELD_WORDS = {
    "low": "The lower bound",
    "high": "The upper bound",
    "kind": "The kind (number, whole number or category)",
    "categories": "The list of categories",
    "classes": "The list of classes",
}
