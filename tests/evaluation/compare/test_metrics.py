from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

import dpviz
from dpviz.errors import NoProbabilities
from dpviz.evaluation.metrics import OF_CLASSES, OF_PROBABILITIES, auc, brier, log_loss, metrics
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.numbers import rows as rows_of_numbers
from tests.support.numbers import schema_of_numbers


@dataclass
class Guess:
    """Predicts what it was told to."""

    labels: np.ndarray

    def predict(self, data):
        return self.labels

    def predict_proba(self, data):
        raise NoProbabilities("guess")


@dataclass
class Scorer(Guess):
    values: np.ndarray

    def predict_proba(self, data):
        return self.values


def table(target, n_classes):
    classes = tuple("abcdef"[:n_classes])
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", classes), n_public=50)
    return EncodedDataset(schema, (np.zeros(len(target)),), np.asarray(target, dtype=np.uint8))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_accuracies_are_those_of_scikit_learn_and_the_majority_that_of_the_training_rows(rng, n_classes):
    for _ in range(20):
        target, labels = rng.integers(0, n_classes, (2, 60))
        found = metrics(Guess(labels), table(target, n_classes), table(target, n_classes))
        assert found["accuracy"] == pytest.approx(accuracy_score(target, labels))
        assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(target, labels))
    found = metrics(Guess(np.zeros(4)), table([1, 1, 1, 0], 2), table([0, 0, 0, 1], 2))
    assert found["majority"] == 0.25


def test_probabilities_are_measured_where_there_are_any(rng):
    target = np.append([0, 1], rng.integers(0, 2, 80))
    shares = rng.dirichlet(np.ones(2), 82)
    data = table(target, 2)
    found = metrics(Scorer(target, shares), data, data)
    assert [found[name] for name in OF_PROBABILITIES] == [auc(target, shares), log_loss(target, shares), brier(target, shares)]
    found = metrics(Guess(target), data, data)
    assert np.isnan([found[name] for name in OF_PROBABILITIES]).all()
    assert list(found) == list(OF_CLASSES)


def test_a_number_is_measured_by_r2_and_rmse_beside_the_mean_of_the_training_rows():
    train, test = rows_of_numbers(schema_of_numbers(), 200), rows_of_numbers(schema_of_numbers(), 90, seed=8)
    model = dpviz.fit("cart-regression", train, epsilon=1.0, max_depth=3, seed=0).model
    found = metrics(model, train, test)
    predicted = model.predict(test)
    assert list(found) == ["r2", "rmse", "mae", "mean_rmse"]
    assert found["r2"] == pytest.approx(r2_score(test.target, predicted))
    assert found["rmse"] == pytest.approx(root_mean_squared_error(test.target, predicted))
    assert found["mae"] == pytest.approx(mean_absolute_error(test.target, predicted))
    assert found["mean_rmse"] == pytest.approx(np.sqrt(np.mean((test.target - train.target.mean()) ** 2)))


def test_rows_that_are_all_alike_have_no_r2_and_no_training_rows_predict_the_middle():
    empty, test = rows_of_numbers(schema_of_numbers(), 0), rows_of_numbers(schema_of_numbers(), 6)
    same = EncodedDataset(test.schema, test.columns, np.full(6, 30.0))
    found = metrics(dpviz.fit("cart-regression", empty, epsilon=1.0, seed=0).model, empty, same)
    assert np.isnan(found["r2"])
    assert found["rmse"] == found["mean_rmse"] == 10.0
