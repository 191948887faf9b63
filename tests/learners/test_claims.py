"""Verdicts belong to plans: each has its proof or its counterexample, and both can be read."""

from __future__ import annotations

import math
import re
from itertools import product

import numpy as np
import pytest

import dpviz
from dpviz.accounting.claim import Claim
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verify import CandidatePair, verify
from dpviz.learners import get_learner
from dpviz.learners.published import privatree, privatree_corrected, rgv_forest
from dpviz.privacy.geometric import GeometricNoise
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.params import Settings
from tests.support.paths import ROOT
from tests.support.tables import FEATURES, schema_of

BINARY = Universe((2, 2), max_rows=4).schema


def claim_of(name: str, schema: Schema = BINARY, *, epsilon: float, depth: int = 1, **params: object) -> Claim:
    spec = get_learner(name)
    given = spec.Params(**params)
    plan = spec.plan(schema, Settings(epsilon=epsilon, max_depth=depth, depth=depth), given)
    return spec.claim(plan, given, schema)


def test_a_proof_or_a_counterexample_stands_where_the_claim_says():
    for name, epsilon in product(dpviz.learner_names(), [0.1, 1.0, 3.0]):
        numbers = Schema((NumericFeature("a", 0, 1),), NumericTarget("y", 0, 1), n_public=100)
        schema = schema_of("mixed") if "classes" in get_learner(name).tasks else numbers
        claim = claim_of(name, schema, epsilon=epsilon, depth=2)
        assert bool(claim.evidence) == (claim.verdict in ("holds", "violated"))
        files = re.findall(r"dpviz/[\w/]+\.py", claim.evidence)
        assert len(files) >= bool(claim.evidence)
        for file in files:
            assert (ROOT / file).is_file()
        _, colon, place = claim.evidence.partition(": ")
        if colon:
            assert place.lower() in (ROOT / files[0]).read_text(encoding="utf-8").lower()


# --- PrivaTree, corrected


@pytest.mark.slow
def test_the_loss_between_one_row_and_two_is_what_is_found_whatever_the_number_of_candidates():
    for separating in [1, 3]:
        for epsilon in [1e-3, 0.0125, 0.05, 1.0]:
            pair = CandidatePair("one row against two", ((0,) * (separating + 2), (1,) * separating + (0, 1)))
            spec = get_learner("privatree-corrected")
            params = spec.Params(shares=(1.0, 1e-9))
            plan = spec.plan(pair.schema, Settings(epsilon=epsilon, depth=1, max_depth=1), params)
            loss = privatree_corrected.one_against_two_loss(plan, params, pair.schema)
            found = verify("privatree-corrected", epsilon=epsilon, universes=(pair,), shares=(1.0, 1e-9))
            assert 0.95 * found.log_ratio < loss
            assert loss <= found.log_ratio + 1e-4  # the search leaves out a tail of 1e-5, with up to 4 candidates


ONE = Schema((CategoricalFeature("a", ("x", "y")),), ClassTarget("y", ("n", "p")), n_public=100)


@pytest.mark.parametrize(
    ("verdict", "name", "schema", "asked"),
    [
        ("unproven", "privatree-corrected", ONE, {"epsilon": 0.01}),  # it cannot choose
        ("violated", "privatree-corrected", BINARY, {"epsilon": 0.01}),
        ("violated", "privatree", BINARY, {"epsilon": 3.0, "grow_complete": True}),
        *(("unproven", "privatree", schema_of(kind), {"epsilon": 3.0, "grow_complete": True}) for kind in FEATURES),
        ("holds", "privatree", ONE, {"epsilon": 3.0, "grow_complete": True}),
        ("violated", "privatree", ONE, {"epsilon": 3.0}),
        *(("holds", "rgv-forest", BINARY, {"epsilon": 1.0, "depth": depth, "trees": 1}) for depth in (1, 3)),
        *(("unproven", "rgv-forest", BINARY, {"epsilon": 1.0, "depth": depth, "trees": depth + 1}) for depth in (1, 3)),
        *(("violated", "rgv-forest", BINARY, {"epsilon": 1.0, "depth": depth, "trees": depth + 2}) for depth in (1, 3)),
    ],
)
def test_a_verdict_belongs_to_a_plan(verdict, name, schema, asked):
    assert claim_of(name, schema, **asked).verdict == verdict


# --- PrivaTree, grown complete


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "depth"), [(0.5, 1), (1.0, 2), (2.0, 2), (3.0, 3)])
@pytest.mark.parametrize("n_features", [2, 3])
def test_a_complete_privatree_is_violated_where_equal_rows_and_one_more_exceed_the_claim(epsilon, depth, n_features):
    equal, more = (0,) * n_features + (0,), (0,) * n_features + (1,)
    pair = CandidatePair("equal rows and one of the other class", (*[equal] * privatree.ROWS, more), depth=depth)
    spec, params = get_learner("privatree"), privatree.Params(grow_complete=True)
    plan = spec.plan(pair.schema, Settings(epsilon=epsilon, max_depth=depth, depth=depth), params)
    loss, claim = privatree.last_feature_loss(plan, pair.schema), spec.claim(plan, params, pair.schema)
    found = verify("privatree", epsilon=epsilon, universes=(pair,), grow_complete=True)
    assert claim.verdict == found.verdict == ("violated" if loss > epsilon else "unproven")
    assert claim.verdict == "unproven" or loss <= found.log_ratio * (1 + 1e-9)


# --- RGV


def test_enough_equal_rows_are_a_counterexample_to_one_tree_too_many():
    for epsilon in [0.1, 1.0, 3.0]:  # of depth 2
        losses = [rgv_forest.labels_loss(100_000, trees, epsilon / 3) for trees in (3, 4)]
        assert losses[0] < epsilon < losses[1]
    for n_rows in [0, 1, 7]:  # the loss is that of two noisy counts
        noise = GeometricNoise(0.4).pmf(np.arange(-300, 301))
        ahead = np.convolve(noise, noise)
        behind = [ahead[np.arange(-600, 601) > rows].sum() for rows in (n_rows, n_rows + 1)]
        assert rgv_forest.labels_loss(n_rows, 3, 0.4) == pytest.approx(3 * math.log(behind[0] / behind[1]), rel=1e-9)
