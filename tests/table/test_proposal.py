"""What is proposed for a table that may be looked at, and what is doubted about it."""

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.io.tables.read import read_table
from dpviz.table.column_draft import draft_of
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode
from dpviz.table.notes import isolated_days
from dpviz.table.proposal import in_order, left_out, propose_schema
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget
from tests.support.outcomes import doubts_of
from tests.support.outcomes import table_of_cells as table

ADULT = Path(__file__).resolve().parents[3] / "shared/data/adult.csv.gz"
RANGE = ("kind", "low", "high")


def feature(cells):
    """What is proposed for a column with these cells; None where it is left out."""
    others = {"z": ["1", "2", "3"] * len(cells), "y": ["a", "b"] * len(cells)}
    others = {name: values[: len(cells)] for name, values in others.items()}
    schema = propose_schema(table(x=cells, **others))
    return next((found for found in schema.features if found.name == "x"), None)


def target(cells, task=None):
    return propose_schema(table(x=["1", "2", "3"] * len(cells), y=cells * 3), task=task).target


def doubts(rows, **asked):
    return doubts_of(lambda: dpviz.propose_schema(rows, **asked))


def numbers(low, high, *, whole=False):
    return NumericFeature("x", low, high, whole=whole, read_from_data=RANGE)


def categories(*texts):
    return CategoricalFeature("x", texts, read_from_data=("kind", "categories"))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["3", "-1.5", "2"], numbers(-1.5, 3)),
        (["3", "1.0", "2"], numbers(1, 3, whole=True)),
        (["3", "", "2", "1"], numbers(1, 3, whole=True)),
        (["10", "9", "9"], categories("9", "10")),
        (["1.0", "0", "1", "0.0"], categories("0", "1")),
        (["5", "5", "5"], categories("5")),
        (["b", "10", "a", "9"], categories("9", "10", "a", "b")),
        (["TRUE", "True", "true", "FALSE"], categories("FALSE", "true")),
        (["tRUE", "True", "False", "FALSE"], categories("false", "true")),
        (["Yes", "yes", "NO", "no"], categories("NO", "Yes", "no", "yes")),
        (["042", "0042", "42"], categories("0042", "042", "42")),
        (["5E1", "50", "12"], categories("12", "50", "5E1")),
        (["00501", "10001", "94110"], categories("00501", "10001", "94110")),
        (["0", "0.5", "10", "1.50"], numbers(0, 10)),
        (["-0.25", "0", "3e-05"], numbers(-0.25, 3e-05)),
        (["2024-03-01", "2024-03-02", "?", "?"], CategoricalFeature),
        (["2024-03-01", "2024-13-01", "2024-03-02"], CategoricalFeature),
        (["1.2.3", "1.2.4", "1.2.5"], CategoricalFeature),
        (["2024-03-01T01:00", "2024-03-01T02:00", "2024-03-02T03:00"], CategoricalFeature),
        ([f"{k:03d}" for k in range(60)], CategoricalFeature),
        ([f"0.{k:05d}" for k in range(1, 12_000, 7)], NumericFeature),
        ([str(k) for k in range(10_000, 12_000)], NumericFeature),
        ([f"{k:05d}" for k in range(0, 12_000, 7)], None),
        ([str(10**17 + k) for k in range(30)], None),
        ([f"k{i}" for i in range(20)], CategoricalFeature),
        ([f"k{i}" for i in range(21)], None),
    ],
    ids=lambda value: None if isinstance(value, list) else repr(value)[:40],
)
def test_a_column_is_proposed_by_what_its_cells_are(cells, expected):
    found = feature(cells)
    assert isinstance(found, expected) if isinstance(expected, type) else found == expected


def test_missing_texts_become_a_category_of_their_own():
    found = feature(["b", "?", "a"])
    assert (found.categories, found.missing_as) == (("a", "b", "missing"), "missing")
    assert feature(["missing", "?", "a"]).categories == ("a", "missing")


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
    read = (*RANGE, "part", "order", "since")
    assert found == DateFeature("x", *ends, part="days", since=since, order=order, read_from_data=read)
    assert set(draft_of(found).read) == set(read)


def test_the_few_texts_among_dates_count_as_missing():
    dates = [f"{day:02d}.03.2024" for day in range(1, 31)]
    found = feature([*dates, "unbekannt", "k.A."])
    assert (found.order, found.since, found.low, found.high) == ("dmy", "2024-01-01", 60, 89)
    assert found.missing_codes == ("unbekannt", "k.A.")
    assert {"missing_codes", "low"} <= set(found.read_from_data)
    assert isinstance(feature([*dates, *(f"text {number}" for number in range(4))] * 2), CategoricalFeature)


def test_columns_that_cannot_be_features_are_left_out_with_a_reason():
    rows = 2100
    raw = table(
        empty=[""] * rows,
        key=[f"k{i}" for i in range(rows)],
        words=[f"w{i // 2}" for i in range(rows)],
        days=[f"{i % 28 + 1:02d}-JAN-{1000 + i}" for i in range(rows)],
        mixed=["k.A.", *(f"{i}" for i in range(rows - 1))],
        far=["-1.7e308", "1.7e308", "0"] * (rows // 3),
        near=["0", "5e-324", "1e-323"] * (rows // 3),
        x=["1", "2", "3"] * (rows // 3),
        y=["a", "b"] * (rows // 2),
    )
    schema = propose_schema(raw)
    assert schema.feature_names == ("x",)
    words = {
        "empty": "every cell is missing",
        "key": "2,100 different texts",
        "words": "1,050 different texts, more than 1,000: an identifier or free text",
        "days": "2,100 different texts, more than 1,000: most of the kind “a date with the name of its month”, which is not read",
        "mixed": "numbers, if the texts among them are missing codes",
        "far": "too far apart",
        "near": "too close together",
    }
    reasons = dict(left_out(raw, schema))
    assert list(reasons) == list(words)
    assert all(word in reasons[name] for name, word in words.items())
    with pytest.raises(SchemaError, match=r"column 1 \(every cell is missing\)"):
        propose_schema(table(x=["", ""], y=["a", "b"]))


def test_target_and_row_count_by_rule_or_as_asked():
    raw = table(x=["1", "2", "3"], z=["u", "v", "u"], y=["a", "b", "a"])
    assert propose_schema(raw).target == ClassTarget("y", ("a", "b"), ("classes",))
    assert propose_schema(raw, "z").target == ClassTarget("z", ("u", "v"), ("classes",))
    assert propose_schema(raw, "z").feature_names == ("x", "y")
    assert left_out(raw, propose_schema(raw).without("z")) == (("z", "not chosen"),)
    with pytest.raises(SchemaError, match="no column 'w'"):
        propose_schema(raw, "w")
    with pytest.raises(ParameterError, match="'classes', 'number' or None"):
        target(["1", "2"], "regression")
    cells = [str(i) for i in range(21)]
    assert target(cells) == NumericTarget("y", 0, 20, RANGE)
    assert target(cells[:20]) == ClassTarget("y", tuple(cells[:20]), ("classes",))
    assert target(cells, "classes").classes == tuple(cells)
    assert target(["1", "2"], "number") == NumericTarget("y", 1, 2, RANGE)
    assert len(target([f"c{i}" for i in range(100)]).classes) == 100
    counted = propose_schema(table(x=["1", "2", "3"] * 45, y=["a", "b", "c"] * 45))
    assert (counted.n_public, counted.read_from_data) == (140, ("n_public",))
    assert in_order(["b", "10", "9", "a", "1,5"]) == ["1,5", "9", "10", "a", "b"]


@pytest.mark.parametrize(
    ("cells", "task", "text"),
    [
        (["a", "a"], None, "The target has only one value"),
        (["1", "1.0"], None, "The target has only one value"),
        (["", "?"], None, "The target has no value at all"),
        ([f"c{i}" for i in range(101)], None, "The target has 101 different values; at most 100"),
        (["1", "a"], "number", "The target is to be a number but holds other texts"),
    ],
)
def test_a_target_that_cannot_be_learned_is_a_schema_error_without_its_name(cells, task, text):
    with pytest.raises(SchemaError, match=f"the last column: {text}") as caught:
        target(cells, task)
    assert caught.value.remedy


#: Cells, some of which are the same in other letters.
SPELLINGS = "1 1.0 1.00 01 042 42 42.0 4.2e1 5E1 50 true TRUE True NA nan 0 -0 -0.0 2.50 2.5 1,5 1.5 a ? 2024-03-01 1e308 -1e308"
WAYS_TO_WRITE = (*SPELLINGS.split(), "", "é", "e\u0301", "New York", "New\u00a0York", "2024-03-01 00:00:00")


@pytest.mark.slow
@given(st.lists(st.sampled_from(WAYS_TO_WRITE), min_size=1, max_size=25), st.sampled_from("xy"), st.randoms())
def test_a_proposal_encodes_every_cell_of_its_table_in_any_order_of_rows_or_says_why_not(cells, goal, random):
    """However the same number, name or truth value is written beside others."""
    shuffled = random.sample(cells, len(cells))
    raw = table(x=cells, z=shuffled, y=[*("np" * len(cells))][: len(cells)])
    assume(raw.without_total is raw)  # in which a last row that is the sum of the others is no row
    assert feature(cells * 2) == feature(shuffled * 2)
    try:
        found: Any = encode(raw, propose_schema(raw, target=goal)).report
    except DpvizError as error:
        found = error
    if isinstance(found, DpvizError):
        assert found.remedy
    else:
        assert found.rows_read == found.rows_kept + sum(n for _, n in found.dropped_missing + found.dropped_target)
        assert found.dropped_unknown == found.clipped == found.rounded == found.unknown_mapped == ()
        assert goal == "y" or sum(n for _, n in found.dropped_target) == sum(cell in ("NA", "nan", "?", "") for cell in cells)


# --- doubts


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        (["34", "61", "999", "18"], ["999"]),
        (["0.5", "-99", "9999", "1.5", "3"], ["9999", "-99"]),
        ([*"12345", "77", "88", "99"], ["99"]),
        ([*map(str, range(18, 91)), "-9", "-7"], ["-9"]),
        ([*map(str, range(60)), "888"], ["888"]),
        (["20", "31", "42", "-1"], ["-1"]),
        (["1", "5", "9", "2"], []),  # near the others
        ([*map(str, range(100))], []),
        ([*map(str, range(11))], []),
        (["-8", "-20", "-9", "3"], []),
        (["34", "61", "500", "18"], []),
        (["34", "999"], []),  # too few to say
        ([*map(str, range(60)), "999.9", "9999.9"], ["9999.9"]),
        ([*map(str, range(60)), "-2147483648"], ["-2.14748e+09"]),  # as programs write whole numbers that are missing
        ([*map(str, range(60)), "9.96921e36"], ["9.96921e+36"]),  # netCDF
        ([*map(str, range(60)), "-340282346638528859811704183484516925440"], ["-3.40282e+38"]),  # GDAL
        ([*map(str, range(60)), "32767"], ["32767"]),
        ([*map(str, range(60)), "99.5", "2147483600"], []),
    ],
)
def test_nines_eights_and_sevens_apart_from_all_other_numbers_are_pointed_out(cells, codes):
    raw = table(x=cells, y=["a"] * len(cells))
    assert [note.example.split()[-1].rstrip(".") for name, note in raw.remarks if name == "x" and "of nines" in note] == codes
    assert sum("if they mean “missing”" in note for note in doubts(table(x=cells * 2, y=["a", "b"] * len(cells)))) == len(codes)


@pytest.mark.parametrize("word", ["", "Total", "SUMME", "gesamt:", "Mean", "Mittelwert", "Somme", "Grand total", "Total (n=42)"])
def test_missing_codes_and_ranges_are_judged_without_a_total(word):
    """Which would stand beyond a code, and be the end of a range, or a class."""
    ages, bmi, names = [*range(20, 60), 999, 999], [*(20.5 + k / 10 for k in range(40)), -9.0, -9.0], [*("no", "yes") * 21]
    last = ([sum(ages), sum(bmi), "no"], [37.0, 21.0, word])[bool(word)]
    frame = pd.DataFrame({"x": [*ages, last[0]], "z": [*bmi, last[1]], "y": [*names, last[2]]})
    for rows in (frame, frame.to_csv(index=False).encode(), frame.convert_dtypes()):
        said = doubts(rows)
        assert ["total" in note for note in said] == [True, False, False]
        assert all(f"{name!r}: Numbers of nines" in note for name, note in zip("xz", said[1:], strict=True))
        schema = propose_schema(rows)
        assert [(one.low, one.high) for one in schema.features] == [(20, 59), (20.5, 24.4)]
        assert schema.target.classes == ("no", "yes")
        declared = schema.declare("x", missing_codes=("999",), missing_as=40).declare("z", missing_codes=("-9",), missing_as=22)
        assert encode(rows, declared).report.clipped == (() if word else (("x", 1), ("z", 1)))


def test_a_range_that_was_read_from_what_is_declared_missing_is_doubted():
    frame = pd.DataFrame({"x": [*range(20, 60), 500], "y": ["n"] * 41})
    read = NumericFeature("x", 20, 500, missing_as=30, read_from_data=RANGE)
    for codes, low, is_doubted in ((("500",), 20, True), (("20.0",), 20, True), (("k.A.", "7"), 20, False)):
        schema = dpviz.Schema((read.declare(missing_codes=codes), NumericFeature("x2", low, 500)), ClassTarget("y", ("n", "p")))
        said = doubts_of(lambda schema=schema: encode(frame.assign(x2=1), schema))
        assert any("declare low and high without them" in note for note in said) == is_doubted


DAYS = [dt.date(2019, 3, 1) + dt.timedelta(days=37 * k % 900) for k in range(60)]


def serials(days):
    """As Excel counts days."""
    return [(day - dt.date(1899, 12, 30)).days for day in days]


#: What a doubt says -> by kind, the name of a column and its cells.
MEANT = {
    "days as Excel": {
        "one a day": ("x", range(43831, 43891)),
        "backwards, with gaps": ("x", [None if k % 9 == 0 else 43890 - k for k in range(60)]),
        "in order": ("x", sorted(43831 + 7 * k % 200 for k in range(60))),
        "few, again and again": ("x", [43831 + k % 30 for k in range(60)]),
        "beside codes": ("x", [99999 if k % 7 == 0 else 43831 + k % 30 for k in range(60)]),
        **{
            f"named {name}": (name, serials(DAYS))
            for name in ("visit_date", "Aufnahmedatum", "DOB", "startDate", "date 2", "besuch")
        },
        "with times": ("visit.date", [day + 0.25 * (k % 4) for k, day in enumerate(serials(DAYS))]),
        "of births": ("birthdate", [day - 20_000 for day in serials(DAYS)]),
    },
    "dates without marks": {
        form: ("x", [int(f"{day:{form}}") for day in DAYS]) for form in ("%Y%m%d", "%d%m%Y", "%m%d%Y", "%Y%m", "%G%V")
    },
    "in seconds since 1970": {
        str(unit): ("x", [unit * (day - dt.date(1970, 1, 1)).days * 86_400 for day in DAYS]) for unit in (1, 1000)
    },
    "identifiers or codes": {
        "rows": ("x", range(1, 61)),
        "persons": ("x", [1001 + 37 * k % 60 for k in range(60)]),
        "some are lacking": ("x", [200 + k + k // 3 for k in range(60)]),
        **{
            f"named {name}": (name, [10_000 + 7919 * k % 90_000 // 3 for k in range(60)])
            for name in ("patient_id", "SubjectID", "zip", "PLZ", "icd-code")
        },
    },
    "part of a date": {
        form: ("x", [form.format(2021 + k % 5, 1 + k % 4, f"{1 + k % 12:02d}") for k in range(60)])
        for form in (
            *("{0}-W{2}", "{0}W{2}", "{0}-W{2}-3", "W{2}/{0}", "KW {2} {0}", "Week {1}, {0}", "{0}-Q{1}", "Q{1} {0}", "{0}Q{1}"),
            *("{1}. Quartal {0}", "{0}-H{1}", "{0}-{2}", "{2}/{0}", "{0}M{2}"),
        )
    },
    "hardly repeat": {
        "twice": ("x", [f"P{k // 2:04d}" for k in range(120)]),
        "thrice": ("x", [f"anna {k // 3}b" for k in range(120)]),
    },
}
#: Amounts, and texts that are categories: name and cells.
PLAIN = {
    "counts around 43,000": ("cells", [43_000 + 7919 * k % 1_400 for k in range(60)]),
    "counts around 43,000, up and down": ("cells", [43_000 + 7919 * k % 400 for k in range(60)]),
    "counts in order": ("population", [40_000 + 130 * k for k in range(60)]),
    "incomes": ("income", [20_000 + 7919 * k % 40_000 for k in range(60)]),
    "three digits with 999 among them": ("score", [100 + 37 * k % 900 for k in range(60)] + [999, 999]),
    "small numbers of update": ("update", [7 * k % 50 for k in range(60)]),
    "candidates": ("candidates", [20_000 + 7919 * k % 30_000 for k in range(60)]),
    "years": ("year", [1990 + 7 * k % 34 for k in range(60)]),
    "ages in order": ("age", sorted(18 + 7 * k % 50 for k in range(60))),
    "six digits": ("cost", [190_000 + 7919 * k % 30_000 for k in range(60)]),
    "eight digits": ("turnover", [19_000_000 + 791_937 * k % 80_000_000 for k in range(60)]),
    "wards": ("ward", ["W1", "W2", "Q3", "KW 5"] * 15),
    "cities": ("city", [f"city {letter}" for letter in "ABCDEFGHIJKLMNO"] * 8),
}


@pytest.mark.parametrize("word", ["", *MEANT])
def test_numbers_and_texts_that_mean_days_or_somebody_are_pointed_at_and_amounts_are_not(word):
    for kind, (name, cells) in MEANT.get(word, PLAIN).items():
        n_rows = len(cells)
        frame = pd.DataFrame({name: pd.Series([*cells]), "z": [0.5, 1.5, 2.5] * (n_rows // 3) + [3.5] * (n_rows % 3)})
        frame["y"] = [*"np" * n_rows][:n_rows]
        for rows in (frame, frame.to_csv(index=False).encode()):
            said = [note for note in doubts(rows, target="y") if word in note and "codes, else" not in note]
            assert [note.startswith(f"{name!r}: ") for note in said] == [True] * bool(word), (kind, said)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(18, 90), st.floats(1, 1e4)), min_size=12, max_size=40, unique_by=lambda row: row[0]),
    st.sampled_from(["nothing", "a mean", "its sum", "its sum without codes", "a code"]),
    st.booleans(),
)
def test_a_total_of_one_column_is_noticed_beside_cells_of_999(rows, last, is_rounded):
    ages, costs = map(list, zip(*rows, strict=True))
    with_codes = [999 if place % 5 == 0 else age for place, age in enumerate(ages)]
    total = float(round(sum(costs))) if is_rounded else sum(costs)
    cells = {"nothing": None, "a mean": 45, "its sum": sum(with_codes), "a code": 999}
    cells["its sum without codes"] = sum(age for age in with_codes if age != 999)
    names = [*("no", "yes") * len(rows)][: len(rows)]
    for cost, is_total in ((total, True), (costs[0], last.startswith("its sum"))):
        frame = pd.DataFrame({"age": [*with_codes, cells[last]], "cost": [*costs, cost], "y": [*names, "no"]})
        raw = read_table(frame.to_csv(index=False, float_format="%.17g").encode())
        assert any("total" in note for note in doubts(raw)) == is_total


MONTHS = ["01-MAR-24", "02-MAR-24", "03-APR-24"]


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        (["01/02/2024", "03/02/2024", "02/01/2024"], "may have the day or the month first"),
        (["01/02/2024", "13/02/2024", "02/01/2024"], ""),  # the day is first
        (["01/02/2024", "02/13/2024", "02/01/2024"], ""),  # the month is
        (["2024-03-01", "2024-04-02", "2024-05-03"], ""),
        ([*(f"{day:02d}.03.2024" for day in range(1, 31)), "3/31/2024"], "none in the order of the others"),
        (["01.03.2024", "2024-03-02", "03/14/2024"], "with several marks"),
        (MONTHS, "the name of its month"),
        (["Mar-24", "Apr-24", "May-23"], "the name of its month"),
        (["95%", "95 %", "0.5‰", "12 percent"], "is not read: write 12.5"),
        (["$1,037.50", "12 €", "USD 12", "-$3.50"], "is not read: write 12.5"),
        (["(12)", "12-", "(1,000)"], "is not read: write 12.5"),
        (["'5", "'5'", "“5”", '="5"'], "is not read: write 12.5"),
        (["0x1F", "0xA0", "0x00"], "a number in other digits"),
        (["120/80", "5;6", "1 x 2"], "is not read: write 12.5"),
        ([f"{k} kg" for k in range(20)], "is not read: write 12.5"),
        ([f"{k % 9 + 1}.03.24" for k in range(20)], "is not read: write 12.5"),
        ([f"{k}:30" for k in range(10, 24)], "is not read: write 12.5"),
        (["TRUE", "True", "False"], "Truth values are written with different capitals"),
        (["male", "ma\u00adle", "male\u200b", "other"], "hidden letters"),
        (["Ward", "ward", "another"], "differ by capitals"),
        (["straße", "STRASSE", "another"], "differ by capitals"),
        *(
            (["41.5", "46", mark, "50"], f"Holds numbers and {mark!r}")
            for mark in (".", "-", "--", "*", "None", "n/a", "#N/A", "..", "\\N", ".A", ".z", "-nan(ind)", "1.#QNAN")
        ),
        (["01", "02", "10", "11"], "written as codes are"),
        (["1.0", "2.0", "30.0"], ""),
        (["a b", "a  b", "c"], "differ by capitals"),
        (["5", "5 kg", "6", "7 kg"], "a number with a unit"),
        (["7W", "8W", "5E"], ""),
        (["18-25", "26-35", "36+"], ""),
        (["a", "b", "unknown"], ""),
        ([f"{k}{c}" for k in range(5) for c in "ABCDE"], ""),
    ],
    ids=ascii,
)
def test_a_proposal_is_silent_about_nothing_that_needs_an_answer_and_about_all_else(texts, word):
    said = doubts(pd.DataFrame({"x": texts * 4, "z": [1, 2, 3, 4] * len(texts), "y": ["n", "p"] * 2 * len(texts)}))
    assert [word in note for note in said] == [True] * bool(word)


def test_names_that_fit_no_line_are_the_reason_and_not_the_target():
    with pytest.raises(SchemaError, match=r"as many cells as the first line has names\. Lines above the names"):
        propose_schema(b"Report of 2024,confidential\na,b,y\n1,2,n\n3,4,p\n")


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.skipif(not ADULT.exists(), reason="needs ../shared/data/adult.csv.gz")
def test_adult_is_proposed_as_everybody_knows_it():
    raw = read_table(ADULT)
    assert (raw.n_rows, len(raw.columns), raw.notes) == (45222, 15, ())
    schema = propose_schema(raw)
    numeric = [found.name for found in schema.features if isinstance(found, NumericFeature)]
    assert numeric == ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    assert schema.n_features == 14
    assert len(schema.feature("native-country").categories) == 41
    assert schema.feature("sex").categories == ("Female", "Male")
    assert schema.target == ClassTarget("income", ("<=50K", ">50K"), ("classes",))
    assert (schema.n_public, left_out(raw, schema)) == (45000, ())


@pytest.mark.parametrize("stands_for_none", ["9999-12-31", "1900-01-01", "0001-01-01", "9999-01-01"])
def test_days_that_stand_for_none_are_pointed_at_and_widen_no_range(stands_for_none):
    days = [f"2024-{month:02d}-{day:02d}" for month in (1, 2, 3) for day in range(1, 21)]
    assert feature([*days, stands_for_none] * 2) == feature(days * 2)
    (note,) = doubts(table(x=[*days, stands_for_none], y=["a", "b", "c"] * 20 + ["a"]), target="y")
    assert "if they mean “missing”" in note


def test_days_among_others_of_their_time_are_days():
    for days in (
        ["1899-12-30", "1900-01-01", "1901-05-06", "1990-01-01"],
        ["1970-01-01", "1969-01-01", "1980-01-01", "1990-01-01"],
    ):
        rows = table(x=days * 5, y=["a", "b"] * 10)
        assert not any("missing" in note for note in doubts(rows, target="y"))
        assert propose_schema(rows, "y").features[0].since == f"{min(days)[:4]}-01-01"


def test_texts_of_days_that_stand_for_none_are_told_in_every_order():
    days = [f"{day:02d}.{month:02d}.2024" for month in (1, 2, 3) for day in range(1, 21)]
    none = ["31.12.9999", "1900-01-01", "9999-01-01 00:00:00"]
    assert isolated_days([*days, *none, "9999", "01.01.1970x", "later"], "dmy") == set(none)
    for texts in (days, [*days[:2], *none], [*days, "30.12.2023"], ["9999-12-31", "9999-12-30"], []):
        assert isolated_days(texts, "dmy") == set()


def test_letters_that_are_lost_make_no_category():
    assert feature(["K\ufffdln", "Bonn", "Ulm"] * 8).categories == ("Bonn", "Ulm")
    lost = table(x=["K\ufffdln", "M\ufffdnster"] * 8, z=["1", "2", "3", "4"] * 4, y=["a", "b"] * 8)
    assert dict(left_out(lost, propose_schema(lost))) == {"x": "letters of every cell are lost, or none has a text"}
    assert any("an encoding lost" in note for note in doubts(lost))
    with pytest.raises(SchemaError, match="no value at all"):
        propose_schema(lost, "x")


def test_letters_of_another_encoding_are_doubted():
    for text in ("Zürich", "Łódź", "Αθήνα", "日本"):
        wrong = text.encode().decode("cp1252", "ignore")
        is_misread = wrong.encode("cp1252").decode("utf-8", "ignore") == text
        said = doubts(table(x=[wrong, "Ulm"] * 8, y=["a", "b"] * 8), target="y")
        assert any("UTF-8 that was read in another" in note for note in said) is is_misread
    for text in ("Zürich", "Â", "Ã", "naïve", "Łódź", "日本"):
        assert not doubts(table(x=[text, "Ulm", "Bonn"] * 8, z=["1", "2", "3", "4"] * 6, y=["a", "b"] * 12), target="y")


@pytest.mark.parametrize("sign", ["\u200b", "\u200e", "\u200f", "\ufeff", "\u2060", "\u202a"])
def test_signs_that_nobody_sees_beside_a_number_are_named(sign):
    for cells in ([f"{sign}{k}" for k in range(30)], [f"{k}.5{sign}" for k in range(30)]):
        (note,) = doubts(table(x=cells, z=["1", "2", "3"] * 10, y=["a", "b"] * 15), target="y")
        assert "a number beside signs that nobody sees" in note
