"""Ten thousand spoiled files: whatever is wrong with a table, schema, codebook or model, the answer is a typed error or a value.

A few of each kind are tried with every change, all of them in `make verify`.
"""

from __future__ import annotations

import copy
import gzip
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DpvizError
from dpviz.io.csv import read_lines
from dpviz.io.options import ReadOptions
from dpviz.io.results import result_from_json
from dpviz.io.tables.read import read_table
from dpviz.models.document import model_from_json
from dpviz.results.exports import export, export_names
from dpviz.table.raw import RawTable
from dpviz.table.schema_json import schema_from_json
from tests.support.outcomes import cells
from tests.support.release_rows import SCHEMA, small_numbers, small_rows
from tests.support.table_files import WRITERS, drawn_rows

#: What breaks readers: quotes, delimiters, line ends, encodings, numbers at the edge, signs of other formats.
PIECES = (
    *(b'"', b'""', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xfe", b"\xef\xbb\xbf"),
    *(b"\x1f\x8b", b"PK\x03\x04"),
    *(b"NaN", b"Infinity", b"-1", b"1e999", b"1e308", b"-0", b"9" * 30, b"=1+1", b"'", b"\\", b"{", b"}", b"[", b"]"),
    *(b":", b"null"),
    *(b"true", b"\\ud800", b"\xc3", "ä€😀".encode(), b" ", b"", b"?", b"NA", b"_", b"1_000", b"0x1f", b"1,5", b"a" * 300),
)
#: What stands in place of a part of a JSON document.
VALUES: tuple[Any, ...] = (
    *(2**31, 2**63),
    *(None, True, False, 0, -1, 1, 2, 0.5, 1e308, -1e308, 10**40, -0.0, "", " ", "age", "red", "n", "x" * 300, "\ud800", "\x00"),
    *([], [[]], {}, {"a": 1}, [None], ["red", "red"], [1, 2], {"leaf": "n"}, {"leaf": 3}),
    *("infinity", "dpviz-tree/1", "dpviz-schema/2"),
)
_PLACES = st.floats(0, 1, exclude_max=True)


@st.composite
def spoiled(draw: st.DrawFn, documents: tuple[bytes, ...]) -> bytes:
    """One of the documents after one to four changes of its bytes."""
    text = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(1, 4))):
        text = _change(text, draw(st.integers(0, 4)), draw(_PLACES), draw(_PLACES), draw(st.sampled_from(PIECES)))
    return text


def _change(text: bytes, kind: int, one: float, other: float, piece: bytes) -> bytes:
    start, end = sorted((int(one * len(text)), int(other * len(text))))
    match kind:
        case 0:
            return text[:start] + piece + text[start:]
        case 1:
            return text[:start] + piece + text[start + len(piece) :]
        case 2:
            return text[:start] + text[end:]
        case 3:
            return text[:end] + text[start:end] + text[end:]
        case _:
            return text[:start] + text[end:] + text[start:end]


@st.composite
def exchanged(draw: st.DrawFn, documents: tuple[Any, ...]) -> str:
    """One of the JSON documents after one to three parts were exchanged, taken away, doubled or renamed."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        holders = list(_holders(document))
        if holders:
            holder = holders[int(draw(_PLACES) * len(holders))]
            _exchange(holder, draw(st.integers(0, 3)), draw(_PLACES), copy.deepcopy(draw(st.sampled_from(VALUES))))
    return json.dumps(document)


def _holders(value: Any) -> Any:
    """Every list and object with something in it."""
    if isinstance(value, (dict, list)):
        if value:
            yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _holders(item)


def _exchange(holder: Any, kind: int, place: float, value: Any) -> None:
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    key = keys[int(place * len(keys))]
    if kind == 0:
        holder[key] = value
    elif kind == 1:
        del holder[key]
    elif isinstance(holder, list):
        holder.append(holder[key] if kind == 2 else value)
    elif kind == 2:
        holder[key] = holder[keys[-1]]
    else:
        holder[f"{key}x"] = holder.pop(key)


FUZZ = {"suppress_health_check": list(HealthCheck), "deadline": None, "derandomize": True, "database": None}
TABLES = (
    b"age,colour,y\n" + b"".join(b"%d,%s,%s\n" % (k, (b"red", b"green")[k % 2], (b"n", b"p")[k % 3 % 2]) for k in range(12)),
    b'age;colour;y\r\n1,5;"red";n\r\n2,5;"gr""een";p\r\n;red;p\r\n?;green;n\r\n',
    "age\tcolour\ty\n1\trød\tn\n2\tgreen\tp\n".encode("cp1252"),
    "age|colour|y\n1|red|n\n2|green|p\n".encode("utf-16"),
)
ANY_BYTES = st.one_of(
    st.binary(),
    st.binary().map(gzip.compress),
    st.binary().map(b"\xff\xfe".__add__),
    st.text('ab1.,;\t|"\n\r \u00e9', max_size=80).map(str.encode),
)
KINDS = [kind for kind in WRITERS if kind != "csv"]


@cache
def schemas() -> tuple[dpviz.Schema, ...]:
    return (SCHEMA, small_numbers().schema, SCHEMA.declare("colour", missing_as="red", unknown_as="green"))


@cache
def files(kind: str) -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return tuple(WRITERS[kind](drawn_rows(seed, 8 * seed), Path(folder)) for seed in range(3))


@cache
def models() -> tuple[str, ...]:
    """A document of every kind of model there is."""
    found: dict[str, str] = {}
    for name in dpviz.learner_names():
        for data in (small_rows(), small_numbers()):
            try:
                result = dpviz.fit(name, data, epsilon=1.0, max_depth=2, seed=0)
                found.setdefault(result.model.kind, result.to_json())
            except DpvizError:
                continue  # predicts something else, or has no document
    return tuple(found.values())


@cache
def one_model() -> dict[str, Any]:
    return json.loads(dpviz.fit("pf-tree", small_rows(), epsilon=1.0, max_depth=2, seed=0).to_json())


#: Of every type of column.
BOOK = """name,type,low,high,categories,labels,missing,if missing,if unknown,unit,role
who,leave out,,,,,,,,,person
age,integer,0,120,,,999; k.A.,7,,years,
when,date days dmy 2000-01-01,1,9000,,,,,,,
city,categories,,,São; 日本; "x;y",a = São,,São,"x;y",,
y,categories,,,<=50K; >50K,,,,,,target
""".encode()


def is_short(problem: DpvizError) -> None:
    assert len(str(problem)) < 5_000


def attempt(do: Callable[..., Any], *given: Any) -> Any:
    """What it gives; None for a typed error of a few words."""
    try:
        return do(*given)
    except DpvizError as problem:
        return is_short(problem)


def is_whole(table: RawTable | None) -> None:
    for column in table.columns if table else ():
        assert len(column.codes) == table.n_rows
        assert column.codes.max(initial=-1) < len(column.distinct_texts)


def read_as_text(text: bytes) -> None:
    table = attempt(lambda: dpviz.read_table(text, max_bytes=100_000))
    is_whole(table)
    if table and b'"' not in text and not text.startswith((b"\x1f", b"PK")):  # no quote is open: a record is a line
        by_record = read_lines(text, ReadOptions("t", by_record=True))
        assert (by_record.names, cells(by_record), by_record.left_out) == (table.names, cells(table), table.left_out)


def read_as_file(content: bytes) -> None:
    is_whole(attempt(lambda: read_table(content, max_bytes=1_000_000, max_rows=10_000)))


def encode_text(text: bytes) -> None:
    """By a schema that is proposed and by those that were declared."""
    table = attempt(lambda: dpviz.read_table(text, max_bytes=100_000))
    for known in (attempt(dpviz.propose_schema, table), *schemas()) if table else ():
        data = attempt(dpviz.encode, table, known) if known else None
        assert data is None or data.n_rows <= table.n_rows


def read_schema(text: bytes | str) -> None:
    schema = attempt(schema_from_json, text)
    assert schema is None or schema_from_json(schema.to_json()) == schema


def read_book(text: bytes) -> None:
    """A schema that a codebook declares is declared again by its template."""
    schema = attempt(dpviz.import_codebook, text)
    if schema is not None:
        names = [*schema.feature_names, schema.target.name, *filter(None, [schema.person])]
        assert dpviz.import_codebook(dpviz.codebook_template(names, schema).encode()) == schema


def predict(text: bytes | str) -> None:
    """A model that is read predicts rows of its own schema, or refuses rows of another."""
    model = attempt(model_from_json, text)
    for data in (small_rows(), small_numbers()) if model else ():
        found = attempt(model.predict, data)
        assert found is None or (len(found) == data.n_rows and np.isfinite(np.asarray(found, dtype=float)).all())


def write_everywhere(text: str) -> None:
    """A model is read back with what is said about it, and written in every form."""
    for name in set(export_names()) - {"duckdb"}:
        attempt(export, name, text)
    attempt(result_from_json, text)


def as_bytes(documents: tuple[Any, ...]) -> tuple[bytes, ...]:
    return tuple(json.dumps(document).encode() for document in documents)


def dicts(texts: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(map(json.loads, texts))


#: kind -> (spoiled documents, what is done with one, how many with every change, and in all).
SPOILED: dict[str, tuple[Callable[[], st.SearchStrategy], Callable[[Any], None], int, int]] = {
    "csv": (lambda: spoiled(TABLES), read_as_text, 100, 3500),
    "any bytes": (lambda: ANY_BYTES, read_as_text, 600, 3000),
    "csv, encoded": (lambda: spoiled(TABLES), encode_text, 10, 500),
    "schema, bytes": (lambda: spoiled(as_bytes(tuple(schema.to_dict() for schema in schemas()))), read_schema, 50, 1000),
    "schema, parts": (lambda: exchanged(tuple(schema.to_dict() for schema in schemas())), read_schema, 50, 2000),
    "model, bytes": (lambda: spoiled(as_bytes(dicts(models()))), predict, 30, 1000),
    "model, parts": (lambda: exchanged(dicts(models())), predict, 30, 2000),
    "model, written": (lambda: exchanged((one_model(),)), write_everywhere, 5, 60),
    "codebook, bytes": (lambda: spoiled((BOOK,)), read_book, 50, 600),
    **{kind: (lambda kind=kind: spoiled(files(kind)), read_as_file, 10, 1000) for kind in KINDS},
}


@pytest.mark.slow
@pytest.mark.parametrize("share", ["few", pytest.param("all", marks=pytest.mark.verify)])
@pytest.mark.parametrize("kind", SPOILED)
def test_what_is_spoiled_is_refused_in_words_or_used(kind: str, share: str) -> None:
    documents, use, few, many = SPOILED[kind]
    settings(max_examples=few if share == "few" else many, **FUZZ)(given(documents())(use))()


@pytest.mark.slow
@pytest.mark.parametrize(("place", "bit"), [(624, 0), (625, 3), (53, 0), (926, 0)])
def test_a_damaged_entry_or_length_of_a_parquet_file_ends_nothing(place: int, bit: int) -> None:
    """Arrow's reader of these entries ended the process; columns of other lengths were read beside each other."""
    content = bytearray(files("parquet")[2])
    content[place] ^= 1 << bit
    read_as_file(bytes(content))


@pytest.mark.slow
@pytest.mark.verify
def test_no_byte_of_an_spss_file_ends_the_process() -> None:
    """pyreadstat ends its own at every hundredth. One bit of each byte, all eight in turn."""
    for place, content in enumerate(files("sav")[1]):
        spoilt = bytearray(files("sav")[1])
        spoilt[place] = content ^ 1 << place % 8
        read_as_file(bytes(spoilt))


@pytest.mark.slow
def test_every_kind_of_model_has_a_document() -> None:
    assert {"tree", "constant", "linear", "packed-forest"} <= {document["kind"] for document in dicts(models())}
    assert all(attempt(model_from_json, text) for text in models())
