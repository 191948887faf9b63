"""A codebook declares one schema, the same from Python, the command line and the page; what it leaves open is named."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.app.schema_draft import SchemaDraft
from dpviz.errors import DpvizError, SchemaError
from dpviz.io.codebook import codes_in, groups_in, groups_text, list_text, read_codebook
from dpviz.io.samples import load_sample, samples
from dpviz.table.column_draft import ColumnDraft
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.schemas import schemas

SCHEMA = Schema(
    (
        NumericFeature("age", 0, 120.5, unit="years", missing_codes=("999", "k.A.")),
        NumericFeature("visits", 0, 1000, whole=True, missing_as=3),
        CategoricalFeature("sex", ("1", "2"), missing_codes=("9",), groups=(("M", "1"), ("a = b", "2")), unknown_as="2"),
        DateFeature("admitted", 2000, 2025),
        DateFeature("left", 0, 9000, part="days", order="dmy", since="2000-01-01"),
    ),
    ClassTarget("died", ("<=50K", ">50K")),
    person="patient",
)
COMMAS = """name,type,low,high,categories,missing,unit,labels,if missing,if unknown,role
patient,leave out,,,,,,,,,person
age,number,0,120.5,,999; k.A.,years,,,,
visits,integer,0,"1,000.0",,,,,3,,
sex,categories,,,1=male; 2=female,9,,"M = 1; ""a = b"" = 2",,2,
admitted,date,2000,2025,,,,,,,
left,date days dmy 2000-01-01,0,9000,,,,,,,
died,categories,,,<=50K|>50K,,,,,,target
"""
SEMICOLONS = """Name;Type;Low;High;Categories;Missing;Unit;Labels;If missing;If unknown;Role
patient;leave out;;;;;;;;;Person
age;Number;0;120,5;;999|k.A.;years;;;;
visits;integer;0;1.000,0;;;;;3;;
sex;categories;;;"1=m, 2=w";9;;"M=1
""a = b"" = 2";;2;
admitted;date year;2000;2025;;;;;;;
left;date 2000-01-01 dmy days;0;9000;;;;;;;
died;categories;;;<=50K, >50K;;;;;;target
"""
HEAD = "name,type,low,high,categories,labels,missing,if missing,if unknown,unit,role\n"


def book(*lines: str) -> bytes:
    return (HEAD + "\n".join((*lines, "y,categories,,,a;b,,,,,,target"))).encode()


def test_files_as_people_save_them_declare_the_same():
    for text in (COMMAS, SEMICOLONS, SEMICOLONS.replace(";", "\t").replace("\t leave", "; leave")):
        schema = dpviz.import_codebook(text.encode())
        assert schema == SCHEMA
        assert not schema.read_fields()
    assert dpviz.import_codebook(COMMAS.encode("utf-16"), n_public=500).n_public == 500
    assert dpviz.import_codebook(gzip.compress(COMMAS.encode())) == SCHEMA


BOOKS = [COMMAS.encode(), SEMICOLONS.encode(), book("d,date month,,6,,,,,,,"), book("x,number,-5,2.50,,,NA; -9,0.5,,kg,")]
BOOKS += [codebook for sample in samples() for table, schema in [load_sample(sample.name)] if not schema.read_fields()
          for codebook in [dpviz.codebook_template(table.names, schema).encode()]]  # fmt: skip
BOOKS += [book(f"c,categories,,,{values},,,{missing},{unknown},,") for values, missing, unknown in [
    ("north; south", "", ""), ("north; south", "none", "other"), ('"a, b|c"', "", ""),
]]  # fmt: skip


@pytest.mark.parametrize("text", BOOKS)
def test_python_command_line_and_page_make_the_same_schema(text, tmp_path):
    schema = dpviz.import_codebook(text)
    (tmp_path / "book.CSV").write_bytes(text)
    assert dpviz.load_schema(tmp_path / "book.CSV") == schema  # what --schema reads
    found = read_codebook(text)
    draft = SchemaDraft.of_codebook(found, [column.name for column in found.columns])
    assert replace(draft.schema(), person=draft.person) == schema


letters = st.sampled_from(list("ab1 ;|,=<>\"'\n.+-é")) | st.characters(codec="utf-8", exclude_characters="\0\r")
labels = st.text(letters, min_size=1, max_size=8).map(str.strip).filter(bool)
#: Some with three decimals behind few digits, as thousands are grouped.
numbers = st.floats(-1e6, 1e6).map(lambda number: round(number, 3)) | st.integers(-99_999, 99_999).map(lambda count: count / 1000)


@pytest.mark.slow
@given(schemas(labels, numbers, all_declared=True))
def test_a_codebook_of_any_schema_declares_it_again(schema):
    names = [column.name for column in (*schema.features, schema.target)] + [schema.person] * (schema.person is not None)
    assert dpviz.import_codebook(dpviz.codebook_template(names, schema).encode()) == schema


def test_what_was_read_from_rows_is_not_in_a_template_that_would_declare_it():
    read = CategoricalFeature("c", ("secret",), read_from_data=("categories",))
    features = (NumericFeature("x", 0, 77, read_from_data=("high",)), read)
    text = dpviz.codebook_template(["x", "c", "y"], Schema(features, ClassTarget("y", ("a", "b"))))
    assert "77" not in text
    assert "secret" not in text
    with pytest.raises(SchemaError, match="x: The codebook gives no high"):
        dpviz.import_codebook(text.encode())


def test_an_empty_template_names_what_is_to_be_filled_in():
    written = dpviz.codebook_template(["a", "y"])
    with pytest.raises(SchemaError, match="does not say what it is"):
        dpviz.import_codebook(written.encode(), target="y")
    assert read_codebook(written.encode()).columns[0] == ColumnDraft("a")


def test_what_a_line_says_is_kept_or_refused():
    for line, words in [
        ("x,number,0,,,,,,,,", "x: The codebook gives no high"),
        ("x,number,,,,,,,,,", "gives no low and high"),
        ("x,number,0,1.000,,,,,,,", r"x, high: '1.000' may be 1 or 1000"),
        ("x,number,zero,1,,,,,,,", "'zero' is no number"),
        ("x,number,5,1,,,,,,,", "low below high"),
        ("x,number,0,9,0=none; 1=one,,,,,,", "gives 'categories', which the type 'number' does not hold"),
        ("x,number,0,9,,M = m,,,,,", "gives 'labels', which the type 'number'"),
        ("x,categories,1,2,1;2,,,,,,", "gives 'low', which the type 'categories'"),
        ("x,categories,,,a;b,,,,,mm,", "gives 'unit', which the type 'categories'"),
        ("x,categories,,,,,,,,,", "gives no categories"),
        ("x,date,1,9,,,,,other,,", "gives 'if unknown', which the type 'date'"),
        ("x,date quarter,1,9,,,,,,,", "rule of a date, 'quarter', is not known"),
        ("x,date month year,1,9,,,,,,,", "is not known"),
        ("x,,0,9,,,,,,,", "gives 'low', which a column without a type does not hold"),
        *((f"x,{word},0,1,,,,,,,", "The type .* is not known") for word in ("Zahl", "float", "factor", "id", "numeric month")),
        ("x,leave out,,,,,,,,,\nx,leave out,,,,,,,,,", "two lines for 'x'"),
        ("x,categories,,,a;b,,,,,,target", "two columns as target"),
        ("x,categories,,,a;b,,,,,,goal", "a role that is not known"),
        ("x,categories,,,a b=c,,,,,,", "x, categories: 'a b=c' is neither a value nor a code"),
        ('x,categories,,,m;f,"M",,,,,', "x, labels: 'M' does not say which category"),
    ]:
        with pytest.raises(SchemaError, match=words):
            dpviz.import_codebook(book(line))
    with pytest.raises(SchemaError, match="A date cannot be predicted"):
        dpviz.import_codebook(book("d,date month,1,12,,,,,,,"), target="d")
    with pytest.raises(SchemaError, match="which column is the target"):
        dpviz.import_codebook(book("x,number,0,1,,,,,,,").replace(b"target", b""))


NO_BOOKS = [
    *((text, ".") for text in (b"", b"a,b\n1,2\n", b"{", b"[1]", b'{"fields": []}', b"name,type\nx,number\n", b"type\nnumber\n")),
    (b"{}", "This is JSON, not"),
    (b'{"fields": [{"name": "age", "type": "integer"}]}', "This is a Frictionless description, not"),
    (b'{"resources": [{"path": "a.csv"}]}', "This is a Frictionless description, not"),
    (b"PK\x03\x04", "This is a workbook, not"),
    (b"Variable / Field Name,Form Name\nage,demo\n", "This is a data dictionary of REDCap"),
    (b'name,type,categories,role\ny,categories,"1, Male | 2, Female",target\n', "as REDCap writes them.*1 = male"),
    (b'name,type,categories,role\ny,categories,"0, No|1, Yes",target\n', "as REDCap writes them.*1 = male"),
    (b"name,type,low,high\nage,integer,0,9\n,integer,0,9\n", "Line 2 below the names"),
    (b"name,type,Min\ny,categories,3\n", "Column 3, 'Min', is not known.*Call the columns"),
    (b"name,37,secret\nAnn,38,secret\n", "Column 2 is not known"),
]


@pytest.mark.parametrize(("text", "words"), NO_BOOKS)
def test_what_is_no_codebook_is_refused_with_what_to_do(text, words):
    with pytest.raises(DpvizError, match=words) as caught:
        dpviz.import_codebook(text, target="y")
    assert "secret" not in str(caught.value), "of rows given by mistake it may be a cell"


def test_a_column_may_have_any_name():
    for name in ["NA", "null", "?", "=x", "'=x", "''-1", "@a", "N/A"]:
        schema = Schema((CategoricalFeature(name, ("NA", "null")), NumericFeature("x", 0, 9)), ClassTarget("y", ("a", "b")))
        assert dpviz.import_codebook(dpviz.codebook_template([name, "x", "y"], schema).encode()) == schema


# --- lists


def test_entries_are_what_is_written():
    for text, codes in [
        ("<=50K; >50K", ("<=50K", ">50K")),
        ("<18, 18-64, >=65", ("<18", "18-64", ">=65")),
        (">=10|<10", (">=10", "<10")),
        ("!=0; ==0", ("!=0", "==0")),
        ("1 = yes\n2 = no", ("1", "2")),
        ("-9 = missing; M = male; A1=x", ("-9", "M", "A1")),
        ("1=<=50K; 2=>50K", ("1", "2")),
        ("1 = a = b; 2 = c", ("1", "2")),
        ('1 = "a; b"; 2 = c', ("1", "2")),
        ('"a; b"; c', ("a; b", "c")),
        ('"a=b"; "c = d"', ("a=b", "c = d")),
        ('"say ""hi"""; x', ('say "hi"', "x")),
        ("don't; can't", ("don't", "can't")),
        ('5" pipe; 6" pipe', ('5" pipe', '6" pipe')),
        ("a, b; c", ("a, b", "c")),
        ("042; 42; 0042", ("042", "42", "0042")),
        ("1.0; 1; 1.00; 5E1; 1e3", ("1.0", "1", "1.00", "5E1", "1e3")),
        ("Boston, MA | Miami, FL", ("Boston, MA", "Miami, FL")),
        (" a ;; b ; a ", ("a", "b")),
        ("", ()),
    ]:
        assert codes_in(text) == codes
    for text in ["1: male; 2: female", "1) male; 2) female", "1 - male; 2 – female", "1, Male | 2, Female", "0, No|1, Yes"]:
        with pytest.raises(SchemaError, match=r"seem to be codes with labels.*in quotes"):
            codes_in(text)
    assert codes_in('"1: male"; "2: female"') == ("1: male", "2: female")
    for text in ["=5; 6", "5=; 6", "not known = 9; x", "a<b = c", "=", "BMI = 5 or more; BMI < 5", "p = 1; p = 2"]:
        with pytest.raises(SchemaError, match=r"neither a value nor a code with its label.*in quotes"):
            codes_in(text)


def test_labels_are_pairs():
    for text, pairs in [
        ("M = m; male = m", (("M", "m"), ("male", "m"))),
        ("<=50K. = <=50K; >50K. = >50K", (("<=50K.", "<=50K"), (">50K.", ">50K"))),
        ("<=50K.=<=50K", (("<=50K.", "<=50K"),)),
        ('"x; y" = "p, q"; r = s', (("x; y", "p, q"), ("r", "s"))),
    ]:
        assert groups_in(text) == pairs
    for text in ["a", "a =", "= b", "a = b = c", "<= 5"]:
        with pytest.raises(SchemaError, match="which category"):
            groups_in(text)


@given(st.lists(labels, min_size=1, max_size=5, unique=True), st.lists(st.tuples(labels, labels), max_size=4, unique=True))
def test_lists_that_are_written_are_read_again(values, pairs):
    assert codes_in(list_text(values)) == tuple(values)
    assert groups_in(groups_text(pairs)) == tuple(pairs)


DOUBTED = {"male/female": "one category alone", "18-25; 26-35; 36+": "", "1 = male; 2 = female": "", "<=50K; >50K": ""}


def test_a_list_that_may_be_meant_otherwise_is_doubted():
    for categories, doubt in DOUBTED.items():
        text = f'name,type,categories,role\ns,categories,"{categories}",\ny,categories,no; yes,target\n'.encode()
        assert [doubt in note for note in read_codebook(text).notes] == [True] * bool(doubt)


# --- schema files


def test_a_saved_schema_is_loaded_equal_and_what_cannot_be_read_or_written_is_named_with_its_reason(tmp_path):
    schema = Schema((NumericFeature("größe", 0, 2.5, unit="m"),), ClassTarget("y", ("no", "yes")), n_public=45000)
    function, method = tmp_path / "function.json", tmp_path / "method.json"
    schema.save(str(function))
    schema.save(method)
    assert "größe" in function.read_text(encoding="utf-8")
    method.write_bytes(b"\xef\xbb\xbf" + method.read_bytes())
    assert dpviz.load_schema(function) == dpviz.load_schema(method) == schema
    (binary := tmp_path / "s.json").write_bytes(b"\x80\x81")
    missing = tmp_path / "absent.json", r"absent\.json: The schema file cannot be read: No such file"
    for path, says in (missing, ("", "cannot be read"), ("a\0b", "cannot be read"), (binary, "not JSON")):
        with pytest.raises(DpvizError, match=says):
            dpviz.load_schema(path)
    with pytest.raises(DpvizError, match="cannot be written"):
        schema.save(tmp_path / "absent" / "s.json")


def test_a_codebook_that_is_no_utf8_is_read_as_windows_writes_it_and_doubted():
    lines = "name,type,low,high,categories,role\nGröße,number,0,250,,\nOrt,categories,,,Köln; Bonn,target\n"
    with pytest.warns(dpviz.errors.ReadingWarning, match=r"The codebook is not UTF-8.*save it in UTF-8\.$"):
        found = dpviz.import_codebook(lines.encode("cp1252"))
    assert found == dpviz.import_codebook(lines.encode()) == dpviz.import_codebook(lines.encode("utf-16"))
