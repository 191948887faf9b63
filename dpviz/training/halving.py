"""Splits for a numeric target: a private median turns the numbers of a node into two classes, and the split parts these.

Two choices per node, both from counts of rows, so the scale of the target does not matter:

**Median.** Permute-and-flip over public cuts of the declared range, u = -abs(2 b - n), where b of the n rows have at most the
cut. One row more changes 2 b - n by 1 up or down: sensitivity 1, not monotone.
**Split.** Permute-and-flip over labelled splits: how many rows are on the side that is meant for their half. A count: sensitivity
1, monotone. Squared error needs a bound on the numbers, and its gain is quadratic in the effect of a split; this one's is linear.

Source: this project; the median by ranks, McSherry & Talwar 2007.
"""

from dataclasses import dataclass

import numpy as np

from dpviz.accounting.events import Sequential
from dpviz.models.tree import Halves
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT, Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericTarget, Schema
from dpviz.training.growing import HalvingSplit
from dpviz.training.histograms import CountedNode, left_counts
from dpviz.training.scores import labelled_utilities, locate_labelled

MEDIAN = Sensitivity(1.0, monotone=False, source="a row moves twice the rows below less all rows by one, up or down")


def target_cuts(schema: Schema) -> np.ndarray:
    """Public cuts of the target's range, increasing: its 32nds, and finer ones towards both ends for long tails."""
    target = schema.target
    assert isinstance(target, NumericTarget)
    near = np.unique([scale * 2.0**-k for k in range(6, 11) for scale in (1.0, 1.5)])
    fractions = np.unique(np.concatenate([np.arange(1, 32) / 32, near, 1 - near]))
    return np.unique(target.low + fractions * (target.high - target.low))


def in_bands(data: EncodedDataset, cuts: np.ndarray) -> EncodedDataset:
    """The same rows with the band of the target as their class: band b holds numbers in (cuts[b-1], cuts[b]]."""
    return data.binning(("bands", cuts.tobytes()), lambda: _banded(data, cuts))


def _banded(data: EncodedDataset, cuts: np.ndarray) -> EncodedDataset:
    target = np.searchsorted(cuts, data.target).astype(np.uint8)
    return EncodedDataset(banded_schema(data.schema, cuts), data.columns, target, caches_counts=data.caches_counts)


def banded_schema(schema: Schema, cuts: np.ndarray) -> Schema:
    """The schema whose classes are the bands between the cuts."""
    bands = ClassTarget(schema.target.name, tuple(map(str, range(len(cuts) + 1))))
    return Schema(schema.features, bands, schema.n_public)


@dataclass(frozen=True)
class Halving:
    """The private choices at one node, whose classes are bands of the target."""

    grid: CandidateGrid
    cuts: np.ndarray
    source: NoiseSource

    def split(self, node: CountedNode, for_median: float, for_split: float, *, ends: bool) -> HalvingSplit:
        """A median and a split, with their event."""
        below = np.cumsum(node.class_counts)[:-1]
        flip = PermuteAndFlip(for_median, MEDIAN)
        median = flip.release(-np.abs(2 * below - node.class_counts.sum()), source=self.source, part="median", level=node.level)
        left = left_counts(self.grid, halved(node.histogram, median.value))
        utilities = labelled_utilities(left, halved(node.class_counts, median.value), 0)
        flip = PermuteAndFlip(for_split, COUNT)
        chosen = flip.release(utilities, source=self.source, part="node", level=node.level)
        candidate, labels = locate_labelled(chosen.value, self.grid.n_candidates, 2, 0)
        assert candidate is not None
        halves = Halves(float(self.cuts[median.value]), low_left=labels[0] == 0)
        return HalvingSplit(*self.grid.locate(candidate), halves, ends, Sequential((median.event, chosen.event)))


def halved(counts: np.ndarray, cut: int) -> np.ndarray:
    """Counts per band (last axis) as counts at most at the cut, and above it: last axis of 2."""
    return np.stack([counts[..., : cut + 1].sum(axis=-1), counts[..., cut + 1 :].sum(axis=-1)], axis=-1)
