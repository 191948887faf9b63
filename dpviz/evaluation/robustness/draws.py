"""Many draws of one learner on fixed training rows, and their accuracy on fixed test rows.

Every draw spends epsilon again: for simulated and public rows only.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError
from dpviz.evaluation.intervals import mean_limits
from dpviz.evaluation.workers import in_chunks, kept_here, light
from dpviz.learners import FitRequest, get_learner, require_task
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import child_seeds, generator
from dpviz.results.result import FitResult, score
from dpviz.table.checked_numbers import checked_count
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import require_classes

#: Draws between two checks of `stop`.
CHUNK = 50

#: (clean rows, k, random generator) -> rows at most k additions and removals away.
Poison = Callable[[EncodedDataset, int, np.random.Generator], EncodedDataset]


@dataclass(frozen=True)
class Draws:
    """Accuracies over many draws."""

    #: Shape (n_draws, n_tests), read-only. Accuracy on each test set. One draw for a learner without noise.
    accuracies: np.ndarray
    first: FitResult  #: The first draw: its claim, plan and model
    composed: float  #: The largest epsilon that a draw's ledger composes to
    n_asked: int  #: Draws asked for; more than `n_done` after a stop

    def __post_init__(self) -> None:
        self.accuracies.flags.writeable = False

    @property
    def n_done(self) -> int:
        """Draws done."""
        return len(self.accuracies)

    def of(self, test: int = 0) -> np.ndarray:
        """Accuracies on one of the test sets, shape (n_draws,)."""
        return self.accuracies[:, test]

    @cached_property
    def reason(self) -> str:
        """Why privacy proves nothing about this learner; empty when it does."""
        return why_unproved(self.first, self.composed)

    @property
    def epsilon(self) -> float:
        """Proved privacy loss per row added or removed: the claim where it holds, else what the steps compose to."""
        return proved_loss(self.first, self.composed).epsilon

    @property
    def delta(self) -> float:
        """The delta that belongs to `epsilon`."""
        return proved_loss(self.first, self.composed).delta

    @property
    def risk(self) -> Risk | None:
        """What its steps let one row change, on these rows or any others; None where the claim does not hold."""
        return proved_risk(self.first, self.composed)


def why_unproved(result: FitResult, composed: float) -> str:
    """Why privacy proves nothing about poisoned rows of this learner, whose steps compose to this epsilon; empty when it does."""
    claim = result.claim
    if claim.verdict == "violated":
        return f"Its privacy claim is violated. {claim.because}"
    if not np.isfinite(composed):
        notes = [row.note for row in result.ledger.rows() if row.note]
        return f"Its privacy loss is infinite: {notes[0] if notes else 'something is published exactly'}."
    own = [item.what for item in result.disclosures if not item.code.startswith("schema-")]
    return f"It reveals something outside its ledger. {own[0]}" if own else ""


def proved_loss(result: FitResult, composed: float) -> PrivacyLoss:
    """The claim where it holds, else what the steps compose to."""
    epsilon = result.claim.epsilon if result.claim.is_sound else composed
    return PrivacyLoss(epsilon, max(result.claim.delta, result.ledger.guarantee.delta))


def proved_risk(result: FitResult, composed: float) -> Risk | None:
    """What the steps let one row change, on these rows or any others; None where the claim does not hold."""
    return result.risk if result.claim.is_sound and not why_unproved(result, composed) else None


def draw(
    request: FitRequest,
    train: EncodedDataset,
    tests: Sequence[EncodedDataset],
    *,
    draws: int,
    seed: int,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Draws:
    """Fit `draws` times with independent noise and score every model on every test set.

    `request`: whatever its seed. A learner that spends no epsilon is fitted once.
    `tests`: at least one, none of them empty.
    `draws`, `seed`: the k-th draw does not depend on `draws`, nor on `workers`.
    `workers`: 1 works in this process; more are joblib's n_jobs.
    `stop`: asked between chunks of draws. The draws done so far are returned, at least one chunk.
    """
    require_classes(train.schema, "A poisoning guarantee")
    require_task(request.spec, train.schema)
    checked_count("draws", "draws", draws)
    checked_count("draws", "workers", workers)
    checked_count("draws", "seed", seed, 0)
    if not tests or not all(test.n_rows for test in tests):
        raise DpvizError("There are no rows to score.", remedy="Give at least one test row.")
    count = draws if request.spec.spends_epsilon else 1
    seeds = child_seeds(seed, count)
    rows = light(train) if workers > 1 else train.with_cached_counts()
    fits = partial(_fits, request, rows, tuple(map(light, tests)), workers > 1)
    found = in_chunks(fits, seeds, CHUNK, workers=workers, progress=progress, stop=stop, at_least=1)
    accuracies, losses = zip(*found, strict=True)
    return Draws(np.concatenate(accuracies), request.at(seed=seeds[0]).fit(train), max(losses), count)


def poisoned_draws(
    poison: Poison,
    request: FitRequest,
    train: EncodedDataset,
    tests: Sequence[EncodedDataset],
    *,
    poisoned_rows: Sequence[int],
    runs: int,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **how: Any,
) -> Iterator[tuple[int, list[Draws]]]:
    """For each number of poisoned rows, the draws on `runs` independently poisoned tables.

    `how` is for `draw`. After a stop the numbers of rows done so far are yielded, at least one.
    """
    for rows in steps(poisoned_rows, progress, stop, at_least=1):
        tables = ((poison(train, rows, generator(child)), child) for child in child_seeds(seed, runs))
        yield rows, [draw(request, table, tests, seed=child, stop=stop, **how) for table, child in tables]


def limits(found: np.ndarray, name: str, beta: float) -> tuple[float, float]:
    """Confidence limits of the mean over a learner's draws; the mean itself for a learner without noise."""
    if not get_learner(name).spends_epsilon:
        return float(found.mean()), float(found.mean())
    return mean_limits(found, beta)


def _fits(
    request: FitRequest, train: EncodedDataset, tests: Sequence[EncodedDataset], away: bool, seeds: Sequence[int]
) -> tuple[np.ndarray, float]:
    """(accuracies of shape (n_seeds, n_tests), largest composed epsilon)."""
    train = kept_here(train) if away else train
    found = np.empty((len(seeds), len(tests)))
    composed = 0.0
    for row, seed in enumerate(seeds):
        result = request.at(seed=seed).fit(train)
        composed = max(composed, result.ledger.guarantee.epsilon)
        found[row] = [score(result.model, test) for test in tests]
    return found, composed
