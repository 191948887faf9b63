"""What is proposed for a table that may be looked at."""

import warnings
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.io.csv import read_csv
from dpviz.table.column_draft import of_column
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode
from dpviz.table.proposal import in_order, left_out, propose_schema
from dpviz.table.raw import table_of
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget

ADULT = Path(__file__).resolve().parents[3] / "shared/data/adult.csv.gz"


def table(**columns):
    """A table from columns of texts."""
    quoted = ([f'"{cell}"' for cell in row] for row in zip(*columns.values(), strict=True))
    return read_csv("\n".join([",".join(columns), *map(",".join, quoted)]).encode())


def feature(cells):
    """What is proposed for a column with these cells."""
    others = {"z": ["1", "2", "3"] * len(cells), "y": ["a", "b"] * len(cells)}
    others = {name: values[: len(cells)] for name, values in others.items()}
    schema = propose_schema(table(x=cells, **others))
    return next((found for found in schema.features if found.name == "x"), None)


def target(cells, task=None):
    return propose_schema(table(x=["1", "2", "3"] * len(cells), y=cells * 3), task=task).target


def test_numbers_become_a_range_read_from_the_data():
    assert feature(["3", "-1.5", "2"]) == NumericFeature("x", -1.5, 3, read_from_data=("kind", "low", "high"))
    assert feature(["3", "1.0", "2"]) == NumericFeature("x", 1, 3, whole=True, read_from_data=("kind", "low", "high"))


def test_numbers_with_gaps_stay_numbers_and_rows_are_dropped():
    assert feature(["3", "", "2", "1"]).missing_as is None


def test_the_few_texts_among_dates_count_as_missing():
    dates = [f"{day:02d}.03.2024" for day in range(1, 31)]
    found = feature([*dates, "unbekannt", "k.A."])
    assert (found.order, found.since, found.low, found.high) == ("dmy", "2024-01-01", 60, 89)
    assert found.missing_codes == ("unbekannt", "k.A.")
    assert {"missing_codes", "low"} <= set(found.read_from_data)
    assert isinstance(feature([*dates, *(f"text {number}" for number in range(4))] * 2), CategoricalFeature)


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        (["34", "61", "999", "18"], ["999"]),
        (["0.5", "-99", "9999", "1.5", "3"], ["9999", "-99"]),
        ([*"12345", "77", "88", "99"], ["99"]),
        ([*map(str, range(18, 91)), "-9", "-7"], ["-9"]),
        ([*map(str, range(60)), "888"], ["888"]),
        (["1", "5", "9", "2"], []),  # near the others
        ([*map(str, range(100))], []),
        ([*map(str, range(11))], []),
        (["-8", "-20", "-9", "3"], []),
        (["34", "61", "500", "18"], []),
        (["34", "999"], []),  # too few to say
    ],
)
def test_nines_eights_and_sevens_apart_from_all_other_numbers_are_pointed_out(cells, codes):
    said = table(x=cells, y=["a"] * len(cells)).column("x").notes
    assert [note.example.split()[-1].rstrip(".") for note in said] == codes


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.01, 1e6)), min_size=6, max_size=30), st.booleans())
def test_a_total_in_the_last_row_is_noticed_and_no_other_row(rows, is_frame):
    columns = [*zip(*rows, strict=True)]
    total = [sum(column) for column in columns]
    for last, is_total in ((total, True), ([total[0] + 7, total[1] * 1.1], False), (rows[-1], False)):
        cells = {name: [*column, cell] for name, column, cell in zip("ab", columns, last, strict=True)}
        names = [*("no", "yes") * len(rows)][: len(rows)]
        frame = pd.DataFrame({**cells, "y": [*names, "Total"]})
        found = table_of(frame) if is_frame else read_csv(frame.to_csv(index=False, float_format="%.17g").encode())
        assert any("total" in note for name, note in found.remarks if not name) == is_total
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            propose_schema(found)
        assert any("total" in str(one.message) for one in told) == is_total


def test_two_numbers_become_categories_in_numeric_order():
    assert feature(["10", "9", "9"]) == CategoricalFeature("x", ("9", "10"), read_from_data=("kind", "categories"))


def test_equal_numbers_written_differently_are_one_category():
    assert feature(["1.0", "0", "1", "0.0"]).categories == ("0", "1")


def test_a_constant_column_becomes_one_category():
    assert feature(["5", "5", "5"]).categories == ("5",)


def test_texts_become_sorted_categories_numbers_first():
    found = feature(["b", "10", "a", "9"])
    assert found == CategoricalFeature("x", ("9", "10", "a", "b"), read_from_data=("kind", "categories"))


@pytest.mark.parametrize(
    ("cells", "order", "since", "ends"),
    [
        (["2024-03-01", "2023-12-31", "2024-02-29T10:00"], "ymd", "2023-01-01", (364, 425)),
        (["31.12.2023", "1.1.2024", "02.01.2024"], "dmy", "2023-01-01", (364, 366)),
        (["12/31/2023", "1/2/2024", "1/3/2024"], "mdy", "2023-01-01", (364, 367)),
        (["01/02/2024", "03/02/2024", "02/01/2024"], "dmy", "2024-01-01", (1, 33)),
    ],
)
def test_dates_become_days_since_the_first_of_january_before_them(cells, order, since, ends):
    found = feature([*cells, ""])
    read = ("kind", "low", "high", "part", "order", "since")
    assert found == DateFeature("x", *ends, part="days", since=since, order=order, read_from_data=read)
    assert set(of_column(found).read) == set(read)


@pytest.mark.parametrize(
    "cells",
    [["2024-03-01", "2024-03-02", "?"], ["2024-03-01", "2024-13-01", "2024-03-02"], ["1.2.3", "1.2.4", "1.2.5"]]
    + [["2024-03-01T01:00", "2024-03-01T02:00", "2024-03-02T03:00"]],
)
def test_other_texts_and_fewer_than_three_days_stay_categories(cells):
    assert isinstance(feature(cells), CategoricalFeature)


@pytest.mark.parametrize(
    ("cells", "doubts"),
    [
        (["01/02/2024", "03/02/2024", "02/01/2024"], ["may have the day or the month first"]),
        (["01/02/2024", "13/02/2024", "02/01/2024"], []),  # the day is first
        (["01/02/2024", "02/13/2024", "02/01/2024"], []),  # the month is
        (["2024-03-01", "2024-04-02", "2024-05-03"], []),
        ([*(f"{day:02d}.03.2024" for day in range(1, 31)), "2024-03-31"], ["none in the order of the others"]),
        (["01-MAR-24", "02-MAR-24", "03-APR-24"], ["the name of its month"]),
    ],
)
def test_an_order_of_dates_that_is_in_doubt_is_pointed_out(cells, doubts):
    said = table(x=cells, y=["a"] * len(cells)).column("x").notes
    assert [doubt in note for doubt, note in zip(doubts, said, strict=True)] == [True] * len(doubts)


def test_zero_padded_codes_are_categories_or_identifiers_and_decimals_are_numbers():
    assert isinstance(feature([f"{k:03d}" for k in range(60)]), CategoricalFeature)
    assert feature([f"{k:05d}" for k in range(0, 12_000, 7)]) is None
    assert isinstance(feature([f"0.{k:05d}" for k in range(1, 12_000, 7)]), NumericFeature)
    assert isinstance(feature([str(k) for k in range(10_000, 12_000)]), NumericFeature)


def test_missing_texts_become_a_category_of_their_own():
    found = feature(["b", "?", "a"])
    assert found.categories == ("a", "b", "missing")
    assert found.missing_as == "missing"
    assert feature(["missing", "?", "a"]).categories == ("a", "missing")


def test_columns_that_cannot_be_features_are_left_out_with_a_reason():
    rows = 2100
    raw = table(
        empty=[""] * rows,
        key=[f"k{i}" for i in range(rows)],
        words=[f"w{i // 2}" for i in range(rows)],
        mixed=["k.A.", *(f"{i}" for i in range(rows - 1))],
        far=["-1.7e308", "1.7e308", "0"] * (rows // 3),
        near=["0", "5e-324", "1e-323"] * (rows // 3),
        x=["1", "2", "3"] * (rows // 3),
        y=["a", "b"] * (rows // 2),
    )
    schema = propose_schema(raw)
    assert schema.feature_names == ("x",)
    reasons = dict(left_out(raw, schema))
    assert list(reasons) == ["empty", "key", "words", "mixed", "far", "near"]
    assert reasons["empty"] == "every cell is missing"
    assert "2,100 different texts" in reasons["key"]
    assert reasons["words"] == "1,050 different texts, more than 1,000: an identifier or free text"
    assert reasons["mixed"] == "2,100 different texts, more than 1,000: numbers, if the texts among them are missing codes"
    assert "too far apart" in reasons["far"]
    assert "too close together" in reasons["near"]


def test_a_text_that_differs_in_every_row_is_left_out_of_larger_tables():
    assert feature([f"k{i}" for i in range(20)]) is not None
    assert feature([f"k{i}" for i in range(21)]) is None


def test_a_feature_taken_out_by_hand_was_not_chosen():
    raw = table(x=["1", "2", "3"], z=["1", "2", "3"], y=["a", "b", "a"])
    assert left_out(raw, propose_schema(raw).without("z")) == (("z", "not chosen"),)


def test_the_row_count_is_rounded_to_two_digits_and_marked():
    schema = propose_schema(table(x=["1", "2", "3"] * 45, y=["a", "b", "c"] * 45))
    assert (schema.n_public, schema.read_from_data) == (140, ("n_public",))


def test_the_last_column_is_the_target_unless_named():
    raw = table(x=["1", "2", "3"], z=["u", "v", "u"], y=["a", "b", "a"])
    assert propose_schema(raw).target == ClassTarget("y", ("a", "b"), ("classes",))
    assert propose_schema(raw, "z").target == ClassTarget("z", ("u", "v"), ("classes",))
    assert propose_schema(raw, "z").feature_names == ("x", "y")
    with pytest.raises(SchemaError, match="no column 'w'"):
        propose_schema(raw, "w")


def test_more_than_twenty_numbers_are_a_numeric_target():
    cells = [str(i) for i in range(21)]
    assert target(cells) == NumericTarget("y", 0, 20, ("kind", "low", "high"))
    assert target(cells[:20]) == ClassTarget("y", tuple(cells[:20]), ("classes",))


def test_the_task_overrides_the_rule():
    cells = [str(i) for i in range(21)]
    assert target(cells, "classes").classes == tuple(cells)
    assert target(["1", "2"], "number") == NumericTarget("y", 1, 2, ("kind", "low", "high"))
    with pytest.raises(SchemaError, match="the last column: The target is to be a number but holds other texts"):
        target(["1", "a"], "number")
    with pytest.raises(ParameterError, match="'classes', 'number' or None"):
        target(["1", "2"], "regression")


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (["a", "a"], "the last column: The target has only one value\\."),
        (["1", "1.0"], "the last column: The target has only one value"),
        (["", "?"], "the last column: The target has no value at all"),
        ([f"c{i}" for i in range(101)], "the last column: The target has 101 different values; at most 100"),
    ],
)
def test_a_target_that_cannot_be_learned_is_a_schema_error(cells, text):
    with pytest.raises(SchemaError, match=text) as caught:
        target(cells)
    assert caught.value.remedy


def test_a_target_of_a_hundred_classes_is_accepted():
    assert len(target([f"c{i}" for i in range(100)]).classes) == 100


def test_no_feature_left_tells_why():
    with pytest.raises(SchemaError, match=r"column 1 \(every cell is missing\)"):
        propose_schema(table(x=["", ""], y=["a", "b"]))


def test_order_does_not_depend_on_the_rows():
    assert in_order(["b", "10", "9", "a", "1,5"]) == ["1,5", "9", "10", "a", "b"]


cells = st.lists(st.sampled_from(["1", "1.0", "2", "3,5", "a", "b", "?", "", "1e308", "-1e308"]), min_size=1, max_size=12)


def outcome_of(make, *given):
    """What `make` returns, or the error a user would see; anything else it raises fails the test."""
    try:
        return make(*given)
    except DpvizError as error:
        return error


def encoded_as_proposed(raw):
    return encode(raw, propose_schema(raw))


@given(cells.flatmap(lambda xs: st.tuples(st.just(xs), st.permutations(xs), st.permutations(xs))))
def test_a_proposal_encodes_its_table_or_says_why_not(columns):
    xs, zs, ys = columns
    outcome = outcome_of(lambda: encoded_as_proposed(table(x=xs, z=zs, y=ys)))
    if isinstance(outcome, DpvizError):
        assert outcome.remedy
    else:
        report = outcome.report
        assert report.rows_read == report.rows_kept + sum(n for _, n in report.dropped_missing + report.dropped_target)
        assert report.dropped_unknown == report.clipped == report.rounded == report.unknown_mapped == ()


@given(cells.flatmap(lambda xs: st.tuples(st.just(xs), st.permutations(range(len(xs))))))
def test_a_proposal_does_not_depend_on_the_order_of_rows(case):
    xs, order = case
    assert feature(xs * 2) == feature([xs[i] for i in order] * 2)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.skipif(not ADULT.exists(), reason="needs ../shared/data/adult.csv.gz")
def test_adult_is_proposed_as_everybody_knows_it():
    raw = read_csv(ADULT)
    schema = propose_schema(raw)
    numeric = [found.name for found in schema.features if isinstance(found, NumericFeature)]
    assert numeric == ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    assert schema.n_features == 14
    assert len(schema.feature("native-country").categories) == 41
    assert schema.feature("sex").categories == ("Female", "Male")
    assert schema.target == ClassTarget("income", ("<=50K", ">50K"), ("classes",))
    assert schema.n_public == 45000
    assert left_out(raw, schema) == ()


WAYS_TO_WRITE = ("1", "1.0", "1.00", "01", "042", "42", "42.0", "4.2e1", "5E1", "50", "true", "TRUE", "True", "NA", "nan", "0")
WAYS_TO_WRITE += ("-0", "-0.0", "2.50", "2.5", "1,5", "1.5", "é", "e\u0301", "a", "New York", "New\u00a0York", "2024-03-01")
WAYS_TO_WRITE += ("2024-03-01 00:00:00", "?")


@given(st.lists(st.sampled_from(WAYS_TO_WRITE), min_size=3, max_size=25), st.booleans())
def test_every_cell_is_one_of_the_proposed_categories(cells, is_target):
    """However the same number, name or truth value is written beside others."""
    rows = table(x=cells, y=[*"np"] * (len(cells) // 2) + ["n"] * (len(cells) % 2))
    try:
        schema = propose_schema(rows, target="x" if is_target else "y")
    except DpvizError:  # one value, or none
        return
    report = encode(rows, schema).report
    n_missing = sum(cell in ("NA", "nan", "?") for cell in cells)
    assert report.dropped_unknown == ()
    assert report.rows_kept >= len(cells) - n_missing * is_target
