"""Whether many canaries are guessed better than a trade-off curve allows, which says more than epsilon and delta do.

Canary j of m is included with probability 1/2, independently; at most c of them are guessed. Let p_i be the probability of i
right guesses, and g(x) the largest rate of true positives of tests with the rate x of false ones, of presence or absence:
g = 1 - f for the trade-off curve f. For any set T of counts,

    sum of (i / m) p_i  <=  g(sum of ((c - i + 1) / m) p_(i-1)),    both over i in T.

For "canary j is guessed right, and i in T are" is a test of canary j, whatever the others are. Where j is the other way round,
the same answer guesses it wrong, and i - 1 right; of at most c guesses c - (i - 1) are then wrong at most. The mean over j and
both ways is the line above, as g is concave.

So let R_i and W_i be the sums of (k / m) p_k and ((c - k) / m) p_k over k >= i: W_i >= g^-1(R_(i+1)), and one more p_i adds i to
R for every c - i that it adds to W. If v right guesses or more had the probability beta, these sums would start from beta v / m
and beta (c - v) / m at least (R and R + W are smallest where all of it is at v), and what follows for smaller i is too much as
soon as R + W, at most c / m, exceeds that.

This allows for canaries that are told by the same noise, so even many show less than the truth: of a Gaussian mu = 1 about .65
with 2,560 canaries and .74 with 40,000 (epsilon 3.4 and 3.9 of 5.5 at delta 5e-8, where the bound by epsilon and delta has 1.9
and 2.5). Of randomised response it shows nearly all, as that bound does.

Source: Mahloujifar, Melis & Chaudhuri 2024, "Auditing f-differential privacy in one run", the theorem on guesses with abstentions
and Algorithm 3, for two answers.
"""

from collections.abc import Callable

from dpviz.accounting.gaussian import bisect
from dpviz.accounting.risk import Risk

#: What rounding may add up to.
_ROUNDING = 1e-9
#: Halvings of the range of epsilons that is searched.
_STEPS = 10


def allows(risk: Risk, n_canaries: int, n_guesses: int, n_right: int, *, beta: float) -> bool:
    """False where so many right of at most `n_guesses` guesses, or more, have a probability below `beta`."""
    right, wrong = beta * n_right / n_canaries, beta * (n_guesses - n_right) / n_canaries
    for count in range(n_right - 1, -1, -1):
        more = max(0.0, risk.least_false_positives(right) - wrong)
        right, wrong = right + count / (n_guesses - count) * more, wrong + more
        if right + wrong > n_guesses / n_canaries * (1 + _ROUNDING):
            return False
    return True


def outguessed(
    risk_at: Callable[[float], Risk], epsilon: float, n_canaries: int, n_guesses: int, n_right: int, *, beta: float
) -> float:
    """The largest epsilon, up to this one, whose curve `risk_at` does not allow so many right guesses; 0 where all do."""

    def is_allowed(smaller: float) -> bool:
        return allows(risk_at(smaller), n_canaries, n_guesses, n_right, beta=beta)

    return bisect(is_allowed, 0.0, epsilon, times=_STEPS)[0] if is_allowed(epsilon) else epsilon
