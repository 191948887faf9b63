"""Logistic regression: without noise it is scikit-learn's, with noise it owes what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import dpviz
from dpviz.errors import SchemaError
from dpviz.models.linear import unit_columns
from dpviz.privacy.objective_perturbation import ObjectivePerturbation
from tests.support.recording import Recording
from tests.support.tables import schema_of, table


def test_with_a_huge_epsilon_it_is_the_usual_one():
    for regularization in [0.001, 0.1]:
        for n_classes in [2, 4]:
            schema = schema_of("mixed", n_classes, n_public=500)
            data = table(schema, 120)
            model = dpviz.fit("logistic", data, epsilon=1e6, regularization=regularization, seed=0).model
            x = np.column_stack([unit_columns(data), np.ones(120)]) / math.sqrt(5)  # four features and the constant
            usual = LogisticRegression(C=1 / (regularization * 500), fit_intercept=False, tol=1e-12, max_iter=10_000)
            for k, weights, offset in zip([1] if n_classes == 2 else range(n_classes), model.weights, model.offsets, strict=True):
                expected = usual.fit(x, data.target == k).coef_[0] / math.sqrt(5)
                np.testing.assert_allclose([*weights, offset], expected, rtol=1e-3, atol=1e-4)


def test_rows_are_at_most_one_long_and_the_penalty_knows_the_public_row_count_only():
    data, source = table(schema_of("mixed", 3), 80), Recording(1)
    dpviz.fit("logistic", data, epsilon=1.0, source=source, norm_share=0.4)
    for mechanism, (x, y), _ in source.draws:
        assert isinstance(mechanism, ObjectivePerturbation)
        assert x.shape == (80, 5)
        assert set(y) == {-1.0, 1.0}
        assert np.linalg.norm(x, axis=1).max() <= 1 + 1e-12
        assert np.linalg.norm(x[:, :-1], axis=1).max() == pytest.approx(0.8 / math.sqrt(0.64 + 1))
    penalties = set()
    for n_rows in (5, 50):
        source = Recording(1)
        dpviz.fit("logistic", table(schema_of(n_public=3000), n_rows), epsilon=1.0, source=source, regularization=0.01)
        penalties |= {mechanism.penalty for mechanism, _, _ in source.draws}
    assert penalties == {30.0}
    with pytest.raises(SchemaError, match="needs a public row count"):
        dpviz.fit("logistic", table(schema_of(n_public=None)), epsilon=1.0, seed=0)
