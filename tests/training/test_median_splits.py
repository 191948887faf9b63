"""Splits of numbers: medians by ranks, halves that a split parts, and what one row changes of either."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.models.tree import MedianSplit
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import Simulation
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.counted_rows import counter_of, in_bands
from dpviz.training.estimate.window import MEDIAN, target_cuts
from dpviz.training.median_splits import CUT, RANKS, MedianSplitter, cut_utilities, places_of, rank_units

SCHEMA = Schema((NumericFeature("x", 0, 1), NumericFeature("z", 0, 1)), NumericTarget("y", 0, 32), n_public=1000)


def line(n_rows, *, rising=True):
    """The number follows x."""
    rng = np.random.default_rng(2)
    x = rng.random(n_rows)
    return EncodedDataset(SCHEMA, (x, rng.random(n_rows)), 32 * (x if rising else 1 - x))


def test_ranks_alone_count_for_few_declared_rows_and_a_fifth_for_many():
    for n_public, epsilon, share in ((None, 10.0, 1.0), (10_000, 1.0, 1.0), (15_000, 1.0, 0.6), (1500, 10.0, 0.6)):
        assert rank_units(n_public, epsilon) == round(share * RANKS)
    assert rank_units(20_000, 1.0) == rank_units(10**7, 1.0) == round(0.2 * RANKS)


def test_cuts_are_public_and_move_from_the_median_to_where_a_tail_begins():
    cuts = target_cuts(SCHEMA)
    assert (np.diff(cuts) > 0).all()
    assert 0 < cuts[0] < 0.05
    assert 31.95 < cuts[-1] < 32
    assert set(range(1, 32)) <= set(cuts.tolist())
    assert {1.25, 1.75, 30.25, 30.75} <= set(cuts.tolist())  # four steps between two halvings
    assert len(cuts) < 100  # bands are classes
    np.testing.assert_array_equal(target_cuts(replace(SCHEMA, target=NumericTarget("y", -50, -18))), cuts - 50)
    # 90 of 100 rows at 1, the others at 31 of 32: ranks alone cut within the many, distances between both.
    counts = np.bincount(np.searchsorted(cuts, [1.0] * 90 + [31.0] * 10), minlength=len(cuts) + 1)
    best = [cuts[cut_utilities(counts, places_of(SCHEMA.target, cuts), ranks).argmax()] for ranks in (RANKS, 0)]
    assert best[0] == 1
    assert best[1] == 4


@pytest.mark.parametrize("rising", [True, False])
def test_without_noise_the_median_and_the_best_split_are_found(rising):
    data, cuts = line(4000, rising=rising), target_cuts(SCHEMA)
    splitter = MedianSplitter(multiscale_grid(SCHEMA), cuts, places_of(SCHEMA.target, cuts), RANKS, Simulation(0))
    chosen = splitter.split(counter_of(in_bands(data, cuts)).root(splitter.grid), 1e4, 1e4, ends=True)
    assert (chosen.feature, chosen.median_split) == (0, MedianSplit(16.0, low_left=rising))


def of_median(counts: np.ndarray) -> np.ndarray:
    return -np.abs(2 * np.cumsum(counts)[:-1] - np.sum(counts))


def of_cut(ranks: int):
    places = places_of(SCHEMA.target, np.array([1.0, 31.0]))
    return lambda counts: cut_utilities(counts, places, ranks)


@pytest.mark.parametrize(
    ("utilities", "sensitivity"),
    [(of_median, MEDIAN), *((of_cut(ranks), CUT) for ranks in (RANKS, 40, 0))],
    ids=["median", "cut by ranks", "mixed", "by distance"],
)
def test_one_row_moves_a_choice_by_its_epsilon_and_no_more(utilities, sensitivity):
    """Counts of three bands, as neighbours: the largest change of any utility and log ratio of any choice, exactly."""
    changes, worst = set(), 0.0
    for counts in np.ndindex(6, 6, 6):
        for band in range(3):
            both = [utilities(np.array(counts) + more * (np.arange(3) == band)) for more in (0, 1)]
            changes |= set((both[1] - both[0]).tolist())
            chances = [PermuteAndFlip(1.0, sensitivity).probabilities(each) for each in both]
            worst = max(worst, float(np.abs(np.log(chances[0] / chances[1])).max()))
    assert 0.9 < max(map(abs, changes)) / sensitivity.value <= 1
    assert min(changes) < 0 < max(changes)
    assert 0.4 < worst <= 1 + 1e-9
