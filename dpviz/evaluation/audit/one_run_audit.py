"""Many canaries in one run: every draw of a learner answers one question per canary, so that few draws say much.

Canary i differs from all other rows in feature i, and is included with probability 1/2, independently. Whoever sees the model
guesses from its score at each canary whether it was included, and may abstain. Adding or removing a canary is adding or removing
one row, so under epsilon a guess is right with probability at most e^epsilon / (1 + e^epsilon), whatever the others are; delta
adds a little.
From which score on to guess is chosen on one half of the draws, the guesses are counted on the other. Draws are independent and
on rows of their own, so all of them together are one run on all their canaries.

Source: Steinke, Nasr & Jagielski 2023, "Privacy auditing with one (1) training run", Algorithm 1 and Theorem 2.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.accounting.gaussian import bisect
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.learners import FitRequest
from dpviz.models.base import Model, Voting
from dpviz.privacy.source import Simulation
from dpviz.randomness import generator
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericTarget, Schema

#: Rows that are always there, all equal.
COMPANY = 4
#: Quantiles of the scores among which the limits of a guess are chosen.
LIMITS = 20
#: No bound is above this.
_MOST = 30.0
_STEPS = 50


@dataclass(frozen=True)
class Guesses:
    """How often a guess was right."""

    #: low, high: guessed absent at a score of at most `low`, present from `high` on.
    low: float
    high: float
    #: n_canaries, n_guesses, n_right: in the half of the draws that was tested.
    n_canaries: int
    n_guesses: int
    n_right: int
    bound: float  #: Lower confidence bound on epsilon

    @property
    def words(self) -> str:
        """The rule of the guesses."""
        sides = [f"absent up to {self.low:.3g}"] if math.isfinite(self.low) else []
        sides += [f"present from {self.high:.3g}"] if math.isfinite(self.high) else []
        return f"the score of a canary: {', '.join(sides) or 'no guess'}"


def canary_table(canaries: int, task: str) -> EncodedDataset:
    """`COMPANY` equal rows, then the canaries: category "b" in a feature of their own, and the other end of the target."""
    features = tuple(CategoricalFeature(f"c{i + 1}", ("a", "b")) for i in range(canaries))
    target = ClassTarget("class", ("usual", "canary")) if task == "classes" else NumericTarget("value", 0, 1)
    own = np.vstack([np.zeros((COMPANY, canaries), dtype=np.uint8), np.eye(canaries, dtype=np.uint8)])
    labels = np.repeat([0, 1], [COMPANY, canaries]).astype(np.uint8 if task == "classes" else np.float64)
    schema = Schema(features, target, n_public=COMPANY + canaries // 2)
    return EncodedDataset(schema, tuple(own[:, i].copy() for i in range(canaries)), labels)


def include_at_random(data: EncodedDataset, seed: int) -> tuple[EncodedDataset, np.ndarray]:
    """The table with each canary included with probability 1/2, and which ones are: bool of shape (canaries,)."""
    included = generator(seed).random(data.n_rows - COMPANY) < 0.5
    rows = np.concatenate([np.arange(COMPANY), COMPANY + np.flatnonzero(included)])
    return data.take(rows, share=1.0), included


def score_at(model: Model, rows: EncodedDataset) -> np.ndarray:
    """How much the model is for class 1 (or the number it predicts) at each row, float64 of shape (n_rows,)."""
    if isinstance(rows.schema.target, ClassTarget):
        for_class = model.votes(rows) if isinstance(model, Voting) else getattr(model, "scores", lambda rows: None)(rows)
        if for_class is not None:
            return np.asarray(for_class if for_class.ndim == 1 else for_class[:, 1] - for_class[:, 0], dtype=np.float64)
    return np.asarray(model.predict(rows), dtype=np.float64)


@dataclass(frozen=True)
class OneRunTask:
    """What every draw on many canaries needs; it can be sent to another process unless the learner is unregistered."""

    request: FitRequest
    canaries: int

    @cached_property
    def tables(self) -> tuple[EncodedDataset]:
        """Everybody."""
        return (canary_table(self.canaries, self.request.spec.tasks[0]),)

    @cached_property
    def planned(self) -> PlannedLearner:
        """The learner on the schema of the canaries."""
        return PlannedLearner(self.request, self.tables[0].schema)

    def show(self, seeds: Sequence[tuple[int, int]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Which canaries are included and their scores, for pairs of seeds: of the inclusion and of the noise."""
        [everybody] = self.tables
        asked = everybody.take(np.arange(COMPANY, everybody.n_rows), share=1.0)
        found = []
        for for_inclusion, of_noise in seeds:
            rows, included = include_at_random(everybody, for_inclusion)
            found.append((included, score_at(self.planned.fit(rows, Simulation(of_noise)).model, asked)))
        return found

    def found(self, shown: Sequence[tuple[np.ndarray, np.ndarray]], beta: float, delta: float) -> dict[str, Any]:
        """What an AuditedBound says of the draws."""
        included, scores = (np.array([one[k] for one in shown]).reshape(len(shown), self.canaries) for k in (0, 1))
        found = guess(included, scores, beta=beta, delta=delta)
        return {
            "bound": found.bound,
            "largest": bound_from(found.n_canaries, found.n_canaries, found.n_canaries, beta=beta, delta=delta),
            "event": found.words,
            "hits": (found.n_guesses - found.n_right, found.n_right),
            "n_tested": found.n_guesses,
            "canary": (("a feature of its own", "b"), (self.tables[0].schema.target.name, "the other end")),
            "canaries": self.canaries,
        }


def guess(included: np.ndarray, scores: np.ndarray, *, beta: float, delta: float = 0.0) -> Guesses:
    """Choose the limits on the first half of the draws, guess on the second.

    `included`, `scores`: shape (n_draws, canaries).
    `beta`: the bound exceeds the true epsilon with at most this probability.
    `delta`: of the (epsilon, delta) guarantee under attack.
    """
    half = len(included) // 2
    low, high = _limits(included[:half], scores[:half], beta, delta)
    n_guesses, n_right = _counts(included[half:], scores[half:], low, high)
    n_canaries = included[half:].size
    bound = bound_from(n_canaries, n_guesses, n_right, beta=beta, delta=delta)
    return Guesses(low, high, n_canaries, n_guesses, n_right, bound)


def _limits(included: np.ndarray, scores: np.ndarray, beta: float, delta: float) -> tuple[float, float]:
    """The pair of limits with the largest bound on these draws; guesses need no more than one of the two."""
    if not scores.size:
        return -math.inf, math.inf
    steps = np.unique(np.quantile(scores, np.linspace(0, 1, LIMITS + 1)))
    pairs = [(low, high) for low in (-math.inf, *steps) for high in (*steps, math.inf) if low < high]
    counts = [_counts(included, scores, *pair) for pair in pairs]
    worth = [_rough_bound(n, right, beta) for n, right in counts]
    return pairs[int(np.argmax(worth))]


def _counts(included: np.ndarray, scores: np.ndarray, low: float, high: float) -> tuple[int, int]:
    """(guesses, right ones)."""
    said_in = scores >= high
    was_right = (included == said_in)[said_in | (scores <= low)]
    return len(was_right), int(was_right.sum())


def _rough_bound(n_guesses: int, n_right: int, beta: float) -> float:
    """The bound without delta, by a lower limit of the share of right guesses: to compare limits only."""
    from scipy.special import betaincinv

    least = betaincinv(n_right, n_guesses - n_right + 1, beta) if n_right else 0.0
    return float(math.log(least / (1 - least))) if 0 < least < 1 else -math.inf


def bound_from(n_canaries: int, n_guesses: int, n_right: int, *, beta: float, delta: float = 0.0) -> float:
    """The largest epsilon (0 at least) at which so many right guesses have a probability of at most `beta`."""

    def is_likely(epsilon: float) -> bool:
        return chance_of(n_canaries, n_guesses, n_right, epsilon=epsilon, delta=delta) > beta

    return 0.0 if is_likely(0.0) else bisect(is_likely, 0.0, _MOST, times=_STEPS)[0]


def chance_of(n_canaries: int, n_guesses: int, n_right: int, *, epsilon: float, delta: float) -> float:
    """An upper bound on the probability of `n_right` or more right guesses under (epsilon, delta)."""
    from scipy.stats import binom

    right = 1 / (1 + math.exp(-epsilon))
    at_least = float(binom.sf(n_right - 1, n_guesses, right))
    if not delta or not n_right:
        return at_least
    nearly = np.cumsum(binom.pmf(np.arange(n_right - 1, -1, -1), n_guesses, right)) / np.arange(1, n_right + 1)
    return min(1.0, at_least + 2 * n_canaries * delta * float(nearly.max()))
