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

from dpviz.errors import DpvizError, TableError
from dpviz.io.limits import MAX_ROWS
from dpviz.models.packed_forest import PackedTrees
from dpviz.models.tree import Node
from dpviz.progress import Progress, Stop, watch
from dpviz.rows.records import Encoding, add_level, report_numbers, table_report, tree_of_bins
from dpviz.table.candidates import CandidateGrid, key_of
from dpviz.table.dataset import EncodedDataset, EncodingReport
from dpviz.table.encode import choose_rows, person_limit, require_one_spelling, warn_of_marks
from dpviz.table.notes import Doubt, Unread, warn_of_doubts
from dpviz.table.raw import RawTable, table_of
from dpviz.table.schema import Schema
from dpviz.table.sums import TableSums
from dpviz.training.counted_rows import Adding, ArrayRows, CountedRows, Measure, banded_schema
from dpviz.training.nodes import CountedNode, Kind, Place, SourceNode, ends_of, mirror_pairs

#: Rows whose records are counted at once: their bins and what is made of them stay small.
CHUNK_RECORDS = 1 << 18


class SourceRows(CountedRows):
    """Rows of a source, of which each is encoded once. Leaving its `with` block, or `close`, gives up what was kept."""

    most_rows_in_memory = MAX_ROWS
    _unread: tuple[Unread, ...] = ()

    def __init__(self, schema: Schema, person: str | None = None, rows_per_person: int | None = None) -> None:
        """`person` and `rows_per_person` as in `encode`. Nothing is read yet. Raises SchemaError or ParameterError."""
        self.schema, person, self.rows_per_person = person_limit(schema, person, rows_per_person)
        self._encoding = Encoding(self.schema, person or "", is_binned=True)
        self._summary: tuple[EncodingReport, TableSums] | None = None
        self._n_kept, self._is_closed, self._is_lost = 0, False, True
        self._assigned: tuple[np.ndarray, Encoding] | None = None

    # --- what a source does

    @abstractmethod
    def _encode(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        """Keep the records of every usable row, in order: (`report_numbers` all rows, the records that are kept)."""

    @abstractmethod
    def _sum_records(self, counts: np.ndarray, add: Adding, parts: np.ndarray | None) -> np.ndarray:
        """`counts`, zeros at first, once the rows of all records are added."""

    # --- what is asked

    def _require_encoded(self, *, bins: bool = True) -> Encoding:
        """Encode the rows unless that was done; with their values where `bins` do not tell what is asked.

        Raises DpvizError once the rows are closed, and where a table that is read again is another one by now. Records that are
        lost are made anew.
        """
        if self._is_closed:
            raise DpvizError("These rows were closed.", remedy="Use them inside their `with` block.")
        is_binned = self._encoding.is_binned and bins
        if self._is_lost or is_binned != self._encoding.is_binned:
            before, encoding, self._is_lost = self._summary, replace(self._encoding, is_binned=is_binned), True
            numbers, self._n_kept = self._encode(encoding)
            report, sums = table_report(numbers, encoding.wanted, encoding.person)
            report = replace(report, rows_kept=self._n_kept, over_limit=report.rows_kept - self._n_kept, unread=self._unread)
            self._encoding, self._summary = encoding, (report, sums)
            if before is not None and (before[0].rows_kept != self._n_kept or _sums_text(before[1]) != _sums_text(sums)):
                self.close()
                what = "The table has changed since its rows were read first."
                raise TableError("changed", what, remedy="Open it again when nobody writes to it.")
            self._is_lost = False
        return self._encoding

    def _sum(self, counts: np.ndarray, add: Adding, parts: np.ndarray | None = None) -> np.ndarray:
        encoding = self._require_encoded()
        if parts is not None:
            if self._assigned is not None and self._assigned[0] is parts and self._assigned[1] is not encoding:
                what = "Rows that were assigned at random were encoded again, and their numbers may be those of others by now."
                raise TableError("uncounted", what, remedy="Open the table again.")
            self._assigned = parts, encoding
        return self._sum_records(counts, add, parts)

    def close(self) -> None:
        """Give up the records."""
        self._is_closed = True

    @property
    def n_rows(self) -> int:
        """Exact number of usable rows. Private."""
        self._require_encoded()
        return self._n_kept

    @property
    def report(self) -> EncodingReport:  # type: ignore[override]
        """What encoding did, for the owner's eyes only."""
        self._require_encoded()
        assert self._summary is not None
        return self._summary[0]

    @property
    def table_sums(self) -> TableSums:
        """What the table is recognised by."""
        self._require_encoded()
        assert self._summary is not None
        return self._summary[1]

    @property
    def identity(self) -> str:
        """What the register knows these rows by: the same in whatever order they are stored, and in every source. Private.

        SHA-256 over the schema and the sums of the table, which do not tell which rows of a person were chosen.
        """
        schema = replace(self.schema, rows_per_person=1)
        return hashlib.sha256(f"{schema.key} {_sums_text(self.table_sums)}".encode()).hexdigest()

    def root(self, grid: CandidateGrid, cuts: np.ndarray | None = None) -> CountedNode:
        """All rows, binned by `grid`; counted level by level."""
        n_classes = len(self.schema.classes if cuts is None else banded_schema(self.schema, cuts).classes)
        is_ours = key_of(grid.features) == key_of(self._encoding.candidates)

        def count(places: Sequence[Place], kind: Kind, held_out: np.ndarray | None) -> np.ndarray:
            is_binned = self._require_encoded(bins=is_ours).is_binned
            shape = [len(places), *[grid.n_bins] * (1 if kind == "bins" else 2), n_classes]
            is_small = kind == "pairs" and self._n_kept < 1 << 31
            counts = np.zeros(shape, dtype=np.int32 if is_small else np.int64)
            self._sum(counts, partial(add_level, grid, is_binned, cuts, places, kind), held_out)
            return counts if kind == "bins" else mirror_pairs(counts, ends_of(feature.n_bins for feature in grid.features))

        return SourceNode(grid, n_classes, count)

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        return super().leaf_counts(self._tree_of_records(root), parts, n_parts)

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf."""
        return super().sums(measure, self._tree_of_records(root), parts, part)

    def _tree_of_records(self, root: Node) -> Node:
        """The tree that asks for what records hold."""
        binned = tree_of_bins(root, self._encoding.candidates)
        is_binned = self._require_encoded(bins=binned is not None).is_binned
        return binned if binned is not None and is_binned else root


def _sums_text(sums: TableSums) -> str:
    return f"{sums.n_rows} {[one.text for one in sums.columns]}"


# --- rows that are read here


@dataclass(frozen=True)
class Batches:
    """A table that is read here, some rows at a time."""

    names: tuple[str, ...]  #: All its columns, in order. Public
    #: Reads the columns that are wanted, from the start; the progress is told the share that is read, and may raise Cancelled.
    read: Callable[[Progress], Iterator[RawTable]]
    notes: tuple[str, ...] = ()  #: What the reader assumed
    is_text: bool = False  #: Whether it reads lines, which takes far longer than to keep the values that they say
    end: Callable[[], None] = lambda: None  #: Ends what reads it


class LocalRows(SourceRows):
    """Rows that are read here, in batches that are not kept; their records are in a file without a name.

    Nobody else can open it. It ends with its last use, also after an error, an interrupt or a kill. Windows removes it as it is
    closed.
    """

    def __init__(
        self,
        batches: Callable[[tuple[str, ...]], Batches],
        schema: Schema,
        person: str | None = None,
        rows_per_person: int | None = None,
        *,
        progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> None:
        """Of what `batches` opens, given the columns that are read."""
        super().__init__(schema, person, rows_per_person)
        self._progress, self._check_stop, self.notes = watch(progress, stop), watch(None, stop), tuple[str, ...]()
        self._batches = batches(self._encoding.wanted)
        self.names, self._records = self._batches.names, np.empty(0, dtype=self._encoding.dtype)
        self._encoding = replace(self._encoding, is_binned=not self._batches.is_text)

    @property
    def data(self) -> EncodedDataset:
        """The rows with their values; whoever asks for a column as a whole reads it as a whole."""
        *columns, target = (self._records[name] for name in self._require_encoded(bins=False).dtype.names or ())
        return EncodedDataset(self.schema, tuple(columns), target)

    def _encode(self, encoding: Encoding) -> tuple[np.ndarray, int]:
        numbers = np.zeros(encoding.n_report_numbers, dtype=np.int64)
        notes, unread = dict.fromkeys(self._batches.notes), dict[tuple[int, tuple[str, str]], Unread]()
        number_of, spellings, persons = dict[str, int](), set[str](), [np.empty(0, np.int64)]

        def read() -> Iterator[np.ndarray]:
            n_records = 0
            for table in (table_of(raw, encoding.wanted) for raw in self._batches.read(self._progress)):
                notes.update(dict.fromkeys(note for note in table.notes if isinstance(note, Doubt)))
                if self._batches.is_text:
                    warn_of_marks(table, (*self.schema.features, self.schema.target))
                data = encoding.encode(table)
                numbers[:] += report_numbers(data, encoding.wanted)
                for note in [one.after(n_records) for one in data.report.unread] if data.report else ():
                    which = encoding.wanted.index(note.column), note.words  # one column may have notes of several causes
                    unread[which] = unread[which].with_more(note) if which in unread else note
                n_records += table.n_records
                if data.persons is not None:  # whoever is met first has the smallest number
                    column = table.column(encoding.person)
                    own = [number_of.setdefault(text, len(number_of)) for text in column.value_texts]
                    persons.append(np.array(own, dtype=np.int64)[data.persons])
                    spellings.update(column.value_texts if column.typed is None else ())
                yield encoding.records(data)

        records = _on_disk(encoding.dtype, read())
        if self.rows_per_person is not None:
            require_one_spelling(encoding.person, spellings)
            of_rows = np.concatenate(persons)
            kept = choose_rows(of_rows, self.rows_per_person)
            self.persons = of_rows[kept]
            pieces = (slice(start, start + CHUNK_RECORDS) for start in range(0, len(records), CHUNK_RECORDS))
            records = _on_disk(encoding.dtype, (records[here][kept[here]] for here in pieces))
        if self._summary is None:
            self.notes, self._unread = tuple(notes), tuple(unread[which] for which in sorted(unread))
            warn_of_doubts((*notes, *self._unread))
        self._records = records
        return numbers, len(records)

    def _sum_records(self, counts: np.ndarray, add: Adding, parts: np.ndarray | None) -> np.ndarray:
        for start in range(0, self._n_kept, CHUNK_RECORDS):
            here = slice(start, start + CHUNK_RECORDS)
            self._check_stop(start / self._n_kept)
            add(counts, self._encoding.rows(self._records[here]), None if parts is None else parts[here])
        return counts

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> np.ndarray:
        """Rows by leaf and class."""
        return ArrayRows(self.data).forest_counts(trees, tree_of)

    def close(self) -> None:
        """Give up the records, and end what reads the source. The file of the records ends once nothing uses it any more."""
        super().close()
        self._records = np.empty(0)
        self._batches.end()


def _on_disk(dtype: np.dtype, pieces: Iterator[np.ndarray]) -> np.ndarray:
    """Records, read-only, in a file without a name, which lasts as long as they do; raises DpvizError where there is no room."""
    n_rows = 0
    with _room_errors():
        opened = closing(TemporaryFile(prefix="dpviz-"))  # noqa: SIM115
    with opened as file:
        for records in pieces:
            with _room_errors():
                file.write(records.tobytes())
            n_rows += len(records)
        with _room_errors():
            file.flush()
            return np.asarray(np.memmap(file, dtype, "r", shape=(n_rows,))) if n_rows else np.empty(0, dtype=dtype)


@contextmanager
def _room_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f"A temporary file cannot be written: {error.strerror or error}."
        remedy = "A row takes about a byte per column; where values are needed, 8 per number. TMPDIR names another folder."
        raise DpvizError(what, where=gettempdir(), remedy=remedy) from error
