"""What papers about a release may say: the list of what they are filled from, and the answers only people can give.

Nothing else of the register or of the file reaches a paper: no exploration, no count, no fingerprint of rows, no path.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.errors import DocumentError, DpvizError
from dpviz.figures.publish.release import composed_sentence
from dpviz.figures.wording import counted
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import test_result_of
from dpviz.learners import get_learner
from dpviz.release.records import Balance, Entry, State
from dpviz.results.document import statement_of
from dpviz.results.result import TestReport
from dpviz.results.verdict import Unit, loss_text
from dpviz.table.schema import Schema
from dpviz.table.strict_json import parse_json, read

SECTORS = ("", "Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
DATA_SOURCES = ("", "Static", "Dynamic")
OPTIONAL = ("sector", "sources")


def _asked(question: str) -> Any:
    return field(default="", metadata={"question": question})


@dataclass(frozen=True, slots=True)
class Answers:
    """What only people know, each field with what is asked for it; all but those of OPTIONAL have to be given."""

    name: str = _asked("Name of the data product")
    curators: str = _asked("Who publishes it; several names separated by semicolons")
    intended_use: str = _asked("What it is for")
    region: str = _asked("Region whose people, or whose law, it is about")
    sector: str = _asked("Sector")
    collection: str = _asked("How the data were collected, and on what legal ground")
    data_source: str = _asked("Do new rows come in over time?")
    tuning: str = _asked("How the settings were chosen")
    justification: str = _asked("Why this privacy loss is acceptable for this use")
    access: str = _asked("Who can read the rows, and how they are protected")
    sources: str = _asked("Links to further documents")
    authors: str = _asked("Who fills this in; several names separated by semicolons")

    @property
    def missing(self) -> tuple[str, ...]:
        """The questions that still have to be answered."""
        return tuple(QUESTIONS[name] for name in QUESTIONS if name not in OPTIONAL and not getattr(self, name).strip())


#: Answer -> what is asked.
QUESTIONS: dict[str, str] = {answer.name: answer.metadata["question"] for answer in fields(Answers)}


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything of a release that a paper is filled from; `learner` is its name in the registry of learners.

    `loss` is what this release cost one row, `risk` what its steps tell about it. Of all releases of the data set, `together` is
    what they cost in the account that `account` names; `composed` says in words what they tell by what was run. `unit` is whom it
    protects, `report` the private test result, `published` an ISO date; `number`, `sha256` and `head` are of the file and its
    entry in the register.
    """

    schema: Schema
    learner: str
    loss: PrivacyLoss
    risk: Risk | None
    together: PrivacyLoss
    account: str
    composed: str
    n_releases: int
    cap: PrivacyLoss
    unit: Unit
    claim: Claim
    mechanisms: tuple[str, ...]
    versions: dict[str, str]
    report: TestReport | None
    published: str
    number: int
    sha256: str
    head: str


def facts_of(balance: Balance, entry: Entry, text: str) -> Facts:
    """The facts of a release from its register and its file. Raises DpvizError for one that was never finished."""
    if entry.state is not State.RELEASED:
        raise DpvizError(
            "This release was interrupted: there is no file to write documents about.", where=f"number {entry.number}"
        )
    data_set = balance.data_set
    given = Exportable(text, data_set.protects)
    statement, document = statement_of(given.document), given.document
    return Facts(
        schema=given.schema,
        learner=entry.learner,
        loss=entry.loss,
        risk=given.verdict.risk,
        together=balance.spent,
        account="by their sum",
        composed=composed_sentence(balance),
        n_releases=len(balance.releases),
        cap=data_set.cap,
        unit=given.verdict.unit,
        claim=statement.claim,
        mechanisms=tuple(dict.fromkeys(step.mechanism for step in statement.steps if step.mechanism)),
        versions=read(dict[str, str], document.get("versions", {}), "versions"),
        report=test_result_of(document, given.schema),
        published=entry.finished[:10],
        number=entry.number,
        sha256=entry.sha256,
        head=read(str, document.get("register", {}).get("head", ""), "register.head"),
    )


def answers_template() -> str:
    """JSON to fill in: every question with an empty answer."""
    about = {"questions": QUESTIONS, "answers": asdict(Answers())}
    return json.dumps(about, indent=1, ensure_ascii=False) + "\n"


def answers_from(text: str | bytes) -> Answers:
    """Answers from a filled-in template (or its UTF-8 bytes). Raises DocumentError."""
    document: Any = read(dict, parse_json(text))
    if "answers" not in document:
        raise DocumentError("There are no answers.", where="answers", remedy="Begin with `dpviz register export-questions`.")
    return read(Answers, document["answers"], "answers")


def words_of(facts: Facts, answers: Answers) -> dict[str, Any]:
    """What both papers say, by the names their templates have for it. Raises DpvizError naming the answers that are missing."""
    if answers.missing:
        raise DpvizError("Something only people know is missing.", remedy="Answer: " + "; ".join(answers.missing) + ".")
    return asdict(answers) | {
        "learner": get_learner(facts.learner).title,
        "loss": loss_text(facts.loss, facts.unit),
        "together": loss_text(facts.together, facts.unit),
        "account": facts.account,
        "composed": f" {facts.composed}".rstrip(),
        "cap": loss_text(facts.cap, facts.unit),
        "releases": counted(facts.n_releases, "release"),
        "unit": facts.unit.words,
        "rows": counted(facts.unit.rows, "row"),
        "mechanisms": ", ".join(facts.mechanisms) or "none",
        "because": facts.claim.because,
    }


def filled(template: Any, words: Mapping[str, Any]) -> Any:
    """A template of JSON with its `{names}` filled in.

    A text that is a name alone becomes the value of that name, of whatever type; an entry whose value is None is left out.
    """
    if isinstance(template, dict):
        entries = {name: filled(item, words) for name, item in template.items()}
        return {name: value for name, value in entries.items() if value is not None}
    if isinstance(template, list):
        return [filled(item, words) for item in template]
    if not isinstance(template, str):
        return template
    alone = re.fullmatch(r"\{(\w+)\}", template)
    return words[alone[1]] if alone else template.format_map(words)
