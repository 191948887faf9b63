"""A self-assessment of one release along the topics of NIST SP 800-226: what is proved, measured, declared, or not covered.

NIST certifies nothing, and neither does this. Statements stand in `self_assessment.json`. Source of the topics: NIST SP 800-226
(2025), "Guidelines for Evaluating Differential Privacy Guarantees".
"""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.figures.publish.groups import group_sentences
from dpviz.figures.publish.paper_facts import Answers, Facts, filled, words_of
from dpviz.figures.publish.test_result import result_sentences
from dpviz.figures.wording import capital
from dpviz.results.verdict import bare_text, odds_text

WHAT_IT_IS = (
    "A self-assessment along the topics of NIST SP 800-226. NIST certifies no product and no release, and has not seen this one. "
    "Proved: it follows from a proof that can be read. Measured: it was measured, with the stated interval. Declared by you: "
    "whoever signs vouches for it. Not covered: nothing here vouches for it."
)


class Standing(StrEnum):
    """What a statement rests on."""

    PROVED = "proved"
    MEASURED = "measured"
    DECLARED = "declared by you"
    NOT_COVERED = "not covered"


@dataclass(frozen=True, slots=True)
class Item:
    """One statement. `evidence`: where the proof or the measurement can be read."""

    topic: str
    standing: Standing
    statement: str
    evidence: str = ""


def self_assessment(facts: Facts, answers: Answers) -> tuple[Item, ...]:
    """Every statement, topic by topic. Raises DpvizError naming the answers that are missing."""
    words = words_of(facts, answers) | {
        "variant": "approximate" if facts.loss.delta else "pure",
        "odds": odds_text(facts.loss, facts.unit, facts.risk),
        "evidence": facts.claim.evidence,
        "Unit": capital(facts.unit.words),
        "bounded": Standing.PROVED if facts.unit.is_bounded else Standing.DECLARED,
        "bound": "enforced while encoding" if facts.unit.is_bounded else "nothing enforces it",
        "of_unit": bare_text(facts.unit.loss_of(facts.loss)),
        "searched": _searched(facts),
        "tested": _tested(facts),
    }
    topics = filled(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")), words)
    return tuple(Item(topic, Standing(rests_on), *said) for topic, items in topics.items() for rests_on, *said in items)


def assessment_document(facts: Facts, answers: Answers) -> dict[str, Any]:
    """The same as plain values, for a file."""
    return {
        "about": WHAT_IT_IS,
        "release": {"number": facts.number, "sha256": facts.sha256, "register_head": facts.head, "published": facts.published},
        "data_product": answers.name,
        "authors": answers.authors,
        "items": [{**asdict(item), "standing": str(item.standing)} for item in self_assessment(facts, answers)],
    }


def _searched(facts: Facts) -> tuple[str, ...]:
    """What the run of verification that comes with dpviz found for this learner, at whatever settings it looked."""
    known = [item for item in stored_run().facts if item.learner == facts.learner]
    how = [name for name in ("searched", "attacked") if any(getattr(item, name) is not None for item in known)]
    if not how:
        return Standing.NOT_COVERED, "No search for counterexamples and no attack on this learner is stored."
    words = f"This learner was {' and '.join(how)} at the settings of the stored run, not at the settings of this release."
    return Standing.MEASURED, words, "data/benchmarks/verdicts.json; `dpviz verify --all` does it again"


def _tested(facts: Facts) -> tuple[str, ...]:
    if facts.report is None:
        return Standing.NOT_COVERED, "How good the model is: this release holds no private test result."
    said = [*result_sentences(facts.report, facts.unit), *group_sentences(facts.report)]
    return Standing.MEASURED, " ".join(said), "the private test result in the released file"
