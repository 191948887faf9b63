"""Audit by attack: a lower confidence bound on epsilon from many draws of a learner.

The bound is the least privacy loss at the stated confidence; a small bound shows nothing. Either two neighbouring data sets are
told apart, of which one has an extra row, the canary: far from the others and of another class. Or every draw has many canaries,
each present by its own coin (`many_canaries.py`); that is stronger wherever a canary can be seen by itself.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.audit.distinguishing import Shown, distinguish, most_that_shows
from dpviz.evaluation.audit.findings import Finding, columns_of, judge, rows_in_words
from dpviz.evaluation.audit.many_canaries import CrowdTask, score_at
from dpviz.evaluation.audit.named_pairs import Pair, require_neighbours, small_pair
from dpviz.evaluation.audit.planned import PlannedLearner, spec_of
from dpviz.evaluation.checks import require_between_0_and_1, require_count
from dpviz.evaluation.workers import in_chunks
from dpviz.learners import require_task
from dpviz.models.base import Model
from dpviz.models.document import model_body
from dpviz.privacy.source import Simulation
from dpviz.progress import Progress, Stop
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget
from dpviz.table.strict_json import PlainValue
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Settings

#: Draws between two checks of `stop`.
CHUNK = 50
#: Cells of the declared range to which a predicted number is rounded.
CELLS = 16


@dataclass(frozen=True)
class AuditedBound:
    """The least privacy loss of a learner, under add/remove one row."""

    learner: str
    epsilon: float
    params: dict[str, PlainValue]
    bound: float  #: Lower bound on epsilon, with confidence `confidence`
    confidence: float
    largest: float  #: The largest bound that this many draws can show
    event: str  #: What the attacker observed
    #: How often the event happened on the data set without and with the canary, of `n_tested` draws each; with many canaries, how
    #: many of `n_tested` guesses were wrong and right.
    hits: tuple[int, int]
    n_tested: int
    #: n_asked, n_done: draws on each data set (with many canaries: in all); fewer are done after a stop.
    n_asked: int
    n_done: int
    #: claimed, composed: the paper's epsilon, and what the learner's own steps compose to.
    claimed: float
    composed: float
    verdict: Finding  #: As for verification; "holds" says only that nothing was found
    because: str
    canary: tuple[tuple[str, str], ...]  #: (column, value) of the extra row
    seconds: float
    canaries: int = 1  #: How many in one run
    delta: float = 0.0  #: Of the guarantee under attack


def audit(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    seed: int,
    pair: Pair | None = None,
    canaries: int = 1,
    draws: int = 4000,
    beta: float = 0.05,
    max_depth: int = 1,
    delta: float = 0.0,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> AuditedBound:
    """Attack a learner with a canary and bound its epsilon from below.

    Parameters
    ----------
    learner : str or LearnerSpec
    epsilon, delta : float
        Claimed privacy loss under add/remove one row.
    seed : int
        Repeatable; the number of workers changes nothing.
    pair : (EncodedDataset, EncodedDataset), optional
        Without and with the canary, which is the last row. By default `small_pair()`; see also `canary_pair`.
    canaries : int
        More than one: that many in one run, instead of a pair.
    draws : int
        On each data set, or in all with many canaries. Half choose the event, half test it.
    beta : float
        The bound is above the truth with at most this probability.
    max_depth : int
        Depth of the trees.
    workers : int
        Processes that draw. Only for registered learners.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between chunks of draws; the bound from the draws done so far is returned.
    **params
        The learner's own parameters.
    """
    require_count("audit", "draws", draws, 2)
    require_count("audit", "canaries", canaries, 1)
    require_between_0_and_1("audit", "beta", beta)
    if workers < 1 or (workers > 1 and not isinstance(learner, str)):
        raise ParameterError("audit", "workers", workers, "1, or more for a learner given by name")
    settings = Settings(epsilon=epsilon, max_depth=max_depth, depth=max_depth, delta=delta)
    how = {"workers": workers, "progress": progress, "stop": stop}
    if canaries > 1:
        if pair is not None:
            raise ParameterError("audit", "canaries", canaries, "1 where a pair is given")
        return _bound(CrowdTask(learner, settings, params, canaries), draws, seed, beta, how)
    task = _PairTask(learner, settings, params, pair or small_pair(spec_of(learner).tasks[0]))
    task.check()
    return _bound(task, draws, seed, beta, how)


def _bound(task: _PairTask | CrowdTask, draws: int, seed: int, beta: float, how: dict[str, Any]) -> AuditedBound:
    started = time.perf_counter()
    planned, claim, composed = task.planned, task.planned.claim, task.planned.composed(*task.tables)
    delta = max(claim.delta, composed.delta)
    seeds = child_seeds(seed, 2 * draws)
    show: Callable[[Sequence[tuple[int, int]]], list[Any]] = replace(task).show  # without what was computed here
    chunks = in_chunks(show, list(zip(seeds[::2], seeds[1::2], strict=True)), CHUNK, **how)
    shown = [one for chunk in chunks for one in chunk]
    found = task.found(shown, beta, delta)
    return AuditedBound(
        learner=planned.spec.name,
        epsilon=planned.settings.epsilon,
        params=planned.given,
        confidence=1 - beta,
        n_asked=draws,
        n_done=len(shown),
        claimed=claim.epsilon,
        composed=composed.epsilon,
        verdict=judge(found["bound"], claim, composed),
        because=claim.because,
        seconds=time.perf_counter() - started,
        delta=delta,
        **found,
    )


@dataclass(frozen=True)
class _PairTask:
    """What every draw on a pair needs; with a name instead of a LearnerSpec it can be sent to another process."""

    learner: str | LearnerSpec
    settings: Settings
    given: dict[str, Any]
    tables: Pair

    def check(self) -> None:
        """Raise WrongTask or DpvizError for a pair that is unfit for this learner."""
        first, second = self.tables
        require_task(self.planned.spec, first.schema)
        require_neighbours(first, second)
        if second.n_rows < first.n_rows:
            raise DpvizError("The canary must be the last row of the second data set.", remedy="Swap the two data sets.")

    @cached_property
    def planned(self) -> PlannedLearner:
        return PlannedLearner(spec_of(self.learner), self.settings, self.given, self.tables[0].schema)

    @cached_property
    def canary(self) -> EncodedDataset:
        return self.tables[1].take(np.array([self.tables[1].n_rows - 1]), share=1.0)

    def show(self, seeds: Sequence[tuple[int, int]]) -> list[tuple[Shown, Shown]]:
        """What draws on the first and on the second data set show, for pairs of seeds."""
        first, second = self.tables
        return [(self._shown(first, one), self._shown(second, other)) for one, other in seeds]

    def found(self, shown: Sequence[tuple[Shown, Shown]], beta: float, delta: float) -> dict[str, Any]:
        """What an AuditedBound says of the draws."""
        found = distinguish([one for one, _ in shown], [other for _, other in shown], beta=beta, delta=delta)
        return {
            "bound": found.bound,
            "largest": most_that_shows(found.n_draws, beta=beta, delta=delta),
            "event": found.observed,
            "hits": found.hits,
            "n_tested": found.n_draws,
            "canary": tuple(zip(columns_of(self.canary.schema), rows_in_words(self.canary)[0], strict=True)),
        }

    def _shown(self, data: EncodedDataset, seed: int) -> Shown:
        model = self.planned.fit(data, Simulation(seed)).model
        body = model_body(model)
        label = self._label(model)
        root = json.dumps({key: value for key, value in body.get("root", {}).items() if key not in ("left", "right")})
        return {
            "the prediction for the canary": label,
            "the score of the canary": float(score_at(model, self.canary)[0]),
            "the rule at the root": root,
            "the rule at the root and the prediction for the canary": (root, label),
            "the whole model": json.dumps(body),
        }

    def _label(self, model: Model) -> int:
        predicted = model.predict(self.canary)[0]
        target = self.canary.schema.target
        if isinstance(target, ClassTarget):
            return int(predicted)
        share = (float(predicted) - target.low) / (target.high - target.low)
        return math.floor(min(max(share, 0.0), 1.0) * CELLS)
