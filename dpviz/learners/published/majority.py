"""Majority: the most frequent class, chosen privately. The baseline that a tree must beat.

One row more raises one count by one, so counts have sensitivity 1 and are monotone: one permute-and-flip costs epsilon.

Source: McKenna & Sheldon 2020 (permute-and-flip on counts).
"""

from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.tree import Constant
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims
from dpviz.training.counted_rows import Rows
from dpviz.training.params import NoParams, Settings

NAME = "majority"


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """All of epsilon buys one label."""
    return BudgetPlan(settings.epsilon, 0, (Share("leaf", 0, settings.epsilon, set_by="rule: one label"),))


def fit(data: Rows, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """One permute-and-flip on the class counts."""
    chosen = PermuteAndFlip(plan.epsilon, COUNT).release(data.class_counts(), source=source, part="leaf", level=0)
    return FitOutput(Constant(data.schema, chosen.value), chosen.event)


LEARNER = LearnerSpec(
    name=NAME,
    title="Majority class",
    idea="Predicts one class for everybody.",
    citation="McKenna & Sheldon 2020",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "McKenna & Sheldon 2020",
        "holds",
        "One permute-and-flip on counts.",
        evidence="dpviz/learners/published/majority.py; McKenna & Sheldon 2020",
    ),
    role="baseline",
    counts=frozenset({"classes"}),
)
