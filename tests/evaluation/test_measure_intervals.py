"""95% intervals hold the true measure about 95 times in 100: neither fewer nor all of them."""

import numpy as np
import pytest

from dpviz.evaluation.metrics import auc, balanced_accuracy, brier, confusion, log_loss, of_labels, of_numbers, of_probabilities

N_ROWS, TIMES = 400, 200


def rows(rng, n, n_classes):
    """Classes, predicted classes and probabilities that are somewhat off."""
    target = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2))
    scores = rng.normal(0, 1, (n, n_classes)) + 0.9 * np.eye(n_classes)[target]
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return target, np.round(shares, 2).argmax(axis=1), shares


def held(found, truth):
    return [low <= value <= high for (low, high), value in zip(found, truth, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_intervals_of_classes_cover(rng, n_classes):
    target, predicted, shares = rows(rng, 60_000, n_classes)
    balanced = balanced_accuracy(confusion(target, predicted, n_classes))
    truth = [np.mean(target == predicted), balanced, auc(target, shares), log_loss(target, shares), brier(target, shares)]
    covered = []
    for _ in range(TIMES):
        target, predicted, shares = rows(rng, N_ROWS, n_classes)
        found = of_labels(target, predicted, n_classes) | of_probabilities(target, shares)
        assert list(found) == ["accuracy", "balanced_accuracy", "auc", "log_loss", "brier"]
        covered.append(held(found.values(), truth))
    assert (np.mean(covered, axis=0) > 0.91).all()
    assert (np.mean(covered, axis=0) < 0.985).all()


def test_intervals_of_numbers_cover(rng):
    covered = []
    for _ in range(TIMES):
        around, noise = rng.normal(0, 2, N_ROWS), rng.laplace(0, 1 / np.sqrt(2), N_ROWS)
        found = of_numbers(around + noise, around)
        covered.append(held(found.values(), [1 - 1 / 5, 1.0, 1 / np.sqrt(2)]))
    assert (np.mean(covered, axis=0) > 0.91).all()
    assert (np.mean(covered, axis=0) < 0.985).all()


def test_nothing_is_said_of_what_is_not_known():
    one = np.zeros(5, dtype=np.int64)
    assert np.isnan(of_probabilities(one, np.full((5, 2), 0.5))["auc"]).all()
    assert np.isnan(of_numbers(np.ones(5), np.zeros(5))["r2"]).all()
    assert of_numbers(np.ones(5), np.ones(5))["rmse"] == (0.0, 0.0)
    assert of_labels(one, one, 2)["balanced_accuracy"] == (1.0, 1.0)
