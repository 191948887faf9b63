"""Exact facts about the leaves of a forest: how many hold no rows, and how many labels the noise flipped.

For public data: publishing any of it would void the guarantee, so it is not part of the package.

Source: Fletcher & Islam 2017, Table 3 and Figure 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.privacy.leaf_labels import LabelRule
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.training.counted_rows import counter_of
from dpviz.training.forests import MAX_LEAVES, ForestShape, fit_hashed, fit_packed, mean_leaves


@dataclass(frozen=True, slots=True)
class ForestTrace:
    """Exact facts about one forest.

    Attributes
    ----------
    leaves : float
        Leaves of all trees: exact if the trees are held, else an average over random splits.
    with_rows : int
        Leaves that hold at least one row.
    flipped : int
        Leaves among these whose label is not one of their largest classes.
    """

    leaves: float
    with_rows: int
    flipped: int

    @property
    def empty_share(self) -> float:
        """Share of leaves without rows (Table 3)."""
        return 1 - self.with_rows / self.leaves

    @property
    def flipped_share(self) -> float:
        """Share of leaves with rows whose label the noise flipped (Figure 8); 0 without such leaves."""
        return self.flipped / max(1, self.with_rows)


def forest_trace(data: EncodedDataset, shape: ForestShape, rule: LabelRule, source: NoiseSource) -> ForestTrace:
    """Fit a forest as the learners do, and look inside."""
    expected = shape.n_trees * mean_leaves(data.schema, shape.depth)
    if expected <= MAX_LEAVES:
        packed, _, counts = fit_packed(counter_of(data), shape, rule, source)
        return ForestTrace(len(counts), int(counts.any(axis=1).sum()), _count_flips(counts, packed.labels))
    hashed, _, counts = fit_hashed(data, shape, rule, source)
    return ForestTrace(expected, len(counts), _count_flips(counts, hashed.labels))


def _count_flips(counts: np.ndarray, labels: np.ndarray) -> int:
    """Leaves with rows that are not labelled by a largest class."""
    return int((counts[np.arange(len(labels)), labels] < counts.max(axis=1, initial=0)).sum())
