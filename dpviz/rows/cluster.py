"""Rows of a cluster: encoded and counted where they are, by functions that map Arrow batches; what comes here are counts.

An executor's Python needs NumPy and Arrow, and this package as a file (`dpviz.rows.spark`). What a function gives is
small and adds up: the counts that are not zero, each with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import partial
from itertools import chain
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from dpviz.errors import LOST_ROWS, DpvizError, TableError, replace_errors
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import table_of_batch
from dpviz.models.packed_forest import PackedTrees
from dpviz.randomness import secure_uniforms
from dpviz.rows.databases import require_columns
from dpviz.rows.records import Encoding, report_numbers
from dpviz.rows.sources import CHUNK_RECORDS, SourceRows
from dpviz.table.encode import appearance
from dpviz.table.schema import Schema
from dpviz.training.counted_rows import Adding, add_forest_counts

Batches = Iterator[pa.RecordBatch]
#: Given the number of a part and its batches, in order.
PartFunction = Callable[[int, Batches], Batches]

#: What is kept of a part: records of some rows as bytes, and the `report_numbers` all its rows once.
#: Of rows that are a person's also the number of each one's first (`firsts`, int64).
PART_SCHEMA = pa.schema([("records", pa.binary()), ("firsts", pa.binary()), ("numbers", pa.binary())])
#: What is kept of rows until those of each person are chosen: a row's place, whose it is, what that looks like, and a draw.
PERSON_SCHEMA = pa.schema(
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
_WITHIN = 1 << 33
_CHUNK_CELLS = 1 << 16
#: How often rows are encoded where some are lost.
_N_TRIES = 3
#: Decimals of any length stay what they are.
_EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


class Source(Protocol):
    """Rows in parts, in an order. What it raises is never shown: some of what it kept is lost, and all begins anew."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns. Public."""

    def map_batches(self, function: PartFunction, schema: pa.Schema) -> Source:
        """What a function makes of every part, computed once and kept in order. Where some of it is lost, a question fails."""

    def sum_batches(self, function: PartFunction) -> pa.Table:
        """`CELLS` that a function makes of every part; equal cells are added up before they come here."""

    def partition_by(self, person: str, rows_per_person: int) -> Source:
        """Of `PERSON_SCHEMA` batches: of each person so many rows, those with the least draws, kept as `PART_SCHEMA` batches.

        These rows are numbered in their order, which they need not be kept in; `firsts` are numbers of the first of each person.
        `concatenate_pieces` makes such batches of those in which `row` is that number. Raises SchemaError where one look has
        two persons.
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
            raise TableError("persons", what, remedy="Keep that many in a view, and train on that.")
        require_columns(source.names, self._encoding.wanted)
        self._source, self._kept, self._starts = source, source, dict[int, int]()

    def _encode(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        for _ in range(_N_TRIES):
            try:
                return self._encode_once(encoding)
            except TableError as error:
                if error.code != LOST_ROWS:
                    raise
                lost = error
        raise TableError("failed", lost.what, remedy=lost.remedy)

    def _encode_once(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        self._give_up()
        with _source_errors():
            self._kept = self._source.map_batches(
                partial(encode_part, encoding), PERSON_SCHEMA if encoding.person else PART_SCHEMA
            )
            places, counts = self._numbers_of_parts(encoding)
            numbers = np.zeros(encoding.n_report_numbers, dtype=np.int64)
            numbers[places[places < len(numbers)]] = counts[places < len(numbers)]
            if self.rows_per_person is not None:
                every, self._kept = self._kept, self._kept.partition_by(encoding.person, self.rows_per_person)
                every.close()
                places, counts = self._numbers_of_parts(encoding)
        is_size = places >= len(numbers)
        self._starts = starts_of(places[is_size] - len(numbers), counts[is_size])
        return numbers, int(counts[is_size].sum())

    def _numbers_of_parts(self, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
        cells = self._kept.sum_batches(partial(_numbers_of_part, encoding))
        return cells.column("cell").to_numpy(), cells.column("count").to_numpy()

    def _sum_records(self, counts: np.ndarray, add: Adding, parts: np.ndarray | None, *, of_rows: bool = False) -> np.ndarray:
        """`of_rows`: each has a part of its own, also where rows are a person's."""
        count = partial(count_part, self._encoding, add, (counts.shape, counts.dtype), parts, self._starts, of_rows)
        try:
            with _source_errors():
                cells = self._kept.sum_batches(count)
        except TableError:
            self._is_lost = True
            raise
        counts.reshape(-1)[cells.column("cell").to_numpy()] = cells.column("count").to_numpy()
        return counts

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> np.ndarray:
        """Rows by leaf and class; `tree_of` by the rows' numbers."""
        self._require_encoded(bins=False)
        counts = np.zeros((len(trees.leaves), len(self.schema.classes)), dtype=np.int64)
        small = None if tree_of is None else tree_of.astype(np.min_scalar_type(trees.n_trees))
        return self._sum_records(counts, partial(add_forest_counts, trees), small, of_rows=True)

    def _give_up(self) -> None:
        if self._kept is not self._source:
            self._kept.close()
            self._kept = self._source

    def close(self) -> None:
        """Give up the records, and the session if it was begun for them."""
        super().close()
        self._give_up()
        self._source.close()


def starts_of(parts: np.ndarray, sizes: np.ndarray) -> dict[int, int]:
    """By part, the number of its first row; `sizes`: how many rows each of these parts has."""
    order = np.argsort(parts)
    starts = np.cumsum(sizes[order]) - sizes[order]
    return dict(zip(parts[order].tolist(), starts.tolist(), strict=True))


def _source_errors() -> AbstractContextManager[None]:
    """Whatever a source raises becomes one error that quotes nothing: rows that it kept may be lost."""

    def in_words(error: Exception) -> DpvizError:
        what = f"The cluster lost rows that it kept, or could not do what was asked ({type(error).__name__})."
        return TableError(LOST_ROWS, what, remedy="Its own log says why. It may lack rights or memory.")

    return replace_errors(in_words)


# --- on executors


def encode_part(encoding: Encoding, part: int, batches: Batches) -> Batches:
    """The records of a part: of some rows together, or one by one where each is a person's."""
    numbers, row = np.zeros(encoding.n_report_numbers, dtype=np.int64), part * _WITHIN
    for batch in batches:
        table = table_of_batch(batch, ReadOptions("the table", keep_empty=True))
        data = encoding.encode(table)
        numbers += report_numbers(data, encoding.wanted)
        records = encoding.records(data)
        if data.persons is None:
            yield pa.RecordBatch.from_pylist([{"records": records.tobytes()}], PART_SCHEMA)
            continue
        column, n_rows = table.column(encoding.person), len(records)
        looks = [None if column.typed is not None else _look_of(text) for text in column.value_texts]
        persons = (pa.array(texts, pa.string()).take(pa.array(data.persons)) for texts in (column.value_texts, looks))
        each = pa.FixedSizeBinaryArray.from_buffers(pa.binary(records.itemsize), n_rows, [None, pa.py_buffer(records)])
        own = each.cast(pa.binary()), pa.nulls(n_rows, pa.binary()), pa.array(np.arange(row, row + n_rows))
        yield pa.RecordBatch.from_arrays([*own, *persons, pa.array(secure_uniforms(n_rows))], schema=PERSON_SCHEMA)
        row += n_rows
    yield pa.RecordBatch.from_pylist([{"numbers": numbers.tobytes()}], PERSON_SCHEMA if encoding.person else PART_SCHEMA)


def _look_of(text: str) -> str:
    look = appearance(text)
    return f"\0{look.normalize(_EXACT) or 0}" if isinstance(look, Decimal) else str(look)


def _numbers_of_part(encoding: Encoding, part: int, batches: Batches) -> Batches:
    """The numbers of a part, and behind all numbers, at the place of the part, how many records it holds."""
    size = 0
    for batch in batches:
        size += sum(map(len, batch.column("records").drop_null().to_pylist()))
        for content in batch.column("numbers").drop_null().to_pylist():
            yield from _cells(np.frombuffer(content, dtype=np.int64))
    yield cells_of([encoding.n_report_numbers + part], [size // encoding.dtype.itemsize])


def concatenate_pieces(part: int, batches: Batches) -> Batches:
    """The records of `PERSON_SCHEMA` batches in few pieces, with `row` as the number of each one's first."""
    for batch in batches:
        firsts = batch.column("row").to_numpy().astype(np.int64).tobytes()
        yield pa.RecordBatch.from_pylist(
            [{"records": b"".join(batch.column("records").to_pylist()), "firsts": firsts}], PART_SCHEMA
        )


def count_part(
    encoding: Encoding,
    add: Adding,
    shape_and_type: tuple[tuple[int, ...], np.dtype],
    parts: np.ndarray | None,
    starts: dict[int, int],
    of_rows: bool,
    part: int,
    batches: Batches,
) -> Batches:
    """What is counted of a part. `parts`: those that rows were assigned to, by their numbers, which begin at `starts`."""
    counts, start = np.zeros(*shape_and_type), starts.get(part, 0)
    for records, firsts in _pieces(encoding, batches):
        own = slice(start, start + len(records)) if firsts is None or of_rows else firsts
        add(counts, encoding.rows(records), None if parts is None else parts[own])
        start += len(records)
    yield from _cells(counts.reshape(-1))


def _pieces(encoding: Encoding, batches: Batches) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """(the records, the number of each one's person's first row where it is told) of a part, some rows at a time."""
    held, firsts = list[bytes](), list[bytes]()
    for batch in chain(batches, [None]):
        if batch is not None:
            held += batch.column("records").drop_null().to_pylist()
            firsts += batch.column("firsts").drop_null().to_pylist()
        if held and (batch is None or sum(map(len, held)) >= CHUNK_RECORDS * encoding.dtype.itemsize):
            numbers = np.frombuffer(b"".join(firsts), dtype=np.int64) if firsts else None
            yield np.frombuffer(b"".join(held), dtype=encoding.dtype), numbers
            held, firsts = [], []


def _cells(counts: np.ndarray) -> Batches:
    places = np.flatnonzero(counts)
    for start in range(0, len(places), _CHUNK_CELLS):
        here = places[start : start + _CHUNK_CELLS]
        yield cells_of(here, counts[here])


def cells_of(places: Any, counts: Any) -> pa.RecordBatch:
    """`CELLS`."""
    return pa.RecordBatch.from_arrays([pa.array(places, pa.int64()), pa.array(counts, pa.int64())], schema=CELLS)
