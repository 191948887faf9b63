"""What a `dpviz-tree/1` document says about privacy, read with typed errors: exports carry it along."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.table.schema_json import Part

_MOST_DISCLOSURES = 5


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the ledger: what for, at which depth (None: at none), by which mechanism or kind of step, at what cost."""

    part: str
    level: int | None
    how: str
    epsilon: float


@dataclass(frozen=True, slots=True)
class Said:
    """The privacy part of a document. `warning`: why it is no release; None when it is one."""

    claim: Claim
    guarantee: PrivacyLoss
    ledger: tuple[Step, ...] = ()
    disclosures: tuple[Disclosure, ...] = ()
    warning: str | None = None


#: What a document without that part says.
NOTHING = Said(Claim(math.inf, "", "none", "The document says nothing about privacy."), PrivacyLoss(math.inf))


def said_in(document: dict[str, Any]) -> Said:
    """What the document says; where it says nothing, nothing is promised. Raises DocumentError naming the place."""
    part = Part(document).get("privacy", None)
    if part.value is None:
        return NOTHING
    part.get("neighbours").choice(NEIGHBOURS)
    warning = part.get("noise").get("warning", None)
    return Said(
        _claim(part.get("claim")),
        _loss(part.get("guarantee")),
        tuple(map(_step, part.get("ledger").items())),
        tuple(map(_disclosure, part.get("disclosures").items())),
        None if warning.value is None else warning.text(),
    )


def _claim(part: Part) -> Claim:
    verdict: Any = part.get("verdict").choice("holds", "unproven", "violated", "none")
    loss = _loss(part)
    return Claim(loss.epsilon, part.get("source").text(), verdict, part.get("because").text(), delta=loss.delta)


def _loss(part: Part) -> PrivacyLoss:
    return PrivacyLoss(_epsilon(part.get("epsilon")), part.get("delta", 0.0).number())


def _epsilon(part: Part) -> float:
    return math.inf if part.value == "infinity" else part.number()


def _step(part: Part) -> Step:
    level = part.get("level", None)
    how = part.get("mechanism", "").text() or part.get("kind").text()
    return Step(part.get("part").text(), None if level.value is None else level.whole(), how, _epsilon(part.get("epsilon")))


def _disclosure(part: Part) -> Disclosure:
    return Disclosure(part.get("code").text(), part.get("what").text(), part.get("remedy").text(), part.get("field", "").text())


def facts(document: dict[str, Any], target: str) -> list[str]:
    """What travels with every export: whose work it is, what is guaranteed, what is not covered. A sentence or two each."""
    part = Part(document)
    learner = part.get("learner", {}).get("name", "unknown").text()
    version = part.get("versions", {}).get("dpviz", "unknown").text()
    said = said_in(document)
    warning = [said.warning] if said.warning else []
    return [
        f"Predicts {target!r}. Learner {learner}, dpviz {version}.",
        _guarantee(said),
        *warning,
        *_uncovered(said.disclosures),
    ]


def _guarantee(said: Said) -> str:
    claim, spent = said.claim, _in_words(said.guarantee)
    covered = said.guarantee.epsilon <= claim.epsilon and said.guarantee.delta <= claim.delta
    if claim.verdict == "none":
        return f"Not private: nothing is guaranteed. {claim.because}"
    if claim.verdict == "holds" and covered:
        return f"Guaranteed: {spent} ({NEIGHBOURS}). {claim.because}"
    asked = _in_words(PrivacyLoss(claim.epsilon, claim.delta))
    fate = "is violated" if claim.verdict == "violated" else "is not proven"
    return f"The claim of {asked} ({NEIGHBOURS}) {fate}; its steps add up to {spent}. {claim.because}"


def _in_words(loss: PrivacyLoss) -> str:
    return f"epsilon = {loss.epsilon:.6g}" + (f", delta = {loss.delta:.3g}" if loss.delta else "")


def _uncovered(found: tuple[Disclosure, ...]) -> list[str]:
    lines = [f"Outside the guarantee: {item.what}" for item in found[:_MOST_DISCLOSURES]]
    more = len(found) - _MOST_DISCLOSURES
    return [*lines, f"And {more} more such disclosures; the JSON document lists them."] if more > 0 else lines
