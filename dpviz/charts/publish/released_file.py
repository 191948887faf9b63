"""A released file checked without rows: did a register write it, what do its steps add up to, what does it cost a person?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpviz.charts.publish.release import moment, spent_sentence
from dpviz.charts.wording import capital, counted
from dpviz.io.results import result_from_json, with_our_verdict
from dpviz.learners import get_learner, result_verdict
from dpviz.release.check import Match, Place, matched
from dpviz.release.records import Balance
from dpviz.release.register import Register
from dpviz.results.document import UNRECORDED
from dpviz.results.result import FitResult
from dpviz.results.verdict import Verdict, loss_text


@dataclass(frozen=True)
class CheckedFile:
    """A file, where it stands in a register, and its result read back: its steps were composed again."""

    name: str
    match: Match
    result: FitResult
    verdict: Verdict  #: Of its steps, by what is known here of its learner's claim
    balance: Balance | None  #: Of the data set of the release that it is, or names
    register: Path

    @property
    def is_as_released(self) -> bool:
        """Whether the register wrote this very file: only then its steps are not just the word of whoever wrote it."""
        return self.match.place is Place.AS_RELEASED


def checked_file(content: bytes, name: str, register: Register) -> CheckedFile:
    """Read a file, add its ledger up again, and look it up.

    Raises DocumentError where it is no document of dpviz, or its steps do not add up to what it states; DpvizError where its
    learner is not known; RegisterError where the register cannot be used.
    """
    result, found = with_our_verdict(result_from_json(content)), matched(register, content)
    balance = None if found.record is None else register.balance(found.record.data_set)
    return CheckedFile(name, found, result, result_verdict(result), balance, register.path)


def title(found: CheckedFile) -> str:
    """What the file is, in a few words."""
    return f"{get_learner(found.result.learner).title} · predicts {found.result.schema.target.name}"


def place_sentence(found: CheckedFile) -> str:
    """Whether the register wrote this very file."""
    entry = found.match.record
    named = "" if entry is None else f"release number {entry.number} of {entry.data_set!r}"
    match found.match.place:
        case Place.AS_RELEASED:
            return f"In the register, as it was released: {named}, begun {moment(entry.started)} UTC." if entry else ""
        case Place.CHANGED:
            return f"Changed: it names {named}, but that release wrote another file. Rely on nothing it says."
        case Place.LOST:
            return "It names this register, which has no such release: somebody made it up, or the register is an old copy."
        case Place.FOREIGN:
            return "It is of another register. Whether it is as it was released, only that one can tell."
        case Place.NO_REGISTER:
            return f"There is no register at {found.register}. Whether it was released as it is, only a register can tell."
        case Place.UNRECORDED:
            return UNRECORDED if found.result.released else str(found.result.not_released_because)


def cost_sentences(found: CheckedFile) -> tuple[str, str]:
    """(what is guaranteed, what it costs one person). Of a file that was changed nothing is."""
    said, entry, balance = found.verdict, found.match.record, found.balance
    if found.match.place is Place.CHANGED and entry and balance:
        booked = loss_text(entry.loss, balance.data_set.protects)
        return "Not guaranteed, because the file was changed.", f"The release it names cost {booked}."
    word = "" if found.is_as_released else "If its steps were taken as it says: "
    return f"{word}{said.headline}.", said.odds


def sentences(found: CheckedFile) -> list[tuple[str, str]]:
    """(name, sentence), the most important first."""
    guaranteed, costs = cost_sentences(found)
    ledger = found.result.ledger
    steps = f"{capital(counted(len(ledger.rows()), 'step'))}, added up again: {loss_text(found.result.spent, found.result.unit)}."
    told = [("Register", place_sentence(found)), ("Guarantee", guaranteed), ("Costs", costs), ("Steps", steps)]
    return told if found.balance is None else [*told, ("In all", spent_sentence(found.balance))]


def values(found: CheckedFile) -> dict[str, Any]:
    """The same as numbers, for JSON."""
    row, unit, entry = found.result.ledger.guarantee, found.result.unit, found.match.record
    person = found.result.spent
    return {
        "place": str(found.match.place),
        "as_released": found.is_as_released,
        "release": None if entry is None else {"number": entry.number, "data_set": entry.data_set, "epsilon": entry.loss.epsilon},
        "guaranteed": found.is_as_released and found.verdict.holds,
        "row": {"epsilon": row.epsilon, "delta": row.delta} if row.is_finite else None,
        "person": {"unit": unit.words, "rows": unit.rows, "epsilon": person.epsilon, "delta": person.delta}
        if row.is_finite
        else None,
        "right_guesses": found.verdict.right_guesses,
        "steps": len(found.result.ledger.rows()),
    }
