"""What a CSV file becomes, and the typed problem each broken one is."""

import gzip
import io
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DpvizError, ReadingWarning, TableError
from dpviz.io import csv as module
from dpviz.io.csv import read_csv, read_lines, told_apart
from dpviz.io.options import ReadOptions
from dpviz.rows.opening import encode_large
from dpviz.table.encode import encode
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.examples import examples
from tests.support.outcomes import cells, problem_of

ADULT = Path(__file__).resolve().parents[3] / "shared/data/adult.csv.gz"


def outcome_of(make, *given):
    """What `make` returns, or the error a user would see; anything else it raises fails the test."""
    try:
        return make(*given)
    except DpvizError as error:
        return error


problem = partial(problem_of, read_csv)


def test_a_plain_file_becomes_dictionary_encoded_columns():
    table = read_csv(b"a,b\n1,x\n2,y\n1,x\n")
    assert table.names == ("a", "b")
    assert table.columns[0].texts == ("1", "2")
    assert table.columns[0].codes.tolist() == [0, 1, 0]
    assert table.columns[0].codes.dtype == np.int8, "as narrow as may be"
    assert not table.columns[0].codes.flags.writeable
    assert table.notes == ()


def test_every_delimiter_is_recognised():
    for delimiter in [",", ";", "\t", "|"]:
        text = "a,b,c\n1,x y,3\n2,z,4\n".replace(",", delimiter)
        assert cells(read_csv(text.encode())) == [["1", "x y", "3"], ["2", "z", "4"]]


def test_a_delimiter_other_than_comma_is_noted():
    assert read_csv(b"a;b\n1;2\n").notes == ("Cells are separated by semicolons.",)


def test_decimal_commas_do_not_look_like_delimiters():
    table = read_csv(b"x;y\n1,5;2,5\n3,5;4,5\n")
    assert table.names == ("x", "y")
    assert table.columns[0].numbers().tolist() == [1.5, 3.5]
    assert "Decimal commas" in table.columns[0].notes[0]


def test_commas_and_points_in_one_column_are_doubted():
    notes = read_csv(b'x;y\n"1,500";a\n12.5;b\n').columns[0].notes
    assert "thousands" in notes[1]


def test_delimiters_inside_quotes_do_not_count():
    table = read_csv(b'name;text\n"a";"one, two, three"\n"b;c";"four, five, six"\n')
    assert cells(table) == [["a", "one, two, three"], ["b;c", "four, five, six"]]


def test_quoted_cells_may_hold_quotes_and_delimiters():
    assert cells(read_csv(b'a,b\n"x","say ""hi"", twice"\n3,4\n')) == [["x", 'say "hi", twice'], ["3", "4"]]


def test_cells_in_quotes_span_lines_only_where_rows_need_not_stand_alone():
    text = b'a,b\n"line 1\nline 2",x\n3,4\n'
    joined = read_csv(text, row_wise=False)
    assert cells(joined) == [["line 1\nline 2", "x"], ["3", "4"]]
    assert "span lines" in joined.not_row_wise
    table = read_csv(text)
    assert (cells(table), table.not_row_wise) == ([['line 2"', "x"], ["3", "4"]], "")


def test_every_line_end_is_read_and_its_likes_inside_quotes_end_lines_too():
    for end in [b"\n", b"\r\n", b"\r", b"\r\r\n"]:
        assert cells(read_csv(end.join([b"a,b", b"1,2", b"3,4"]))) == [["1", "2"], ["3", "4"]]
    assert cells(read_csv(b'a,b\r1,"2\r3,4')) == [["3", "4"]]


SAME = [["1", "2", "n"], ["3", None, "p"]]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("a,b,y,", ["1,2,n,", "3,,p,"]),  # a delimiter ends every line
        ("a,b,y,", ["1,2,n", "3,,p"]),
        ("a,b,y", ["1,2,n,", "3,,p, "]),
        ("sep=,\na,b,y", ["1,2,n", "3,,p"]),  # as Excel says what separates cells
        ('"sep=,"\r\na,b,y', ["1,2,n", "3,,p"]),
        ("\n  \n\r\na,b,y", ["1,2,n", "3,,p"]),  # blank lines above
    ],
)
def test_what_programs_add_to_lines_is_read_by_line(header: str, rows: list[str], mark: str):
    for codec in ("utf-8", "utf-8-sig", "utf-16"):
        text = "\n".join([header, *rows]).replace(",", mark).encode(codec)
        for by_line in (True, False):
            table = read_csv(text, row_wise=by_line)
            assert (table.names, cells(table)) == (("a", "b", "y"), SAME)


@pytest.mark.parametrize(
    "above", ["A title\n", "A title,,\n\n", "# exported, by somebody\n", "first;line\nsecond|line\n", "1,2,3\n"]
)
@pytest.mark.parametrize("names", ["age,Größe,y", 'y,"Größe",age,other', "y;age;Größe", "age,Gro\u0308\u00dfe,y"])
def test_the_line_that_holds_the_declared_names_is_the_header(above: str, names: str, tmp_path: Path):
    schema = Schema((NumericFeature("age", 0, 100), NumericFeature("Größe", 0, 100)), ClassTarget("y", ("1", "2")), n_public=10)
    mark = ";" if ";" in names else ","
    for codec in ("utf-8", "cp1252") if names.isascii() or "\u0308" not in names else ("utf-8",):
        path = tmp_path / "t.csv"
        path.write_bytes(f"{above}{names}\n{mark.join('1' * (names.count(mark) + 1))}\n".encode(codec))
        assert encode(path, schema).report.rows_kept == 1
        with encode_large(path, schema) as large:
            assert large.report.rows_kept == 1


def test_rows_are_no_header_where_the_first_line_is_one():
    wanted = ReadOptions("t", wanted=("a", "b"))
    assert cells(read_lines(b"a,b\n1,2\na,b\n", wanted)) == [["1", "2"], ["a", "b"]]
    assert read_lines(b"x,y\n1,2\n", wanted).names == ("x", "y")


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("Nr;Alter, in Jahren;BMI, gemessen, kg/m2", ("Nr", "Alter, in Jahren", "BMI, gemessen, kg/m2")),
        ("a, b, c", ("a", "b", "c")),
        ('"a, x";b', ("a, x", "b")),
        ("a; b|c", ("a; b", "c")),
    ],
)
def test_a_mark_before_a_blank_may_belong_to_a_name(header: str, names: tuple[str, ...]):
    assert read_csv(header.encode()).names == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"a","b"\n"r1",1,2\n"r2",3,4\n', "Most lines have one cell more than the first line"),
        ("a,b,\n1,2,3\n4,5,6\n", "Most lines have one cell more than the first line"),
        ("a,b\n1\n2\n3,4\n", "Most lines have another number of cells"),
        ("a,b\n1,2,\n3,4,5\n3,4\n3,4\n", "Other lines have a value there"),
        ("a,b\n1,2\na,b\n3,4\n", "Row 2 holds the names of the columns once more"),
    ],
)
def test_lines_that_cannot_be_meant_so_are_doubted_with_their_cause(text: str, words: str):
    with pytest.warns(ReadingWarning, match=words):
        read_csv(text.encode())


def test_names_may_be_given_for_a_file_without_a_header():
    assert read_csv(b"1,2\n3,4\n", names=["a", "b"]).names == ("a", "b")
    assert cells(read_csv(b"1;2\n", names=["a", "b"], delimiter=";")) == [["1", "2"]]
    assert problem(b"1,2\n", names=["a", "a"]).code == "duplicate-name"


def test_columns_of_one_name_are_told_apart_where_the_caller_wants_it():
    table = read_csv(b"a,b,a,a (2),a,b\n1,2,3,4,5,6\n", rename_duplicates=True)
    assert table.names == ("a", "b", "a (3)", "a (2)", "a (4)", "b (2)")
    assert cells(table) == [["1", "2", "3", "4", "5", "6"]]
    assert problem(b"a,,a\n1,2,3\n", rename_duplicates=True).code == "blank-name"
    assert problem(b"1,2\n", names=["a", "a"], rename_duplicates=True).code == "duplicate-name"


def test_a_header_of_one_name_many_times_is_told_apart_in_time_that_grows_with_it():
    names = told_apart(["n"] * 16_384)
    assert len(set(names)) == 16_384
    assert names[-1] == "n (16384)"


def test_a_delimiter_may_be_given():
    assert read_csv(b"a,b|c\n1,2|3\n", delimiter="|").names == ("a,b", "c")
    assert problem(b"a,b\n", delimiter="x").code == "delimiter"


def test_missing_marks_become_missing_cells():
    for mark in ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "  ", " NA "]:
        table = read_csv(f"a,b\n{mark},1\nx,2\n".encode())
        assert (table.columns[0].codes < 0).tolist() == [True, False]
        assert table.columns[0].texts == ("x",)
        assert table.columns[0].n_missing == 1


def test_cells_are_stripped_and_equal_ones_share_a_code():
    column = read_csv(b"a,b\nx,1\n x ,2\nx  ,3\n").columns[0]
    assert column.texts == ("x",)
    assert column.codes.tolist() == [0, 0, 0]


def test_blanks_around_names_are_stripped_and_noted():
    table = read_csv(b"a , b\n1,2\n")
    assert table.names == ("a", "b")
    assert table.notes == ("Blanks around column names were removed.",)


def test_blank_lines_are_no_rows():
    table = read_csv(b"\na,b\n1,2\n\n3,4\n\n\n  \n")
    assert cells(table) == [["1", "2"], ["3", "4"]]
    assert table.n_malformed == 0


def test_rows_without_any_value_are_skipped_and_noted():
    table = read_csv(b"a,b\n1,2\n,\n,4\n,\n")
    assert cells(table) == [["1", "2"], [None, "4"]]
    assert table.notes == ("Skipped 2 rows without any value.",)


def test_a_row_of_marks_for_missing_alone_is_a_row_since_a_category_may_be_called_so():
    for mark in ["NA", "?", "null", "NaN", "N/A"]:
        schema = Schema((CategoricalFeature("a", (mark, "x")),), ClassTarget("b", (mark, "y")))
        data = encode(read_csv(f"a,b\n{mark},{mark}\nx,y\n,\n".encode()), schema)
        assert data.columns[0].tolist() == data.target.tolist() == [0, 1]
        assert data.report.rows_read == 2


def test_a_name_that_runs_over_lines_is_called_a_quote_that_is_never_closed():
    for line in ['a,"b', 'a;"b', '"a', '"a","b']:
        with pytest.raises(TableError, match="quote that is never closed"):
            read_csv(f'{line}\nc",d\n1,2,3\n'.encode())


def test_numbers_and_text_in_one_column_are_noted_with_an_example_of_each():
    note = read_csv(b"a,b\n1,x\nmore,y\n2,z\n").columns[0].notes[0]
    assert "'1'" in note.example
    assert "'more'" in note.example
    assert "more" not in note, "a warning in Python quotes no cell"


def test_a_numeric_name_among_others_is_noted():
    note = read_csv(b"x,39,State-gov\ny,50,Private\n").notes[0]
    assert "column 2" in note
    assert "39" not in note, "without a header it would be a cell"


def test_rows_beyond_one_chunk_keep_their_order():
    rows = [[str(i), str(i % 7)] for i in range(5000)]
    text = "a,b\n" + "\n".join(map(",".join, rows))
    assert cells(read_csv(text.encode())) == rows


def test_the_end_is_found_wherever_it_falls_in_a_chunk():
    for count in [1022, 1023, 1024, 1025]:
        text = b"a,b\n" + b"1,2\n" * count
        assert read_csv(text).n_rows == count
        with_quote = read_csv(text + b'1,"2\n')
        assert (with_quote.n_rows, with_quote.n_malformed) == (count, 1)


def test_a_malformed_line_is_left_out_counted_and_noted():
    for line in [b"1", b"1,2,3", b'1,"2', b'"1,2', b"1,\r2", b'"' + b"x," * 70_000]:
        table = read_csv(b"a,b\n1,2\n" + line + b"\n3,4\n")
        assert (cells(table), table.n_malformed) == ([["1", "2"], ["3", "4"]], 1)
        assert table.notes == (
            "1 line was left out: another number of cells than columns, a quote that is never closed, or over 4,000,000 letters.",
            "Some lines are no rows and are left out: they have another number of cells, or a quote that is never closed.",
        )


def test_a_line_longer_than_the_limit_is_left_out_before_it_is_split(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_LINE", 10)
    table = read_csv(b"a,b\n" + b"," * 11 + b"\n1,2\n")
    assert (cells(table), table.n_malformed) == ([["1", "2"]], 1)


def test_a_table_without_rows_is_a_table():
    for text in (b"a,b\n", b"a,b\n,\n,\n", b"a,b\n1\n"):
        table = read_csv(text)
        assert (table.names, table.n_rows) == (("a", "b"), 0)


def test_an_unreadable_byte_or_a_nul_spoils_its_own_cell():
    table = read_csv(b"a,b\n1,\xe9\n\x00,2\n3,4\n")
    assert cells(table) == [["1", "\ufffd"], ["\x1a", "2"], ["3", "4"]]


# Problems of the table


def test_each_problem_is_typed_and_located():
    for text, code, row in [
        (b"", "empty", None),
        (b" \n\n", "empty", None),
        (b",,\n1,2,3\n", "no-header", 1),
        (b"1,2.5,3\n4,5,6\n", "header-numbers", 1),
        (b"a b\n1 2\n", "one-column", 1),
        (b'"', "no-header", 1),
        (b"a,,c\n1,2,3\n", "blank-name", 1),
        (b"a,b, a\n1,2,3\n", "duplicate-name", 1),
        (b'"a,b\n1,2\n', "no-header", 1),
        (b"a,b\0\n1,2\n", "encoding", 1),
        ("a,b\n1,2\n".encode("utf-16-le"), "encoding", 1),
    ]:
        error = problem(text)
        assert (error.code, error.row) == (code, row)


def test_no_problem_of_the_first_line_quotes_it():
    for line in (b"secret", b"secret,secret", b"847261553,1", b"secret,,x", b'"secret,x'):
        error = problem(line + b"\n1,2\n")
        assert "secret" not in str(error)
        assert "847261553" not in str(error)


def test_rows_do_not_change_the_delimiter():
    table = read_csv(b"a,b|c,d|e\n1|2|3\n4|5|6\n")
    assert table.names == ("a", "b|c", "d|e")


def test_one_column_mentions_the_delimiters():
    assert "semicolons" in problem(b"name\nx\n").what


def test_blank_and_repeated_names_tell_their_places():
    assert "Column 2" in problem(b"a,,c\n1,2,3\n").what
    assert "Columns 1 and 3" in problem(b"a,b,a\n1,2,3\n").what


def test_limits_are_enforced_and_named():
    for limits, code in [
        ({"max_bytes": 10}, "too-many-bytes"),
        ({"max_rows": 2}, "too-many-rows"),
        ({"max_columns": 1}, "too-many-columns"),
    ]:
        text = b"a,b\n1,2\n3,4\n5,6\n"
        error = problem(text, **limits)
        assert error.code == code
        assert next(iter(limits)) in error.remedy


def test_blank_lines_count_towards_the_limit():
    assert problem(gzip.compress(b"a,b\n" + b"\n" * 1_001), max_rows=1_000).code == "too-many-rows"


COMMAS = b"," * 3_000_000


@pytest.mark.slow
def test_no_line_costs_much_more_memory_than_cells_of_one_line():
    for text, outcome in [
        (b",".join([b"a"] * 1_500_000), "too-many-columns"),
        (b"a" + COMMAS + COMMAS, "no-header"),
        (b"a,b\n" + (COMMAS[:500_000] + b"\n") * 30, "ok"),
    ]:
        tracemalloc.start()
        found = outcome_of(read_csv, text)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (found.code if isinstance(found, DpvizError) else "ok") == outcome
        assert peak < 3 * len(text) + 12 * len(COMMAS)


def test_limits_are_inclusive():
    text = b"a,b\n1,2\n3,4\n"
    assert read_csv(text, max_bytes=len(text), max_rows=2, max_columns=2).n_rows == 2


# Whatever comes


@examples(300)
@given(st.binary() | st.binary().map(gzip.compress) | st.binary().map(lambda b: b"\xff\xfe" + b))
def test_arbitrary_bytes_are_a_table_or_a_dpviz_error(source):
    outcome = outcome_of(read_csv, source)
    assert outcome.remedy if isinstance(outcome, DpvizError) else outcome.n_rows >= 0


@examples(300)
@given(st.text(alphabet='ab1.,;\t|"\n\r \u00e9', max_size=80))
def test_arbitrary_text_is_a_table_or_a_dpviz_error(text):
    outcome = outcome_of(read_csv, text.encode())
    if isinstance(outcome, DpvizError):
        assert outcome.remedy
    else:
        assert all(len(column.codes) == outcome.n_rows for column in outcome.columns)
        assert all(column.codes.max(initial=-1) == len(column.texts) - 1 for column in outcome.columns)


@given(st.lists(st.lists(st.text('ab,;|"\n\t é', min_size=1).map(lambda s: f"x{s}x"), min_size=3, max_size=3), min_size=1))
def test_what_a_csv_writer_writes_is_read_back(rows):
    import csv

    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["c1", "c2", "c3"], *rows])
    assert cells(read_csv(file.getvalue().encode(), row_wise=False)) == rows


@pytest.mark.shared
@pytest.mark.skipif(not ADULT.exists(), reason="needs ../shared/data/adult.csv.gz")
def test_adult_is_read_whole():
    table = read_csv(ADULT)
    assert (table.n_rows, len(table.columns)) == (45222, 15)
    assert table.notes == ()
    assert sum(column.is_numeric for column in table.columns) == 6
