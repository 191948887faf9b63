"""Exhaustive verification: the exact distribution of outputs on every data set of small universes, against the claim.

The largest log ratio is found in `worst.py` (universes) and `named_pairs.py` (chosen pairs).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dpviz.errors import Cancelled, NotEnumerable
from dpviz.evaluation.audit.distributions import Tick, level_distributions
from dpviz.evaluation.audit.findings import AuditResult, worst_of
from dpviz.evaluation.audit.named_pairs import NAMED_PAIRS, NamedPair, verify_pair
from dpviz.evaluation.audit.planned import PlannedLearner, spec_of
from dpviz.evaluation.audit.universe import Universe
from dpviz.evaluation.audit.worst import separation
from dpviz.progress import Progress, Stop, is_stopped, part_of
from dpviz.training.contract import LearnerSpec

#: Where to search.
Place = Universe | NamedPair

#: The default universes, quickest first.
UNIVERSES = (
    Universe((2, 2), depth=1, max_rows=5),
    Universe((2, 2), depth=2, max_rows=4),
    Universe((3,), numeric=True, depth=2, max_rows=5),
    Universe((3,), n_classes=3, depth=2, max_rows=4),
    Universe((3, 3), depth=2, max_rows=3),
    Universe((2, 2), copies=2, depth=1, max_rows=4),
    Universe((2, 2), copies=4, depth=1, max_rows=4),
)

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
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> list[AuditResult]:
    """As `verify`, one result per universe or pair that could be searched."""
    spec = spec_of(learner)
    places = universes or (*UNIVERSES, *NAMED_PAIRS)
    results: list[AuditResult] = []
    refused: list[NotEnumerable] = []
    for number, place in enumerate(places):
        tick = partial(_tick, part_of(progress, number, len(places)), stop)
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


def _tick(progress: Progress | None, stop: Stop | None, share: float) -> None:
    if is_stopped(stop):
        raise Cancelled
    if progress is not None:
        progress(share)


def _search(spec: LearnerSpec, epsilon: float, place: Place, given: dict[str, Any], tick: Tick) -> AuditResult:
    if isinstance(place, NamedPair):
        return verify_pair(spec, place.first, place.second, epsilon=epsilon, depth=place.depth, title=place.title, **given)
    planned = PlannedLearner.of(spec, place.schema, epsilon=epsilon, depth=place.depth, given=given)
    found = separation(place, level_distributions(planned, place, tick))
    n_sets, n_pairs = len(place.keys), int((place.plus_one >= 0).sum())
    composed = planned.composed(place.kinds, place.dataset(0))
    return planned.result(found, composed, searched=place.title, n_sets=n_sets, n_pairs=n_pairs)
