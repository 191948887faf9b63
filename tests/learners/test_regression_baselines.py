"""What private regression is compared with: the noisy mean, the ordinary regression tree, ordinary boosting."""

import math

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

import dpviz
from dpviz.errors import SchemaError
from dpviz.learners.published.dp_mean import STEPS
from dpviz.models.tree import NumberLeaf
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from tests.support.numbers import rows, schema_of_numbers
from tests.support.tables import schema_of, table


def of_values(values, low=-10.0, high=90.0, n_public=None) -> EncodedDataset:
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("rent", low, high), n_public=n_public or max(1, len(values)))
    return EncodedDataset(schema, (np.zeros(len(values)),), np.array(values, dtype=float))


def mean_of(data, **asked) -> float:
    return dpviz.fit("dp-mean", data, **({"epsilon": 1.0, "seed": 0} | asked)).model.root.value


def test_the_noisy_mean_with_a_huge_epsilon_is_the_mean_to_a_step_of_the_grid():
    data = of_values([3.0, 4.5, -10.0, 88.25])
    assert mean_of(data, epsilon=1e6) == pytest.approx(data.target.mean(), abs=50 / STEPS)
    assert mean_of(data, epsilon=1e6, count_rows=True) == pytest.approx(data.target.mean(), abs=50 / STEPS)


@pytest.mark.slow
def test_the_noise_of_the_mean_is_that_of_one_row_in_n_public():
    # sum of steps + geometric noise of scale 2^20/eps: the mean's spread is half the range * sqrt(2) / (n eps)
    data = of_values([40.0] * 100)
    found = np.array([mean_of(data, epsilon=0.5, seed=seed) for seed in range(3000)])
    assert found.mean() == pytest.approx(40.0, abs=4 * np.std(found) / math.sqrt(3000))
    assert found.std() == pytest.approx(50 * math.sqrt(2) / (100 * 0.5), rel=0.08)


def test_one_row_moves_the_sum_by_at_most_its_sensitivity_whatever_it_holds():
    data = of_values([-10.0, 90.0])
    steps = {round((value - 40.0) / 50.0 * STEPS) for value in data.target}
    assert steps == {-STEPS, STEPS}


def test_the_mean_stays_inside_the_declared_range():
    found = [mean_of(of_values([90.0] * 3), epsilon=0.01, seed=seed) for seed in range(40)]
    assert {min(found), max(found)} == {-10.0, 90.0}


def test_the_exact_row_count_is_never_used():
    few, many = of_values([40.0] * 10, n_public=50), of_values([40.0] * 50)
    assert mean_of(few, seed=4) == mean_of(many, seed=4)


def test_a_row_count_can_be_bought_with_half_of_epsilon():
    result = dpviz.fit("dp-mean", of_values([90.0] * 400, n_public=4), epsilon=0.8, seed=1, count_rows=True)
    assert [(row.part, row.epsilon) for row in result.ledger.rows()] == [("leaf", 0.4), ("count", 0.4)]
    assert result.ledger.guarantee.epsilon == result.claim.epsilon == 0.8
    assert result.model.root.value == pytest.approx(90, abs=5)
    assert dpviz.fit("dp-mean", of_values([1.0]), epsilon=0.8, seed=None, accept_rows=True, count_rows=True).released


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
@pytest.mark.parametrize("depth", [1, 3, 8])
def test_cart_regression_predicts_exactly_as_scikit_learn(kind, depth):
    data, fresh = rows(schema_of_numbers(kind), 300), rows(schema_of_numbers(kind), 500, seed=9)
    ours = dpviz.fit("cart-regression", data, epsilon=1.0, max_depth=depth, seed=0).model
    order = np.lexsort((data.target, *data.columns))
    theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(np.column_stack(data.columns)[order], data.target[order])
    for part in (data, fresh):
        np.testing.assert_array_equal(ours.predict(part), theirs.predict(np.column_stack(part.columns)))
    assert (ours.depth, ours.n_leaves) == (theirs.get_depth(), theirs.get_n_leaves())


def test_cart_regression_of_no_rows_predicts_the_middle_of_the_range():
    assert dpviz.fit("cart-regression", of_values([]), epsilon=1.0, seed=0).model.root == NumberLeaf(40.0)


@pytest.mark.parametrize("name", ["cart-regression", "gbdt"])
def test_a_target_whose_squares_do_not_fit_is_refused(name):
    with pytest.raises(SchemaError, match=f"rent: '{name}' squares the target and cannot hold this range"):
        dpviz.fit(name, of_values([0.0, 1e20], 0, 1e20), epsilon=1.0, seed=0)


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_gbdt_predicts_numbers_as_scikit_learn(kind):
    for depth in [1, 4]:
        data, fresh = rows(schema_of_numbers(kind), 400), rows(schema_of_numbers(kind), 500, seed=9)
        ours = dpviz.fit("gbdt", data, epsilon=1.0, max_depth=depth, trees=40, learning_rate=0.2, seed=0).model
        theirs = ordinary(HistGradientBoostingRegressor, data, max_depth=depth, max_iter=40, learning_rate=0.2)
        for part in (data, fresh):
            np.testing.assert_allclose(ours.scores(part), theirs.predict(np.column_stack(part.columns)), rtol=1e-12, atol=1e-9)
        assert ours.splits.n_trees == 40


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
@pytest.mark.slow
def test_gbdt_predicts_classes_as_scikit_learn(kind):
    for n_classes in [2, 3, 7]:
        data, fresh = table(schema_of(kind, n_classes), 400), table(schema_of(kind, n_classes), 500, seed=9)
        ours = dpviz.fit("gbdt", data, epsilon=1.0, max_depth=3, trees=30, seed=0).model
        theirs = ordinary(HistGradientBoostingClassifier, data, max_depth=3, max_iter=30, learning_rate=0.1)
        for part in (data, fresh):
            matrix = np.column_stack(part.columns)
            np.testing.assert_array_equal(ours.predict(part), theirs.predict(matrix))
            np.testing.assert_allclose(ours.scores(part), theirs.decision_function(matrix), rtol=1e-12, atol=1e-9)


def ordinary(kind, data, **settings):
    order = np.lexsort((data.target, *data.columns))
    return kind(**settings, early_stopping=False).fit(np.column_stack(data.columns)[order], data.target[order])


def test_gbdt_never_predicts_a_class_that_does_not_occur():
    for n_classes, present in [(2, [0]), (2, [1]), (4, [2]), (4, [1, 3]), (4, [0, 1, 3])]:
        data = table(schema_of("mixed", n_classes), 200)
        data = EncodedDataset(data.schema, data.columns, np.array(present, dtype=np.uint8)[data.target % len(present)])
        model = dpviz.fit("gbdt", data, epsilon=1.0, max_depth=3, trees=10, seed=0).model
        assert set(model.predict(data)) == set(present)
        if len(present) > 1:
            theirs = ordinary(HistGradientBoostingClassifier, data, max_depth=3, max_iter=10, learning_rate=0.1)
            np.testing.assert_array_equal(model.predict(data), theirs.predict(np.column_stack(data.columns)))
