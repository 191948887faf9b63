"""Three consequences of an epsilon: accuracy, what can be inferred about one row, and how many poisoned rows a tree withstands.

Accuracy and protection refer to one training set and one test set of the world, held fixed while the noise varies, as the
poisoning certificate does (`evaluation/robustness/poisoning.py`).

Attack models. *Fair prior*: guess whether a row was used, at even odds; at most e^eps / (1 + e^eps) of guesses are right. *One
of n*: the attacker knows all rows, and that one of n people was left out, but not which; at most 1 / (1 + (n - 1) e^-eps).
Source of the second: Lee & Clifton 2011, "How much is enough?", its bound at the largest ratio of sensitivities, 1. For n = 2 the
two agree.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.evaluation.checks import require_count
from dpviz.evaluation.plan.planner import EPSILONS, Setup
from dpviz.evaluation.plan.simulate import World
from dpviz.evaluation.robustness.poisoning import PoisoningTable, certify
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import seed_from

#: Share of the outcomes outside a band, at each end.
TAIL = 0.05
FAIR = 2


def guesses_right(epsilon: float, candidates: int = FAIR) -> float:
    """The largest share of right guesses when one of this many equally likely candidates is meant."""
    require_count("an attack", "candidates", candidates, 2)
    return 1 / (1 + (candidates - 1) * math.exp(-epsilon))


@dataclass(frozen=True)
class Consequence:
    """The consequences of one epsilon: accuracy on the test rows, one per draw (read-only), and the poisoning certificate."""

    epsilon: float
    accuracies: np.ndarray
    certificate: PoisoningTable

    @property
    def proven(self) -> float:
        """Proved epsilon: the requested one where the claim holds, else infinite or what the steps compose to."""
        bound = self.certificate.bounds[0]
        return math.inf if self.certificate.reason else float(getattr(bound, "epsilon", math.inf))

    def accuracy(self, share: float) -> float:
        """The quantile of the accuracies at `share`."""
        return float(np.quantile(self.accuracies, share))

    def protected(self, above: float) -> int | None:
        """The most poisoned rows with which the mean accuracy provably stays above; None when even 0 is too many."""
        return self.certificate.protected_rows(above)


@dataclass(frozen=True)
class Consequences:
    """The consequences of a ladder of epsilons for one setup on one training set."""

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
    setup: Setup,
    *,
    seed: int,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = 300,
    beta: float = 0.05,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Iterator[Consequences]:
    """Accuracy and poisoning certificates along a ladder of epsilons: first at the setup's own, then everywhere more densely.

    `draws`: trees per epsilon.
    `beta`: all certificates together fail with at most this probability.
    `stop`: asked between epsilons; those done so far are kept, at least one.
    Yields them with one epsilon more each time.
    """
    train, test = world.draw(setup.n_rows, seed=seed_from(seed, 0))
    asked = {name: value for name, value in {**setup.settings, **setup.params}.items() if name != "epsilon"}
    options = {"draws": draws, "beta": beta / len(epsilons), "workers": workers, "stop": stop, **asked}
    found: dict[int, Consequence] = {}
    for at in steps(_order(epsilons, setup.settings["epsilon"]), progress, stop, at_least=1):
        table = certify(setup.learner, [(train, test)], epsilon=epsilons[at], seed=seed_from(seed, 1 + at), **options)
        found[at] = Consequence(epsilons[at], _accuracies(table), table)
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
