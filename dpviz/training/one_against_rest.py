"""One value against the rest: the candidate splits of BDPT and DPGDF.

Source: Guan et al. 2020; Xin et al. 2019; both as described and measured by Vos et al. 2023.
"""

import numpy as np

from dpviz.table.candidates import CandidateGrid, FeatureCandidates
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema


def one_against_rest_grid(schema: Schema, groups: dict[str, np.ndarray], name: str) -> CandidateGrid:
    """One category, or one group of a numeric feature, against the rest.

    Raises SchemaError if no feature can be split.

    `groups`: numeric feature -> increasing upper ends of its groups; a missing feature is not split.
    """

    def of(feature: NumericFeature | CategoricalFeature) -> FeatureCandidates:
        if isinstance(feature, CategoricalFeature):
            return _categories(len(feature.categories))
        return _groups(groups[feature.name], feature.high) if feature.name in groups else FeatureCandidates(1, np.empty(0))

    return CandidateGrid(schema, tuple(map(of, schema.features)), name, is_reused=not groups)


def _categories(count: int) -> FeatureCandidates:
    starts = np.arange(count if count > 1 else 0)
    return FeatureCandidates(count, None, starts, starts + 1)


def _groups(ends: np.ndarray, high: float) -> FeatureCandidates:
    """Group i goes left. For the last group all others go left instead, which is the same split."""
    cuts = ends[:-1] if len(ends) > 1 else np.array([high])  # a single group: everything goes left
    starts = np.arange(max(len(ends), 1))
    stops = starts + 1
    if len(ends) > 1:
        starts[-1], stops[-1] = 0, len(cuts)
    return FeatureCandidates(len(cuts) + 1, cuts, starts, stops)


def group_ends(column: np.ndarray, size: int) -> np.ndarray:
    """The largest value of every group of `size` consecutive distinct values. Exact values of rows: a disclosure."""
    values = np.unique(column)
    last = np.minimum(np.arange(size - 1, len(values) + size - 1, size), len(values) - 1)
    return values[last].astype(np.float64)
