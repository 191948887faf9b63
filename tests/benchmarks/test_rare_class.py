"""A rare class is ranked once its weight is declared, and not without."""

import numpy as np
import pytest

from benchmarks.rare_class import rank, rare_rows, rare_section
from dpviz.evaluation.measures import auc


@pytest.mark.slow
def test_declared_weights_rank_a_rare_class_at_epsilon_1():
    train, (test, chance) = rare_rows(50_000, seed=0)[0].with_cached_counts(), rare_rows(60_000, seed=1)
    assert 0.014 < train.target.mean() < 0.019
    best = auc(test.target, np.stack([1 - chance, chance], axis=1))
    found = rank(1.0, train, test, draws=8).found
    area = {name: means[0].mean for name, means in found.items()}
    assert area["no weights"] < 0.54
    assert 0.58 < area["weights (1, 65)"] < best
    assert 0.57 < area["weights, depth at most 3"] < best


def test_the_true_probability_says_how_many_rows_are_positive():
    data, chance = rare_rows(20_000, seed=4)
    assert data.target.mean() == pytest.approx(chance.mean(), abs=0.003)
    high = chance > np.median(chance)
    assert data.target[high].mean() > 1.5 * data.target[~high].mean()


@pytest.mark.slow
def test_the_section_has_a_line_per_epsilon(monkeypatch):
    monkeypatch.setattr("benchmarks.rare_class.DRAWS", 1)
    text = rare_section((0.5, 3.0))
    assert "| 0.5 | " in text
    assert "| 3 | " in text
    assert "The true probability\nreaches 0.6" in text
