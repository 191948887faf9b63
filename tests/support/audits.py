"""Results of searches, made by hand: one of every verdict, and the odd ones."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.audit import AuditLine
from dpviz.evaluation.audit.attack import LowerBound
from dpviz.evaluation.audit.evidence import AuditResult, WorstPair
from dpviz.evaluation.audit.verdicts import LearnerEvidence, SearchedPlace, StoredRun


def split(left: str, right: str, feature: str = "a", value: str = "a=0") -> dict[str, Any]:
    """The body of a tree with one rule."""
    return {"root": {"feature": feature, "op": "in", "values": [value], "left": {"leaf": left}, "right": {"leaf": right}}}


def pair(first: float, second: float) -> WorstPair:
    """One row more, of another class, in a table of two features."""
    row, extra = ("a=0", "b=1", "x"), ("a=0", "b=0", "y")
    return WorstPair(("a", "b", "class"), (row, row), (row, extra, row), (first, second))


HOLDS = AuditResult(
    learner="pf-tree",
    epsilon=1.0,
    params={},
    log_ratio=0.5,
    claimed=1.0,
    composed=1.0,
    verdict="holds",
    because="Every step is one permute-and-flip.",
    worst_pair=pair(0.2, 0.2 * math.exp(0.5)),
    output=split("x", "y"),
    searched="2 features of 2 categories, 2 classes, depth 1, up to 5 rows",
    n_sets=1287,
    n_pairs=3960,
    seconds=1.0,
)
UNPROVEN = replace(HOLDS, learner="privatree", composed=1.5, verdict="unproven", because="The steps add up to more.")
VIOLATED = replace(
    UNPROVEN, params={"grow_complete": True}, log_ratio=math.log(4), verdict="violated", worst_pair=pair(0.0016, 0.0064)
)
IMPOSSIBLE = replace(
    VIOLATED, params={}, log_ratio=math.inf, composed=math.inf, worst_pair=pair(0.0, 0.25), because="It stops at exact counts."
)
BUG = replace(HOLDS, log_ratio=1.25, verdict="ledger violated", worst_pair=pair(0.2 * math.exp(1.25), 0.2))
NONE = replace(
    HOLDS, learner="cart", claimed=math.inf, composed=math.inf, log_ratio=math.inf, verdict="none", worst_pair=pair(0.0, 1.0)
)
NOTHING = replace(UNPROVEN, log_ratio=0.0, worst_pair=None, output={})
EVERY = {"holds": HOLDS, "unproven": UNPROVEN, "violated": VIOLATED, "impossible": IMPOSSIBLE, "bug": BUG, "none": NONE}

BOUND = LowerBound(
    learner="pf-tree",
    epsilon=1.0,
    params={},
    bound=0.4,
    confidence=0.95,
    perfect=0.9,
    event="a tree",
    hits=(1, 2),
    n_tested=10,
    n_asked=20,
    n_done=20,
    claimed=1.0,
    composed=1.0,
    verdict="holds",
    because="So.",
    canary=(("a", "1"),),
    seconds=1.0,
)


def facts(result: AuditResult, attacked: LowerBound | None = None, **changed: Any) -> LearnerEvidence:
    """An entry whose search found this; its plan has the same verdict, its evidence is a file."""
    verdict = "holds" if result.verdict == "ledger violated" else result.verdict
    evidence = "dpviz/training/scores.py" if verdict in ("holds", "violated") else ""
    entry = LearnerEvidence(
        learner=result.learner,
        params=result.params,
        epsilon=result.epsilon,
        version="9.8.7",
        date="2030-01-02",
        claim=Claim(result.claimed, "a source", verdict, result.because, evidence=evidence),
        composed=PrivacyLoss(result.composed),
        guesses=PrivacyLoss(result.composed).guesses_right * 100,
        searched=result,
        places=(SearchedPlace(result.searched, result.n_sets, result.n_pairs, result.log_ratio),),
        attacked=attacked,
        not_attacked="" if attacked else "Not asked for.",
        processor_seconds=60.0,
    )
    return replace(entry, **changed)


def run_of(*results: AuditResult) -> StoredRun:
    """A stored run of such entries."""
    return StoredRun(tuple(map(facts, results)))


def line(verdict: str, setting: str = "", **changed: Any) -> AuditLine:
    """A line of the list of learners."""
    result = {"none": NONE, "violated": VIOLATED, "unproven": UNPROVEN}.get(verdict, HOLDS)
    known = {"claimed": 1.0, "composed": 1.0, "guesses": 61.0}
    given: dict[str, Any] = {**known, "searched": result, **changed}
    return AuditLine(f"key {verdict} {setting}", f"A {verdict}", setting, verdict=verdict, **given)
