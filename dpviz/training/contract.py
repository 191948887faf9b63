"""The contract between learners and everything that uses them.

A learner is one file in `dpviz/learners/` that ends in `LEARNER = LearnerSpec(...)`. Widgets, validation, error texts, the
documentation table and the contract tests all come from that one value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dpviz.accounting.claim import Claim, Disclosure, Verdict
from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.ledger import Ledger
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import DpvizError, SchemaError
from dpviz.models.base import Model
from dpviz.models.document import model_document
from dpviz.models.tree import Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, Schema
from dpviz.training.growing import TreeRecipe, grow
from dpviz.training.params import NoParams, Settings

#: What a learner predicts; "any" means both.
Task = Literal["classes", "number", "any"]


@dataclass(frozen=True, slots=True)
class FitOutput:
    """What a learner's `fit` returns: a model made of released values, its event, and the learner's own disclosures."""

    model: Model
    event: Event
    disclosures: tuple[Disclosure, ...] = ()


Fit = Callable[[EncodedDataset, BudgetPlan, Any, NoiseSource], FitOutput]
Prepare = Callable[[EncodedDataset, BudgetPlan, Any, NoiseSource], TreeRecipe]
ClaimRule = Callable[[BudgetPlan, Any, Schema], Claim]


def fit_by_growing(prepare: Prepare) -> Fit:
    """The `fit` of a learner that grows one tree by the recipe that `prepare` returns."""

    def fit(data: EncodedDataset, plan: BudgetPlan, params: Any, source: NoiseSource) -> FitOutput:
        recipe = prepare(data, plan, params, source)
        root, event = grow(recipe.root, recipe.step)
        return FitOutput(Tree(data.schema, root), after(recipe.before, event), recipe.disclosures)

    return fit


def after(before: tuple[Event, ...], event: Event) -> Event:
    """`event`, preceded by the events `before` on the same rows."""
    return Sequential((*before, event)) if before else event


def always_claims(source: str, verdict: Verdict, because: str) -> ClaimRule:
    """The `claim` of a learner that claims all of its budget, with the same verdict for every plan."""
    return lambda plan, params, schema: Claim(plan.epsilon, source, verdict, because, plan.delta)


@dataclass(frozen=True)
class LearnerSpec:
    """One learner.

    Attributes
    ----------
    name, title, idea, citation : str
        Registry name, name for people, one sentence, source.
    plan : callable (schema, settings, params) -> BudgetPlan
        Depth and shares from public values alone; raises SchemaError if a public value it needs is missing.
    fit : callable (data, plan, params, source) -> FitOutput
        Trains. Everything it learns from `data` goes through a mechanism drawn from `source`, or is a disclosure.
    claim : callable (plan, params, schema) -> Claim
        What the paper claims for this plan, with our verdict.
    prepare : callable or None
        For a learner that grows one tree: what `fit` grows. Verification enumerates it step by step.
    Params : type
        Frozen dataclass of the learner's own parameters, with fields from `dpviz.training.params`.
    task : "classes", "number" or "any"
        What it predicts.
    is_baseline : bool
        Drawn as a line for comparison.
    spends_epsilon : bool
        False for a learner without privacy, for which epsilon and the noise change nothing.
    one_voter_per_row : bool
        True if its model votes and every row reaches one voter, trained on its own rows alone: votes then certify predictions.
    published : (str, str) or None
        (version, method) of its column in the papers' accuracy tables.
    exact : bool
        True if every mechanism has an exact sampler, so that `ExactNoise()` works.
    """

    name: str
    title: str
    idea: str
    citation: str
    plan: Callable[[Schema, Settings, Any], BudgetPlan]
    fit: Fit
    claim: ClaimRule
    prepare: Prepare | None = None
    Params: type = NoParams
    task: Task = "classes"
    is_baseline: bool = False
    spends_epsilon: bool = True
    exact: bool = True
    one_voter_per_row: bool = False
    published: tuple[str, str] | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """The kinds of target it predicts: "classes", "number" or both; it is shown with the first."""
        return ("classes", "number") if self.task == "any" else (self.task,)


@dataclass(frozen=True)
class FitResult:
    """A trained model with everything a reader must know about it.

    Attributes
    ----------
    model : Model
        Holds released values only.
    ledger : Ledger
        What was spent, and what it composes to.
    claim : Claim
        What the paper claims, and our verdict.
    plan : BudgetPlan
        What was allowed to be spent.
    disclosures : tuple of Disclosure
        What the result reveals that the ledger does not cover.
    noise : str
        "simulation" or "release"; `seed` is None for a release.
    """

    learner: str
    model: Model
    ledger: Ledger
    claim: Claim
    plan: BudgetPlan
    params: Any
    settings: Settings
    schema: Schema
    disclosures: tuple[Disclosure, ...]
    noise: str
    seed: int | None

    def score(self, data: EncodedDataset) -> float:
        """Accuracy on `data`, or R² for a numeric target. As private as the rows it is computed on.

        Raises DpvizError without rows, and for R² if all rows have the same target value.
        """
        if not data.n_rows:
            raise DpvizError("There are no rows to score.", remedy="Give at least one row.")
        predicted = self.model.predict(data)
        if isinstance(data.schema.target, ClassTarget):
            return float(np.mean(predicted == data.target))
        explained = r_squared(data.target, predicted)
        if math.isnan(explained):
            raise DpvizError("The rows all have the same number, so there is no R².", remedy="Give rows that differ.")
        return explained

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
        """The `dpviz-tree/1` document: released values only, no counts, no seed of a release."""
        return model_document(
            model=self.model,
            learner=self.learner,
            settings=self.settings,
            params=self.params,
            claim=self.claim,
            ledger=self.ledger,
            plan=self.plan,
            disclosures=self.disclosures,
            noise=self.noise,
            seed=self.seed,
            warning=self.not_released_because,
        )


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
    return Disclosure(
        code=f"schema-{field}",
        what=f"{what} was read from the data.",
        remedy="Declare it from public knowledge.",
        field=column,
    )


_FIELD_WORDS = {
    "low": "The lower bound",
    "high": "The upper bound",
    "kind": "The kind (number, whole number or category)",
    "categories": "The list of categories",
    "classes": "The list of classes",
}
