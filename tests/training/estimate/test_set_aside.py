"""Rows set aside by coins: they alone fill honest leaves and tests, and nothing else looks at them."""

import numpy as np
import pytest

import dpviz
from dpviz.accounting.plan import HeldOutPart
from dpviz.errors import ParameterError
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import report_of_classes
from dpviz.training.estimate.report import TEST
from tests.support import numbers
from tests.support.tables import schema_of, table

CLASSES = table(schema_of("mixed", 3), 400)
TWO = table(schema_of("mixed"), 300)
NUMBERS = numbers.rows(numbers.schema_of_numbers(), 600)


def fit(data, *, epsilon=1e6, **more):
    return dpviz.fit("pf-tree", data, epsilon=epsilon, depth=2, max_depth=2, **{"seed": 3, "leaves": "honest", **more})


def parts_of(data, *shares, seed=3) -> np.ndarray:
    return RandomAssignment(shares).assign(data.n_rows, source=Simulation(seed))


def test_without_noise_leaves_and_test_are_those_of_the_rows_assigned_to_them():
    result, parts = fit(CLASSES), parts_of(CLASSES, 0.1, 0.05)
    leaf_of = result.model.leaf_of_rows(CLASSES)
    for part, leaves in ((1, result.model.leaves), (2, result.test_report.table)):
        for number, leaf in enumerate(leaves):
            there = (parts == part) & (leaf_of == number)
            assert leaf.counts == tuple(np.bincount(CLASSES.target[there], minlength=3).tolist())
    right = (result.model.predict(CLASSES) == CLASSES.target)[parts > 0]  # every row that did not choose a label
    assert result.test_report.accuracy.value == pytest.approx(right.mean())

    result, kept = fit(NUMBERS), parts_of(NUMBERS, 0.3, 0.05) == 1
    leaf_of = result.model.leaf_of_rows(NUMBERS)
    for number, leaf in enumerate(result.model.leaves):
        here = NUMBERS.target[kept & (leaf_of == number)]
        assert abs(leaf.value - here.mean()) < 3
        assert leaf.interval[0] < here.mean() < leaf.interval[1]
        assert leaf.interval[0] <= leaf.value <= leaf.interval[1]


def test_the_tree_does_not_look_at_rows_that_are_set_aside():
    """More than half of them are, and without noise a tree that looked at their classes would be another one."""
    parts = parts_of(CLASSES, 0.1, 0.5)
    other = EncodedDataset(CLASSES.schema, CLASSES.columns, np.where(parts > 0, (CLASSES.target + 1) % 3, CLASSES.target))

    def places(**given):
        models = [fit(data, **given).model for data in (CLASSES, other)]
        return [(model.leaf_of_rows(CLASSES).tolist(), model.predict(CLASSES).tolist()) for model in models]

    one, another = places(test_share=0.5)
    assert one == another
    one, another = places(leaves="labels", test_share=None)
    assert one != another

    target = np.where(parts_of(NUMBERS, 0.3, 0.05) > 0, 80 - NUMBERS.target, NUMBERS.target)
    models = [fit(data, epsilon=1.0).model for data in (NUMBERS, EncodedDataset(NUMBERS.schema, NUMBERS.columns, target))]
    assert models[0].leaf_of_rows(NUMBERS).tolist() == models[1].leaf_of_rows(NUMBERS).tolist()
    assert models[0].root.median_split == models[1].root.median_split
    assert models[0] != models[1]


def test_any_learner_is_tested_on_the_rows_that_it_was_not_trained_on_by_bands_of_probabilities():
    result, kept = dpviz.fit("cart", TWO, epsilon=1e6, seed=5, test_share=0.5), parts_of(TWO, 0.5, seed=5) == 1
    right = result.model.predict(TWO)[kept] == TWO.target[kept]
    assert result.test_report.n_rows == kept.sum()
    assert result.test_report.accuracy.value == pytest.approx(right.mean())
    trained = dpviz.fit("cart", TWO.by_assignment(~kept, 0.5), epsilon=1.0, seed=0)
    np.testing.assert_array_equal(trained.model.predict(TWO), result.model.predict(TWO))

    result, kept = dpviz.fit("dp-mean", NUMBERS, epsilon=1e6, seed=0, test_share=0.4), parts_of(NUMBERS, 0.4, seed=0) == 1
    missed = NUMBERS.target[kept] - result.model.predict(NUMBERS)[kept]
    assert result.test_report.n_rows == kept.sum()
    assert result.test_report.rmse.value == pytest.approx(np.sqrt(np.square(missed).mean()), rel=1e-3)
    assert result.test_report.absolute_error.value == pytest.approx(np.abs(missed).mean(), rel=1e-3)
    assert abs(result.test_report.r_squared.value) < 0.05
    model = fit(TWO, epsilon=1.0, seed=1).model
    report, _ = report_of_classes(model, TWO, HeldOutPart(TEST, 0.1, 1e6), Simulation(0))
    assert len(report.table) == 20
    given = {(answer.label, round(answer.shares[1], 2)): answer.counts for answer in report.table}
    probability, labels = model.predict_proba(TWO)[:, 1], model.predict(TWO)
    for (label, middle), counts in given.items():
        there = (labels == label) & np.equal((np.floor(probability * 10) / 10 + 0.05).round(2), middle)
        assert counts == tuple(np.bincount(TWO.target[there], minlength=2).tolist())


@pytest.mark.parametrize("share", [0.05, 0.3])
@pytest.mark.parametrize(("learner", "data", "asked"), [("dp-mean", NUMBERS, {}), ("logistic", TWO, {"regularization": 1.0})])
def test_a_learner_with_a_test_counts_on_the_rows_that_are_left_for_it(learner, data, asked, share):
    """The public row count that it divides by, or that its penalty grows with, is that of its part."""
    result = dpviz.fit(learner, data, epsilon=1e6, seed=8, test_share=share, **asked)
    left = data.by_assignment(parts_of(data, share, seed=8) != 1, 1 - share)
    alone = dpviz.fit(learner, left, epsilon=1e6, seed=0, **asked).model
    assert left.schema.n_public == pytest.approx((1 - share) * data.schema.n_public, abs=1)
    answers = [model.predict_proba(data) if learner == "logistic" else model.predict(data) for model in (result.model, alone)]
    np.testing.assert_allclose(*answers, rtol=1e-4)


@pytest.mark.parametrize(
    "asked", [{"leaves": "labels"}, {"class_weights": (1.0, 2.0)}, {"groups": "colour"}, {"test_share": 0.6}, {"test_share": "a"}]
)
def test_what_numbers_do_not_have_and_shares_beyond_half_are_refused(asked):
    with pytest.raises(ParameterError, match="number"):
        fit(NUMBERS, **asked)
