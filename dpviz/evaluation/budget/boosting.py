"""Where the budget of boosting goes: what the first rounds cost, and how much of it single rows really use.

The guarantee counts every row as if its gradient were the largest in every round. Most are smaller: what a row's own
gradients add up to is its individual loss. It is computed from exact gradients, so it is for simulated and public rows only,
and no guarantee: the individual filter turns what is left into further rounds.

Source: Kirschte et al. 2023, Figure 3; Feldman & Zrnic 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpviz.accounting.events import GaussianRounds, walk
from dpviz.accounting.gaussian import epsilon_after, gaussian_epsilon
from dpviz.errors import Cancelled, DpvizError
from dpviz.learners.ours import s_gbdt
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.training.boosting.filter import BUDGET_UNITS, FilterTerms, RowAccounts
from dpviz.training.contract import FitResult

#: Points of the curve over rounds; fewer where each costs a privacy loss distribution.
_POINTS, _DEAR_POINTS = 33, 9
_GRID = 257


def rounds_event(result: FitResult) -> GaussianRounds | None:
    """The rounds in the ledger of a boosted model; None where there are none."""
    return next((event for _, event in walk(result.ledger.event) if isinstance(event, GaussianRounds)), None)


def epsilon_over_rounds(event: GaussianRounds, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """(rounds, what so many cost at the event's delta), from none to all `rounds`, both of shape (n_points,)."""
    is_dear = event.sampling < 1 and event.order is None
    points = np.unique(np.linspace(0, rounds, _DEAR_POINTS if is_dear else _POINTS).round().astype(int))
    return points, np.array([epsilon_after(event, int(point)) for point in points])


@dataclass(frozen=True, eq=False)
class IndividualLosses:
    """Epsilon at `delta` that each row's own gradients add up to, increasing, shape (n_rows,), with and without the filter.

    `bound` is the guarantee for the rounds. Private: exact.
    """

    bound: float
    delta: float
    plain: np.ndarray
    filtered: np.ndarray


def individual_losses(
    result: FitResult,
    data: EncodedDataset,
    *,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> IndividualLosses:
    """Train as `result` was, twice (without and with the filter), and keep every row's account.

    Raises
    ------
    DpvizError
        For a result without individual accounts: another learner, static noise, or rows drawn by chance.
    Cancelled
        When `stop` says so.
    """
    event = rounds_event(result)
    if event is None or not can_measure(result):
        raise DpvizError(
            "Individual losses are kept for boosted trees whose rows all take part in every round.",
            remedy="Choose S-GBDT with all rows per round and without static noise.",
        )
    found = []
    for number, filtered in enumerate((False, True)):
        tell = None if progress is None else lambda share, n=number: progress((n + share) / 2)
        found.append(_losses(result, data, filtered, tell, stop))
    return IndividualLosses(event.epsilon, event.delta, *found)


def can_measure(result: FitResult) -> bool:
    """True when the learner keeps accounts and every row takes part in every round."""
    params = result.params
    return isinstance(params, s_gbdt.Params) and params.sampling >= 1 and not params.static_noise


def _losses(
    result: FitResult,
    data: EncodedDataset,
    filtered: bool,
    progress: Callable[[float], None] | None,
    stop: Callable[[], bool] | None,
) -> np.ndarray:
    params = replace(result.params, filter=filtered)
    plan = s_gbdt.plan(data.schema, result.settings, params)
    rounds, _ = s_gbdt.start(data, plan, params, Simulation(result.seed or 0))
    if rounds.accounts is None:  # terms under which nobody ever leaves: every round is affordable at full size
        terms = FilterTerms(rounds.recipe.noise_multiplier, 1.0, 2.0, rounds.recipe.rounds)
        rounds.accounts = RowAccounts(terms, data.n_rows)
    for tree in range(rounds.recipe.rounds):
        if stop is not None and stop():
            raise Cancelled
        rounds.run(tree)
        if progress is not None:
            progress((tree + 1) / rounds.recipe.rounds)
    return np.sort(_epsilons(rounds.accounts, plan.delta))


def _epsilons(accounts: RowAccounts, delta: float) -> np.ndarray:
    """Every row's spent units as epsilon: its rounds together are one Gaussian that its gradients move so far."""
    terms = accounts.terms
    mu = np.sqrt(accounts.spent / BUDGET_UNITS * terms.rounds) / terms.noise_multiplier
    grid = np.linspace(0.0, float(mu.max(initial=0.0)) or 1.0, _GRID)
    return np.interp(mu, grid, [gaussian_epsilon(delta, at) if at else 0.0 for at in grid])
