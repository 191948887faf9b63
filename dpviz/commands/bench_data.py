"""The tables a benchmark runs on: the bundled loan sample, or those that a folder's MANIFEST.csv lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dpviz.errors import DpvizError, UnknownName
from dpviz.io.csv import read_csv
from dpviz.io.samples import load_sample
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.schema import ClassTarget

SAMPLE = "loans"
MANIFEST = "MANIFEST.csv"
#: Columns that a manifest must have.
COLUMNS = ("name", "file", "target")


def bench_data(folder: Path | None, only: Sequence[str] | None) -> Iterator[tuple[str, EncodedDataset]]:
    """(name, encoded rows) of every data set with a class target; `only` names some of the manifest's.

    Raises
    ------
    DpvizError, CsvError, UnknownName
        The folder has no manifest, a file is missing, or a name is not in the manifest.
    """
    if folder is None:
        if only:
            raise DpvizError(
                "There is no manifest to choose from.", where="--only", remedy="Add --data DIR, or leave --only out."
            )
        yield SAMPLE, encode(*load_sample(SAMPLE))
        return
    for name, file, target in _chosen(folder, only):
        table = read_csv(folder / file)
        schema = propose_schema(table, target)
        if isinstance(schema.target, ClassTarget):
            yield name, encode(table, schema)


def _chosen(folder: Path, only: Sequence[str] | None) -> list[tuple[str, str, str]]:
    if not (folder / MANIFEST).is_file():
        remedy = f"Give a folder with a {MANIFEST} of the columns {', '.join(COLUMNS)}."
        raise DpvizError(f"There is no {MANIFEST}.", where=str(folder), remedy=remedy)
    listed = _rows(read_csv(folder / MANIFEST))
    names = [name for name, _, _ in listed]
    for name in only or ():
        if name not in names:
            raise UnknownName("data set in the manifest", name, names)
    return [row for row in listed if not only or row[0] in only]


def _rows(manifest: RawTable) -> list[tuple[str, str, str]]:
    columns = [manifest.column(name) for name in COLUMNS]
    cells = [[column.texts[code] if code >= 0 else "" for code in column.codes] for column in columns]
    return list(zip(*cells, strict=True))
