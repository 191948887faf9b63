"""Audit by attack: a lower confidence bound on epsilon from many draws of a learner on two neighbouring data sets.

For learners too large to enumerate. The bound is the least privacy loss at the stated confidence; a small bound shows nothing.
One data set has an extra row, the canary: far from the others and of another class.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.audit.distinguishing import Shown, distinguish, most_that_shows
from dpviz.evaluation.audit.findings import Finding, columns_of, judge, rows_in_words
from dpviz.evaluation.audit.named_pairs import require_neighbours
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
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.strict_json import PlainValue
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Settings

#: Draws between two checks of `stop`.
CHUNK = 50
#: Cells of the declared range to which a predicted number is rounded.
CELLS = 16

Pair = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True)
class AuditedBound:
    """The least privacy loss of a learner, under add/remove one row.

    Attributes
    ----------
    bound : float
        Lower bound on epsilon, with confidence `confidence`.
    largest : float
        The largest bound that this many draws can show.
    event : str
        What the attacker observed.
    hits : (int, int)
        How often the event happened on the data set without and with the canary, of `n_tested` draws each.
    n_asked, n_done : int
        Draws on each data set; fewer are done after a stop.
    claimed, composed : float
        The paper's epsilon, and what the learner's own steps compose to.
    verdict : str
        As for verification; "holds" says only that nothing was found.
    canary : tuple of (str, str)
        (column, value) of the extra row.
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
    progress: Progress | None = None,
    stop: Stop | None = None,
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
        On each data set. Half choose the event, half test it.
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
    started = time.perf_counter()
    require_count("audit", "draws", draws, 2)
    require_between_0_and_1("audit", "beta", beta)
    if workers < 1 or (workers > 1 and not isinstance(learner, str)):
        raise ParameterError("audit", "workers", workers, "1, or more for a learner given by name")
    settings = Settings(epsilon=epsilon, max_depth=max_depth, depth=max_depth, delta=delta)
    task = _Task(learner, settings, params, pair or small_pair(spec_of(learner).tasks[0]))
    task.check()
    claim, composed = task.planned.claim, task.planned.composed(*task.pair)
    seeds = child_seeds(seed, 2 * draws)
    pairs = list(zip(seeds[::2], seeds[1::2], strict=True))
    plain = replace(task)  # without what was computed here
    chunks = in_chunks(plain.show, pairs, CHUNK, workers=workers, progress=progress, stop=stop)
    first, second = ([shown[side] for chunk in chunks for shown in chunk] for side in (0, 1))
    found = distinguish(first, second, beta=beta, delta=max(claim.delta, composed.delta))
    return AuditedBound(
        learner=task.planned.spec.name,
        epsilon=epsilon,
        params=params,
        bound=found.bound,
        confidence=1 - beta,
        largest=most_that_shows(found.n_draws, beta=beta, delta=claim.delta),
        event=found.observed,
        hits=found.hits,
        n_tested=found.n_draws,
        n_asked=draws,
        n_done=len(first),
        claimed=claim.epsilon,
        composed=composed.epsilon,
        verdict=judge(found.bound, claim, composed),
        because=claim.because,
        canary=task.canary_in_words,
        seconds=time.perf_counter() - started,
    )


def small_pair(task: str = "classes") -> Pair:
    """Three equal rows, and the same with a canary at the other end of both features and of the target.

    With few rows and few candidate splits a learner reveals the canary most clearly.
    """
    features = (NumericFeature("number", 0, 1, whole=True), CategoricalFeature("category", ("a", "b")))
    target = ClassTarget("class", ("usual", "canary")) if task == "classes" else NumericTarget("value", 0, 1)
    ends = np.array([0, 0, 0, 1])
    labels = ends.astype(np.uint8 if task == "classes" else np.float64)
    second = EncodedDataset(Schema(features, target, n_public=4), (ends.astype(np.int32), ends.astype(np.uint8)), labels)
    return second.take(np.arange(3), share=1.0), second


def canary_pair(data: EncodedDataset) -> Pair:
    """`data`, and `data` with a canary: the rarest category or the farther end of each range, and the rarest class."""
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

    def check(self) -> None:
        """Raise WrongTask or DpvizError for a pair that is unfit for this learner."""
        first, second = self.pair
        require_task(self.planned.spec, first.schema)
        require_neighbours(first, second)
        if second.n_rows < first.n_rows:
            raise DpvizError("The canary must be the last row of the second data set.", remedy="Swap the two data sets.")

    @cached_property
    def planned(self) -> PlannedLearner:
        return PlannedLearner(spec_of(self.learner), self.settings, self.given, self.pair[0].schema)

    @cached_property
    def canary(self) -> EncodedDataset:
        return self.pair[1].take(np.array([self.pair[1].n_rows - 1]), share=1.0)

    @property
    def canary_in_words(self) -> tuple[tuple[str, str], ...]:
        return tuple(zip(columns_of(self.canary.schema), rows_in_words(self.canary)[0], strict=True))

    def show(self, seeds: Sequence[tuple[int, int]]) -> list[tuple[Shown, Shown]]:
        """What draws on the first and on the second data set show, for pairs of seeds."""
        first, second = self.pair
        return [(self._shown(first, one), self._shown(second, other)) for one, other in seeds]

    def _shown(self, data: EncodedDataset, seed: int) -> Shown:
        model = self.planned.fit(data, Simulation(seed)).model
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
