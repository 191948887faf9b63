"""The individual filter: each row has its own account of Renyi loss, and leaves for good before it exceeds the common budget.

Every remaining row is charged in every round, drawn or not, by the size of its own gradient. A row with small gradients can
therefore stay for more rounds than a row with full gradients. Accounts are private.

Source: Feldman & Zrnic 2021, Algorithm 3; Kirschte et al. 2023, Algorithm 7 and Theorem 23.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import renyi_loss

#: Accounts are kept in whole units of budget / 2^40, every charge rounded up.
BUDGET_UNITS = 2**40
#: Where rows are sampled, sizes are rounded up to one of so many levels.
_LEVELS = 64


def charges(cost: GaussianRounds, size: np.ndarray) -> np.ndarray:
    """Units for one round of rows that contribute a share `size` in [0, 1] of the most a row can, int64, rounded up.

    So many rounds of full size as `cost` has use up the budget.
    """
    if cost.sampling >= 1:
        return np.ceil(np.square(size) * (BUDGET_UNITS / cost.rounds * (1 + 1e-12))).astype(np.int64)
    return _charge_table(cost)[np.ceil(size * _LEVELS * (1 - 1e-12)).astype(np.int64)]


@lru_cache(maxsize=64)
def _charge_table(cost: GaussianRounds) -> np.ndarray:
    """Units for one round at each level of size, from 0 to full; int64.

    A smaller contribution loses no more than a larger one, so a level that the library cannot price (its sum does not converge at
    some orders) costs what the next one does.
    """
    assert cost.order is not None
    noise, sampling, order = cost.noise_multiplier, cost.sampling, cost.order
    full = renyi_loss(noise, sampling, order) * cost.rounds
    losses = [renyi_loss(noise * _LEVELS / level, sampling, order) for level in range(1, _LEVELS + 1)]
    priced = np.minimum.accumulate(losses[::-1])[::-1]
    return np.array([0, *(math.ceil(BUDGET_UNITS * loss / full) for loss in priced)], dtype=np.int64)


class RowAccounts:
    """The accounts of all rows, in the order of the data, of rounds with this cost. Private."""

    def __init__(self, cost: GaussianRounds, n_rows: int) -> None:
        self.cost = cost
        self.spent = np.zeros(n_rows, dtype=np.int64)
        self.active = np.ones(n_rows, dtype=bool)

    def admit(self, size: np.ndarray) -> np.ndarray:
        """Who takes part in a round with contributions of these sizes (shares of the largest), bool; charges their accounts.

        A row whose account would exceed the budget leaves and never returns.
        """
        charge = charges(self.cost, size)
        self.active &= self.spent + charge <= BUDGET_UNITS
        self.spent += np.where(self.active, charge, 0)
        return self.active
