"""What every mechanism promises: an event with its release, typed refusals, an exact sampler or a refusal that names it."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from dpviz.accounting.events import BoundedRange, Free, PureDP, Step
from dpviz.errors import DpvizError, ParameterError, RefusedRelease
from dpviz.privacy.gaussian import GaussianNoise, NoiseGrid
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.leaf_labels import LabelLeaves, SmoothMajority
from dpviz.privacy.objective_perturbation import ObjectivePerturbation
from dpviz.privacy.quantiles import JointQuantiles
from dpviz.privacy.random_assignment import PoissonSample, RandomAssignment
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT, BoundedRangeSensitivity, Sensitivity
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.privacy.two_levels import TwoLevelChoice
from dpviz.privacy.uniform import UniformChoice, UniformPoint
from tests.support.two_levels import utilities_of

GUESSED = Sensitivity(1.0, monotone=False, source="guessed from the data", is_bound=False)
TREES = utilities_of(np.array([[0, 5], [12, 2]]), np.array([[-6, 1], [0, 4]]))
ROWS = np.ones((3, 2)) / 2, np.ones(3)
#: At an epsilon so large that nothing is random: mechanism, values, what is released (None: anything), what it costs.
SURE = [
    (GeometricNoise(200.0), np.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4), PureDP(200.0)),
    (LaplaceNoise(1e9), np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3), PureDP(1e9)),
    (PermuteAndFlip(300.0, COUNT), np.array([1, 9, 2]), 1, PureDP(300.0)),
    (ExponentialMechanism(300.0, COUNT), np.array([1, 9, 2]), 1, BoundedRange(300.0)),
    (TwoLevelChoice(5000.0, BoundedRangeSensitivity(8, "test")), TREES, (1, 0, 1), BoundedRange(5000.0)),
    (UniformChoice(), 3, None, Free()),
    (UniformPoint(), (0.0, 1.0), None, Free()),
    (ObjectivePerturbation(0.5, 1.0), ROWS, None, PureDP(0.5)),
    (JointQuantiles(0.5, 0.0, 100.0), np.arange(100), None, BoundedRange(0.5)),
]
#: No price: the sensitivity is no bound, or no epsilon covers the odds.
UNBOUNDED = [
    (PermuteAndFlip(1.0, GUESSED), "guessed from the data"),
    (ExponentialMechanism(1.0, GUESSED), "guessed from the data"),
    (SmoothMajority(0.6), "the smooth sensitivity of the majority gives the exponential mechanism unbounded odds"),
]
NOT_EXACT = [
    (LaplaceNoise(1.0), np.zeros(2), "Laplace noise on real numbers"),
    (ObjectivePerturbation(0.5, 1.0), ROWS, "objective perturbation"),
    (JointQuantiles(0.5, 0.0, 1.0), np.array([0.5]), "joint exponential quantiles"),
    (LabelLeaves(SmoothMajority(1.0)), np.array([[5, 0], [0, 0], [0, 0], [0, 0]]), ".*smooth sensitivity"),
    (LabelLeaves(SmoothMajority(1.0)), np.zeros((4, 2), dtype=np.int64), ".*smooth sensitivity"),
    (ExponentialMechanism(1.0, COUNT, np.zeros(3)), np.arange(3), "exponential mechanism with weights"),
    (PermuteAndFlip(1.0, COUNT), np.array([0.5, 1.0]), "permute-and-flip on real-valued utilities"),
    (ExponentialMechanism(1.0, COUNT), np.array([0.5, 1.0]), "exponential mechanism on real-valued utilities"),
]


def test_a_release_comes_with_its_event_and_keeps_the_shape() -> None:
    for (mechanism, values, expected, cost), source in product(SURE, (Simulation(3), ExactNoise())):
        try:
            released = mechanism.release(values, source=source, part="leaf", level=2)
        except RefusedRelease:
            assert source.name == "release"
            assert mechanism.title in [other.title for other, *_ in NOT_EXACT]
            continue
        assert released.event == Step(cost, "leaf", 2, mechanism="" if isinstance(cost, Free) else mechanism.title)
        if expected is not None:
            np.testing.assert_allclose(released.value, expected, atol=1e-6)
            assert np.shape(released.value) == np.shape(expected)


def test_what_no_bound_covers_has_no_price() -> None:
    for mechanism, reason in UNBOUNDED:
        assert mechanism.event("node", 1) == Step.unbounded(reason, "node", 1)


def test_without_an_exact_sampler_nothing_is_released() -> None:
    for mechanism, values, what in NOT_EXACT:
        with pytest.raises(RefusedRelease, match=f"^{what} has no exact sampler" if what[0] != "." else what):
            mechanism.release(values, source=ExactNoise(), part="leaf")


NAN, INF = math.nan, math.inf
#: How it is made, with one argument of these values, and the parameter that is named; what is no number at all is refused by the
#: doors of `tests/test_verdicts_fail_closed.py`.
REFUSED = [
    (lambda n: JointQuantiles(1.0, 0.0, 1.0, n), (0,), "'n_quantiles' parameter of JointQuantiles must be at least 1"),
    (lambda high: JointQuantiles(1.0, 2.0, high), (2.0, 1.0, NAN, INF), "'high' parameter of JointQuantiles must be finite and"),
    (lambda high: JointQuantiles(1.0, -high, high), (1.7e308,), "'high' parameter of JointQuantiles must be finite and above"),
    (RandomAssignment, ((1.0,), (0.6, 0.6)), "not negative, and below 1 in all"),
    (PoissonSample, (0.0,), "'rate' parameter of PoissonSample"),
    (GaussianNoise, (0, 2.0**60), "'scale' parameter of GaussianNoise"),
    (NoiseGrid, ((0.0,), (2.0**40,)), "'scales' parameter of NoiseGrid"),
    (GeometricNoise, (0.0,), "'epsilon' parameter of GeometricNoise must be positive and finite"),
    (LaplaceNoise, (0.0,), "'epsilon' parameter of LaplaceNoise must be positive and finite"),
    (lambda penalty: ObjectivePerturbation(1.0, penalty), (0,), "'penalty' parameter of ObjectivePerturbation"),
    (lambda value: Sensitivity(value, monotone=True, source="test"), (0.0,), "'value' parameter of Sensitivity must be"),
]


def test_what_no_mechanism_can_have_is_refused_by_name() -> None:
    for make, values, said in REFUSED:
        for value in values:
            with pytest.raises(ParameterError, match=said):
                make(value)


@pytest.mark.parametrize("kind", [GeometricNoise, LaplaceNoise])
def test_a_scale_beyond_64_bits_is_a_typed_error(kind) -> None:
    for epsilon, l1 in [(5e-324, 1.0), (1e-300, 2.0**20), (1e-18, 1.0), (1.0, INF)]:
        with pytest.raises(ParameterError, match="so large that the noise has a scale below"):
            kind(epsilon, l1=l1)
    assert kind(1e-12, l1=1.0)


def test_values_with_gaps_are_refused() -> None:
    with pytest.raises(DpvizError, match="values without gaps"):
        JointQuantiles(1.0, 0.0, 1.0).sample(np.array([0.5, NAN]), np.random.default_rng(0))
