"""Rows that an engine counts: encoded once into a temporary table, which is the one snapshot for all levels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.engines.address import Address
from dpviz.engines.connection import Connection
from dpviz.engines.duckdb_file import DuckDBFile
from dpviz.engines.kinds import ColumnKind
from dpviz.engines.outcomes import Outcomes, band_outcomes, class_outcomes, feature_outcomes
from dpviz.engines.postgresql import PostgreSQL
from dpviz.engines.spark import Spark
from dpviz.engines.statements import (
    MOST_PARTS,
    counting_classes,
    counting_leaves,
    counting_level,
    counting_pairs,
    counting_rows,
    encoded_names,
    encoding,
    grid_for,
    leaf_of_row,
    place_of_row,
    sorting,
)
from dpviz.engines.sums import summing
from dpviz.errors import EngineError, SchemaError
from dpviz.installation import require_extra
from dpviz.models.packed_forest import PackedTrees
from dpviz.models.tree import Node, Tree
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.table.candidates import CandidateGrid, multiscale_grid
from dpviz.table.dataset import EncodingReport
from dpviz.table.schema import ClassTarget, Schema
from dpviz.training.counted_rows import EVERY_COUNT, Count, CountedRows, Measure, banded_schema
from dpviz.training.estimate.window import target_cuts
from dpviz.training.nodes import CountedNode, Kind, mirrored
from dpviz.training.source_nodes import Place, SourceNode


class EngineRows(CountedRows):
    """Rows in an engine, of which only counts leave it. A context manager: leaving it drops what was made.

    Nothing is read before somebody asks for a count. Then every row is encoded, once, by one statement.
    """

    def __init__(self, connection: Connection, table: Sequence[str], schema: Schema, order: str = "") -> None:
        self.schema = schema
        self._classes = (schema if isinstance(schema.target, ClassTarget) else banded_schema(schema, target_cuts(schema))).classes
        self._connection = connection
        self._table = tuple(table)
        self._order = order
        self._kinds = kinds_of(connection, table, (*schema.feature_names, schema.target.name), order)
        self._grid: CandidateGrid | None = None
        self._encoded = ""
        self._is_booked, self._digest = False, ""
        self._n_rows: tuple[int, int] | None = None
        self._with_parts = ""
        self._parts: np.ndarray | None = None

    def close(self) -> None:
        """Drop the temporary tables and end the session."""
        self._connection.close()

    @property
    def n_rows(self) -> int:
        """Exact number of usable rows. Private."""
        return self.read_and_used[1]

    @property
    def read_and_used(self) -> tuple[int, int]:
        """(rows of the table, usable rows), of the snapshot. Private."""
        if self._n_rows is None:
            ((read, used),) = self._connection.rows(counting_rows(self._encode()))
            self._n_rows = int(read), int(used)
        return self._n_rows

    @property
    def report(self) -> EncodingReport:  # type: ignore[override]
        """How many rows there are, and how many are used: at most so many are used unchanged. Private."""
        read, used = self.read_and_used
        return EncodingReport(read, used, unchanged=used)

    @property
    def identity(self) -> str:
        """What the register knows these rows by: the same in whatever order they are stored, and in every engine. Private.

        SHA-256 over the schema, and over the different rows of bins in order, each with how often it occurs. The engine sorts;
        what it sorted passes through here, for sums of hashes, which it could compute, are equal for tables that are made so.
        """
        self.book()
        if not self._digest:
            found = hashlib.sha256(self.schema.key.encode())
            for batch in self._connection.batches(sorting(self._encode(), self.schema)):
                found.update(np.column_stack([_bits(column.to_numpy()) for column in batch]).tobytes())
            self._digest = found.hexdigest()
        return self._digest

    def book(self) -> None:
        """From here on there is one snapshot: the register recognises the very rows that are counted. Reads nothing.

        Raises EngineError after rows were encoded for other bins, MissingExtra without what the digest needs.
        """
        require_extra("tables", "Recognising the rows of an engine", "pyarrow")
        if not self._is_booked:
            self._use(multiscale_grid(self.schema))
            self._is_booked = True

    @property
    def answers(self) -> frozenset[Count]:
        """Bins are all that the engine keeps of features: the thresholds of a forest are too many for them.

        Where the register is to recognise the rows, those of a single tree would be bins of another snapshot.
        """
        return EVERY_COUNT - {"leaves of forests"} - ({"leaves by value"} if self._is_booked else set())

    def class_counts(self) -> np.ndarray:
        """Rows per class."""
        found = np.zeros(len(self.schema.classes), dtype=np.int64)
        for code, count in self._connection.rows(counting_classes(self._encode())):
            found[code] = count
        return found

    def root(self, grid: CandidateGrid) -> CountedNode:
        """All rows, binned by `grid`; counted level by level."""
        self._use(grid)
        return SourceNode(grid, len(self._classes), partial(_Levels, self, grid))

    def count_level(self, grid: CandidateGrid, parts: np.ndarray | None, places: Sequence[Place], kind: Kind) -> np.ndarray:
        """Class counts of the nodes at `places`, as `Counter.count`: one pass of the engine."""
        table = self._encode(grid) if parts is None else self._parted(grid, parts)
        counting, axes = (counting_level, 1) if kind == "bins" else (counting_pairs, 2)
        asked = counting(table, place_of_row(places), len(grid.features), of_part_0=parts is not None)
        found = np.zeros((len(places), *[grid.n_bins] * axes, len(self._classes)), dtype=np.int64)
        if columns := self._connection.columns(asked):
            node, *bins, code, counts = columns
            numbers = [grid.offsets[feature] + own for feature, own in zip(bins[:axes], bins[axes:], strict=True)]
            found[(node - 1, *numbers, code)] = counts
        return found if kind == "bins" else mirrored(found, [bins for _, bins, _ in grid.slices])

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        grid = grid_for(root, self._grid, self.schema)  # a tree that was drawn before anything was counted has cuts of its own
        table = self._encode(grid) if parts is None else self._parted(grid, parts)
        found = np.zeros((n_parts, Tree(self.schema, root).n_leaves, len(self.schema.classes)), dtype=np.int64)
        asked = counting_leaves(table, leaf_of_row(root, grid), with_parts=parts is not None)
        for part, leaf, code, count in self._connection.rows(asked):
            found[part - 1, leaf, code] = count
        return found

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Raises EngineError: see `answers`."""
        raise _uncounted("A forest of random trees cannot be counted in an engine.")

    def banded(self, cuts: np.ndarray) -> EngineRows:
        """These rows: numbers are encoded together with their bands."""
        assert np.array_equal(cuts, target_cuts(self.schema))
        return self

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf."""
        grid = grid_for(root, self._grid, self.schema)
        found = np.zeros((Tree(self.schema, root).n_leaves, measure.width), dtype=np.int64)
        table, chosen = (self._encode(grid), None) if parts is None else (self._parted(grid, parts), part)
        for leaf, *sums in self._connection.rows(summing(table, measure, leaf_of_row(root, grid), chosen)):
            found[leaf] = sums
        return found

    def _use(self, grid: CandidateGrid) -> None:
        """Bins are those of `grid` from here on; what was encoded for others is dropped, so that a fit has one snapshot."""
        if self._grid is not None and self._grid.key != grid.key:
            if self._is_booked:
                raise _uncounted("Rows that the register recognises are encoded once, and other bins were asked for.")
            for table in filter(None, (self._with_parts, self._encoded)):
                self._connection.drop(table)
            self._parts, self._n_rows, self._with_parts, self._encoded = None, None, "", ""
        self._grid = grid

    def _encode(self, grid: CandidateGrid | None = None) -> str:
        """The temporary table of encoded rows, made when it is asked for first."""
        used = grid or self._grid or multiscale_grid(self.schema)
        self._use(used)
        if not self._encoded:
            columns = [*_outcomes(used, self._kinds), self._of_target()]
            asked = encoding(self._table, columns, self.schema, self._connection.words, self._order)
            self._encoded = self._connection.make_encoded(asked, encoded_names(self.schema), ordered=bool(self._order))
        return self._encoded

    def _of_target(self) -> tuple[str, Outcomes]:
        target = self.schema.target
        kind = self._kinds[target.name]
        if isinstance(target, ClassTarget):
            return target.name, class_outcomes(target, kind)
        return target.name, band_outcomes(target, target_cuts(self.schema), kind)

    def _parted(self, grid: CandidateGrid, parts: np.ndarray) -> str:
        """The temporary table of usable rows with their parts; of one fit at a time."""
        if parts is not self._parts:
            assert int(parts.max(initial=0)) <= MOST_PARTS
            if self._with_parts:
                self._connection.drop(self._with_parts)
            self._parts, self._with_parts = None, ""
            self._with_parts = self._connection.make_parts(self._encode(grid), parts)
            self._parts = parts
        return self._with_parts


@dataclass(frozen=True)
class _Levels:
    """Counts the nodes of one tree."""

    rows: EngineRows
    grid: CandidateGrid
    parts: np.ndarray | None

    @property
    def occupied_bins(self) -> np.ndarray:
        """All bins: which of them hold rows would be a question of its own."""
        return np.arange(self.grid.n_bins)

    def count(self, places: Sequence[Place], kind: Kind) -> np.ndarray:
        """Class counts of the nodes at `places`."""
        return self.rows.count_level(self.grid, self.parts, places, kind)


def _bits(column: np.ndarray) -> np.ndarray:
    """Whole numbers as they are, others by their bits; zero has one form."""
    return (column + 0.0).astype("<f8").view("<i8") if column.dtype.kind == "f" else column.astype("<i8")


def _outcomes(grid: CandidateGrid, kinds: Mapping[str, ColumnKind]) -> Iterable[tuple[str, Outcomes]]:
    for feature, candidates in zip(grid.schema.features, grid.features, strict=True):
        yield feature.name, feature_outcomes(feature, candidates, kinds[feature.name])


def kinds_of(connection: Connection, table: Sequence[str], columns: Iterable[str] | None, order: str) -> dict[str, ColumnKind]:
    """The types of these columns, or of all. Raises EngineError or SchemaError."""
    found = connection.kinds(table)
    if not found:
        what = "There is no such table or view, or it may not be read."
        raise EngineError("table", what, remedy="Give the name as the engine writes it, with its schema if need be.")
    if order and order not in found:
        raise EngineError("table", "The table has no column to number its rows by.", remedy="Name another one behind 'order='.")
    kinds = {}
    for name in found if columns is None else columns:
        if name not in found:
            what = f"The table has no such column among its {len(found):,}."
            raise SchemaError(what, field=name, remedy="Leave the column out of the schema, or add it in a view.")
        kind = found[name]
        if isinstance(kind, str):
            what = f"Columns of the type {kind} are not read."
            remedy = "Read the table through a view that casts it to a number of declared digits, double, text, boolean or date."
            raise SchemaError(what, field=name, remedy=remedy)
        kinds[name] = kind
    return kinds


def _uncounted(what: str) -> EngineError:
    return EngineError(
        "uncounted", what, remedy="Export the table as Parquet and train on the file, or choose a learner that counts less."
    )


def connect(address: Address) -> Connection:
    """A session in the engine of an address. Raises EngineError."""
    return _CONNECTIONS[address.engine](address)


def open_rows(address: Address, schema: Schema) -> EngineRows:
    """The rows at an address. Raises EngineError, SchemaError, or MissingExtra without the engine's driver."""
    connection = connect(address)
    try:
        return EngineRows(connection, address.table, schema, address.order)
    except BaseException:
        connection.close()
        raise


_CONNECTIONS: dict[str, Callable[[Address], Connection]] = {"duckdb": DuckDBFile, "postgresql": PostgreSQL, "spark": Spark}
