"""Code that is not ours: bounds that hold as often as they say, on outputs of any kind, and from files."""

import json
import math

import numpy as np
import pytest

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.audit.outputs import audit_outputs
from dpviz.randomness import generator


def responses(epsilon, n, seed):
    """Randomised response on either table."""
    right = generator(seed).random((2, n)) < 1 / (1 + math.exp(-epsilon))
    return (~right[0]).astype(int).tolist(), right[1].astype(int).tolist()


@pytest.mark.slow
def test_a_bound_exceeds_the_truth_no_more_often_than_it_says():
    bounds = [audit_outputs(*responses(1.0, 400, seed)).bound for seed in range(300)]
    assert np.mean(np.array(bounds) > 1.0) <= 0.05
    assert np.median(bounds) > 0.5


def test_with_many_runs_a_bound_comes_near_delta_lowers_it_and_a_false_claim_is_refuted():
    found = audit_outputs(*responses(1.0, 20_000, 1), claimed=0.8)
    assert 0.85 < found.bound <= 1.0
    assert found.refutes
    assert "The claimed 0.8 is refuted" in str(found)
    assert not audit_outputs(*responses(1.0, 20_000, 1), claimed=1.0).refutes
    assert "A small bound is no guarantee" in str(found)
    leaks = [[False] * 4000, [value < 0.1 for value in generator(3).random(4000)]]
    assert audit_outputs(*leaks).bound > 3
    assert audit_outputs(*leaks, delta=0.15).bound == 0


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_numbers_are_told_apart_by_cells(scale):
    noise = generator(2).laplace(scale=scale, size=(2, 10_000))
    found = audit_outputs(noise[0].tolist(), (noise[1] + 1).tolist())
    assert 0.6 / scale < found.bound <= 1 / scale


def test_the_most_telling_of_several_things_is_chosen_and_files_may_be_sorted(tmp_path):
    plain = responses(1.5, 4000, 4)
    noise = generator(5).integers(5, size=(2, 4000)).tolist()
    files = []
    for name, told, other in zip(("a", "b"), plain, noise, strict=True):
        lines = sorted(json.dumps({"noise": o, "answer": t, "list": [o]}) for t, o in zip(told, other, strict=True))
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text("\n".join(lines), encoding="utf-8")
    found = audit_outputs(*files)
    assert found.event == "answer"
    assert 1.1 < found.bound <= 1.5


def test_what_is_no_number_is_an_outcome_of_its_own():
    spoiled = [
        float("nan") if one else value for one, value in zip(responses(2.0, 3000, 6)[0], generator(1).random(3000), strict=True)
    ]
    clean = [
        float("nan") if one else value for one, value in zip(responses(2.0, 3000, 6)[1], generator(2).random(3000), strict=True)
    ]
    assert audit_outputs(spoiled, clean).bound <= 2.0
    texts = [["nan" if value != value else "a number" for value in side] for side in (spoiled, clean)]
    assert 1.5 < audit_outputs(*texts).bound <= 2.0


def test_what_cannot_be_audited_is_said(tmp_path):
    with pytest.raises(DpvizError, match="fewer than two outputs"):
        audit_outputs([1], [1, 2])
    with pytest.raises(DpvizError, match="shows the same things"):
        audit_outputs([{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1}])
    with pytest.raises(DpvizError, match="cannot be read"):
        audit_outputs(tmp_path / "gone.txt", [1, 2])
    with pytest.raises(ParameterError):
        audit_outputs([1, 2], [1, 2], delta=1.0)
