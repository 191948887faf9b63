"""Several texts that count as one category or class, as declared: refused if they contradict, in codebooks and in exports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import dpviz
from dpviz.errors import SchemaError
from dpviz.io.codebook import codebook_template, import_codebook
from dpviz.io.exports import FORMS
from dpviz.io.exports.contract import WrittenForm
from dpviz.io.exports.python import PYTHON
from dpviz.models.tree import Branch, Leaf, SubsetRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.checked import Differs, export
from tests.support.exports_models import document

SEX = CategoricalFeature("sex", ("m", "f", "d"), unknown_as="d", groups=(("M", "m"), ("male", "m"), ("W", "f"), ("1", "m")))
SCHEMA = Schema(
    (SEX, NumericFeature("x", 0, 9)), ClassTarget("y", ("no", "yes"), groups=(("nein", "no"), ("ja", "yes"), ("1", "yes")))
)


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ((("m", "f"),), "appears twice"),
        ((("M", "m"), ("M", "f")), "appears twice"),
        ((("", "m"),), "has no name"),
        ((("M", "x"),), "'M' is to count as 'x', which is not in the list"),
    ],
)
def test_a_text_has_one_meaning(groups: tuple[tuple[str, str], ...], says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        CategoricalFeature("sex", ("m", "f"), groups=groups)
    with pytest.raises(SchemaError, match=says):
        ClassTarget("sex", ("m", "f"), groups=groups)


def test_a_codebook_brings_groups_and_its_template_takes_them() -> None:
    book = b"name,type,categories,labels\nsex,categories,m; f,M = m; male=m; W = f\ny,categories,n|p,no = n\n"
    schema = import_codebook(book, target="y")
    assert schema.feature("sex").groups == (("M", "m"), ("male", "m"), ("W", "f"))
    assert isinstance(schema.target, ClassTarget)
    assert schema.target.groups == (("no", "n"),)
    again = codebook_template(("sex", "y"), schema).encode()
    assert import_codebook(again, target="y") == schema
    with pytest.raises(SchemaError, match="'M' does not say which category it counts as"):
        import_codebook(b"name,type,categories,labels\nsex,categories,m; f,M\ny,categories,n|p,\n", target="y")


TREE = Tree(SCHEMA, Branch(SubsetRule(0, (0,)), Leaf(1), Branch(SubsetRule(0, (1,)), Leaf(0), Leaf(1))))


@pytest.mark.parametrize("form", [form for form in FORMS if form.name != "json"], ids=lambda form: form.name)
def test_an_export_takes_a_text_for_the_category_it_counts_as(form: WrittenForm) -> None:
    given = document(TREE)
    assert export(form, given).n_rows > 200
    unaware = document(replace(TREE, schema=replace(SCHEMA, features=(SEX.declare(groups=()), SCHEMA.features[1]))))
    if form.group == "code":
        with pytest.raises(Differs, match=r"'sex': '(W|M|male|1)'"):  # an export without groups is noticed
            export(replace(form, write=lambda _: form.write(unaware)), given)


def test_an_export_says_what_counts_as_what_and_predicts_as_the_model_does() -> None:
    given = document(TREE)
    assert 'In sex these texts count as m: M, male, "1".' in given.facts
    said = [
        TREE.predict(dpviz.encode(dpviz.read_csv(f"sex,x,y\n{sex},1,no\n".encode()), SCHEMA)).tolist()
        for sex in ("male", "m", "W")
    ]
    space: dict[str, Any] = {}
    exec(str(export(PYTHON, given).content), space)
    assert [[int(space["predict"]({"sex": sex, "x": 1}) == "yes")] for sex in ("male", " m", "W")] == said == [[1], [1], [0]]
    assert space["predict"]({"sex": 1, "x": 1}) == "yes", "a number is the text that it is"
