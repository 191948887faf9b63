"""A self-assessment of one release along the topics of NIST SP 800-226: what is proved, measured, declared, or not covered.

NIST certifies nothing, and neither does this. Source of the topics: NIST SP 800-226 (2025), "Guidelines for Evaluating
Differential Privacy Guarantees".
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.figures.guarantee_text import epsilon_text, odds_text
from dpviz.figures.publish.paper_facts import Answers, Facts, require_answered
from dpviz.figures.publish.test_result import result_sentences
from dpviz.figures.wording import counted

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
    require_answered(answers)
    parts = (_parameter(facts, answers), _unit(facts), _mixing(facts), _algorithm(facts, answers), _utility(facts))
    return tuple(item for part in (*parts, _trust(), _security(answers), _collection(answers)) for item in part)


def assessment_document(facts: Facts, answers: Answers) -> dict[str, Any]:
    """The same as plain values, for a file."""
    return {
        "about": WHAT_IT_IS,
        "release": {"number": facts.number, "sha256": facts.sha256, "register_head": facts.head, "published": facts.published},
        "data_product": answers.name,
        "authors": answers.authors,
        "items": [{**asdict(item), "standing": str(item.standing)} for item in self_assessment(facts, answers)],
    }


def _parameter(facts: Facts, answers: Answers) -> Iterator[Item]:
    topic, variant = "Privacy parameter and variant", "approximate" if facts.loss.delta else "pure"
    words = f"{epsilon_text(facts.loss)}, {variant} differential privacy. {odds_text(facts.loss)}"
    yield Item(topic, Standing.PROVED, words, facts.claim.evidence)
    yield Item(topic, Standing.DECLARED, f"Why this loss is acceptable: {answers.justification}")


def _unit(facts: Facts) -> Iterator[Item]:
    topic = "Unit of privacy"
    standing = Standing.PROVED if facts.rows_are_bounded else Standing.DECLARED
    bound = "enforced while encoding" if facts.rows_are_bounded else "nothing enforces it"
    yield Item(
        topic, standing, f"{facts.unit[:1].upper()}{facts.unit[1:]} has at most {counted(facts.rows_per_unit, 'row')}: {bound}."
    )
    words = f"Given that, this release costs {facts.unit} {epsilon_text(facts.of_unit).replace(f' ({NEIGHBOURS})', '')}."
    yield Item(topic, Standing.PROVED, words, "group privacy: Dwork & Roth 2014, Theorem 2.2")


def _mixing(facts: Facts) -> Iterator[Item]:
    topic = "Mixing with other releases"
    sums = f"{counted(facts.n_releases, 'release')} of these rows, {epsilon_text(facts.together)} together"
    yield Item(
        topic, Standing.PROVED, f"{sums}, under a cap of {epsilon_text(facts.cap)}.", "sequential composition; the register"
    )
    yield Item(topic, Standing.DECLARED, "Nobody in this data set is in another data set of the register.")
    yield Item(topic, Standing.NOT_COVERED, "Releases of the same people made without this register, by anybody.")


def _algorithm(facts: Facts, answers: Answers) -> Iterator[Item]:
    topic = "Algorithm and implementation"
    steps = ", ".join(facts.mechanisms) or "none"
    yield Item(topic, Standing.PROVED, f"{facts.title}; mechanisms: {steps}. {facts.claim.because}", facts.claim.evidence)
    exact = "Noise comes from exact samplers and the randomness of the operating system; floating point adds no leak to it."
    yield Item(topic, Standing.PROVED, exact, "dpviz/privacy")
    yield _searched(facts, topic)
    yield Item(topic, Standing.DECLARED, f"How settings were chosen: {answers.tuning}")
    yield Item(topic, Standing.NOT_COVERED, "Side channels: how long a computation takes, and how much memory.")


def _searched(facts: Facts, topic: str) -> Item:
    """What the run of verification that comes with dpviz found for this learner, at whatever settings it looked."""
    known = [item for item in stored_run().facts if item.learner == facts.learner]
    how = [name for name in ("searched", "attacked") if any(getattr(item, name) is not None for item in known)]
    if not how:
        return Item(topic, Standing.NOT_COVERED, "No search for counterexamples and no attack on this learner is stored.")
    words = f"This learner was {' and '.join(how)} at the settings of the stored run, not at the settings of this release."
    return Item(topic, Standing.MEASURED, words, "data/benchmarks/verdicts.json; `dpviz verify --all` does it again")


def _utility(facts: Facts) -> Iterator[Item]:
    topic = "Utility and bias"
    if facts.report is None:
        yield Item(topic, Standing.NOT_COVERED, "How good the model is: this release holds no private test result.")
    else:
        where = "the private test result in the released file"
        yield Item(topic, Standing.MEASURED, " ".join(result_sentences(facts.report)), where)
    yield Item(topic, Standing.NOT_COVERED, "Fairness between groups. Noise weighs more on small groups.")


def _trust() -> Iterator[Item]:
    topic = "Query and trust model"
    yield Item(
        topic, Standing.DECLARED, "Central model: the curator reads the rows and is trusted with them; nothing is interactive."
    )
    words = "Whoever holds the released file may know every other row, and have any computing power."
    yield Item(topic, Standing.PROVED, words, "the definition of differential privacy")


def _security(answers: Answers) -> Iterator[Item]:
    topic = "Security and access control"
    yield Item(topic, Standing.DECLARED, answers.access)
    words = (
        "Entries of the register are a chain of hashes: against a head noted elsewhere, a changed, removed or reordered one is "
    )
    yield Item(topic, Standing.PROVED, f"{words}found.", "SECURITY.md, with what cannot be found")
    yield Item(topic, Standing.NOT_COVERED, "Whoever can read the rows, or runs this software with them.")


def _collection(answers: Answers) -> Iterator[Item]:
    topic = "Data collection"
    yield Item(topic, Standing.DECLARED, answers.collection)
    yield Item(
        topic, Standing.DECLARED, "Columns, ranges, categories and classes are public knowledge, and were not read from the rows."
    )
