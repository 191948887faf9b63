"""Rows of a source: encoded once, in batches, and kept as records of a few bytes; every question is asked of these."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from tempfile import TemporaryFile, gettempdir

import numpy as np

from dpviz.errors import DpvizError, EngineError
from dpviz.io.limits import MAX_ROWS
from dpviz.models.packed_forest import PackedTrees
from dpviz.models.tree import Node
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.progress import Progress, Stop, watched
from dpviz.rows.records import Encoding, add_digest, add_level, by_bins, numbers_of, report_of, sums_of
from dpviz.table.candidates import CandidateGrid, key_of
from dpviz.table.columns import Column
from dpviz.table.dataset import EncodedDataset, EncodingReport
from dpviz.table.encode import appearance, chosen_rows, limit_of, several_spellings, warn_of_marks
from dpviz.table.notes import Doubt, Unread, warn_of
from dpviz.table.raw import RawTable, table_of
from dpviz.table.schema import Schema
from dpviz.table.sums import TableSums
from dpviz.training.counted_rows import Adding, ArrayRows, CountedRows, Measure, banded_schema
from dpviz.training.nodes import CountedNode, Kind, Place, SourceNode, ends_of, mirrored

#: Rows whose records are counted at once: their bins and what is made of them stay small.
COUNTED_AT_ONCE = 1 << 18


class SourceRows(CountedRows):
    """Rows of a source, of which each is encoded once. Leaving its `with` block, or `close`, gives up what was kept."""

    most_rows_in_memory = MAX_ROWS

    def __init__(self, schema: Schema, person: str | None = None, rows_per_person: int | None = None) -> None:
        """`person` and `rows_per_person` as in `encode`. Nothing is read yet. Raises SchemaError or ParameterError."""
        self.schema, person, self.rows_per_person = limit_of(schema, person, rows_per_person)
        self._encoding = Encoding(self.schema, person or "", is_binned=True)
        self._numbers: np.ndarray | None = None
        self._n_kept, self._is_closed, self._is_lost, self._unread = 0, False, False, tuple[Unread, ...]()
        self._assigned: tuple[np.ndarray, Encoding] | None = None

    # --- what a source does

    @abstractmethod
    def _encode(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        """Keep the records of every usable row, in order: (`numbers_of` all rows, the records that are kept)."""

    @abstractmethod
    def _sum_records(self, found: np.ndarray, add: Adding, parts: np.ndarray | None) -> np.ndarray:
        """What is added to `found`, zeros at first, by the rows of all records."""

    @property
    def _keeps_values(self) -> bool:
        """Whether values are kept from the start, as to read the source again would cost more than they do."""
        return False

    # --- what is asked

    def _held(self, *, bins: bool = True) -> Encoding:
        """Encode the rows unless that was done; with their values where `bins` do not tell what is asked.

        Raises DpvizError once the rows are closed, and where a table that is read again is another one by now. Records that are
        lost are made anew.
        """
        if self._is_closed:
            raise DpvizError("These rows were closed.", remedy="Use them inside their `with` block.")
        if self._numbers is None:
            self._encoding = replace(self._encoding, is_binned=bins and not self._keeps_values)
            self._numbers, self._n_kept = self._encode(self._encoding)
        elif self._is_lost or (self._encoding.is_binned and not bins):
            encoding = replace(self._encoding, is_binned=self._encoding.is_binned and bins)
            before = sums_of(self._numbers, encoding.wanted)
            numbers, n_kept = self._encode(encoding)
            if n_kept != self._n_kept or not _are_equal(before, sums_of(numbers, encoding.wanted)):
                self.close()
                what = "The table has changed since its rows were read first."
                raise EngineError("changed", what, remedy="Open it again when nobody writes to it.")
            self._encoding, self._numbers, self._n_kept = encoding, numbers, n_kept
        return self._encoding

    def _sum(self, found: np.ndarray, add: Adding, parts: np.ndarray | None = None) -> np.ndarray:
        encoding = self._held()
        if parts is not None:
            if self._assigned is not None and self._assigned[0] is parts and self._assigned[1] is not encoding:
                what = "Rows that were assigned at random were encoded again, and their numbers may be those of others by now."
                raise EngineError("uncounted", what, remedy="Open the table again.")
            self._assigned = parts, encoding
        return self._sum_records(found, add, parts)

    def close(self) -> None:
        """Give up the records."""
        self._is_closed = True

    @property
    def n_rows(self) -> int:
        """Exact number of usable rows. Private."""
        self._held()
        return self._n_kept

    @property
    def report(self) -> EncodingReport:  # type: ignore[override]
        """What encoding did, for the owner's eyes only."""
        encoding = self._held()
        assert self._numbers is not None
        found = report_of(self._numbers, encoding.wanted, encoding.person)
        return replace(found, rows_kept=self._n_kept, over_limit=found.rows_kept - self._n_kept, unread=self._unread)

    @property
    def table_sums(self) -> TableSums:
        """What the table is recognised by."""
        encoding = self._held()
        assert self._numbers is not None
        return sums_of(self._numbers, encoding.wanted)

    @property
    def identity(self) -> str:
        """What the register knows these rows by: the same in whatever order they are stored, and in every source. Private.

        SHA-256 over the schema, the sums of the table and, unless of each person some rows were chosen, sums over hashes of rows.
        """
        sums, schema = self.table_sums, replace(self.schema, rows_per_person=1)
        found = hashlib.sha256(f"{schema.key} {sums.n_rows} {[one.text for one in sums.columns]}".encode())
        if self.rows_per_person is None:
            add = partial(add_digest, None if self._held().is_binned else self._encoding.candidates)
            low, high, low_squared, high_squared = self._sum(np.zeros(4, dtype=np.int64), add).tolist()
            found.update(f"{(low + (high << 32)) % (1 << 64)} {(low_squared + (high_squared << 32)) % (1 << 64)}".encode())
        return found.hexdigest()

    def root(self, grid: CandidateGrid, cuts: np.ndarray | None = None) -> CountedNode:
        """All rows, binned by `grid`; counted level by level."""
        n_classes = len(self.schema.classes if cuts is None else banded_schema(self.schema, cuts).classes)
        is_ours = key_of(grid.features) == key_of(self._encoding.candidates)

        def count(places: Sequence[Place], kind: Kind, held_out: np.ndarray | None) -> np.ndarray:
            is_binned = self._held(bins=is_ours).is_binned
            shape = [len(places), *[grid.n_bins] * (1 if kind == "bins" else 2), n_classes]
            is_small = kind == "pairs" and self._n_kept < 1 << 31
            found = np.zeros(shape, dtype=np.int32 if is_small else np.int64)
            self._sum(found, partial(add_level, grid, is_binned, cuts, places, kind), held_out)
            return found if kind == "bins" else mirrored(found, ends_of(feature.n_bins for feature in grid.features))

        return SourceNode(grid, n_classes, count)

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        return super().leaf_counts(self._asking(root), parts, n_parts)

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf."""
        return super().sums(measure, self._asking(root), parts, part)

    def _asking(self, root: Node) -> Node:
        """The tree that asks for what records hold."""
        binned = by_bins(root, self._encoding.candidates)
        is_binned = self._held(bins=binned is not None).is_binned
        return binned if binned is not None and is_binned else root


def _are_equal(one: TableSums, other: TableSums) -> bool:
    return one.n_rows == other.n_rows and [sum.text for sum in one.columns] == [sum.text for sum in other.columns]


# --- rows that are read here


@dataclass(frozen=True)
class Batches:
    """A table that is read here, some rows at a time."""

    title: str  #: What messages call it
    #: All its columns, in order. Public.
    names: tuple[str, ...]
    #: Reads the columns of these names, from the start; the progress is told the share that is read, and may raise Cancelled.
    read: Callable[[Progress], Iterator[RawTable]]
    notes: tuple[str, ...] = ()  #: What the reader assumed
    is_text: bool = False  #: Whether it reads lines, one by one: that takes far longer than to keep what they say
    end: Callable[[], None] = lambda: None  #: Ends what reads it


class LocalRows(SourceRows):
    """Rows that are read here, in batches that are not kept; their records are in a file without a name.

    Nobody else can open it. It ends with its last use, also after an error, an interrupt or a kill. Windows removes it as it is
    closed.
    """

    def __init__(
        self,
        batches: Callable[[Sequence[str]], Batches],
        schema: Schema,
        person: str | None = None,
        rows_per_person: int | None = None,
        *,
        progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> None:
        """Of what `batches` opens, given the columns that are read."""
        super().__init__(schema, person, rows_per_person)
        self._telling, self._step, self.notes = watched(progress, stop), watched(None, stop), tuple[str, ...]()
        self._batches = batches(self._encoding.wanted)
        self._records: np.ndarray = np.empty(0, dtype=self._encoding.dtype)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of the source, in its order. Public."""
        return self._batches.names

    @property
    def _keeps_values(self) -> bool:
        return self._batches.is_text

    @property
    def data(self) -> EncodedDataset:
        """The rows with their values; whoever asks for a column as a whole reads it as a whole."""
        *columns, target = (self._records[name] for name in self._held(bins=False).dtype.names or ())
        return EncodedDataset(self.schema, tuple(columns), target)

    def _encode(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        notes, numbers, persons = dict.fromkeys(self._batches.notes), np.zeros(encoding.n_numbers, dtype=np.int64), _Persons()
        unread = dict[tuple[int, tuple[str, str]], Unread]()

        def read() -> Iterator[np.ndarray]:
            n_records = 0
            for table in (table_of(raw, encoding.wanted) for raw in self._batches.read(self._telling)):
                notes.update(dict.fromkeys(note for note in table.notes if isinstance(note, Doubt)))
                if self._batches.is_text:
                    warn_of_marks(table, (*self.schema.features, self.schema.target))
                data = encoding.encode(table)
                numbers[:] += numbers_of(data, encoding.wanted)
                for note in [one.after(n_records) for one in data.report.unread] if data.report else ():
                    which = encoding.wanted.index(note.column), note.words  # one column may have notes of several causes
                    unread[which] = unread[which].with_more(note) if which in unread else note
                n_records += table.n_rows + len(table.left_out)
                if data.persons is not None:
                    persons.add(table.column(encoding.person), data.persons)
                yield encoding.records(data)

        records = _on_disk(encoding.dtype, read())
        if self.rows_per_person is not None:
            whose = persons.numbers()
            kept = chosen_rows(whose, self.rows_per_person)
            self.persons = whose[kept]
            pieces = (slice(start, start + COUNTED_AT_ONCE) for start in range(0, len(records), COUNTED_AT_ONCE))
            records = _on_disk(encoding.dtype, (records[here][kept[here]] for here in pieces))
        if self._numbers is None:
            self.notes, self._unread = tuple(notes), tuple(unread[which] for which in sorted(unread))
            warn_of((*notes, *self._unread))
        self._records = records
        return numbers, len(records)

    def _sum_records(self, found: np.ndarray, add: Adding, parts: np.ndarray | None) -> np.ndarray:
        encoding = self._held()
        for start in range(0, self._n_kept, COUNTED_AT_ONCE):
            here = slice(start, start + COUNTED_AT_ONCE)
            self._step(start / self._n_kept)
            add(found, encoding.rows(self._records[here]), None if parts is None else parts[here])
        return found

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Rows by leaf and class."""
        return ArrayRows(self.data).forest_counts(trees, tree_of)

    def close(self) -> None:
        """Give up the records, and end what reads the source. The file of the records ends once nothing uses it any more."""
        super().close()
        self._records = np.empty(0)
        self._batches.end()


class _Persons:
    """Whose row each is, by a number: whoever is met first has the smallest. Only keys and numbers are kept."""

    def __init__(self) -> None:
        self._numbers, self._looks, self._of_rows = dict[str, int](), dict[object, str](), list[np.ndarray]()

    def add(self, column: Column, places: np.ndarray) -> None:
        """Rows of a batch, by the places of their keys among the column's. Raises SchemaError for two spellings of a person."""
        texts = column.value_texts
        if column.typed is None and any(self._looks.setdefault(appearance(text), text) != text for text in texts):
            raise several_spellings(column.name)
        own = [self._numbers.setdefault(text, len(self._numbers)) for text in texts]
        self._of_rows.append(np.array(own, dtype=np.int64)[places])

    def numbers(self) -> np.ndarray:
        """Of all rows, int64 of shape (n_rows,)."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._of_rows])


def _on_disk(dtype: np.dtype, pieces: Iterator[np.ndarray]) -> np.ndarray:
    """Records, read-only, in a file without a name, which lasts as long as they do; raises DpvizError where there is no room."""
    n_rows = 0
    with _room():
        opened = closing(TemporaryFile(prefix="dpviz-"))  # noqa: SIM115
    with opened as file:
        for records in pieces:
            with _room():
                file.write(records.tobytes())
            n_rows += len(records)
        with _room():
            file.flush()
            return np.asarray(np.memmap(file, dtype, "r", shape=(n_rows,))) if n_rows else np.empty(0, dtype=dtype)


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f"A temporary file cannot be written: {error.strerror or error}."
        remedy = "A row takes about a byte per column; where values are needed, 8 per number. TMPDIR names another folder."
        raise DpvizError(what, where=gettempdir(), remedy=remedy) from error
