"""Noisy mean: one number for everyone. The baseline that a private regression must beat.

Every value becomes a whole number: its distance from the middle of the declared range, in steps of half the range / 2^20. One row
changes the sum by at most 2^20 steps, so the sum gets geometric noise of that sensitivity, which can be sampled exactly. Divided
by the public row count (or by a noisy one that costs half of epsilon), it is the mean, clipped to the declared range.

Source: Ghosh, Roughgarden & Sundararajan 2009 (the noise); Kirschte et al. 2023 (DPMean, its baseline).
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import sequence
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.tree import NumberLeaf, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.contract import FitOutput, LearnerSpec, n_public_of
from dpviz.training.counted_rows import Rows, counter_of
from dpviz.training.params import Settings, flag

NAME = "dp-mean"
#: Steps of the fixed-point grid between the middle and either end of the declared range.
STEPS = 2**20


@dataclass(frozen=True, slots=True)
class Params:
    """What the sum is divided by."""

    count_rows: bool = flag(False, "Count the rows", "Half of ε buys a noisy row count, instead of the declared one.")


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon for one sum, or half of it for the sum and half for a row count."""
    if params.count_rows:
        half = settings.epsilon / 2
        shares = (Share("leaf", 0, half, set_by="rule: one sum"), Share("count", None, half, set_by="rule: one count"))
        return BudgetPlan(settings.epsilon, 0, shares)
    n_public_of(schema, NAME, "let it buy a noisy one (count_rows=True)")
    return BudgetPlan(settings.epsilon, 0, (Share("leaf", 0, settings.epsilon, set_by="rule: one number"),))


def fit(data: Rows, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """The noisy sum over the row count."""
    target = data.schema.target
    assert isinstance(target, NumericTarget)
    rows, (middle, half) = counter_of(data), middle_of(target)
    (exact,) = rows.sums(partial(steps_of, target), NumberLeaf(0.0), None, 0)
    noise = GeometricNoise(plan.of("leaf", 0), l1=STEPS)
    total = noise.release(exact, source=source, part="leaf", level=0)
    n_rows, events = data.schema.n_public or 1, [total.event]
    if for_count := plan.of("count"):
        counted = GeometricNoise(for_count).release(np.array([rows.n_rows]), source=source, part="count")
        n_rows = max(1, int(counted.value[0]))
        events.append(counted.event)
    mean = middle + half * min(1.0, max(-1.0, int(total.value[0]) / (STEPS * n_rows)))
    return FitOutput(Tree(data.schema, NumberLeaf(float(mean))), sequence(*events))


def middle_of(target: NumericTarget) -> tuple[float, float]:
    """The middle of the declared range, and half of it."""
    return target.low / 2 + target.high / 2, target.high / 2 - target.low / 2


def steps_of(target: NumericTarget, numbers: np.ndarray, leaf: np.ndarray) -> np.ndarray:
    """What rows add to the sum: their distances from the middle in steps, int64 of shape (n_rows, 1)."""
    middle, half = middle_of(target)
    return np.floor(np.clip((numbers - middle) / half, -1, 1) * STEPS + 0.5).astype(np.int64)[:, None]


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Epsilon, and it holds."""
    because = "Geometric noise on one sum" + (" and one count." if params.count_rows else ", divided by a public row count.")
    evidence = "dpviz/learners/published/dp_mean.py; Ghosh et al. 2009"
    return Claim(plan.epsilon, "Ghosh, Roughgarden & Sundararajan 2009", "holds", because, evidence=evidence)


LEARNER = LearnerSpec(
    name=NAME,
    title="Noisy mean",
    idea="Predicts one number for everybody.",
    citation="Kirschte et al. 2023",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
    task="number",
    role="baseline",
    counts=frozenset({"sums"}),
)
