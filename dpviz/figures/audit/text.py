"""What a search for counterexamples found, in words: the verdict of each learner, the lead, the worst pair.

Pure functions of `AuditResult`s. A verdict is always an icon, a word and a tone together; a number is rounded for eyes only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.findings import AuditResult, exceeds
from dpviz.figures.guarantee_text import number_text

#: Beyond this exp() leaves the floats; no search gets near it.
_LARGEST_EXPONENT = 700.0
WITHOUT, WITH = "without the row", "with the row"


@dataclass(frozen=True, slots=True)
class Badge:
    """How a verdict looks: a character, a word, and a tone (the name of a theme colour)."""

    icon: str
    word: str
    tone: str


#: Every verdict of a search, and "not searched" for a learner whose output distributions could not be listed.
BADGES = {
    "holds": Badge("✓", "holds", "green"),
    "unproven": Badge("?", "unproven", "orange"),
    "violated": Badge("✕", "violated", "red"),
    "ledger violated": Badge("‼", "ledger violated", "red"),
    "none": Badge("–", "nothing claimed", "gray"),
    "not searched": Badge("○", "not searched", "gray"),
}


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the table of learners.

    Attributes
    ----------
    key : str
        What a click on the line reports.
    title, setting : str
        The learner, and the settings that are not its default, in words ("" for none).
    claimed, composed : float or None
        Epsilon of the paper and of the steps; None when it was not searched.
    verified, audited : float or None
        Largest log ratio found over all small data sets, and by attack; None where there is no such search.
    verdict : str
        A key of `BADGES`.
    because : str
        The reason in one sentence.
    note : str
        When it is not from the stored run: "searched now".
    """

    key: str
    title: str
    setting: str
    claimed: float | None
    composed: float | None
    verified: float | None
    audited: float | None
    verdict: str
    because: str
    note: str = ""


def lead_sentence(lines: Iterable[AuditLine]) -> str:
    """How many learners keep what they claim. Settings that are not the default are left out; so is who claims nothing."""
    counts = Counter(line.verdict for line in lines if not line.setting and line.verdict != "none")
    unknown = counts.pop("not searched", 0)
    total = counts.total()
    if not total:
        return "Nothing was searched yet."
    learners = "private learner keeps the ε it claims" if total == 1 else "private learners keep the ε they claim"
    rest = ", ".join(f"{counts[name]} {name}" for name in ("unproven", "violated") if counts[name])
    said = f"{counts['holds']} of {total} {learners}, on everything that was searched{': ' if rest else ''}{rest}."
    more = f" {unknown} more {'was' if unknown == 1 else 'were'} not searched." if unknown else ""
    bug = " A ledger is violated: that is a bug in dpviz." if counts["ledger violated"] else ""
    return f"{said}{more}{bug}"


def found_epsilon(result: AuditResult) -> float:
    """The largest log ratio found; 0 where cutting off noise left nothing certified."""
    return max(0.0, result.log_ratio)


def times(epsilon: float) -> float:
    """exp(epsilon): how many times as likely an output may become."""
    return math.exp(epsilon) if epsilon < _LARGEST_EXPONENT else math.inf


def times_text(epsilon: float) -> str:
    """As in "3.5 times"; infinite: "without limit"."""
    return "without limit" if math.isinf(times(epsilon)) else f"{number_text(times(epsilon))} times"


def chance_text(chance: float) -> str:
    """A probability for people: "9.47 %", "1 in 2,100", "impossible", "certain"."""
    if chance <= 0:
        return "impossible"
    if chance >= 1:
        return "certain"
    if chance >= 0.01:
        return f"{number_text(100 * chance)} %"
    size = 10.0 ** (math.floor(-math.log10(chance)) - 2)
    return f"1 in {max(1.0, size) * round(1 / chance / max(1.0, size)):,.0f}"


def pair_sentence(result: AuditResult) -> str:
    """How far apart the pair is, and how far apart it may be."""
    pair = result.worst_pair
    if pair is None or result.log_ratio <= 0:
        return "No difference between neighbouring data sets could be certified here."
    without, with_row = pair.probabilities
    if math.isinf(result.log_ratio):
        sides = ("with", "without") if with_row > without else ("without", "with")
        said = f"This tree is possible {sides[0]} the marked row and impossible {sides[1]} it"
        return f"{said}. {_endless_allowance(result)}"
    change = "Adding the marked row" if with_row > without else "Taking the marked row away"
    return f"{change} makes this tree {times_text(result.log_ratio)} as likely; {allowance_text(result)}."


def _endless_allowance(result: AuditResult) -> str:
    if math.isinf(result.claimed):
        return "Nothing was promised."
    return f"No finite ε allows that; ε = {number_text(result.claimed)} is claimed ({NEIGHBOURS})."


def allowance_text(result: AuditResult) -> str:
    """What the claim allows: "ε = 1 (add/remove one row) allows 2.72 times"."""
    if math.isinf(result.claimed):
        return "nothing is claimed, so nothing is ruled out"
    return f"ε = {number_text(result.claimed)} ({NEIGHBOURS}) allows {times_text(result.claimed)}"


def is_beyond(result: AuditResult) -> bool:
    """True when what was found is more than what is claimed."""
    return exceeds(result.log_ratio, result.claimed)


def setting_text(params: dict[str, Any], labels: dict[str, str]) -> str:
    """Parameters that are not the default, in words; `labels` gives each its name on screen."""
    words = (labels.get(name, name).lower() + ("" if value is True else f": {value}") for name, value in params.items())
    return ", ".join(words)
