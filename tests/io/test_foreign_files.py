"""What other programs write: groups of thousands, quotes after backslashes, JSON, long cells, letters of another encoding.

A cell is read right, or is no number and doubted; how it is read follows from its line, the delimiter and the schema.
"""

import gzip
import math
import warnings

import pandas as pd
import pytest

import dpviz
from dpviz.errors import ReadingWarning, SchemaError, TableError
from dpviz.io.options import ReadOptions
from dpviz.io.tables.read import read_with_options
from dpviz.table.notes import Doubt
from dpviz.table.schema_json import schema_from_json

NONE = math.nan
#: text, and the number it is where commas separate cells; semicolons; tabs; where the schema says point; comma.
WRITTEN = [
    ("950", 950, 950, 950, 950, 950),
    ("1,311", 1311, 1.311, NONE, 1311, 1.311),
    ("12,037", 12037, 12.037, NONE, 12037, 12.037),
    ("-12,037", -12037, -12.037, NONE, -12037, -12.037),
    ("1.311", 1.311, 1.311, 1.311, 1.311, 1311),
    ("1,311.50", 1311.5, 1311.5, 1311.5, 1311.5, NONE),
    ("1.311,50", NONE, 1311.5, 1311.5, NONE, 1311.5),
    ("1,23,456", 123456, 123456, 123456, 123456, NONE),
    ("12,34,56,789.5", 123456789.5, 123456789.5, 123456789.5, 123456789.5, NONE),
    ("1,234,567", 1234567, 1234567, 1234567, 1234567, NONE),
    ("1.234.567", NONE, 1234567, 1234567, NONE, 1234567),
    ("1.234.567,8", NONE, 1234567.8, 1234567.8, NONE, 1234567.8),
    ("1 311", 1311, 1311, 1311, 1311, 1311),
    ("1\u00a0311", 1311, 1311, 1311, 1311, 1311),
    ("1\u202f311,5", NONE, 1311.5, 1311.5, NONE, 1311.5),
    ("1 311.5", 1311.5, 1311.5, 1311.5, 1311.5, NONE),
    ("1'311", 1311, 1311, 1311, 1311, 1311),
    ("1’311’000.25", 1311000.25, 1311000.25, 1311000.25, 1311000.25, NONE),
    ("−1,311", -1311, -1.311, NONE, -1311, -1.311),
    ("12,5", NONE, 12.5, 12.5, NONE, 12.5),
    ("0,125", NONE, 0.125, 0.125, NONE, 0.125),
    ("1234,567", NONE, 1234.567, 1234.567, NONE, 1234.567),
    ("12.5", 12.5, 12.5, 12.5, 12.5, NONE),
    ("1e3", 1000, 1000, 1000, 1000, 1000),
    ("1.5e3", 1500, 1500, 1500, 1500, NONE),
    ("1_000", NONE, NONE, NONE, NONE, NONE),
    ("1,2,3", NONE, NONE, NONE, NONE, NONE),
    ("1,1234", NONE, 1.1234, 1.1234, NONE, 1.1234),
    ("1 31", NONE, NONE, NONE, NONE, NONE),
    ("1 311'000", NONE, NONE, NONE, NONE, NONE),
    ("1.311.50", NONE, NONE, NONE, NONE, NONE),
    ("1,311,50", NONE, NONE, NONE, NONE, NONE),
    (",5", NONE, 0.5, 0.5, NONE, 0.5),
    ("1,", NONE, 1, 1, NONE, 1),
    ("12,037 EUR", NONE, NONE, NONE, NONE, NONE),
]


def schema_of(decimal: str | None = None) -> dpviz.Schema:
    features = (dpviz.NumericFeature("a", -1e12, 1e12, missing_as=0), dpviz.NumericFeature("x", -1e12, 1e12))
    return dpviz.Schema(features, dpviz.ClassTarget("y", ("n", "p")), n_public=10, decimal=decimal)


def written(delimiter: str, cells: list[str]) -> bytes:
    lines = [delimiter.join(("a", "x", "y")), *(f'1{delimiter}"{cell}"{delimiter}n' for cell in cells)]
    return "\n".join(lines).encode()


def numbers(data: bytes | pd.DataFrame, schema: dpviz.Schema) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dpviz.encode(data, schema).columns[1].tolist()


@pytest.mark.slow
def test_a_number_is_read_by_delimiter_and_schema_and_by_no_other_cell():
    for text, comma, semicolon, tab, point_said, comma_said in WRITTEN:
        found = [numbers(written(delimiter, [text]), schema_of()) for delimiter in ",;\t"]
        found += [numbers(written(delimiter, [text]), schema_of(decimal)) for decimal in ".," for delimiter in ",;\t|"]
        expected = [comma, semicolon, tab, *[point_said] * 4, *[comma_said] * 4]
        assert found == [[] if math.isnan(number) else [number] for number in expected]
    texts = [text for text, *_ in WRITTEN]
    for delimiter in ",;\t|":
        for decimal in [None, ".", ","]:
            alone = [number for text in texts for number in numbers(written(delimiter, [text]), schema_of(decimal))]
            assert numbers(written(delimiter, texts), schema_of(decimal)) == alone
            assert numbers(written(delimiter, texts[::-1]), schema_of(decimal)) == alone[::-1]
    frame = pd.DataFrame({"a": "1", "x": texts, "y": "n"})
    assert numbers(frame, schema_of()) == numbers(written("\t", texts), schema_of())


DOUBTED = [
    (",", ["12,5", "950"], "may be read in two ways"),
    (",", ["1.311,50", "950"], "may be read in two ways"),
    (";", ["1.311", "950"], "may group thousands"),
    (";", ["1,311", "950"], "may group thousands"),
    (";", ["12.037", "950", "1.311,5"], "may group thousands"),
    (";", ["12.037", "1.234.567", "0.5"], "may group thousands"),
    ("\t", ["1,311", "950"], "may be read in two ways"),
    ("\t", ["1.311", "950"], "may group thousands"),
    ("|", ["12,037", "437"], "may be read in two ways"),
]


@pytest.mark.parametrize(("delimiter", "cells", "words"), DOUBTED)
def test_what_may_be_two_numbers_is_doubted_wherever_rows_are_read(delimiter, cells, words):
    data = written(delimiter, cells)
    for ask in (lambda: dpviz.encode(data, schema_of()), lambda: dpviz.propose_schema(data, "x", task="classes")):
        with pytest.warns(ReadingWarning, match=words) as caught:
            ask()
        assert not any(cell in str(one.message) for one in caught for cell in cells), "a warning quotes no cell"


CERTAIN = [
    (",", ["12,037", "950"]),
    (";", ["1,5", "2,25"]),
    (";", ["93.994", "93.2"]),
    ("\t", ["1.25", "7"]),
    (",", ["1.311", "7"]),
]


def test_what_is_one_number_is_not_doubted_and_the_mark_that_is_said_goes_with_the_schema():
    for delimiter, cells in CERTAIN:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dpviz.encode(written(delimiter, cells), schema_of())
    schema = schema_of(",")
    assert schema_from_json(schema.to_json()) == schema
    assert '"decimal"' not in schema_of().to_json()
    assert schema.key != schema_of().key
    with pytest.raises(SchemaError, match="no decimal mark"):
        schema_of(";")


# --- quotes after a backslash

ESCAPED = [
    (r'1,"doctor \"A\"",n', 'doctor "A"'),
    (r'1,"nurse \"lead\", night",n', 'nurse "lead", night'),
    (r'1,"\"",n', '"'),
    (r'1,"\"all\"",n', '"all"'),
    (r'1,"ends with \"",n', 'ends with "'),
    (r'1,"a\\ and \"b\"",n', 'a\\\\ and "b"'),
    (r'1,"a \\\"b\" c",n', 'a \\"b" c'),
    (r'1,"5\" pipe",n', '5" pipe'),
    (r'1,"a\",\"b",n', 'a","b'),
    ('1,"say ""hi""",n', 'say "hi"'),
    ('1,"C:\\",n', "C:\\"),
    ('1,"C:\\temp\\",n', "C:\\temp\\"),
    ("1,C:\\temp,n", "C:\\temp"),
    ('1,5\\" pipe,n', '5\\" pipe'),
]


def test_a_quote_after_a_backslash_is_part_of_its_cell_also_where_rows_are_predicted():
    for line, cell in ESCAPED:
        data = "\n".join(["x,job,y", "2,plain,p", line, '3,"in quotes",p']).encode()
        for by_record in (False, True):
            table = read_with_options(data, ReadOptions("rows", by_record=by_record))
            assert table.column("job").distinct_texts == ("plain", cell, "in quotes")
        is_escaped = any("backslash" in note for note in table.notes)
        assert is_escaped == (line[2:3] == '"' and '\\"' in line and not line.endswith('\\",n'))


def test_a_line_that_a_backslash_spoils_is_left_out_alone_and_said_by_name():
    for line in ["1,a\\,b,n", '1,"a \\"b,n', '1,"a\\" b" c",n', "1,2,a\\,b,c\\,n"]:
        with pytest.warns(ReadingWarning, match="left out where a backslash stands before a quote or before what separates"):
            table = dpviz.read_table(f'x,job,y\n{line}\n2,ok,p\n3,"c \\"d\\"",n\n'.encode())
        assert (table.column("job").distinct_texts, table.n_malformed) == (("ok", 'c "d"'), 1)


# --- JSON


JSON = [
    '{"id": 1, "age": 59}\n{"id": 2, "age": 60}\n',
    '[{"id": 1}, {"id": 2}]',
    '[\n  {\n    "id": 1\n  }\n]\n',
    '{\n  "data": [1, 2]\n}',
    '["id", "age"]\n[1, 59]\n',
    '[["id", "age"], [1, 59]]',
    '\ufeff{"id": 1}\n',
    '\n\n{"id": 1}\n',
    "{'id': [1, 2], 'age': [59, 60]}\n",
    "[{'id': 1}, {'id': 2}]",
    "[('id', 'age'), (1, 59)]",
    "{}\n",
    "[]",
]


def test_json_is_refused_by_name_and_brackets_in_a_header_are_none(tmp_path):
    for text in JSON:
        for name in ["rows.jsonl", "rows.csv", "rows.csv.gz"]:
            path = tmp_path / name
            path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
            for read in (dpviz.read_table, lambda path: dpviz.encode(path, schema_of())):
                with pytest.raises(TableError, match=r"This is JSON, not CSV\..*Save its table as CSV or Parquet"):
                    read(path)
    with pytest.raises(TableError, match="This is JSON"):
        dpviz.read_table(tmp_path / "rows.jsonl", names=["a", "b"])
    for text in (JSON[0], JSON[1], JSON[8]):
        with pytest.raises(TableError, match="This is JSON"):
            dpviz.read_table(text.encode("utf-16"))
    for header in ["[id],[age]", "{id},{age}", "id,{age}", "[id]\tage"]:
        assert dpviz.read_table(f"{header}\n".encode()).n_rows == 0


# --- files that are no text

#: Kind -> (name of a file, its first bytes); each is told by either.
OF_OTHER_KINDS = {
    "an ORC file": ("a.orc", b"ORC\x1a\x08"),
    "an HDF5 file": ("a.h5", b"\x89HDF\r\n\x1a\n"),
    "a Python pickle": ("a.pkl", b"\x80\x04\x95\x10"),
    "an R file": ("a.rds", gzip.compress(b"X\n\0\0\0\3")),
    "YAML": ("a.yaml", b"---\nrows:\n  - {age: 5, b: 3}\n"),
    "an SQLite database": ("a.sqlite", b"SQLite format 3\0"),
    "a SAS transport file": ("a.xpt", b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!"),
    "a SAS file": ("a.sas7bdat", b"\0" * 12 + b"\xc2\xea\x81\x60\xb3"),
    "an ARFF file": ("a.arff", b"% a title, with a comma\n\n@RELATION x\n@ATTRIBUTE a NUMERIC\n"),
    "a NumPy file": ("a.npy", b"\x93NUMPY\1\0"),
    "SQL": ("a.sql", b"INSERT INTO t (a,b) VALUES (1,2);\n"),
    "a tar archive": ("a.tar", b"a.csv".ljust(257, b"\0") + b"ustar\x0000"),
    "a DuckDB database": (None, b"\1" + b"\0" * 7 + b"DUCK" + b"\0" * 9),
    "an Arrow stream": (None, b"\xff\xff\xff\xff\x10\1\0\0"),
    "a Feather file of version 1": (None, b"FEA1\0\0\0\0"),
    "a bzip2 archive": (None, b"BZh91AY&SY,\n"),
    "a dBASE file": ("a.dbf", None),
    "Markdown": ("a.md", None),
}


@pytest.mark.parametrize("kind", OF_OTHER_KINDS)
def test_other_kinds_of_files_are_called_by_their_name(kind, tmp_path):
    name, begins = OF_OTHER_KINDS[kind]
    tried = [(name, b"a,b\n1,2\n")] * (name is not None) + [(other, begins) for other in ("a.csv", "a")] * (begins is not None)
    tried += [(name, begins)] if None not in (name, begins) else []
    for called, content in tried:
        (tmp_path / called).write_bytes(content)
        for read in (dpviz.read_table, lambda path: dpviz.encode(path, schema_of())):
            with pytest.raises(TableError, match=f"This is {kind}, not"):
                read(tmp_path / called)
    if name is not None:
        with pytest.raises(TableError, match=f"This is {kind}, not"):
            dpviz.read_table(tmp_path / name, names=["a", "b"])


def test_what_begins_like_other_files_or_is_none_of_them():
    for name in ["ORCID", "ORC", "RDX", "RDA2", "FEA1", "BZhang", "Obj", "@relation", "---x", "X", "SQLite", "ustar"]:
        assert dpviz.read_table(f"{name},b\n1,2\n".encode()).names == (name, "b")
    for text in ["<html><table><tr><td>1</td></tr></table>", "<?xml version='1.0'?>\n<rows/>", "  <!DOCTYPE html>\n"]:
        with pytest.raises(TableError, match="HTML or XML") as caught:
            dpviz.read_table(text.encode())
        assert caught.value.remedy


# --- long cells


def test_a_long_cell_is_read_up_to_the_limit_of_a_line():
    for length in [131_071, 131_072, 131_073, 1_000_000, 3_900_000]:
        for quote in ["", '"']:
            table = dpviz.read_table(f"x,y\n1,{quote}{'a' * length}{quote}\n2,b\n".encode())
            assert ([len(text) for text in table.column("y").distinct_texts], table.n_malformed) == ([length, 1], 0)
    table = dpviz.read_table(f"x,y\n1,{'a' * 4_000_000}\n2,b\n".encode())
    assert table.column("y").distinct_texts == ("b",)
    assert "4,000,000 letters" in table.notes[0]


# --- letters of another encoding


def test_letters_of_another_encoding_are_doubted(tmp_path):
    for encoding in ["cp1252", "iso8859-15", "cp1254"]:
        for town in ["Zürich", "Genève", "Köln"]:
            path = tmp_path / "rows.csv"
            path.write_bytes(b"x,town,y\n1,Bern,n\n2," + town.encode(encoding) + b",p\n")
            with pytest.warns(ReadingWarning, match="Some cells are not UTF-8.*encoding='cp1252'"):
                table = dpviz.read_table(path)
            assert [isinstance(note, Doubt) for note in table.notes] == [True]
            schema = dpviz.Schema((dpviz.NumericFeature("x", 0, 9),), dpviz.ClassTarget("y", ("n", "p")))
            for encode in (dpviz.encode, dpviz.encode_large):
                with pytest.warns(ReadingWarning, match="not UTF-8"):
                    encode(path, schema)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert dpviz.read_table(path, encoding=encoding).column("town").distinct_texts == ("Bern", town)


def test_a_file_that_was_written_behind_another_has_two_marks_and_the_same_names():
    for n_marks in range(4):
        table = dpviz.read_table(b"\xef\xbb\xbf" * n_marks + b"age,y\n3,a\n" + b"\xef\xbb\xbf" * n_marks + b"4,b\n")
        assert table.names == ("age", "y")
        assert table.column("age").numbers().tolist() == [3.0, 4.0]
