"""What may be said about the privacy of a result: the one type, and the one writer of its sentences.

Every loss here is that of one unit of privacy: of a person, all of whose rows come or go together; of a row where a person has
one. What one of several rows loses stands in the ledger's table alone.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss, for_unit
from dpviz.accounting.risk import Risk
from dpviz.results.wording import number_text, rounded_up, signs_spelled

#: What delta is, wherever it is asked for or explained.
DELTA = "The additive slack of (ε, δ)-differential privacy; choose it far below 1/number of rows."

#: How a verdict must look: each kind has its own icon, colour and words. "released" is guaranteed, "would" would be if it were
#: released, all others are not guaranteed.
Kind = Literal["released", "would", "uncovered", "unproven", "violated", "none"]
NO_BOUND = PrivacyLoss(math.inf)


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of privacy: whom a guarantee protects, all of whose rows come or go together.

    `name` is the owner's word for one of them, such as "one patient"; `rows` is the most rows one of them has. `is_bounded`:
    the encoder kept no more; otherwise that is the owner's word.
    """

    rows: int = 1
    name: str = ""
    is_bounded: bool = False

    @property
    def is_row(self) -> bool:
        """True where nothing is known beyond the row itself."""
        return self.rows == 1 and not self.name and not self.is_bounded

    @property
    def words(self) -> str:
        """As in "one patient"; "one row" where nobody said whose rows they are."""
        return "one row" if self.is_row else self.name or "one person"

    @property
    def text(self) -> str:
        """As in "one patient, up to 3 rows"."""
        return self.words if self.is_row else f"{self.words}, {'1 row' if self.rows == 1 else f'up to {self.rows:,} rows'}"

    @property
    def neighbours(self) -> str:
        """The neighbouring relation, as in "add/remove one patient, up to 3 rows"."""
        return NEIGHBOURS if self.rows == 1 else f"add/remove {self.text}"

    def loss_of(self, row: PrivacyLoss) -> PrivacyLoss:
        """What any mechanism costs one of them that costs `row` of one row: rows epsilon; see `for_unit`."""
        return for_unit(row, self.rows)


ROW = Unit()


def right_guesses(loss: PrivacyLoss, unit: Unit = ROW, risk: Risk | None = None) -> float:
    """The most right guesses of 100 whether one unit, which loses `loss`, is in the data, at even odds before; a coin reaches 50.

    `risk` is what one row risks by the steps that were really run, which is composed to the unit's rows. Without it this is the
    plain bound for any mechanism with this loss, e^eps / (1 + e^eps) + delta, the best any test can do.
    """
    if risk is None or not loss.is_finite:
        return 100 * loss.guesses_right
    return 100 * risk.for_rows(unit.rows).guesses()


def bare_text(loss: PrivacyLoss) -> str:
    """As in "ε = 0.1", with delta where there is one; only for what stands beside its neighbouring relation."""
    return f"ε = {number_text(loss.epsilon)}" + (f", δ = {number_text(loss.delta)}" if loss.delta else "")


def loss_text(loss: PrivacyLoss, unit: Unit = ROW) -> str:
    """A unit's loss with its neighbouring relation, as in "ε = 3 (add/remove one patient, up to 3 rows)"."""
    return f"{bare_text(loss)} ({unit.neighbours})"


def odds_text(loss: PrivacyLoss, unit: Unit = ROW, risk: Risk | None = None) -> str:
    """The loss as odds: how many of 100 fair guesses whether one unit is in the data can be right.

    `risk` as in `right_guesses`; without it the sentence says that it is about any mechanism.
    """
    if not loss.is_finite:
        return f"Nothing limits what can be learned about {unit.words}."
    guessing = f"Someone guessing whether {unit.words} {'was used' if unit.is_row else 'is in the data'}"
    hundredths = right_guesses(loss, unit, risk)
    whatever = "" if risk is not None else ", whatever the algorithm"
    if hundredths > 99:
        return f"{guessing} may be right more than 99 times in 100: hardly any protection."
    return f"{guessing} is right {at_most_text(hundredths)} times in 100{whatever}; a coin flip, 50."


def at_most_text(hundredths: float) -> str:
    """As in "at most 55"; "fewer than 51", "more than 99"."""
    said = times_text(hundredths)
    return f"at most {said}" if said.isdigit() else said


def times_text(hundredths: float) -> str:
    """So many right guesses of 100, rounded up; in words where a whole number would say certainty or nothing."""
    return "more than 99" if hundredths > 99 else "fewer than 51" if hundredths < 51 else rounded_up(hundredths)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said of a result: a headline and its reason; `kind` decides icon and colour.

    `proven` is what can be relied on for one unit, infinite when nothing can; `unit` is whom that protects. `risk` is what one
    row risks by the steps that were run, None where they are not known.
    """

    kind: Kind
    headline: str
    because: str
    proven: PrivacyLoss
    unit: Unit = ROW
    risk: Risk | None = None

    @property
    def holds(self) -> bool:
        """True where the guarantee holds for what is at hand."""
        return self.kind == "released"

    @property
    def odds(self) -> str:
        """What is proven, as odds."""
        return odds_text(self.proven, self.unit, self.risk)

    @property
    def right_guesses(self) -> float:
        """The most right guesses of 100 about one unit; see the function of this name."""
        return right_guesses(self.proven, self.unit, self.risk)

    @property
    def plain_bound(self) -> str:
        """What epsilon alone allows any mechanism, one click away from `odds`; empty where these say just that, or nothing."""
        if self.risk is None or not self.proven.is_finite:
            return ""
        allowed = at_most_text(right_guesses(self.proven, self.unit))
        return f"Any algorithm with {loss_text(self.proven, self.unit)}: {allowed} times in 100."

    @property
    def in_file(self) -> str:
        """Headline and reason on one line, with signs spelled out: for comments, metadata and terminals."""
        return signs_spelled(f"{self.headline}. {self.because}")

    @property
    def promises(self) -> tuple[str, ...]:
        """What can be relied on, in plain words, one sentence or two each."""
        if self.kind == "would":
            once = replace(self, kind="released").promises
            return ("Nothing yet: this has not been released. Once it is released:", *once)
        if not self.proven.is_finite:
            return (
                f"Nothing. Whoever sees this model may learn anything about {self.unit.words} of the data it was trained on.",
            )
        said = [
            f"{loss_text(self.proven, self.unit)}: {self.odds}",
            "This holds for anyone who sees this model, even if they know every other row, and whatever else they learn later.",
        ]
        if self.unit.rows > 1 and not self.unit.is_bounded:
            said.append(f"That {self.unit.words} has at most {self.unit.rows:,} rows was declared; nothing enforces it.")
        if self.proven.delta:
            said.append(f"δ: {DELTA[0].lower()}{DELTA[1:]}")
        return tuple(said)


def verdict(
    claim: Claim, guarantee: PrivacyLoss, *, released: bool, why_not: str = "", unit: Unit = ROW, risk: Risk | None = None
) -> Verdict:
    """What may be said about a result: guaranteed, would be guaranteed if released, or not guaranteed, because.

    `claim` and `guarantee`, what its ledger composes to, are those of one unit; `released` says whether it came from exact
    samplers without a seed, `why_not` what `why_uncovered` says. `risk` is what one row risks by the steps of this ledger.

    A violated claim whose ledger is no larger refutes the ledger too (a step costs more than it says): then nothing is said to
    be bounded. A larger finite ledger is still a bound, only not the one that is claimed.
    """
    larger = not (guarantee.epsilon <= claim.epsilon and guarantee.delta <= claim.delta)
    proven = guarantee if larger or claim.verdict != "violated" else NO_BOUND

    def verdict_of(kind: Kind, headline: str, because: str, loss: PrivacyLoss) -> Verdict:
        return Verdict(kind, headline, because, loss, unit, risk)

    if claim.verdict == "none":
        return verdict_of("none", "Not guaranteed, because it is not private", claim.because, NO_BOUND)
    if claim.is_sound and not larger and guarantee.is_finite:
        text = loss_text(guarantee, unit)
        if why_not:
            return verdict_of(
                "uncovered", f"Not guaranteed, because {why_not}", f"{claim.because} Its steps add up to {text}.", NO_BOUND
            )
        headline = f"Guaranteed: {text}" if released else f"Would be guaranteed if released: {text}"
        return verdict_of("released" if released else "would", headline, claim.because, guarantee)
    is_violated = claim.verdict == "violated"
    fate = "violated" if is_violated else "not proven"
    headline = f"Not guaranteed, because the claim of {loss_text(claim.loss, unit)} is {fate}"
    if proven.is_finite:
        headline += f"; the steps prove {loss_text(proven, unit)}"
    loss = proven if proven.is_finite else NO_BOUND
    return verdict_of("violated" if is_violated else "unproven", headline, claim.because, loss)
