"""Spoiled files of every kind: whatever is wrong with one, the answer is a typed error or a table."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpviz.errors import DpvizError
from dpviz.io.tables.read import read_table
from tests.support.mutations import spoiled
from tests.support.table_files import WRITERS, drawn_rows

pytestmark = pytest.mark.verify

FUZZ = {"suppress_health_check": list(HealthCheck), "deadline": None, "derandomize": True, "database": None}
KINDS = [kind for kind in WRITERS if kind != "csv"]


@cache
def documents(kind: str) -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return tuple(WRITERS[kind](drawn_rows(seed, 8 * seed), Path(folder)) for seed in range(3))


def is_read_or_refused(content: bytes) -> None:
    try:
        table = read_table(content, max_bytes=1_000_000, max_rows=10_000)
    except DpvizError:
        return
    assert all(len(column.codes) == table.n_rows for column in table.columns)
    assert all(column.codes.max(initial=-1) < len(column.texts) for column in table.columns)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_spoiled_file_is_refused_in_words_or_read(kind):
    settings(max_examples=15, **FUZZ)(given(spoiled(documents(kind)))(is_read_or_refused))()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_spoiled_files_are_refused_in_words_or_read(kind):
    settings(max_examples=1000, **FUZZ)(given(spoiled(documents(kind)))(is_read_or_refused))()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=300, **FUZZ)
def test_one_bit_more_or_less_is_refused_in_words_or_read(kind, place, bit):
    content = bytearray(documents(kind)[2])
    content[int(place * len(content))] ^= 1 << bit
    is_read_or_refused(bytes(content))


@pytest.mark.parametrize(("place", "bit"), [(624, 0), (625, 3), (53, 0), (926, 0)])
def test_a_damaged_entry_or_length_of_a_parquet_file_ends_nothing(place, bit):
    """Arrow's reader of these entries ended the process; columns of other lengths were read beside each other."""
    content = bytearray(documents("parquet")[2])
    content[place] ^= 1 << bit
    is_read_or_refused(bytes(content))


@pytest.mark.slow
def test_no_byte_of_an_spss_file_ends_the_process():
    """pyreadstat ends its own at every hundredth. One bit of each byte, all eight in turn."""
    for place, content in enumerate(documents("sav")[1]):
        spoilt = bytearray(documents("sav")[1])
        spoilt[place] = content ^ 1 << place % 8
        is_read_or_refused(bytes(spoilt))
