"""The tables a benchmark runs on: the bundled loan sample, or those that a folder's MANIFEST.csv lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dpviz.errors import DpvizError, UnknownName
from dpviz.io.samples import load_sample
from dpviz.io.tables.read import read_table
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.proposal import in_order, propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, Schema

SAMPLE = "loans"
MANIFEST = "MANIFEST.csv"
#: Columns that a manifest must have.
COLUMNS = ("name", "file", "target")
#: A column it may have: how many features are categories.
OPTIONAL = "categorical_features"


def bench_data(folder: Path | None, only: Sequence[str] | None) -> Iterator[tuple[str, EncodedDataset]]:
    """(name, encoded rows) of every data set with a class target; `only` names some of the manifest's.

    Raises
    ------
    DpvizError, TableError, UnknownName
        The folder has no manifest, a file is missing, or a name is not in the manifest.
    """
    if folder is None:
        if only:
            raise DpvizError(
                "There is no manifest to choose from.", where="--only", remedy="Add --data DIR, or leave --only out."
            )
        yield SAMPLE, encode(*load_sample(SAMPLE))
        return
    for entry in manifest(folder, only):
        table = read_table(folder / entry.file)
        schema = benchmark_schema(table, entry)
        if isinstance(schema.target, ClassTarget):
            yield entry.name, encode(table, schema)


def benchmark_schema(table: RawTable, entry: Entry) -> Schema:
    """The proposed schema with as many categorical features as the manifest says, those of fewest values first."""
    schema = propose_schema(table, entry.target)
    if entry.n_categorical is None:
        return schema
    order = sorted(schema.features, key=lambda feature: (table.column(feature.name).is_numeric, _n_values(table, feature)))
    categorical = {feature.name for feature in order[: entry.n_categorical]}
    kept = [kept for f in schema.features if (kept := _as_kind(table, f, f.name in categorical)) is not None]
    return replace(schema, features=tuple(kept))


def _n_values(table: RawTable, feature: Feature) -> int:
    return len(table.column(feature.name).distinct_texts)


def _as_kind(table: RawTable, feature: Feature, categorical: bool) -> Feature | None:
    """The feature as a number or as categories, read from the data; None for a number that never changes."""
    column = table.column(feature.name)
    if categorical == isinstance(feature, CategoricalFeature):
        return feature
    if categorical:
        return CategoricalFeature(feature.name, tuple(in_order(column.distinct_texts)), read_from_data=("kind", "categories"))
    numbers = column.text_numbers
    if numbers.min() == numbers.max():
        return None
    whole = bool(np.all(numbers == np.round(numbers)))
    return NumericFeature(feature.name, numbers.min(), numbers.max(), whole=whole, read_from_data=("kind", "low", "high"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a manifest; `n_categorical` is None where it does not say."""

    name: str
    file: str
    target: str
    n_categorical: int | None


def manifest(folder: Path, only: Sequence[str] | None) -> list[Entry]:
    """The lines of a folder's manifest; `only` names some. Raises DpvizError, UnknownName."""
    if not (folder / MANIFEST).is_file():
        remedy = f"Give a folder with a {MANIFEST} of the columns {', '.join(COLUMNS)}."
        raise DpvizError(f"There is no {MANIFEST}.", where=str(folder), remedy=remedy)
    table = read_table(folder / MANIFEST)
    names = (*COLUMNS, OPTIONAL) if OPTIONAL in table.names else COLUMNS
    listed = [
        Entry(name, file, target, int(counts[0]) if any(counts) else None)
        for name, file, target, *counts in texts_of(table, names)
    ]
    known = [entry.name for entry in listed]
    for name in only or ():
        if name not in known:
            raise UnknownName("data set in the manifest", name, known)
    return [entry for entry in listed if not only or entry.name in only]


def texts_of(table: RawTable, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The cells of these columns as texts, row by row; missing ones are empty. Raises SchemaError where a column is missing."""
    columns = [table.column(name) for name in names]
    cells = ([column.distinct_texts[code] if code >= 0 else "" for code in column.codes] for column in columns)
    return list(zip(*cells, strict=True))
