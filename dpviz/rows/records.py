"""Encoded rows as records of a few bytes, and what adds up of them: what encoding tells about their table, and counts of a level.

All of it is made batch by batch, here or on an executor, whose Python needs NumPy and Arrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.models.tree import Branch, Node, ThresholdRule
from dpviz.table.candidates import CandidateGrid, FeatureCandidates, bin_column, multiscale_candidates
from dpviz.table.columns import Column
from dpviz.table.dataset import CHANGES, EncodedDataset, EncodingReport
from dpviz.table.encode import encode_part
from dpviz.table.raw import RawTable
from dpviz.table.schema import Schema
from dpviz.table.sums import ColumnSum, TableSums
from dpviz.training.nodes import BinnedRows, Kind, Place

#: Numbers of the whole table, and of each column, that are added up; then a column's sum in four halves, and its buckets.
_OF_TABLE = ("rows_read", "rows_kept", "malformed", "unchanged")
_OF_COLUMN = ("dropped_missing", "dropped_unknown", "dropped_target", *CHANGES)
_BUCKETS, _HALF = 1 << 12, 1 << 32
_WIDTH = len(_OF_COLUMN) + 4 + _BUCKETS


@dataclass(frozen=True)
class Encoding:
    """How rows become records: by a schema without its person, and `person`, the column that says whose they are ("": none).

    With `is_binned` the bins of PF-tree's grid take the place of values.
    """

    schema: Schema
    person: str
    is_binned: bool

    @cached_property
    def candidates(self) -> tuple[FeatureCandidates, ...]:
        """Of PF-tree's grid, which follows from the schema alone."""
        return multiscale_candidates(self.schema)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (*self.schema.feature_names, self.schema.target.name, *filter(None, [self.person]))

    @cached_property
    def dtype(self) -> np.dtype:
        """Of a record, a field per column: what a table without rows has."""
        empty = self.encode(RawTable(tuple(Column(name, numbers=np.empty(0)) for name in self.wanted)))
        return np.dtype([(f"c{place}", column.dtype) for place, column in enumerate((*empty.columns, empty.target))])

    @property
    def n_report_numbers(self) -> int:
        """How many numbers `report_numbers` makes."""
        return len(_OF_TABLE) + _WIDTH * len(self.wanted)

    def encode(self, table: RawTable) -> EncodedDataset:
        """The usable rows; `persons` are places among the `value_texts` of the person's column."""
        return encode_part(table, self.schema, self.candidates if self.is_binned else (), self.person or None)

    def records(self, data: EncodedDataset) -> np.ndarray:
        """The rows, one record each."""
        records = np.empty(data.n_rows, dtype=self.dtype)
        for name, column in zip(self.dtype.names or (), (*data.columns, data.target), strict=True):
            records[name] = column
        return records

    def rows(self, records: np.ndarray) -> EncodedDataset:
        """The rows of records."""
        *columns, target = (np.ascontiguousarray(records[name]) for name in self.dtype.names or ())
        return EncodedDataset(self.schema, tuple(columns), target)


def report_numbers(data: EncodedDataset, columns: Sequence[str]) -> np.ndarray:
    """What encoding some rows tells about them and their table, as whole numbers that add up: int64, 1-D. Private."""
    report = data.report
    assert report is not None
    numbers = [np.array([getattr(report, kind) or 0 for kind in _OF_TABLE])]
    for name, one in zip(columns, data.table_sums.columns, strict=True):
        numbers.append(np.array([dict(getattr(report, kind)).get(name, 0) for kind in _OF_COLUMN]))
        numbers.append(np.array([half for whole in (one.first, one.second) for half in (whole % _HALF, whole // _HALF)]))
        numbers.append(np.unpackbits(np.frombuffer(one.occupied.to_bytes(_BUCKETS // 8, "big"), np.uint8)))
    return np.concatenate(numbers).astype(np.int64)


def table_report(numbers: np.ndarray, columns: Sequence[str], person: str) -> tuple[EncodingReport, TableSums]:
    """(the report of all rows together, in which a person's column comes first; what the table is recognised by)."""
    by_column = list(zip(columns, numbers[len(_OF_TABLE) :].reshape(-1, _WIDTH), strict=True))
    sums = []
    for name, own in by_column:
        halves, occupied = own[len(_OF_COLUMN) : -_BUCKETS].tolist(), own[-_BUCKETS:] > 0
        first, second = ((low + high * _HALF) % _HALF**2 for low, high in (halves[:2], halves[2:]))
        sums.append(ColumnSum(name, first, second, int.from_bytes(np.packbits(occupied).tobytes(), "big")))
    if person:
        by_column.insert(0, by_column.pop())
    each = {kind: tuple((name, int(own[at])) for name, own in by_column if own[at]) for at, kind in enumerate(_OF_COLUMN)}
    whole = dict(zip(_OF_TABLE, numbers.tolist(), strict=False))
    return EncodingReport(**whole, **each), TableSums(whole["rows_read"], sums)  # type: ignore[arg-type]


def add_level(
    grid: CandidateGrid,
    is_binned: bool,
    cuts: np.ndarray | None,
    places: Sequence[Place],
    kind: Kind,
    counts: np.ndarray,
    rows: EncodedDataset,
    parts: np.ndarray | None,
) -> None:
    """Class counts of nodes at some places of a tree, of part 0 where there are parts, as `BinnedRows.add` adds them.

    `is_binned`: columns hold the bins of the grid; `cuts`: the classes are bands of the target.
    """
    bins = rows.columns if is_binned else tuple(map(bin_column, grid.features, rows.columns))
    target = rows.target if cuts is None else np.searchsorted(cuts, rows.target).astype(np.uint8)
    BinnedRows(grid, bins, target, counts.shape[-1], has_every_bin=True).add(counts, places, kind, parts)


def tree_of_bins(node: Node, features: Sequence[FeatureCandidates]) -> Node | None:
    """The tree that asks for bins where `node` asks for values; None where a rule divides a bin."""
    if not isinstance(node, Branch):
        return node
    left, right, rule = tree_of_bins(node.left, features), tree_of_bins(node.right, features), node.rule
    if isinstance(rule, ThresholdRule):
        cuts = features[rule.feature].thresholds
        assert cuts is not None
        places = np.flatnonzero(cuts == rule.threshold)
        if not len(places):
            return None
        rule = ThresholdRule(rule.feature, float(places[0]))  # bin b holds values in (thresholds[b-1], thresholds[b]]
    return None if left is None or right is None else Branch(rule, left, right)
