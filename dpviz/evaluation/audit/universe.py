"""Small universes: every data set with at most a few rows over a few kinds of rows.

A data set is a multiset, written as how often each kind of row occurs. Data sets are numbered, so that neighbours and
the rows that reach a node are found by arithmetic.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product

import numpy as np

from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema


@dataclass(frozen=True)
class Universe:
    """All data sets of at most `max_rows` rows."""

    #: Values of each feature; `numeric` says whether they are numbers 0 .. bins-1 or categories.
    bins: tuple[int, ...]
    n_classes: int = 2  #: 0: the target is a number, at either end of its declared range
    numeric: bool = False
    copies: int = 1  #: Identical columns per feature
    depth: int = 1  #: Depth of the trees
    max_rows: int = 4

    @property
    def title(self) -> str:
        """In words: "2 features of 3 categories, 2 classes, depth 2, up to 4 rows"."""
        sizes = "/".join(map(str, sorted(set(self.bins))))
        kind = "whole numbers" if self.numeric else "categories"
        copied = f" in {self.copies} identical columns each" if self.copies > 1 else ""
        plural = "s" if len(self.bins) > 1 else ""
        count = f"{len(self.bins)} feature{plural} of {sizes} {kind}{copied}"
        target = f"{self.n_classes} classes" if self.n_classes else "a number to predict"
        return f"{count}, {target}, depth {self.depth}, up to {self.max_rows} rows"

    @cached_property
    def schema(self) -> Schema:
        """Declared; n_public is `max_rows`."""
        names = [[name] if self.copies == 1 else [f"{name}{copy + 1}" for copy in range(self.copies)] for name in "abcd"]
        features = [self._feature(name, size) for same, size in zip(names, self.bins, strict=False) for name in same]
        classes = tuple("xyzuvw"[: self.n_classes])
        target = ClassTarget("class", classes) if self.n_classes else NumericTarget("number", 0, 1)
        return Schema(tuple(features), target, n_public=self.max_rows)

    def _feature(self, name: str, size: int) -> Feature:
        if self.numeric:
            return NumericFeature(name, 0, size - 1, whole=True)
        return CategoricalFeature(name, tuple(f"{name}={value}" for value in range(size)))

    @cached_property
    def kinds(self) -> EncodedDataset:
        """One row of every kind: identical columns agree, all else occurs."""
        rows = np.array(list(product(*map(range, (*self.bins, self.n_classes or 2)))))
        dtype = np.int32 if self.numeric else np.uint8
        columns = tuple(rows[:, f].astype(dtype) for f in range(len(self.bins)) for _ in range(self.copies))
        return EncodedDataset(self.schema, columns, rows[:, -1].astype(np.uint8 if self.n_classes else np.float64))

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each kind occurs in each data set: int64 of shape (n_sets, n_kinds), in the order of `keys`."""
        n_kinds = self.kinds.n_rows
        sets = [chosen for size in range(self.max_rows + 1) for chosen in combinations_with_replacement(range(n_kinds), size)]
        counts = np.array([np.bincount(np.array(chosen, dtype=np.int64), minlength=n_kinds) for chosen in sets])
        return counts[np.argsort(counts @ self._radix)]

    @cached_property
    def _radix(self) -> np.ndarray:
        return (self.max_rows + 1) ** np.arange(self.kinds.n_rows, dtype=np.int64)

    @cached_property
    def keys(self) -> np.ndarray:
        """A number per data set, increasing."""
        return self.counts @ self._radix

    @cached_property
    def plus_one(self) -> np.ndarray:
        """Number of the data set with one more row of a kind, shape (n_sets, n_kinds); -1 where it would be too large."""
        grown = np.searchsorted(self.keys, self.keys[:, None] + self._radix[None, :])
        grown[self.counts.sum(axis=1) == self.max_rows] = -1
        return grown

    def part(self, kinds: np.ndarray) -> np.ndarray:
        """Number of each data set restricted to some kinds (bool of shape (n_kinds,)), shape (n_sets,)."""
        return np.searchsorted(self.keys, (self.counts * kinds) @ self._radix)

    def rows(self, index: int) -> np.ndarray:
        """Positions in `kinds` of the rows of data set number `index`, repeated as often as they occur."""
        return np.repeat(np.arange(self.kinds.n_rows), self.counts[index])

    def dataset(self, index: int) -> EncodedDataset:
        """Data set number `index`."""
        return self.kinds.take(self.rows(index), share=1.0)
