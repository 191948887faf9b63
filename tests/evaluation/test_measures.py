"""Measures are scikit-learn's; calibration and lift are worked out by hand."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, confusion_matrix, recall_score, roc_auc_score
from sklearn.metrics import log_loss as log_loss_of_sklearn

from dpviz.evaluation.metrics import auc, balanced_accuracy, brier, calibration, confusion, lift, log_loss, recalls


def drawn(rng, n_classes, n_rows=90, digits=2):
    target = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    shares = np.round(rng.dirichlet(np.ones(n_classes), n_rows) + 0.2 * np.eye(n_classes)[target], digits)
    return target, shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_confusion_and_recalls_are_those_of_scikit_learn(rng, n_classes):
    target, shares = drawn(rng, n_classes)
    predicted = shares.argmax(axis=1)
    found = confusion(target, predicted, n_classes)
    np.testing.assert_array_equal(found, confusion_matrix(target, predicted))
    np.testing.assert_allclose(recalls(found), recall_score(target, predicted, average=None))


def test_certain_wrong_answers_and_classes_that_do_not_occur():
    found = confusion(np.array([0, 0, 1]), np.array([0, 2, 1]), 3)
    assert balanced_accuracy(found) == pytest.approx(0.75)
    assert np.isnan(recalls(found)[2])
    shares = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert log_loss(np.array([0, 1]), shares) == pytest.approx(log_loss_of_sklearn([0, 1], shares))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("digits", [1, 6])
def test_measures_of_probabilities_are_those_of_scikit_learn(rng, n_classes, digits):
    target, shares = drawn(rng, n_classes, digits=digits)
    one = shares[:, 1] if n_classes == 2 else shares
    assert auc(target, shares) == pytest.approx(roc_auc_score(target, one, multi_class="ovr", average="macro"))
    assert log_loss(target, shares) == pytest.approx(log_loss_of_sklearn(target, shares))
    assert brier(target, shares) == pytest.approx(brier_score_loss(target, one))


@pytest.mark.parametrize(("target", "n_classes"), [([1, 1, 1], 2), ([0, 1, 1], 3)])
def test_auc_is_unknown_where_a_class_does_not_occur(target, n_classes):
    assert np.isnan(auc(np.array(target), np.full((3, n_classes), 1 / n_classes)))


def test_calibration_compares_what_was_said_with_what_was():
    share = np.array([0.0, 0.05, 0.05, 0.95, 1.0, 0.5])
    found = calibration(np.array([False, False, True, True, True, False]), share)
    assert [(item.n_rows, item.predicted) for item in found] == [(3, pytest.approx(0.1 / 3)), (1, 0.5), (2, 0.975)]
    assert [item.observed for item in found] == [pytest.approx(1 / 3), 0.0, 1.0]
    assert all(item.low <= item.observed <= item.high for item in found)


def test_lift_counts_how_often_the_class_is_met_on_top():
    is_class = np.array([True, True, False, False, False, False, False, True, False, False])
    assert lift(is_class, np.linspace(1, 0.1, 10), top=0.2) == pytest.approx(2 / 0.6)
    assert lift(is_class, np.full(10, 0.3), top=0.2) == pytest.approx(1.0)
    assert lift(is_class, np.array([1.0] * 4 + [0.0] * 6), top=0.2) == pytest.approx(1 / 0.6)
    assert np.isnan(lift(np.zeros(10, dtype=bool), np.linspace(0, 1, 10)))
