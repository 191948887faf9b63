"""What one epsilon means three times over: accuracy, what may be learned of one row, how many poisoned rows it withstands.

Accuracy and protection are measured on one training set and one test set of the world, held fixed while the noise varies: that
is what the poisoning certificate speaks of (`evaluation/robustness/poisoning.py`).

Attack models. *Fair prior*: is this row in or out, even odds before; at most e^eps / (1 + e^eps) of the guesses are right. *One
of n*: the attacker knows all rows, and that one of n people was left out, but not which; at most 1 / (1 + (n - 1) e^-eps).
Source of the second: Lee & Clifton 2011, "How much is enough?", its bound at the largest ratio of sensitivities, 1. For n = 2 it
is the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.plan.planner import EPSILONS, Setup
from dpviz.evaluation.plan.simulate import World
from dpviz.evaluation.robustness.poisoning import PoisoningTable, certify
from dpviz.randomness import seed_from

#: Shares of the outcomes that a band leaves out at either end.
TAIL = 0.05
FAIR = 2


def guesses_right(epsilon: float, candidates: int = FAIR) -> float:
    """Share of guesses that can be right at most, when one of so many candidates is meant and each was as likely before."""
    if candidates < 2:
        raise ParameterError("an attack", "candidates", candidates, "at least 2")
    return 1 / (1 + (candidates - 1) * math.exp(-epsilon))


@dataclass(frozen=True)
class Consequence:
    """One epsilon.

    Attributes
    ----------
    epsilon : float
        As asked.
    accuracies : ndarray, read-only
        On the test rows, one per draw.
    certificate : PoisoningTable
    """

    epsilon: float
    accuracies: np.ndarray
    certificate: PoisoningTable

    @property
    def proven(self) -> float:
        """Epsilon that can be relied on: what is asked where the claim holds, else infinite or what the steps compose to."""
        bound = self.certificate.bounds[0]
        return math.inf if self.certificate.reason else float(getattr(bound, "epsilon", math.inf))

    def accuracy(self, share: float) -> float:
        """The quantile of the accuracies."""
        return float(np.quantile(self.accuracies, share))

    def protected(self, above: float) -> int | None:
        """Poisoned rows with which the mean accuracy provably stays above; None when 0 is too many or nothing is proved."""
        return self.certificate.protected_rows(above)


@dataclass(frozen=True)
class Consequences:
    """A ladder of epsilons for one setup, learned from one training set.

    Attributes
    ----------
    setup : Setup
    found : tuple of Consequence
        By epsilon; fewer than asked after a stop.
    n_train : int
    majority : float
        Accuracy of always predicting the most frequent class.
    beta : float
        All certificates together fail with at most this probability.
    n_draws : int
        Per epsilon.
    """

    setup: Setup
    found: tuple[Consequence, ...]
    n_train: int
    majority: float
    beta: float
    n_draws: int

    @property
    def reason(self) -> str:
        """Why nothing is proved about poison; empty when something is."""
        return next((item.certificate.reason for item in self.found if item.certificate.reason), "")

    def at(self, epsilon: float) -> Consequence:
        """The consequence at the rung closest on a log scale."""
        return min(self.found, key=lambda item: abs(math.log(item.epsilon / epsilon)))

    def protecting(self, rows: int, above: float) -> tuple[Consequence, ...]:
        """Epsilons whose trees provably stay above with so many poisoned rows. Not one end of the ladder: too little epsilon is
        too inaccurate to begin with, too much proves nothing.
        """
        found = ((item, item.protected(above)) for item in self.found)
        return tuple(item for item, protected in found if protected is not None and protected >= rows)


def consequences(
    world: World,
    setup: Setup,
    *,
    seed: int,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = 300,
    beta: float = 0.05,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Consequences:
    """Accuracy and poisoning certificates along a ladder of epsilons.

    Parameters
    ----------
    draws : int
        Trees per epsilon.
    beta : float
        All certificates together fail with at most this probability.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, optional
        Looked at between epsilons; what is done is kept.
    """
    train, test = world.draw(setup.n_rows, seed=seed_from(seed, 0))
    asked = {name: value for name, value in {**setup.settings, **setup.params}.items() if name != "epsilon"}
    look = {"draws": draws, "beta": beta / len(epsilons), "workers": workers, "stop": stop, **asked}
    found: list[Consequence] = []
    for number, epsilon in enumerate(epsilons):
        if found and stop is not None and stop():
            break
        table = certify(setup.learner, [(train, test)], epsilon=epsilon, seed=seed_from(seed, 1 + number), **look)
        found.append(Consequence(epsilon, _accuracies(table), table))
        if progress is not None:
            progress((number + 1) / len(epsilons))
    return Consequences(setup, tuple(found), train.n_rows, found[0].certificate.majority, beta, draws)


def _accuracies(table: PoisoningTable) -> np.ndarray:
    """One per draw; for a vote without noise its one accuracy."""
    bound = table.bounds[0]
    return np.asarray(getattr(bound, "draws", [bound.accuracy]))
