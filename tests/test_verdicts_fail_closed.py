"""No verdict, bound or guarantee follows from what is no number: it is a typed error, or counts against the claim."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.accounting.claim import Claim
from dpviz.accounting.events import ApproximateDP, GaussianRounds, Parallel, PureDP, RandomPartition, Sequential, Step
from dpviz.accounting.gaussian import covers, noise_multiplier
from dpviz.accounting.guarantee import PrivacyLoss, for_unit, guarantee, split_budget
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.evidence import exceeds, judge
from dpviz.evaluation.poisoning import group_delta, published_bound, pure_dp_survival, tight_bound
from dpviz.learners.request import FitRequest
from dpviz.privacy.gaussian import GaussianNoise, NoiseGrid
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.leaf_labels import SmoothMajority
from dpviz.privacy.objective_perturbation import ObjectivePerturbation
from dpviz.privacy.quantiles import JointQuantiles
from dpviz.privacy.random_assignment import PoissonSample, RandomAssignment
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT, BoundedRangeSensitivity, Sensitivity
from dpviz.privacy.two_levels import TwoLevelChoice
from dpviz.release.records import check_caps
from dpviz.results.verdict import verdict
from tests.support.examples import examples

IMPOSSIBLE_SCORE = (math.nan, -math.inf, -1.0, -1e-300, np.nan, "1", "nan", "", True, None, 1j, (1.0,), b"1")
SOUND, LOSS, RISK = Claim(1.0, "", "holds", ""), PrivacyLoss(1.0), Risk(Step(PureDP(1.0), "leaf", mechanism="geometric"))
OUTPUTS = [0] * 300, [1] * 300
DRAWS = np.array([0.5, 1.0]), np.array([0.5, 1.0])
ROUNDS = {"epsilon": 1.0, "delta": 1e-6, "noise_multiplier": 9.0, "sampling": 1.0, "rounds": 3, "order": None}


def rounds(**changed: Any) -> GaussianRounds:
    return GaussianRounds(**ROUNDS | changed)


#: Who is given a number that a claim, a verdict or a bound rests on.
DOORS: dict[str, Callable[[Any], Any]] = {
    "judge log_ratio": lambda x: judge(x, SOUND, LOSS),
    "claim epsilon": lambda x: Claim(x, "", "holds", ""),
    "claim delta": lambda x: Claim(1.0, "", "holds", "", x),
    "loss epsilon": PrivacyLoss,
    "loss delta": lambda x: PrivacyLoss(1.0, x),
    "unit": lambda x: for_unit(LOSS, x),
    "unit with delta": lambda x: for_unit(PrivacyLoss(1.0, 1e-6), x),
    "verdict claim": lambda x: verdict(Claim(x, "", "holds", ""), LOSS, released=True),
    "verdict guarantee": lambda x: verdict(SOUND, PrivacyLoss(x), released=True),
    "budget": lambda x: split_budget(x, (1.0, 1.0)),
    "weights": lambda x: split_budget(1.0, (x, 1.0)),
    "select": lambda x: guarantee(Step(PureDP(x), "p", mechanism="m")),
    "noise": lambda x: guarantee(Sequential((Step(PureDP(1.0), "p", mechanism="m"), Step(PureDP(x), "p", mechanism="m")))),
    "parallel noise": lambda x: guarantee(Parallel((Step(PureDP(1.0), "p", mechanism="m"), Step(PureDP(x), "p", mechanism="m")))),
    "approximate epsilon": lambda x: guarantee(Step(ApproximateDP(x, 1e-6), "p", mechanism="m")),
    "approximate delta": lambda x: guarantee(Step(ApproximateDP(1.0, x), "p", mechanism="m")),
    "chances": lambda x: RandomPartition((Step(PureDP(1.0), "p", mechanism="m"),), (x,)),
    "risk of any": lambda x: Risk.of_any(PrivacyLoss(x)),
    "risk delta": RISK.delta,
    "risk epsilon_at": RISK.epsilon_at,
    "risk guesses": RISK.guesses,
    "risk negatives": RISK.false_negatives,
    "risk attribute": RISK.attribute_guesses,
    "risk rows": RISK.for_rows,
    "risk persons": RISK.for_persons,
    "outputs claimed": lambda x: dpviz.audit_outputs(*OUTPUTS, claimed=(0,) if x is None else x),
    "outputs delta": lambda x: dpviz.audit_outputs(*OUTPUTS, delta=x),
    "outputs beta": lambda x: dpviz.audit_outputs(*OUTPUTS, beta=x),
    "audit epsilon": lambda x: dpviz.audit("pf-tree", epsilon=x, seed=0, draws=4),
    "verify epsilon": lambda x: dpviz.verify("pf-tree", epsilon=x),
    "survival": lambda x: pure_dp_survival(np.array([0.5]), 3, x),
    "group epsilon": lambda x: group_delta(3, x, 1e-6),
    "group delta": lambda x: group_delta(3, 1.0, x),
    "tight bound": lambda x: tight_bound(DRAWS, 3, x),
    "tight bound delta": lambda x: tight_bound(DRAWS, 3, 1.0, x),
    "published bound": lambda x: published_bound(0.9, 3, x),
    "published mean": lambda x: published_bound(x, 3, 1.0),
    "multiplier epsilon": lambda x: noise_multiplier(x, 1e-6, sampling=1.0, rounds=1),
    "multiplier delta": lambda x: noise_multiplier(1.0, x, sampling=1.0, rounds=1),
    "multiplier sampling": lambda x: noise_multiplier(1.0, 1e-6, sampling=x, rounds=1),
    "cap": lambda x: check_caps(x, 0.0, 1),
    "cap delta": lambda x: check_caps(1.0, x, 1),
    "request epsilon": lambda x: FitRequest.of("pf-tree", epsilon=x),
    "request delta": lambda x: FitRequest.of("s-gbdt", epsilon=1.0, delta="" if x is None else x),
    "geometric": GeometricNoise,
    "geometric l1": lambda x: GeometricNoise(1.0, x),
    "laplace": LaplaceNoise,
    "laplace l1": lambda x: LaplaceNoise(1.0, x),
    "gaussian": GaussianNoise,
    "grid": lambda x: NoiseGrid((1.0, x)),
    "permute-and-flip": lambda x: PermuteAndFlip(x, COUNT),
    "exponential": lambda x: ExponentialMechanism(x, COUNT),
    "two levels": lambda x: TwoLevelChoice(x, BoundedRangeSensitivity(1, "")),
    "width": lambda x: BoundedRangeSensitivity(x, ""),
    "sensitivity": lambda x: Sensitivity(x, monotone=True, source=""),
    "quantiles": lambda x: JointQuantiles(x, 0, 1),
    "smooth majority": SmoothMajority,
    "objective": lambda x: ObjectivePerturbation(x, 1.0),
    "objective penalty": lambda x: ObjectivePerturbation(1.0, x),
    "assignment": lambda x: RandomAssignment((x,)),
    "sample": PoissonSample,
}
#: Where infinity is a number that says something: no guarantee at all, or every row.
ENDLESS = {"judge log_ratio", "claim epsilon", "loss epsilon", "verdict claim", "verdict guarantee", "select", "noise"}
ENDLESS |= {"parallel noise", "approximate epsilon", "risk of any", "risk delta", "survival", "tight bound", "group epsilon"}
ENDLESS |= {"published bound"}


def test_what_is_no_number_is_refused_at_the_door_and_infinity_where_it_says_nothing():
    for name, door in DOORS.items():
        for value in IMPOSSIBLE_SCORE:
            with pytest.raises(DpvizError):
                print(name, value, door(value))  # pytest shows the last that was let in
    for door in ["budget", "weights"]:
        assert sum(DOORS[door](1.0)) == 1
        with pytest.raises(DpvizError):
            DOORS[door](True)
    for door in [door for door in DOORS if door not in ENDLESS]:
        with pytest.raises(DpvizError):
            DOORS[door](math.inf)


def test_infinity_is_no_guarantee():
    assert judge(math.inf, SOUND, LOSS) == "ledger violated"
    assert judge(math.inf, SOUND, PrivacyLoss(math.inf)) == "violated"
    assert judge(math.inf, Claim(math.inf, "", "none", ""), PrivacyLoss(math.inf)) == "none"
    assert verdict(SOUND, PrivacyLoss(math.inf), released=True).kind == "unproven"
    for claimed in (Claim(math.inf, "", "holds", ""), Claim(math.inf, "", "unproven", "")):
        assert verdict(claimed, PrivacyLoss(math.inf), released=True).kind != "released"
    assert Risk.of_any(PrivacyLoss(math.inf)).guesses() == 1.0
    assert pure_dp_survival(np.array([0.5]), 1, math.inf) == 0.0
    assert published_bound(0.9, 1, math.inf) == 0.0


def test_rounds_with_what_is_no_number_cover_nothing():
    for name in ["epsilon", "delta", "noise_multiplier", "sampling", "rounds", "order"]:
        for value in [math.nan, math.inf, -math.inf, -1.0, "1", None]:
            if (name, value) in {("order", None), ("epsilon", math.inf)}:
                continue
            assert not covers(rounds(**{name: value}))
            with pytest.raises(DpvizError):
                guarantee(Step(rounds(**{name: value}), "trees"))


def test_a_bound_that_is_no_number_is_exceeded():
    assert exceeds(math.nan, 1.0)
    assert exceeds(1.0, math.nan)
    assert not exceeds(1.0, 1.0)


@examples(300)
@given(st.floats(), st.floats())
def test_a_comparison_with_what_is_no_number_counts_against_the_claim(ratio, bound):
    if math.isnan(ratio) or math.isnan(bound) or (ratio > bound * (1 + 1e-6) + 1e-6 and bound >= 0):
        assert exceeds(ratio, bound)


@examples(300)
@given(st.floats(), st.floats(), st.floats(), st.sampled_from(["holds", "unproven", "violated"]))
def test_a_verdict_holds_only_for_numbers_in_order(log_ratio, claimed, composed, standing):
    try:
        found = judge(log_ratio, Claim(claimed, "", standing, ""), PrivacyLoss(composed))
    except DpvizError:
        assert any(not value >= 0 for value in (log_ratio, claimed, composed))
        return
    assert found != "holds" or log_ratio <= claimed * (1 + 1e-6) + 1e-6
