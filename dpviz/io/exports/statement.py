"""What a `dpviz-tree/1` document states about privacy, read with typed errors: exports carry it along."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from dpviz.accounting.claim import Claim, Disclosure, why_uncovered
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss, for_unit
from dpviz.accounting.ledger import LedgerRow
from dpviz.learners import registry
from dpviz.models.document import read_leaf
from dpviz.table.schema import NumericTarget, Schema
from dpviz.table.strict_json import read, read_entry, with_infinity, wrong
from dpviz.training.honest.number_report import DEGREE, NumberReport
from dpviz.training.honest.report import TestReport
from dpviz.training.honest.window import Window

_MOST_DISCLOSURES = 5


@dataclass(frozen=True, slots=True)
class Noise:
    """Where the noise came from. `warning`: why this is not a release; None for a release."""

    warning: str | None = None


@dataclass(frozen=True, slots=True)
class PerPerson:
    """What it costs one person with at most `rows` rows."""

    rows: Annotated[int, Meta(ge=1, lt=2**31)]
    epsilon: float
    delta: float = 0.0


@dataclass(frozen=True, slots=True)
class Statement:
    """The privacy part of a document."""

    claim: Claim
    guarantee: PrivacyLoss
    ledger: tuple[LedgerRow, ...]
    disclosures: tuple[Disclosure, ...]
    noise: Noise
    neighbours: str = NEIGHBOURS
    per_person: PerPerson | None = None


def statement_of(document: Any) -> Statement:
    """What the document states; where it is silent, nothing is guaranteed. Raises DocumentError naming the place."""
    privacy = read(dict, document).get("privacy")
    if privacy is None:
        nothing = Claim(math.inf, "", "none", "The document says nothing about privacy.")
        return Statement(nothing, PrivacyLoss(math.inf), (), (), Noise())
    found = read(Statement, with_infinity(privacy, "epsilon"), "privacy")
    if found.neighbours != NEIGHBOURS:
        raise wrong(f"This must be {NEIGHBOURS!r}; got {found.neighbours!r:.60}.", "privacy.neighbours")
    person = found.per_person  # what is said about a person follows from what is said about a row
    if person is not None and for_unit(found.guarantee, person.rows) != PrivacyLoss(person.epsilon, person.delta):
        raise wrong("This does not follow from the guarantee for one row.", "privacy.per_person")
    return found


def test_result_of(document: Any, schema: Schema) -> TestReport | NumberReport | None:
    """The private test result, computed anew from its released table; None where there is none. Raises DocumentError."""
    where = "test_report"
    if where not in document:
        return None
    body = read_entry(dict, document, where)
    if isinstance(schema.target, NumericTarget):
        return _of_numbers(body, schema, where)
    items = enumerate(read_entry(tuple[dict[str, Any], ...], body, "table", where))
    table = tuple(read_leaf(item, schema, f"{where}.table[{place}]") for place, item in items)
    if not table or any(answer.counts is None for answer in table):
        raise wrong("Every answer of the model needs its counts.", f"{where}.table")
    share, epsilon = _terms(body, where)
    return TestReport(schema, share, epsilon, table, _counted(body, (len(table), len(schema.classes)), where))


def _terms(body: dict[str, Any], where: str) -> tuple[float, float]:
    share, epsilon = (read_entry(float, body, name, where) for name in ("share", "epsilon"))
    if not (0 < share < 1 and epsilon > 0):
        raise wrong("The share must be between 0 and 1, and epsilon positive.", where)
    return share, epsilon


def _of_numbers(body: dict[str, Any], schema: Schema, where: str) -> NumberReport:
    share, epsilon = _terms(body, where)
    table_epsilon, centre, width = (read_entry(float, body, name, where) for name in ("table_epsilon", "centre", "width"))
    if not (0 < table_epsilon <= epsilon and width > 0):
        raise wrong("The width must be positive, and the table cost at most epsilon.", where)
    sums = read_entry(tuple[tuple[int, ...], ...], body, "sums", where)
    if len(sums) != DEGREE + 1 or any(len(row) != DEGREE + 1 for row in sums):
        raise wrong(f"{DEGREE + 1} rows of {DEGREE + 1} sums are needed.", f"{where}.sums")
    return NumberReport(schema, share, epsilon, table_epsilon, Window(centre, width), sums)


def _counted(body: dict[str, Any], shape: tuple[int, int], where: str) -> tuple[tuple[int, ...], ...] | None:
    if "counted" not in body:
        return None
    found = read_entry(tuple[tuple[int, ...], ...], body, "counted", where)
    if len(found) != shape[0] or any(len(row) != shape[1] for row in found):
        raise wrong("One row per answer and one number per class are needed.", f"{where}.counted")
    return found


test_result_of.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def facts(document: Any, target: str) -> list[str]:
    """What every export carries: who made it, what is guaranteed, what is not covered. A sentence or two each."""
    learner, version = entry_text(document, "learner", "name"), entry_text(document, "versions", "dpviz")
    statement = statement_of(document)
    person, of_person = statement.per_person, []
    if person is not None:
        loss = _in_words(PrivacyLoss(person.epsilon, person.delta))
        of_person = [f"At most {person.rows:,} rows of each person were used; for one person: {loss}."]
    return [
        f"Predicts {target!r}. Learner {learner}, dpviz {version}.",
        _guarantee(statement, why_not(document)),
        *of_person,
        *([statement.noise.warning] if statement.noise.warning else []),
        *_uncovered(statement.disclosures),
    ]


def entry_text(document: Any, part: str, name: str) -> str:
    """The text `name` of a part of the document, such as "learner"; "unknown" where there is none. Raises DocumentError."""
    found = read(dict, read(dict, document).get(part, {}), part).get(name, "unknown")
    return read(str, found, f"{part}.{name}")


def why_not(document: Any) -> str:
    """Why no epsilon covers all that the document holds; empty where that is not so."""
    spec = registry().get(entry_text(document, "learner", "name"))
    return why_uncovered(statement_of(document).disclosures, is_exact=spec is None or spec.exact)


def _guarantee(statement: Statement, uncovered: str) -> str:
    """Guaranteed, would be guaranteed if released, or not guaranteed, because."""
    claim, proven = statement.claim, statement.guarantee
    if claim.verdict == "none":
        return f"Not guaranteed, because it is not private. {claim.because}"
    if claim.verdict == "holds" and proven.epsilon <= claim.epsilon and proven.delta <= claim.delta:
        if uncovered:
            return f"Not guaranteed, because {uncovered}. {claim.because}"
        state = "Would be guaranteed if released" if statement.noise.warning else "Guaranteed"
        return f"{state}: {_in_words(proven)} ({NEIGHBOURS}). {claim.because}"
    claimed = _in_words(PrivacyLoss(claim.epsilon, claim.delta))
    fate = "is violated" if claim.verdict == "violated" else "is not proven"
    doubt = f"Not guaranteed, because the claim of {claimed} ({NEIGHBOURS}) {fate}"
    return f"{doubt}; its steps add up to {_in_words(proven)}. {claim.because}"


def _in_words(loss: PrivacyLoss) -> str:
    return f"epsilon = {loss.epsilon:.6g}" + (f", delta = {loss.delta:.3g}" if loss.delta else "")


def _uncovered(found: tuple[Disclosure, ...]) -> list[str]:
    lines = [f"Outside the guarantee: {item.what}" for item in found[:_MOST_DISCLOSURES]]
    more = len(found) - _MOST_DISCLOSURES
    return [*lines, f"And {more} more such disclosures; the JSON document lists them."] if more > 0 else lines
