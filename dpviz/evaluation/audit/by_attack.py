"""Audit by attack: a lower confidence bound on epsilon from many draws of a learner on two neighbouring data sets.

For learners too large to enumerate. The bound says how much privacy is lost at least, with the stated confidence; a small
bound shows nothing. One data set has a canary row more: far from the others and of another class.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.ledger import Ledger
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.audit.distinguishing import Shown, distinguish, most_that_shows
from dpviz.evaluation.audit.findings import Finding, judge
from dpviz.evaluation.audit.named_pairs import require_neighbours
from dpviz.evaluation.audit.worst import rows_in_words
from dpviz.evaluation.workers import spread
from dpviz.learners import get_learner, require_task
from dpviz.models.base import Model
from dpviz.models.document import model_body
from dpviz.privacy.source import Simulation
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.strict_json import PlainValue
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Settings, make_params

#: Draws between two looks at `stop`.
CHUNK = 50
#: Cells of the declared range in which a predicted number is read.
CELLS = 16

Pair = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True)
class AuditedBound:
    """How much privacy a learner loses at least, under add/remove one row.

    Attributes
    ----------
    bound : float
        Lower bound on epsilon; with confidence `confidence` the truth is not below it.
    largest : float
        The largest bound that so many draws can show: above it nothing could have been seen.
    event : str
        What the attacker looked at.
    hits : (int, int)
        How often the event happened on the data set without and with the canary, of `n_tested` draws each.
    n_asked, n_done : int
        Draws on each data set; fewer are done after a stop.
    claimed, composed : float
        The paper's epsilon, and what the learner's own steps compose to.
    verdict : str
        As for verification; "holds" says only that nothing was found.
    canary : tuple of (str, str)
        (column, value) of the row that one data set has and the other lacks.
    """

    learner: str
    epsilon: float
    params: dict[str, PlainValue]
    bound: float
    confidence: float
    largest: float
    event: str
    hits: tuple[int, int]
    n_tested: int
    n_asked: int
    n_done: int
    claimed: float
    composed: float
    verdict: Finding
    because: str
    canary: tuple[tuple[str, str], ...]
    seconds: float


def audit(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    seed: int,
    pair: Pair | None = None,
    draws: int = 4000,
    beta: float = 0.05,
    max_depth: int = 1,
    delta: float = 0.0,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **params: Any,
) -> AuditedBound:
    """DistinguishingEvent a learner with a canary and bound its epsilon from below.

    Parameters
    ----------
    learner : str or LearnerSpec
    epsilon, delta : float
        Claimed privacy loss under add/remove one row.
    seed : int
        Repeatable; the number of workers changes nothing.
    pair : (EncodedDataset, EncodedDataset), optional
        Without and with the canary, which is the last row. By default `small_pair()`; see also `canary_pair`.
    draws : int
        On each data set. Half choose the event, half bound it.
    beta : float
        The bound is above the truth with at most this probability.
    max_depth : int
        Depth of the trees.
    workers : int
        Processes that draw. Only for registered learners.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, optional
        Asked between draws; the bound from the draws done so far is returned.
    **params
        The learner's own parameters.
    """
    started = time.perf_counter()
    if not (isinstance(draws, int) and draws >= 2):
        raise ParameterError("audit", "draws", draws, "a whole number of at least 2")
    if not 0 < beta < 1:
        raise ParameterError("audit", "beta", beta, "a number between 0 and 1, both excluded")
    task = _Task.ask(learner, pair, Settings(epsilon=epsilon, max_depth=max_depth, depth=max_depth, delta=delta), params)
    composed = task.composed()
    shown = _collect(task, child_seeds(seed, 2 * draws), workers, progress, stop)
    found = distinguish(*shown, beta=beta, delta=max(task.claim.delta, composed.delta))
    return AuditedBound(
        learner=task.spec.name,
        epsilon=epsilon,
        params=params,
        bound=found.bound,
        confidence=1 - beta,
        largest=most_that_shows(found.n_draws, beta=beta, delta=task.claim.delta),
        event=found.observed,
        hits=found.hits,
        n_tested=found.n_draws,
        n_asked=draws,
        n_done=len(shown[0]),
        claimed=task.claim.epsilon,
        composed=composed.epsilon,
        verdict=judge(found.bound, task.claim, composed),
        because=task.claim.because,
        canary=task.canary_in_words,
        seconds=time.perf_counter() - started,
    )


def small_pair(task: str = "classes") -> Pair:
    """Three equal rows, and the same with a canary at the other end of both features and of the target.

    Few rows and few candidate splits: a learner then shows the canary best.
    """
    features = (NumericFeature("number", 0, 1, whole=True), CategoricalFeature("category", ("a", "b")))
    target = ClassTarget("class", ("usual", "canary")) if task == "classes" else NumericTarget("value", 0, 1)
    ends = np.array([0, 0, 0, 1])
    labels = ends.astype(np.uint8 if task == "classes" else np.float64)
    second = EncodedDataset(Schema(features, target, n_public=4), (ends.astype(np.int32), ends.astype(np.uint8)), labels)
    return second.take(np.arange(3), share=1.0), second


def canary_pair(data: EncodedDataset) -> Pair:
    """`data`, and `data` with one row more: the rarest category or the farther end of each range, and the rarest class."""
    columns = tuple(np.append(column, _outlying(feature, column)).astype(column.dtype) for feature, column in _parts(data))
    target = np.append(data.target, _outlying(data.schema.target, data.target)).astype(data.target.dtype)
    return data, EncodedDataset(data.schema, columns, target)


def _parts(data: EncodedDataset) -> Iterator[tuple[NumericFeature | CategoricalFeature, np.ndarray]]:
    return zip(data.schema.features, data.columns, strict=True)


def _outlying(about: NumericFeature | CategoricalFeature | ClassTarget | NumericTarget, values: np.ndarray) -> float:
    if isinstance(about, (NumericFeature, NumericTarget)):
        middle = values.mean() if len(values) else about.low
        return about.high if about.high - middle >= middle - about.low else about.low
    names = about.categories if isinstance(about, CategoricalFeature) else about.classes
    return int(np.bincount(values, minlength=len(names)).argmin())


@dataclass(frozen=True)
class _Task:
    """What every draw needs; with a name instead of a LearnerSpec it can be sent to another process."""

    learner: str | LearnerSpec
    settings: Settings
    given: dict[str, Any]
    pair: Pair

    @classmethod
    def ask(cls, learner: str | LearnerSpec, pair: Pair | None, settings: Settings, given: dict[str, Any]) -> _Task:
        spec = get_learner(learner) if isinstance(learner, str) else learner
        first, second = pair or small_pair(spec.tasks[0])
        require_task(spec, first.schema)
        require_neighbours(first, second)
        if second.n_rows < first.n_rows:
            raise DpvizError("The canary must be the last row of the second data set.", remedy="Swap the two data sets.")
        return cls(learner, settings, given, (first, second))

    @cached_property
    def spec(self) -> LearnerSpec:
        return get_learner(self.learner) if isinstance(self.learner, str) else self.learner

    @cached_property
    def params(self) -> Any:
        return make_params(self.spec.Params, self.spec.name, self.given)

    @cached_property
    def plan(self) -> BudgetPlan:
        return self.spec.plan(self.pair[0].schema, self.settings, self.params)

    @cached_property
    def claim(self) -> Claim:
        return self.spec.claim(self.plan, self.params, self.pair[0].schema)

    def composed(self) -> PrivacyLoss:
        losses = [Ledger(self._fit(data, 0)[1]).guarantee for data in self.pair]
        return max(losses, key=lambda loss: loss.epsilon)

    @cached_property
    def canary(self) -> EncodedDataset:
        return self.pair[1].take(np.array([self.pair[1].n_rows - 1]), share=1.0)

    @property
    def canary_in_words(self) -> tuple[tuple[str, str], ...]:
        schema = self.canary.schema
        return tuple(zip((*schema.feature_names, schema.target.name), rows_in_words(self.canary)[0], strict=True))

    def _fit(self, data: EncodedDataset, seed: int) -> tuple[Model, Any]:
        grown = self.spec.fit(data, self.plan, self.params, Simulation(seed))
        return grown.model, grown.event

    def show(self, seeds: list[int]) -> list[tuple[Shown, Shown]]:
        """What draws show, on the first and the second data set, for each two seeds."""
        pairs = zip(seeds[::2], seeds[1::2], strict=True)
        return [(self._shown(self.pair[0], one), self._shown(self.pair[1], other)) for one, other in pairs]

    def _shown(self, data: EncodedDataset, seed: int) -> Shown:
        model = self._fit(data, seed)[0]
        body = model_body(model)
        label = self._label(model)
        root = json.dumps({key: value for key, value in body.get("root", {}).items() if key not in ("left", "right")})
        return {
            "the prediction for the canary": label,
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


def _collect(
    task: _Task, seeds: list[int], workers: int, progress: Callable[[float], None] | None, stop: Callable[[], bool] | None
) -> tuple[list[Shown], list[Shown]]:
    """What all draws show, or those done before a stop."""
    first: list[Shown] = []
    second: list[Shown] = []
    chunks = [seeds[start : start + 2 * CHUNK] for start in range(0, len(seeds), 2 * CHUNK)]
    with closing(_chunks_done(task, chunks, workers)) as done:
        while (stop is None or not stop()) and (shown := next(done, None)) is not None:
            first += [one for one, _ in shown]
            second += [other for _, other in shown]
            if progress is not None:
                progress(2 * len(first) / len(seeds))
    return first, second


def _chunks_done(task: _Task, chunks: list[list[int]], workers: int) -> Generator[list[tuple[Shown, Shown]], None, None]:
    """In the order of the seeds, whoever draws them."""
    if workers == 1:
        yield from map(task.show, chunks)
        return
    if workers < 1 or not isinstance(task.learner, str):
        raise ParameterError("audit", "workers", workers, "1, or more for a learner given by name")
    plain = _Task(task.learner, task.settings, task.given, task.pair)  # without what was looked up here
    yield from spread(plain.show, chunks, workers)
