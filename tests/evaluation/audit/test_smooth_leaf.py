"""Smooth or global: the curves against the mechanisms' own distributions, and the known counterexample."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpviz.evaluation.audit.smooth_leaf import (
    RULES,
    delta_needed,
    first_violation,
    flip_probability,
    log_flip,
    neighbour_log_ratio,
)
from dpviz.privacy.leaf_labels import GlobalMajority
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.smooth import SmoothMajority

MECHANISMS = {"smooth": SmoothMajority, "global": GlobalMajority, "permute-and-flip": lambda eps: PermuteAndFlip(eps, COUNT)}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 2.0])
def test_flips_are_as_likely_as_the_mechanism_makes_them(rule: str, epsilon: float) -> None:
    gaps = np.arange(12)
    counts = np.column_stack([gaps + 3, np.full_like(gaps, 3)])
    distribution = MECHANISMS[rule](epsilon).probabilities(counts)[:, 1]
    np.testing.assert_allclose(flip_probability(rule, epsilon, gaps), distribution, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    ("epsilon", "gap", "times"), [(0.1, 20, 0.23), (0.1, 50, 7.8), (0.1, 100, 1160), (0.5, 10, 48), (1.0, 5, 128), (2.0, 1, 23.6)]
)
def test_smooth_odds_grow_without_limit_and_a_wide_gap_is_no_zero(epsilon: float, gap: int, times: float) -> None:
    assert neighbour_log_ratio("smooth", epsilon, np.array([gap]))[0] / epsilon == pytest.approx(times, rel=0.02)


@pytest.mark.parametrize(
    ("epsilon", "delta", "gap", "first"),
    [(0.01, 0.0010, 617, 554), (0.1, 0.0105, 38, 32), (1.0, 0.138, 1, 1), (2.0, 0.4954, 0, 0)],
)
def test_an_honest_delta_is_a_tenth_of_epsilon(epsilon: float, delta: float, gap: int, first: int) -> None:
    found, at = delta_needed("smooth", epsilon)
    assert found == pytest.approx(delta, rel=0.03)
    assert at == gap
    assert first_violation("smooth", epsilon) == first


@pytest.mark.parametrize("rule", ["global", "permute-and-flip"])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0])
def test_the_sound_rules_need_no_delta(rule: str, epsilon: float) -> None:
    assert first_violation(rule, epsilon, most=2000) is None
    assert delta_needed(rule, epsilon, most=2000) == (0.0, 0)
    assert neighbour_log_ratio(rule, epsilon, np.arange(200)).max() <= epsilon * (1 + 1e-9)


def test_a_wide_gap_is_no_zero() -> None:
    assert log_flip("smooth", 1.0, np.array([100]))[0] == pytest.approx(-0.5 * math.exp(100))
    assert np.isfinite(log_flip("smooth", 1.0, np.array([10_000]))).all()
