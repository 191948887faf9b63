"""One person and a model: which leaf the person reaches, and the answer in one sentence."""

import math
from collections.abc import Mapping

import numpy as np

from dpviz.charts.wording import percent
from dpviz.errors import NoProbabilities
from dpviz.models.base import Model, Voting
from dpviz.models.new_rows import answers_of, probabilities_of
from dpviz.models.tree import Branch, SubsetRule, ThresholdRule, Tree, declared_precision, format_value
from dpviz.table.columns import Column
from dpviz.table.encode import NewRows, encode_new
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema

#: Column -> what was typed; None for a missing cell.
Cells = Mapping[str, str | float | None]


def first_person(tree: Tree) -> dict[str, str | float]:
    """A value for every feature that the tree asks about, from no row: the uppermost threshold, or a category that is in.

    Thresholds lie where rows are common; declared ranges reach far beyond.
    """
    found: dict[str, str | float] = {}
    for placed in sorted(tree.nodes(), key=lambda placed: len(placed.path)):
        if isinstance(placed.node, Branch):
            rule, feature = placed.node.rule, tree.schema.features[placed.node.rule.feature]
            if isinstance(rule, SubsetRule) and isinstance(feature, CategoricalFeature):
                found.setdefault(feature.name, feature.categories[rule.codes[0] if rule.codes else 0])
            elif isinstance(rule, ThresholdRule) and isinstance(feature, NumericFeature):
                value = max(feature.low, declared_precision(feature, rule.threshold))
                found.setdefault(feature.name, float(math.floor(value)) if feature.whole else value)
    return found


def _encoded(schema: Schema, cells: Cells) -> NewRows:
    """One row, encoded."""
    columns = []
    for name in schema.feature_names:
        cell = cells.get(name)
        known = () if cell is None else (cell if isinstance(cell, str) else repr(cell),)
        columns.append(Column(name, known, np.array([len(known) - 1], dtype=np.int32)))
    return encode_new(RawTable(tuple(columns), "This person"), schema)


def leaf_reached(tree: Tree, cells: Cells) -> str | None:
    """The path of the leaf this person reaches; None where the schema drops such a row."""
    new = _encoded(tree.schema, cells)
    leaves = [placed.path for placed in tree.nodes() if not isinstance(placed.node, Branch)]
    return leaves[int(tree.leaf_of_rows(new.data)[0])] if new.usable[0] else None


def answer_sentence(model: Model, cells: Cells) -> str:
    """What the model says about this person, with probabilities where it holds any. Names are not escaped."""
    schema, new = model.schema, _encoded(model.schema, cells)
    [said] = answers_of(model, new)
    if said is None or said != said:
        return "No answer: a missing or undeclared value, and the schema leaves such rows out."
    if isinstance(schema.target, NumericTarget):
        return f"Predicted {schema.target.name}: {format_value(float(said))}."
    try:
        [shares] = probabilities_of(model, new)
    except NoProbabilities:
        return f"Predicted {schema.target.name}: {said}. This model holds no probabilities."
    what = "Shares of the votes" if isinstance(model, Voting) else "Probabilities"
    odds = ", ".join(f"{name} {percent(share)}" for name, share in zip(schema.classes, shares.tolist(), strict=True))
    return f"Predicted {schema.target.name}: {said}. {what}: {odds}."
