"""The learners of many trees, with as many trees as a user gets: the promises that size could break."""

import math

import numpy as np
import pytest

import dpviz
from dpviz.learners import get_learner
from tests.support.fits import FEW
from tests.support.tables import reordered, schema_of, table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.verify,
    pytest.mark.filterwarnings("ignore:No individual filter:dpviz.errors.ReplacedWarning"),  # at a small epsilon
]

learners_of_many_trees = pytest.mark.parametrize("name", sorted(FEW))


def fit(name, data, **asked):
    return dpviz.fit(name, data, **({"epsilon": 1.0, "max_depth": 3, "seed": 7} | asked))


@learners_of_many_trees
@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_a_fit_repeats_and_its_document_reads_back(name, kind):
    schema = schema_of(kind, 3)
    data, fresh = table(schema), table(schema, 500, seed=99)
    result = fit(name, data)
    text = result.to_json()
    assert fit(name, data.with_cached_counts()).to_json() == text
    assert fit(name, reordered(data, np.random.default_rng(3).permutation(data.n_rows))).to_json() == text
    read = dpviz.model_from_json(text)
    assert read == result.model
    np.testing.assert_array_equal(read.predict(fresh), result.model.predict(fresh))


@learners_of_many_trees
def test_it_trains_at_the_ends_of_what_may_be_asked(name):
    schema = schema_of("mixed", 3)
    for epsilon, depth, n_rows in ((1e-6, 1, 60), (1e-6, 8, 0), (1e6, 1, 0), (1e6, 8, 60)):  # every two ends meet once
        result = fit(name, table(schema, n_rows), epsilon=epsilon, max_depth=depth, depth=depth)
        assert result.plan.epsilon in (epsilon, math.inf)
        assert result.model.predict(table(schema, 5)).max() < 3


@learners_of_many_trees
def test_the_plan_needs_no_rows_and_composes_to_what_the_ledger_says(name):
    schema, spec = schema_of("mixed", 3), get_learner(name)
    for epsilon in (0.01, 1.0):
        few, many = (fit(name, table(schema, n), epsilon=epsilon) for n in (3, 300))
        assert few.plan == many.plan == spec.plan(schema, many.settings, spec.Params())
        assert few.claim == many.claim
        if many.ledger.guarantee.is_finite:
            composed = sum(share.composed for share in many.plan.shares)
            assert many.ledger.guarantee.epsilon == pytest.approx(composed, rel=1e-12)
        if many.claim.verdict == "holds":
            assert many.ledger.guarantee.epsilon <= many.claim.epsilon


@learners_of_many_trees
def test_releases_and_seeds_differ(name):
    data = table(schema_of("categories", 7), 40)
    spec = get_learner(name)
    seeds = [None] * 4 if spec.releases else range(4) if spec.spends_epsilon else [0]
    labels = {tuple(fit(name, data, epsilon=0.01, seed=seed, accept_rows=True).model.predict(data)) for seed in seeds}
    assert len(labels) > 1 or not spec.spends_epsilon
