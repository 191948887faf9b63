"""The claim of every reader: a row that is added or removed changes one row of what is encoded at most, in any kind of file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpviz.io.tables.read import read_table
from dpviz.randomness import generator
from dpviz.table.encode import encode
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.io.test_csv_row_wise import differs_by_one_row
from tests.support.table_files import WRITERS, drawn_row, drawn_rows

SCHEMA = Schema(
    (
        NumericFeature("age", 0, 99, whole=True, missing_as=0),
        NumericFeature("share", -1, 100),
        CategoricalFeature("town", ("São", "Rio", "a,b", "7", "other"), missing_as="other", unknown_as="other"),
        CategoricalFeature("day", ("1999-12-31", "2020-02-29", "later"), missing_as="later", unknown_as="later"),
    ),
    ClassTarget("ok", ("no", "yes")),
)


def encoded(content: bytes) -> list[tuple]:
    data = encode(read_table(content), SCHEMA)
    return list(zip(*(column.tolist() for column in data.columns), data.target.tolist(), strict=True))


def broken_cases(kind: str, count: int, seed: int, folder: Path) -> list:
    """Tables in which one row changed more than one row."""
    rng, found, write = generator(seed), [], WRITERS[kind]
    for case in range(count):
        rows = drawn_rows(1000 * seed + case, int(rng.integers(0, 7)))
        place, row = int(rng.integers(len(rows) + 1)), drawn_row(rng)
        more = [*rows[:place], row, *rows[place:]]
        if not differs_by_one_row(encoded(write(more, folder)), encoded(write(rows, folder))):
            found.append((rows, place, row))
    return found


@pytest.mark.parametrize("kind", WRITERS)
def test_a_row_changes_one_row_at_most_in_every_kind_of_file(kind, tmp_path):
    assert broken_cases(kind, 6, 1, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITERS)
def test_a_row_changes_one_row_at_most_in_300_tables_of_every_kind(kind, tmp_path):
    assert broken_cases(kind, 300, 2, tmp_path) == []


def test_the_test_finds_a_reader_that_lets_the_first_row_decide(tmp_path, monkeypatch):
    read = read_table

    def inferring(content: bytes):
        header, *lines = content.split(b"\n")
        if lines and b"7" in lines[0]:
            lines = [line.replace(b"no", b"yes") for line in lines]
        return read(b"\n".join([header, *lines]))

    monkeypatch.setitem(globals(), "read_table", inferring)
    assert broken_cases("csv", 60, 1, tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind != "csv"])
def test_the_same_table_gives_the_same_rows_in_every_kind_of_file(kind, tmp_path):
    for seed in range(5):
        rows = drawn_rows(seed, 40)
        assert encoded(WRITERS[kind](rows, tmp_path)) == encoded(WRITERS["csv"](rows, tmp_path))
        assert encoded(WRITERS["csv"](rows, tmp_path)), "some rows are used"
