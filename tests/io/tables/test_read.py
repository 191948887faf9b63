"""What each kind of file becomes, and the typed problem each broken one is."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import re
import tracemalloc
import zipfile
from functools import partial
from uuid import UUID

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from pyarrow import feather, parquet

import dpviz
from dpviz.errors import DpvizError, SchemaError, TableError
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import batch_as_bytes
from dpviz.io.tables.read import has_header_line, read_table, read_with_options
from dpviz.progress import watch
from dpviz.rows.files import batches_of
from dpviz.table.notes import Doubt
from dpviz.table.raw import table_of
from tests.support.outcomes import cells, problem_of
from tests.support.table_files import WRITERS, drawn_rows, excel_bytes, parquet_bytes, zip_bytes, zstd_bytes

ROWS = drawn_rows(0, 5)


problem = partial(problem_of, read_table)


def feather_bytes_of(table: pa.Table) -> bytes:
    feather.write_feather(table, file := io.BytesIO(), compression="uncompressed")
    return file.getvalue()


def parquet_bytes_of(table: pa.Table) -> bytes:
    parquet.write_table(table, file := io.BytesIO())
    return file.getvalue()


def workbook(*rows, **sheets) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.title = "first"
    for title, content in {"first": rows, **sheets}.items():
        sheet = book[title] if title in book else book.create_sheet(title)
        for row in content:
            sheet.append(row)
    book.save(file)
    return file.getvalue()


def parquet_of(**columns) -> bytes:
    return parquet_bytes_of(pa.table(columns))


def said_about(content: bytes) -> str:
    """The error of reading it; nothing where it can be read."""
    try:
        read_table(content)
    except DpvizError as error:
        return str(error)
    return ""


# --- any kind


@pytest.mark.slow
def test_paths_bytes_files_and_packed_ones_read_alike(tmp_path):
    for kind in WRITERS:
        path = tmp_path / f"table.{kind}"
        content = WRITERS[kind](ROWS, tmp_path)
        path.write_bytes(content)
        with open(path, "rb") as file:
            tables = [dpviz.read_table(source) for source in (path, content, io.BytesIO(content), file)]
        assert [tables[0].source, tables[1].source] == [f"table.{kind}", "table"]
        archive = zip_bytes({"a/t": content, "__MACOSX/t": b"x", "a/.DS": b""})
        twice = zip_bytes({"t.csv.gz": gzip.compress(content)})
        packed = (gzip.compress(content), zstd_bytes(content), archive, twice) if "." not in kind else ()
        assert len({str(cells(table)) for table in (*tables, *map(read_table, packed))}) == 1
        assert kind == "csv" or problem(content[: len(content) * 2 // 3]).code in {"damaged", "gzip"}


@pytest.mark.slow
def test_limits_are_inclusive_and_named(tmp_path):
    for kind in WRITERS:
        content = WRITERS[kind](drawn_rows(1, 9), tmp_path)
        assert read_table(content, max_rows=9, max_columns=5).n_rows <= 9
        assert problem(content, max_rows=8).code == "too-many-rows"
        assert problem(content, max_columns=4).code == "too-many-columns"
        assert problem(content, max_bytes=len(content) - 1).code == "too-many-bytes"


@pytest.mark.slow
def test_names_may_be_given_where_a_file_has_none_and_its_first_bytes_then_decide_nothing(tmp_path):
    for name, content in {"t.tsv": b"1\t2\n", "t.csv.gz": gzip.compress(b"1,2\n"), "t.xlsx": workbook([1, 2])}.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert cells(read_table(path, names=["a", "b"])) == [["1", "2"]]
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet_bytes(ROWS))
    assert problem(path, names=["a", "b"]).code == "names"
    texts = (b"PAR1", b"ARROW1", b"<stata_dta>", b"$FL2", b"%PDF")
    for start in (*texts, b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0", b"\xff\xfe"):
        assert cells(read_table(start + b",1\nx,2\n", names=["a", "b"]))[1] == ["x", "2"]
    assert all(map(has_header_line, ("t.csv", "t.TSV.gz", "t.xlsx", "t.zip", "t")))
    assert not any(map(has_header_line, ("t.Parquet", "t.dta.zst", "t.sav", "t.feather")))


def test_a_package_that_is_missing_an_archive_of_several_files_and_a_password_are_said(monkeypatch):
    locked = bytearray(zip_bytes({"a.csv": b"a,b\n1,2\n"}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + at] |= 1
    old = b"\xd0\xcf\x11\xe0" + b"\0" * 600
    for content, code in [
        (zip_bytes({"a/": b""}), "zip-files"),
        (zip_bytes({"a.csv": b"a,b\n", "b.csv": b"a,b\n"}), "zip-files"),
        (bytes(locked), "password"),
        (old + "EncryptedPackage".encode("utf-16-le"), "password"),
        (old, "old-excel"),
    ]:
        assert problem(content).code == code
    monkeypatch.setattr("dpviz.installation.find_spec", lambda name: None)
    with pytest.raises(DpvizError, match=r"openpyxl.*dpviz\[tables\]"):
        read_table(excel_bytes(ROWS))


BOMB = b"a,b\n" + b"0" * 30_000_000


@pytest.mark.slow
def test_unpacking_stops_at_the_limit():
    for packed in (gzip.compress(BOMB), zip_bytes({"a.csv": BOMB}), zstd_bytes(BOMB)):
        tracemalloc.start()
        try:
            read_table(packed, max_bytes=1_000_000)
            outcome = "read"
        except TableError as error:
            outcome = error.code
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert outcome == "too-many-bytes"
        assert peak < 25_000_000


# --- workbooks


@pytest.mark.slow
def test_a_workbook_becomes_text_cell_by_cell_and_row_by_row():
    when = dt.datetime(2020, 1, 2, 3, 4, 5)
    table = read_table(
        workbook(
            ["n", "x", "when", "at", "flag", "text"],
            [1, 2.5, dt.datetime(2020, 1, 2), when, True, " a "],
            [1.0, -0.25, None, dt.time(3, 4), False, "#N/A"],
            ["A_x0041_", "a_x000D_", "a_x000D_\nb", "_x0009_7", "_x000", "_x000d_"],
            ["_x005F_x000D_", "_x005F_x005F_", "_x005F_x000D__x000D_b", "7", "7", "7"],  # signs that were written out
        )
    )
    assert cells(table) == [
        ["1", "2.5", "2020-01-02", "2020-01-02T03:04:05", "true", "a"],
        ["1", "-0.25", None, "03:04:00", "false", None],
        ["A_x0041_", "a", "a\r\nb", "7", "_x000", None],
        ["_x000D_", "_x005F_", "_x000D_\rb", "7", "7", "7"],
    ]
    table = read_table(workbook([], ["a", "b", None], [1, 2], [], [3], [4, 5, None, 6], [None, None]))
    assert (cells(table), table.n_malformed, table.left_out) == ([["1", "2"], ["3", None]], 1, (2,))
    for error in ["#DIV/0!", "#BLOCKED!", "#FIELD!", "#BUSY!", "#CONNECT!", "#UNKNOWN!", "#PYTHON!"]:
        table = read_table(workbook(["a", "b"], [1, error]))
        assert cells(table) == [["1", None]]
        assert table.notes == ("Errors of formulas, such as #N/A, count as missing.",)
    rows, written = [["NA", "NA"], ["x", "y"], [None, None]], io.BytesIO()
    pd.DataFrame(rows, columns=["a", "b"]).to_feather(written)
    for raw in (workbook(["a", "b"], *rows), written.getvalue(), b"a,b\nNA,NA\nx,y\n,\n"):
        assert read_table(raw).columns[0].cells() == ["NA", "x"], "a row of marks for missing alone is a row"


def saved(book) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def edited(content: bytes, pattern: bytes, replacement: bytes) -> bytes:
    """A workbook whose first sheet has other XML."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, re.sub(pattern, replacement, part) if name.endswith("sheet1.xml") else part)
    return packed.getvalue()


@pytest.mark.slow
def test_workbooks_of_other_programs_and_habits_are_the_same_table():
    rows, expected = [["x", "y"], [1, "a"], [2.5, "b"], [None, "c"]], [["1", "a"], ["2.5", "b"], [None, "c"]]
    content = workbook(*rows)
    assert cells(read_table(content)) == expected
    assert cells(read_table(edited(content, b'<dimension ref="[^"]*"', b'<dimension ref="A1"'))) == expected
    assert cells(read_table(edited(workbook(*rows[:3]), b' r="[A-Z]+[0-9]+"', b""))) == expected[:2]
    book = openpyxl.load_workbook(io.BytesIO(content))
    book.active.row_dimensions[3].hidden = book.active.column_dimensions["A"].hidden = True
    book.active.auto_filter.ref = "A1:B3"
    book.active["A2"].number_format = "0%"
    book.active["A3"].number_format = '[Red]0.00;"day"0'
    book.active["B3"].value = CellRichText("", TextBlock(InlineFont(b=True), "b"))
    chart = BarChart()
    chart.add_data(Reference(book.active, min_col=1, min_row=1, max_row=3))
    book.create_chartsheet("chart", 0).add_chart(chart)
    book.create_chartsheet("without a chart", 0)
    assert cells(read_table(saved(book))) == expected


@pytest.mark.slow
def test_days_of_a_workbook_that_counts_from_1904_are_those_days():
    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    for row in (["day", "y"], [dt.date(2024, 3, 1), "a"], [dt.datetime(2024, 3, 1, 14, 30), "b"]):
        book.active.append(row)
    assert cells(read_table(saved(book))) == [["2024-03-01", "a"], ["2024-03-01T14:30:00", "b"]]


@pytest.mark.slow
def test_days_and_numbers_of_spss_are_such_however_they_are_shown(tmp_path):
    """Days of the week, months and shares are numbers."""
    days = ("DATE11", "ADATE10", "EDATE10", "SDATE10", "JDATE7", "QYR8", "MOYR8", "WKYR10", "DATETIME20")
    numbers = ("WKDAY9", "MONTH9", "DTIME12", "PCT5.1", "DOLLAR8", "COMMA8", "DOT8", "N8")
    columns = {form: [13_928_803_200.0, 13_928_889_600.0, np.nan] if form in days else [3.0, 5.0, 7.0] for form in days + numbers}
    frame = pd.DataFrame(columns.values(), index=[f"as_{place}" for place in range(len(columns))]).T
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_format=dict(zip(frame, columns, strict=True)))
    found = read_table(tmp_path / "a.sav").columns
    assert [column.cells() for column in found[: len(days)]] == [["2024-03-03", "2024-03-04", None]] * len(days)
    assert [column.cells() for column in found[len(days) :]] == [[3, 5, 7]] * len(numbers)


@pytest.mark.slow
def test_a_sheet_is_asked_for_where_several_can_be_seen():
    content = workbook(["a", "b"], [1, 2], other=[["a", "b"], [3, 4]])
    assert problem(content).code == "several-sheets"
    for sheet in ("other", 2, "2"):
        assert cells(read_table(content, sheet=sheet)) == [["3", "4"]]
    for sheet in ("nope", 3, 0):
        assert problem(content, sheet=sheet).code == "no-sheet"
    book = openpyxl.load_workbook(io.BytesIO(content))
    book["other"].sheet_state = "hidden"
    assert cells(read_table(saved(book))) == [["1", "2"]]
    for file in (workbook(["a", "b", "a"], [1, 2, 3]), b"a,b,a\n1,2,3\n"):
        table = read_table(file, rename_duplicates=True)
        assert (table.names, cells(table)) == (("a", "b", "a (2)"), [["1", "2", "3"]])


@pytest.mark.slow
def test_a_sheet_without_a_header_is_refused_without_a_quotation():
    for rows, code in [
        ([], "empty"),
        ([["a"]], "one-column"),
        ([["a", None, "c"], [1, 2, 3]], "blank-name"),
        ([["secret", "secret"]], "duplicate-name"),
        ([[12345, 67890], [1, 2]], "header-numbers"),
    ]:
        error = problem(workbook(*rows))
        assert error.code == code
        assert not {"secret", "12345"} & set(str(error).split())


@pytest.mark.slow
def test_of_merged_cells_the_first_has_the_value_and_a_cell_far_away_costs_no_memory():
    book = openpyxl.load_workbook(io.BytesIO(workbook(["a", "b"], [1, 2], [3, 4], *[[5, 6]] * 2_500)))
    book.active.merge_cells("A2:A3")
    book.active.merge_cells("B5:B6")
    table = read_table(saved(book))
    assert cells(table)[:4] == [["1", "2"], [None, "4"], ["5", "6"], ["5", "6"]]
    assert table.notes == ("Merged cells (2 areas): the first cell of each has the value, the others are missing.",)
    assert read_table(workbook(["a", "b"], ["<mergeCell ref=", 2])).notes == ()
    book = openpyxl.Workbook()
    book.active["A1"], book.active["B1"], book.active["A2"], book.active["XFD20000"] = "a", "b", 1, 1
    content = saved(book)
    tracemalloc.start()
    table = read_table(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (table.n_rows, table.n_malformed) == (1, 1)
    assert peak < 20_000_000


@pytest.mark.slow
def test_dates_beyond_the_calendar_spoil_their_own_cell():
    book = openpyxl.load_workbook(io.BytesIO(workbook(["a", "b"], [1e12, 1], [2, 2])))
    book.active["A2"].number_format = "yyyy-mm-dd"
    assert cells(read_table(saved(book))) == [[None, "1"], ["2", "2"]]
    far = parquet_of(a=pa.array([10**9, 0], pa.date32()), b=pa.array([1, 2]))
    assert cells(read_table(far)) == [["\ufffd", "1"], ["1970-01-01", "2"]]


# --- files with types


@pytest.mark.slow
def test_stata_files_of_every_version_and_texts_of_any_length_of_spss_are_read(tmp_path):
    frame = pd.DataFrame({"s": ["é", "", "z"], "f": [0.1, 2, None], "d": pd.to_datetime(["2020-01-02", None, "1950-01-01"])})
    for version in [114, 117, 118, 119]:
        frame.astype({"f": "float32"}).to_stata(tmp_path / "t.dta", write_index=False, version=version)
        rows = [["é", "0.10000000149011612", "2020-01-02"], [None, "2", None], ["z", None, "1950-01-01"]]
        assert cells(read_table(tmp_path / "t.dta")) == cells(read_table((tmp_path / "t.dta").read_bytes())) == rows
    frame = pd.DataFrame({"short": ["a", "b"], "long": ["c" * 9, ""], "very": ["d" * 700, "e" * 256], "answer": [1.0, 2.0]})
    labels = {"short": {"a": "first"}, "answer": {2.0: "no"}}
    about = {"variable_value_labels": labels, "missing_ranges": {"answer": [{"lo": 5, "hi": 9}, 4]}}
    for compress in [False, True]:
        pyreadstat.write_sav(frame, tmp_path / "a.sav", column_labels=["", "A longer label", "", ""], compress=compress, **about)
        assert cells(read_table(tmp_path / "a.sav")) == [["first", "c" * 9, "d" * 700, "1"], ["b", None, "e" * 256, "no"]]
    frame = pd.DataFrame({"s": ["éa", "b"], "x": [1, 2]})  # bytes that are no text spoil their own cell
    for write in (pyreadstat.write_dta, pyreadstat.write_sav):
        write(frame, tmp_path / "t")
        spoiled = (tmp_path / "t").read_bytes().replace("éa".encode(), b"\xff\xe9a")
        assert cells(read_table(spoiled)) == [["\ufffd\ufffda", "1"], ["b", "2"]]


def test_periods_of_stata_are_their_first_day_as_in_pandas(tmp_path):
    counts = [0.0, -1, -53, 51, 52, 721, 1247]
    frame = pd.DataFrame({kind: [*counts, 0.5, 1e9] for kind in ("tw", "tm", "tq", "th", "ty")})
    formats = {kind: f"%{kind}" for kind in frame}
    days = frame.iloc[: len(counts)].drop(columns="ty")  # pandas 2 reads no others
    pyreadstat.write_dta(days, tmp_path / "days.dta", variable_format=formats)
    pyreadstat.write_dta(frame, tmp_path / "t.dta", variable_format=formats)
    asked, read = pd.read_stata(tmp_path / "days.dta"), read_table(tmp_path / "t.dta")
    for kind in ("tw", "tm", "tq", "th"):
        assert read.column(kind).cells() == [*(str(day.date()) for day in asked[kind]), "\ufffd", "\ufffd"]
    assert read.column("ty").cells()[:3] == [0, -1, -53]


@pytest.mark.slow
def test_what_ends_a_reader_of_spss_files_is_refused_in_words(tmp_path):
    for place, value in [(308, 4), (311, 1), (322, 1), (326, 1), (400, 6), (400, 0), (403, 0x80)]:
        raw = bytearray(WRITERS["sav"](drawn_rows(1, 8), tmp_path))
        assert raw[308:312] == bytes(4)
        raw[place] = value
        with pytest.raises(TableError) as error:
            read_table(bytes(raw))
        assert error.value.code in ("crashed", "damaged")


@pytest.mark.slow
def test_no_problem_quotes_a_cell(tmp_path):
    secret = [(7, 0.5, "secret", None, "no")] * 3
    for kind, write in WRITERS.items():
        content = write(secret, tmp_path)
        for place in range(0, len(content), 97):
            assert "secret" not in said_about(content[:place] + b"\xff" + content[place + 1 :]), kind


def test_a_column_of_lists_is_named_where_a_schema_wants_it(tmp_path):
    rows = pa.table({"x": [1, 2], "many": [[1], [2]], "of": [{"a": 1}, {"a": 2}], "y": ["n", "y"]})
    parquet.write_table(rows, path := tmp_path / "t.parquet")
    assert read_table(path).notes == ("Left out columns of lists, records or types of a library: 'many', 'of'.",)
    for name in ("many", "of"):
        schema = dpviz.Schema((dpviz.NumericFeature(name, 0, 3),), dpviz.ClassTarget("y", ("n", "y")))
        for form in (path, read_table(path)):
            with pytest.raises(SchemaError, match=f"'{name}' of t.parquet holds lists, records or a type of a library"):
                dpviz.encode(form, schema)


def test_moments_as_older_programs_write_them_into_parquet_are_of_their_own_year(tmp_path):
    """As nanoseconds the year 9999 would be 1816."""
    days = [dt.datetime(9999, 12, 31), dt.datetime(2024, 1, 2, 3), dt.datetime(1, 1, 1), None]
    rows = pa.table({"d": pa.array(days, pa.timestamp("us")), "y": ["n", "y", "n", "y"]})
    parquet.write_table(rows, path := tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    (piece,) = batches_of(path, ReadOptions("t", wanted=("d", "y"))).read(watch(None, None))
    for table in (read_table(path), piece, read_table(feather_bytes_of(rows))):
        assert table.column("d").cells() == ["9999-12-31", "2024-01-02T03:00:00", "0001-01-01", None]
    keys = read_with_options(path, ReadOptions("t", key="d")).key
    assert (keys.type, keys.to_pylist()) == (pa.timestamp("us"), days)


@pytest.mark.parametrize("bytes_of", [feather_bytes_of, parquet_bytes_of])
def test_uuids_and_json_are_texts_and_a_type_of_a_library_is_left_out(bytes_of):
    """Whether the library is loaded does not matter: there its cells would be what it keeps them as."""
    some = [UUID(int=1), None, UUID(int=2**127)]
    columns = {"u": pa.array([one and one.bytes for one in some], pa.uuid()), "y": pa.array(["n", "y", "n"])}
    columns["j"] = pa.array(["1", '"a"', None])
    if hasattr(pa, "json_"):  # Arrow 18 has none
        columns["j"] = pa.ExtensionArray.from_storage(pa.json_(), columns["j"])
    columns["p"] = pa.array(pd.period_range("2024-01", periods=3, freq="M"))
    table = pa.table(columns)
    found = read_with_options(bytes_of(table), ReadOptions("t", key="u"))
    assert found.key.to_pylist() == [one and str(one) for one in some]
    for read in (found, table_of(table)):
        assert read.notes == ("Left out columns of lists, records or types of a library: 'p'.",)
        assert cells(read) == [[str(some[0]), "n", "1"], [None, "y", '"a"'], [str(some[2]), "n", None]]
    spoiled = bytes_of(table).replace(b'"a"', b'"\xff"')
    assert cells(read_table(spoiled))[1] == [None, "y", '"\ufffd"'], "no text by itself"


@pytest.mark.parametrize("names", [["k"], [None], [None, None]])
@pytest.mark.parametrize("how", ["parquet", "feather"])
def test_names_of_rows_that_pandas_writes_are_neither_proposed_nor_taken_for_the_target(names, how):
    levels = pd.MultiIndex.from_arrays([np.arange(40) % 9] * len(names), names=names)
    frame = pd.DataFrame({"x": np.arange(40) % 7, "y": ["n", "y"] * 20}, index=levels)
    table, file = pa.Table.from_pandas(frame, preserve_index=True), io.BytesIO()
    (parquet.write_table if how == "parquet" else feather.write_feather)(table, file)
    schema = dpviz.propose_schema(read_table(file.getvalue()), target=None if names[0] is None else "y")
    assert schema.target.name == "y"
    assert schema.feature_names == (("x",) if names[0] is None else ("x", "k"))


def test_an_index_of_equal_steps_is_named_since_pandas_writes_no_column_of_it():
    for name, n_notes in (("patient", 1), (None, 0)):
        frame = pd.DataFrame({"x": [1, 2, 3], "y": ["n", "y", "n"]}, index=pd.RangeIndex(10, 40, 10, name=name))
        for bytes_of in (parquet_bytes_of, feather_bytes_of):
            table = read_table(bytes_of(pa.Table.from_pandas(frame)))
            assert (table.names, len(table.notes)) == (("x", "y"), n_notes)
            assert all("as 'patient' is" in note for note in table.notes)


def uncomputed(cell: str) -> bytes:
    """A workbook in which `cell` stands as the XML of B2."""
    return edited(workbook(["a", "b"], [1, 77], [2, 5]), rb'<c r="B2"[^>]*>.*?</c>', cell.encode())


FORMULAS = [
    '<c r="B2"><f>A2*2</f><v></v></c>',
    '<c r="B2"><f>A2*2</f><v/></c>',
    '<c r="B2"><f>A2*2</f></c>',
    '<c r="B2" s="1"><f t="shared" ref="B2:B9" si="0">A2*2</f><v /></c>',
    '<c r="B2"><f t="shared" si="0"/></c>',
]
COMPUTED = {
    '<c r="B2"><f>A2*2</f><v>2</v></c>': "2",
    '<c r="B2"><f t="shared" si="0"/><v>2</v></c>': "2",
    '<c r="B2" t="str"><f>IF(A2,"","x")</f><v></v></c>': None,
    '<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>': None,
    '<c r="B2"></c>': None,
}


@pytest.mark.slow
def test_a_formula_is_what_it_last_computed_and_doubted_where_it_never_was():
    for cell in (*FORMULAS, *COMPUTED):
        table = read_table(uncomputed(cell))
        doubts = [note for note in table.notes if isinstance(note, Doubt)]
        assert ["formulas that were never computed" in doubt for doubt in doubts] == [True] * (cell in FORMULAS)
        assert cells(table) == [["1", COMPUTED.get(cell)], ["2", "5"]], "no other row changes"


@pytest.mark.slow
def test_a_formula_is_found_in_a_large_sheet():
    rows = [[i, i] for i in range(20_000)]
    table = read_table(workbook(["a", "b"], *rows, [1, "=A1"], *rows))
    assert [note for note in table.notes if "formulas that were never computed" in note]


# --- columns that nobody needs

NEEDED = dpviz.Schema((dpviz.NumericFeature("x", 0, 10),), dpviz.ClassTarget("y", ("n", "p")))


@pytest.mark.parametrize("header", ["a,x,a,y", ",x,b,y", "a,x,,y", "a,x,a (2),y", "column 3,x,,y"])
def test_two_columns_of_one_name_or_without_any_do_not_matter_unless_they_are_needed(header):
    lines = [header, "1,3,2,n", "4,5,6,p"]
    for file in ("\n".join(lines).encode(), workbook(*(line.split(",") for line in lines))):
        if header.startswith("column 3"):
            with pytest.raises(TableError):
                dpviz.encode(file, NEEDED)
        else:
            assert dpviz.encode(file, NEEDED).columns[0].tolist() == [3, 5]
    with pytest.raises(TableError, match="have the same name"):
        dpviz.encode(b"x,a,x,y\n1,2,3,n\n", NEEDED)


@pytest.mark.parametrize(
    "above", [[], [["Report of 2024"]], [["Report", "confidential"], [None, None], ["made by", "us", "today"]]]
)
def test_titles_above_declared_names_are_left_out_of_a_sheet_as_of_text(above):
    rows = [*above, ["x", "y"], [1, "n"], [2, "p"]]
    assert dpviz.encode(workbook(*rows), NEEDED).columns[0].tolist() == [1, 2]
    text = "\n".join(",".join(str(cell or "") for cell in row) for row in rows)
    assert dpviz.encode(text.encode(), NEEDED).columns[0].tolist() == [1, 2]


@pytest.mark.parametrize("is_dictionary", [False, True])
@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
def test_texts_that_share_their_letters_are_texts_as_polars_writes_them(kind, is_dictionary):
    texts = ["n", "y", None, "a text of more than twelve letters", "y"] * 8
    given = [text.encode() if text and kind == pa.binary_view() else text for text in texts]
    shared = pa.array(given, kind)[1:]
    if is_dictionary:
        shared = pa.DictionaryArray.from_arrays(pa.array(range(len(shared))), shared)
    plain, packed = (pa.table({"x": range(len(texts) - 1), "y": column}) for column in (pa.array(texts[1:]), shared))
    assert cells(read_table(feather_bytes_of(packed))) == cells(read_table(feather_bytes_of(plain)))


def test_a_file_that_says_its_names_is_told_nothing_about_a_first_line():
    for columns in ({"x": [1, 2]}, {"x": [1, 2], "y": [[1], [2]]}, {"": [1, 2], "y": [1, 2]}):
        error = problem(parquet_bytes_of(pa.table(columns)))
        assert "line" not in str(error)
        assert "row 1" not in str(error)


def test_a_sheet_whose_first_row_holds_numbers_may_have_no_names():
    (note,) = read_table(workbook((34, "m", 2019), *[(k, "f", k) for k in range(5)])).notes
    assert isinstance(note, Doubt)
    assert note.startswith("Column names are numbers, first in column 1")
    assert note.help == "names"


@pytest.mark.parametrize("length", [-1, -(2**31)])
def test_a_length_below_0_beside_a_missing_cell_ends_no_process(length):
    """Arrow calls such an array valid, and reads behind its letters when it is cast."""
    letters = [[2, int.from_bytes(b"ab", "little"), 0, 0], [length, 0, 0, 0], [1, ord("c"), 0, 0]]
    buffers = [pa.py_buffer(bytes([0b101])), pa.py_buffer(np.array(letters, np.int32).tobytes())]
    shared = pa.Array.from_buffers(pa.string_view(), 3, buffers, null_count=1)
    shared.validate(full=True)
    with pytest.raises(ValueError, match="below 0"):
        batch_as_bytes(pa.record_batch([shared], ["x"]), ReadOptions("t"))


@pytest.mark.parametrize("kind", ["spreadsheet", "text"])
def test_a_file_of_opendocument_is_called_so_whatever_its_name(kind, tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", "<x/>", zipfile.ZIP_DEFLATED)
    (tmp_path / "t.xlsx").write_bytes(file.getvalue())
    for source in (file.getvalue(), tmp_path / "t.xlsx"):
        assert "an OpenDocument file" in str(problem(source))
