"""The claim of every source: what a row becomes follows from that row and the schema alone, so that a row that is added or
removed changes one row of what is encoded at most.

A table of any rows must be encoded to its rows one after the other, each as if it were the only one of its table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpviz
from dpviz.io import csv
from dpviz.io.options import ReadOptions
from dpviz.io.tables.read import read_table
from dpviz.io.text import ENCODINGS
from dpviz.randomness import generator
from dpviz.rows import text
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training import nodes
from tests.support.table_files import COLUMNS, PIECES, WRITERS, Rows, arrow_table, csv_bytes, drawn_row

SCHEMA = Schema(
    (
        NumericFeature("age", 0, 99, whole=True, missing_as=0),
        NumericFeature("share", -1, 100),
        CategoricalFeature("town", ("São", "Rio", "a,b", "7", "other"), missing_as="other", unknown_as="other"),
        CategoricalFeature("day", ("1999-12-31", "2020-02-29", "later"), missing_as="later", unknown_as="later"),
    ),
    ClassTarget("ok", ("no", "yes")),
    n_public=100,
)
Encoded = list[tuple[Any, ...]]


def rows_of(data: Any) -> Encoded:
    """What reaches the first mechanism, row by row."""
    return list(zip(*(column.tolist() for column in data.columns), data.target.tolist(), strict=True))


# --- rows with types, from every source


def of_large(suffix: str, rows: Rows, folder: Path) -> Encoded:
    """Read in pieces."""
    path = folder / f"table{suffix}"
    path.unlink(missing_ok=True)
    if suffix == ".duckdb":
        with duckdb.connect(str(path)) as base:
            base.register("given", arrow_table(rows))
            base.execute("create table t as select * from given")
        opened = dpviz.open_table(f"duckdb:///{path}?table=t", SCHEMA)
    else:
        path.write_bytes(WRITERS[suffix[1:]](rows, folder))
        opened = dpviz.encode_large(path, SCHEMA)
    with opened as large:
        return rows_of(large.data)


def of_file(kind: str, rows: Rows, folder: Path) -> Encoded:
    return rows_of(dpviz.encode(read_table(WRITERS[kind](rows, folder)), SCHEMA))


def frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS))


def objects(rows: Rows) -> pd.DataFrame:
    return frame(rows).astype(object)


def polars(rows: Rows) -> pl.DataFrame:
    return pl.from_arrow(arrow_table(rows))


SOURCES: dict[str, Callable[[Rows, Path], Encoded]] = {
    **{kind: (lambda rows, folder, kind=kind: of_file(kind, rows, folder)) for kind in WRITERS},
    **{
        make.__name__: (lambda rows, _, make=make: rows_of(dpviz.encode(make(rows), SCHEMA)))
        for make in (frame, objects, arrow_table, polars)
    },
    **{
        f"large{suffix}": (lambda rows, folder, suffix=suffix: of_large(suffix, rows, folder))
        for suffix in (".csv", ".csv.gz", ".parquet", ".feather", ".duckdb")
    },
}


#: Slow sources are asked for fewer tables in the fast tests.
FEW = {"large.duckdb": 5, "large.parquet": 11, "large.feather": 11}


@cache
def alone(row: tuple[Any, ...]) -> Encoded:
    """The row as the only one of a CSV file."""
    return rows_of(dpviz.encode(read_table(csv_bytes([row])), SCHEMA))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few rows are several pieces."""
    monkeypatch.setattr(nodes, "CHUNK_ROWS", 16)
    monkeypatch.setattr(text, "_CHUNK_SIZE", 90)


@pytest.mark.slow
@pytest.mark.parametrize(("n_tables", "seed"), [(11, 1), pytest.param(600, 2, marks=pytest.mark.verify)])
@pytest.mark.parametrize("source", SOURCES)
def test_a_row_is_what_it_is_by_itself_in_every_source(source: str, n_tables: int, seed: int, tmp_path: Path) -> None:
    rng = generator(seed)
    for table in range(FEW.get(source, n_tables) if n_tables < 600 else n_tables):
        rows = [drawn_row(rng) for _ in range(table % 7 if table % 10 else 60)]
        assert SOURCES[source](rows, tmp_path) == [encoded for row in rows for encoded in alone(row)], rows


# --- lines of bytes, in a file of text

TEXTS = Schema(
    (NumericFeature("age", 0, 99, whole=True, missing_as=0), CategoricalFeature("town", ("São", "Rio", "a,b"), unknown_as="Rio")),
    ClassTarget("ok", ("no", "yes")),
    n_public=100,
)
STRICT = Schema(
    (NumericFeature("age", 0, 99), CategoricalFeature("town", ("São", "Rio"), groups=(("a,b", "Rio"), ("7", "São")))),
    ClassTarget("ok", ("no", "yes"), groups=(("45", "yes"),)),
)
HEADERS = (
    *(b"age,town,ok", b"age;town;ok", b"age\ttown\tok", b"age|town|ok"),
    *(b"age,town,ok,", b"sep=;\nage;town;ok"),
    *(b"\xef\xbb\xbfage,town,ok", b"age,town,ok,caf\xe9", b"age,town,ok,age"),
)
#: Whole lines, as they often are.
LINES = ["45,São,yes".encode(), b"30,Rio,no", b'"45","Rio","no"', b"7;Rio;yes", b"", b",,", b"45,S\xe3o,yes"]


def drawn_line(rng: np.random.Generator) -> bytes:
    if rng.random() < 0.4:
        return LINES[rng.integers(len(LINES))]
    return b"".join(PIECES[at] for at in rng.integers(len(PIECES), size=rng.integers(1, 9)))


def read_lines(header: bytes, lines: list[bytes], schema: Schema, **how: Any) -> Encoded:
    first = {"names": ["age", "town", "ok"]} if not header else {"rename_duplicates": header.endswith(b"age")}
    text = b"\n".join([header, *lines] if header else lines)
    return rows_of(dpviz.encode(read_table(text, **first, **how), schema))


def broken_texts(n_tables: int, seed: int, read: Callable[..., Encoded] = read_lines, **fixed: Any) -> list[list[bytes]]:
    """Files in which a line is another than by itself: any header or none, decimal mark and encoding."""
    rng, found, singles = generator(seed), [], {}
    for _ in range(n_tables):
        how = dict(fixed) or {"encoding": [None, "utf-8", "cp1252"][rng.integers(3)]}
        schema = replace(TEXTS if rng.random() < 0.7 else STRICT, decimal=[None, ".", ","][rng.integers(3)])
        header = [*HEADERS, b""][rng.integers(len(HEADERS) + 1)]
        lines = [drawn_line(rng) + b",1" * header.endswith(b"age") for _ in range(rng.integers(1, 8))]
        wanted = []
        for line in lines:
            asked = (header, line, schema.decimal, schema.n_public, *how.values())
            if asked not in singles:
                singles[asked] = read(header, [line], schema, **how)
            wanted += singles[asked]
        if read(header, lines, schema, **how) != wanted:
            found.append([header, *lines])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_files", "seed"), [(500, 1), *(pytest.param(5_000, 100 + seed, marks=pytest.mark.verify) for seed in range(5))]
)
def test_a_line_is_what_it_is_by_itself(n_files: int, seed: int) -> None:
    assert broken_texts(n_files, seed) == []


@pytest.mark.slow
def test_a_line_is_what_it_is_by_itself_in_every_encoding() -> None:
    assert [encoding for encoding in ENCODINGS if broken_texts(10, seed=2, encoding=encoding)] == []


@pytest.mark.slow
def test_a_line_is_what_it_is_by_itself_where_files_are_read_in_pieces(tmp_path: Path) -> None:
    def read_large(header: bytes, lines: list[bytes], schema: Schema, **how: Any) -> Encoded:
        path = tmp_path / "lines.csv"
        first = b"age,town,ok,more" if header.endswith(b"age") else header or HEADERS[0]  # no name twice
        path.write_bytes(b"\n".join([first, *lines]))
        with dpviz.encode_large(path, replace(schema, n_public=100), **how) as large:
            found = rows_of(large.data)
        assert found == read_lines(first, lines, schema, **how)
        return found

    assert broken_texts(60, 3, read_large) == []


@pytest.mark.slow
@pytest.mark.parametrize("form", ["utf-16", "utf-16-be", "mac", "title"])
def test_a_line_is_what_it_is_by_itself_in_every_form_of_text(form: str) -> None:
    def read_form(header: bytes, lines: list[bytes], schema: Schema, **how: Any) -> Encoded:
        first = HEADERS[0] if header in (b"", HEADERS[-1]) else header.removeprefix(b"\xef\xbb\xbf")
        text = b"\n".join([first, *lines])
        if form == "utf-16":
            text, how = text.decode("cp1252", "replace").encode("utf-16"), {}
        elif form == "mac":
            text = text.replace(b"\n", b"\r")
        elif form == "utf-16-be":  # without a header: its first bytes belong to a row, also where they are a mark
            text = b"\n".join(lines).decode("cp1252", "replace").replace("ÿþ", "\ufffe").encode(form)
            delimiter = next(mark for mark in ",;\t|" if mark in header.decode("cp1252")) if header else ","
            names = {"names": ("age", "town", "ok"), "delimiter": delimiter, "encoding": form}
            return rows_of(dpviz.encode(read_table(text, **names), schema))
        else:
            text = b"A title, of many words\n\n" + text.removeprefix(b"sep=;\n")
        wanted = ReadOptions("t", wanted=("age", "town", "ok"), encoding=how.get("encoding"))
        return rows_of(dpviz.encode(csv.read_lines(text, wanted), schema))

    assert broken_texts(150, 4, read_form) == []


# --- cases that were found by hand


def class_counts(text: bytes) -> list[int]:
    schema = Schema((CategoricalFeature("town", ("São", "Rio")),), ClassTarget("ok", ("no", "yes")))
    return dpviz.encode(read_table(text), schema).class_counts().tolist()


def test_neither_a_stray_quote_nor_bytes_of_another_encoding_reach_another_row() -> None:
    rows = "Sao,ok,yes\n" * 3_000 + 'Rio,"fine",no\n'
    for first in ("", 'Rio,"oops,no\n'):
        assert class_counts(f"town,note,ok\n{first}{rows}".encode().replace(b"Sao", "São".encode())) == [1, 3_000]
    rows = "São,no\nSão,yes\n" * 300
    for odd in (b"", b"\xe9" * 400 + b",no\n"):
        assert class_counts(b"town,ok\n" + odd + rows.encode()) == [300, 300]
    assert class_counts(b"town,ok\n") == [0, 0]
    assert dpviz.encode(read_table(b"", names=["age", "town", "ok"]), STRICT).class_counts().tolist() == [0, 0]
