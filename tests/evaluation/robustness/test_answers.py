"""How many poisoned rows the most frequent answer withstands: attacked with every table of a small universe."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from dpviz.accounting.gaussian import priced_rounds
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.evaluation.robustness.answers import answer_limits, frequent_answer, withstood
from dpviz.evaluation.robustness.draws import proved_loss, proved_risk
from dpviz.learners import FitRequest
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema


def schema(n_classes):
    return Schema((CategoricalFeature("a", ("0", "1")),), ClassTarget("y", tuple("pqr"[:n_classes])), n_public=8)


def table(counts, n_classes=2):
    """So many rows of every kind: of each category one count per class."""
    cells = [(place // n_classes, place % n_classes) for place, times in enumerate(counts) for _ in range(times)]
    rows = np.array(cells, dtype=np.uint8).reshape(-1, 2)
    return EncodedDataset(schema(n_classes), (rows[:, 0],), rows[:, 1])


def law(request, rows, person, n_classes):
    """The exact probability of every answer for one person."""
    found, source = np.zeros(n_classes), Enumeration()
    for result, chance in source.outcomes(lambda: request.fit(rows, source)):
        found[int(result.model.predict(person)[0])] += chance
    return found


def within(counts, rows):
    """Every table at most so many additions and removals away."""
    for moved in itertools.product(range(-rows, rows + 1), repeat=len(counts)):
        if 0 < sum(map(abs, moved)) <= rows and min(np.add(counts, moved)) >= 0:
            yield tuple(np.add(counts, moved).tolist())


def certified(request, counts, n_classes, person):
    exact = law(request, table(counts, n_classes), person, n_classes)
    result = request.at(seed=0).fit(table(counts, n_classes))
    label = int(exact.argmax())
    composed = result.ledger.guarantee.epsilon
    loss, risk = proved_loss(result, composed), proved_risk(result, composed)
    return label, withstood(exact[label], np.delete(exact, label), loss, risk, 6), exact


CASES = (
    ("majority", {"epsilon": 0.5}, 2, (4, 0, 4, 0)),
    ("majority", {"epsilon": 1.5}, 2, (1, 0, 3, 0)),
    ("majority", {"epsilon": 1.0}, 3, (3, 0, 0, 3, 0, 0)),
    ("pf-tree", {"epsilon": 1.0, "max_depth": 1, "depth": 1, "leaves": "labels"}, 2, (5, 0, 0, 5)),
)


@pytest.mark.parametrize(("name", "asked", "n_classes", "counts"), CASES)
def test_no_table_within_the_certified_rows_has_another_most_probable_answer(name, asked, n_classes, counts):
    request = FitRequest.of(name, **asked)
    person = table((1, *[0] * (len(counts) - 1)), n_classes)
    label, rows, exact = certified(request, counts, n_classes, person)
    assert rows >= 1
    assert exact[label] > 0.5
    for other in within(counts, min(rows, 2 if len(counts) > 4 else rows)):
        assert int(law(request, table(other, n_classes), person, n_classes).argmax()) == label


def test_with_more_rows_than_certified_an_attack_succeeds_where_the_bound_is_tight():
    """Two classes that lie as near as the first case's bound allows: the next row but one makes them equal."""
    request = FitRequest.of("majority", epsilon=1.0)
    counts, person = (3, 0, 0, 0), table((1, 0, 0, 0))
    label, rows, _ = certified(request, counts, 2, person)
    flipped = [law(request, table(other), person, 2) for other in within(counts, rows + 2)]
    assert max(one[1 - label] for one in flipped) > 0.5
    assert rows >= 1


def test_randomised_response_withstands_exactly_what_its_epsilon_allows():
    for epsilon, right in itertools.product((0.1, 0.7), (0.6, 0.9, 0.999)):
        loss = PrivacyLoss(epsilon)
        found = withstood(right, np.array([1 - right]), loss, None, 1000)
        assert found == math.ceil(math.log(1 / (2 * (1 - right))) / epsilon - 1e-12) - 1


def test_what_the_steps_of_a_learner_keep_beyond_its_epsilon_counts():
    """One Gaussian: k rows move it by k mu, and the frequent answer is the most probable one up to half of the way."""
    event = priced_rounds(0.3, 1e-6, sampling=1.0, rounds=1, filtered=False, part="x")
    loss, mu = PrivacyLoss(0.3, 1e-6), 1 / event.noise_multiplier
    exact = math.ceil(float(norm.ppf(0.9)) / mu) - 1
    assert 3 * withstood(0.9, np.array([0.1]), loss, None, 100) < exact
    assert 0.85 * exact <= withstood(0.9, np.array([0.1]), loss, Risk(event), 100) <= exact


def test_a_rare_answer_withstands_nothing_and_of_several_the_second_counts():
    loss = PrivacyLoss(0.1)
    assert withstood(0.5, np.array([0.5]), loss, None, 100) == 0
    assert withstood(0.4, np.array([0.1, 0.1]), loss, None, 100) > withstood(0.4, np.array([0.3, 0.3]), loss, None, 100) > 0
    assert withstood(1.0, np.array([0.0]), loss, None, 100) == 100


@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.7, 0.2, 0.1)])
def test_limits_of_all_answers_hold_at_once(shares):
    rng = np.random.default_rng(5)
    missed = 0
    for given in rng.multinomial(30, shares, size=2000):
        low, high = answer_limits(given)
        missed += bool(np.any(low > shares) or np.any(high < shares))
    assert 0 < missed / 2000 <= 0.05


def test_of_draws_the_answer_its_count_and_its_rows_are_said_and_nothing_of_what_is_not_private():
    rows = table((400, 20, 300, 30))
    person = table((1, 0, 0, 0))
    request = FitRequest.of("majority", epsilon=0.1)
    models = [request.at(seed=seed).fit(rows).model for seed in child_seeds(1, 30)]
    found = frequent_answer(models, person, request.at(seed=1).fit(rows), rows.n_rows)
    assert (found.label, found.times, found.n_draws, found.n_rows) == (0, 30, 30, 750)
    assert found.rows == math.ceil(math.log(1 / (2 * (1 - 0.025 ** (1 / 30)))) / 0.1) - 1 == 14
    exact = FitRequest.of("cart", epsilon=1.0).fit(rows)
    assert frequent_answer([exact.model], person, exact, rows.n_rows) is None
