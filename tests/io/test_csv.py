"""What a CSV file becomes, and the typed problem each broken one is."""

import csv
import gzip
import io
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DpvizError, ReadingWarning
from dpviz.io import csv as module
from dpviz.io.answers import Answers, csv_parts
from dpviz.io.csv import read_lines, unique_names
from dpviz.io.csv_text import csv_text, frame_csv, harmless
from dpviz.io.options import ReadOptions
from dpviz.io.tables.read import read_table
from dpviz.io.text import CHUNK_LINES, ENCODINGS
from dpviz.randomness import generator
from dpviz.rows.files import batches_of
from dpviz.rows.opening import encode_large
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.outcomes import cells, problem_of

problem = partial(problem_of, read_table)
BY_RECORD = ReadOptions("t", by_record=True)


def test_a_plain_file_becomes_dictionary_encoded_columns():
    table = read_table(b"a,b\n1,x\n2,y\n 1 ,x\n")
    assert table.names == ("a", "b")
    assert table.columns[0].distinct_texts == ("1", "2")
    assert table.columns[0].codes.tolist() == [0, 1, 0]
    assert table.columns[0].codes.dtype == np.int8, "as narrow as may be"
    assert not table.columns[0].codes.flags.writeable
    assert table.notes == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *((f"a{mark}b{mark}c\n1{mark}x y{mark}3\n", [["1", "x y", "3"]]) for mark in ",;\t|"),
        ("x;y\n1,5;2,5\n", [["1,5", "2,5"]]),
        ('name;text\n"a";"one, two, three"\n"b;c";d\n', [["a", "one, two, three"], ["b;c", "d"]]),
        ('a,b\n"x","say ""hi"", twice"\n', [["x", 'say "hi", twice']]),
        ("a,b|c,d|e\n1|2|3\n4|5|6\n", []),  # rows do not change the delimiter
        *((end.join(["a,b", "1,2", "3,4"]), [["1", "2"], ["3", "4"]]) for end in ("\n", "\r\n", "\r", "\r\r\n")),
        ('a,b\r1,"2\r3,4', [["3", "4"]]),
        ("\na,b\n1,2\n\n3,4\n\n\n  \n", [["1", "2"], ["3", "4"]]),
        ("a,b\n1,2\n,\n,4\n,\n", [["1", "2"], [None, "4"]]),
        *((f"a,b\n{mark},1\nx,2\n", [[None, "1"], ["x", "2"]]) for mark in ("?", "NA", "N/A", "nan", "NULL", "  ", " NA ")),
        (b"a,b\n1,\xe9\n\x00,2\n3,4\n", [["1", "\ufffd"], ["\x1a", "2"], ["3", "4"]]),
        *((text, []) for text in ("a,b\n", "a,b\n,\n,\n", "a,b\n1\n")),
    ],
)
def test_a_text_is_read_line_by_line(text, found):
    assert cells(read_table(text if isinstance(text, bytes) else text.encode())) == found


def test_cells_in_quotes_span_lines_only_where_rows_need_not_stand_alone():
    text = b'a,b\n"line 1\nline 2",x\n3,4\n'
    joined = read_lines(text, BY_RECORD)
    assert cells(joined) == [["line 1\nline 2", "x"], ["3", "4"]]
    assert "span lines" in joined.not_row_wise
    table = read_table(text)
    assert (cells(table), table.not_row_wise) == ([['line 2"', "x"], ["3", "4"]], "")


SAME = [["1", "2", "n"], ["3", None, "p"]]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_what_programs_add_to_lines_is_read_by_line(mark: str):
    for header, rows in [
        ("a,b,y,", ["1,2,n,", "3,,p,"]),  # a delimiter ends every line
        ("a,b,y,", ["1,2,n", "3,,p"]),
        ("a,b,y", ["1,2,n,", "3,,p, "]),
        ("a,b,y,, ", ["1,2,n,,", "3,,p"]),  # cells that a spreadsheet once had
        ("a,b,y", ["1,2,n,,,", "3,,p, ,"]),
        ("sep=,\na,b,y", ["1,2,n", "3,,p"]),  # as Excel says what separates cells
        ('"sep=,"\r\na,b,y', ["1,2,n", "3,,p"]),
        ("\n  \n\r\na,b,y", ["1,2,n", "3,,p"]),  # blank lines above
    ]:
        for codec in ("utf-8", "utf-8-sig", "utf-16"):
            text = "\n".join([header, *rows]).replace(",", mark).encode(codec)
            wanted = ReadOptions("t", wanted=("a", "b", "y"))
            for table in (read_table(text), read_lines(text, BY_RECORD), read_lines(text, wanted)):
                assert (table.names, cells(table)) == (("a", "b", "y"), SAME)


ABOVE = ["A title\n", "A title,,\n\n", "# exported, by somebody\n", "first;line\nsecond|line\n", "1,2,3\n"]


@pytest.mark.parametrize("names", ["age,Größe,y", 'y,"Größe",age,other', "y;age;Größe", "age,Gro\u0308\u00dfe,y"])
def test_the_line_that_holds_the_declared_names_is_the_header(names: str, tmp_path: Path):
    schema = Schema((NumericFeature("age", 0, 100), NumericFeature("Größe", 0, 100)), ClassTarget("y", ("1", "2")), n_public=10)
    mark = ";" if ";" in names else ","
    for place, above in enumerate(ABOVE):
        codec = "cp1252" if place % 2 and "\u0308" not in names else "utf-8"
        path = tmp_path / "t.csv"
        path.write_bytes(f"{above}{names}\n{mark.join('1' * (names.count(mark) + 1))}\n".encode(codec))
        assert encode(path, schema).report.rows_kept == 1
        with encode_large(path, schema) as large:
            assert large.report.rows_kept == 1
    wanted = ReadOptions("t", wanted=("a", "b"))
    assert cells(read_lines(b"a,b\n1,2\na,b\n", wanted)) == [["1", "2"], ["a", "b"]], "rows are no header"
    assert read_lines(b"x,y\n1,2\n", wanted).names == ("x", "y")


@pytest.mark.parametrize(
    ("text", "how", "names"),
    [
        ("Nr;Alter, in Jahren;BMI, gemessen, kg/m2", {}, ("Nr", "Alter, in Jahren", "BMI, gemessen, kg/m2")),
        ("a, b, c", {}, ("a", "b", "c")),
        ('"a, x";b', {}, ("a, x", "b")),
        ("a; b|c", {}, ("a; b", "c")),
        ("a,b|c\n1,2|3\n", {"delimiter": "|"}, ("a,b", "c")),
        ("1,2\n3,4\n", {"names": ["a", "b"]}, ("a", "b")),
        ("a,b,a,a (2),a,b\n1,2,3,4,5,6\n", {"rename_duplicates": True}, ("a", "b", "a (3)", "a (2)", "a (4)", "b (2)")),
    ],
)
def test_names_are_those_of_the_line_or_as_asked(text, how, names):
    assert read_table(text.encode(), **how).names == names
    assert unique_names(["n"] * 16_384)[-1] == "n (16384)", "in time that grows with the header"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,\n1,2,3\n4,5,6\n7,8\n", "Most lines have one cell more than the first line"),
        ("a,b\n1\n2\n3,4\n", "Most lines have another number of cells"),
        ("a,b\n1,2,\n3,4,5\n3,4\n3,4\n", "Other lines have a value there"),
        ("a,b\n1,2,,\n3,4\n5,6,,7\n", "Other lines have a value there"),
        *((f"a,b\n1,2\n{line}\n3,4\n", "Row 2 holds the names of the columns once more") for line in ("a,b", '"a","b"', "a , b")),
        *((f"a,b\n1,2\n{other}\na,b\n", "Row 3 holds the names") for other in ("3", ",", "3,4,5", '"3,4', "3,4,")),
        *((f"a, b\n{rows}a,b\n1,2\n", "Row 30,001 holds the names") for rows in ["1,2\n" * 30_000]),
        ("'a','b'\n'1','2'\n", "quotes that count as letters"),
        ("“a”;„b“\n1;2\n", "quotes that count as letters"),
        ("a,y\n1,5,n\n2,5,p\n", "or commas stand before decimals and between cells.*delimiter"),
        ("x,39,State-gov\ny,50,Private\n", "first in column 2: the first line seems to be a row"),
        ("Report of 2024,confidential\na,b,y\n" + "1,2,n\n" * 9, "Most lines have .* than the first line.*delimiter"),
        ("# made, by me\na\tb\ty\n" + "1\t2\tn\n" * 9, "Most lines have .* than the first line.*delimiter"),
        *((f"x,y\n1,n\n2,p\n3,n\n{odd}\n", "Some lines are no rows") for odd in ("1", "1,n,more", '"1,n', "Source: register")),
    ],
)
def test_lines_that_cannot_be_meant_so_are_doubted_with_their_cause(text: str, words: str):
    with pytest.warns(ReadingWarning, match=words):
        read_table(text.encode())


def test_names_that_come_again_are_doubted_also_in_pieces_and_where_they_are_given(tmp_path):
    text = b"a,b\n1,2\na,b\n3,4\n"
    (path := tmp_path / "t.csv").write_bytes(text)
    (piece,) = batches_of(path, ReadOptions("t")).read(lambda share: None)
    with pytest.warns(ReadingWarning):
        given = read_table(text, names=["a", "b"])
    for table in (piece, given):
        assert [note for note in table.notes if note.startswith("A row holds the names of the columns once more.")]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_names_of_rows_are_read_where_every_line_has_one_cell_more_and_nothing_is_released_then(mark: str, tmp_path: Path):
    """As R's write.table writes them. Of private rows declared names decide: then no line is read by what others hold."""
    lines = ['"age","y"', *(f'"r{k}",{k},"{"np"[k % 2]}"' for k in range(9)), ""]
    text = "\n".join(lines).replace(",", mark).encode()
    with pytest.warns(ReadingWarning, match="Every line has one cell more than the first line.*Give the names of the columns"):
        table = read_table(text)
    assert (table.names[1:], table.n_rows, table.columns[0].distinct_texts[0]) == (("age", "y"), 9, "r0")
    assert "looked at all lines" in table.not_row_wise
    assert propose_schema(table, "y").feature_names == ("age",)
    schema = Schema((NumericFeature("age", 0, 9),), ClassTarget("y", ("n", "p")))
    assert encode(table, schema).not_row_wise
    assert encode(text, schema).n_rows == 0
    named = encode(read_table(text, names=("row", "age", "y"), delimiter=mark), schema)
    assert (named.n_rows, named.not_row_wise, named.report.malformed) == (9, "", 1)
    with pytest.warns(ReadingWarning, match="Most lines have one cell more"):
        assert read_table(text + f"1{mark}n\n".encode()).n_rows == 1


def test_what_was_assumed_is_noted_without_a_cell():
    assert read_table(b"a;b\n1;2\n").notes == ("Cells are separated by semicolons.",)
    assert read_table(b"a , b\n1,2\n").notes == ("Blanks around column names were removed.",)
    assert read_table(b"a,b\n1,2\n,\n,\n").notes == ("Skipped 2 rows without any value.",)
    assert "Decimal commas" in read_table(b"x;y\n1,5;2,5\n").remarks[0][1]
    assert "thousands" in read_table(b'x;y\n"1,500";a\n12.5;b\n').remarks[1][1]
    (_, note), *_ = read_table(b"a,b\n1,x\nmore,y\n2,z\n").remarks
    assert ("'1'" in note.example, "'more'" in note.example, "more" in note) == (True, True, False)


def test_a_malformed_line_is_left_out_counted_and_noted(monkeypatch):
    for line in [b"1", b"1,2,3", b'1,"2', b'"1,2', b"1,\r2", b'"' + b"x," * 70_000]:
        table = read_table(b"a,b\n1,2\n" + line + b"\n3,4\n")
        assert (cells(table), table.n_malformed) == ([["1", "2"], ["3", "4"]], 1)
        assert "1 line was left out" in table.notes[0]
    monkeypatch.setattr(module, "MAX_LINE_LENGTH", 10)
    table = read_table(b"a,b\n" + b"," * 11 + b"\n1,2\n")
    assert (cells(table), table.n_malformed) == ([["1", "2"]], 1)


@pytest.mark.parametrize("by_record", [False, True])
@pytest.mark.parametrize("n_lines", [7, CHUNK_LINES - 1, CHUNK_LINES, CHUNK_LINES + 1, 3 * CHUNK_LINES + 7])
def test_places_of_records_that_are_no_row_count_from_the_first_record_in_whichever_block_they_stand(n_lines, by_record):
    """By them answers stand beside their records: cells too few or too many, none with a value; a blank line is no record."""
    odd, rng = ("1", "1,2,3", ",", " ,  "), generator(n_lines)
    lines = [odd[rng.integers(len(odd))] if rng.random() < 0.1 else f"{line},x" for line in range(n_lines)]
    lines[-1] = odd[0]
    wanted = tuple(at for at, line in enumerate(lines) if line in odd)
    with_blanks = "\n".join(f"\n{line}" if rng.random() < 0.1 else line for line in lines)
    for text in ("\n".join(lines), with_blanks):
        found = read_lines(f"a,b\n{text}\n".encode(), ReadOptions("t", by_record=by_record))
        assert found.left_out == wanted
        assert [row[0] for row in cells(found)] == [str(at) for at in range(n_lines) if at not in wanted]


# --- problems of the table

ROWS = b"a,b\n1,2\n3,4\n5,6\n"


@pytest.mark.parametrize(
    ("text", "how", "code", "row", "word"),
    [
        (b"", {}, "empty", None, ""),
        (b" \n\n", {}, "empty", None, ""),
        (b",,\n1,2,3\n", {}, "no-header", 1, ""),
        (b"1,2.5,3\n4,5,6\n", {}, "header-numbers", 1, ""),
        (b"a b\n1 2\n", {}, "one-column", 1, "Here blanks seem to separate them"),
        (b'"a,b"\n"1,2"\n', {}, "one-column", 1, "whole first line is in quotes"),
        (b"a:b:c\n1:2:3\n", {}, "one-column", 1, "Here colons"),
        (b"a^b\n1^2\n", {}, "one-column", 1, "Here carets"),
        (b"name\nx\n", {}, "one-column", 1, "semicolons"),
        (b'"', {}, "no-header", 1, ""),
        *((f'{line}\nc",d\n1,2,3\n'.encode(), {}, "no-header", 1, "never closed") for line in ('a,"b', 'a;"b', '"a', '"a","b')),
        (b"a,,c\n1,2,3\n", {}, "blank-name", 1, "Column 2"),
        (b",b,y\n1,2,3\n", {}, "blank-name", 1, "lines above it and blank columns"),
        (b"a,,a\n1,2,3\n", {"rename_duplicates": True}, "blank-name", 1, ""),
        (b"a,b, a\n1,2,3\n", {}, "duplicate-name", 1, "Columns 1 and 3"),
        (b"1,2\n", {"names": ["a", "a"]}, "duplicate-name", 1, ""),
        (b"1,2\n", {"names": ["a", "a"], "rename_duplicates": True}, "duplicate-name", 1, ""),
        (b"a,b\n", {"delimiter": "x"}, "delimiter", None, ""),
        (b"a,b\0\n1,2\n", {}, "encoding", 1, ""),
        ("a,b\n1,2\n".encode("utf-16-le"), {}, "encoding", 1, ""),
        (ROWS, {"max_bytes": 10}, "too-many-bytes", None, "max_bytes"),
        (ROWS, {"max_rows": 2}, "too-many-rows", None, "max_rows"),
        (ROWS, {"max_columns": 1}, "too-many-columns", 1, "max_columns"),
        (gzip.compress(b"a,b\n" + b"\n" * 1_001, mtime=0), {"max_rows": 1_000}, "too-many-rows", None, ""),
        *(
            (line + b"\n1,2\n", {}, None, 1, "")
            for line in (b"secret", b"secret,secret", b"847261553,1", b"secret,,x", b'"secret,x')
        ),
    ],
)
def test_each_problem_is_typed_located_and_quotes_nothing(text, how, code, row, word):
    error = problem(text, **how)
    assert (code in (None, error.code), error.row) == (True, row)
    assert word in str(error)
    assert error.remedy
    assert not any(cell in str(error) for cell in ("secret", "847261553"))


COMMAS = b"," * 3_000_000


@pytest.mark.slow
def test_no_line_costs_much_more_memory_than_cells_of_one_line():
    for text, read in [
        (b",".join([b"a"] * 1_500_000), lambda text: problem(text).code == "too-many-columns"),
        (b"a" + COMMAS + COMMAS, lambda text: problem(text).code == "no-header"),
        (b"a,b\n" + (COMMAS[:500_000] + b"\n") * 30, lambda text: read_table(text).n_rows == 0),
    ]:
        tracemalloc.start()
        assert read(text)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 3 * len(text) + 12 * len(COMMAS)


@given(st.lists(st.lists(st.text('ab,;|"\n\t é', min_size=1).map(lambda s: f"x{s}x"), min_size=3, max_size=3), min_size=1))
def test_what_a_csv_writer_writes_is_read_back(rows):
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["c1", "c2", "c3"], *rows])
    assert cells(read_lines(file.getvalue().encode(), BY_RECORD)) == rows


# --- tables that are written: no text of ours is a formula in somebody's spreadsheet


def test_a_text_that_starts_as_a_formula_is_made_harmless_and_everything_else_stays():
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =cmd|' /C calc'!A0", "＝1", "\n=1"):
        assert harmless(text) == f"'{text}"
    for cell in ["a=1", "", "'=1", -1, -1.5, None, np.nan, "north-east"]:
        assert harmless(cell) is cell
    text = csv_text(["=a", "b"], [["-x", -1.5], ['say "hi", you', None]])
    assert list(csv.reader(io.StringIO(text))) == [["'=a", "b"], ["'-x", "-1.5"], ['say "hi", you', ""]]
    frame = pd.DataFrame({"=name": ["=1", "b", None], "loss": [-1.0, np.nan, 2.5], "n": [-1, 0, 1], "mixed": ["@x", -3, None]})
    frame["c"] = pd.Categorical(["=1", "b", "b"])
    assert frame_csv(frame) == "'=name,loss,n,mixed,c\n'=1,-1.0,-1,'@x,'=1\nb,,0,-3,b\n,2.5,1,,b\n"
    assert "=name" in frame.columns


# --- paths, bytes and encodings


def test_a_file_stays_open_and_an_upload_is_read_from_its_start(tmp_path):
    text, packed = b"a,b\n1,x\n2,y\n", tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(text))
    upload = io.BytesIO(text)
    upload.name = "upload.csv"
    upload.read()  # an upload that was read before
    with open(packed, "rb") as file:
        tables = [read_table(source) for source in (str(packed), upload, file)]
        assert not file.closed
    assert [cells(table) for table in tables] == [[["1", "x"], ["2", "y"]]] * 3
    assert [table.source for table in tables] == ["t.csv.gz", "upload.csv", "t.csv.gz"]
    assert read_table(text, name="mine").source == "mine"


def test_what_is_no_file_or_a_damaged_one_is_refused(tmp_path):
    for path in (tmp_path / "absent.csv", tmp_path, "a\0b.csv", "x" * 5000):
        assert problem(path).code == "not-a-file"
    with pytest.raises(DpvizError, match="binary mode"):
        read_table(3)
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    for damaged in (packed[:-10], packed[:20] + b"\xff\xff" + packed[22:]):
        assert problem(damaged).code == "gzip"
    error = problem(gzip.compress(b"a,b\n" + b"0" * 10_000_000), max_bytes=1_000_000)
    assert (error.code, "1 MB" in error.what) == ("too-many-bytes", True)


def test_utf16_is_read_line_by_line():
    """Also beside units that are no letter, which spoil their own cell."""
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        for odd in ("\ud800", "\udc00", "\ud800\ud800"):
            text = mark + f"a\tb\nö\t2{odd}\n{odd}\tx\n".encode(codec, "surrogatepass")
            spoiled = odd.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd")
            table = read_table(text)
            assert cells(table) == [["ö", f"2{spoiled}"], [spoiled, "x"]]
            assert "Read as UTF-16." in table.notes
        assert problem(text.removeprefix(mark)).code == "encoding", "without its mark"
        for encoding in (codec, "cp1252", "utf-16"):
            assert cells(read_table(text, encoding=encoding)) == cells(table), "a mark above a header tells"
        assert cells(read_table(text.removeprefix(mark), encoding=codec)) == cells(table)
        rows = text.removeprefix(mark).partition("\n".encode(codec))[2]
        for lines in (rows, mark + rows):
            assert cells(read_table(lines, names=["a", "b"], delimiter="\t", encoding=codec.upper())) == cells(table)


def test_the_header_line_decides_the_encoding_and_rows_do_not():
    assert read_table("a,b\n1,ä\n".encode("utf-8-sig")).names == ("a", "b")
    with pytest.warns(ReadingWarning, match="not UTF-8: read as Windows-1252.*encoding='cp1252'"):
        table = read_table("prénom,b\ncafé,5 €\n".encode("cp1252"))
    assert (table.names, cells(table)) == (("prénom", "b"), [["café", "5 €"]])
    table = read_table("a,b\ncafé,1\n".encode() + "café,2\n".encode("cp1252"))
    assert cells(table) == [["café", "1"], ["caf\ufffd", "2"]]
    assert cells(read_table("a,b\ncafé,5 €\n".encode("cp1252"), encoding="windows-1252")) == [["café", "5 €"]]


@pytest.mark.slow
def test_in_every_encoding_a_line_feed_stands_for_itself_alone_and_others_are_refused():
    for encoding in ["utf-16", "utf-7", "shift_jis", "iso2022_jp", "idna", "base64", "nope", "\0"]:
        assert problem(b"a,b\n1,2\n", encoding=encoding).code == "encoding"
    for encoding in ENCODINGS:
        assert all(bytes([byte, 10]).decode(encoding, "replace").endswith("\n") for byte in range(256))
        assert all(b"\n" not in chr(code).encode(encoding, "ignore") for code in range(11, 0x3000))


@pytest.mark.parametrize("names", [(), ("p_no",), ("p_no", "p_yes")])
@pytest.mark.parametrize("key", ["", "id"])
@pytest.mark.parametrize("labels", [(), ("no", "yes")])
def test_a_row_without_an_answer_is_a_line_and_no_blank_one(labels, key, names):
    names = names if labels else ("value",)
    keys, codes = [7, None, 9] if key else [], np.array([0, -1, 0], np.int16)
    given = Answers(key, keys, labels, codes, names, np.array([[0.5, np.nan, 1.0]] * len(names)).reshape(len(names), 3).T)
    lines = b"".join(csv_parts([given], guard=False)).decode().splitlines()
    assert len(lines) == 4
    assert all(lines)
    assert [len(cells) for cells in csv.reader(lines)] == [len(given.header)] * 4
