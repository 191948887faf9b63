"""Lower bounds on the epsilon of a plan, found by a search or an attack, and their verdicts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss, guarantee
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import ParameterError, SchemaError, UnsupportedError
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.learners import FitRequest, get_learner
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target
from dpviz.table.strict_json import PlainValue
from dpviz.table.validation import validate_loss, validate_number
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.growing import TreeRecipe

#: A verdict. "holds" is about what was searched only; "ledger violated" is a bug in dpviz.
AuditVerdict = Literal["holds", "unproven", "violated", "ledger violated", "none"]

#: How bad each is.
SEVERITY: dict[str, int] = {"none": 0, "holds": 1, "unproven": 2, "violated": 3, "ledger violated": 4}

#: Relative slack for floating point: a ratio must exceed a bound by more to count against it.
SLACK = 1e-9


@dataclass(frozen=True)
class WorstPair:
    """Two neighbouring data sets (rows in words; the second has one more) and the probability of the output on each.

    Where noise was cut off, the likelier probability is a lower bound and the other an upper one.
    """

    columns: tuple[str, ...]
    first: tuple[tuple[str, ...], ...]
    second: tuple[tuple[str, ...], ...]
    probabilities: tuple[float, float]

    @classmethod
    def of(cls, first: EncodedDataset, second: EncodedDataset, probabilities: tuple[float, float]) -> WorstPair:
        """The pair in words."""
        return cls(column_names(first.schema), rows_in_words(first), rows_in_words(second), probabilities)


@dataclass(frozen=True, kw_only=True)
class BoundVerdict:
    """What a lower bound says of a learner at one epsilon, under add/remove one row."""

    learner: str  #: Registry name
    epsilon: float
    params: dict[str, PlainValue]
    #: claimed, composed: the paper's epsilon, and what the learner's own steps compose to.
    claimed: float
    composed: float
    #: "holds" (on what was looked at), "unproven" (composed exceeds claimed), "violated" (the claim is refuted), "ledger
    #: violated" (our own ledger is), "none" (nothing is claimed).
    verdict: AuditVerdict
    because: str  #: The reason in one sentence, from the learner's claim
    seconds: float


@dataclass(frozen=True, kw_only=True)
class AuditResult(BoundVerdict):
    """The result of a search."""

    #: Largest log ratio of the probability of an output on neighbouring data sets; a certified lower bound on epsilon. 0 where
    #: nothing could be certified.
    log_ratio: float
    worst_pair: WorstPair | None  #: None where nothing could be certified
    output: dict[str, Any]  #: The model body with that ratio
    searched: str  #: The universe (or pair) in words, with `n_sets` data sets and `n_pairs` neighbouring pairs
    n_sets: int
    n_pairs: int


@dataclass(frozen=True)
class Separation:
    """The output with the largest log ratio, and the pair it belongs to."""

    log_ratio: float
    output: dict[str, Any]
    pair: WorstPair | None


def judge(log_ratio: float, claim: Claim, composed: PrivacyLoss) -> AuditVerdict:
    """The verdict on a certified lower bound of epsilon. Raises ParameterError where it is none, such as not-a-number."""
    log_ratio = validate_loss("judge", "log_ratio", log_ratio)
    if exceeds(log_ratio, composed.epsilon):
        return "ledger violated"
    if not claim.is_private:
        return "none"
    if exceeds(log_ratio, claim.epsilon):
        return "violated"
    return "unproven" if exceeds(composed.epsilon, claim.epsilon) else "holds"


def exceeds(ratio: float, bound: float) -> bool:
    """True when `ratio` is above `bound` by more than rounding, and where one of them is not a number."""
    return not ratio <= bound * (1 + SLACK) + SLACK * 1e-3


def worst_of(results: list[AuditResult]) -> AuditResult:
    """The most severe of them; among equals the largest ratio."""
    return max(results, key=lambda result: (SEVERITY[result.verdict], result.log_ratio))


def column_names(schema: Schema) -> tuple[str, ...]:
    """The names of the features and the target."""
    return (*schema.feature_names, schema.target.name)


def rows_in_words(data: EncodedDataset) -> tuple[tuple[str, ...], ...]:
    """Every row as texts: features, then class or number."""
    declared = (*data.schema.features, data.schema.target)
    return tuple(zip(*map(_words, declared, (*data.columns, data.target)), strict=True))


def _words(declared: Feature | Target, column: np.ndarray) -> list[str]:
    if isinstance(declared, CategoricalFeature):
        return [declared.categories[code] for code in column]
    if isinstance(declared, ClassTarget):
        return [declared.classes[code] for code in column]
    return [f"{value:g}" for value in column]


# --- A request on one schema: what an audit runs. Everything comes from the learner's own code.

#: Below, boxes around noise grow too large to list; above, probabilities leave the floating-point range.
EPSILONS = (0.001, 20.0)


def spec_of(learner: str | LearnerSpec) -> LearnerSpec:
    """The learner itself, or the registered one of this name."""
    return get_learner(learner) if isinstance(learner, str) else learner


#: The public row count, the features and targets of the typical table.
PUBLIC_ROWS = 10_000
_FEATURES = (NumericFeature("number", 0, 1), CategoricalFeature("category", ("a", "b", "c")))
_TARGETS: dict[str, Target] = {"classes": ClassTarget("class", ("no", "yes")), "number": NumericTarget("value", 0, 1)}


def typical(learner: str | LearnerSpec, *, epsilon: float = 1.0, **params: Any) -> BoundLearner:
    """The plan that stands for a learner where no table is given: default depth, a number and a category, 10,000 public rows."""
    spec = spec_of(learner)
    schema = Schema(_FEATURES, _TARGETS[spec.tasks[0]], n_public=PUBLIC_ROWS)
    return BoundLearner(FitRequest.of(learner, epsilon=epsilon, **params), schema)


@dataclass(frozen=True)
class BoundLearner:
    """A request on one schema, from when an audit of it began. An audit is about one row, also where persons have several.

    Raises UnsupportedError for a private test that the learner does not make itself: what is audited is the learner.
    """

    request: FitRequest
    schema: Schema
    started: float = field(default_factory=time.perf_counter, compare=False)

    def __post_init__(self) -> None:
        if self.request.settings.test_share and not self.request.spec.tests_itself:
            raise UnsupportedError("The private test of this learner is not audited.", remedy="Leave test_share out.")
        object.__setattr__(self, "schema", replace(self.schema, rows_per_person=1))

    @classmethod
    def of(cls, learner: str | LearnerSpec, schema: Schema, *, epsilon: float, depth: int, **params: Any) -> BoundLearner:
        """For listing its outputs. Raises UnsupportedError where that is impossible on this schema, ParameterError."""
        spec = spec_of(learner)
        (least, most), allowed = EPSILONS, "a number in [{:g}, {:g}]".format(*EPSILONS)
        epsilon = validate_number("verify", "epsilon", epsilon, low=least, high=most, allowed=allowed)
        is_number = isinstance(schema.target, NumericTarget)
        if ("number" if is_number else "classes") not in spec.tasks or (is_number and spec.prepare is None):
            why = "grows no tree of numbers" if is_number else "predicts numbers; only classes are listed"
            raise UnsupportedError(f"{spec.title} {why}.", remedy="Audit it by sampling.")
        test_share = 0.0 if is_number else None  # what the test of numbers reads depends on released values without end
        try:
            settings = {"epsilon": epsilon, "max_depth": depth, "depth": depth, "test_share": test_share}
            planned = cls(FitRequest.of(learner, **settings, **params), schema)
            has_delta = planned.claim.delta > 0
        except (SchemaError, ParameterError) as reason:
            if isinstance(reason, ParameterError) and not is_number:  # with numbers a value for classes alone is no mistake
                raise
            raise UnsupportedError(f"{spec.title} cannot be trained on this universe.", remedy=str(reason)) from reason
        if has_delta:
            raise UnsupportedError("A claim with delta is not decided by a log ratio.", remedy="Audit it by sampling.")
        if any(held_out.groups for held_out in planned.plan.held_out):
            raise UnsupportedError(
                "A test by groups is not listed.", remedy="Leave groups out: they divide the counts of the test."
            )
        return planned

    @cached_property
    def plan(self) -> BudgetPlan:
        """How its epsilon is to be spent."""
        return self.request.plan(self.schema)

    @cached_property
    def claim(self) -> Claim:
        """The paper's claim for this plan."""
        return self.request.claim(self.schema)

    @property
    def delta(self) -> float:
        """Of the claim, or of what its steps compose to, whichever is larger."""
        return max(self.claim.delta, self.composed.delta)

    def fit(self, data: EncodedDataset, source: NoiseSource) -> FitOutput:
        """Train as `dpviz.fit` does."""
        return self.request.spec.fit(data, self.plan, self.request.params, source)

    def prepare(self, data: EncodedDataset, source: Enumeration) -> TreeRecipe:
        """The tree about to be grown; raises UnsupportedError when noise was drawn or rows were read before."""
        spec = self.request.spec
        if spec.prepare is None:
            raise UnsupportedError(f"{spec.title} does not grow one tree.", remedy="List it whole.")
        growth = spec.prepare(data, self.plan, self.request.params, source)
        if growth.before or source.has_drawn:
            raise UnsupportedError(
                "What this learner does before growing depends on the rows and cannot be listed.",
                remedy="Use a universe of categories.",
            )
        return growth

    @cached_property
    def composed(self) -> PrivacyLoss:
        """What its steps compose to, whatever the rows: a fit that stopped early costs less, and says nothing of others."""
        return guarantee(self.request.risk(self.schema).event)

    def verdict_fields(self, bound: float) -> dict[str, Any]:
        """The fields of `BoundVerdict` for a lower bound on its epsilon."""
        return {
            "learner": self.request.learner,
            "epsilon": self.request.settings.epsilon,
            "params": self.request.given,
            "claimed": self.claim.epsilon,
            "composed": self.composed.epsilon,
            "verdict": judge(bound, self.claim, self.composed),
            "because": self.claim.because,
            "seconds": time.perf_counter() - self.started,
        }

    def result(self, worst: Separation, *, searched: str, n_sets: int, n_pairs: int) -> AuditResult:
        """The result with its verdict."""
        log_ratio = 0.0 if worst.log_ratio < 0 else worst.log_ratio  # where little is certified; not-a-number stays what it is
        return AuditResult(
            **self.verdict_fields(log_ratio),
            log_ratio=log_ratio,
            worst_pair=worst.pair if worst.log_ratio > 0 else None,
            output=worst.output if worst.log_ratio > 0 else {},
            searched=searched,
            n_sets=n_sets,
            n_pairs=n_pairs,
        )
