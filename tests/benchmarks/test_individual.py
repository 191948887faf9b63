"""Losses of single rows for Figure 3: below the guarantee, and all of it for the largest gradients."""

import numpy as np
import pytest

import dpviz
from benchmarks.curves.individual import individual_losses
from dpviz.evaluation.budget.boosting import rounds_event
from tests.support.tables import schema_of, table


@pytest.mark.parametrize("filtered", [False, True])
def test_no_row_loses_more_than_it_is_promised(filtered):
    data = table(schema_of("mixed"), 300)
    result = dpviz.fit("s-gbdt-published", data, epsilon=1.0, seed=1, rounds=20, sampling=1.0)
    losses = individual_losses(result, data, filtered=filtered)
    assert losses.shape == (300,)
    assert (np.diff(losses) >= 0).all()
    assert 0 < losses[0] < losses[-1] <= rounds_event(result).epsilon


def test_a_row_with_the_largest_gradients_uses_all_of_it():
    schema = dpviz.Schema((dpviz.NumericFeature("x", 0, 1),), dpviz.NumericTarget("y", 0, 1), n_public=10)
    data = dpviz.encode(dpviz.read_csv(b"x,y\n" + b"0.5,1\n" * 2 + b"0.5,0\n" * 2), schema)
    given = {
        "rounds": 5,
        "initial_share": 0,
        "clip": 0.1,
        "learning_rate": 0.001,
        "sampling": 1.0,
        "extra_rounds": 0,
    }
    result = dpviz.fit("s-gbdt-published", data, epsilon=1.0, delta=1e-5, seed=1, **given)
    found = individual_losses(result, data, filtered=False)
    assert found == pytest.approx([rounds_event(result).epsilon] * 4, rel=1e-3)
