"""Many draws of one learner on fixed training rows, and their accuracy on fixed test rows.

Every draw spends epsilon again: for simulated and public rows only.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpviz.errors import DpvizError
from dpviz.evaluation.checks import require_classes, require_count
from dpviz.evaluation.intervals import mean_limits
from dpviz.evaluation.workers import in_chunks, kept_here, light
from dpviz.learners import fit, get_learner, require_task
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import child_seeds, generator
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import FitResult, score

#: Draws between two checks of `stop`.
CHUNK = 100

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
        """Proved privacy loss per row added or removed: the claim where it holds, else what the steps compose to."""
        return self.first.claim.epsilon if self.first.claim.is_sound else self.composed

    @property
    def delta(self) -> float:
        """The delta that belongs to `epsilon`."""
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

    `name`, `train`, `**asked`: as for `dpviz.fit`, without a seed or source. A learner that spends no epsilon is fitted once.
    `tests`: at least one, none of them empty.
    `draws`, `seed`: the k-th draw does not depend on `draws`, nor on `workers`.
    `workers`: 1 works in this process; more are joblib's n_jobs.
    `stop`: asked between chunks of draws. The draws done so far are returned, at least one chunk.
    """
    require_classes(train.schema, "A poisoning guarantee")
    require_task(get_learner(name), train.schema)
    require_count("draws", "draws", draws)
    if not tests or not all(test.n_rows for test in tests):
        raise DpvizError("There are no rows to score.", remedy="Give at least one test row.")
    count = draws if get_learner(name).spends_epsilon else 1
    seeds = child_seeds(seed, count)
    rows = light(train) if workers > 1 else train.with_cached_counts()
    fits = partial(_fits, name, rows, tuple(map(light, tests)), asked, workers > 1)
    found = in_chunks(fits, seeds, CHUNK, workers=workers, progress=progress, stop=stop, at_least=1)
    accuracies, losses = zip(*found, strict=True)
    return Draws(np.concatenate(accuracies), fit(name, train, seed=seeds[0], **asked), max(losses), count)


def poisoned_draws(
    poison: Poison,
    name: str,
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
        yield rows, [draw(name, table, tests, seed=child, stop=stop, **how) for table, child in tables]


def limits(found: np.ndarray, name: str, beta: float) -> tuple[float, float]:
    """Confidence limits of the mean over a learner's draws; the mean itself for a learner without noise."""
    if not get_learner(name).spends_epsilon:
        return float(found.mean()), float(found.mean())
    return mean_limits(found, beta)


def _fits(
    name: str, train: EncodedDataset, tests: Sequence[EncodedDataset], asked: dict[str, Any], away: bool, seeds: Sequence[int]
) -> tuple[np.ndarray, float]:
    """(accuracies of shape (n_seeds, n_tests), largest composed epsilon)."""
    train = kept_here(train) if away else train
    found = np.empty((len(seeds), len(tests)))
    composed = 0.0
    for row, seed in enumerate(seeds):
        result = fit(name, train, seed=seed, **asked)
        composed = max(composed, result.ledger.guarantee.epsilon)
        found[row] = [score(result.model, test) for test in tests]
    return found, composed
