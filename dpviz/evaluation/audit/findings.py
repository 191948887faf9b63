"""The result of verification: a log ratio, a verdict, and the pair of data sets that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.table.checked_numbers import checked_loss
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, Schema, Target
from dpviz.table.strict_json import PlainValue

#: A verdict. "holds" is about what was searched only; "ledger violated" is a bug in dpviz.
Finding = Literal["holds", "unproven", "violated", "ledger violated", "none"]

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
        return cls(columns_of(first.schema), rows_in_words(first), rows_in_words(second), probabilities)


@dataclass(frozen=True)
class AuditResult:
    """The result for a learner at one epsilon, under add/remove one row."""

    learner: str  #: Registry name
    epsilon: float
    params: dict[str, PlainValue]
    #: Largest log ratio of the probability of an output on neighbouring data sets; a certified lower bound on epsilon. 0 where
    #: nothing could be certified.
    log_ratio: float
    #: claimed, composed: the paper's epsilon, and what the learner's own steps compose to.
    claimed: float
    composed: float
    #: "holds" (on what was searched), "unproven" (composed exceeds claimed), "violated" (a counterexample to the claim), "ledger
    #: violated" (a counterexample to our own ledger), "none" (nothing is claimed).
    verdict: Finding
    because: str  #: The reason in one sentence, from the learner's claim
    worst_pair: WorstPair | None  #: None where nothing could be certified
    output: dict[str, Any]  #: The model body with that ratio
    searched: str  #: The universe (or pair) in words, with `n_sets` data sets and `n_pairs` neighbouring pairs
    n_sets: int
    n_pairs: int
    seconds: float


@dataclass(frozen=True)
class Separation:
    """The output with the largest log ratio, and the pair it belongs to."""

    log_ratio: float
    output: dict[str, Any]
    pair: WorstPair | None


def judge(log_ratio: float, claim: Claim, composed: PrivacyLoss) -> Finding:
    """The verdict on a certified lower bound of epsilon. Raises ParameterError where it is none, such as not-a-number."""
    checked_loss("judge", "log_ratio", log_ratio)
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


def columns_of(schema: Schema) -> tuple[str, ...]:
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
