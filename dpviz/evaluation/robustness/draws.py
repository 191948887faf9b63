"""Many draws of one learner on fixed training rows, and how right each is on fixed test rows.

For simulated and public rows only: so many trees of private rows spend so many times epsilon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.checks import require_classes
from dpviz.evaluation.workers import light, spread
from dpviz.learners import fit, get_learner, require_task
from dpviz.models.base import Model
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import FitResult

#: Draws between two looks at `stop`.
CHUNK = 100

Progress = Callable[[float], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class Draws:
    """What was drawn.

    Attributes
    ----------
    accuracies : ndarray of shape (n_draws, n_tests), read-only
        Share of each test set predicted right. One draw for a learner without noise.
    first : FitResult
        The first draw: its claim, plan and model.
    composed : float
        The largest epsilon that a draw's ledger composes to.
    n_asked : int
        Draws asked for; more than there are after a stop.
    """

    accuracies: np.ndarray
    first: FitResult
    composed: float
    n_asked: int

    def __post_init__(self) -> None:
        self.accuracies.flags.writeable = False

    @property
    def n_done(self) -> int:
        """Draws that were done."""
        return len(self.accuracies)

    def of(self, test: int = 0) -> np.ndarray:
        """Accuracies on one of the test sets, shape (n_draws,)."""
        return self.accuracies[:, test]

    @cached_property
    def reason(self) -> str:
        """Why privacy proves nothing about this learner; empty when it does."""
        claim = self.first.claim
        if claim.verdict == "violated":
            return f"Its privacy claim is violated. {claim.because}"
        if not np.isfinite(self.composed):
            notes = [row.note for row in self.first.ledger.rows() if row.note]
            return f"Its privacy loss is infinite: {notes[0] if notes else 'something is published exactly'}."
        own = [item.what for item in self.first.disclosures if not item.code.startswith("schema-")]
        return f"It reveals something outside its ledger. {own[0]}" if own else ""

    @property
    def epsilon(self) -> float:
        """What is proved per row added or removed: the claim where it holds, else what the steps compose to."""
        return self.first.claim.epsilon if self.first.claim.is_sound else self.composed

    @property
    def delta(self) -> float:
        """The chance with which that may fail."""
        return max(self.first.claim.delta, self.first.ledger.guarantee.delta)


def draw(
    name: str,
    train: EncodedDataset,
    tests: Sequence[EncodedDataset],
    *,
    draws: int,
    seed: int,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **asked: Any,
) -> Draws:
    """Fit `draws` times with independent noise and score every model on every test set.

    Parameters
    ----------
    name, train, **asked
        As for `dpviz.fit`, without a seed or source. A learner that spends no epsilon is fitted once.
    tests : sequence of EncodedDataset
        At least one, none of them empty.
    draws, seed : int
        The k-th draw does not depend on `draws`, nor on `workers`.
    workers : int
        1 works in this process; more are joblib's n_jobs.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, optional
        Asked between chunks of draws. The draws done so far are returned, at least one chunk.
    """
    require_classes(train.schema, "A poisoning guarantee")
    _require(name, train, tests, draws)
    count = draws if get_learner(name).spends_epsilon else 1
    seeds = child_seeds(seed, count)
    chunks = (seeds[start : start + CHUNK] for start in range(0, count, CHUNK))
    task = _Task(name, light(train), tuple(map(light, tests)), asked)
    found: list[np.ndarray] = []
    composed = 0.0
    for rows, loss in spread(task.run, _until(stop, chunks), workers):
        found.append(rows)
        composed = max(composed, loss)
        if progress is not None:
            progress(sum(map(len, found)) / count)
    return Draws(np.concatenate(found), fit(name, train, seed=seeds[0], **asked), composed, count)


def _until(stop: Stop | None, chunks: Iterator[list[int]]) -> Iterator[list[int]]:
    for number, chunk in enumerate(chunks):
        if number and stop is not None and stop():
            return
        yield chunk


def _require(name: str, train: EncodedDataset, tests: Sequence[EncodedDataset], draws: int) -> None:
    require_task(get_learner(name), train.schema)
    if isinstance(draws, bool) or int(draws) != draws or draws < 1:
        raise ParameterError("draws", "draws", draws, "a whole number of at least 1")
    if not tests or not all(test.n_rows for test in tests):
        raise DpvizError("There are no rows to score.", remedy="Give at least one test row.")


@dataclass(frozen=True)
class _Task:
    name: str
    train: EncodedDataset
    tests: tuple[EncodedDataset, ...]
    asked: Mapping[str, Any]

    def run(self, seeds: list[int]) -> tuple[np.ndarray, float]:
        """(accuracies of shape (n_seeds, n_tests), largest composed epsilon)."""
        train = _remembering(self.train)
        found = np.empty((len(seeds), len(self.tests)))
        composed = 0.0
        for row, seed in enumerate(seeds):
            result = fit(self.name, train, seed=seed, **self.asked)
            composed = max(composed, result.ledger.guarantee.epsilon)
            found[row] = [accuracy(result.model, test) for test in self.tests]
        return found, composed


def accuracy(model: Model, test: EncodedDataset) -> float:
    """Share of rows predicted right."""
    return float(np.mean(model.predict(test) == test.target))


_REMEMBERED: dict[str, EncodedDataset] = {}


def _remembering(train: EncodedDataset) -> EncodedDataset:
    """The training rows, kept in this process so that chunks of draws share what they count; one table at a time."""
    key = train.fingerprint
    if key not in _REMEMBERED:
        _REMEMBERED.clear()
        _REMEMBERED[key] = train.with_cached_counts()
    return _REMEMBERED[key]
