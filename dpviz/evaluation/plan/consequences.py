"""Three consequences of an epsilon: accuracy, what can be inferred about one row, and how many poisoned rows a tree withstands.

Accuracy and protection refer to one training set and one test set of the world, held fixed while the noise varies, as the
poisoning certificate does (`evaluation/robustness/poisoning.py`).

Attack models (Lee & Clifton 2011, "How much is enough?"). *Fair prior*: guess whether a row was used, at even odds. *One of n*:
the attacker knows all rows, and that one of n people was left out, but not which. Whom they name for each output splits the
outputs into n parts, and what is likely without a person is bounded by what is likely with all: so at most the power of a test
at the level 1/n is right, for pure privacy min(e^eps / n, 1 - e^-eps (1 - 1/n)). Two people left out in turn are *two* rows
apart, which is why 1 / (1 + (n - 1) e^-eps) would be too little here.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.accounting.risk import Risk
from dpviz.evaluation.plan.planner import EPSILONS
from dpviz.evaluation.plan.simulate import World
from dpviz.evaluation.robustness.poisoning import PoisoningTable, certify
from dpviz.learners import FitRequest
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import seed_from
from dpviz.table.checked_numbers import checked_count

#: Share of the outcomes outside a band, at each end.
TAIL = 0.05
FAIR = 2


@dataclass(frozen=True)
class Consequence:
    """The consequences of one epsilon: accuracy on the test rows, one per draw (read-only), poisoning certificate, and risk."""

    epsilon: float
    accuracies: np.ndarray
    certificate: PoisoningTable
    risk: Risk  #: Of one row, by what a fit does

    @property
    def is_proved(self) -> bool:
        """False where nothing bounds what may be learned."""
        return not self.certificate.reason and math.isfinite(getattr(self.certificate.bounds[0], "epsilon", math.inf))

    def right_guesses(self, candidates: int = FAIR, rows: int = 1) -> float:
        """The largest share of right guesses about a person with so many rows, of one or of `candidates` equally likely ones."""
        checked_count("an attack", "candidates", candidates, 2)
        if not self.is_proved:
            return 1.0
        person = self.risk.for_rows(rows)
        return person.guesses() if candidates == FAIR else person.attribute_guesses(1 / candidates)

    def accuracy(self, share: float) -> float:
        """The quantile of the accuracies at `share`."""
        return float(np.quantile(self.accuracies, share))

    def protected(self, above: float) -> int | None:
        """The most poisoned rows with which the mean accuracy provably stays above; None when even 0 is too many."""
        return self.certificate.protected_rows(above)


@dataclass(frozen=True)
class Consequences:
    """The consequences of a grid of epsilons for one setup on one training set."""

    found: tuple[Consequence, ...]  #: By epsilon; fewer than asked for while more are computed, and after a stop
    n_train: int
    majority: float  #: Accuracy of always predicting the most frequent class
    beta: float  #: All certificates together fail with at most this probability
    n_draws: int  #: Per epsilon

    @property
    def reason(self) -> str:
        """Why nothing is proved about poison; empty when something is."""
        return next((item.certificate.reason for item in self.found if item.certificate.reason), "")

    def at(self, epsilon: float) -> Consequence:
        """The consequences of the nearest epsilon on a log scale."""
        return min(self.found, key=lambda item: abs(math.log(item.epsilon / epsilon)))

    def protecting(self, rows: int, above: float) -> tuple[Consequence, ...]:
        """Those whose accuracy provably stays above with this many poisoned rows: often a range in the middle, since a small
        epsilon is too inaccurate and a large one proves nothing.
        """
        return tuple(item for item in self.found if (protected := item.protected(above)) is not None and protected >= rows)


def consequences_steps(
    world: World,
    request: FitRequest,
    *,
    seed: int,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = 300,
    beta: float = 0.05,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Iterator[Consequences]:
    """Accuracy and poisoning certificates along a grid of epsilons: first at its own, then everywhere more densely.

    `draws`: trees per epsilon.
    `beta`: all certificates together fail with at most this probability.
    `stop`: asked between epsilons; those done so far are kept, at least one.
    Yields them with one epsilon more each time.
    """
    train, test = world.draw(seed=seed_from(seed, 0))
    options: dict[str, Any] = {"draws": draws, "beta": beta / len(epsilons), "workers": workers, "stop": stop}
    found: dict[int, Consequence] = {}
    for at in steps(_order(epsilons, request.settings.epsilon), progress, stop, at_least=1):
        table = certify(request.at(epsilon=epsilons[at]), [(train, test)], seed=seed_from(seed, 1 + at), **options)
        risk = request.at(epsilon=epsilons[at]).risk(train.schema)
        found[at] = Consequence(epsilons[at], _accuracies(table), table, risk)
        by_epsilon = tuple(item for _, item in sorted(found.items()))
        yield Consequences(by_epsilon, train.n_rows, table.majority, beta, draws)


def _order(epsilons: Sequence[float], asked: float) -> list[int]:
    """Positions: the nearest to what was asked, then every fourth, every second, the others."""
    nearest = min(range(len(epsilons)), key=lambda at: abs(math.log(epsilons[at] / asked)))
    coarse_first = sorted(range(len(epsilons)), key=lambda at: (at % 4 > 0) + at % 2)
    return list(dict.fromkeys([nearest, *coarse_first]))


def _accuracies(table: PoisoningTable) -> np.ndarray:
    """One per draw; for a vote without noise its one accuracy."""
    bound = table.bounds[0]
    return np.asarray(getattr(bound, "draws", [bound.accuracy]))
