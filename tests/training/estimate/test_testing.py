"""A private test of any learner: rows set aside by coins, one noisy table, the larger epsilon."""

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import PureDP, RandomPartition, Step
from dpviz.accounting.plan import HeldOutPart
from dpviz.errors import ParameterError
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import Simulation
from dpviz.training.estimate.report import TEST
from dpviz.training.estimate.testing import report_of_classes
from tests.support.numbers import rows as rows_of_numbers
from tests.support.numbers import schema_of_numbers
from tests.support.tables import schema_of, table

DATA = table(schema_of("mixed"), 300)
ASIDE = HeldOutPart(TEST, 0.1, 1e6)


@pytest.mark.parametrize("learner", ["majority", "diffprivlib-tree"])
def test_it_costs_no_more_than_training(learner):
    result = dpviz.fit(learner, DATA, epsilon=0.7, seed=1, test_share=0.3)
    assert result.ledger.guarantee == dpviz.fit(learner, DATA, epsilon=0.7, seed=1).ledger.guarantee
    assert isinstance(result.ledger.event, RandomPartition)
    assert result.ledger.event.probabilities == (0.7, 0.3)
    assert result.ledger.event.events[1] == Step(PureDP(0.7), "test", mechanism="geometric")
    assert result.test_report.share == 0.3


def test_the_test_counts_the_rows_that_were_not_trained_on():
    result = dpviz.fit("cart", DATA, epsilon=1e6, seed=5, test_share=0.5)
    kept = RandomAssignment((0.5,)).assign(DATA.n_rows, source=Simulation(5)) == 1
    right = result.model.predict(DATA)[kept] == DATA.target[kept]
    assert result.test_report.n_rows == kept.sum()
    assert result.test_report.accuracy.value == pytest.approx(right.mean())
    trained = dpviz.fit("cart", DATA.by_assignment(~kept, 0.5), epsilon=1.0, seed=0)
    np.testing.assert_array_equal(trained.model.predict(DATA), result.model.predict(DATA))


def test_a_model_of_two_classes_with_probabilities_is_tested_by_bands_of_them():
    model = dpviz.fit("pf-tree", DATA, epsilon=1.0, leaves="honest", depth=2, seed=1).model
    report, _ = report_of_classes(model, DATA, ASIDE, Simulation(0))
    assert len(report.table) == 20
    given = {(answer.label, round(answer.shares[1], 2)): answer.counts for answer in report.table}
    probability, labels = model.predict_proba(DATA)[:, 1], model.predict(DATA)
    for (label, middle), counts in given.items():
        there = (labels == label) & (np.floor(probability * 10) / 10 + 0.05).round(2).__eq__(middle)
        assert counts == tuple(np.bincount(DATA.target[there], minlength=2).tolist())


def test_a_number_is_tested_by_sums():
    data = rows_of_numbers(schema_of_numbers(), 400)
    result = dpviz.fit("dp-mean", data, epsilon=1e6, seed=0, test_share=0.4)
    kept = RandomAssignment((0.4,)).assign(data.n_rows, source=Simulation(0)) == 1
    missed = data.target[kept] - result.model.predict(data)[kept]
    assert result.ledger.guarantee.epsilon == 1e6
    assert result.test_report.n_rows == kept.sum()
    assert result.test_report.rmse.value == pytest.approx(np.sqrt(np.square(missed).mean()), rel=1e-3)
    assert result.test_report.absolute_error.value == pytest.approx(np.abs(missed).mean(), rel=1e-3)
    assert abs(result.test_report.r_squared.value) < 0.05


@pytest.mark.parametrize("share", [-0.1, 0.6, "a"])
def test_shares_beyond_half_are_refused(share):
    with pytest.raises(ParameterError, match="'test_share' parameter of fit must be None or a number in"):
        dpviz.fit("majority", DATA, epsilon=1.0, seed=0, test_share=share)
