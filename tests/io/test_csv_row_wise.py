"""The claim of the reader: whatever a line holds, adding or removing it changes one row of the table at most."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.io.csv import read_csv
from dpviz.io.text import ENCODINGS
from dpviz.randomness import generator
from dpviz.table.encode import encode
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SCHEMA = Schema(
    (NumericFeature("age", 0, 99, whole=True, missing_as=0), CategoricalFeature("town", ("São", "Rio", "a,b"), unknown_as="Rio")),
    ClassTarget("ok", ("no", "yes")),
    n_public=100,
)
STRICT = Schema(
    (NumericFeature("age", 0, 99), CategoricalFeature("town", ("São", "Rio"), groups=(("a,b", "Rio"), ("7", "São")))),
    ClassTarget("ok", ("no", "yes"), groups=(("45", "yes"),)),
)
#: Pieces that lines are made of: what separates, joins, ends, spoils or looks like a value.
PIECES = [
    *(b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\r", b"\0", b"\x1a", b"\xe9", b"\xc3", b"\xe2\x82", b"\xff\xfe"),
    *(b"\xef\xbb\xbf", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"\x1c", b"\\", b" ", b"  ", b"7", b"45", b"1e308"),
    *(b"-", b"nan", b"NA", b"?"),
    *("São".encode(), b"S\xe3o", b"Rio", b"a,b", b"yes", b"no", b"1,5", b"1_0"),
    *(b'\\"', b'"1,311"', b"1.311", b"1'311", b'"a \\"b\\" c"', b"95%"),
]
HEADERS = (
    *(b"age,town,ok", b"age;town;ok", b"age\ttown\tok", b"age|town|ok"),
    *(b"\xef\xbb\xbfage,town,ok", b"age,town,ok,caf\xe9"),
)
#: Whole lines, as they often are.
LINES = ["45,São,yes".encode(), b"30,Rio,no", b'"45","Rio","no"', b"7;Rio;yes", b"", b",,", b"45,S\xe3o,yes"]


def drawn_line(rng) -> bytes:
    if rng.random() < 0.4:
        return LINES[rng.integers(len(LINES))]
    return b"".join(PIECES[at] for at in rng.integers(len(PIECES), size=rng.integers(1, 9)))


def rows_of(header: bytes, lines: list[bytes], schema=SCHEMA, **options) -> list[tuple]:
    """What reaches the first mechanism, row by row."""
    data = encode(read_csv(b"\n".join([header, *lines]), **options), schema)
    return list(zip(*(column.tolist() for column in data.columns), data.target.tolist(), strict=True))


def differs_by_one_row(with_line: list, without: list) -> bool:
    """True when taking at most one row out of `with_line` leaves `without`."""
    if with_line == without:
        return True
    at = next((place for place, (a, b) in enumerate(zip(with_line, without, strict=False)) if a != b), len(without))
    return with_line[:at] + with_line[at + 1 :] == without


def broken_cases(count: int, seed: int, **fixed) -> list:
    """Cases in which a line changed more than one row."""
    rng, found = generator(seed), []
    for _ in range(count):
        options = dict(fixed) or {"encoding": [None, "utf-8", "cp1252"][rng.integers(3)]}
        lines = [drawn_line(rng) for _ in range(rng.integers(0, 7))]
        place, line, first = rng.integers(len(lines) + 1), drawn_line(rng), HEADERS[rng.integers(len(HEADERS))]
        schema = SCHEMA if rng.random() < 0.7 else STRICT
        schema = replace(schema, decimal=[None, ".", ","][rng.integers(3)])
        without = rows_of(first, lines, schema, **options)
        with_line = rows_of(first, [*lines[:place], line, *lines[place:]], schema, **options)
        if not differs_by_one_row(with_line, without):
            found.append((first, lines, place, line, options))
    return found


@pytest.mark.slow
def test_a_line_changes_one_row_at_most():
    assert broken_cases(600, seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_line_changes_one_row_at_most_in_100000_cases(seed):
    assert broken_cases(10_000, seed=100 + seed) == []


@pytest.mark.slow
def test_the_test_finds_a_reader_that_joins_lines():
    assert broken_cases(1200, seed=2, row_wise=False)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_line_changes_one_row_at_most_in_every_encoding(encoding):
    assert broken_cases(25, seed=2, encoding=encoding) == []


def test_a_line_changes_one_row_at_most_where_the_caller_gives_the_names():
    rng = generator(3)
    for _ in range(200):
        lines = [drawn_line(rng) for _ in range(5)]
        given = {"names": ["age", "town", "ok"]}
        assert differs_by_one_row(rows_of(lines[0], lines[1:], **given), rows_of(lines[0], lines[2:], **given))


# The cases that were found by hand


def class_counts(text: bytes) -> list[int]:
    schema = Schema((CategoricalFeature("town", ("São", "Rio")),), ClassTarget("ok", ("no", "yes")))
    return encode(read_csv(text), schema).class_counts().tolist()


def test_a_line_changes_one_row_at_most_where_names_are_told_apart():
    rng, header = generator(4), b"age,town,ok,age"
    for _ in range(200):
        lines = [drawn_line(rng) + b",age" for _ in range(5)]
        rows = rows_of(header, lines, rename_duplicates=True)
        assert differs_by_one_row(rows, rows_of(header, lines[1:], rename_duplicates=True))


def test_a_stray_quote_reaches_no_other_row():
    rows = "Sao,ok,yes\n" * 3_000 + 'Rio,"fine",no\n'
    assert class_counts(f"town,note,ok\n{rows}".encode().replace(b"Sao", "São".encode())) == [1, 3_000]
    stray = f'town,note,ok\nRio,"oops,no\n{rows}'.encode().replace(b"Sao", "São".encode())
    assert class_counts(stray) == [1, 3_000]


def test_bytes_of_another_encoding_reach_no_other_row():
    rows = "São,no\nSão,yes\n".encode() * 300
    assert class_counts(b"town,ok\n" + rows) == [300, 300]
    assert class_counts(b"town,ok\n" + b"\xe9" * 400 + b",no\n" + rows) == [300, 300]


def test_no_row_and_one_row_are_both_read_and_encoded():
    assert class_counts(b"town,ok\n") == [0, 0]
    assert class_counts(b"town,ok\nRio,yes\n") == [0, 1]
    assert np.array_equal(encode(read_csv(b"", names=["age", "town", "ok"]), STRICT).class_counts(), [0, 0])
