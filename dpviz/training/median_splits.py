"""Splits for a numeric target: a private cut turns the numbers of a node into two classes, and the split parts these.

Two choices per node, both from counts of rows:

**Cut.** Permute-and-flip over public cuts of the declared range, u = -(lambda abs(2 b - n) + (1 - lambda) abs(d)). Of the n
rows b have at most the cut; d is the sum over rows of how far their band's middle lies above the cut, as a share of the range,
less where it is below. With lambda 1 a cut is a median, whatever the scale; with less it moves from there towards the mean, to
where a long tail begins. One row more changes 2 b - n by 1, and d by -1 to 1: sensitivity 1 for either and so for their convex
combination, not monotone. In whole numbers: lambda in 64ths, shares of the range in 1,024ths, times both.

**Split.** Permute-and-flip over labelled splits: how many rows are on the side that is meant for their half. A count:
sensitivity 1, monotone. Squared error needs a bound on the numbers, and its gain is quadratic in the effect of a split; this
one's is linear.

**Lambda** is 1 up to 10,000 declared rows times epsilon, 1/5 from 20,000 on, and falls in between: few rows tell only their
ranks. How it was chosen, and what was tried instead: `docs/project/tuning.md`.

Source: this project; the median by ranks, McSherry & Talwar 2007.
"""

from dataclasses import dataclass

import numpy as np

from dpviz.accounting.events import NO_STEP, Sequential
from dpviz.models.tree import MedianSplit
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT, Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid
from dpviz.table.schema import NumericTarget
from dpviz.training.growing import Label, Split
from dpviz.training.nodes import CountedNode, left_counts
from dpviz.training.scores import labelled_utilities, locate_labelled

#: Units of lambda, and of the declared range.
RANKS, SHARES = 64, 1024
CUT = Sensitivity(RANKS * SHARES, monotone=False, source="a row moves ranks, distances and their mix by at most 1, up or down")
#: Declared rows times epsilon up to which ranks alone count, and lambda from twice as many on.
ENOUGH_FOR_DISTANCES, MIN_RANKS = 10_000, 0.2


def rank_units(n_public: int | None, epsilon: float) -> int:
    """Lambda, in units of 1/`RANKS`. Uses no data; without a declared row count ranks alone count."""
    beyond = (n_public or 0) * epsilon / ENOUGH_FOR_DISTANCES - 1
    return round(RANKS * (1 - (1 - MIN_RANKS) * min(max(beyond, 0.0), 1.0)))


def cut_utilities(counts: np.ndarray, places: np.ndarray, ranks: int) -> np.ndarray:
    """Utility of every cut, int64, for the rows per band (private, shape (n_cuts + 1,)) and `ranks` units of lambda.

    `places`, whole numbers from 0 to `SHARES`: where the middles of the bands lie in the declared range, then where the cuts do.
    """
    middles, cuts = np.split(places, [len(counts)])
    n_rows = counts.sum()
    by_rank = np.abs(2 * np.cumsum(counts)[:-1] - n_rows)
    by_distance = np.abs((counts * middles).sum() - n_rows * cuts)
    return -(ranks * SHARES * by_rank + (RANKS - ranks) * by_distance)


def places_of(target: NumericTarget, cuts: np.ndarray) -> np.ndarray:
    """`places` of `cut_utilities`. Public."""
    shares = (cuts - target.low) / (target.high - target.low)
    ends = np.concatenate([[0.0], shares, [1.0]])
    return np.round(SHARES * np.concatenate([(ends[1:] + ends[:-1]) / 2, shares])).astype(np.int64)


@dataclass(frozen=True)
class MedianSplitter:
    """The private choices at one node, whose classes are bands of the target."""

    grid: CandidateGrid
    cuts: np.ndarray
    places: np.ndarray  #: `places_of` the cuts
    ranks: int  #: `rank_units`
    source: NoiseSource

    def split(self, node: CountedNode, for_median: float, for_split: float, *, ends: bool) -> Split:
        """A cut and a split, with their event."""
        utilities = cut_utilities(node.class_counts, self.places, self.ranks)
        median = PermuteAndFlip(for_median, CUT).release(utilities, source=self.source, part="median", level=node.level)
        left = left_counts(self.grid, _counts_around(node.histogram, median.value))
        utilities = labelled_utilities(left, _counts_around(node.class_counts, median.value), 0)
        flip = PermuteAndFlip(for_split, COUNT)
        chosen = flip.release(utilities, source=self.source, part="node", level=node.level)
        candidate, labels = locate_labelled(chosen.value, self.grid.n_candidates, 2, 0)
        assert candidate is not None
        median_split = MedianSplit(float(self.cuts[median.value]), low_left=labels[0] == 0)
        leaf = Label(0, NO_STEP, median_split.median)
        event = Sequential((median.event, chosen.event))
        return Split(*self.grid.locate(candidate), event, (leaf, leaf) if ends else None, median_split)


def _counts_around(counts: np.ndarray, cut: int) -> np.ndarray:
    """Counts per band (last axis) as counts at most at the cut, and above it: last axis of 2."""
    return np.stack([counts[..., : cut + 1].sum(axis=-1), counts[..., cut + 1 :].sum(axis=-1)], axis=-1)
