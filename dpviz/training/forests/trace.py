"""What a forest is like inside: leaves without rows, and labels that noise has flipped. Exact, so for simulated and public data.

Publishing any of it voids the guarantee; exports cannot import it.

Source: Fletcher & Islam 2017, Table 3 and Figure 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.privacy.leaf_labels import LabelRule, LeafCounts
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.training.forests.forest import MOST_LEAVES, Plot, fit_hashed, fit_packed
from dpviz.training.forests.random_trees import mean_leaves


@dataclass(frozen=True, slots=True)
class ForestTrace:
    """Exact facts about one forest.

    Attributes
    ----------
    leaves : float
        Leaves of all trees: exact where the trees are held, on average over their splits where they are too large.
    with_rows : int
        Leaves that hold at least one row.
    flipped : int
        Leaves among these whose label is none of their largest classes.
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
        """Share of leaves with rows whose label noise has flipped (Figure 8); 0 without such leaves."""
        return self.flipped / max(1, self.with_rows)


def forest_trace(data: EncodedDataset, plot: Plot, rule: LabelRule, source: NoiseSource) -> ForestTrace:
    """Grow a forest as the learners do, and count inside."""
    expected = plot.n_trees * mean_leaves(data.schema, plot.depth)
    if expected <= MOST_LEAVES:
        forest, counts = fit_packed(data, plot, rule, source)
        return ForestTrace(counts.n_leaves, len(counts.leaves), _flipped(counts, forest.labels[counts.leaves]))
    hashed, counts = fit_hashed(data, plot, rule, source)
    return ForestTrace(expected, len(counts.leaves), _flipped(counts, hashed.labels))


def _flipped(counts: LeafCounts, labels: np.ndarray) -> int:
    chosen = counts.counts[np.arange(len(labels)), labels]
    return int((chosen < counts.counts.max(axis=1, initial=0)).sum())
