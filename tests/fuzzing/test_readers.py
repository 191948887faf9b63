"""Ten thousand spoiled files: whatever is wrong with a CSV, schema or model, the answer is a typed error or a usable value."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DpvizError
from dpviz.models.document import model_from_json
from dpviz.table.schema_json import schema_from_json
from tests.support.mutations import exchanged, spoiled
from tests.support.release_rows import SCHEMA, small_numbers, small_rows

pytestmark = pytest.mark.verify

#: How many files of each kind: 10,000 in all.
N_CSV, N_CSV_WHOLE, N_SCHEMA, N_SCHEMA_PARTS, N_MODEL, N_MODEL_PARTS = 3500, 500, 1000, 2000, 1000, 2000
FUZZ = {"suppress_health_check": list(HealthCheck), "deadline": None, "derandomize": True, "database": None}

TABLES = (
    b"age,colour,y\n" + b"".join(b"%d,%s,%s\n" % (k, (b"red", b"green")[k % 2], (b"n", b"p")[k % 3 % 2]) for k in range(12)),
    b'age;colour;y\r\n1,5;"red";n\r\n2,5;"gr""een";p\r\n;red;p\r\n?;green;n\r\n',
    "age\tcolour\ty\n1\trød\tn\n2\tgreen\tp\n".encode("cp1252"),
    "age|colour|y\n1|red|n\n2|green|p\n".encode("utf-16"),
)
SCHEMAS = (SCHEMA, small_numbers().schema, SCHEMA.declare("colour", missing_as="red", unknown_as="green"))


@cache
def model_texts() -> tuple[str, ...]:
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


def use(text: bytes | str, read):
    """What `read` makes of it; None for a typed error."""
    try:
        return read(text)
    except DpvizError:
        return None


def uses_of_a_table(table: dpviz.io.csv.RawTable) -> None:
    """Propose a schema, encode by it and by one that was declared."""
    schema = use(b"", lambda _: dpviz.propose_schema(table))
    for known in (schema, *SCHEMAS):
        if known is not None:
            data = use(b"", lambda _, known=known: dpviz.encode(table, known))
            assert data is None or data.n_rows <= table.n_rows


@pytest.mark.slow
def test_there_is_a_document_of_several_kinds():
    kinds = {json.loads(text)["kind"] for text in model_texts()}
    assert {"tree", "constant", "linear", "packed-forest"} <= kinds
    assert all(use(text, model_from_json) is not None for text in model_texts())


@pytest.mark.slow
@given(text=spoiled(TABLES))
@settings(max_examples=N_CSV, **FUZZ)
def test_a_spoiled_csv_is_refused_in_words_or_read(text):
    table = use(text, lambda text: dpviz.read_csv(text, max_bytes=100_000))
    if table is not None:
        assert all(len(column.codes) == table.n_rows for column in table.columns)


@pytest.mark.slow
@given(text=spoiled(TABLES))
@settings(max_examples=N_CSV_WHOLE, **FUZZ)
def test_a_spoiled_csv_that_is_read_can_be_used_or_is_refused_in_words(text):
    table = use(text, lambda text: dpviz.read_csv(text, max_bytes=100_000))
    if table is not None:
        uses_of_a_table(table)


def same_schema_again(text: bytes | str) -> None:
    schema = use(text, schema_from_json)
    assert schema is None or schema_from_json(schema.to_json()) == schema


@pytest.mark.slow
@given(text=spoiled(tuple(schema.to_json().encode() for schema in SCHEMAS)))
@settings(max_examples=N_SCHEMA, **FUZZ)
def test_a_schema_with_spoiled_bytes_is_refused_in_words_or_read(text):
    same_schema_again(text)


@pytest.mark.slow
@given(text=exchanged(tuple(schema.to_dict() for schema in SCHEMAS)))
@settings(max_examples=N_SCHEMA_PARTS, **FUZZ)
def test_a_schema_with_exchanged_parts_is_refused_in_words_or_read(text):
    same_schema_again(text)


def predicts(text: bytes | str) -> None:
    """A model that is read predicts rows of its own schema, or refuses rows of another."""
    model = use(text, model_from_json)
    if model is None:
        return
    for data in (small_rows(), small_numbers()):
        predicted = use(text, lambda _, data=data: model.predict(data))
        if predicted is not None:
            assert len(predicted) == data.n_rows
            assert np.isfinite(np.asarray(predicted, dtype=float)).all()


@pytest.mark.slow
@given(text=st.deferred(lambda: spoiled(tuple(text.encode() for text in model_texts()))))
@settings(max_examples=N_MODEL, **FUZZ)
def test_a_model_with_spoiled_bytes_is_refused_in_words_or_predicts(text):
    predicts(text)


@pytest.mark.slow
@given(text=st.deferred(lambda: exchanged(tuple(json.loads(text) for text in model_texts()))))
@settings(max_examples=N_MODEL_PARTS, **FUZZ)
def test_a_model_with_exchanged_parts_is_refused_in_words_or_predicts(text):
    predicts(text)
