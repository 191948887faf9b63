"""Exhaustive verification: the exact distribution of outputs on every data set of small universes, against the claim.

The search is in `exact.py`, what a universe is in `universe.py`; chosen pairs are in `candidate_pairs.py`.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.errors import NotEnumerable
from dpviz.evaluation.audit.candidate_pairs import COUNTEREXAMPLES, CandidatePair, verify_pair
from dpviz.evaluation.audit.exact import MOST_RUNS, NodeLaws
from dpviz.evaluation.audit.findings import AuditResult, worst_of
from dpviz.evaluation.audit.held_out_parts import partings, separation_with_held_out
from dpviz.evaluation.audit.planned import PlannedLearner, spec_of
from dpviz.evaluation.audit.universe import Universe
from dpviz.progress import Progress, Stop, part_of, watched
from dpviz.training.contract import LearnerSpec

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
    planned = PlannedLearner.of(spec, place.schema, epsilon=epsilon, depth=place.depth, **given)
    if planned.plan.held_out:
        place = replace(place, max_rows=min(place.max_rows, MOST_ROWS_HELD_OUT))
    n_sets, n_pairs = len(place.keys), int((place.plus_one >= 0).sum())

    def laws(universe: Universe, tick: Progress = lambda share: None) -> NodeLaws:
        on = (
            planned
            if universe is place
            else PlannedLearner.of(spec, universe.schema, epsilon=epsilon, depth=place.depth, **given)
        )
        n_laws = n_sets * (place.depth + 1)
        return NodeLaws(on, universe.kinds, most_runs=MOST_RUNS / len(universe.keys), tick=tick, expected=n_laws)

    if planned.plan.held_out:
        single = replace(place, max_rows=1)  # what cannot be searched is refused here, before much is listed
        partings(single, laws(single), n_pairs)
        found = separation_with_held_out(place, laws(place, tick), planned.plan.held_out)
    else:
        smaller, kinds = np.nonzero(place.plus_one >= 0)
        found = laws(place, tick).largest(zip(map(tuple, place.counts[smaller].tolist()), kinds.tolist(), strict=True))
    composed = planned.composed(place.kinds, place.dataset(0))
    return planned.result(found, composed, searched=place.title, n_sets=n_sets, n_pairs=n_pairs)
