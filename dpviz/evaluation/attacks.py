"""Attacks on training rows: the harm done in practice by somebody who may add, remove or change a few of them.

An attack takes the clean rows and a number k of additions and removals, and returns the poisoned rows. Changing a label is one
removal and one addition, so k buys k/2 label changes. Attacks know the rows and the ordinary tree grown on them (white box).
Measured curves complement proved ones: an attack shows the least harm possible, a bound the most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from dpviz.errors import ParameterError, UnknownName
from dpviz.evaluation.metrics import mean_limits
from dpviz.evaluation.poisoning import draw
from dpviz.evaluation.repeat import Workers
from dpviz.learners import FitRequest, fit
from dpviz.models.tree import Branch, Tree
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import child_seeds, generator
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import require_classes
from dpviz.table.validation import is_whole, validate_count
from dpviz.training.exact_trace import rows_by_node

if TYPE_CHECKING:
    import pandas as pd

#: (clean rows, k, random generator, depth of the trees that will be grown) -> rows at most k additions and removals away.
Poison = Callable[[EncodedDataset, int, np.random.Generator, int], EncodedDataset]


@dataclass(frozen=True)
class Attack:
    """One way to poison rows."""

    #: name, title, idea: the name in code, the name for people, and one sentence.
    name: str
    title: str
    idea: str
    poison: Poison


def _flip_at_random(data: EncodedDataset, rows: int, rng: np.random.Generator, max_depth: int) -> EncodedDataset:
    """Give rows / 2 randomly chosen rows another class."""
    positions = rng.permutation(data.n_rows)[: rows // 2]
    return _flip_classes(data, positions, rng)


def _flip_leaves(data: EncodedDataset, rows: int, rng: np.random.Generator, max_depth: int) -> EncodedDataset:
    """Overturn leaves of the ordinary tree, narrowest majority first, by changing about half the majority's lead in labels.

    Labels are changed at random inside a leaf, so that no further split separates them.
    """
    n_flips = min(rows // 2, data.n_rows)
    if not n_flips:
        return data
    positions: list[np.ndarray] = []
    tree = fit("cart", data, epsilon=1.0, max_depth=max_depth, seed=0).model
    assert isinstance(tree, Tree)
    leaves = (rows for placed, rows in rows_by_node(tree, data) if not isinstance(placed.node, Branch) and len(rows))
    for members in sorted(leaves, key=lambda rows: _lead(data, rows)):
        counts = np.bincount(data.target[members], minlength=data.n_classes)
        largest = rng.permutation(members[data.target[members] == counts.argmax()])
        positions.append(largest[: min(n_flips, _lead(data, members) // 2 + 1)])
        n_flips -= len(positions[-1])
    return _flip_classes(data, np.concatenate(positions), rng)


def _lead(data: EncodedDataset, rows: np.ndarray) -> int:
    """Rows by which the largest class of these rows leads the second."""
    counts = np.sort(np.bincount(data.target[rows], minlength=data.n_classes))
    return int(counts[-1] - counts[-2])


def _flip_classes(data: EncodedDataset, positions: np.ndarray, rng: np.random.Generator) -> EncodedDataset:
    """The same rows; those at these positions get another class, each with equal probability."""
    target = data.target.copy()
    target[positions] = (target[positions] + rng.integers(1, data.n_classes, len(positions))) % data.n_classes
    return replace(data, target=target.astype(data.target.dtype), report=None)


#: By name, weakest first.
ATTACKS = MappingProxyType(
    {
        attack.name: attack
        for attack in (
            Attack("random-flips", "Random labels", "Gives randomly chosen rows another class.", _flip_at_random),
            Attack("leaf-flips", "Labels of chosen leaves", "Overturns the narrowest leaves of the ordinary tree.", _flip_leaves),
        )
    }
)


def attack_curve(
    attack: str,
    request: FitRequest,
    train: EncodedDataset,
    test: EncodedDataset,
    *,
    poisoned_rows: Sequence[int],
    runs: int = 5,
    draws: int = 100,
    beta: float = 0.05,
    seed: int = 0,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> pd.DataFrame:
    """Measured accuracy of a learner on clean test rows under an attack on its training rows.

    `attack`: a name of ATTACKS.
    `train`, `test`: the test rows stay clean.
    `poisoned_rows`: numbers of additions and removals.
    `runs`, `draws`: the attack is repeated `runs` times, with `draws` draws of the learner each.
    `beta`: all limits together fail with at most this probability.
    `seed`, `workers`, `progress`, `stop`: as for `draw`. After a stop the numbers of rows done so far are returned, at least one.

    Columns: attack, learner, epsilon, poisoned_rows, poisoned_share, accuracy, low, high, n_draws. `low` and `high` limit the
    mean over the learner's noise (equal for a learner without noise).
    """
    import pandas as pd

    if attack not in ATTACKS:
        raise UnknownName("attack", attack, ATTACKS)
    require_classes(train.schema, "An attack")
    runs = validate_count("attack", "runs", runs)
    if not len(poisoned_rows) or not all(is_whole(rows) and rows >= 0 for rows in poisoned_rows):
        raise ParameterError("attack", "poisoned_rows", poisoned_rows, "at least one whole number, none below 0")
    poisoned_rows = [int(rows) for rows in poisoned_rows]
    poison, max_depth = ATTACKS[attack].poison, request.comparison_depth(train.schema)
    lines = []
    for rows in steps(poisoned_rows, progress, stop, at_least=1):
        tables = ((poison(train, rows, generator(child), max_depth), child) for child in child_seeds(seed, runs))
        draws_of_tables = [
            draw(request, table, test, draws=draws, seed=child, workers=workers, stop=stop) for table, child in tables
        ]
        accuracies = np.concatenate([fits.accuracies for fits in draws_of_tables])
        low, high = mean_limits(accuracies, beta / len(poisoned_rows))
        if not request.spec.spends_epsilon:  # nothing of it is random
            low = high = float(accuracies.mean())
        about = {"attack": attack, "learner": request.learner, "epsilon": request.settings.epsilon}
        about |= {"poisoned_rows": rows, "poisoned_share": rows / max(1, train.n_rows)}
        about |= {"accuracy": float(accuracies.mean()), "low": low, "high": high}
        lines.append(about | {"n_draws": len(accuracies)})
    return pd.DataFrame(lines)
