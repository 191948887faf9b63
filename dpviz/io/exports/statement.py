"""What a `dpviz-tree/1` document states about privacy, read with typed errors: exports carry it along."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.accounting.ledger import LedgerRow
from dpviz.table.strict_json import read, with_infinity, wrong

_MOST_DISCLOSURES = 5


@dataclass(frozen=True, slots=True)
class Noise:
    """Where the noise came from. `warning`: why this is not a release; None for a release."""

    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """The privacy part of a document."""

    claim: Claim
    guarantee: PrivacyLoss
    ledger: tuple[LedgerRow, ...]
    disclosures: tuple[Disclosure, ...]
    noise: Noise
    neighbours: str = NEIGHBOURS


#: Of a document without that part.
NO_STATEMENT = Statement(
    Claim(math.inf, "", "none", "The document says nothing about privacy."), PrivacyLoss(math.inf), (), (), Noise()
)


def statement_of(document: Any) -> Statement:
    """What the document states; where it is silent, nothing is guaranteed. Raises DocumentError naming the place."""
    privacy = read(dict, document).get("privacy")
    if privacy is None:
        return NO_STATEMENT
    found = read(Statement, with_infinity(privacy, "epsilon"), "privacy")
    if found.neighbours != NEIGHBOURS:
        raise wrong(f"This must be {NEIGHBOURS!r}; got {found.neighbours!r:.60}.", "privacy.neighbours")
    return found


def facts(document: Any, target: str) -> list[str]:
    """What every export carries: who made it, what is guaranteed, what is not covered. A sentence or two each."""
    learner, version, statement = _text(document, "learner", "name"), _text(document, "versions", "dpviz"), statement_of(document)
    return [
        f"Predicts {target!r}. Learner {learner}, dpviz {version}.",
        _guarantee(statement),
        *([statement.noise.warning] if statement.noise.warning else []),
        *_uncovered(statement.disclosures),
    ]


def _text(document: Any, part: str, name: str) -> str:
    found = read(dict, read(dict, document).get(part, {}), part).get(name, "unknown")
    return read(str, found, f"{part}.{name}")


def _guarantee(statement: Statement) -> str:
    claim, proven = statement.claim, statement.guarantee
    if claim.verdict == "none":
        return f"Not private: nothing is guaranteed. {claim.because}"
    if claim.verdict == "holds" and proven.epsilon <= claim.epsilon and proven.delta <= claim.delta:
        return f"Guaranteed: {_in_words(proven)} ({NEIGHBOURS}). {claim.because}"
    claimed = _in_words(PrivacyLoss(claim.epsilon, claim.delta))
    fate = "is violated" if claim.verdict == "violated" else "is not proven"
    return f"The claim of {claimed} ({NEIGHBOURS}) {fate}; its steps add up to {_in_words(proven)}. {claim.because}"


def _in_words(loss: PrivacyLoss) -> str:
    return f"epsilon = {loss.epsilon:.6g}" + (f", delta = {loss.delta:.3g}" if loss.delta else "")


def _uncovered(found: tuple[Disclosure, ...]) -> list[str]:
    lines = [f"Outside the guarantee: {item.what}" for item in found[:_MOST_DISCLOSURES]]
    more = len(found) - _MOST_DISCLOSURES
    return [*lines, f"And {more} more such disclosures; the JSON document lists them."] if more > 0 else lines
