"""The shares of epsilon that a learner lets one move: its automatic choice, and others to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product
from typing import Any

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import Cancelled
from dpviz.evaluation.metrics import NORMAL_95
from dpviz.evaluation.repeat import Workers, fit_each
from dpviz.learners import FitRequest, require_task
from dpviz.progress import Progress, Stop
from dpviz.randomness import child_seeds
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.table.validation import validate_count
from dpviz.training.params import controls_of

#: Steps from 0 to 1 on the map.
STEPS = 10
#: With more than three parts, level l gets a share proportional to growth^l, for each of these.
GROWTHS = (0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0)

Shares = tuple[float, ...]


@dataclass(frozen=True)
class MovableShares:
    """The shares of one learner, everything else being fixed."""

    request: FitRequest  #: What is trained, with the automatic shares
    parameter: str  #: The learner's parameter that takes the shares
    parts: tuple[str, ...]  #: What each share is spent on; for levels "depth 0", "depth 1 and 2", ...
    by_level: bool  #: The parts are the levels of the tree
    automatic: Shares  #: The choice of the learner's public rule; sums to 1
    levels: tuple[int, ...]  #: Of how many levels each part is; 1 where parts are no levels

    @classmethod
    def of(cls, request: FitRequest, schema: Schema) -> MovableShares | None:
        """The shares of a learner; None when it has none, or only one. Raises what the learner's plan raises."""
        require_task(request.spec, schema)
        controls = {name: about for name, about in controls_of(request.spec.Params).items() if about.kind == "shares"}
        if not controls:
            return None
        parameter, about = next(iter(controls.items()))
        request = request.at(**{parameter: None})
        plan = request.plan(schema)
        levels = (1,) * len(about.parts) or tuple(share.levels for share in plan.shares if share.level is not None)
        starts = accumulate((0, *levels[:-1]))
        parts = about.parts or tuple(
            f"depth {level}" + f" and {level + 1}" * (size > 1) for level, size in zip(starts, levels, strict=True)
        )
        if len(parts) < 2:
            return None
        return cls(request, parameter, parts, not about.parts, _automatic_shares(plan, about.parts), levels)

    def weights(self, shares: Shares) -> Shares:
        """What the parameter takes: levels that are chosen together pay the sum of theirs, so each is given an equal part."""
        return tuple(share / size for share, size in zip(shares, self.levels, strict=True) for _ in range(size))

    def of_weights(self, weights: Shares) -> Shares:
        """The inverse of `weights`."""
        ends = accumulate(self.levels)
        return tuple(sum(weights[end - size : end]) for end, size in zip(ends, self.levels, strict=True))

    def request_with(self, shares: Shares) -> FitRequest:
        """The request with these shares."""
        return self.request.at(**{self.parameter: self.weights(shares)})

    @property
    def points(self) -> tuple[Shares, ...]:
        """Shares to try: a grid in the triangle (or on the line), or by GROWTHS when there are more than three parts."""
        return share_points(len(self.parts)) if len(self.parts) <= 3 else tuple(level_shares(g, len(self.parts)) for g in GROWTHS)


def _automatic_shares(plan: BudgetPlan, parts: Sequence[str]) -> Shares:
    """The shares of a plan, summing to 1: per named part, or per level without names.

    Epsilon is counted as in the claim: once per group of features, so only the first group counts. Steps that belong to no named
    part go to "node".
    """
    groups = [share.group for share in plan.shares if share.group]
    plan_shares = [share for share in plan.shares if share.group in ("", *groups[:1])]
    if parts:
        keys = [share.part if share.part in parts else "node" for share in plan_shares]
    else:
        keys = [str(min(share.level or 0, plan.depth - 1)) for share in plan_shares]
        parts = sorted(set(keys), key=int)
    sums = [sum(share.epsilon for share, key in zip(plan_shares, keys, strict=True) if key == part) for part in parts]
    return tuple(value / sum(sums) for value in sums)


def share_points(n_parts: int) -> tuple[Shares, ...]:
    """All ways to divide 1 into `n_parts` positive multiples of 1/STEPS."""
    grids = product(range(1, STEPS), repeat=n_parts - 1)
    return tuple(tuple(k / STEPS for k in (*head, STEPS - sum(head))) for head in grids if sum(head) < STEPS)


def level_shares(growth: float, depth: int) -> Shares:
    """Shares proportional to growth^level, summing to 1."""
    weights = [growth**level for level in range(depth)]
    return tuple(weight / sum(weights) for weight in weights)


# --- The share map: the accuracy of a tree as the shares of its epsilon are moved.

# Accuracy is on the training rows, averaged over draws, as in Figure 2 of Vos et al. 2023 (arXiv 2305.15394). The k-th draw has
# the same seed at every point, so that differences are less noisy than the points themselves. Computed from many trees and from
# exact rows: for simulated and public rows only.

_CHUNK = 2


@dataclass(frozen=True)
class ShareMap:
    """Training accuracy at every point, draw by draw."""

    movable: MovableShares
    #: Rows trained on. Private.
    n_rows: int
    points: tuple[Shares, ...]
    scores: np.ndarray = field(repr=False)  #: Shape (n_points, n_draws), read-only
    n_asked: int  #: Draws asked for; more than `n_draws` after a stop

    def __post_init__(self) -> None:
        self.scores.flags.writeable = False

    @property
    def n_draws(self) -> int:
        """Draws done."""
        return self.scores.shape[1]

    @property
    def means(self) -> np.ndarray:
        """Mean accuracy per point."""
        return self.scores.mean(axis=1)

    @property
    def errors(self) -> np.ndarray:
        """Standard error of each mean; NaN with a single draw."""
        return standard_error(self.scores)

    @property
    def best(self) -> int:
        """Position of the highest mean."""
        return int(self.means.argmax())

    @property
    def as_good(self) -> tuple[int, ...]:
        """Points statistically tied with the best: the 95% interval of the paired difference holds 0."""
        behind = self.scores[self.best] - self.scores
        limit = NORMAL_95 * np.nan_to_num(standard_error(behind), nan=np.inf)
        return tuple(np.flatnonzero(behind.mean(axis=1) <= limit).tolist())

    def nearest(self, shares: Shares) -> int:
        """Position of the point closest to these shares."""
        whole = np.array(shares) / sum(shares)
        return int(np.square(np.array(self.points) - whole).sum(axis=1).argmin())


def standard_error(scores: np.ndarray) -> np.ndarray:
    """Standard error of the mean along the last axis; NaN with fewer than two."""
    count = scores.shape[-1]
    return scores.std(axis=-1, ddof=1) / np.sqrt(count) if count > 1 else np.full(scores.shape[:-1], np.nan)


def share_map(
    movable: MovableShares,
    data: EncodedDataset,
    *,
    draws: int = 50,
    seed: int,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> ShareMap:
    """Accuracy on the training rows at every point.

    `draws`: draws per point, at least 1.
    `seed`: repeatable; the k-th draw does not depend on `draws` or `workers`.
    `stop`: asked between draws. The draws done so far are kept; raises Cancelled when there are none.
    """
    draws = validate_count("the budget lab", "draws", draws)
    requests = list(map(movable.request_with, movable.points))
    plans = [_identity(request.plan(data.schema)) for request in requests]
    firsts = list(map(plans.index, plans))  # the same plan is fitted once
    distinct = sorted(set(firsts))
    how: dict[str, Any] = {"workers": workers, "progress": progress, "stop": stop}
    scores_of_draws = fit_each([requests[at] for at in distinct], data, child_seeds(seed, draws), FitResult.score, _CHUNK, **how)
    if not scores_of_draws:
        raise Cancelled
    scores = np.array(scores_of_draws).T[[distinct.index(first) for first in firsts]]
    return ShareMap(movable, data.n_rows, movable.points, scores, draws)


def _identity(plan: BudgetPlan) -> tuple[Any, ...]:
    return tuple((share.part, share.level, share.group, f"{share.epsilon:.9g}") for share in plan.shares)
