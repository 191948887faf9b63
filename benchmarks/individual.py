"""What individual rows lose in boosting (Figure 3): every row's own gradients, where the guarantee counts the largest.

It is computed from exact gradients, so it is no guarantee; the individual filter spends what is left on further rounds.

Source: Kirschte et al. 2023, Figure 3; Feldman & Zrnic 2021.
"""

from dataclasses import replace

import numpy as np

from dpviz.accounting.gaussian import gaussian_epsilon
from dpviz.learners.published.boosted import s_gbdt_published as s_gbdt
from dpviz.privacy.source import Simulation
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.training.boosting.filter import BUDGET_UNITS, RowAccounts
from dpviz.training.contract import plan_with_test

_GRID = 257


def individual_losses(result: FitResult, data: EncodedDataset, *, filtered: bool) -> np.ndarray:
    """Epsilons of single rows at the delta of the result, sorted, shape (n_rows,), trained as for `result`, all rows every round.

    Also where a person has several rows: the paper's figure is of rows.
    """
    params, source = replace(result.params, filter=filtered, sampling=1.0), Simulation(result.seed or 0)
    plan = plan_with_test(s_gbdt.LEARNER, data.schema, result.settings, params)
    rounds = s_gbdt.start(data, plan, params, source)[0]
    if rounds.accounts is None:  # terms under which no row is ever filtered out
        rounds.accounts = RowAccounts(replace(plan.rounds("tree")[1], order=2.0), data.n_rows)
    for tree in range(rounds.recipe.rounds):
        rounds.run(tree)
    return np.sort(_epsilons(rounds.accounts, plan.delta))


def _epsilons(accounts: RowAccounts, delta: float) -> np.ndarray:
    """Every row's spent units as epsilon: its rounds together are one Gaussian mechanism, moved by its gradients."""
    cost = accounts.cost
    mu = np.sqrt(accounts.spent / BUDGET_UNITS * cost.rounds) / cost.noise_multiplier
    grid = np.linspace(0.0, float(mu.max(initial=0.0)) or 1.0, _GRID)
    return np.interp(mu, grid, [gaussian_epsilon(delta, at) if at else 0.0 for at in grid])
