"""One value against the rest: the splits of BDPT and DPGDF, their utility, and their stopping rule.

Source: Guan et al. 2020; Xin et al. 2019; both as described and measured by Vos et al. 2023.
"""

from __future__ import annotations

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import NonPrivate
from dpviz.table.candidates import CandidateGrid, FeatureCandidates
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training.histograms import NodeRows
from dpviz.training.scores import weighted_gini

STOPPING_DISCLOSURE = Disclosure(
    code="stopping-rule",
    what="A branch ends where the exact rows are few or of one class: the shape of the tree shows exact counts.",
    remedy="Use PF-tree, which grows every branch to the same depth.",
)


def one_against_rest_grid(schema: Schema, groups: dict[str, np.ndarray], name: str) -> CandidateGrid:
    """One category, or one group of a numeric feature, against the rest.

    Parameters
    ----------
    schema : Schema
    groups : dict
        Numeric feature -> increasing upper ends of its groups; a feature that is not there is not split.
    name : str

    Raises
    ------
    SchemaError
        When no feature can be split.
    """

    def of(feature: NumericFeature | CategoricalFeature) -> FeatureCandidates:
        if isinstance(feature, CategoricalFeature):
            return _categories(len(feature.categories))
        return _groups(groups[feature.name], feature.high) if feature.name in groups else _nothing()

    return CandidateGrid(schema, tuple(map(of, schema.features)), name, is_reused=not groups)


def _categories(count: int) -> FeatureCandidates:
    starts = np.arange(count if count > 1 else 0)
    return FeatureCandidates(count, None, starts, starts + 1)


def _groups(ends: np.ndarray, high: float) -> FeatureCandidates:
    """Group i goes left; the last group is told apart by sending all others left, which is the same split."""
    cuts = ends[:-1] if len(ends) > 1 else np.array([high])  # a single group: everything goes left
    starts = np.arange(max(len(ends), 1))
    stops = starts + 1
    if len(ends) > 1:
        starts[-1], stops[-1] = 0, len(cuts)
    return FeatureCandidates(len(cuts) + 1, cuts, starts, stops)


def _nothing() -> FeatureCandidates:
    return FeatureCandidates(1, np.empty(0))


def group_ends(column: np.ndarray, size: int) -> np.ndarray:
    """The largest value of every group of `size` neighbouring distinct values. Exact values of rows: a disclosure."""
    values = np.unique(column)
    last = np.minimum(np.arange(size - 1, len(values) + size - 1, size), len(values) - 1)
    return values[last].astype(np.float64)


def gini_utilities(node: NodeRows) -> np.ndarray:
    """0.5 - weighted Gini impurity of every candidate, float64 of shape (n_candidates,)."""
    left = node.left_counts
    return 0.5 - weighted_gini(left, np.broadcast_to(node.class_counts, left.shape))


def is_finished(node: NodeRows, least_rows: int) -> bool:
    """True when the exact rows are of one class, or fewer than `least_rows`."""
    counts = node.class_counts
    return bool(np.count_nonzero(counts) <= 1 or counts.sum() < least_rows)


def looked(level: int) -> NonPrivate:
    """The event of asking `is_finished`."""
    return NonPrivate("stopped (or went on) because of the exact classes and rows at the node", "stopping rule", level)
