"""One person and a model: which leaf the person reaches, and the answer in one sentence."""

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.errors import NoProbabilities
from dpviz.figures.wording import percent
from dpviz.models.base import Model, Voting
from dpviz.models.new_rows import answers, probabilities
from dpviz.models.tree import Branch, Tree, format_value
from dpviz.table.new_rows import encode_new
from dpviz.table.raw import RawColumn, RawTable
from dpviz.table.schema import NumericTarget, Schema

#: Column -> what was typed; None for a missing cell.
Cells = Mapping[str, str | float | None]


def row_of(schema: Schema, cells: Cells) -> RawTable:
    """A table of one row."""
    return RawTable(tuple(_column(name, cells.get(name)) for name in schema.feature_names), "This person")


def _column(name: str, cell: str | float | None) -> RawColumn:
    known = () if cell is None else (cell if isinstance(cell, str) else repr(cell),)
    return RawColumn(name, known, np.array([len(known) - 1], dtype=np.int32))


def leaf_reached(tree: Tree, cells: Cells) -> str | None:
    """The path of the leaf this person reaches; None where the schema drops such a row."""
    data, usable = encode_new(row_of(tree.schema, cells), tree.schema)
    leaves = [placed.path for placed in tree.nodes() if not isinstance(placed.node, Branch)]
    return leaves[int(tree.leaf_of_rows(data)[0])] if usable[0] else None


def answer_sentence(model: Model, cells: Cells) -> str:
    """What the model says about this person, with probabilities where it holds any. Names are not escaped."""
    schema, rows = model.schema, row_of(model.schema, cells)
    [said] = answers(model, rows)
    if said is None or said != said:
        return "No answer: a missing or undeclared value, and the schema leaves such rows out."
    if isinstance(schema.target, NumericTarget):
        return f"{schema.target.name} is predicted to be {format_value(float(said))}."
    try:
        [shares] = probabilities(model, rows)
    except NoProbabilities:
        return f"{schema.target.name} is predicted to be {said}. This model holds no probabilities."
    return f"{schema.target.name} is predicted to be {said}; {_odds(model, schema.classes, shares.tolist())}."


def _odds(model: Model, classes: Sequence[str], shares: Sequence[float]) -> str:
    what = "shares of the votes" if isinstance(model, Voting) else "probabilities"
    return f"{what}: " + ", ".join(f"{name} {percent(share)}" for name, share in zip(classes, shares, strict=True))
