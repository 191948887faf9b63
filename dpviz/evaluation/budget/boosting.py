"""Where the budget of boosting goes: what the first rounds cost.

Source: Kirschte et al. 2023.
"""

import numpy as np

from dpviz.accounting.events import GaussianRounds, walk
from dpviz.accounting.gaussian import epsilon_after
from dpviz.results.result import FitResult

#: Points of the curve over rounds; fewer where each costs a privacy loss distribution.
_POINTS, _DEAR_POINTS = 33, 9


def rounds_event(result: FitResult) -> GaussianRounds | None:
    """The cost of the rounds of a boosted model; None where there are none."""
    costs = (step.cost for _, step in walk(result.ledger.event))
    return next((cost for cost in costs if isinstance(cost, GaussianRounds)), None)


def epsilon_over_rounds(event: GaussianRounds, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """(numbers of rounds, their epsilon at the event's delta), from none to all `rounds`, both of shape (n_points,)."""
    is_dear = event.sampling < 1 and event.order is None
    points = np.unique(np.linspace(0, rounds, _DEAR_POINTS if is_dear else _POINTS).round().astype(int))
    return points, np.array([epsilon_after(event, int(point)) for point in points])
