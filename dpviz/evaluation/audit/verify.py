"""Chosen pairs of neighbouring data sets, for flaws that no small universe shows.

A pair is searched as a universe is, node by node along the path of the added row, so the number of rows does not matter.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, NotEnumerable
from dpviz.evaluation.audit.evidence import PUBLIC_ROWS, AuditResult, BoundLearner, WorstPair, spec_of, worst_of
from dpviz.evaluation.audit.exact import MOST_RUNS, NodeLaws, Universe
from dpviz.evaluation.audit.held_out import leaf_partitions, separation_with_held_out
from dpviz.progress import Progress, Stop, part_of, watched
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.contract import LearnerSpec

#: Equal rows times epsilon beside which other labels of them are hardly ever chosen, and their largest number.
_ENOUGH, _MOST_EQUAL = 10, 100
#: Two neighbouring data sets.
Pair = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True)
class CandidatePair:
    """Two neighbouring data sets of features with two categories."""

    title: str  #: In words, as it is printed
    #: Category of each feature, then the class. The second data set has the last row, the first one lacks it.
    rows: tuple[tuple[int, ...], ...]
    depth: int = 1  #: Depth of the trees

    @cached_property
    def schema(self) -> Schema:
        """Declared; n_public is the larger number of rows."""
        return Universe((2,) * (len(self.rows[0]) - 1), max_rows=len(self.rows)).schema

    @cached_property
    def second(self) -> EncodedDataset:
        """The larger data set."""
        table = np.array(self.rows, dtype=np.uint8)
        return EncodedDataset(self.schema, tuple(table[:, f].copy() for f in range(table.shape[1] - 1)), table[:, -1].copy())

    @cached_property
    def first(self) -> EncodedDataset:
        """The smaller data set."""
        return self.second.take(np.arange(len(self.rows) - 1), share=1.0)


def _identical(count: int, *rows: tuple[int, int, int]) -> tuple[tuple[int, ...], ...]:
    """(value, class, how often) with the value in `count` identical columns."""
    return tuple((value,) * count + (label,) for value, label, times in rows for _ in range(times))


COUNTEREXAMPLES = (
    CandidatePair("one row against two rows of different classes, depth 1", ((0, 0, 0), (1, 0, 1))),
    CandidatePair("one row against two rows of different classes, depth 4", ((0, 0, 0), (1, 0, 1)), depth=4),
    CandidatePair("10 against 11 rows of both classes, depth 1", _identical(2, (0, 0, 5), (1, 1, 6))),
    CandidatePair("12 against 13 rows in 4 identical columns, depth 1", _identical(4, (0, 0, 6), (1, 1, 6), (0, 1, 1))),
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


def empty_and_one_row(task: str = "classes") -> Pair:
    """No rows, and one: the label of a leaf without rows is drawn evenly, and one row moves it by all that epsilon allows."""
    target = ClassTarget("class", ("usual", "canary")) if task == "classes" else NumericTarget("value", 0, 1)
    schema = Schema((CategoricalFeature("category", ("a", "b")),), target, n_public=1)
    label = np.ones(1, dtype=np.uint8 if task == "classes" else np.float64)
    second = EncodedDataset(schema, (np.zeros(1, dtype=np.uint8),), label)
    return second.take(np.arange(0), share=1.0), second


def _settled_pair(task: str, others: int) -> Pair:
    _, row = empty_and_one_row(task)
    ends = np.append(np.ones(others, dtype=np.uint8), 0)
    second = EncodedDataset(row.schema, (ends,), (1 - ends).astype(row.target.dtype))
    return second.take(np.arange(others), share=1.0), second


def default_audit_pairs(task: str, epsilon: float) -> tuple[Pair, ...]:
    """Pairs on which mechanisms tell what they are about to the full, each with as many public rows as the typical plan.

    Besides the two above, the row alone on one side of a split, and many on the other: their label is settled, and between trees
    that differ in one label permute-and-flip changes its odds by all of e^epsilon. Where the labels of both sides are open, right
    trees share what the row moves.
    """
    pairs = small_pair(task), empty_and_one_row(task), _settled_pair(task, min(_MOST_EQUAL, math.ceil(_ENOUGH / epsilon)))
    schemas = [replace(first.schema, n_public=PUBLIC_ROWS) for first, _ in pairs]
    return tuple(
        (replace(first, schema=schema), replace(second, schema=schema))
        for schema, (first, second) in zip(schemas, pairs, strict=True)
    )


def verify_pair(
    learner: str | LearnerSpec,
    first: EncodedDataset,
    second: EncodedDataset,
    *,
    epsilon: float = 1.0,
    depth: int = 1,
    title: str = "a pair of data sets",
    **params: Any,
) -> AuditResult:
    """The output with the largest certified log ratio on two given neighbouring data sets.

    For a learner that grows one tree this is the best over all trees; any other learner is listed whole.
    Raises NotEnumerable where the learner holds rows out at random, or its distributions cannot be listed.

    `first`, `second`: of one schema; one has one row more than the other. Raises DpvizError otherwise.
    `epsilon`: claimed privacy loss under add/remove one row.
    `depth`: depth of the trees.
    `title`: the pair in words.
    `**params`: the learner's own parameters.
    """
    require_neighbours(first, second)
    smaller, larger = sorted((first, second), key=lambda data: data.n_rows)
    planned = BoundLearner.of(learner, smaller.schema, epsilon=epsilon, depth=depth, **params)
    if planned.plan.held_out:
        raise NotEnumerable("Rows are held out at random, and pairs are searched without that.", remedy="Search a universe.")
    _, first_places, counts = np.unique(_rows_of(larger), axis=0, return_index=True, return_counts=True)
    kinds = larger.take(first_places, share=1.0)
    added = (Counter(map(tuple, _rows_of(larger).tolist())) - Counter(map(tuple, _rows_of(smaller).tolist()))).popitem()[0]
    kind = _rows_of(kinds).tolist().index(list(added))
    counts[kind] -= 1
    found = NodeLaws(planned, kinds).largest([(tuple(counts.tolist()), kind)])
    if found.pair is not None:
        found = replace(found, pair=WorstPair.of(smaller, larger, found.pair.probabilities))
    return planned.result(found, searched=title, n_sets=2, n_pairs=1)


def require_neighbours(first: EncodedDataset, second: EncodedDataset) -> None:
    """Raise DpvizError unless one data set is the other with one row more."""
    if first.schema != second.schema:
        raise DpvizError("The two data sets have different schemas.", remedy="Encode both by one schema.")
    one, other = (Counter(map(tuple, _rows_of(data).tolist())) for data in (first, second))
    if sorted((sum((one - other).values()), sum((other - one).values()))) != [0, 1]:
        raise DpvizError("The two data sets are not neighbours.", remedy="Add or remove exactly one row.")


def _rows_of(data: EncodedDataset) -> np.ndarray:
    return np.column_stack((*data.columns, data.target))


# --- Exhaustive verification: the exact distribution of outputs on every data set of small universes, against the claim.

# The search is in `exact.py`, what a universe is too; chosen pairs stand above.

#: Where to search.
Place = Universe | CandidatePair

#: The default universes, quickest first.
UNIVERSES = (
    Universe((2, 2), depth=1, max_rows=5),
    Universe((2, 2), depth=2, max_rows=4),
    Universe((3,), numeric=True, depth=2, max_rows=5),
    Universe((3,), n_classes=3, depth=2, max_rows=4),
    Universe((3, 3), depth=2, max_rows=3),
    Universe((2, 2), copies=2, depth=1, max_rows=4),
    Universe((2, 2), copies=4, depth=1, max_rows=4),
    Universe((3,), n_classes=0, depth=1, max_rows=3),
    Universe((2,), n_classes=0, depth=2, max_rows=3),
)

#: Where rows are held out at random, every row has three fates: larger tables would take too long.
MOST_ROWS_HELD_OUT = 3

#: Smaller ones, for quick checks.
QUICK_UNIVERSES = (
    Universe((2, 2), depth=1, max_rows=3),
    Universe((2, 2), depth=2, max_rows=3),
    Universe((3,), numeric=True, depth=2, max_rows=3),
)


def verify(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    universes: tuple[Place, ...] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> AuditResult:
    """Search every data set of small universes and return the worst that was found.

    Parameters
    ----------
    learner : str or LearnerSpec
        One of `learner_names()`.
    epsilon : float
        Claimed privacy loss under add/remove one row, in [0.001, 20].
    universes : tuple of Universe and CandidatePair, optional
        Where to search; by default `UNIVERSES` and `COUNTEREXAMPLES`. Those that cannot be listed for this learner are left out.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, optional
        Asked between data sets; raises Cancelled.
    **params
        The learner's own parameters.

    Raises
    ------
    NotEnumerable
        The distributions cannot be listed on any of the universes.
    """
    return worst_of(verify_each(learner, epsilon=epsilon, universes=universes, progress=progress, stop=stop, **params))


def verify_each(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    universes: tuple[Place, ...] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> list[AuditResult]:
    """As `verify`, one result per universe or pair that could be searched."""
    spec = spec_of(learner)
    places = universes or (*UNIVERSES, *COUNTEREXAMPLES)
    results: list[AuditResult] = []
    refused: list[NotEnumerable] = []
    for number, place in enumerate(places):
        tick = watched(part_of(progress, number, len(places)), stop)
        tick(0.0)
        try:
            results.append(_search(spec, epsilon, place, params, tick))
        except NotEnumerable as reason:
            refused.append(reason)
    if not results:
        raise refused[-1]
    if progress is not None:
        progress(1.0)
    return results


def _search(spec: LearnerSpec, epsilon: float, place: Place, given: dict[str, Any], tick: Progress) -> AuditResult:
    if isinstance(place, CandidatePair):
        return verify_pair(spec, place.first, place.second, epsilon=epsilon, depth=place.depth, title=place.title, **given)
    planned = BoundLearner.of(spec, place.schema, epsilon=epsilon, depth=place.depth, **given)
    if planned.plan.held_out:
        place = replace(place, max_rows=min(place.max_rows, MOST_ROWS_HELD_OUT))
    n_sets, n_pairs = len(place.keys), int((place.plus_one >= 0).sum())

    def laws(universe: Universe, tick: Progress = lambda share: None) -> NodeLaws:
        on = planned if universe is place else BoundLearner.of(spec, universe.schema, epsilon=epsilon, depth=place.depth, **given)
        n_laws = n_sets * (place.depth + 1)
        return NodeLaws(on, universe.kinds, most_runs=MOST_RUNS / len(universe.keys), tick=tick, expected=n_laws)

    if planned.plan.held_out:
        single = replace(place, max_rows=1)  # what cannot be searched is refused here, before much is listed
        leaf_partitions(single, laws(single), n_pairs)
        found = separation_with_held_out(place, laws(place, tick), planned.plan.held_out)
    else:
        smaller, kinds = np.nonzero(place.plus_one >= 0)
        found = laws(place, tick).largest(zip(map(tuple, place.counts[smaller].tolist()), kinds.tolist(), strict=True))
    return planned.result(found, searched=place.title, n_sets=n_sets, n_pairs=n_pairs)
