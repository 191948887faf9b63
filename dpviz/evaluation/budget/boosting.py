"""Where the budget of boosting goes: what the first rounds cost, and what individual rows lose.

The guarantee counts every row as if its gradient were the largest in every round. Most are smaller: a row's individual loss
counts its own gradients. It is computed from exact gradients, so for simulated and public rows only, and is not a guarantee; the
individual filter spends what is left on further rounds.

Source: Kirschte et al. 2023, Figure 3; Feldman & Zrnic 2021.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpviz.accounting.events import GaussianRounds, walk
from dpviz.accounting.gaussian import epsilon_after, gaussian_epsilon
from dpviz.errors import DpvizError
from dpviz.learners.native import s_gbdt
from dpviz.privacy.source import Simulation
from dpviz.progress import Progress, Stop, all_steps, part_of
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.training.boosting.filter import BUDGET_UNITS, FilterTerms, RowAccounts

#: Points of the curve over rounds; fewer where each costs a privacy loss distribution.
_POINTS, _DEAR_POINTS = 33, 9
_GRID = 257


def rounds_event(result: FitResult) -> GaussianRounds | None:
    """The rounds in the ledger of a boosted model; None where there are none."""
    return next((event for _, event in walk(result.ledger.event) if isinstance(event, GaussianRounds)), None)


def epsilon_over_rounds(event: GaussianRounds, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """(numbers of rounds, their epsilon at the event's delta), from none to all `rounds`, both of shape (n_points,)."""
    is_dear = event.sampling < 1 and event.order is None
    points = np.unique(np.linspace(0, rounds, _DEAR_POINTS if is_dear else _POINTS).round().astype(int))
    return points, np.array([epsilon_after(event, int(point)) for point in points])


@dataclass(frozen=True, eq=False)
class IndividualLosses:
    """Individual epsilons at the delta of the result, sorted, shape (n_rows,), without and with the filter. Exact, so private.

    `bound` is the guarantee of the rounds.
    """

    bound: float
    plain: np.ndarray
    filtered: np.ndarray


def individual_losses(
    result: FitResult,
    data: EncodedDataset,
    *,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> IndividualLosses:
    """Train as for `result` twice, without and with the filter, and keep every row's account.

    Raises DpvizError for a result without individual accounts: another learner, static noise, or rows sampled per round;
    Cancelled when stopped.
    """
    event = rounds_event(result)
    if event is None or not can_measure(result):
        raise DpvizError(
            "Individual losses are kept for boosted trees whose rows all take part in every round.",
            remedy="Choose S-GBDT with all rows per round and without static noise.",
        )
    losses = [_losses(result, data, bool(number), part_of(progress, number, 2), stop) for number in (0, 1)]
    return IndividualLosses(event.epsilon, *losses)


def can_measure(result: FitResult) -> bool:
    """True when the learner keeps accounts and every row takes part in every round."""
    params = result.params
    return isinstance(params, s_gbdt.Params) and params.sampling >= 1 and not params.static_noise


def _losses(result: FitResult, data: EncodedDataset, filtered: bool, progress: Progress | None, stop: Stop | None) -> np.ndarray:
    params = replace(result.params, filter=filtered)
    plan = s_gbdt.plan(data.schema, result.settings, params)
    rounds, _ = s_gbdt.start(data, plan, params, Simulation(result.seed or 0))
    if rounds.accounts is None:  # terms under which no row is ever filtered out
        terms = FilterTerms(rounds.recipe.noise_multiplier, 1.0, 2.0, rounds.recipe.rounds)
        rounds.accounts = RowAccounts(terms, data.n_rows)
    for tree in all_steps(range(rounds.recipe.rounds), progress, stop):
        rounds.run(tree)
    return np.sort(_epsilons(rounds.accounts, s_gbdt.histogram_rounds(data.schema, params), plan.delta))


def _epsilons(accounts: RowAccounts, counted: int, delta: float) -> np.ndarray:
    """Every row's spent units as epsilon: its rounds together are one Gaussian mechanism, moved by its gradients.

    Histograms count every row alike, and cost it `counted` rounds in full.
    """
    terms = accounts.terms
    mu = np.sqrt(accounts.spent / BUDGET_UNITS * terms.rounds + counted) / terms.noise_multiplier
    grid = np.linspace(0.0, float(mu.max(initial=0.0)) or 1.0, _GRID)
    return np.interp(mu, grid, [gaussian_epsilon(delta, at) if at else 0.0 for at in grid])
