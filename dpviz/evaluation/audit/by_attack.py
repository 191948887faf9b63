"""Audit by attack: a lower confidence bound on epsilon from many draws of a learner.

The bound is the least privacy loss at the stated confidence; a small bound shows nothing. Either two neighbouring data sets are
told apart, of which one has an extra row, the canary: far from the others and of another class. Or every draw has many canaries,
each included at random (`one_run_audit.py`); that is stronger wherever a canary can be seen by itself. Or the attack looks at
everything that is released and knows its laws (`white_box.py`), and stops when it has shown enough (`wagers.py`); that is the
strongest where the laws are known.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.audit.candidate_pairs import Pair, require_neighbours, small_pair, telling_pairs
from dpviz.evaluation.audit.distinguishing import Shown, distinguish, most_that_shows
from dpviz.evaluation.audit.findings import Finding, columns_of, judge, rows_in_words
from dpviz.evaluation.audit.one_run_audit import OneRunTask, score_at
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.evaluation.audit.white_box import CHUNK as CHUNK_OF_PAIRS
from dpviz.evaluation.audit.white_box import Ceiling, Wanted, WhiteBoxTask, choose_pair, guess_until
from dpviz.evaluation.intervals import clopper_pearson
from dpviz.evaluation.workers import in_chunks
from dpviz.learners import FitRequest, require_task
from dpviz.models.base import Model
from dpviz.models.document import model_body
from dpviz.privacy.source import Simulation
from dpviz.progress import Progress, Stop
from dpviz.randomness import child_seeds
from dpviz.table.checked_numbers import checked_count, checked_number, checked_share
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget
from dpviz.table.strict_json import PlainValue
from dpviz.training.contract import LearnerSpec

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
    canary: tuple[tuple[str, str], ...] = field(repr=False)  #: (column, value) of the extra row. Private, if the rows are
    seconds: float
    canaries: int = 1  #: How many in one run
    delta: float = 0.0  #: Of the guarantee under attack
    #: Of a white-box attack, whose `hits` are wrong and right guesses too: what `right_guesses` says, and the share of the proved
    #: loss that it found; under delta the loss of right guesses.
    guesses: float | None = None
    strength: float | None = None
    #: What as many draws as an attack may make could show: beside `strength`, or why there is none.
    ceiling: Ceiling | None = None

    @property
    def right_guesses(self) -> float:
        """Lower confidence bound on the right guesses of 100 whether the canary is there, at even odds; 50 at least.

        Of a white-box attack by its wagers. On a pair by the limits of both frequencies. With many canaries by Hoeffding's
        inequality over the draws, which are independent where the guesses of one draw are not; where nothing was guessed, a coin
        is right half the time.
        """
        beta = 1 - self.confidence
        if self.guesses is not None:
            return self.guesses
        if not self.n_tested:
            return 50.0
        if self.canaries == 1:
            low, high = clopper_pearson(np.array(self.hits), self.n_tested, beta / 2)
            return 50 * (1 + float(max(0.0, low[0] - high[1], low[1] - high[0])))
        draws = self.n_done - self.n_done // 2
        wrong, right = self.hits
        share = 0.5 + (right - wrong) / (2 * draws * self.canaries)
        return 100 * max(0.5, share - math.sqrt(math.log(1 / beta) / (2 * draws)))


def audit(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    seed: int,
    pair: Pair | None = None,
    canaries: int = 1,
    draws: int = 4000,
    until: float | None = None,
    beta: float = 0.05,
    max_depth: int = 1,
    delta: float | None = None,
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
        Claimed privacy loss under add/remove one row; delta as `dpviz.fit` takes it.
    seed : int
        Repeatable; the number of workers changes nothing.
    pair : (EncodedDataset, EncodedDataset), optional
        Without and with the canary, which is the last row. By default `small_pair()`; see also `canary_pair`.
    canaries : int
        More than one: that many in one run, instead of a pair.
    draws : int
        On each data set, or in all with many canaries. Half choose the event, half test it. With `until` the most.
    until : float, optional
        White-box: guess by the laws of everything that is released, on `pair` or the best of a few, and stop as soon as this
        share of the proved loss is shown. Raises NotEnumerable where the laws are not known, or cannot show so much there,
        or not by far with so many draws; at once where no attack could.
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
    checked_count("audit", "draws", draws, 2)
    checked_count("audit", "canaries", canaries, 1)
    checked_count("audit", "max_depth", max_depth)
    checked_share("audit", "beta", beta)
    checked_count("audit", "seed", seed, 0)
    by_name = "1, or more for a learner given by name"
    if checked_count("audit", "workers", workers, allowed=by_name) > 1 and not isinstance(learner, str):
        raise ParameterError("audit", "workers", workers, by_name)
    request = FitRequest.of(learner, epsilon=epsilon, max_depth=max_depth, depth=max_depth, delta=delta, **params)
    how = {"workers": workers, "progress": progress, "stop": stop}
    if until is not None:
        checked_number("audit", "until", until, least=0.0, most=10.0, allowed="a number in [0, 10]")
        if canaries > 1:
            raise ParameterError("audit", "canaries", canaries, "1 where `until` is given")
        pairs = telling_pairs(request.spec.tasks[0], epsilon) if pair is None else (pair,)
        return _white_box(request, pairs, until, draws, seed, beta, how)
    if canaries > 1:
        if pair is not None:
            raise ParameterError("audit", "canaries", canaries, "1 where a pair is given")
        return _bound(OneRunTask(request, canaries), draws, seed, beta, how)
    task = _PairTask(request, pair or small_pair(request.spec.tasks[0]))
    task.check()
    return _bound(task, draws, seed, beta, how)


def _white_box(
    request: FitRequest, pairs: Sequence[Pair], until: float, draws: int, seed: int, beta: float, how: dict[str, Any]
) -> AuditedBound:
    started = time.perf_counter()
    for pair in pairs:
        _PairTask(request, pair).check()
    tasks = [WhiteBoxTask(request, pair) for pair in pairs]
    seeds = child_seeds(seed, 2 * (draws + CHUNK_OF_PAIRS))
    by_pair = list(zip(seeds[::2], seeds[1::2], strict=True))
    task, wanted, way = choose_pair(
        [(task, Wanted.of(task.planned, until)) for task in tasks], by_pair[:CHUNK_OF_PAIRS], draws, beta
    )
    tally = guess_until(task, wanted, way, by_pair[CHUNK_OF_PAIRS:], beta, **how)
    told = {"canary": _PairTask(request, task.tables).canary_in_words, "ceiling": wanted.ceiling(draws, beta=beta)}
    return _audited(task, tally.found(wanted, beta) | told, draws, tally.pairs, beta, started)


def _bound(task: _PairTask | OneRunTask, draws: int, seed: int, beta: float, how: dict[str, Any]) -> AuditedBound:
    started = time.perf_counter()
    delta = max(task.planned.claim.delta, task.planned.composed(*task.tables).delta)
    seeds = child_seeds(seed, 2 * draws)
    show: Callable[[Sequence[tuple[int, int]]], list[Any]] = replace(task).show  # without what was computed here
    chunks = in_chunks(show, list(zip(seeds[::2], seeds[1::2], strict=True)), CHUNK, **how)
    shown = [one for chunk in chunks for one in chunk]
    return _audited(task, task.found(shown, beta, delta), draws, len(shown), beta, started)


def _audited(
    task: _PairTask | OneRunTask | WhiteBoxTask, found: dict[str, Any], draws: int, done: int, beta: float, started: float
) -> AuditedBound:
    claim, composed = task.planned.claim, task.planned.composed(*task.tables)
    return AuditedBound(
        learner=task.request.learner,
        epsilon=task.request.settings.epsilon,
        params=task.request.given,
        confidence=1 - beta,
        n_asked=draws,
        n_done=done,
        claimed=claim.epsilon,
        composed=composed.epsilon,
        verdict=judge(found["bound"], claim, composed),
        because=claim.because,
        seconds=time.perf_counter() - started,
        delta=max(claim.delta, composed.delta),
        **found,
    )


@dataclass(frozen=True)
class _PairTask:
    """What every draw on a pair needs; it can be sent to another process unless the learner is unregistered."""

    request: FitRequest
    tables: Pair

    def check(self) -> None:
        """Raise WrongTask or DpvizError for a pair that is unfit for this learner."""
        first, second = self.tables
        require_task(self.request.spec, first.schema)
        require_neighbours(first, second)
        if second.n_rows < first.n_rows:
            raise DpvizError("The canary must be the last row of the second data set.", remedy="Swap the two data sets.")

    @cached_property
    def planned(self) -> PlannedLearner:
        return PlannedLearner(self.request, self.tables[0].schema)

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
            "canary": self.canary_in_words,
        }

    @property
    def canary_in_words(self) -> tuple[tuple[str, str], ...]:
        return tuple(zip(columns_of(self.canary.schema), rows_in_words(self.canary)[0], strict=True))

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
