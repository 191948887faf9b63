"""The shares of epsilon that a learner lets one move: its automatic choice, and others to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from dpviz.accounting.plan import BudgetPlan
from dpviz.learners import get_learner, require_task
from dpviz.table.schema import Schema
from dpviz.training.params import Settings, controls_of, make_params

#: Steps from 0 to 1 on the map; "one step more" of a share is one of them.
STEPS = 10
#: With more than three parts, level l gets a share proportional to growth^l, for each of these.
GROWTHS = (0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0)

Shares = tuple[float, ...]


@dataclass(frozen=True)
class MovableShares:
    """The shares of one learner, everything else being fixed."""

    #: learner, parameter: the learner's parameter that takes the shares.
    learner: str
    parameter: str
    parts: tuple[str, ...]  #: What each share is spent on; for levels "depth 0", "depth 1", ...
    by_level: bool  #: The parts are the levels of the tree
    #: settings, params: the other arguments of `fit`: epsilon, max_depth, depth; the learner's own without the shares.
    settings: Mapping[str, Any]
    params: Mapping[str, Any]
    automatic: Shares  #: The choice of the learner's public rule; sums to 1

    @classmethod
    def of(cls, learner: str, schema: Schema, settings: Mapping[str, Any], params: Mapping[str, Any]) -> MovableShares | None:
        """The shares of a learner; None when it has none, or only one. Raises what the learner's plan raises."""
        spec = get_learner(learner)
        require_task(spec, schema)
        named = {name: about for name, about in controls_of(spec.Params).items() if about.kind == "shares"}
        if not named:
            return None
        parameter, about = next(iter(named.items()))
        others = {name: value for name, value in params.items() if name != parameter}
        plan = spec.plan(schema, Settings(**settings), make_params(spec.Params, learner, others))
        parts = about.parts or tuple(f"depth {level}" for level in range(plan.depth))
        if len(parts) < 2:
            return None
        automatic = automatic_shares(plan, about.parts)
        return cls(learner, parameter, parts, not about.parts, dict(settings), others, automatic)

    def asked(self, shares: Shares) -> dict[str, Any]:
        """Keyword arguments of `fit` with these shares."""
        return {**self.settings, **self.params, self.parameter: shares}

    def plan(self, schema: Schema, shares: Shares) -> BudgetPlan:
        """The plan with these shares."""
        spec = get_learner(self.learner)
        params = make_params(spec.Params, self.learner, {**self.params, self.parameter: shares})
        return spec.plan(schema, Settings(**self.settings), params)

    @property
    def points(self) -> tuple[Shares, ...]:
        """Shares to try: a grid in the triangle (or on the line), or by GROWTHS when there are more than three parts."""
        return share_points(len(self.parts)) if len(self.parts) <= 3 else tuple(level_shares(g, len(self.parts)) for g in GROWTHS)


def automatic_shares(plan: BudgetPlan, parts: Sequence[str]) -> Shares:
    """The shares of a plan, summing to 1: per named part, or per level without names.

    Epsilon is counted as in the claim: once per group of features, so only the first group counts. Steps that belong to no named
    part go to "node".
    """
    groups = [share.group for share in plan.shares if share.group]
    counted = [share for share in plan.shares if share.group in ("", *groups[:1])]
    if parts:
        keys = [share.part if share.part in parts else "node" for share in counted]
    else:
        parts = [str(level) for level in range(plan.depth)]
        keys = [str(min(share.level or 0, plan.depth - 1)) for share in counted]
    sums = [sum(share.epsilon for share, key in zip(counted, keys, strict=True) if key == part) for part in parts]
    return tuple(value / sum(sums) for value in sums)


def share_points(n_parts: int, steps: int = STEPS) -> tuple[Shares, ...]:
    """All ways to divide 1 into `n_parts` positive multiples of 1/steps."""
    grids = product(range(1, steps), repeat=n_parts - 1)
    return tuple(tuple(k / steps for k in (*head, steps - sum(head))) for head in grids if sum(head) < steps)


def level_shares(growth: float, depth: int) -> Shares:
    """Shares proportional to growth^level, summing to 1."""
    weights = [growth**level for level in range(depth)]
    return tuple(weight / sum(weights) for weight in weights)
