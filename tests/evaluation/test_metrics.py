"""Measures and intervals are scikit-learn's and SciPy's, and intervals are wrong as often as they say."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

import dpviz
from dpviz.errors import no_probabilities
from dpviz.evaluation.metrics import (
    OF_CLASSES,
    OF_NUMBERS,
    OF_PROBABILITIES,
    ModelAnswers,
    balanced_accuracy,
    clopper_pearson,
    confusion,
    mean_limits,
    measured_labels,
    measured_numbers,
    measured_probabilities,
    metrics,
    recalls,
    wilson,
)
from dpviz.randomness import generator
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.numbers import rows as rows_of_numbers
from tests.support.numbers import schema_of_numbers

N_ROWS, TIMES = 400, 200


@dataclass
class Guess:
    """Predicts what it was told to, with probabilities where it has any."""

    labels: np.ndarray
    shares: np.ndarray | None = None

    def predict(self, data):
        return self.labels

    def predict_proba(self, data):
        if self.shares is None:
            raise no_probabilities("guess")
        return self.shares


def table(target, n_classes=2):
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", tuple("abcdef"[:n_classes])), n_public=50)
    return EncodedDataset(schema, (np.zeros(len(target)),), np.asarray(target, dtype=np.uint8))


@pytest.mark.parametrize("digits", [1, 6])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_measures_of_classes_are_those_of_scikit_learn(rng, n_classes, digits):
    target = np.append(np.arange(n_classes), rng.integers(0, n_classes, 90))
    shares = np.round(rng.dirichlet(np.ones(n_classes), len(target)) + 0.2 * np.eye(n_classes)[target], digits)
    shares /= shares.sum(axis=1, keepdims=True)
    predicted, one = shares.argmax(axis=1), shares[:, 1] if n_classes == 2 else shares
    data = table(target, n_classes)
    found = metrics(Guess(predicted, shares), table([0, 0, 0, 1], n_classes), data)
    assert found == pytest.approx(
        {
            "accuracy": sk.accuracy_score(target, predicted),
            "balanced_accuracy": sk.balanced_accuracy_score(target, predicted),
            "auc": sk.roc_auc_score(target, one, multi_class="ovr", average="macro"),
            "log_loss": sk.log_loss(target, shares),
            "brier": sk.brier_score_loss(target, one),
            "majority": np.mean(target == 0),
        }
    )
    confused = confusion(target, predicted, n_classes)
    np.testing.assert_array_equal(confused, sk.confusion_matrix(target, predicted))
    np.testing.assert_allclose(recalls(confused), sk.recall_score(target, predicted, average=None))
    silent = metrics(Guess(predicted), data, data)
    assert list(silent) == list(OF_CLASSES)
    assert [name for name, value in silent.items() if np.isnan(value)] == list(OF_PROBABILITIES)


def test_measures_of_numbers_are_those_of_scikit_learn_and_what_does_not_occur_is_not_measured():
    train, test = rows_of_numbers(schema_of_numbers(), 200), rows_of_numbers(schema_of_numbers(), 90, seed=8)
    model = dpviz.fit("cart-regression", train, epsilon=1.0, max_depth=3, seed=0).model
    pair = test.target, model.predict(test)
    found = metrics(model, train, test)
    constant = sk.root_mean_squared_error(test.target, np.full(90, train.target.mean()))
    expected = [sk.r2_score(*pair), sk.root_mean_squared_error(*pair), sk.mean_absolute_error(*pair), constant]
    assert found == pytest.approx(dict(zip(OF_NUMBERS, expected, strict=True)))
    empty = rows_of_numbers(schema_of_numbers(), 0)
    same = EncodedDataset(test.schema, test.columns, np.full(90, 30.0))
    found = metrics(dpviz.fit("cart-regression", empty, epsilon=1.0, seed=0).model, empty, same)
    assert np.isnan(found["r2"])
    assert found["rmse"] == found["mean_rmse"] == 10.0, "without training rows the middle of the range is predicted"
    assert balanced_accuracy(confusion(np.array([0, 0, 1]), np.array([0, 2, 1]), 3)) == pytest.approx(0.75)
    nearly = np.where(np.arange(20)[:, None] % 2 == np.arange(2), 0.6, 0.4)
    nearly[0] = nearly[1]
    assert measured_probabilities(np.arange(20) % 2, nearly)["auc"].interval[1] == 1, "no area is larger"
    certain = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert measured_probabilities(np.array([0, 1]), certain)["log_loss"].value == pytest.approx(sk.log_loss([0, 1], certain))
    for target, n_classes in (([1, 1, 1], 2), ([0, 1, 1], 3)):
        shares = np.full((3, n_classes), 1 / n_classes)
        area = measured_probabilities(np.array(target), shares)["auc"]
        assert np.isnan([area.value, *area.interval]).all()
    assert np.isnan(measured_numbers(np.ones(5), np.zeros(5))["r2"].interval).all()
    assert measured_numbers(np.ones(5), np.ones(5))["rmse"].interval == (0.0, 0.0)
    assert measured_labels(np.zeros(5, dtype=int), np.zeros(5, dtype=int), 2)["balanced_accuracy"].interval == (1.0, 1.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_are_counted_are_measured_as_if_written_out(rng, n_classes):
    target, times = np.append(np.arange(n_classes), rng.integers(0, n_classes, 20)), rng.integers(1, 5, 20 + n_classes)
    shares = rng.dirichlet(np.ones(n_classes), len(target))
    each = [np.repeat(values, times, axis=0) for values in (target, shares)]
    counted, expected = (
        ModelAnswers(n_classes, rows, said.argmax(axis=1), said, count)
        for rows, said, count in ((target, shares, times), (*each, None))
    )
    assert counted.metrics(0) == pytest.approx(expected.metrics(0))
    assert {name: pytest.approx(ends) for name, ends in expected.intervals().items()} == counted.intervals()


# --- intervals


@pytest.mark.slow
def test_limits_of_probabilities_are_those_of_scipy_and_of_a_mean_cover_it():
    hits = np.arange(31)
    exact = [stats.binomtest(int(k), 30).proportion_ci(0.98, "exact") for k in hits]
    for found, side in zip(clopper_pearson(hits, 30, 0.01), ("low", "high"), strict=True):
        np.testing.assert_allclose(found, [getattr(interval, side) for interval in exact], rtol=1e-7)
    for k in (0, 9, 30):
        expected = stats.binomtest(k, 30).proportion_ci(0.95, method="wilson")
        assert wilson(k / 30, 30) == pytest.approx((expected.low, expected.high), abs=1e-12)
    rng = generator(5)
    values, chances = np.array([0.2, 0.45, 0.6, 0.62, 0.7, 0.8]), np.array([0.01, 0.04, 0.15, 0.3, 0.3, 0.2])
    limits = np.array([mean_limits(rng.choice(values, size=500, p=chances), 0.1) for _ in range(400)])
    assert np.mean((limits[:, 0] <= values @ chances) & (values @ chances <= limits[:, 1])) >= 0.9
    assert np.ptp(mean_limits(np.full(10_000, 0.5), 0.1)) < 0.01
    assert mean_limits(np.array([0.5]), 0.1) == (0.0, 1.0)
    for draws in (np.full(10_000, 0.5), np.tile([0.25, 0.75], 5_000)):  # the theorem is of one side, which may fail by 0.05
        reach = np.sqrt(2 * draws.var(ddof=1) * np.log(2 / 0.05) / 10_000) + 7 * np.log(2 / 0.05) / (3 * 9_999)
        assert mean_limits(draws, 0.1) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-12)


def rows_of_classes(rng, n, n_classes):
    """Classes, predicted classes and probabilities that are somewhat off."""
    target = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2))
    scores = rng.normal(0, 1, (n, n_classes)) + 0.9 * np.eye(n_classes)[target]
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return target, np.round(shares, 2).argmax(axis=1), shares


@pytest.mark.parametrize("n_classes", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_intervals_hold_the_true_measure_about_95_times_in_100(rng, n_classes):
    """0 classes: numbers whose R², RMSE and mean absolute error are known."""
    covered, truth = [], [1 - 1 / 5, 1.0, 1 / np.sqrt(2)]
    if n_classes:
        target, predicted, shares = rows_of_classes(rng, 60_000, n_classes)
        truth = list(ModelAnswers(n_classes, target, predicted, shares).metrics(0).values())[:-1]
    for _ in range(TIMES):
        if n_classes:
            found = ModelAnswers(n_classes, *rows_of_classes(rng, N_ROWS, n_classes)).intervals()
        else:
            around, noise = rng.normal(0, 2, N_ROWS), rng.laplace(0, 1 / np.sqrt(2), N_ROWS)
            found = {name: one.interval for name, one in measured_numbers(around + noise, around).items()}
        covered.append([low <= value <= high for (low, high), value in zip(found.values(), truth, strict=True)])
    assert ((np.mean(covered, axis=0) > 0.91) & (np.mean(covered, axis=0) < 0.985)).all()
