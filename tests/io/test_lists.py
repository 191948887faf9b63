"""An entry of a list stays what it is; only a plain code before an equals sign has a label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import SchemaError
from dpviz.io.lists import codes_in, groups_in, groups_text, list_text, listed_in
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema


def test_entries_are_what_is_written():
    for text, codes in [
        ("<=50K; >50K", ("<=50K", ">50K")),
        ("<=1 mm; >1 mm", ("<=1 mm", ">1 mm")),
        ("<18, 18-64, >=65", ("<18", "18-64", ">=65")),
        (">=10|<10", (">=10", "<10")),
        ("!=0; ==0", ("!=0", "==0")),
        ("1=yes; 2=no", ("1", "2")),
        ("1 = yes\n2 = no", ("1", "2")),
        ("-9 = missing; M = male; A1=x", ("-9", "M", "A1")),
        ("1=<=50K; 2=>50K", ("1", "2")),
        ('1 = "a; b"; 2 = c', ("1", "2")),
        ('"a; b"; c', ("a; b", "c")),
        ('"a, b", c', ("a, b", "c")),
        ("'a, b'; 'c'", ("a, b", "c")),
        ('"a=b"; "c = d"', ("a=b", "c = d")),
        ('"say ""hi"""; x', ('say "hi"', "x")),
        ("don't; can't", ("don't", "can't")),
        ('5" pipe; 6" pipe', ('5" pipe', '6" pipe')),
        ("a|b|c", ("a", "b", "c")),
        ("a, b; c", ("a, b", "c")),
        ("042; 42; 0042", ("042", "42", "0042")),
        ("1.0; 1; 1.00; 5E1; 1e3", ("1.0", "1", "1.00", "5E1", "1e3")),
        ("1, Male | 2, Female | 9, Unknown", ("1", "2", "9")),
        ("0, No | 1, Yes", ("0", "1")),
        ("M, Male | F, Female", ("M", "F")),
        ("Boston, MA | Miami, FL", ("Boston, MA", "Miami, FL")),
        ("NA; null; ?", ("NA", "null", "?")),
        (" a ;; b ; a ", ("a", "b")),
        ("", ()),
    ]:
        assert codes_in(text) == codes


def test_an_equals_sign_without_a_code_before_it_is_an_error_that_names_the_line():
    for text in ["=5; 6", "5=; 6", "not known = 9; x", "a b=c", "a<b = c", "="]:
        with pytest.raises(SchemaError, match=r"neither a value nor a code with its label.*in quotes") as caught:
            codes_in(text, field="ward, values")
        assert caught.value.field == "ward, values"
        book = f'name,type,values,role\nward,categories,"{text}",\ny,categories,a;b,target\n'
        with pytest.raises(SchemaError, match=r"^ward, values: "):
            dpviz.import_codebook(book.encode())


def test_groups_are_pairs():
    for text, pairs in [
        ("M = m; male = m", (("M", "m"), ("male", "m"))),
        ("<=50K. = <=50K; >50K. = >50K", (("<=50K.", "<=50K"), (">50K.", ">50K"))),
        ("<=50K.=<=50K", (("<=50K.", "<=50K"),)),
        ('"a = b" = c', (("a = b", "c"),)),
        ('"x; y" = "p, q"; r = s', (("x; y", "p, q"), ("r", "s"))),
        ("int. med. = internal medicine", (("int. med.", "internal medicine"),)),
    ]:
        assert groups_in(text) == pairs


def test_what_is_no_pair_is_refused():
    for text in ["a", "a =", "= b", "a = b = c", "<= 5"]:
        with pytest.raises(SchemaError, match="which category"):
            groups_in(text, field="x")


letters = st.sampled_from(list("ab1 ;|,=<>\"'\n.+-é")) | st.characters(codec="utf-8", exclude_characters="\0\r")
labels = st.text(letters, min_size=1, max_size=8)
labels = labels.map(str.strip).filter(bool)


@given(st.lists(labels, min_size=1, max_size=5, unique=True))
def test_a_list_that_is_written_is_read_again(values):
    assert codes_in(list_text(values)) == listed_in(list_text(values)) == tuple(values)


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=4, unique=True))
def test_pairs_that_are_written_are_read_again(pairs):
    assert groups_in(groups_text(pairs)) == tuple(pairs)


@given(st.lists(labels.filter(lambda text: "\r" not in text), min_size=2, max_size=4, unique=True), labels)
def test_a_template_of_any_schema_declares_it_again(values, name):
    name = "col" + "".join(filter(str.isalnum, name))
    schema = Schema((CategoricalFeature(name, tuple(values)), NumericFeature("x", 0, 9)), ClassTarget("y", tuple(values)))
    written = dpviz.codebook_template([name, "x", "y"], schema)
    assert dpviz.import_codebook(written.encode("utf-8", "surrogatepass")) == schema


def test_the_codebook_of_adult_has_its_classes():
    book = b"name,type,min,max,values,role\nage,integer,17,110,,\nincome,categories,,,<=50K; >50K,target\n"
    assert dpviz.import_codebook(book).target.classes == ("<=50K", ">50K")


def test_a_column_may_have_any_name():
    for name in ["NA", "null", "?", "=x", "-1", "@a", "N/A"]:
        schema = Schema((CategoricalFeature(name, ("NA", "null")), NumericFeature("x", 0, 9)), ClassTarget("y", ("a", "b")))
        assert dpviz.import_codebook(dpviz.codebook_template([name, "x", "y"], schema).encode()) == schema


def test_a_data_dictionary_of_redcap_is_named_with_what_to_do():
    names = '"Variable / Field Name","Form Name","Field Type","Choices, Calculations, OR Slider Labels","Text Validation Min"'
    with pytest.raises(SchemaError, match=r"data dictionary of REDCap.*Call its columns name, type"):
        dpviz.import_codebook(f"{names}\nage,demo,text,,18\n".encode(), target="age")
