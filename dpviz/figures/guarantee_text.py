"""What a guarantee says, in words: epsilon with its neighbouring relation, its odds, and a verdict in one sentence.

One home for these sentences, so that every page says the same thing and none shows an unsound claim like a sound one.
"""

import math
from dataclasses import dataclass
from typing import Literal

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss

#: How a verdict must look: each kind has its own icon, colour and words. "released" is guaranteed, "would" would be if it were
#: released, all others are not guaranteed.
Kind = Literal["released", "would", "uncovered", "unproven", "violated", "none"]
NO_BOUND = PrivacyLoss(math.inf)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said of a result: a headline and its reason; `kind` decides icon and colour.

    `proven` is what can be relied on all the same; infinite when nothing can.
    """

    kind: Kind
    headline: str
    because: str
    proven: PrivacyLoss

    @property
    def odds(self) -> str:
        """What is proven, as odds."""
        return odds_text(self.proven)


def number_text(value: float) -> str:
    """Three significant digits at most, never in scientific notation within [1e-6, 1e6]: "0.1", "1.2", "∞"."""
    if math.isinf(value):
        return "∞"
    if value and not 1e-6 <= abs(value) < 1e6:
        return f"{value:.3g}"
    digits = 0 if not value else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def epsilon_text(loss: PrivacyLoss) -> str:
    """As in "ε = 0.1 (add/remove one row)", with delta where there is one."""
    delta = f", δ = {number_text(loss.delta)}" if loss.delta else ""
    return f"ε = {number_text(loss.epsilon)}{delta} ({NEIGHBOURS})"


_GUESSING = "Someone guessing whether one person's row was used"


def odds_text(loss: PrivacyLoss) -> str:
    """The loss as odds: how many of 100 fair yes/no guesses about one row can be right.

    A guess is "was this row used?" with even odds before; 50 of 100 is what a coin reaches.
    Source: e^eps / (1 + e^eps), the best any test can do.
    """
    if not loss.is_finite:
        return "Nothing limits what can be learned about one row."
    hundredths = 100 * loss.guesses_right
    if hundredths >= 99.5:
        return f"{_GUESSING} may be right more than 99 times in 100: hardly any protection."
    if hundredths < 50.5:
        return f"{_GUESSING} is right fewer than 51 times in 100; a coin flip, 50."
    return f"{_GUESSING} is right at most about {hundredths:.0f} times in 100; a coin flip, 50."


def verdict(claim: Claim, guarantee: PrivacyLoss, *, released: bool, why_not: str = "") -> Verdict:
    """What may be said about a result: guaranteed, would be guaranteed if released, or not guaranteed, because.

    `guarantee` is what its ledger composes to, `released` whether it came from exact samplers without a seed, and `why_not` what
    `why_uncovered` says.

    A violated claim whose ledger is no larger refutes the ledger too (a step costs more than it says); a larger finite
    ledger is still a bound, only not the one that is claimed.
    """
    asked = epsilon_text(PrivacyLoss(claim.epsilon, claim.delta))
    larger = guarantee.epsilon > claim.epsilon or guarantee.delta > claim.delta
    proven = guarantee if larger or claim.verdict != "violated" else NO_BOUND
    if claim.verdict == "none":
        return Verdict("none", "Not guaranteed, because it is not private", claim.because, NO_BOUND)
    if claim.is_sound and not larger:
        return _of_a_sound_claim(claim, guarantee, released, why_not)
    kind: Kind = "violated" if claim.verdict == "violated" else "unproven"
    fate = "violated" if kind == "violated" else "not proven"
    if proven.is_finite:
        headline = f"Not guaranteed, because the claim of {asked} is {fate}; the steps prove {epsilon_text(proven)}"
        return Verdict(kind, headline, claim.because, proven)
    return Verdict(kind, f"Not guaranteed, because the claim of {asked} is {fate}", claim.because, NO_BOUND)


def _of_a_sound_claim(claim: Claim, guarantee: PrivacyLoss, released: bool, why_not: str) -> Verdict:
    if why_not:
        because = f"{claim.because} Its steps add up to {epsilon_text(guarantee)}."
        return Verdict("uncovered", f"Not guaranteed, because {why_not}", because, NO_BOUND)
    if released:
        return Verdict("released", f"Guaranteed: {epsilon_text(guarantee)}", claim.because, guarantee)
    return Verdict("would", f"Would be guaranteed if released: {epsilon_text(guarantee)}", claim.because, guarantee)
