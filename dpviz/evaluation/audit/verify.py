"""Exhaustive verification: the exact distribution of whole outputs on every data set of small universes, against the claim.

How the largest log ratio is found stands in `worst.py` (universes) and `named_pairs.py` (chosen pairs).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpviz.errors import Cancelled, NotEnumerable
from dpviz.evaluation.audit.distributions import Tick, level_distributions
from dpviz.evaluation.audit.findings import AuditResult, Finding, Separation, WorstPair, judge, worst_of
from dpviz.evaluation.audit.named_pairs import NAMED_PAIRS, NamedPair, verify_pair
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.evaluation.audit.universe import Universe
from dpviz.evaluation.audit.worst import separation
from dpviz.learners import get_learner
from dpviz.training.contract import LearnerSpec

__all__ = [
    "AuditResult",
    "Finding",
    "NAMED_PAIRS",
    "Place",
    "QUICK_UNIVERSES",
    "Separation",
    "UNIVERSES",
    "Universe",
    "WorstPair",
    "judge",
    "verify",
    "verify_each",
    "verify_pair",
]

#: Where a learner is searched.
Place = Universe | NamedPair

#: Where learners are searched, quickest first.
UNIVERSES = (
    Universe((2, 2), depth=1, max_rows=5),
    Universe((2, 2), depth=2, max_rows=4),
    Universe((3,), numeric=True, depth=2, max_rows=5),
    Universe((3,), n_classes=3, depth=2, max_rows=4),
    Universe((3, 3), depth=2, max_rows=3),
    Universe((2, 2), copies=2, depth=1, max_rows=4),
    Universe((2, 2), copies=4, depth=1, max_rows=4),
)

#: Small ones, for a check at every change.
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
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **params: Any,
) -> AuditResult:
    """Search every data set of small universes and return the worst that was found.

    Parameters
    ----------
    learner : str or LearnerSpec
        One of `learner_names()`.
    epsilon : float
        Claimed privacy loss under add/remove one row, in [0.001, 20].
    universes : tuple of Universe and NamedPair, optional
        Where to search; by default `UNIVERSES` and `NAMED_PAIRS`. Those that cannot be listed for this learner are left out.
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
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **params: Any,
) -> list[AuditResult]:
    """As `verify`, one result per universe or pair that could be searched."""
    spec = get_learner(learner) if isinstance(learner, str) else learner
    places = universes or (*UNIVERSES, *NAMED_PAIRS)
    results: list[AuditResult] = []
    refused: list[NotEnumerable] = []
    for number, place in enumerate(places):
        tick = partial(_tick, progress, stop, number, len(places))
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


def _tick(
    progress: Callable[[float], None] | None, stop: Callable[[], bool] | None, number: int, places: int, share: float
) -> None:
    if stop is not None and stop():
        raise Cancelled
    if progress is not None:
        progress((number + share) / places)


def _search(spec: LearnerSpec, epsilon: float, place: Place, given: dict[str, Any], tick: Tick) -> AuditResult:
    if isinstance(place, NamedPair):
        return verify_pair(spec, place.first, place.second, epsilon=epsilon, depth=place.depth, title=place.title, **given)
    planned = PlannedLearner.of(spec, place.schema, epsilon=epsilon, depth=place.depth, given=given)
    found = separation(place, level_distributions(planned, place, tick))
    n_sets, n_pairs = len(place.keys), int((place.plus_one >= 0).sum())
    composed = planned.composed(place.kinds, place.dataset(0))
    return planned.result(found, composed, searched=place.title, n_sets=n_sets, n_pairs=n_pairs)
