"""Shares of leaves: probabilities, near the counts where these are large, near the parent where they drown in noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.models.tree import Branch, Leaf, ThresholdRule
from dpviz.training.estimate.report import estimate_leaf_probabilities

RULE = ThresholdRule(0, 0.5)
TREE = Branch(RULE, Branch(RULE, Leaf(0), Leaf(1)), Leaf(0))


def shares(counts, noise_variance=0.0):
    root = estimate_leaf_probabilities(TREE, np.array(counts), noise_variance)
    return [root.left.left, root.left.right, root.right]


@given(st.lists(st.lists(st.integers(-50, 10**6), min_size=3, max_size=3), min_size=3, max_size=3), st.floats(0, 1e6))
def test_they_are_probabilities_and_none_is_zero(counts, noise_variance):
    for leaf, row in zip(shares(counts, noise_variance), counts, strict=True):
        assert leaf.counts == tuple(row)
        assert min(leaf.shares) > 0
        assert math.isclose(math.fsum(leaf.shares), 1, abs_tol=1e-12)


def test_many_rows_without_noise_speak_for_themselves():
    assert shares([[9000, 1000], [10, 99_990], [500, 500]])[0].shares == pytest.approx((0.9, 0.1), abs=1e-3)


def test_a_leaf_whose_counts_drown_in_noise_says_what_its_parent_and_its_label_say():
    calm, noisy = (shares([[900, 100], [0, 8], [500, 1500]], variance)[1] for variance in (0.0, 10_000.0))
    assert calm.shares[1] > 0.6
    # its parent says 0.22 (both leaves below, some of the root); of the rows that come with it, 30% have its label
    assert noisy.shares == pytest.approx((0.7 * 0.78, 0.7 * 0.22 + 0.3), abs=0.03)
    assert noisy.label == 1
