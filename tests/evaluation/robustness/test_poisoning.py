"""Poisoning bounds: the published one, the tight one, its band, and the exhaustive check that nothing falls below."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import dpviz
from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.events import Event, Free, GaussianRounds, PureDP, RandomPartition, Sequential, Step
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError, ParameterError, UnknownName
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.evaluation.poisoning import (
    CHUNK,
    Certificate,
    Draws,
    PoisoningTable,
    VoteCertificate,
    band_distribution,
    certified_rows,
    certify,
    curve_rows,
    distribution_of,
    draw,
    group_delta,
    published_bound,
    survival,
    tight_bound,
)
from dpviz.learners import FitRequest, get_learner
from dpviz.randomness import generator
from dpviz.table.dataset import EncodedDataset
from dpviz.training.params import Settings, make_params
from tests.support.tables import schema_of, table

draws_of = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]), min_size=1, max_size=30).map(np.array)
epsilons = st.sampled_from([1e-6, 0.01, 0.1, 1.0, 3.0, 50.0, 1e6])
row_counts = st.integers(0, 2000)


def one_step(u: float, epsilon: float) -> float:
    """T(u) as it is defined."""
    return min(math.exp(epsilon) * u, 1 - math.exp(-epsilon) * (1 - u))


# --- T applied k times


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("rows", [0, 1, 2, 7, 40])
def test_survival_is_one_minus_k_steps(epsilon: float, rows: int) -> None:
    u = np.linspace(0, 1, 401)
    stepped = u.copy()
    for _ in range(rows):
        stepped = np.array([one_step(x, epsilon) for x in stepped])
    np.testing.assert_allclose(survival(u, rows, epsilon), 1 - stepped, rtol=1e-9, atol=1e-12)


def test_survival_is_one_minus_k_steps_and_keeps_its_digits() -> None:
    # one row in the growing half, then a factor e^-eps per row: far below what 1 - T^k(u) could show
    assert survival(np.array([0.5]), 100, 1.0)[0] == pytest.approx(0.5 * math.exp(-100), rel=1e-12)
    assert survival(np.array([0.0]), 10**6, 1.0)[0] == 1.0
    assert survival(np.array([1.0]), 3, 1.0)[0] == 0.0


@given(st.floats(0, 1), row_counts, epsilons)
def test_survival_is_a_probability_and_falls_with_every_row(u: float, rows: int, epsilon: float) -> None:
    now, then = (survival(np.array([u]), k, epsilon)[0] for k in (rows, rows + 1))
    assert 0 <= then <= now * (1 + 1e-12) <= 1 + 1e-9


# --- the bound


@given(draws_of, row_counts, epsilons)
def test_the_tight_bound_lies_below_the_mean_and_falls_with_every_row(draws: np.ndarray, rows: int, epsilon: float) -> None:
    tight = tight_bound(distribution_of(draws), rows, epsilon)
    assert published_bound(float(draws.mean()), rows, epsilon) <= tight + 1e-12
    assert tight <= draws.mean() + 1e-12
    distribution = distribution_of(draws)
    assert tight_bound(distribution, rows + 1, epsilon) <= tight_bound(distribution, rows, epsilon) + 1e-12


@given(st.floats(0, 1), row_counts, epsilons, st.integers(1, 9), draws_of)
def test_a_constant_accuracy_stays_and_without_poison_the_bound_is_the_mean(
    value: float, rows: int, epsilon: float, size: int, draws: np.ndarray
) -> None:
    assert tight_bound(distribution_of(np.full(size, value)), rows, epsilon) == pytest.approx(value)
    assert tight_bound(distribution_of(draws), 0, epsilon) == pytest.approx(draws.mean())


@given(draws_of, st.sampled_from([0.01, 0.1, 1.0, 3.0]), st.integers(1, 12))
def test_an_explicit_chain_of_private_laws_attains_the_bound(draws: np.ndarray, epsilon: float, rows: int) -> None:
    values, at_most = distribution_of(draws)
    chain = []  # probabilities of each value at distance 0 .. rows: distribution function T^s o F
    for step in range(rows + 1):
        stepped = at_most
        for _ in range(step):
            stepped = np.array([one_step(x, epsilon) for x in stepped])
        chain.append(np.diff(stepped, prepend=0.0))
    for near, far in pairwise(chain):  # neighbours differ by at most e^eps everywhere: a private learner
        assert (far <= math.exp(epsilon) * near + 1e-12).all()
        assert (near <= math.exp(epsilon) * far + 1e-12).all()
    assert float(values @ chain[-1]) == pytest.approx(tight_bound((values, at_most), rows, epsilon), abs=1e-12)


@given(draws_of, st.integers(1, 30), st.sampled_from([0.01, 0.3]), st.sampled_from([1e-6, 1e-3, 0.2]))
def test_delta_only_lowers_the_bound_and_by_no_more_than_the_group_s(
    draws: np.ndarray, rows: int, epsilon: float, delta: float
) -> None:
    distribution = distribution_of(draws)
    in_one_step = tight_bound(distribution, 1, rows * epsilon)
    assert in_one_step <= tight_bound(distribution, rows, epsilon) + 1e-12  # one step of k eps is valid, and looser
    with_delta = tight_bound(distribution, rows, epsilon, delta)
    assert in_one_step - group_delta(rows, epsilon, delta) - 1e-12 <= with_delta <= in_one_step + 1e-12


def test_the_group_s_delta_adds_up_and_a_mechanism_attains_no_less_than_its_bound() -> None:
    assert group_delta(3, 0.5, 1e-3) == pytest.approx(1e-3 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert group_delta(4, 0.0, 1e-3) == pytest.approx(4e-3)
    assert group_delta(10**6, 1.0, 1e-9) == 1.0
    assert group_delta(0, 1.0, 1e-9) == group_delta(9, 1.0, 0.0) == 0.0
    # with chance delta everything is lost: an (eps, delta) learner whose neighbour is as bad as it may be
    epsilon, delta = 0.7, 0.05
    values, at_most = np.array([0.2, 0.9]), np.array([0.3, 1.0])
    worst = min(1.0, one_step(0.3, epsilon) + delta)
    neighbour = worst * 0.2 + (1 - worst) * 0.9
    assert tight_bound((values, at_most), 1, epsilon, delta) <= neighbour + 1e-12


@pytest.mark.parametrize("name", ["pf-tree", "majority"])
@pytest.mark.parametrize("epsilon", [0.3, pytest.param(2.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("universe", [Universe((2, 2), max_rows=3), Universe((3,), numeric=True, max_rows=4)])
@pytest.mark.slow
def test_no_data_set_of_a_universe_falls_below_the_bound(name: str, epsilon: float, universe: Universe) -> None:
    accuracies, chances = exact_accuracies(name, epsilon, universe)
    asked = {"leaves": "labels"} if name == "pf-tree" else {}
    risk = FitRequest.of(name, epsilon=epsilon, max_depth=1, depth=1, **asked).risk(universe.schema)
    apart = np.abs(universe.counts[:, None, :] - universe.counts[None, :, :]).sum(axis=2)
    tightest = 0.0
    for here in range(len(universe.keys)):
        distribution = joined(accuracies, chances[here])
        bounds = np.array([tight_bound(distribution, rows, epsilon, 0.0, risk) for rows in range(apart[here].max() + 1)])
        slack = chances @ accuracies - bounds[apart[here]]
        assert slack.min() >= -1e-9
        tightest = max(tightest, float(bounds[0] - bounds[1]))
    assert tightest > 1e-3  # the bound said something


def exact_accuracies(name: str, epsilon: float, universe: Universe) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy (on fixed rows of no symmetry) of every model that can come out, and its probability on every data set."""
    test = universe.kinds.take(np.repeat(np.arange(universe.kinds.n_rows), np.arange(universe.kinds.n_rows)), share=1.0)
    spec, source = get_learner(name), Enumeration()
    params = make_params(spec.Params, name, {"leaves": "labels"} if name == "pf-tree" else {})
    plan = spec.plan(universe.schema, Settings(epsilon=epsilon, max_depth=1, depth=1), params)
    number: dict[float, int] = {}
    distributions = []
    for index in range(len(universe.keys)):
        data = universe.dataset(index)
        distribution: dict[int, float] = {}
        for model, chance in source.outcomes(lambda data=data: spec.fit(data, plan, params, source).model):
            value = float(np.mean(model.predict(test) == test.target))
            place = number.setdefault(value, len(number))
            distribution[place] = distribution.get(place, 0.0) + chance
        distributions.append(distribution)
    chances = np.array([[distribution.get(place, 0.0) for place in range(len(number))] for distribution in distributions])
    return np.array(list(number)), chances


def joined(values: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A distribution in increasing order."""
    order = np.argsort(values)
    at_most = np.minimum(1.0, chances[order].cumsum())
    at_most[-1] = 1.0
    return values[order], at_most


# --- what the steps of a learner keep beyond epsilon and delta


@pytest.mark.parametrize("rows", [1, 3, 36])
def test_gaussian_rounds_keep_what_a_gaussian_keeps(rows: int) -> None:
    risk = Risk(Step(GaussianRounds(1.0, 1e-6, 60.0, 1.0, 9, None), "sums", mechanism="Gaussian")).for_rows(rows)
    below = np.array([0.0, 1e-3, 0.01, 0.1, 0.5, 0.9])
    exact = norm.sf(norm.ppf(below) + rows * 3 / 60)
    np.testing.assert_array_less(risk.remains(below), exact + 1e-9)
    np.testing.assert_allclose(risk.remains(below), exact, atol=2e-3)


@pytest.mark.parametrize("rows", [1, 4, 11])
def test_a_pure_step_keeps_what_epsilon_keeps(rows: int) -> None:
    below = np.linspace(0, 1, 31)
    found = Risk(Step(PureDP(0.3), "leaf", mechanism="permute-and-flip")).for_rows(rows).remains(below)
    np.testing.assert_array_less(found, survival(below, rows, 0.3) + 1e-9)
    np.testing.assert_allclose(found, survival(below, rows, 0.3), atol=2e-3)


@pytest.mark.slow
def test_what_is_likely_is_kept_far_longer_than_epsilon_says() -> None:
    boosted = FitRequest.of("s-gbdt", epsilon=0.1).risk(replace(schema_of("mixed"), n_public=30_000))
    likely = np.array([0.0, 1.0]), np.array([0.01, 1.0])
    assert tight_bound(likely, 36, 0.1, 5e-8) == pytest.approx(0.634, abs=0.001)
    assert 0.92 < tight_bound(likely, 36, 0.1, 5e-8, boosted) < 0.94
    assert tight_bound(likely, 100, 0.1, 5e-8) == 0.0
    assert 0.4 < tight_bound(likely, 100, 0.1, 5e-8, boosted) < 0.51
    assert boosted.for_rows(36).remains(np.array([0.01]))[0] == pytest.approx(0.934, abs=0.002)


@given(draws_of, st.sampled_from([1, 2, 10, 11, 12, 13, 14, 60]))
def test_steps_only_raise_the_bound_and_more_rows_only_lower_it(draws: np.ndarray, rows: int) -> None:
    risk, distribution = (
        Risk(Step(GaussianRounds(0.5, 1e-6, 200.0, 1.0, 100, None), "sums", mechanism="Gaussian")),
        distribution_of(draws),
    )
    found = tight_bound(distribution, rows, 0.5, 1e-6, risk)
    assert tight_bound(distribution, rows, 0.5, 1e-6) <= found <= draws.mean() + 1e-9
    assert tight_bound(distribution, rows + 1, 0.5, 1e-6, risk) <= found + 1e-12


@pytest.mark.parametrize(
    "event",
    [
        Step(GaussianRounds(1.0, 1e-6, 20.0, 0.1, 9, None), "sums", mechanism="Gaussian"),
        RandomPartition((Step(PureDP(0.3), "leaf", mechanism="permute-and-flip"), Step(Free(), "none")), (0.5, 0.5), shared=True),
        Sequential(
            (
                RandomPartition(
                    (Step(PureDP(0.3), "leaf", mechanism="permute-and-flip"), Step(Free(), "none")), (0.5, 0.5), shared=True
                ),
            )
            * 2
        ),
    ],
)
def test_nothing_is_said_where_rows_that_come_and_go_are_not_alike_or_assigned_together(event: Event) -> None:
    assert not Risk(event).for_rows(2).remains(np.array([0.0, 0.1])).any()


def test_rows_with_assignment_of_their_own_keep_more_than_the_largest_part_up_to_a_number() -> None:
    coin = Risk(RandomPartition((Step(PureDP(0.3), "leaf", mechanism="permute-and-flip"), Step(Free(), "none")), (0.5, 0.5)))
    even = np.array([0.5])
    for rows in (1, 3):
        assert coin.for_rows(rows).remains(even)[0] > 1.1 * survival(even, rows, 0.3)[0]
    assert not coin.for_rows(41).remains(even).any()


def test_only_a_claim_that_holds_has_steps_to_rely_on() -> None:
    data = table(schema_of("mixed"), 60)
    for name, is_known in (("pf-tree", True), ("privatree-corrected", False)):
        certificate = Certificate.of(draw(FitRequest.of(name, epsilon=1.0), data, [data], draws=3, seed=1), 0.05)
        assert (certificate.risk is not None) == is_known


# --- the band

VALUES = np.array([0.2, 0.45, 0.6, 0.62, 0.7, 0.8])
CHANCES = np.array([0.01, 0.04, 0.15, 0.3, 0.3, 0.2])


def failures(beta: float, runs: int, size: int = 300) -> int:
    """How often the band's bound exceeds the true one at some number of rows."""
    true_law = VALUES, np.append(CHANCES.cumsum()[:-1], 1.0)
    rows = (0, 1, 3, 10, 30, 100)
    truth = np.array([tight_bound(true_law, k, 0.05) for k in rows])
    rng = generator(1)
    count = 0
    for _ in range(runs):
        band = band_distribution(rng.choice(VALUES, size=size, p=CHANCES), beta)
        count += any(tight_bound(band, k, 0.05) > bound + 1e-12 for k, bound in zip(rows, truth, strict=True))
    return count


@pytest.mark.slow
def test_the_band_covers_the_true_curve_everywhere_as_often_as_it_says() -> None:
    runs = 2000
    assert failures(0.2, runs) <= 0.2 * runs + 3 * math.sqrt(0.16 * runs)


def test_a_band_that_promised_nothing_would_be_caught() -> None:
    # the other side: draws taken as the distribution itself exceed the truth about half the time, so the check above can fail
    rng = generator(2)
    truth = float(VALUES @ CHANCES)
    above = sum(tight_bound(distribution_of(rng.choice(VALUES, size=300, p=CHANCES)), 0, 0.05) > truth for _ in range(400))
    assert 140 < above < 260


def test_more_draws_narrow_the_band_whose_order_statistics_hold_as_often_as_they_say() -> None:
    # for continuous draws the bound at one order statistic fails with probability exactly beta / m: neither more nor less
    rng = generator(3)
    beta, size, runs = 0.5, 200, 4000
    _, at_most = band_distribution(np.arange(size) / size, beta)
    m = len(at_most) - 1
    smallest = rng.random((runs, size)).min(axis=1)
    expected = beta / m * runs
    assert abs(np.count_nonzero(smallest > at_most[0]) - expected) < 5 * math.sqrt(expected)
    rng = generator(4)
    lows = [
        tight_bound(band_distribution(rng.choice(VALUES, size=size, p=CHANCES), 0.05), 20, 0.05) for size in (100, 1000, 10_000)
    ]
    assert lows == sorted(lows)


@given(draws_of, st.sampled_from([0.05, 0.5]), row_counts)
def test_the_band_lies_below_and_more_confidence_costs_more(draws: np.ndarray, beta: float, rows: int) -> None:
    low, lower = (tight_bound(band_distribution(draws, b), rows, 0.1) for b in (beta, beta / 10))
    assert lower <= low + 1e-12 <= tight_bound(distribution_of(draws), rows, 0.1) + 2e-12


# --- votes


def test_a_vote_withstands_half_its_lead_and_ties_go_to_the_lowest_class() -> None:
    votes = np.array([[5, 5], [6, 5], [5, 6], [5, 7], [0, 0], [9, 0], [9, 3]])
    assert certified_rows(votes).tolist() == [0, 0, 0, 0, 0, 4, 3]


@given(st.lists(st.integers(0, 6), min_size=2, max_size=4))
def test_a_vote_withstands_what_moving_votes_can_do(counts: list[int]) -> None:
    votes = np.array([counts])
    chosen, safe = int(votes.argmax()), int(certified_rows(votes)[0])
    reachable = []
    for rival in set(range(len(counts))) - {chosen}:
        moved = votes[0].copy()
        needed = 0
        while moved.argmax() == chosen and moved[chosen] > 0:
            moved[chosen] -= 1
            moved[rival] += 1
            needed += 1
        if moved.argmax() != chosen:
            reachable.append(needed)
    assert all(needed > safe for needed in reachable)
    if reachable:
        assert min(reachable) <= safe + 1


# --- drawing


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.slow
def test_draws_are_the_same_whatever_the_chunks_and_workers() -> None:
    data = table(schema_of(), 200)
    train, test = data.split(0.3, seed=0)
    few, many = (draw(FitRequest.of("pf-tree", epsilon=0.1), train, [test], draws=n, seed=3).of() for n in (10, CHUNK + 5))
    assert many[:10].tolist() == few.tolist()
    spread = draw(FitRequest.of("pf-tree", epsilon=0.1), train, [test], draws=CHUNK + 5, seed=3, workers=2).of()
    assert spread.tolist() == many.tolist()


def test_a_draw_is_what_fit_scores_a_stop_leaves_what_was_done_and_no_rows_are_refused() -> None:
    data = table(schema_of(), 200)
    train, test = data.split(0.3, seed=0)
    drawn = draw(FitRequest.of("pf-tree", epsilon=0.05), train, [test, train], draws=20, seed=3)
    assert drawn.accuracies[0].tolist() == [drawn.first.score(test), drawn.first.score(train)]
    assert len(set(drawn.of(1).tolist())) > 1
    data = table(schema_of(), 60)
    told: list[float] = []
    found = draw(
        FitRequest.of("majority", epsilon=1.0),
        data,
        [data],
        draws=5 * CHUNK,
        seed=0,
        progress=told.append,
        stop=lambda: len(told) >= 2,
    )
    assert (found.n_done, found.n_asked) == (2 * CHUNK, 5 * CHUNK)
    assert told == [0.2, 0.4]
    data = table(schema_of(), 60)
    with pytest.raises(DpvizError, match="There are no rows to score"):
        draw(FitRequest.of("majority", epsilon=1.0), data, [table(schema_of(), 0)], draws=5, seed=0)
    with pytest.raises(ParameterError, match="'draws' parameter of draws must be a whole number of at least 1"):
        draw(FitRequest.of("majority", epsilon=1.0), data, [data], draws=0, seed=0)


# --- curves


def split_of(n_rows: int = 400) -> tuple[EncodedDataset, EncodedDataset]:
    return table(schema_of(), n_rows).split(0.25, seed=0)


@pytest.mark.slow
def test_the_curve_has_the_promised_columns_order_and_rows() -> None:
    train, test = split_of()
    frame = dpviz.poisoning_curve("pf-tree", train, test, epsilon=0.1, max_poisoned=0.1, draws=200, seed=1)
    assert list(frame.columns) == ["poisoned_rows", "poisoned_share", "accuracy", "published", "tight", "tight_low"]
    assert frame.poisoned_rows.tolist() == list(range(31))
    assert frame.poisoned_share.iloc[-1] == pytest.approx(0.1)
    assert (frame.tight_low <= frame.tight).all()
    assert (frame.published <= frame.tight + 1e-12).all()
    assert frame.tight.is_monotonic_decreasing
    assert frame.tight[0] == pytest.approx(frame.accuracy[0])
    assert frame.published.tolist() == pytest.approx([frame.accuracy[0] * math.exp(-0.1 * k) for k in range(31)])
    assert curve_rows(10_700, 0.001) == tuple(range(11))
    assert curve_rows(100, 0.29) == tuple(range(30))  # 0.29 * 100 is a little less than 29
    assert curve_rows(50, 0.01) == (0,)
    many = curve_rows(1_000_000, 0.01)
    assert (len(many), many[0], many[-1]) == (501, 0, 10_000)


def test_nothing_is_certified_for_an_infinite_loss_a_violated_claim_or_what_is_revealed_outside_the_ledger() -> None:
    train, test = split_of(120)
    cart = certify(FitRequest.of("cart", epsilon=0.1), [(train, test)])
    assert cart.reason == "Its privacy loss is infinite: exact splits and labels."
    assert cart.frame()[["published", "tight", "tight_low"]].isna().all(axis=None)
    privatree = certify(FitRequest.of("privatree", epsilon=0.1), [(train, test)], draws=4, max_poisoned=0.05)
    assert privatree.reason.startswith("Its privacy claim is violated. ")
    assert privatree.frame().published.notna().all()  # shown struck through
    assert privatree.frame()[["tight", "tight_low"]].isna().all(axis=None)
    assert privatree.protected_rows() is None
    assert privatree.verdict() == f"No guarantee. {privatree.reason}"
    own = Disclosure("row-count", "The exact row count is published.", "None.")
    read = Disclosure("schema-low", "The lower bound of 'x' was read from the data.", "Declare it.", "x")
    assert drawn_with(disclosures=(read,)).reason == ""  # the poison is supposed not to change the schema
    assert drawn_with(disclosures=(read, own)).reason == (
        "It reveals something outside its ledger. The exact row count is published."
    )


def test_a_finite_ledger_above_the_claim_and_a_claim_with_delta_are_certified_at_what_they_are() -> None:
    train, test = split_of(120)
    found = certify(
        FitRequest.of("privatree", epsilon=0.1, depth=2, grow_complete=True), [(train, test)], draws=4, max_poisoned=0.05
    )
    certificate = found.bounds[0]
    assert isinstance(certificate, Certificate)
    if not found.reason:
        assert certificate.epsilon > certificate.claimed
    found = drawn_with(claim=Claim(0.1, "somebody", "holds", "Because.", delta=1e-3))
    assert (found.epsilon, found.delta) == (0.1, 1e-3)
    certificate = Certificate.of(found, 0.05)
    assert certificate.tight(3) <= Certificate.of(drawn_with(), 0.05).tight(3)


def drawn_with(**changes: object) -> Draws:
    """Draws of PF-tree at epsilon .1 whose result says something else."""
    data = table(schema_of(), 60)
    found = draw(FitRequest.of("pf-tree", epsilon=0.1), data, [data], draws=5, seed=0)
    return Draws(found.accuracies.copy(), replace(found.first, **changes), found.composed, found.n_asked)


def a_table(draws: list[float], *, epsilon: float = 0.1, majority: float = 0.5, reason: str = "") -> PoisoningTable:
    certificate = Certificate(np.array(draws), epsilon, 0.0, epsilon, reason, 0.05)
    return PoisoningTable("pf-tree", (certificate,), 1000, majority, 0.05, (0, 1), len(draws), len(draws))


def test_the_verdict_is_the_last_row_count_above_what_is_wanted() -> None:
    found = a_table([0.8] * 990 + [0.6] * 10)
    rows = found.protected_rows()
    assert rows is not None
    assert found.low(rows) > 0.5 >= found.low(rows + 1)
    assert found.verdict() == (
        f"Withstands up to {rows} poisoned rows ({rows / 1000:.2%}): its mean accuracy stays above 50.0% (the majority class), "
        "with 95% confidence. Counted: add/remove one row; a changed row counts as two."
    )
    assert (found.protected_rows(0.7) or 0) < rows
    assert "what you asked for" in found.verdict(0.7)
    found = a_table([0.5] * 100)
    assert found.protected_rows() is None
    assert found.verdict().startswith("No protection shown: even without poison its accuracy is not above 50.0%")


@pytest.mark.slow
def test_splits_share_the_confidence_and_are_averaged() -> None:
    data = table(schema_of(), 400)
    splits = [data.split(0.25, seed=seed) for seed in range(3)]
    found = certify(FitRequest.of("pf-tree", epsilon=0.1), splits, draws=50, beta=0.06, seed=4)
    assert [bound.beta for bound in found.bounds] == pytest.approx([0.02] * 3)
    alone = [
        certify(FitRequest.of("pf-tree", epsilon=0.1), [split], draws=50, beta=0.02, seed=4 + number).low(2)
        for number, split in enumerate(splits)
    ]
    assert found.low(2) == pytest.approx(np.mean(alone))


def test_a_vote_on_disjoint_rows_is_certified_without_privacy() -> None:
    train, test = split_of()
    found = certify(FitRequest.of("dpa", epsilon=1.0, trees=40), [(train, test)], max_poisoned=0.1)
    assert isinstance(found.bounds[0], VoteCertificate)
    frame = found.frame()
    assert frame.tight.is_monotonic_decreasing
    assert frame.tight.tolist() == frame.tight_low.tolist() == frame.published.tolist()
    assert frame.accuracy[0] == frame.tight[0] == dpviz.fit("dpa", train, epsilon=1.0, trees=40, seed=0).score(test)
    assert "confidence" not in found.verdict()


def test_what_cannot_be_asked_is_named() -> None:
    train, test = split_of(120)
    with pytest.raises(ParameterError, match=r"'max_poisoned' parameter of certify must be a share in \[0, 1\]. Got 1.5"):
        dpviz.poisoning_curve("pf-tree", train, test, epsilon=0.1, max_poisoned=1.5)
    with pytest.raises(ParameterError, match="'beta' parameter of certify must be a number between 0 and 1"):
        dpviz.poisoning_curve("pf-tree", train, test, epsilon=0.1, beta=0.0)
    with pytest.raises(ParameterError, match="'splits' parameter of certify must be at least one"):
        certify(FitRequest.of("pf-tree", epsilon=0.1), [])
    with pytest.raises(UnknownName, match="There is no learner called 'pf_tree'"):
        dpviz.poisoning_curve("pf_tree", train, test, epsilon=0.1)
