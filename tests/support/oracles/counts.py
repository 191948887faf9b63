"""Counting by loops over rows and by fractions, the way one would explain it on paper."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpviz.models.tree import ThresholdRule
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset
from dpviz.training.growing import rule_of


def goes_left(rule, value) -> bool:
    """One value against one rule."""
    if isinstance(rule, ThresholdRule):
        return float(value) <= rule.threshold
    return int(value) in rule.codes


def bin_of(feature, value) -> int:
    """The bin of one value: how many thresholds lie below it, or its category."""
    if feature.thresholds is None:
        return int(value)
    return sum(1 for threshold in feature.thresholds if threshold < value)


def histogram(grid: CandidateGrid, data: EncodedDataset, rows) -> np.ndarray:
    """Class counts per bin, features one below the other."""
    parts = [np.zeros((feature.n_bins, data.n_classes), dtype=np.int64) for feature in grid.features]
    for row in rows:
        for part, feature, column in zip(parts, grid.features, data.columns, strict=True):
            part[bin_of(feature, column[row]), data.target[row]] += 1
    return np.concatenate(parts)


def rules_of(grid: CandidateGrid) -> list:
    """The rule of every candidate, in their order."""
    return [rule_of(grid, *grid.locate(candidate)) for candidate in range(grid.n_candidates)]


def left_counts(rules, data: EncodedDataset, rows) -> np.ndarray:
    """Class counts of the rows that go left under every rule, from raw values."""
    counts = np.zeros((len(rules), data.n_classes), dtype=np.int64)
    for number, rule in enumerate(rules):
        for row in rows:
            if goes_left(rule, data.columns[rule.feature][row]):
                counts[number, data.target[row]] += 1
    return counts


def class_counts(data: EncodedDataset, rows) -> np.ndarray:
    """Rows per class."""
    counts = np.zeros(data.n_classes, dtype=np.int64)
    for row in rows:
        counts[data.target[row]] += 1
    return counts


def half_impurity(counts, scale: int) -> int:
    """floor(scale * n * Gini / 2), in fractions."""
    counts = [int(count) for count in counts]
    n = sum(counts)
    if not n:
        return 0
    gini = 1 - sum(Fraction(count, n) ** 2 for count in counts)
    return int(scale * n * gini / 2 // 1)


def weighted_gini(left, right) -> Fraction:
    """(n_L gini_L + n_R gini_R) / n, in fractions; 0 without rows."""
    n = sum(map(int, left)) + sum(map(int, right))
    return sum((_mixed(side) for side in (left, right)), Fraction(0)) / max(n, 1)


def _mixed(counts) -> Fraction:
    n = sum(map(int, counts))
    return n - Fraction(sum(int(count) ** 2 for count in counts), n) if n else Fraction(0)


def pairs(grid: CandidateGrid, data: EncodedDataset, rows) -> np.ndarray:
    """Class counts per pair of bins, row by row."""
    found = np.zeros((grid.n_bins, grid.n_bins, data.n_classes), dtype=np.int64)
    for row in rows:
        bins = [
            int(offset) + bin_of(feature, column[row])
            for offset, feature, column in zip(grid.offsets, grid.features, data.columns, strict=False)
        ]
        for one in bins:
            for other in bins:
                found[one, other, data.target[row]] += 1
    return found
