"""List the learners: what each does, what its source claims under add/remove one row, and what really holds.

Verdicts: "holds" (proved, no counterexample found), "unproven" (its steps add up to more than it claims), "violated"
(a counterexample is known), "none" (nothing is claimed). RELEASE says whether its trees can be released: whether it is private
and has exact samplers.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace

from dpviz.accounting.claim import Claim
from dpviz.commands import console
from dpviz.learners import registry
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema, Target
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Settings

_FEATURES = (NumericFeature("number", 0, 1), CategoricalFeature("category", ("a", "b", "c")))
_TARGETS: dict[str, Target] = {"classes": ClassTarget("class", ("no", "yes")), "number": NumericTarget("value", 0, 1)}


def add_arguments(parser: ArgumentParser) -> None:
    """None."""


def run(args: Namespace) -> int:
    """Print the table."""
    rows = [_row(spec) for spec in registry().values()]
    console.show_table(("NAME", "TITLE", "CLAIMS", "VERDICT", "RELEASE", "IDEA"), rows)
    return 0


def typical_claim(spec: LearnerSpec) -> Claim:
    """The claim with default settings on a small mixed table."""
    settings, params = Settings(), spec.Params()
    schema = Schema(_FEATURES, _TARGETS[spec.tasks[0]], n_public=10_000)
    return spec.claim(spec.plan(schema, settings, params), params, schema)


def _row(spec: LearnerSpec) -> tuple[str, ...]:
    claim = typical_claim(spec)
    claims = "epsilon" if claim.is_private and not claim.delta else "epsilon, delta" if claim.is_private else "nothing"
    released = "yes" if spec.exact and math.isfinite(claim.epsilon) else "no"
    return spec.name, spec.title, claims, claim.verdict, released, spec.idea
