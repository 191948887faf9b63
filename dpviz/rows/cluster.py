"""Rows of a cluster: encoded and counted where they are, by functions that map Arrow batches; what comes here are counts.

An executor's Python needs NumPy and Arrow, and this package as a file (`dpviz.rows.spark`). What a function gives is
small and adds up: the counts that are not zero, each with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from dpviz.errors import LOST_ROWS, DpvizError, EngineError, SchemaError, cells_stay_inside
from dpviz.models.packed_forest import PackedTrees
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import NoiseSource
from dpviz.randomness import secure_uniforms
from dpviz.rows.records import Encoding, numbers_of
from dpviz.rows.sources import COUNTED_AT_ONCE, SourceRows
from dpviz.table.encode import appearance, several_spellings
from dpviz.table.schema import Schema
from dpviz.training.counted_rows import Adding, add_forest_counts, leaf_counts_of

Batches = Iterator[pa.RecordBatch]
#: Given the number of a part and its batches, in order.
PartFunction = Callable[[int, Batches], Batches]

#: What is kept of a part: records of some rows as bytes, and the `numbers_of` all its rows once.
#: Of rows that are a person's also the number of each one's first (`firsts`, int64).
KEPT = pa.schema([("records", pa.binary()), ("firsts", pa.binary()), ("numbers", pa.binary())])
#: What is kept of rows until those of each person are chosen: a row's place, whose it is, what that looks like, and a draw.
WHOSE = pa.schema(
    {
        "records": pa.binary(),
        "numbers": pa.binary(),
        "row": pa.int64(),
        "person": pa.string(),
        "look": pa.string(),
        "draw": pa.float64(),
    }
)
#: Counts that are not zero, by their place.
CELLS = pa.schema([("cell", pa.int64()), ("count", pa.int64())])
#: The part of a row's place that counts within its own part.
WITHIN = 1 << 33
#: How often rows are encoded where some are lost.
_TIMES = 3
#: Takes the place of numbers where a person has several spellings.
_SPELLINGS = b"several spellings"


class Source(Protocol):
    """Rows in parts, in an order. What it raises is never shown: some of what it kept is lost, and all begins anew."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns. Public."""

    def map_batches(self, function: PartFunction, schema: pa.Schema) -> Source:
        """What a function makes of every part, computed once and kept in order. Where some of it is lost, a question fails."""

    def sum_batches(self, function: PartFunction) -> pa.Table:
        """`CELLS` that a function makes of every part; equal cells are added up before they come here."""

    def partition_by(self, person: str, most: int) -> Source:
        """Of `WHOSE` batches: of each person the `most` rows with the least draws, kept as `KEPT` batches.

        These rows are numbered in their order, which they need not be kept in; `firsts` are numbers of the first of each person.
        `together` makes such batches of those in which `row` is that number. Raises SchemaError where one look has two persons.
        """

    def close(self) -> None:
        """Give up what is kept. Never raises."""


class ClusterRows(SourceRows):
    """Rows of a source, of which counts come here."""

    whereabouts = "rows stayed on the machines of a cluster, from which counts came"

    def __init__(self, source: Source, schema: Schema, person: str | None = None, rows_per_person: int | None = None) -> None:
        """Nothing is read yet. Raises SchemaError where a column is missing."""
        super().__init__(schema, person, rows_per_person)
        if self.rows_per_person is not None and not hasattr(source, "partition_by"):
            what = "This source cannot keep at most so many rows of each person."
            raise EngineError("persons", what, remedy="Keep that many in a view, and train on that.")
        self._source, self._kept, self._starts = source, source, dict[int, int]()
        for name in self._encoding.wanted:
            if name not in source.names:
                what = f"The table has no such column among its {len(source.names):,}."
                raise SchemaError(what, field=name, remedy="Leave the column out of the schema, or add it in a view.")

    def _encode(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        for times_left in reversed(range(_TIMES)):
            self._give_up()
            self._is_lost = True
            try:
                found = self._kept_of(encoding)
                self._is_lost = False
                return found
            except EngineError as error:
                if error.code != LOST_ROWS:
                    raise
                if not times_left:
                    raise EngineError("failed", error.what, remedy=error.remedy) from None
        raise AssertionError

    def _kept_of(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        with _source_errors():
            kept = self._source.map_batches(partial(encoded, encoding), WHOSE if encoding.person else KEPT)
            try:
                cells = kept.sum_batches(summed_numbers)
                if -1 in cells.column("cell").to_pylist():
                    raise several_spellings(encoding.person)
                numbers = _dense(cells, np.zeros(encoding.n_numbers, dtype=np.int64))
                if self.rows_per_person is not None:
                    whose, kept = kept, kept.partition_by(encoding.person, self.rows_per_person)
                    whose.close()
                sizes = kept.sum_batches(partial(rows_of_part, encoding))
            except BaseException:
                kept.close()
                raise
        self._kept, (self._starts, n_rows) = kept, starts_of(sizes)
        return numbers, n_rows

    def _sum_records(self, found: np.ndarray, add: Adding, parts: np.ndarray | None, *, of_rows: bool = False) -> np.ndarray:
        """`of_rows`: each has a part of its own, also where rows are a person's."""
        given = None if parts is None else Assigned(parts, self._starts, of_rows)
        try:
            with _source_errors():
                cells = self._kept.sum_batches(partial(counted, self._encoding, add, (found.shape, found.dtype), given))
        except EngineError:
            self._is_lost = True
            raise
        return _dense(cells, found)

    @property
    def identity(self) -> str:
        """What the register knows these rows by. Nothing is drawn for it, so what is lost meanwhile is made anew."""
        for _ in range(_TIMES - 1):
            try:
                return super().identity
            except EngineError as error:
                if error.code != LOST_ROWS:
                    raise
        return super().identity

    def assigned(self, assignment: RandomAssignment, source: NoiseSource) -> np.ndarray:
        """The part of every row; where rows are a person's, each looks up that of the first."""
        return assignment.assign(self.n_rows, source=source)

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Rows by leaf and class; `tree_of` by the rows' numbers."""
        self._held(bins=False)
        found = np.zeros((len(trees.leaves), len(self.schema.classes)), dtype=np.int64)
        small = None if tree_of is None else tree_of.astype(np.min_scalar_type(trees.n_trees))
        return leaf_counts_of(self._sum_records(found, partial(add_forest_counts, trees), small, of_rows=True))

    def _give_up(self) -> None:
        if self._kept is not self._source:
            self._kept.close()
            self._kept = self._source

    def close(self) -> None:
        """Give up the records, and the session if it was begun for them."""
        super().close()
        self._give_up()
        self._source.close()


def starts_of(sizes: pa.Table) -> tuple[dict[int, int], int]:
    """(by part, the number of its first row; all rows), of `CELLS` that count the rows of each part."""
    starts, n_rows = dict[int, int](), 0
    for part, size in zip(*map(pa.ChunkedArray.to_pylist, sizes.sort_by("cell").columns), strict=True):
        starts[part], n_rows = n_rows, n_rows + size
    return starts, n_rows


def _dense(cells: pa.Table, found: np.ndarray) -> np.ndarray:
    found.reshape(-1)[cells.column("cell").to_numpy()] = cells.column("count").to_numpy()
    return found


def _source_errors() -> AbstractContextManager[None]:
    """Whatever a source raises becomes one error that quotes nothing: rows that it kept may be lost."""

    def in_words(error: Exception) -> DpvizError:
        what = f"The cluster lost rows that it kept, or could not do what was asked ({type(error).__name__})."
        return EngineError(LOST_ROWS, what, remedy="Its own log says why. It may lack rights or memory.")

    return cells_stay_inside(in_words)


# --- on executors


def encoded(encoding: Encoding, part: int, batches: Batches) -> Batches:
    """The records of a part: of some rows together, or one by one where each is a person's."""
    from dpviz.io.options import ReadOptions
    from dpviz.io.tables.arrow import table_of_batch

    numbers, n_rows = np.zeros(encoding.n_numbers, dtype=np.int64), part * WITHIN
    for batch in batches:
        table = table_of_batch(batch, ReadOptions("the table", keep_empty=True))
        try:
            data = encoding.encode(table)
        except SchemaError:
            if not encoding.person:
                raise
            yield _batch(WHOSE, numbers=[_SPELLINGS])
            return
        numbers += numbers_of(data, encoding.wanted)
        records = encoding.records(data)
        if not encoding.person:
            yield _batch(KEPT, records=[records.tobytes()])
            continue
        column = table.column(encoding.person)
        assert data.persons is not None
        texts = pa.array(column.value_texts, pa.string())
        looks = pa.array([None if column.typed is not None else _look(text) for text in column.value_texts], pa.string())
        places = pa.array(data.persons)
        about = {"person": texts.take(places), "look": looks.take(places), "draw": secure_uniforms(len(records))}
        about["records"] = pa.array([record.tobytes() for record in records], pa.binary())
        yield _batch(WHOSE, row=np.arange(n_rows, n_rows + len(records)), **about)
        n_rows += len(records)
    yield _batch(WHOSE if encoding.person else KEPT, numbers=[numbers.tobytes()])


def _look(text: str) -> str:
    found = appearance(text)
    if not isinstance(found, Decimal):
        return str(found)
    sign, digits, power = found.as_tuple()
    significant = "".join(map(str, digits)).strip("0")
    least = len("".join(map(str, digits)).rstrip("0"))
    return f"\0{sign}{significant}e{int(power) + len(digits) - least}" if significant else "\0"


def _batch(schema: pa.Schema, **columns: Any) -> pa.RecordBatch:
    """A batch of these columns; the others are missing."""
    n_rows = len(next(iter(columns.values())))
    arrays = [columns[field.name] if field.name in columns else pa.nulls(n_rows, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(
        [one if isinstance(one, pa.Array) else pa.array(one, field.type) for one, field in zip(arrays, schema, strict=True)],
        schema=schema,
    )


def summed_numbers(part: int, batches: Batches) -> Batches:
    """The numbers of a part; cell -1 stands for several spellings of a person."""
    for batch in batches:
        for content in batch.column("numbers").drop_null().to_pylist():
            if content == _SPELLINGS:
                yield _batch(CELLS, cell=[-1], count=[1])
            else:
                yield from _cells(np.frombuffer(content, dtype=np.int64))


def together(part: int, batches: Batches) -> Batches:
    """The records of `WHOSE` batches in few pieces, with `row` as the number of each one's first."""
    for batch in batches:
        if batch.num_rows:
            firsts = batch.column("row").to_numpy().astype(np.int64).tobytes()
            yield _batch(KEPT, records=[b"".join(batch.column("records").to_pylist())], firsts=[firsts])


def rows_of_part(encoding: Encoding, part: int, batches: Batches) -> Batches:
    """How many records a part holds."""
    size = sum(len(records) for records, _ in _records(encoding, batches))
    yield _batch(CELLS, cell=[part], count=[size])


@dataclass(frozen=True)
class Assigned:
    """The parts that rows were assigned to, by their numbers, and where the rows of each part of the source begin."""

    parts: np.ndarray
    starts: dict[int, int]
    of_rows: bool  #: Each has its own, also where rows are a person's


def counted(
    encoding: Encoding, add: Adding, about: tuple[tuple[int, ...], np.dtype], given: Assigned | None, part: int, batches: Batches
) -> Batches:
    """What is counted of a part."""
    found, start = np.zeros(*about), 0 if given is None else given.starts.get(part, 0)
    for records, firsts in _records(encoding, batches):
        own = slice(start, start + len(records)) if firsts is None or (given and given.of_rows) else firsts
        add(found, encoding.rows(records), None if given is None else given.parts[own])
        start += len(records)
    yield from _cells(found.reshape(-1))


def _records(encoding: Encoding, batches: Batches) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """(the records, the number of each one's person's first row where it is told) of a part, some rows at a time."""
    held, firsts = list[bytes](), list[bytes]()

    def joined() -> tuple[np.ndarray, np.ndarray | None]:
        numbers = np.frombuffer(b"".join(firsts), dtype=np.int64) if firsts else None
        return np.frombuffer(b"".join(held), dtype=encoding.dtype), numbers

    for batch in batches:
        held += batch.column("records").drop_null().to_pylist()
        firsts += batch.column("firsts").drop_null().to_pylist()
        if sum(map(len, held)) >= COUNTED_AT_ONCE * encoding.dtype.itemsize:
            yield joined()
            held, firsts = [], []
    if held:
        yield joined()


def _cells(counts: np.ndarray) -> Batches:
    places = np.flatnonzero(counts)
    for start in range(0, len(places), 1 << 16):
        here = places[start : start + (1 << 16)]
        yield _batch(CELLS, cell=here.astype(np.int64), count=counts[here].astype(np.int64))
