"""What private learners are compared with: one constant, noisy or not, and scikit-learn's trees, boosting and regression."""

import math

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import dpviz
from dpviz.errors import SchemaError
from dpviz.learners.published.dp_mean import STEPS
from dpviz.models.linear import unit_columns
from dpviz.models.tree import Constant
from dpviz.privacy.objective_perturbation import ObjectivePerturbation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.numbers import rows_of
from tests.support.recording import Recording
from tests.support.tables import schema_of, table


def ordered(data) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((data.target, *data.columns))
    return np.column_stack(data.columns)[order], data.target[order]


def of_values(values, low=-10.0, high=90.0, n_public=None) -> EncodedDataset:
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("rent", low, high), n_public=n_public or max(1, len(values)))
    return EncodedDataset(schema, (np.zeros(len(values)),), np.array(values, dtype=float))


def mean_of(data, **asked) -> float:
    return dpviz.fit("dp-mean", data, **({"epsilon": 1.0, "seed": 0} | asked)).model.root.value


def test_with_a_huge_epsilon_a_constant_is_the_most_frequent_class_or_the_mean():
    data = table(schema_of("mixed", 3), 99)
    result = dpviz.fit("majority", data, epsilon=1e6, seed=0)
    assert result.model == Constant(data.schema, int(np.bincount(data.target).argmax()))
    values = of_values([3.0, 4.5, -10.0, 88.25])
    for count_rows in (False, True):
        assert mean_of(values, epsilon=1e6, count_rows=count_rows) == pytest.approx(values.target.mean(), abs=50 / STEPS)


def test_the_noisy_mean_stays_in_its_range_and_knows_no_exact_row_count():
    found = [mean_of(of_values([90.0] * 3), epsilon=0.01, seed=seed) for seed in range(40)]
    assert {min(found), max(found)} == {-10.0, 90.0}
    few, many = of_values([40.0] * 10, n_public=50), of_values([40.0] * 50)
    assert mean_of(few, seed=4) == mean_of(many, seed=4)
    counted = dpviz.fit("dp-mean", of_values([90.0] * 400, n_public=4), epsilon=0.8, seed=1, count_rows=True)
    assert [(row.part, row.epsilon) for row in counted.ledger.rows()] == [("leaf", 0.4), ("count", 0.4)]
    assert counted.model.root.value == pytest.approx(90, abs=5)
    of_one = [mean_of(of_values([90.0]), epsilon=2.0, seed=seed, count_rows=True) for seed in range(40)]  # often counted as none
    assert -10.0 <= min(of_one) <= max(of_one) <= 90.0


@pytest.mark.parametrize("n_classes", [0, 2, 7])
@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_cart_predicts_exactly_as_scikit_learn(kind, n_classes):
    data, fresh = rows_of(kind, n_classes, 300), rows_of(kind, n_classes, 500, seed=9)
    name, theirs = ("cart", DecisionTreeClassifier) if n_classes else ("cart-regression", DecisionTreeRegressor)
    for depth in (1, 3, 8):
        ours = dpviz.fit(name, data, epsilon=1.0, max_depth=depth, seed=0).model
        tree = theirs(max_depth=depth, random_state=0).fit(*ordered(data))
        for part in (data, fresh):
            np.testing.assert_array_equal(ours.predict(part), tree.predict(np.column_stack(part.columns)))
        assert (ours.depth, ours.n_leaves) == (tree.get_depth(), tree.get_n_leaves())


@pytest.mark.parametrize("n_classes", [0, 2, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_gbdt_predicts_as_scikit_learn(kind, n_classes):
    data, fresh = rows_of(kind, n_classes, 400), rows_of(kind, n_classes, 500, seed=9)
    theirs = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    ours = dpviz.fit("gbdt", data, epsilon=1.0, max_depth=3, trees=20, learning_rate=0.2, seed=0).model
    boosted = theirs(max_depth=3, max_iter=20, learning_rate=0.2, early_stopping=False).fit(*ordered(data))
    for part in (data, fresh):
        matrix = np.column_stack(part.columns)
        expected = boosted.decision_function(matrix) if n_classes else boosted.predict(matrix)
        np.testing.assert_allclose(ours.scores(part), expected, rtol=1e-12, atol=1e-9)
        if n_classes:
            np.testing.assert_array_equal(ours.predict(part), boosted.predict(matrix))


@pytest.mark.parametrize("name", ["cart", "gbdt"])
def test_a_class_that_does_not_occur_is_never_predicted(name):
    for n_classes, present in [(2, [0]), (2, [1]), (4, [2]), (4, [1, 3]), (4, [0, 1, 3])]:
        data = table(schema_of("mixed", n_classes), 200)
        data = EncodedDataset(data.schema, data.columns, np.array(present, dtype=np.uint8)[data.target % len(present)])
        model = dpviz.fit(name, data, epsilon=1.0, max_depth=3, seed=0, **({"trees": 10} if name == "gbdt" else {})).model
        assert set(model.predict(data)) == set(present)


@pytest.mark.parametrize("name", ["cart", "random-forest", "cart-regression", "gbdt"])
def test_a_range_that_scikit_learn_cannot_hold_is_refused(name):
    if name in ("cart", "random-forest"):
        schema = Schema((NumericFeature("mass", 0, 1e40),), ClassTarget("y", ("n", "p")))
        data = EncodedDataset(schema, (np.array([0.0, 1e40]),), np.array([0, 1], dtype=np.uint8))
        problem = f"mass: '{name}' computes in single precision"
    else:
        data, problem = of_values([0.0, 1e20], 0, 1e20), f"rent: '{name}' squares the target"
    with pytest.raises(SchemaError, match=f"{problem}.*cannot hold this range"):
        dpviz.fit(name, data, epsilon=1.0, seed=0)


def test_logistic_regression_with_a_huge_epsilon_is_the_usual_one():
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


def test_rows_of_logistic_regression_are_at_most_one_long_and_the_penalty_knows_the_public_row_count_only():
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
