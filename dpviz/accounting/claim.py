"""What a paper says, what is known about it, and what a result reveals outside its ledger."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.table.validation import validate_delta, validate_loss

#: Of one plan. holds: proved; violated: a counterexample for this plan is known; unproven: neither; none: no privacy is claimed.
ClaimStatus = Literal["holds", "unproven", "violated", "none"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A paper's privacy claim for one plan under add/remove one row, with our verdict and the reason in one sentence.

    `evidence` says where the proof of "holds" or the counterexample of "violated" can be read: files of this package, then the
    literature. It is empty for the other verdicts.
    """

    epsilon: float
    source: str
    verdict: ClaimStatus
    because: str
    delta: float = 0.0
    evidence: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", validate_loss("Claim", "epsilon", self.epsilon))
        object.__setattr__(self, "delta", validate_delta("Claim", "delta", self.delta))

    @property
    def loss(self) -> PrivacyLoss:
        """What is claimed."""
        return PrivacyLoss(self.epsilon, self.delta)

    def of(self, loss: PrivacyLoss) -> "Claim":
        """The same claim of another loss, such as that of a person with several rows."""
        return self if loss == self.loss else replace(self, epsilon=loss.epsilon, delta=loss.delta)

    @property
    def is_private(self) -> bool:
        """True when a finite epsilon is claimed."""
        return math.isfinite(self.epsilon)

    @property
    def is_sound(self) -> bool:
        """True when the claim may be shown as a guarantee."""
        return self.verdict == "holds"


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Something learned from the data that the ledger does not cover.

    `code` is stable ("schema-range", "stopping-rule", ...); `what` says what is revealed, `remedy` how to avoid it.
    """

    code: str
    what: str
    remedy: str
    field: str = ""


def why_uncovered(disclosures: Sequence[Disclosure], *, is_exact: bool) -> str:
    """Why no epsilon covers all of a result, whatever its ledger says, as in "3 values were read from the data"; else empty.

    `is_exact`: the learner's noise has exact samplers, without which nothing is released.
    """
    if disclosures:
        return (
            "1 value was read from the data" if len(disclosures) == 1 else f"{len(disclosures):,} values were read from the data"
        )
    return "" if is_exact else "its noise has no exact sampler, so it cannot be released"
