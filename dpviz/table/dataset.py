"""Rows encoded by a schema: what learners train on.

Column-major, read-only. Private as a whole: nothing here may leave except through a mechanism.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from dpviz.errors import DpvizError
from dpviz.randomness import generator, secure_uniforms
from dpviz.table.notes import Unread
from dpviz.table.raw import list_names
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, Schema, Target
from dpviz.table.sums import TableSums, sum_codes, sum_numbers
from dpviz.table.validation import validate_count, validate_fraction

T = TypeVar("T")
#: Fields of EncodingReport that count changed cells.
CHANGES = ("clipped", "rounded", "unknown_mapped", "missing_mapped")


@dataclass(frozen=True, slots=True)
class EncodingReport:
    """What encoding did, for the owner's eyes only (all counts are private)."""

    rows_read: int
    rows_kept: int
    #: dropped_missing, dropped_unknown, dropped_target: rows dropped, by the first column that caused it: a missing value, an
    #: unknown category or unreadable number, no usable target.
    dropped_missing: tuple[tuple[str, int], ...] = ()
    dropped_unknown: tuple[tuple[str, int], ...] = ()
    dropped_target: tuple[tuple[str, int], ...] = ()
    #: clipped, rounded, unknown_mapped, missing_mapped: cells changed, by column.
    clipped: tuple[tuple[str, int], ...] = ()
    rounded: tuple[tuple[str, int], ...] = ()
    unknown_mapped: tuple[tuple[str, int], ...] = ()
    missing_mapped: tuple[tuple[str, int], ...] = ()
    ignored_columns: tuple[str, ...] = ()  #: Columns of the file the schema does not name
    #: Records the reader left out: another number of cells than columns, or a quote that is never closed.
    malformed: int = 0
    over_limit: int = 0  #: Usable rows of persons who have more than are kept of each
    unchanged: int | None = None  #: Usable rows without a changed cell, those over the limit included
    unread: tuple[Unread, ...] = ()  #: By column: what kinds of text could not be read, and in how many cells


@dataclass(frozen=True, eq=False, repr=False)
class EncodedDataset:
    """Rows encoded by a schema. Private but for the schema."""

    schema: Schema
    #: Arrays of shape (n_rows,), read-only. Per feature: float64 (or int32 for whole numbers) inside the declared
    #: range, or uint8/uint16 category codes.
    columns: tuple[np.ndarray, ...]
    #: Shape (n_rows,), read-only. Class codes (uint8), or float64 for a numeric target.
    target: np.ndarray
    report: EncodingReport | None = None  #: None for a part of an encoded data set
    #: Why one row of the source may have changed others; empty where it cannot. Nothing is released from such rows.
    not_row_wise: str = ""
    rows_per_person: int | None = None  #: The most rows of one person; None where the rows are not bound to persons
    #: Shape (n_rows,), int64: whose row each is, where the rows are bound to persons. Private.
    persons: np.ndarray | None = None
    identity_before: str = ""  #: The fingerprint of the rows that these were chosen from at random; empty where they were not
    caches_counts: bool = False
    source_sums: TableSums | None = None  #: Of the table that these rows came from; None where they were made by hand

    def __post_init__(self) -> None:
        for array in (*self.columns, self.target):
            array.flags.writeable = False

    def __repr__(self) -> str:
        """Its columns; no cell, and no number of rows."""
        return f"EncodedDataset({list_names(self.schema.feature_names)}; target {self.schema.target.name!r:.40})"

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return len(self.target)

    @property
    def n_features(self) -> int:
        """Number of features. Public."""
        return len(self.columns)

    @property
    def n_classes(self) -> int:
        """Number of declared classes. Public; raises SchemaError for a numeric target."""
        return len(self.schema.classes)

    @property
    def nbytes(self) -> int:
        """Bytes of the encoded arrays."""
        return sum(array.nbytes for array in (*self.columns, self.target))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over schema and rows, hexadecimal: equal for equal content, whatever the process. Private."""
        digest = hashlib.sha256(self.schema.key.encode())
        for array in (*self.columns, self.target):
            digest.update(array.dtype.str.encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @cached_property
    def key(self) -> str:
        """What results are kept by: the fingerprint, and whose the rows are. Private."""
        if self.persons is None:
            return self.fingerprint
        return hashlib.sha256(self.fingerprint.encode() + self.persons.tobytes()).hexdigest()

    @cached_property
    def identity(self) -> str:
        """What the register knows these rows by: the same whichever of a person's rows were chosen, and how many. Private."""
        if self.identity_before or self.schema.rows_per_person == 1:
            return self.identity_before or self.fingerprint
        return replace(self, schema=replace(self.schema, rows_per_person=1)).fingerprint

    @cached_property
    def table_sums(self) -> TableSums:
        """What the table is recognised by that these rows, and all parts of them, came from. Private."""
        if self.source_sums is not None:
            return self.source_sums
        declared = zip((*self.schema.features, self.schema.target), (*self.columns, self.target), strict=True)
        columns = [
            sum_numbers(one.name, cells) if (labels := _labels_of(one)) is None else sum_codes(one.name, cells, labels)
            for one, cells in declared
        ]
        return TableSums(self.n_rows, columns)

    def of_persons(self, persons: np.ndarray, chosen: np.ndarray, rows_per_person: int) -> EncodedDataset:
        """The chosen rows (bool), at most `rows_per_person` of each of `persons`; `dpviz.table.encode` chooses them."""
        n_kept = int(chosen.sum())
        return EncodedDataset(
            self.schema,
            tuple(column[chosen] for column in self.columns),
            self.target[chosen],
            self.report and replace(self.report, rows_kept=n_kept, over_limit=self.n_rows - n_kept),
            self.not_row_wise,
            rows_per_person=rows_per_person,
            persons=persons[chosen].astype(np.int64),
            identity_before=self.identity,
            source_sums=self.table_sums,
        )

    def with_cached_counts(self) -> EncodedDataset:
        """The same rows for many fits, as in a sweep, which share their counts. A single fit always counts for itself."""
        return replace(self, caches_counts=True)

    def class_counts(self) -> np.ndarray:
        """Exact rows per class, int64 of shape (n_classes,). Private."""
        return np.bincount(self.target, minlength=self.n_classes)

    def take(self, rows: np.ndarray | slice, *, share: float) -> EncodedDataset:
        """The rows with these positions; `share` (public) scales n_public. Nothing is released from them: see `parts`."""
        return self._part(rows, share, self.not_row_wise or "its rows were chosen by their positions, which depend on other rows")

    def parts(self, share: float) -> tuple[EncodedDataset, EncodedDataset]:
        """(the other rows, about `share` of the rows): every row is assigned to one of them at random, by itself.

        A row that is added or removed changes one part by one row and leaves the other as it is, so what is released from
        each part costs the larger epsilon of the two, not their sum; the same holds for a person, whose rows may go to both.
        The assignment is never repeated.

        `share`: probability of the second part, between 0 and 1, both excluded. Public; scales n_public.
        """
        share = validate_fraction("parts", "share", share)
        chosen = secure_uniforms(self.n_rows) < share
        return self.by_assignment(~chosen, 1 - share), self.by_assignment(chosen, share)

    def by_assignment(self, chosen: np.ndarray, share: float) -> EncodedDataset:
        """The rows where `chosen` (bool, shape (n_rows,)) is true: assigned at random, rows or persons, with chance `share`."""
        return self._part(chosen, share, self.not_row_wise)

    def _part(self, rows: np.ndarray | slice, share: float, not_row_wise: str) -> EncodedDataset:
        return EncodedDataset(
            self.schema.scaled(share),
            tuple(column[rows] for column in self.columns),
            self.target[rows],
            not_row_wise=not_row_wise,
            rows_per_person=self.rows_per_person,
            persons=None if self.persons is None else self.persons[rows],
            source_sums=self.table_sums,
        )

    def split(self, test_share: float = 0.2, *, seed: int) -> tuple[EncodedDataset, EncodedDataset]:
        """(train, test): a permuted split, stratified by class, for evaluation on rows that are not private.

        n_public is scaled by the shares. A row that is added moves others from one part to the other, so nothing can be released
        from either: `parts` is for that. Raises DpvizError where one of the two would have no row.
        """
        test_share, seed = validate_fraction("split", "test_share", test_share), validate_count("split", "seed", seed, 0)
        order, n_test = self._random_order(generator(seed)), round(self.n_rows * test_share)
        if not 0 < n_test < self.n_rows:
            raise DpvizError("There are too few rows to hold some out.", remedy="Give more rows.")
        is_test = np.zeros(self.n_rows, dtype=bool)
        is_test[order[((np.arange(n_test) + 0.5) * self.n_rows / n_test).astype(np.int64)]] = True
        return self.take(np.flatnonzero(~is_test), share=1 - test_share), self.take(np.flatnonzero(is_test), share=test_share)

    def folds(self, count: int, *, seed: int) -> list[tuple[EncodedDataset, EncodedDataset]]:
        """`count` (train, test) pairs for cross-validation, stratified by class (by chance for a numeric target)."""
        allowed = "a whole number of at least 2, at most the rows there are"
        count = validate_count("folds", "count", count, 2, self.n_rows, allowed=allowed)
        fold_of = np.empty(self.n_rows, dtype=np.int64)
        fold_of[self._random_order(generator(validate_count("folds", "seed", seed, 0)))] = np.arange(self.n_rows) % count
        pairs = ((np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(count))
        return [(self.take(train, share=1 - 1 / count), self.take(test, share=1 / count)) for train, test in pairs]

    def stratified_order(self, rng: np.random.Generator) -> np.ndarray:
        """Positions of the rows in random order, of which every beginning has each class by its share of the rows.

        int64 of shape (n_rows,); for a numeric target any order. For evaluation, as `split`.
        """
        order = rng.permutation(self.n_rows)
        if not isinstance(self.schema.target, ClassTarget):
            return order
        target = self.target[order]
        place = np.empty(self.n_rows)
        for code in np.unique(target):
            own = np.flatnonzero(target == code)
            place[own] = (np.arange(len(own)) + 0.5) / len(own)
        return order[np.argsort(place, kind="stable")]

    def _random_order(self, rng: np.random.Generator) -> np.ndarray:
        """Rows in random order, class after class; without classes in random order."""
        order = rng.permutation(self.n_rows)
        return order[np.argsort(self.target[order], kind="stable")] if isinstance(self.schema.target, ClassTarget) else order


def _labels_of(declared: Feature | Target) -> tuple[str, ...] | None:
    if isinstance(declared, CategoricalFeature):
        return declared.categories
    return declared.classes if isinstance(declared, ClassTarget) else None


class Memo(Generic[T]):
    """What is worked out from encoded rows, once per key and as long as the rows are used. Whoever works it out has a memo."""

    def __init__(self) -> None:
        self._made: WeakKeyDictionary[EncodedDataset, dict[Hashable, T]] = WeakKeyDictionary()

    def of(self, data: EncodedDataset, key: Hashable, make: Callable[[], T]) -> T:
        """`make()`, or what it made before. It must not hold `data` itself, which would then stay for ever."""
        made = self._made.setdefault(data, {})
        if key not in made:
            made[key] = make()
        return made[key]
