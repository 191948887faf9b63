"""What a search for counterexamples found, in words: the verdict of each learner, the lead, the worst pair.

Pure functions of `AuditResult`s. A verdict is always an icon, a word and a tone together; a number is rounded for eyes only.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.by_attack import AuditedBound
from dpviz.evaluation.audit.findings import SLACK, AuditResult, exceeds
from dpviz.results.wording import number_text

#: Beyond this exp() leaves the floats; no search gets near it.
_LARGEST_EXPONENT = 700.0
#: From this share of what is proved on, an attack is said to come near it.
WEAK = 0.8
WITHOUT, WITH = "without the row", "with the row"


@dataclass(frozen=True, slots=True)
class Badge:
    """How a verdict looks: a character, a word, and a tone (the name of a theme colour)."""

    icon: str
    word: str
    tone: str


#: *Proved*: the verdict on a plan; "" where the stored run has none.
BADGES = {
    "holds": Badge("✓", "holds", "green"),
    "unproven": Badge("?", "unproven", "orange"),
    "violated": Badge("✕", "violated", "red"),
    "none": Badge("–", "nothing claimed", "gray"),
    "": Badge("○", "not stored", "gray"),
}
#: *Searched* and *attacked*, by what was found against what is claimed: a lower bound never proves, so "within" has no colour.
SEARCHED = {
    "within": Badge("⌕", "within", "gray"),
    "beyond": Badge("⌕", "beyond", "red"),
    "bug": Badge("‼", "beyond what its steps cost", "red"),
    "nothing": Badge("⌕", "nothing claimed", "gray"),
    "not": Badge("○", "not listed", "gray"),
}
ATTACKED = SEARCHED | {
    "within": Badge("◎", "within", "gray"),
    "beyond": Badge("◎", "beyond", "red"),
    "nothing": Badge("◎", "nothing claimed", "gray"),
    "not": Badge("○", "not attacked", "gray"),
}


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the table of learners: a plan, and the three facts about it. A click on the line reports `key`.

    `setting` are the settings that are not its default, in words. *Proved*: `verdict`, a key of `BADGES`; `claimed` and
    `composed` are the epsilons of the paper and of the steps, `claimed_guesses` and `guesses` the right guesses of 100 about one
    row that each allows at most; None where nothing is stored. *Searched*: `found`, the worst; None where outputs could not be
    listed. *Attacked*: `attacked`. `note` says when the search is not from the stored run: "searched now".
    """

    key: str
    title: str
    setting: str
    verdict: str = ""
    claimed: float | None = None
    composed: float | None = None
    claimed_guesses: float | None = None
    guesses: float | None = None
    found: AuditResult | None = None
    attacked: AuditedBound | None = None
    note: str = ""

    @property
    def search(self) -> str:
        """A key of `SEARCHED`."""
        return against_claim(self.found.log_ratio, self.found) if self.found is not None else "not"

    @property
    def attack(self) -> str:
        """A key of `ATTACKED`."""
        return against_claim(self.attacked.bound, self.attacked) if self.attacked is not None else "not"


def against_claim(bound: float, found: AuditResult | AuditedBound) -> str:
    """A lower bound of epsilon against what is claimed and against the ledger: "within", "beyond", "bug" or "nothing" claimed."""
    if exceeds(bound, found.composed):
        return "bug"
    if math.isinf(found.claimed):
        return "nothing"
    return "beyond" if exceeds(bound, found.claimed) else "within"


def lead_sentence(lines: Iterable[AuditLine]) -> str:
    """How many private learners are proved, refuted or neither; default settings only."""
    asked = _asked(lines)
    if not asked:
        return "Nothing is stored yet."
    counts = Counter(line.verdict for line in asked)
    rest = ", ".join(f"{counts[name]} {name}" for name in ("unproven", "violated") if counts[name])
    more = f": {rest}" if rest else ""
    is_bug = any("bug" in (line.search, line.attack) for line in asked)
    bug = " What the steps cost is wrong: that is a bug in dpviz." if is_bug else ""
    return f"{counts['holds']} of {len(asked)} private algorithms are proved to keep the ε they claim{more}.{bug}"


def tried_sentence(lines: Iterable[AuditLine]) -> str:
    """What search and attack found of private learners; default settings only."""
    asked = _asked(lines)
    known = {"searched": [line.search for line in asked], "attacked": [line.attack for line in asked]}
    beyond = {word: sum(key in ("beyond", "bug") for key in keys) for word, keys in known.items()}
    words = [
        f"{len(keys) - keys.count('not')} were {word}, {beyond[word]} of them beyond their claim." for word, keys in known.items()
    ]
    return " ".join(words)


def _asked(lines: Iterable[AuditLine]) -> list[AuditLine]:
    return [line for line in lines if not line.setting and line.verdict not in ("none", "")]


def attack_sentence(found: AuditedBound) -> str:
    """What an attack showed, with its confidence, and of what is proved; what could be shown, or that no attack is known."""
    delta = f", δ = {number_text(found.delta)}" if found.delta else ""
    least = f"ε {at_least_text(found.bound)}{delta} ({NEIGHBOURS}) with {found.confidence:.0%} confidence"
    of_what = "the right guesses that are proved possible" if found.delta else "what is proved"
    if strength_text(found):
        more = f" {found.ceiling}." if found.ceiling else ""
        return f"{least}: {strength_text(found)} of {of_what}.{more}"
    more = ""
    if found.ceiling and found.ceiling.share < WEAK:
        more = f" {found.ceiling} of {of_what}."
    elif found.verdict == "holds" and found.claimed < math.inf:
        more = " No attack is known that comes near what is proved."
    return f"{least}.{more}"


def strength_text(found: AuditedBound) -> str:
    """The share of the proved loss that an attack found, rounded down; empty where no attack is known that comes near it."""
    of_claim = found.bound / found.claimed if found.verdict == "holds" and 0 < found.claimed < math.inf else 0.0
    share = found.strength if found.strength is not None else of_claim if of_claim >= WEAK else 0.0
    return f"{math.floor(100 * share * (1 + SLACK))}%" if share else ""


def attack_source(found: AuditedBound) -> str:
    """What an attack could have shown, and on how many draws."""
    guesses = f"{found.hits[1]:,} of {found.n_tested:,} guesses right"
    seen = f"{found.n_done:,} draws on each of two data sets"
    if found.canaries > 1:
        seen = f"{guesses}, {found.canaries} canaries in each of {found.n_done:,} draws"
    elif found.strength is not None:
        seen = f"{guesses}, {seen}, with everything released in view"
    return f"{number_text(found.claimed)} is claimed and {number_text(found.largest)} could be shown ({seen})."


def at_least_text(bound: float) -> str:
    """A lower bound, rounded down: "≥ 0.999"; infinite: "∞"."""
    if math.isinf(bound) or bound <= 0:
        return number_text(bound) if bound else "≥ 0"
    unit = 10.0 ** (math.floor(math.log10(bound)) - 2)
    return f"≥ {number_text(math.floor(bound / unit * (1 + SLACK)) * unit)}"


def times(epsilon: float) -> float:
    """exp(epsilon): how many times as likely an output may become."""
    return math.exp(epsilon) if epsilon < _LARGEST_EXPONENT else math.inf


def times_text(epsilon: float) -> str:
    """As in "3.5 times"; infinite: "without limit"."""
    return "without limit" if math.isinf(times(epsilon)) else f"{number_text(times(epsilon))} times"


def chance_text(chance: float) -> str:
    """A probability for people: "9.47%", "1 in 2,100", "impossible", "certain"."""
    if chance <= 0:
        return "impossible"
    if chance >= 1:
        return "certain"
    if chance >= 0.01:
        return f"{number_text(100 * chance)}%"
    size = 10.0 ** (math.floor(-math.log10(chance)) - 2)
    return f"1 in {max(1.0, size) * round(1 / chance / max(1.0, size)):,.0f}"


def search_sentence(result: AuditResult) -> str:
    """What a search found, and what is claimed."""
    if result.worst_pair is None or result.log_ratio <= 0:
        return pair_sentence(result)
    claimed = "nothing is claimed" if math.isinf(result.claimed) else f"{number_text(result.claimed)} is claimed"
    found = "No finite ε holds" if math.isinf(result.log_ratio) else f"ε {at_least_text(result.log_ratio)}"
    return f"{found}; {claimed}."


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
