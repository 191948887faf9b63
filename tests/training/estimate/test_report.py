"""A test result: exact on exact counts, and its intervals cover the truth as often as they say."""

import math
from dataclasses import replace

import numpy as np
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


def coverage(n_rows, epsilon, tries, seed=1):
    """How often the intervals hold the truth: (accuracy, log loss, AUC)."""
    rng = np.random.default_rng(seed)
    weight, chance = rng.dirichlet(np.ones(8)), np.sort(rng.beta(0.6, 1.5, 8))
    cells, said = np.stack([weight * (1 - chance), weight * chance], 1), np.clip(chance + rng.normal(0, 0.05, 8), 0.01, 0.99)
    shares, labels = np.stack([1 - said, said], 1), (chance > 0.5).astype(int)
    wins = (np.sign(said[:, None] - said[None]) + 1) / 2
    truth = (
        cells[np.arange(8), labels].sum(),
        -(cells * np.log(shares)).sum(),
        cells[:, 1] @ wins @ cells[:, 0] / (cells[:, 1].sum() * cells[:, 0].sum()),
    )
    held = np.zeros(3)
    for _ in range(tries):
        counts = rng.multinomial(rng.binomial(10 * n_rows, 0.1), cells.ravel()).reshape(-1, 2)
        drawn = rng.geometric(-math.expm1(-epsilon), (2, 8, 2))
        noisy = (counts + drawn[0] - drawn[1]).tolist()
        answers = zip(labels.tolist(), map(tuple, noisy), map(tuple, shares.tolist()), strict=True)
        counted = rng.multinomial(n_rows, cells.ravel()).reshape(-1, 2) + rng.geometric(-math.expm1(-epsilon), (8, 2))
        counted -= rng.geometric(-math.expm1(-epsilon), (8, 2))
        found = replace(report(TWO, epsilon, *answers), counted=tuple(map(tuple, counted.tolist())))
        held += [e.low <= t <= e.high for e, t in zip((found.accuracy, found.log_loss, found.auc), truth, strict=True)]
    return held / tries


def test_intervals_hold_the_truth_as_often_as_they_say():
    assert (coverage(1000, 0.3, 300) > 0.95 - 0.045).all()  # 3.5 standard errors


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "epsilon"), [(4500, 1.0), (4500, 0.1), (500, 1.0), (150, 1.0)])
def test_intervals_hold_the_truth_93_to_99_times_of_100(n_rows, epsilon):
    held = coverage(n_rows, epsilon, 2500)
    assert (held >= 0.93).all()
    assert (held <= 0.995).all()
