"""Code that is not ours: bounds are what they are called, wrong as often as they say, on outputs of any kind and from files."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.audit.outputs import audit_outputs, bound_by_guesses, bound_by_ratio
from dpviz.randomness import generator

BETA = 0.2


def responses(epsilon, n, seed):
    """Randomised response on either table."""
    right = generator(seed).random((2, n)) < 1 / (1 + math.exp(-epsilon))
    return (~right[0]).astype(int).tolist(), right[1].astype(int).tolist()


def is_wrong_more_often(wrong, trials, share=BETA):
    return stats.binomtest(int(wrong), trials, share, alternative="greater").pvalue < 1e-6


@pytest.mark.parametrize(("up", "down", "n"), [(50, 5, 100), (1, 0, 10), (100, 0, 100), (99, 98, 100), (0, 0, 10), (0, 10, 10)])
def test_a_bound_by_ratio_is_that_of_clopper_and_pearson(up, down, n):
    at_least = stats.binomtest(up, n).proportion_ci(0.95, "exact").low
    at_most = stats.binomtest(down, n).proportion_ci(0.95, "exact").high
    expected = max(0.0, math.log((at_least - 1e-3) / at_most)) if at_least > 1e-3 else 0.0
    assert float(bound_by_ratio(up, down, n, beta=0.05, delta=1e-3)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize(("up", "n"), [(0.9, 40), (0.6, 400), (0.55, 5000)])
def test_a_bound_by_guesses_is_no_more_often_wrong_than_stated_and_better_where_both_errors_are_common(up, n, delta):
    """The law with the most right guesses under (epsilon, delta): both errors at once, in any mixture of the two tables."""
    rng, down = np.random.default_rng(7), 1 - up + 0.7 * delta
    truth = max(math.log((up - delta) / down), math.log((1 - down - delta) / (1 - up)))
    shown = rng.binomial(n, up, size=4000), rng.binomial(n, down, size=4000)
    bounds = bound_by_guesses(*shown, n, beta=BETA, delta=delta)
    assert not is_wrong_more_often((bounds > truth).sum(), 4000)
    assert is_wrong_more_often((bounds > truth * 0.9).sum(), 4000)
    assert np.median(bounds) > np.median(bound_by_ratio(*shown, n, beta=BETA, delta=delta))
    assert bound_by_guesses(0, 1, 1, beta=0.05) == bound_by_guesses(1, 0, 1, beta=0.5) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n"), [(0.0, 400), (0.3, 1000), (1.0, 1000)])
def test_a_bound_on_a_chosen_event_is_above_the_truth_at_most_as_often_as_stated_and_close_to_it(epsilon, n):
    """Beside the answer every run shows noise, which chooses nothing on the outputs that test."""

    def shown(seed):
        noise = generator(1000 + seed).integers(9, size=(2, n)).tolist()
        sides = zip(responses(epsilon, n, seed), noise, strict=True)
        return [[{"answer": told, "noise": other} for told, other in zip(*side, strict=True)] for side in sides]

    bounds = np.array([audit_outputs(*shown(seed), beta=BETA).bound for seed in range(300)])
    assert not is_wrong_more_often((bounds > epsilon).sum(), 300)
    if epsilon:
        assert (bounds > 0.5 * epsilon).mean() > 0.5
        # held against two thirds of the truth, the same bounds are wrong more often than stated
        assert is_wrong_more_often((bounds > epsilon * 2 / 3).sum(), 300)


@pytest.mark.slow
def test_a_false_claim_is_refuted_delta_lowers_a_bound_and_either_table_may_be_the_likelier():
    found = audit_outputs(*responses(1.0, 20_000, 1), claimed=0.8)
    assert 0.85 < found.bound <= 1.0
    assert found.refutes
    assert "The claimed 0.8 is refuted" in str(found)
    assert "no guarantee" in str(found)
    assert not audit_outputs(*responses(1.0, 20_000, 1), claimed=1.0).refutes
    usual, leak = [False] * 4000, [value < 0.1 for value in generator(3).random(4000)]
    for pair in ((usual, leak), (leak, usual)):
        assert audit_outputs(*pair).bound > 3
        assert audit_outputs(*pair, delta=0.15).bound == 0
    all_told = audit_outputs([0] * 2000, [1] * 2000)
    share = min(0.05 ** (1 / 2000), 1999 / 2000)  # all 2,000 guesses right
    assert all_told.bound == all_told.largest == pytest.approx(math.log(share / (1 - share)))
    assert audit_outputs([0] * 2000, [1] * 2000, delta=0.1).largest < all_told.largest


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_numbers_are_told_apart_by_cells(scale):
    noise = generator(2).laplace(scale=scale, size=(2, 10_000))
    found = audit_outputs(noise[0].tolist(), (noise[1] + 1).tolist())
    assert 0.6 / scale < found.bound <= 1 / scale


def test_the_most_telling_of_several_things_is_chosen_and_what_cannot_be_audited_is_said(tmp_path):
    noise, files = generator(5).integers(5, size=(2, 4000)).tolist(), []
    for name, told, other in zip(("a", "b"), responses(1.5, 4000, 4), noise, strict=True):
        lines = sorted(json.dumps({"noise": o, "answer": t, "list": [o]}) for t, o in zip(told, other, strict=True))
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text("\n".join(lines), encoding="utf-8")
    found = audit_outputs(*files)
    assert found.event == "answer"
    assert 1.1 < found.bound <= 1.5
    for words, first, second in (
        ("fewer than two outputs", [1], [1, 2]),
        ("shows the same things", [{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1}]),
        ("cannot be read", tmp_path / "gone.txt", [1, 2]),
    ):
        with pytest.raises(DpvizError, match=words):
            audit_outputs(first, second)
    for wrong in ({"delta": 1.0}, {"beta": 0.0}, {"claimed": -1.0}):
        with pytest.raises(ParameterError):
            audit_outputs([1, 2], [1, 2], **wrong)


def test_lists_and_arrays_are_outputs_and_a_table_in_the_place_of_its_records_is_refused():
    told, other = responses(1.0, 2000, 3)
    bound = audit_outputs(told, other).bound
    for made in (lambda one: [one, [0]], lambda one: np.array([one, 0]), lambda one: {"": [one]}, lambda one: ([one],)):
        assert audit_outputs(list(map(made, told)), list(map(made, other))).bound == bound
    tables = [pd.DataFrame({"a": side, "b": side}) for side in (told, other)]
    assert audit_outputs(*(table.to_dict("records") for table in tables)).bound == bound
    for wrong in (tables[0], {"a": 1, "b": 2}, b"ab", 5, None, [object, {1, 2}]):
        with pytest.raises(ParameterError, match="outputs"):
            audit_outputs(wrong, wrong)


def test_what_is_no_number_is_an_outcome_of_its_own():
    given = zip(responses(2.0, 3000, 6), (1, 2), strict=True)
    mixed = [[math.nan if one else float(k) for one, k in zip(told, generator(s).random(3000), strict=True)] for told, s in given]
    assert audit_outputs(*mixed).bound <= 2.0
    texts = [["nan" if value != value else "a number" for value in side] for side in mixed]
    assert 1.5 < audit_outputs(*texts).bound <= 2.0
