"""A test result: exact on exact counts, and its intervals cover the truth as often as they say."""

import math

import pytest

from dpviz.models.tree import Leaf
from dpviz.training.estimate.report import ClassReport
from tests.support.tables import schema_of

TWO, THREE = schema_of("numbers", 2), schema_of("numbers", 3)
EXACT = 1e6


def report(schema, epsilon, *answers):
    return ClassReport(schema, 0.1, epsilon, tuple(Leaf(*answer) for answer in answers))


def test_exact_counts_give_the_exact_figures():
    found = report(TWO, EXACT, (0, (60, 20), (0.7, 0.3)), (1, (10, 30), (0.2, 0.8)), (0, (5, 0), (0.95, 0.05)))
    assert found.n_rows == 125
    assert found.accuracy.value == pytest.approx(95 / 125)
    assert [[cell.value for cell in row] for row in found.confusion] == [[65 / 125, 10 / 125], [20 / 125, 30 / 125]]
    assert [recall.value for recall in found.recalls] == pytest.approx([65 / 75, 30 / 50])
    losses = 60 * math.log(0.7) + 20 * math.log(0.3) + 10 * math.log(0.2) + 30 * math.log(0.8) + 5 * math.log(0.95)
    assert found.log_loss.value == pytest.approx(-losses / 125)
    wins = 30 * (60 + 5) + 20 * 5 + 0.5 * (30 * 10 + 20 * 60)
    assert found.auc.value == pytest.approx(wins / (50 * 75))
    assert [band.observed.value for band in found.calibration] == pytest.approx([0.0, 20 / 80, 30 / 40])
    assert [band.predicted for band in found.calibration] == pytest.approx([0.05, 0.3, 0.8])


def test_every_class_counts_alike_in_balanced_accuracy():
    found = report(TWO, 1.0, (0, (900, 20), (0.98, 0.02)), (1, (60, 40), (0.6, 0.4)))
    balanced = found.balanced_accuracy
    assert balanced.value == pytest.approx((900 / 960 + 40 / 60) / 2)
    assert found.largest_share.value == pytest.approx(960 / 1020)
    widths = [(recall.high - recall.low) / 2 for recall in (*found.recalls, balanced)]
    assert widths[2] == pytest.approx(math.hypot(*widths[:2]) / 2, rel=0.02)  # and so no more than the mean of the two


def test_the_gain_over_always_saying_one_class_is_exact_on_exact_counts_and_not_above_zero_where_noise_hides_it():
    found = report(TWO, EXACT, (0, (60, 20)), (1, (10, 30)))
    assert found.most_frequent == TWO.classes[0]
    assert found.gain.value == pytest.approx(90 / 120 - 70 / 120)
    assert found.gain.low > 0
    assert report(TWO, 0.1, (0, (60, 20)), (1, (10, 30))).gain.low < 0
    always = report(TWO, EXACT, (0, (60, 20)), (0, (10, 30)))
    assert (always.gain.value, always.gain.low) == pytest.approx((0, 0), abs=1e-3)


def test_more_than_two_classes_have_no_auc_and_are_calibrated_by_their_likeliest():
    found = report(THREE, EXACT, (0, (6, 2, 2), (0.6, 0.3, 0.1)), (2, (1, 1, 8), (0.15, 0.15, 0.7)))
    assert found.auc is None
    assert found.accuracy.value == pytest.approx(14 / 20)
    assert [band.observed.value for band in found.calibration] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("counts", [((-3, 1), (0, -2)), ((0, 0), (0, 0)), ((2, -2), (1, 0))])
def test_where_noise_hides_the_rows_the_interval_is_everything(counts):
    found = report(TWO, 0.05, (0, counts[0], (0.7, 0.3)), (1, counts[1], (0.2, 0.8)))
    for estimate in (found.accuracy, found.auc, *found.recalls):
        assert (estimate.low, estimate.high) == (0, 1)
        assert 0 <= estimate.value <= 1
