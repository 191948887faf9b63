"""Every learner, every flag, two epsilons: the run behind the table of verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from dpviz.errors import Cancelled, DpvizError
from dpviz.evaluation.audit.by_attack import AuditedBound, audit
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.evaluation.audit.mechanisms import BOX, Choice, ClippedCount, Counts, count_pairs, gap_pairs, verify_mechanism
from dpviz.evaluation.audit.verdicts import Refusal, StoredRun
from dpviz.evaluation.audit.verify import NAMED_PAIRS, QUICK_UNIVERSES, UNIVERSES, Place, verify_each
from dpviz.learners import registry
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.smooth import REASON, SmoothMajority
from dpviz.progress import Stop
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import controls_of
from dpviz.version import VERSION

EPSILONS = (1.0, 0.025)
#: One seed for every audit: whoever repeats the run sees the same numbers.
AUDIT_SEED = 20260101
#: Draws on each data set; fewer for forests, which take longer to draw than to tell apart.
AUDIT_DRAWS, FOREST_DRAWS = 4000, 1000

Tell = Callable[[float, str], None]


def verify_all(*, date: str, quick: bool = False, progress: Tell | None = None, stop: Stop | None = None) -> StoredRun:
    """Verify every registered learner.

    Parameters
    ----------
    date : str
        The day of the run.
    quick : bool
        Smaller universes, and no audits.
    progress : callable (share, text), optional
        Called with what is searched next.
    stop : callable () -> bool, or threading.Event, optional
        Raises Cancelled.
    """
    results: list[AuditResult] = []
    refusals: list[Refusal] = []
    runs = list(_runs())
    for number, (spec, epsilon, params) in enumerate(runs):
        if progress is not None:
            progress(number / len(runs), f"{spec.title} at epsilon {epsilon:g}")
        try:
            results += verify_each(spec, epsilon=epsilon, universes=_places(spec, params, quick), stop=stop, **params)
        except Cancelled:
            raise
        except DpvizError as reason:
            refusals.append(Refusal(spec.name, epsilon, params, str(reason)))
    mechanisms = tuple(mechanism for epsilon in EPSILONS for mechanism in verify_mechanisms(epsilon))
    audits = () if quick else tuple(_audits(stop))
    return StoredRun(VERSION, date, tuple(results), tuple(refusals), mechanisms, audits)


def _places(spec: LearnerSpec, params: dict[str, Any], quick: bool) -> tuple[Place, ...]:
    """Forests are listed whole, run by run, and take smaller universes; without privacy there is little to search for."""
    if not spec.spends_epsilon:
        return (QUICK_UNIVERSES[0],)
    return (*(QUICK_UNIVERSES if quick or "trees" in params else UNIVERSES), *NAMED_PAIRS)


def _runs() -> Iterator[tuple[LearnerSpec, float, dict[str, Any]]]:
    for spec in registry().values():
        for params in ({}, *_flipped(spec), *_single_tree(spec)):
            yield from ((spec, epsilon, params) for epsilon in EPSILONS)


def _flipped(spec: LearnerSpec) -> list[dict[str, Any]]:
    """Each boolean parameter the other way round."""
    default = spec.Params()
    flags = [name for name, about in controls_of(spec.Params).items() if about.kind == "flag"]
    return [{name: not getattr(default, name)} for name in flags]


def _single_tree(spec: LearnerSpec) -> list[dict[str, Any]]:
    """The smallest forest: one tree can be listed where a hundred cannot."""
    trees = controls_of(spec.Params).get("trees")
    return [{"trees": int(max(1, trees.low))}] if trees is not None and trees.kind == "whole" else []


def verify_mechanisms(epsilon: float) -> list[AuditResult]:
    """Bare rules inside learners: selections on counts, a noisy count, and labels by smooth sensitivity."""
    counts = list(count_pairs(3, 6))
    sound: list[tuple[Choice, list[tuple[Counts, Counts]]]] = [
        (PermuteAndFlip(epsilon, COUNT), counts),
        (ExponentialMechanism(epsilon, COUNT), counts),
        (ClippedCount(GeometricNoise(epsilon), BOX), [((n,), (n + 1,)) for n in range(BOX)]),
    ]
    found = [verify_mechanism(mechanism, pairs, claimed=epsilon) for mechanism, pairs in sound]
    smooth = verify_mechanism(
        SmoothMajority(epsilon),
        gap_pairs(range(int(5 / epsilon))),  # beyond, odds leave the floating-point range
        claimed=epsilon,
        composed=math.inf,
        because=f"{REASON[0].upper()}{REASON[1:]}.",
    )
    return [*found, smooth]


def _audits(stop: Stop | None) -> Iterator[AuditedBound]:
    for spec in registry().values():
        draws = FOREST_DRAWS if "trees" in controls_of(spec.Params) or not spec.spends_epsilon else AUDIT_DRAWS
        for params in ({}, *_flipped(spec)):
            try:
                yield audit(spec, epsilon=1.0, seed=AUDIT_SEED, draws=draws, stop=stop, **params)
            except DpvizError:
                continue  # refuses the small table: it is listed among the refusals or verified
