"""A codebook becomes the same declared schema; what it leaves open is named."""

import io

import openpyxl
import pytest

import dpviz
from dpviz.errors import DpvizError, SchemaError
from dpviz.io.codebook import read_codebook
from dpviz.io.samples import load_sample
from dpviz.table.column_draft import ColumnDraft
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SCHEMA = Schema(
    (
        NumericFeature("age", 0, 120.5, unit="years", missing_codes=("999", "k.A.")),
        NumericFeature("visits", 0, 1000, whole=True),
        CategoricalFeature("sex", ("1", "2"), missing_codes=("9",)),
        DateFeature("admitted", 2000, 2025),
    ),
    ClassTarget("died", ("no", "yes")),
)
TEXT = """name,type,min,max,values,missing codes,unit
patient,leave out,,,,,
age,number,0,120.5,,999; k.A.,years
visits,integer,0,"1,000.0",,,
sex,categories,,,1=male; 2=female,9,
admitted,date,2000,2025,,,
died,categories,,,no|yes,,
"""
SEMICOLONS = """Name;Type;Min;Max;Values;Missing codes;Unit
age;number;0;120,5;;999|k.A.;years
visits;integer;0;1.000,0;;;
sex;categories;;;"1=m, 2=w";9;
admitted;date;2000;2025;;;
died;categories;;;no, yes;;
"""


def workbook() -> bytes:
    book = openpyxl.Workbook()
    for line in (
        ["name", "type", "min", "max", "values", "missing codes", "unit"],
        ["age", "number", 0, 120.5, None, "999;k.A.", "years"],
        ["visits", "integer", 0, 1000],
        ["sex", "categories", None, None, "1=male\n2=female", 9],
        ["admitted", "date", 2000, 2025],
        ["died", "categories", None, None, "no;yes"],
    ):
        book.active.append(line)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_every_kind_of_file_declares_the_same(tmp_path):
    for codebook in [TEXT.encode(), SEMICOLONS.encode(), workbook()]:
        schema = dpviz.import_codebook(codebook, target="died")
        assert schema == SCHEMA
        assert not schema.read_fields()
        (tmp_path / "book").write_bytes(codebook)
        assert dpviz.import_codebook(tmp_path / "book", target="died", n_public=500).n_public == 500


def test_a_template_filled_with_a_schema_declares_it_again():
    for name in ["loans", "clinic", "rents"]:
        table, schema = load_sample(name)
        written = dpviz.codebook_template(table.names, schema)
        again = dpviz.import_codebook(written.encode(), target=schema.target.name, n_public=schema.n_public)
        assert again == schema
        empty = [line for line in dpviz.codebook_template(table.names).splitlines() if not line.startswith("# example: ")]
        assert len(empty) == 1 + len(table.names)


def test_a_template_holds_no_number_that_may_be_two():
    schema = Schema((NumericFeature("x", -1.125, 12.345),), ClassTarget("y", ("a", "b")))
    assert dpviz.import_codebook(dpviz.codebook_template(["x", "y"], schema).encode(), target="y") == schema


def test_an_empty_template_names_what_is_to_be_filled_in():
    with pytest.raises(SchemaError, match="does not say what it is"):
        dpviz.import_codebook(dpviz.codebook_template(["a", "y"]).encode(), target="y")


def test_what_a_line_lacks_is_said():
    for line, words in [
        ("age,number,0,,,", "age: The codebook gives no max"),
        ("age,number,0,1.000,,", r"age, max: '1.000' may be 1 or 1000"),
        ("age,number,zero,1,,", "'zero' is no number"),
        ("age,colour,0,1,,", "The type 'colour' is not known"),
        ("age,categories,,,,", "gives no values"),
        ("age,number,5,1,,", "low below high"),
        ("y,number,0,1,,", "two lines for 'y'"),
    ]:
        with pytest.raises(SchemaError, match=words):
            dpviz.import_codebook(f"name,type,min,max,values,unit\n{line}\ny,categories,,,a;b,\n".encode(), target="y")


def test_what_is_no_codebook_is_refused():
    for book in [b"", b"a,b\n1,2\n", b"{", b"[1]", b"{}", b'{"fields": 3}', b"name,type\nx,number\n"]:
        with pytest.raises(DpvizError):
            dpviz.import_codebook(book, target="y")


def book(*lines: str) -> bytes:
    columns = "name,type,min,max,values,date as,date written,date since,count as,if missing,if unknown,unit"
    return "\n".join((columns.replace("count as", "groups"), *lines, "y,categories,,,a;b,,,,,,,")).encode()


def test_a_date_has_a_rule():
    (feature,) = dpviz.import_codebook(book("d,date,,,,month,dmy,,,,,"), target="y").features
    assert feature == DateFeature("d", 1, 12, part="month", order="dmy")


def test_days_are_counted_from_where_the_codebook_says_and_a_template_says_it_again():
    schema = dpviz.import_codebook(book("d,date,0,9000,,days,ymd,2000-01-01,,,,"), target="y")
    assert schema.features == (DateFeature("d", 0, 9000, part="days", since="2000-01-01"),)
    assert dpviz.import_codebook(dpviz.codebook_template(["d", "y"], schema).encode(), target="y") == schema


def test_nothing_that_a_line_says_is_dropped_without_a_word():
    for line, words in [
        ("x,number,0,9,0=none; 1=one,,,,,,,", "gives 'values', which the type 'number' does not hold"),
        ("x,integer,0,9,0=none; 1=one,,,,,,,", "gives 'values', which the type 'integer'"),
        ("x,number,0,9,,,dmy,,,,,", "gives 'date written', which the type 'number'"),
        ("x,number,0,9,,,,,M = m,,,", "gives 'groups', which the type 'number'"),
        ("x,date,1,9,,,,,,,other,", "gives 'if unknown', which the type 'date'"),
        ("x,categories,,,a;b,month,,,,,,", "gives 'date as', which the type 'categories'"),
        ("x,categories,,,a;b,,,,,,,mm", "gives 'unit', which the type 'categories'"),
        ("x,categories,1,2,1;2,,,,,,,", "gives 'min', which the type 'categories'"),
        ("x,integer,,,1=male; 2=female,,,,,,,", "gives 'values', which the type 'integer'"),
        ("x,integer,0,9,,month,,,,,,", "gives 'date as', which the type 'integer'"),
        ("x,,0,9,,,,,,,,", "gives 'min', which a column without a type does not hold"),
        ("x,,,,0-9,,,,,,,", "gives 'values', which a column without a type does not hold"),
        ("x,date,1,9,,quarter,,,,,,", "date as = 'quarter' is not known"),
    ]:
        with pytest.raises(SchemaError, match=words):
            dpviz.import_codebook(book(line), target="y")


def test_the_examples_of_a_template_show_what_they_say_and_are_not_read():
    written = dpviz.codebook_template(["a"])
    lines = [line for line in written.splitlines() if line.startswith("# example: ")]
    assert len(lines) == 5
    assert read_codebook(written.encode()).columns == (
        ColumnDraft("a", None, missing_number=None, missing_as=None, unknown_as=None),
    )
    taken = "\n".join([written.splitlines()[0], *(line.removeprefix("# example: ") for line in lines)]).encode()
    found = read_codebook(taken)
    assert (found.target, found.person) == ("readmitted", "patient")
    schema = dpviz.import_codebook(taken)
    assert (schema.target.name, schema.person) == ("readmitted", "patient")
    assert schema.feature_names == ("age", "ward", "admitted")
    assert schema.feature("admitted") == DateFeature("admitted", 1, 12, part="month", order="dmy")
    assert schema.feature("ward").categories == ("internal medicine", "surgery")
    assert schema.feature("age").missing_codes == ("999", "k.A.")
    assert schema.target == ClassTarget("readmitted", ("no", "yes"), groups=(("0", "no"), ("1", "yes")))


def test_a_column_of_the_codebook_that_is_not_known_is_an_error_that_lists_those_there_are():
    for name in ["lowest value", "Variable", "Spalte", "Merkmal", "minimum", "Typ", "label", "also written", "rolle", "missing"]:
        with pytest.raises(
            SchemaError, match=r"not known.*Call its columns name, type, min, max, values, missing codes"
        ) as caught:
            read_codebook(f"name,type,values,{name}\ny,categories,a;b,3\n".encode())
        assert caught.value.field == name


def test_a_type_that_is_not_known_is_an_error_that_lists_those_there_are():
    for word in ["Zahl", "numeric", "float", "factor", "boolean", "id", "string", "ganzzahl", "ratio"]:
        with pytest.raises(
            SchemaError, match=r"x: The type .* is not known\. Write number, integer, categories, date or leave out"
        ):
            read_codebook(f"name,type\nx,{word}\n".encode())


def test_json_is_no_codebook():
    for text in ['{"fields": []}', '[{"name": "x"}]']:
        with pytest.raises(SchemaError, match="This is JSON, not a codebook"):
            dpviz.import_codebook(text.encode(), target="y")


def test_one_end_of_a_date_is_kept_where_the_other_is_the_usual():
    (feature,) = dpviz.import_codebook(book("d,date,,6,,month,dmy,,,,,"), target="y").features
    assert (feature.low, feature.high) == (1, 6)


def test_the_role_of_a_person_is_in_the_schema_and_in_a_template_of_it():
    text = b"name,type,min,max,values,role\nwho,leave out,,,,person\nx,number,0,9,,\ny,categories,,,a;b,target\n"
    schema = dpviz.import_codebook(text)
    assert (schema.feature_names, schema.target.name, schema.person) == (("x",), "y", "who")
    assert dpviz.import_codebook(dpviz.codebook_template(["who", "x", "y"], schema).encode()) == schema
    with pytest.raises(SchemaError, match="which column is the target"):
        dpviz.import_codebook(text.replace(b"target", b""))


def test_a_role_that_says_too_much_is_refused():
    for text, words in [
        (b"name,type,values,role\ny,categories,a;b,target\nz,categories,a;b,target\n", "two columns as target"),
        (b"name,type,values,role\ny,categories,a;b,goal\n", "a role that is not known"),
        (b"name,type,min,max,date as\ny,date,1,12,month\n", "A date cannot be predicted"),
    ]:
        with pytest.raises(SchemaError, match=words):
            dpviz.import_codebook(text, target="y")
