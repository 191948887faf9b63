"""Rows that arrive after the regular rounds, from another distribution: what `s-gbdt` can still learn from them.

Four ways. *stop*: nothing; without individual accounts the budget counts as spent. *new rows alone*: more rounds of the same
noise on the new rows only, who have taken part in nothing; disjoint rows, so no more epsilon. *filter*: more rounds for
everybody whose own account has something left, old and new. *from the start*: all rows are there from the first round; to
compare with.

Everything here is computed on rows, held-out errors and accounts included: for the owner's eyes.

Source: Kirschte et al. 2023, section VIII-E and Figure 7 (*stop* and *filter*; how they cut the stream is not said).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.accounting.events import Event, GaussianRounds, Parallel, Sequential
from dpviz.accounting.ledger import Ledger
from dpviz.errors import Cancelled, DpvizError, ParameterError
from dpviz.learners.ours import s_gbdt
from dpviz.models.boosted import BoostedTrees
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.boosting.filter import BUDGET_UNITS
from dpviz.training.boosting.loss import initial_score, loss_of
from dpviz.training.boosting.rounds import Rounds, boosted
from dpviz.training.params import Settings, make_params

WAYS = ("stop", "new rows alone", "filter", "from the start")
_STOP, _ALONE, _FILTER, _START = WAYS
GROUPS = ("old", "new", "all")


@dataclass(frozen=True)
class Stream:
    """Training rows in the order they come (the old ones first, then all new ones at once), and rows to test on.

    Attributes
    ----------
    train, test : EncodedDataset
    is_new, is_new_test : ndarray of bool
        Which rows are of the new kind.
    share : float
        About how many of the training rows are new. Public.
    """

    train: EncodedDataset
    test: EncodedDataset
    is_new: np.ndarray
    is_new_test: np.ndarray
    share: float


def stream_of(train: EncodedDataset, test: EncodedDataset, feature: str, share: float) -> Stream:
    """The stream in which rows with the largest values of `feature` come last: about `share` of the training rows.

    A categorical feature is read by its declared order. Raises UnknownName, ParameterError, and DpvizError when one value of the
    feature holds all rows.
    """
    if not 0 < share < 1:
        raise ParameterError("stream_of", "share", share, "a number between 0 and 1, both excluded")
    train.schema.feature(feature)
    place = train.schema.feature_names.index(feature)
    values = train.columns[place].astype(np.float64)
    below = np.unique(values)[:-1]
    if not len(below):
        raise DpvizError("All rows have the same value, so none are new.", where=feature, remedy="Choose another feature.")
    cut = min(np.quantile(values, 1 - share, method="lower"), below[-1])  # where the largest value is common, it alone is new
    return Stream(train, test, values > cut, test.columns[place] > cut, share)


@dataclass(frozen=True)
class Course:
    """What came of a stream.

    Attributes
    ----------
    way : str
    model : BoostedTrees
    ledger : Ledger
    regular : int
        Trees that were there when the new rows came.
    errors : dict of str to ndarray of shape (n_trees + 1,)
        By group of test rows ("old", "new", "all"): RMSE, or share of wrong classes, after no tree, one, two, ...
    left : ndarray of shape (n_rows,)
        Share of its budget for rounds that each training row has left at the end.
    """

    way: str
    model: BoostedTrees
    ledger: Ledger
    regular: int
    errors: dict[str, np.ndarray]
    left: np.ndarray

    def before(self, group: str) -> float:
        """Error when the new rows came."""
        return float(self.errors[group][self.regular])

    def after(self, group: str) -> float:
        """Error at the end."""
        return float(self.errors[group][-1])


def follow(
    stream: Stream,
    way: str,
    *,
    epsilon: float,
    delta: float = 0.0,
    max_depth: int = 6,
    seed: int,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **params: Any,
) -> Course:
    """Train on a stream in one of WAYS.

    Parameters
    ----------
    epsilon, delta : float
        What every row, old or new, may lose in all, under add/remove one row. `delta` 0 is the learner's usual one.
    seed : int
        Noise is simulated.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, optional
        Looked at between rounds.
    **params
        Those of `s-gbdt`; `extra_rounds` follow the regular ones (for new rows alone not more than `rounds`), `filter` is what
        `way` says.

    Raises
    ------
    ParameterError, SchemaError, DpvizError
        For what was asked.
    Cancelled
        When `stop` says so.
    """
    training = _Training(stream, way, Settings(epsilon=epsilon, max_depth=max_depth, delta=delta), params, Simulation(seed))
    values = []
    for tree in range(training.n_trees):
        if stop is not None and stop():
            raise Cancelled
        values.append(training.run(tree))
        if progress is not None:
            progress((tree + 1) / training.n_trees)
    model = boosted(training.trees, training.loss, training.initial, values)
    errors = _errors(model, stream, training.loss.n_scores)
    return Course(way, model, Ledger(training.event), training.regular, errors, training.left())


class _Training:
    """Rounds, and who is there in each. Private."""

    def __init__(self, stream: Stream, way: str, settings: Settings, given: dict[str, Any], source: Simulation) -> None:
        if way not in WAYS:
            raise ParameterError("follow", "way", way, f"one of {', '.join(map(repr, WAYS))}")
        params = make_params(s_gbdt.Params, s_gbdt.NAME, {**given, "filter": way == _FILTER})
        self.extra = params.extra_rounds if way in (_ALONE, _FILTER) else 0
        if way == _ALONE and self.extra > params.rounds:
            raise ParameterError("follow", "extra_rounds", self.extra, f"at most {params.rounds}, the regular rounds")
        self.stream, self.way, self.regular = stream, way, params.rounds
        schema = stream.train.schema
        plan = s_gbdt.plan(schema, settings, params)
        self.loss = loss_of(schema, params.newton and not params.static_noise)
        self.priced = s_gbdt.trees_event(plan, params)
        self.n_trees = self.regular + self.extra
        there = ~stream.is_new if way != _START else np.ones(stream.train.n_rows, dtype=bool)
        n_public = schema.scaled(1 - stream.share if way != _START else 1.0).n_public or 1
        target, start = stream.train.target[there], plan.of("initial score")
        self.initial, self.before = initial_score(self.loss, target, n_public, start, source)
        self.trees = s_gbdt.draw(schema, plan.depth, params, self.n_trees, source)
        recipe = s_gbdt.recipe(self.priced, self.loss, params, n_public)
        self.rounds = Rounds(stream.train, self.trees, self.loss, self.initial, recipe, source)
        self.there = there

    def run(self, tree: int) -> np.ndarray:
        """One round among those who are there."""
        late = self.stream.is_new if self.way == _ALONE else None
        self.rounds.present = self.there if tree < self.regular else late
        return self.rounds.run(tree)

    @cached_property
    def event(self) -> Event:
        """What the rounds cost: new rows alone are rows that the first rounds did not see."""
        trees: GaussianRounds | Parallel = self.priced
        if self.way == _ALONE:
            trees = Parallel((self.priced, replace(self.priced)))
        return Sequential((*self.before, trees)) if self.before else trees

    def left(self) -> np.ndarray:
        """Of the budget for rounds: what accounts say, or rounds not taken part in."""
        if self.rounds.accounts is not None:
            return 1 - self.rounds.accounts.spent / BUDGET_UNITS
        took_part = np.where(self.there, self.regular, self.extra)
        return 1 - took_part / self.regular


def _errors(model: BoostedTrees, stream: Stream, n_scores: int) -> dict[str, np.ndarray]:
    """By group, after every round; NaN for a group without test rows."""
    groups = dict(zip(GROUPS, (~stream.is_new_test, stream.is_new_test, np.ones(stream.test.n_rows, dtype=bool)), strict=True))
    found: dict[str, list[float]] = {name: [] for name in GROUPS}
    for tree, scores in enumerate(model.accumulated(stream.test)):
        if tree % n_scores == 0:
            missed = _missed(scores, stream.test)
            for name, rows in groups.items():
                found[name].append(float(missed[rows].mean()) if rows.any() else np.nan)
    is_number = isinstance(stream.test.schema.target, NumericTarget)
    return {name: np.sqrt(values) if is_number else np.array(values) for name, values in found.items()}


def _missed(scores: np.ndarray, test: EncodedDataset) -> np.ndarray:
    """Squared error, or whether the class is wrong, of every row."""
    target = test.schema.target
    if isinstance(target, NumericTarget):
        return np.square(np.clip(scores, target.low, target.high) - test.target)
    return (scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)) != test.target
