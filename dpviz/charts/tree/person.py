"""One person and a model: which leaf the person reaches, and the answer in one sentence."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.charts.wording import percent
from dpviz.errors import NoProbabilities
from dpviz.models.base import Model, Voting
from dpviz.models.new_rows import answers_of, probabilities_of
from dpviz.models.tree import Branch, Rule, SubsetRule, ThresholdRule, Tree, declared_precision, format_value
from dpviz.table.columns import Column
from dpviz.table.encode import NewRows, encode_new
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget, Schema

#: Column -> what was typed; None for a missing cell.
Cells = Mapping[str, str | float | None]


def typical_person(tree: Tree) -> dict[str, str | float]:
    """A value for every feature that the tree asks about, at home in the leaf with the most released rows; from no row.

    Without released counts that is the leaf reached by "true" alone. Between two thresholds it is the middle; above the last one
    as far from it as the middle of what lies below, since declared ranges reach far beyond what is common.
    """
    leaves = [placed for placed in tree.nodes() if not isinstance(placed.node, Branch)]
    home = max(leaves, key=lambda placed: sum(getattr(placed.node, "counts", None) or ())).path
    questions = [(placed.path, placed.node.rule) for placed in tree.nodes() if isinstance(placed.node, Branch)]
    asked: dict[int, list[tuple[Rule, bool]]] = {}
    for path, rule in sorted(questions, key=lambda question: not home.startswith(question[0])):  # those on the way first
        asked.setdefault(rule.feature, []).append((rule, not home.startswith(f"{path}R")))
    features = tree.schema.features
    return {features[place].name: _typical(features[place], answers) for place, answers in asked.items()}


def _typical(feature: Feature, answers: Sequence[tuple[Rule, bool]]) -> str | float:
    if isinstance(feature, CategoricalFeature):
        codes = set(range(len(feature.categories)))
        for rule, is_true in answers:
            held = set(rule.codes) if isinstance(rule, SubsetRule) else codes
            codes = (codes & held if is_true else codes - held) or codes
        return feature.categories[min(codes)]
    low, high = feature.low, feature.high
    for rule, is_true in answers:
        if isinstance(rule, ThresholdRule) and low < rule.threshold < high:
            low, high = (low, rule.threshold) if is_true else (rule.threshold, high)
    value = (low + high) / 2
    if low > feature.low and high == feature.high:
        value = min(value, low + (low - feature.low) / 2)
    if not feature.whole:
        rounded = declared_precision(feature, value)  # as thresholds are, unless that leaves the way to the leaf
        return rounded if low < rounded < high else value
    return float(math.floor(value) if math.floor(value) > low or low == feature.low else math.floor(value) + 1)


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
