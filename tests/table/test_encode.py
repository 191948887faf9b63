"""What each row becomes under a schema, and that every row is accounted for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import SchemaError
from dpviz.io.csv import read_csv
from dpviz.table.cells import clean, parse_numbers
from dpviz.table.columns import Column
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

TARGET = ClassTarget("y", ("n", "p"))


def table(**columns):
    quoted = ([f'"{cell}"' for cell in row] for row in zip(*columns.values(), strict=True))
    return read_csv("\n".join([",".join(columns), *map(",".join, quoted)]).encode(), name="data.csv")


def encoded(cells, feature, labels=None):
    """The data set made of one feature with these cells."""
    return encode(table(x=cells, y=labels or ["n"] * len(cells)), Schema((feature,), TARGET))


def test_numbers_are_clipped_into_the_declared_range_and_counted():
    data = encoded(["-5", "0.25", "7", "7"], NumericFeature("x", 0, 1))
    assert data.columns[0].tolist() == [0, 0.25, 1, 1]
    assert data.columns[0].dtype == np.float64
    assert data.report.clipped == (("x", 3),)


def test_whole_numbers_are_rounded_clipped_and_kept_small():
    data = encoded(["1.4", "2.6", "99", "3"], NumericFeature("x", 0, 10, whole=True))
    assert data.columns[0].tolist() == [1, 3, 10, 3]
    assert data.columns[0].dtype == np.int16
    assert (data.report.rounded, data.report.clipped) == ((("x", 2),), (("x", 1),))


def test_whole_numbers_stay_inside_a_range_with_fractions():
    assert encoded(["0", "9"], NumericFeature("x", 0.5, 3.5, whole=True)).columns[0].tolist() == [1, 3]


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [(0, 32767, np.int16), (-32769, 0, np.int32), (0, 2**31 - 1, np.int32), (0, 2**31, np.float64)],
)
def test_whole_numbers_take_the_smallest_type_that_holds_the_range(low, high, dtype):
    data = encoded([str(low), str(high)], NumericFeature("x", low, high, whole=True))
    assert data.columns[0].dtype == dtype
    assert data.columns[0].tolist() == [low, high]


def test_a_missing_number_takes_its_place_or_drops_the_row():
    assert encoded(["1", "?"], NumericFeature("x", 0, 5)).report.dropped_missing == (("x", 1),)
    data = encoded(["1", "?"], NumericFeature("x", 0, 5, missing_as=4))
    assert data.columns[0].tolist() == [1, 4]
    assert data.report.missing_mapped == (("x", 1),)
    assert data.report.rows_kept == 2


def test_a_text_where_a_number_is_due_drops_the_row():
    data = encoded(["1", "abc", "inf", "2.5"], NumericFeature("x", 0, 5, missing_as=4))
    assert data.columns[0].tolist() == [1, 2.5]
    assert data.report.dropped_unknown == (("x", 2),)


def test_categories_become_codes_in_declared_order():
    data = encoded(["b", "a", "c"], CategoricalFeature("x", ("c", "b", "a")))
    assert data.columns[0].tolist() == [1, 2, 0]
    assert data.columns[0].dtype == np.uint8


def test_many_categories_take_two_bytes():
    names = tuple(f"k{i}" for i in range(257))
    data = encoded(["k256", "k0"], CategoricalFeature("x", names))
    assert data.columns[0].dtype == np.uint16
    assert data.columns[0].tolist() == [256, 0]
    assert encoded(["k255"], CategoricalFeature("x", names[:256])).columns[0].dtype == np.uint8


def test_too_many_categories_are_refused():
    with pytest.raises(SchemaError, match="65,537 categories"):
        encoded(["k0"], CategoricalFeature("x", tuple(f"k{i}" for i in range(65537))))


def test_an_unknown_category_takes_its_place_or_drops_the_row():
    assert encoded(["a", "z"], CategoricalFeature("x", ("a", "b"))).report.dropped_unknown == (("x", 1),)
    data = encoded(["a", "z", "?"], CategoricalFeature("x", ("a", "b"), missing_as="a", unknown_as="b"))
    assert data.columns[0].tolist() == [0, 1, 0]
    assert (data.report.unknown_mapped, data.report.missing_mapped) == ((("x", 1),), (("x", 1),))


def test_a_missing_category_is_not_an_unknown_one():
    assert encoded(["a", "?"], CategoricalFeature("x", ("a",), unknown_as="a")).report.dropped_missing == (("x", 1),)


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


ALIKE = ["042", "42", "42.0", "4.2e1", "5E1", "50", "NA", "true", "TRUE", "é", "e\u0301"]


@given(st.permutations(ALIKE), st.integers(1, 6), st.data())
def test_a_declared_category_is_met_by_its_own_text(categories, count, data):
    declared = tuple(dict.fromkeys(clean(text) for text in categories[:count]))
    text = data.draw(st.sampled_from(declared))
    assert codes([text], declared) == [declared.index(text)]


def test_what_is_declared_is_no_mark_of_missing_cells_and_others_are():
    feature = CategoricalFeature("x", ("NA", "ZA"), missing_as="ZA", missing_codes=("k.A.",))
    data = encoded(["NA", "ZA", "", "k.A.", "N/A", "other"], feature)
    assert data.columns[0].tolist() == [0, 1, 1, 1, 1]
    assert (data.report.missing_mapped, data.report.dropped_unknown) == ((("x", 3),), (("x", 1),))
    raw = table(x=["1"] * 3, y=["NA", "", "p"])
    assert encode(raw, Schema((NumericFeature("x", 0, 2),), ClassTarget("y", ("NA", "p")))).target.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("categories", "missing", "groups"),
    [
        (("9", "1"), ("9",), ()),
        (("9", "1"), ("9.0",), ()),
        (("true", "x"), ("TRUE",), ()),
        (("NA", "x"), ("NA",), ()),
        (("é", "x"), ("e\u0301",), ()),
        (("a", "b"), ("c",), (("c", "a"),)),
    ],
)
def test_a_text_that_is_a_category_and_a_missing_code_is_refused(categories, missing, groups):
    with pytest.raises(SchemaError, match="as a category and as a code of missing cells"):
        CategoricalFeature("x", categories, missing_codes=missing, groups=groups)


def test_rows_without_a_usable_target_are_dropped_last():
    data = encoded(["1", "?", "1", "1"], NumericFeature("x", 0, 2), ["n", "other", "", "other"])
    assert data.report.rows_kept == 1
    assert data.report.dropped_missing == (("x", 1),)
    assert data.report.dropped_target == (("y", 2),)
    assert data.target.dtype == np.uint8


def test_a_row_is_counted_at_the_first_column_that_drops_it():
    raw = table(b=["?", "1", "1"], a=["?", "?", "1"], y=["n", "n", "n"])
    schema = Schema((NumericFeature("a", 0, 2), NumericFeature("b", 0, 2)), TARGET)
    assert encode(raw, schema).report.dropped_missing == (("a", 2),)


def test_changes_are_counted_in_kept_rows_only():
    assert encoded(["9", "9"], NumericFeature("x", 0, 2), ["n", "?"]).report.clipped == (("x", 1),)


def test_columns_follow_the_schema_and_others_are_named():
    raw = table(a=["1", "2"], b=["3", "4"], c=["5", "6"], y=["n", "p"])
    data = encode(raw, Schema((NumericFeature("c", 0, 9), NumericFeature("a", 0, 9)), TARGET))
    assert [column.tolist() for column in data.columns] == [[5, 6], [1, 2]]
    assert data.report.ignored_columns == ("b",)


def test_a_numeric_target_is_clipped_and_counted():
    raw = table(x=["1", "1", "1", "1"], y=["-1", "0.5", "?", "a"])
    data = encode(raw, Schema((NumericFeature("x", 0, 2),), NumericTarget("y", 0, 1)))
    assert data.target.tolist() == [0, 0.5]
    assert data.target.dtype == np.float64
    assert data.report.clipped == (("y", 1),)
    assert data.report.dropped_target == (("y", 2),)


def test_a_column_the_table_lacks_is_named_and_the_others_are_not():
    with pytest.raises(SchemaError, match=r"x: data.csv has no column 'x' among its 2\.") as caught:
        encode(table(a=["1"], y=["n"]), Schema((NumericFeature("x", 0, 1),), TARGET))
    assert caught.value.field == "x"


def test_no_usable_row_is_an_empty_data_set_with_its_counts():
    data = encoded(["?", "abc", "1"], NumericFeature("x", 0, 1), ["n", "n", "other"])
    assert data.n_rows == 0
    assert data.report.dropped_missing == (("x", 1),)
    assert data.report.dropped_unknown == (("x", 1),)
    assert data.report.dropped_target == (("y", 1),)


def test_what_the_reader_says_of_its_rows_reaches_the_data_set():
    raw = replace(table(x=["1"], y=["n"]), n_malformed=7, not_row_wise="a reason")
    data = encode(raw, Schema((NumericFeature("x", 0, 1),), TARGET))
    assert (data.report.malformed, data.not_row_wise) == (7, "a reason")


def test_zero_has_one_fingerprint():
    plain, negative = (encoded([zero, "1"], NumericFeature("x", zero_low, 1)) for zero, zero_low in (("0", 0.0), ("-0.0", -0.0)))
    assert plain.fingerprint == negative.fingerprint


def test_encoded_arrays_are_read_only_and_leave_the_table_alone():
    raw = table(x=["1", "2"], y=["n", "p"])
    data = encode(raw, Schema((NumericFeature("x", 0, 1),), TARGET))
    for array in (*data.columns, data.target):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert raw.columns[0].numbers().tolist() == [1, 2]


TEXTS = ["0", "1", "1.0", "0.4", "7", "-3", "a", "b", "abc"]
FEATURES = [
    NumericFeature("x", 0, 1),
    NumericFeature("x", 0, 5, whole=True, missing_as=2),
    CategoricalFeature("x", ("a", "b", "1")),
    CategoricalFeature("x", ("a", "b", "0"), missing_as="b", unknown_as="a"),
    CategoricalFeature("x", ("a", "b"), groups=(("7", "a"), ("abc", "b"))),
]


@st.composite
def cases(draw):
    """A two-column table and a schema for it."""
    n_rows = draw(st.integers(1, 20))
    codes = st.lists(st.integers(-1, len(TEXTS) - 1), min_size=n_rows, max_size=n_rows)
    columns = tuple(Column(name, tuple(TEXTS), np.array(draw(codes), np.int32)) for name in "xy")
    target = draw(
        st.sampled_from(
            [ClassTarget("y", ("0", "1")), ClassTarget("y", ("0", "1"), groups=(("a", "1"),)), NumericTarget("y", 0, 1)]
        )
    )
    return RawTable(columns), Schema((draw(st.sampled_from(FEATURES)),), target)


@given(cases())
def test_every_row_read_is_kept_or_dropped_once(case):
    raw, schema = case
    report = encode(raw, schema).report
    dropped = sum(count for _, count in report.dropped_missing + report.dropped_unknown + report.dropped_target)
    assert report.rows_read == raw.n_rows
    assert report.rows_kept + dropped == raw.n_rows


@given(cases())
def test_each_row_is_encoded_by_itself(case):
    """Encoding row by row and joining gives what encoding the whole table gives."""
    raw, schema = case
    features, targets = [], []
    for row in range(raw.n_rows):
        single = RawTable(tuple(Column(column.name, column.texts, column.codes[row : row + 1].copy()) for column in raw.columns))
        data = encode(single, schema)
        features += data.columns[0].tolist()
        targets += data.target.tolist()
    whole = encode(raw, schema)
    assert (whole.columns[0].tolist(), whole.target.tolist()) == (features, targets)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        (" -2.5 ", -2.5),
        ("1,5", 1.5),
        ("1e3", 1000),
        ("1,234,567", 1_234_567),
        ("1,234", None),
        ("1_000", None),
        ("", None),
        ("inf", None),
        ("nan", None),
    ],
)
def test_a_text_is_a_number_alone_as_among_others(text, value):
    expected = np.nan if value is None else value
    for others in ([], ["x"], ["2,5"], ["3"]):
        np.testing.assert_equal(parse_numbers([text, *others])[0], expected)
