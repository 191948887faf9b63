"""What a guarantee says, in words: epsilon with its neighbouring relation, its odds, and a verdict in one sentence.

One home for these sentences, so that every page says the same thing and none shows an unsound claim like a sound one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss

#: How a verdict must look: each kind has its own icon, colour and words.
Kind = Literal["sound", "unproven", "violated", "none"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One headline, one reason and the odds; `kind` decides icon and colour."""

    kind: Kind
    headline: str
    because: str
    odds: str


def number_text(value: float) -> str:
    """Three significant digits at most, never in scientific notation within [1e-6, 1e6]: "0.1", "1.2", "∞"."""
    if math.isinf(value):
        return "∞"
    if value and not 1e-6 <= abs(value) < 1e6:
        return f"{value:.2e}"
    digits = 0 if not value else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def epsilon_text(loss: PrivacyLoss) -> str:
    """As in "ε = 0.1 (add/remove one row)", with delta where there is one."""
    delta = f", δ = {number_text(loss.delta)}" if loss.delta else ""
    return f"ε = {number_text(loss.epsilon)}{delta} ({NEIGHBOURS})"


def odds_text(loss: PrivacyLoss) -> str:
    """The loss as odds: how many of 100 fair yes/no guesses about one row can be right.

    A guess is "was this row used?" with even odds before; 50 of 100 is what a coin reaches.
    Source: e^eps / (1 + e^eps), the best any test can do.
    """
    if not loss.is_finite:
        return "Nothing limits what can be learned about one row."
    hundredths = 100 * loss.guesses_right
    if hundredths >= 99.5:
        return "More than 99 of 100 fair guesses about one row may be right: hardly any protection."
    if hundredths < 50.5:
        return "Fewer than 51 of 100 fair guesses about one row are right; a coin reaches 50."
    return f"At most about {hundredths:.0f} of 100 fair guesses about one row are right; a coin reaches 50."


def verdict(claim: Claim, guarantee: PrivacyLoss) -> Verdict:
    """What may be said about a result: `guarantee` is what its ledger composes to."""
    asked = epsilon_text(PrivacyLoss(claim.epsilon, claim.delta))
    nothing = odds_text(PrivacyLoss(math.inf))
    if claim.verdict == "none":
        return Verdict("none", "Not private: nothing is guaranteed", claim.because, nothing)
    if claim.verdict == "violated":
        return Verdict("violated", f"No guarantee: {asked} is claimed, and the claim is violated", claim.because, nothing)
    if not guarantee.is_finite:
        return Verdict("unproven", f"No guarantee: {asked} is claimed, yet something is exact", claim.because, nothing)
    if claim.is_sound and guarantee.epsilon <= claim.epsilon and guarantee.delta <= claim.delta:
        return Verdict("sound", f"Guaranteed: {epsilon_text(guarantee)}", claim.because, odds_text(guarantee))
    headline = f"Only {epsilon_text(guarantee)} is proven; ε = {number_text(claim.epsilon)} is claimed"
    return Verdict("unproven", headline, claim.because, odds_text(guarantee))
