"""Rows whose columns hold bins: in files those of several features together, where few enough rows share no code.

Counting the codes of two features costs what counting the bins of one does, and each one's counts follow.

Columns that are larger than memory are temporary files that nobody else can open and that vanish with the process. Where the
system allows it such a file never has a name (Linux); otherwise its name is removed as soon as the file is open. It belongs to
the user alone and ends with its last use: also after an error, an interrupt or a kill.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from tempfile import TemporaryFile, gettempdir

import numpy as np

from dpviz.errors import DpvizError
from dpviz.models.tree import Branch, Node, ThresholdRule
from dpviz.table.candidates import CandidateGrid, FeatureCandidates, bin_column
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, Schema
from dpviz.training import nodes
from dpviz.training.counted_rows import piece_of
from dpviz.training.nodes import slices


class ColumnFile:
    """One column while it is written, some rows at a time; used in a `with` block."""

    def __init__(self, dtype: np.dtype) -> None:
        """Raises DpvizError where no temporary file can be made."""
        self.dtype, self._n_rows = dtype, 0
        try:
            self._file = TemporaryFile(prefix="dpviz-")  # noqa: SIM115  (closed by __exit__)
        except OSError as error:
            raise _no_room(error) from error

    def __enter__(self) -> ColumnFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, values: np.ndarray) -> None:
        """Add rows; raises DpvizError where the disk is full."""
        try:
            self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        except OSError as error:
            raise _no_room(error) from error
        self._n_rows += len(values)

    def column(self) -> np.ndarray:
        """All rows, read-only, read from the disk as they are used. They outlive the `with` block, as long as this array does."""
        try:
            self._file.flush()
            if not self._n_rows:
                return np.empty(0, dtype=self.dtype)
            return np.asarray(np.memmap(self._file, self.dtype, "r", shape=(self._n_rows,)))
        except OSError as error:
            raise _no_room(error) from error


def in_pieces(data: EncodedDataset) -> Iterator[EncodedDataset]:
    """The rows, some at a time."""
    return (piece_of(data, here) for here in slices(data.n_rows))


def written(pieces: Iterable[EncodedDataset]) -> EncodedDataset:
    """The rows of all pieces, of which there is one at least, in files."""
    with ExitStack() as opened:
        files: list[ColumnFile] = []
        for piece in pieces:
            columns = (*piece.columns, piece.target)
            files = files or [opened.enter_context(ColumnFile(column.dtype)) for column in columns]
            for file, column in zip(files, columns, strict=True):
                file.append(column)
        *features, target = [file.column() for file in files]
    return EncodedDataset(piece.schema, tuple(features), target)


def _no_room(error: OSError) -> DpvizError:
    what = f"A temporary file cannot be written: {error.strerror or error}."
    remedy = "A row takes about a byte per column; where values are needed, 8 per number. TMPDIR names another folder for them."
    return DpvizError(what, where=gettempdir(), remedy=remedy)


#: Codes times classes of a column that holds several features: so few that the counts of a level stay in the processor's cache.
_MOST_TOGETHER = 1 << 14


@dataclass(frozen=True, eq=False)
class Pack:
    """Features that share a column. A code numbers the combinations of their bins; the last feature's change fastest."""

    features: tuple[int, ...]
    shape: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """How many codes there are."""
        return math.prod(self.shape)

    @cached_property
    def bins(self) -> tuple[np.ndarray, ...]:
        """Per feature the bin that each code means, of shape (size,)."""
        kind = np.min_scalar_type(max(self.shape) - 1)
        return tuple(axis.ravel().astype(kind) for axis in np.indices(self.shape))

    @property
    def alone(self) -> tuple[Pack, ...]:
        """Its features, each by itself."""
        return tuple(Pack((feature,), (n_bins,)) for feature, n_bins in zip(self.features, self.shape, strict=True))

    def codes(self, bins: Sequence[np.ndarray]) -> np.ndarray:
        """The code of every row, by the bins of all features of the table."""
        kind = np.min_scalar_type(self.size - 1)
        found = bins[self.features[0]].astype(kind, copy=False)
        for feature, n_bins in zip(self.features[1:], self.shape[1:], strict=True):
            found = found * kind.type(n_bins) + bins[feature]
        return found

    def by_feature(self, counts: np.ndarray) -> list[np.ndarray]:
        """Counts by code (last axis) as counts by the bins of each feature."""
        if len(self.shape) == 1:
            return [counts]
        joint = counts.reshape(*counts.shape[:-1], *self.shape)
        axes = range(-len(self.shape), 0)
        return [joint.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]


@dataclass(frozen=True, eq=False)
class Binned:
    """Rows, a column per pack, and the features whose bins these hold."""

    features: tuple[FeatureCandidates, ...]
    packs: tuple[Pack, ...]
    rows: EncodedDataset

    @classmethod
    def of(cls, pieces: Iterable[EncodedDataset], features: Sequence[FeatureCandidates], schema: Schema) -> Binned:
        """Rows that come as bins, a column per feature."""
        packs = _packs(features, schema)

        def packed(piece: EncodedDataset) -> EncodedDataset:
            return replace(piece, columns=tuple(pack.codes(piece.columns) for pack in packs))

        return cls(tuple(features), packs, written(map(packed, pieces)))

    def is_by(self, grid: CandidateGrid) -> bool:
        """Whether these are the bins of a grid."""
        return grid.key == CandidateGrid(grid.schema, self.features, grid.name).key

    @cached_property
    def held(self) -> tuple[np.ndarray, ...]:
        """Per feature the bins that may hold rows, increasing: all of them, where rows are so many that few would be missing."""
        if self.rows.n_rows > nodes.ROWS_AT_ONCE:
            return tuple(np.arange(feature.n_bins) for feature in self.features)
        held = dict[int, np.ndarray]()
        for pack, column in zip(self.packs, self.rows.columns, strict=True):
            codes = np.flatnonzero(np.bincount(column, minlength=pack.size))
            held |= {feature: np.unique(bins[codes]) for feature, bins in zip(pack.features, pack.bins, strict=True)}
        return tuple(held[feature] for feature in range(len(self.features)))

    def column_of(self, feature: int) -> tuple[int, np.ndarray]:
        """(the column that holds a feature, its bin by code)."""
        at = next(at for at, pack in enumerate(self.packs) if feature in pack.features)
        return at, self.packs[at].bins[self.packs[at].features.index(feature)]

    def bins_of(self, used: Container[int], rows: slice | np.ndarray) -> EncodedDataset:
        """Some of the rows, with a column of bins per feature; it is empty where the feature is not used."""
        none = np.empty(0, dtype=np.uint8)
        bins = tuple(
            of_code[column[rows]] if feature in used else none
            for pack, column in zip(self.packs, self.rows.columns, strict=True)
            for feature, of_code in zip(pack.features, pack.bins, strict=True)
        )
        return EncodedDataset(self.rows.schema, bins, self.rows.target[rows])


def with_bins(piece: EncodedDataset, features: Sequence[FeatureCandidates]) -> EncodedDataset:
    """The same rows with bins for values."""
    return replace(piece, columns=tuple(map(bin_column, features, piece.columns)))


def _packs(features: Sequence[FeatureCandidates], schema: Schema) -> tuple[Pack, ...]:
    """Features in order, each together with those before it where there are few enough codes. Numbers have many classes."""
    most = _MOST_TOGETHER // len(schema.classes) if isinstance(schema.target, ClassTarget) else 1
    packs: list[Pack] = []
    for at, feature in enumerate(features):
        if packs and packs[-1].size * feature.n_bins <= most:
            before = packs.pop()
            packs.append(Pack((*before.features, at), (*before.shape, feature.n_bins)))
        else:
            packs.append(Pack((at,), (feature.n_bins,)))
    return tuple(packs)


def by_bins(node: Node, features: Sequence[FeatureCandidates]) -> Node | None:
    """The tree that asks for bins where `node` asks for values; None where a rule divides a bin."""
    if not isinstance(node, Branch):
        return node
    left, right, rule = by_bins(node.left, features), by_bins(node.right, features), node.rule
    if isinstance(rule, ThresholdRule):
        cuts = features[rule.feature].thresholds
        assert cuts is not None
        places = np.flatnonzero(cuts == rule.threshold)
        if not len(places):
            return None
        rule = ThresholdRule(rule.feature, float(places[0]))  # bin b holds values in (thresholds[b-1], thresholds[b]]
    return None if left is None or right is None else Branch(rule, left, right)
