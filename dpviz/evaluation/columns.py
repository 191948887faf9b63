"""How the cells of each column are distributed. Exact counts, so of rows that anyone may see only."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpviz.errors import DpvizError
from dpviz.table.cells import canonical_number
from dpviz.table.columns import Column
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole

#: Bars of a column: bins of a number, or its most frequent texts.
MAX_BARS = 20


@dataclass(frozen=True)
class ColumnProfile:
    """The cells of one column."""

    name: str
    n_rows: int
    n_missing: int
    labels: tuple[str, ...]  #: One per bar: a value, or two ends of a bin
    counts: tuple[int, ...]  #: Cells in each bar
    n_others: int = 0  #: Cells with a text that has no bar of its own
    is_binned: bool = False  #: True for a number in bins of equal width

    @property
    def missing_share(self) -> float:
        """Share of the cells that are missing."""
        return self.n_missing / max(1, self.n_rows)


def profile_columns(table: RawTable, role: DataRole) -> tuple[ColumnProfile, ...]:
    """Every column of a table whose rows anyone may see; raises DpvizError for private rows."""
    if not role.may_read:
        remedy = "Declare what is known without the data, or release something with a guarantee."
        raise DpvizError("Private rows are not looked at: exact counts have no guarantee.", remedy=remedy)
    return tuple(map(_profile, table.columns))


def _profile(column: Column) -> ColumnProfile:
    values, missing = column.numbers_and_missing()
    n_missing = int(missing.sum())
    numbers = values[~np.isnan(values)]
    if len(numbers) == 0 or len(numbers) + n_missing < column.n_rows:
        return _profile_texts(column, n_missing)
    if len(np.unique(numbers[: 50 * MAX_BARS])) <= MAX_BARS:  # otherwise all of them need no sorting
        distinct, counts = np.unique(numbers, return_counts=True)
        if len(distinct) <= MAX_BARS:
            labels = tuple(map(canonical_number, distinct.tolist()))
            return ColumnProfile(column.name, column.n_rows, n_missing, labels, tuple(counts.tolist()))
    return _profile_bins(column, n_missing, numbers)


def _profile_bins(column: Column, n_missing: int, numbers: np.ndarray) -> ColumnProfile:
    low, high = float(numbers.min()), float(numbers.max())
    edges = low + (high / 2 - low / 2) * (2 * np.arange(MAX_BARS + 1) / MAX_BARS)  # the difference may be infinite
    edges[-1] = high
    counts = np.histogram(numbers, bins=edges)[0]
    ends = [f"{edge:,.0f}" if 1e4 <= abs(edge) < 1e15 else f"{edge:.4g}" for edge in edges.tolist()]
    labels = tuple(f"{start} to {end}" for start, end in pairwise(ends))
    return ColumnProfile(column.name, column.n_rows, n_missing, labels, tuple(counts.tolist()), is_binned=True)


def _profile_texts(column: Column, n_missing: int) -> ColumnProfile:
    """The most frequent texts first."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.distinct_texts))
    order = np.argsort(-counts, kind="stable")[:MAX_BARS]
    largest = counts[order]
    labels = tuple(column.distinct_texts[place] for place in order.tolist())
    return ColumnProfile(
        column.name, column.n_rows, n_missing, labels, tuple(largest.tolist()), int(counts.sum() - largest.sum())
    )
