"""A fingerprint is the one that registers hold: of every table what it was before columns were encoded at once."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.io.csv import read_csv
from dpviz.table.cells import canonical_number
from dpviz.table.columns import Codes, Column
from dpviz.table.raw import RawTable
from tests.support.examples import examples

ODD = ("", " ", "NA", " NA\t", "?", "a", "a ", "\x1ca", "'", '"', "\\", "\ud800", "\udc80x", "é", "e\u0301", "日本", "\x7f", "1")
TEXTS = st.lists(st.sampled_from(ODD) | st.text(st.characters(exclude_characters="\0"), max_size=4), min_size=1, max_size=30)
NUMBERS = st.lists(st.floats() | st.integers(-(10**18), 10**18).map(float) | st.sampled_from((-0.0, 1e22, 5e-324)), max_size=30)


def before(*columns):
    """Cell by cell, as the first version did it."""
    digest = hashlib.sha256()
    for name, cells in columns:
        codes = Codes()
        found = np.array([max(codes[cell], -1) for cell in cells], np.int32)
        digest.update(repr((name, tuple(codes.texts))).encode())
        digest.update(found.data)
    return digest.hexdigest()


@examples(200)
@given(TEXTS, st.data())
@pytest.mark.slow
def test_texts_of_a_dictionary_whatever_it_holds(texts, data):
    places = data.draw(st.lists(st.integers(-1, len(texts) - 1), max_size=40))
    column = Column.from_places("y", texts, np.array(places, np.int64))
    assert RawTable((column,)).fingerprint == before(("y", ["" if place < 0 else texts[place] for place in places]))


@examples(200)
@given(NUMBERS)
def test_numbers_in_increasing_order_by_their_shortest_texts(values):
    distinct = sorted({value + 0.0 for value in values if not np.isnan(value)})
    codes = [-1 if np.isnan(value) else distinct.index(value) for value in values]
    said = Column("x", tuple(map(canonical_number, distinct)), np.array(codes, np.int32))
    assert Column("x", numbers=np.array(values, float)).texts == said.texts
    assert RawTable((Column("x", numbers=np.array(values, float)),)).fingerprint == RawTable((said,)).fingerprint


def test_many_texts_from_a_file_where_each_is_another_one(tmp_path):
    cells = [f"é {number * 7919 % 50_021}" for number in range(50_000)]
    cells[::997] = ["NA"] * len(cells[::997])
    classes = ["no" if number % 2 else "yes" for number in range(50_000)]
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["name,y", *(f"{cell}  ,{it}" for cell, it in zip(cells, classes, strict=True))]), "utf-8")
    assert read_csv(file).fingerprint == before(("name", cells), ("y", classes))
