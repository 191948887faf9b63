"""What verification finds: a number, a verdict, and the pair of data sets that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.table.strict_json import PlainValue

#: What verification says. "holds" speaks of what was searched only; "ledger violated" is a bug in dpviz.
Finding = Literal["holds", "unproven", "violated", "ledger violated", "none"]

#: How bad each is.
SEVERITY: dict[str, int] = {"none": 0, "holds": 1, "unproven": 2, "violated": 3, "ledger violated": 4}

#: Relative slack for floating point: a ratio must exceed a bound by more to count against it.
SLACK = 1e-9


@dataclass(frozen=True)
class WorstPair:
    """Two neighbouring data sets (rows in words, the second has one row more) and how likely each makes the output.

    Where noise was cut off, the likelier probability is a lower bound and the other an upper one.
    """

    columns: tuple[str, ...]
    first: tuple[tuple[str, ...], ...]
    second: tuple[tuple[str, ...], ...]
    probabilities: tuple[float, float]


@dataclass(frozen=True)
class AuditResult:
    """What was found about a learner (or a bare mechanism) at one epsilon, under add/remove one row.

    Attributes
    ----------
    learner : str
        Registry name; for a bare mechanism its title.
    log_ratio : float
        Largest log ratio of the probability of an output on neighbouring data sets; a certified lower bound on epsilon.
        0 where nothing could be certified.
    claimed, composed : float
        The paper's epsilon, and what the learner's own steps compose to.
    verdict : str
        "holds" (on what was searched), "unproven" (composed exceeds claimed), "violated" (a counterexample to the claim),
        "ledger violated" (a counterexample to our own ledger), "none" (nothing is claimed).
    because : str
        The reason in one sentence, from the learner's claim.
    worst_pair : WorstPair or None
        None where nothing could be certified.
    output : dict
        The model body that separates the pair.
    searched : str
        The universe (or pair) in words; `n_sets` data sets and `n_pairs` neighbouring pairs in it.
    """

    learner: str
    epsilon: float
    params: dict[str, PlainValue]
    log_ratio: float
    claimed: float
    composed: float
    verdict: Finding
    because: str
    worst_pair: WorstPair | None
    output: dict[str, Any]
    searched: str
    n_sets: int
    n_pairs: int
    seconds: float


@dataclass(frozen=True)
class Separation:
    """The output that separates a pair best: its log ratio, its body, and the pair with both probabilities."""

    log_ratio: float
    output: dict[str, Any]
    pair: WorstPair | None


def judge(log_ratio: float, claim: Claim, composed: PrivacyLoss) -> Finding:
    """The verdict on a certified lower bound of epsilon."""
    if exceeds(log_ratio, composed.epsilon):
        return "ledger violated"
    if not claim.is_private:
        return "none"
    if exceeds(log_ratio, claim.epsilon):
        return "violated"
    return "unproven" if exceeds(composed.epsilon, claim.epsilon) else "holds"


def exceeds(ratio: float, bound: float) -> bool:
    """True when `ratio` is above `bound` by more than rounding."""
    return ratio > bound * (1 + SLACK) + SLACK * 1e-3


def worst_of(results: list[AuditResult]) -> AuditResult:
    """The most severe of them; among equals the largest ratio."""
    return max(results, key=lambda result: (SEVERITY[result.verdict], result.log_ratio))
