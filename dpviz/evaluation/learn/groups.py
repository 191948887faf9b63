"""Who pays for the noise: error and found share of a large and a small group, exactly, on made-up rows.

In the town those who borrow many books bring them back late, in the village those who borrow few. The rows are in the very shares
of this rule, so the error on them is the error on any new rows of it. Every tree that the default learner can draw is listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from dpviz.evaluation.audit.distributions import node_distribution, outcome_of
from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.learners import DEFAULT
from dpviz.models.tree import Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema

GROUPS = ("town", "village")
N_ROWS = 1_200
#: Rows of the small group. A tenth of a cell is a whole number of rows, so the rule is met exactly.
SIZES = (60, 120, 240, 360, 480, 600)
EPSILONS = (0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
#: The error that a group is to stay within.
WANTED = 0.2
#: Two levels: one asks about the group, one about books.
DEPTH = 2
_BOOKS, _VISITS = ("few", "some", "many"), ("weekly", "rarely")
#: Of every ten loans, how many come back late.
_LATE, _ELSE = 8, 1
_KINDS = [(group, books, visits) for group in range(2) for books in range(3) for visits in range(2)]


@dataclass(frozen=True, eq=False)
class GroupCurves:
    """Means over the draws of the tree."""

    small: int  #: Rows of the small group, of `N_ROWS`
    #: wrong: how often the tree is wrong; found: how many of the late loans it finds. Shape (2 groups, n_epsilons), exact.
    wrong: np.ndarray
    found: np.ndarray

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows of either group."""
        return N_ROWS - self.small, self.small

    def enough(self, group: int) -> float:
        """The first of `EPSILONS` from which on the error of a group stays within `WANTED`; infinity for none."""
        too_many = np.flatnonzero(self.wrong[group] > WANTED)
        after = int(too_many[-1]) + 1 if len(too_many) else 0
        return EPSILONS[after] if after < len(EPSILONS) else float("inf")


@cache
def group_curves(small: int) -> GroupCurves:
    """Error and found share of both groups at every epsilon, the small one with so many rows."""
    data = group_rows(small)
    cells = [(data.columns[0] == group) & (data.target == late) for group in range(2) for late in range(2)]
    laws = [_law(data, epsilon) for epsilon in EPSILONS]
    trees = list(dict.fromkeys(key for law in laws for key in law))
    kinds = _kinds(data.schema)
    place = {kind: number for number, kind in enumerate(_KINDS)}
    kind_of = np.array([place[kind] for kind in zip(*(column.tolist() for column in data.columns), strict=True)])
    per_kind = np.array([np.bincount(kind_of[cell], minlength=len(_KINDS)) for cell in cells])
    says_late = np.array([Tree(data.schema, outcome_of(kinds, key).complete(())).predict(kinds) for key in trees])  # type: ignore[arg-type]
    late = per_kind @ says_late.T  # rows that a tree calls late, by cell: (4, n_trees)
    chances = np.array([[law.get(key, 0.0) for key in trees] for law in laws])
    rows = per_kind.sum(axis=1)
    called = late @ chances.T
    wrong = np.array([(called[2 * g] + rows[2 * g + 1] - called[2 * g + 1]) / (rows[2 * g] + rows[2 * g + 1]) for g in range(2)])
    return GroupCurves(small, wrong, np.array([called[2 * g + 1] / rows[2 * g + 1] for g in range(2)]))


def group_rows(small: int) -> EncodedDataset:
    """The rows: in the town many books come back late, in the village few do; visits say nothing."""
    cells = []
    for group, books, visits in _KINDS:
        tenth = (small if group else N_ROWS - small) // (10 * len(_KINDS) // 2)
        late = _LATE if books == (0 if group else 2) else _ELSE
        cells += [(group, books, visits, int(number < late)) for number in range(10) for _ in range(tenth)]
    *columns, target = np.array(cells, dtype=np.uint8).T
    return EncodedDataset(_schema(), tuple(columns), target)


def _schema() -> Schema:
    places = CategoricalFeature("place", GROUPS)
    features = (places, CategoricalFeature("books", _BOOKS), CategoricalFeature("visits", _VISITS))
    return Schema(features, ClassTarget("back", ("on time", "late")), n_public=N_ROWS)


def _kinds(schema: Schema) -> EncodedDataset:
    """One row of every kind."""
    columns = np.array(_KINDS, dtype=np.uint8).T
    return EncodedDataset(schema, tuple(columns), np.zeros(len(_KINDS), dtype=np.uint8))


def _law(data: EncodedDataset, epsilon: float) -> dict[object, float]:
    """Probability of every tree, by what is published of it."""
    planned = PlannedLearner.of(DEFAULT, data.schema, epsilon=epsilon, depth=DEPTH, leaves="labels")
    source = Enumeration()
    growth = planned.prepare(data, source)
    return node_distribution(growth, growth.root, source)[0]
