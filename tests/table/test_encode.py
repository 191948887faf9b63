"""What each row becomes under a schema: cell by cell, by the rules as they are written down, and every row accounted for."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from dataclasses import fields as fields_of
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.errors import DpvizError, SchemaError
from dpviz.table.cells import MISSING_MARKS, Marks, clean, number_of, parse_numbers
from dpviz.table.column_draft import read_number
from dpviz.table.columns import Column
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode, encode_new
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.examples import examples
from tests.support.outcomes import table_of_cells as table

TARGET = ClassTarget("y", ("n", "p"))


def encoded(cells, feature, labels=None):
    """The data set made of one feature with these cells."""
    return encode(table(x=cells, y=labels or ["n"] * len(cells)), Schema((feature,), TARGET))


# --- an oracle of one cell, and of the report

CELLS = ("0", "1", "1.0", " 1 ", "0.4", "-0.0", "7", "-3", "99", "1,5", "2.50", "abc", "a", "b", "male", "NA", "?", "", "k.A.")
CELLS += ("999",)
CELLS += ("999.0", "inf", "042", "true", "TRUE", "2024-03-01", "2023-12-31T10:00", "\ufffd", "São", "Sa\u0303o")
DECLARED: dict[str, Any] = {
    "number": NumericFeature("", 0, 1),
    "number with stand-in and codes": NumericFeature("", -5, 50, missing_as=4, missing_codes=("999", "k.A.")),
    "whole": NumericFeature("", 0.5, 5.5, whole=True, missing_as=2),
    "categories": CategoricalFeature("", ("a", "b", "1")),
    "categories with groups": CategoricalFeature("", ("a", "São", "true", "NA"), groups=(("male", "a"), ("7", "São"))),
    "categories for all": CategoricalFeature(
        "", ("042", "2.5", "o"), missing_as="o", unknown_as="o", missing_codes=("999", "abc")
    ),
    "month": DateFeature("", 2, 12, part="month", missing_as=6, missing_codes=("k.A.", "1")),
    "day": DateFeature("", 0, 400, part="days", since="2024-01-01"),
}
TARGETS = (ClassTarget("y", ("0", "1")), ClassTarget("y", ("b", "a"), groups=(("male", "a"), ("1", "b"))))
TARGETS += (NumericTarget("y", 0, 1, missing_codes=("7",)),)


PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def spells(cell: str, declared: str) -> bool:
    """Whether a cell is this declared text: equal, or the same plain number or truth value in other letters."""
    is_plain = PLAIN.fullmatch(cell) and PLAIN.fullmatch(declared) and not declared.endswith(".0")
    return cell == declared or bool(is_plain and Decimal(cell) == Decimal(declared)) or cell.lower() == declared == "true"


def meaning(cell: str, declared: Any) -> tuple[float | None, set[str]]:
    """(the encoded value, None where the row is dropped; fields of the report that count it)."""
    cell, codes = clean(cell), getattr(declared, "missing_codes", ())
    if isinstance(declared, (CategoricalFeature, ClassTarget)):
        labels = getattr(declared, "categories", None) or declared.classes
        known = [*zip(labels, labels, strict=True), *declared.groups]
        label = next((label for text, label in known if spells(cell, text)), None)
        if label is not None:
            return labels.index(label), set()
        what = "missing" if cell in MISSING_MARKS or any(spells(cell, code) for code in codes) else "unknown"
        instead = getattr(declared, f"{what}_as", None)
        return (None, {what}) if instead is None else (labels.index(instead), {f"{what}_mapped"})
    if isinstance(declared, DateFeature):
        missing = cell in MISSING_MARKS or any(spells(cell, code) for code in codes)
        try:
            day = dt.date.fromisoformat(cell[:10])
            number = float(day.month if declared.part == "month" else (day - dt.date(2024, 1, 1)).days)
        except ValueError:
            number = math.nan
    else:
        number = number_of(cell)
        missing = cell in MISSING_MARKS or cell in codes or number in parse_numbers(codes).tolist()
    changed = set()
    instead = getattr(declared, "missing_as", None)
    if missing and instead is None:
        return None, {"missing"}
    if missing:
        number, changed = instead, {"missing_mapped"}
    elif math.isnan(number):
        return None, {"unknown"}
    whole = getattr(declared, "whole", False)
    low, high = (math.ceil(declared.low), math.floor(declared.high)) if whole else (declared.low, declared.high)
    rounded = float(np.rint(number)) if whole else number
    value = min(max(rounded, low), high)
    if not missing:
        changed = {what for what, is_so in (("rounded", rounded != number), ("clipped", value != rounded)) if is_so}
    return value + 0.0, changed


FORMS = {
    "texts": lambda name, cells: Column.from_texts(name, cells),
    "cells that wait": lambda name, cells: Column(name, packs=["\0".join(cells[:2]), *cells[2:]] if cells else []),
    "values": lambda name, cells: Column.from_values(name, [cell or None for cell in cells]),
    "places": lambda name, cells: Column.from_places(name, cells, np.arange(len(cells))),
}


@pytest.mark.slow
@examples(400)
@given(st.data())
def test_every_cell_becomes_what_the_rules_say_and_every_row_is_counted_once(data):
    """So a row is encoded by itself: what the oracle says of a cell depends on nothing else."""
    kinds = data.draw(st.lists(st.sampled_from(sorted(DECLARED)), min_size=1, max_size=3))
    features = tuple(replace(DECLARED[kind], name=f"x{place}") for place, kind in enumerate(kinds))
    schema = Schema(features, data.draw(st.sampled_from(TARGETS)))
    pool = data.draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=8))
    goal = st.sampled_from(("0", "1", "1.0", "a", "b", "male", "0.5", "7", "9", "", "NA"))
    rows = data.draw(st.lists(st.tuples(*[st.sampled_from(pool)] * len(features), goal), max_size=12))
    form, declared = data.draw(st.sampled_from(sorted(FORMS))), (*features, schema.target)
    cells = [*zip(*rows, strict=True)] or [()] * len(declared)
    raw = RawTable(tuple(FORMS[form](one.name, [*column]) for one, column in zip(declared, cells, strict=True)))

    kept, fields, unchanged, usable = [], Counter[tuple[str, str]](), 0, []
    for row in rows:
        found = [meaning(cell, one) for cell, one in zip(row, declared, strict=True)]
        dropping = next((k for k, (value, _) in enumerate(found) if value is None), None)
        usable.append(all(value is not None for value, _ in found[:-1]))
        if dropping is not None:
            why = "target" if dropping == len(features) else min(found[dropping][1])
            fields[f"dropped_{why}", declared[dropping].name] += 1
            continue
        kept.append(tuple(value for value, _ in found))
        unchanged += not any(changes for _, changes in found)
        fields.update((change, one.name) for one, (_, changes) in zip(declared, found, strict=True) for change in changes)
    encoded = encode(raw, schema)
    assert list(zip(*(column.tolist() for column in (*encoded.columns, encoded.target)), strict=True)) == kept
    listed = {name: found for name, found in vars_of(encoded.report).items() if isinstance(found, tuple) and found}
    assert {note.column for note in listed.pop("unread", ())} >= {name for name, _ in listed.get("dropped_unknown", ())}
    report = {name: dict(found) for name, found in listed.items()}
    assert report == {
        field: {name: count for (other, name), count in fields.items() if other == field}
        for field in {field for field, _ in fields}
    }
    told = encoded.report
    assert (told.rows_read, told.rows_kept, told.unchanged, told.malformed) == (len(rows), len(kept), unchanged, 0)
    assert encode_new(raw, schema).usable.tolist() == usable


def vars_of(report: Any) -> dict[str, Any]:
    return {field.name: getattr(report, field.name) for field in fields_of(report)}


@pytest.mark.slow
def test_numbers_and_categories_take_the_smallest_type_and_too_many_categories_are_refused():
    for low, high, dtype in [(0, 32767, np.int16), (-32769, 0, np.int32), (0, 2**31 - 1, np.int32), (0, 2**31, np.float64)]:
        data = encoded([str(low), str(high)], NumericFeature("x", low, high, whole=True))
        assert (data.columns[0].dtype, data.columns[0].tolist()) == (dtype, [low, high])
    names = tuple(f"k{i}" for i in range(65537))
    for count, dtype in ((256, np.uint8), (257, np.uint16), (65536, np.uint16)):
        data = encoded([names[count - 1], "k0"], CategoricalFeature("x", names[:count]))
        assert (data.columns[0].dtype, data.columns[0].tolist()) == (dtype, [count - 1, 0])
    with pytest.raises(SchemaError, match="65,537 categories"):
        encoded(["k0"], CategoricalFeature("x", names))


def codes(cells, categories, **more):
    """The category of each cell, None where it has none."""
    feature = CategoricalFeature("x", categories, **more)
    return [data.columns[0].tolist()[0] if (data := encoded([cell], feature)).n_rows else None for cell in cells]


@pytest.mark.parametrize(
    ("categories", "of_cells"),
    [
        (("0", "1"), {"0": 0, "1.0": 1, "0.00": 0, "-0": 0, "-0.0": 0, " 1 ": 1}),
        (("0", "1"), dict.fromkeys(("01", "1e0", "+1", "1.", "1,0", "1_0", "00", ".0", "1.0e0", "１", "१"))),
        (("2.5", "-3"), {"2.50": 0, "2.5": 0, "-3.0": 1, "02.5": None, "25e-1": None}),
        (("042", "5E1", "7W"), {"042": 0, "5E1": 1, "42": None, "0042": None, "42.0": None, "50": None, "5e1": None}),
        (("250.0", "250.10"), {"250.0": 0, "250.10": 1, "250": None, "250.00": None, "250.1": None}),
        (("1", "1.0"), {"1.0": 1, "1": 0, "1.00": None}),
        (("42", "042"), {"42": 0, "042": 1, "42.0": None}),
        (("50", "5E1"), {"50": 0, "5E1": 1, "50.0": None}),
        (("1", "2", "2.0"), {"2": 1, "2.0": 2, "2.00": None, "1": 0}),
        (("9007199254740993", "9007199254740992"), {"9007199254740993": 0, "9007199254740992.0": 1, "9007199254740994": None}),
        (("false", "true"), {"TRUE": 1, "True": 1, "true": 1, "tRUE": 1, "FALSE": 0, "yes": None, "1": None, "t": None}),
        (("True", "TRUE", "no"), {"True": 0, "TRUE": 1, "true": None}),
        (("Zürich", "New York"), {"Zu\u0308rich": 0, "\u00a0Zürich\u00a0": 0, "New\u00a0York": 1, "zürich": None}),
        (("Zu\u0308rich", " x"), {"Zürich": 0, "Zu\u0308rich": 0, "x": 1}),
        (("NA", "ZA"), {"NA": 0, " NA ": 0, "na": None, "": None, "N/A": None, "?": None}),
        (("?", "null", "nan", "-", ".", "None"), {"?": 0, "null": 1, "nan": 2, "-": 3, ".": 4, "None": 5, "NaN": None}),
    ],
)
def test_a_cell_is_the_category_that_it_spells(categories, of_cells):
    assert codes(of_cells, categories) == [*of_cells.values()]


def test_columns_follow_the_schema_others_are_named_and_the_table_stays_as_it_is():
    raw = replace(table(a=["1", "2"], b=["3", "4"], c=["5", "6"], y=["n", "p"]), n_malformed=7, not_row_wise="a reason")
    data = encode(raw, Schema((NumericFeature("c", 0, 9), NumericFeature("a", 0, 1)), TARGET))
    assert [column.tolist() for column in data.columns] == [[5, 6], [1, 1]]
    assert (data.report.ignored_columns, data.report.malformed, data.not_row_wise) == (("b",), 7, "a reason")
    for array in (*data.columns, data.target):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert raw.columns[0].numbers().tolist() == [1, 2]
    with pytest.raises(SchemaError, match=r"x: data.csv has no column 'x' among its 2\.") as caught:
        encode(table("data.csv", a=["1"], y=["n"]), Schema((NumericFeature("x", 0, 1),), TARGET))
    assert caught.value.field == "x"


def test_zero_has_one_fingerprint():
    plain, negative = (encoded([zero, "1"], NumericFeature("x", zero_low, 1)) for zero, zero_low in (("0", 0.0), ("-0.0", -0.0)))
    assert plain.fingerprint == negative.fingerprint
    wide = NumericFeature("x", -0.5, 1e12, whole=True)
    assert len({encoded([zero, "1"], wide).fingerprint for zero in ("0", "-0.0", "-0.4", "-7")}) == 1
    schema = Schema((NumericFeature("x", -1, 1), CategoricalFeature("c", ("0", "1"))), NumericTarget("y", -1, 1))
    forms: list[Any] = [["0", "1"]]
    forms += [np.array([zero, 1], dtype=kind) for zero in (0.0, -0.0) for kind in (np.int64, np.float32, np.float64)]
    every = [encode(RawTable(tuple(Column.from_values(name, cells) for name in "xcy")), schema) for cells in forms]
    assert {(data.n_rows, data.fingerprint) for data in every} == {(2, every[0].fingerprint)}


# --- numbers as people type them

TYPED = {"220,5": 220.5, "1.000,5": 1000.5, "1,000.5": 1000.5, "1.000.000": 1e6, "1,00,000": 1e5, "1 000,5": 1000.5}
TYPED |= {"1'000.5": 1000.5, "−3,25": -3.25, "+7.": 7, "0,125": 0.125, "0.125": 0.125, "12,3456": 12.3456, "1e3": 1e3, " 5 ": 5}


def test_a_typed_number_is_read_as_it_is_written_anywhere_and_refused_where_it_may_be_two():
    assert {text: read_number(text) for text in TYPED} == TYPED
    for text in ("1.000", "1,000", "12.345", "-999,999"):
        with pytest.raises(DpvizError, match=r"may be .* or") as refused:
            read_number(text)
        decimal, whole = map(read_number, refused.value.remedy.removeprefix("Write ").removesuffix(".").split(" or "))
        assert whole == 1000 * decimal == float(text.replace(",", "").replace(".", ""))
        assert "," in text or read_number(text, point_is_decimal=True) == float(text), "a program writes decimal points"
    for text in ("", "x", "1_0", "1.5.2", "nan", "inf", "1e999", "1..2", "--3", "1.000,5.5", "1000 000"):
        with pytest.raises(DpvizError, match="no number"):
            read_number(text)


@pytest.mark.slow
@examples(500)
@given(st.text("0123456789.,-' e_", max_size=9))
def test_a_text_is_one_number_under_every_mark_that_reads_it_or_refused(text):
    found = {number_of(text.strip().removeprefix("'").strip(), marks) for marks in (Marks.POINT, Marks.COMMA)}
    try:
        number = read_number(text)
    except DpvizError:
        return
    assert {value for value in found if not np.isnan(value)} == {number}


@given(st.text("0123 \u00a0\u2007\u202f.,'-+−e", min_size=1, max_size=12), st.sampled_from(Marks))
@example("1\u00a0234 567", Marks.UNKNOWN)
@examples(300)
def test_a_number_is_the_same_before_and_after_blanks_of_a_text_are_made_alike(text, marks):
    assert repr(number_of(text, marks)) == repr(number_of(clean(text), marks))
