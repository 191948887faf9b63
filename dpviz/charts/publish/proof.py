"""Every form of export tried on a tree of a schema before anything is released by it: what cannot be made later is known now."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from dpviz.errors import DpvizError, RefusedRelease
from dpviz.io.exports.contract import ExportInput, WrittenForm, export
from dpviz.models.document import FORMAT, model_body
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.results.exports import forms
from dpviz.table.schema import CategoricalFeature, NumericTarget, Schema, Target

#: What a release must have: its file, and the page that is signed.
NEEDED = ("json", "report")


@dataclass(frozen=True, slots=True)
class Proof:
    """`formats`: titles of the forms that hold the tree; `missing`: title -> why another did not."""

    formats: tuple[str, ...]
    missing: dict[str, str]


def proof_of(schema: Schema) -> Proof:
    """Which forms hold a tree that asks about every column.

    Raises RefusedRelease where one of NEEDED does not.
    """
    tree = tree_of(schema)
    document = {"format": FORMAT, "kind": tree.kind, **model_body(tree), "schema": schema.to_dict()}
    source, formats, missing = ExportInput(json.dumps(document)), [], {}
    for name, form in forms().items():
        assert isinstance(form, WrittenForm)
        try:
            formats.append(export(form, source).form.title)
        except DpvizError as problem:
            if name in NEEDED:
                remedy = "Nothing was spent. Rename the column or category that is named, or report this with the schema."
                raise RefusedRelease(f"No release of these columns: {problem.what}", remedy=remedy) from problem
            missing[form.title] = problem.what
    return Proof(tuple(formats), missing)


def proof_sentence(proof: Proof) -> str:
    """What was tried, and what there will not be."""
    said = f"Tried on a tree of these columns: {len(proof.formats)} export formats hold it."
    return " ".join([said, *(f"No {title}: {why}" for title, why in proof.missing.items())])


def tree_of(schema: Schema) -> Tree:
    """A tree with a split on every column, as flat as it can be, whose leaves differ from their siblings."""
    rules: list[Rule] = [
        SubsetRule(place, tuple(range((len(feature.categories) + 1) // 2)))
        if isinstance(feature, CategoricalFeature)
        else ThresholdRule(place, (feature.low + feature.high) / 2)
        for place, feature in enumerate(schema.features)
    ]

    def node(rules: Sequence[Rule], place: int) -> Node:
        if not rules:
            return _leaf(schema.target, place)
        return Branch(rules[0], node(rules[1::2], 2 * place), node(rules[2::2], 2 * place + 1))

    return Tree(schema, node(rules, 0))


def _leaf(target: Target, place: int) -> Leaf | NumberLeaf:
    if isinstance(target, NumericTarget):
        return NumberLeaf(target.low + (target.high - target.low) * (place % 7) / 7)
    n, label = len(target.classes), place % len(target.classes)
    return Leaf(label, shares=tuple((2.0 if code == label else 1.0) / (n + 1) for code in range(n)))
