"""Attacks on training rows: what somebody who may add, remove or change a few of them can really do.

An attack takes the clean rows and a number k of additions and removals, and returns the poisoned rows. Changing a label is a
removal and an addition, so k pays for k/2 of them. The attacks know the rows and the ordinary tree grown on them (white box).
Measured curves stand beside the proved ones: an attack shows how bad it gets at least, a bound how bad it can get at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import ParameterError, UnknownName
from dpviz.evaluation.checks import require_classes
from dpviz.evaluation.robustness.certificates import mean_limits
from dpviz.evaluation.robustness.draws import Draws, Progress, Stop, draw
from dpviz.evaluation.robustness.root_attack import move_root
from dpviz.learners import fit, get_learner
from dpviz.models.tree import Branch, Node, Tree
from dpviz.randomness import child_seeds, generator
from dpviz.table.dataset import EncodedDataset

if TYPE_CHECKING:
    import pandas as pd

#: Poisoned rows, k, random generator, depth of the trees that will be grown.
Poison = Callable[[EncodedDataset, int, np.random.Generator, int], EncodedDataset]


@dataclass(frozen=True)
class Attack:
    """One way to poison rows.

    Attributes
    ----------
    name, title, idea : str
        For code, for a list, and one sentence for people.
    poison : callable (clean rows, k, rng, max_depth) -> poisoned rows
        At most k additions and removals away from the clean rows.
    """

    name: str
    title: str
    idea: str
    poison: Poison


def flip_at_random(data: EncodedDataset, rows: int, rng: np.random.Generator, max_depth: int) -> EncodedDataset:
    """Give rows / 2 randomly chosen rows another class."""
    chosen = rng.permutation(data.n_rows)[: rows // 2]
    return _flipped(data, chosen, rng)


def flip_leaves(data: EncodedDataset, rows: int, rng: np.random.Generator, max_depth: int) -> EncodedDataset:
    """Overturn leaves of the ordinary tree, narrowest majority first: about half the majority's lead in labels each.

    Labels are changed at random places inside a leaf, so that no further split finds them. What is left of k goes to the
    next leaf.
    """
    left = min(rows // 2, data.n_rows)
    if not left:
        return data
    chosen: list[np.ndarray] = []
    for members in sorted(_leaves(data, max_depth), key=lambda leaf: _lead(data, leaf)):
        counts = np.bincount(data.target[members], minlength=data.n_classes)
        largest = rng.permutation(members[data.target[members] == counts.argmax()])
        chosen.append(largest[: min(left, _lead(data, members) // 2 + 1)])
        left -= len(chosen[-1])
    return _flipped(data, np.concatenate(chosen), rng)


def _leaves(data: EncodedDataset, max_depth: int) -> Iterator[np.ndarray]:
    """Rows of each leaf of the ordinary tree that hold any."""
    tree = fit("cart", data, epsilon=1.0, max_depth=max_depth, seed=0).model
    assert isinstance(tree, Tree)
    return (rows for rows in _rows_of_leaves(tree.root, data, np.arange(data.n_rows)) if len(rows))


def _rows_of_leaves(node: Node, data: EncodedDataset, rows: np.ndarray) -> Iterator[np.ndarray]:
    if not isinstance(node, Branch):
        yield rows
        return
    left = node.rule.goes_left(data.columns[node.rule.feature][rows])
    yield from _rows_of_leaves(node.left, data, rows[left])
    yield from _rows_of_leaves(node.right, data, rows[~left])


def _lead(data: EncodedDataset, rows: np.ndarray) -> int:
    """Rows by which the largest class of these rows leads the second."""
    counts = np.sort(np.bincount(data.target[rows], minlength=data.n_classes))
    return int(counts[-1] - counts[-2])


def _flipped(data: EncodedDataset, chosen: np.ndarray, rng: np.random.Generator) -> EncodedDataset:
    """The same rows, those with these positions given another class, each with equal chance."""
    target = data.target.copy()
    target[chosen] = (target[chosen] + rng.integers(1, data.n_classes, len(chosen))) % data.n_classes
    return replace(data, target=target.astype(data.target.dtype), report=None, _binnings={})


#: By name, weakest first.
ATTACKS = MappingProxyType(
    {
        attack.name: attack
        for attack in (
            Attack("random-flips", "Random labels", "Gives randomly chosen rows another class.", flip_at_random),
            Attack("leaf-flips", "Labels of chosen leaves", "Overturns the narrowest leaves of the ordinary tree.", flip_leaves),
            Attack("root-rows", "Rows against the root", "Adds rows that make a useless split look best.", move_root),
        )
    }
)


def get_attack(name: str) -> Attack:
    """The attack called `name`; raises UnknownName."""
    if name not in ATTACKS:
        raise UnknownName("attack", name, ATTACKS)
    return ATTACKS[name]


def attack_curve(
    attack: str,
    name: str,
    train: EncodedDataset,
    test: EncodedDataset,
    *,
    epsilon: float,
    poisoned_rows: Sequence[int],
    max_depth: int = 4,
    runs: int = 5,
    draws: int = 100,
    seed: int = 0,
    beta: float = 0.05,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **asked: Any,
) -> pd.DataFrame:
    """Measured accuracy of a learner on clean test rows while an attack poisons its training rows.

    Parameters
    ----------
    attack : str
        A name of ATTACKS.
    name, train, test, epsilon, max_depth, **asked
        As for `dpviz.fit`; the test rows stay clean.
    poisoned_rows : sequence of int
        Numbers of additions and removals.
    runs, draws : int
        The attack is made `runs` times, and the learner drawn `draws` times on each.
    beta : float
        All limits together fail with at most this probability.
    seed, workers, progress, stop
        As for `draw`. After a stop the numbers of rows that are done are returned.

    Returns
    -------
    DataFrame
        Columns attack, learner, epsilon, poisoned_rows, poisoned_share, accuracy, low, high, n_draws. `low` and `high` limit
        the mean over the learner's noise (equal for a learner without noise).
    """
    poison = get_attack(attack).poison
    require_classes(train.schema, "An attack")
    _require(poisoned_rows, runs)
    how: dict[str, Any] = {"draws": draws, "workers": workers, "stop": stop, "epsilon": epsilon, "max_depth": max_depth}
    fits: Callable[..., Draws] = partial(draw, name, **how, **asked)
    measured: list[dict[str, Any]] = []
    for rows in poisoned_rows:
        if measured and stop is not None and stop():
            break
        tables = ((poison(train, rows, generator(child), max_depth), child) for child in child_seeds(seed, runs))
        found = np.concatenate([fits(table, [test], seed=child).of() for table, child in tables])
        low, high = limits(found, name, beta / len(poisoned_rows))
        about = {"attack": attack, "learner": name, "epsilon": epsilon, "poisoned_rows": rows}
        about |= {"poisoned_share": rows / max(1, train.n_rows), "accuracy": float(found.mean()), "low": low, "high": high}
        measured.append(about | {"n_draws": len(found)})
        if progress is not None:
            progress(len(measured) / len(poisoned_rows))
    return _frame(measured)


def limits(found: np.ndarray, name: str, beta: float) -> tuple[float, float]:
    """Limits of the mean of draws of a learner; the mean itself where nothing is drawn by chance."""
    if not get_learner(name).spends_epsilon:
        return float(found.mean()), float(found.mean())
    return mean_limits(found, beta)


def _frame(measured: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(measured)


def _require(poisoned_rows: Sequence[int], runs: int) -> None:
    if not len(poisoned_rows) or any(rows < 0 or int(rows) != rows for rows in poisoned_rows):
        raise ParameterError("attack", "poisoned_rows", poisoned_rows, "at least one whole number, none below 0")
    if int(runs) != runs or runs < 1:
        raise ParameterError("attack", "runs", runs, "a whole number of at least 1")


def distance(first: EncodedDataset, second: EncodedDataset) -> int:
    """Rows to add and remove to get from one table to the other, whatever their order."""
    tables = [np.column_stack([*table.columns, table.target]).astype(np.float64) for table in (first, second)]
    _, kind = np.unique(np.concatenate(tables), axis=0, return_inverse=True)
    kinds = kind.ravel()
    size = int(kinds.max(initial=-1)) + 1
    counts = [np.bincount(part, minlength=size) for part in (kinds[: first.n_rows], kinds[first.n_rows :])]
    return int(np.abs(counts[0] - counts[1]).sum())
