"""Exhaustive search: exact laws of outputs on every data set of small universes, and on chosen pairs, against the claim.

The search is in `exact.py`. A pair is searched as a universe is, node by node along the path of the added row, so the number of
rows does not matter: pairs show flaws that no small universe does.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError, UnsupportedError
from dpviz.evaluation.audit.evidence import PUBLIC_ROWS, AuditResult, BoundLearner, spec_of, worst_of
from dpviz.evaluation.audit.exact import MAX_RUNS, Counts, NodeLaws, Universe
from dpviz.evaluation.audit.held_out import leaf_partitions, separation_with_held_out
from dpviz.progress import Progress, Stop, part_of, watch
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.contract import LearnerSpec

#: Equal rows times epsilon beside which other labels of them are hardly ever chosen, and their largest number.
_EQUAL_ROWS_TIMES_EPSILON, _MAX_EQUAL_ROWS = 10, 100
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
    def kinds(self) -> EncodedDataset:
        """One row of every kind."""
        table = np.unique(np.array(self.rows, dtype=np.uint8), axis=0)
        return EncodedDataset(self.schema, tuple(table.T[:-1].copy()), table[:, -1].copy())

    @property
    def starts(self) -> list[tuple[Counts, int]]:
        """How often each kind occurs in the first data set, and the kind of the row that is added."""
        table = np.array(self.rows)
        _, places, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        added = int(places[-1])
        counts[added] -= 1
        return [(tuple(counts.tolist()), added)]


def _identical(count: int, *rows: tuple[int, int, int]) -> tuple[tuple[int, ...], ...]:
    """(value, class, how often) with the value in `count` identical columns."""
    return tuple((value,) * count + (label,) for value, label, times in rows for _ in range(times))


COUNTEREXAMPLES = (
    CandidatePair("one row against two rows of different classes, depth 1", ((0, 0, 0), (1, 0, 1))),
    CandidatePair("one row against two rows of different classes, depth 4", ((0, 0, 0), (1, 0, 1)), depth=4),
    CandidatePair("10 against 11 rows of both classes, depth 1", _identical(2, (0, 0, 5), (1, 1, 6))),
    CandidatePair("12 against 13 rows in 4 identical columns, depth 1", _identical(4, (0, 0, 6), (1, 1, 6), (0, 1, 1))),
)


def _pair(task: str, labels: list[int], *columns: list[int], whole: bool = False) -> Pair:
    """Data sets of these rows without the last one and with it; as many public rows as the typical plan."""
    number = (NumericFeature("number", 0, 1, whole=True),) if whole else ()
    target = ClassTarget("class", ("usual", "canary")) if task == "classes" else NumericTarget("value", 0, 1)
    schema = Schema((*number, CategoricalFeature("category", ("a", "b"))), target, n_public=PUBLIC_ROWS)
    codes = tuple(
        np.array(column, dtype=np.int32 if isinstance(feature, NumericFeature) else np.uint8)
        for feature, column in zip(schema.features, columns, strict=True)
    )
    second = EncodedDataset(schema, codes, np.array(labels, dtype=np.uint8 if task == "classes" else np.float64))
    return second.take(np.arange(len(labels) - 1), share=1.0), second


def small_pair(task: str = "classes") -> Pair:
    """Three equal rows, and the same with a canary at the other end of both features and of the target.

    With few rows and few candidate splits a learner reveals the canary most clearly.
    """
    ends = [0, 0, 0, 1]
    return _pair(task, ends, ends, ends, whole=True)


def empty_and_one_row(task: str = "classes") -> Pair:
    """No rows, and one: the label of a leaf without rows is drawn evenly, and one row moves it by all that epsilon allows."""
    return _pair(task, [1], [0])


def default_audit_pairs(task: str, epsilon: float) -> tuple[Pair, ...]:
    """Pairs on which mechanisms tell what they are about to the full.

    Besides the two above, the row alone on one side of a split, and many on the other: their label is settled, and between trees
    that differ in one label permute-and-flip changes its odds by all of e^epsilon. Where the labels of both sides are open, right
    trees share what the row moves.
    """
    others = min(_MAX_EQUAL_ROWS, math.ceil(_EQUAL_ROWS_TIMES_EPSILON / epsilon))
    return small_pair(task), empty_and_one_row(task), _pair(task, [0] * others + [1], [1] * others + [0])


def opposed_row(task: str = "classes") -> Pair:
    """Two equal rows, and the same with a canary that differs from them in the target alone.

    Boosting learns theirs, so the gradient of the canary stays as large as it may be, round after round.
    """
    return _pair(task, [0, 0, 1], [0, 0, 0])


def require_neighbours(first: EncodedDataset, second: EncodedDataset) -> None:
    """Raise DpvizError unless one data set is the other with one row more."""
    if first.schema != second.schema:
        raise DpvizError("The two data sets have different schemas.", remedy="Encode both by one schema.")
    one, other = (Counter(zip(*data.columns, data.target, strict=True)) for data in (first, second))
    if sorted((sum((one - other).values()), sum((other - one).values()))) != [0, 1]:
        raise DpvizError("The two data sets are not neighbours.", remedy="Add or remove exactly one row.")


#: Where to search.
SearchSpace = Universe | CandidatePair

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
MAX_ROWS_HELD_OUT = 3

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
    universes: tuple[SearchSpace, ...] | None = None,
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

    Returns
    -------
    AuditResult
        The largest loss, an output and a pair of tables that have it: certain for what was listed, and for nothing else.

    Raises
    ------
    UnsupportedError
        The distributions cannot be listed on any of the universes.
    ParameterError
        A parameter is not the learner's own, or not as it may be.
    """
    return worst_of(verify_each(learner, epsilon=epsilon, universes=universes, progress=progress, stop=stop, **params))


def verify_each(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    universes: tuple[SearchSpace, ...] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> list[AuditResult]:
    """As `verify`, one result per universe or pair that could be searched."""
    spec = spec_of(learner)
    for name in params.keys() & {"schema", "depth", "max_depth", "test_share"}:
        raise ParameterError("verify", name, params[name], "left out: verification sets it")
    places = universes or (*UNIVERSES, *COUNTEREXAMPLES)
    results: list[AuditResult] = []
    refused: list[UnsupportedError] = []
    for number, place in enumerate(places):
        tick = watch(part_of(progress, number, len(places)), stop)
        tick(0.0)
        try:
            results.append(_search(spec, epsilon, place, params, tick))
        except UnsupportedError as reason:
            refused.append(reason)
    if not results:
        raise refused[-1]
    if progress is not None:
        progress(1.0)
    return results


def _search(spec: LearnerSpec, epsilon: float, place: SearchSpace, params: dict[str, Any], tick: Progress) -> AuditResult:
    planned = BoundLearner.of(spec, place.schema, epsilon=epsilon, depth=place.depth, **params)
    held_out = planned.plan.held_out
    if isinstance(place, CandidatePair):
        if held_out:
            raise UnsupportedError(
                "Rows are held out at random, and pairs are searched without that.", remedy="Search a universe."
            )
        n_sets, max_runs = 2, float(MAX_RUNS)
    else:
        place = replace(place, max_rows=min(place.max_rows, MAX_ROWS_HELD_OUT)) if held_out else place
        n_sets = len(place.keys)
        max_runs = MAX_RUNS / n_sets
    starts = place.starts
    laws = NodeLaws(planned, place.kinds, max_runs=max_runs, tick=tick, expected=n_sets * (place.depth + 1))
    if isinstance(place, Universe) and held_out:
        single = replace(place, max_rows=1)  # what cannot be searched is refused here, before much is listed
        alone = BoundLearner.of(spec, single.schema, epsilon=epsilon, depth=place.depth, **params)
        leaf_partitions(single, NodeLaws(alone, single.kinds), len(starts))
        worst = separation_with_held_out(place, laws, held_out)
    else:
        worst = laws.largest(starts)
    return planned.result(worst, searched=place.title, n_sets=n_sets, n_pairs=len(starts))
