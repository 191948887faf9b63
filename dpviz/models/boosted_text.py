"""Boosted trees as text: one string per tree, nodes breadth first as in a packed forest; `=0.25` is a leaf that adds 0.25."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.errors import DocumentError
from dpviz.models.boosted import BoostedTrees, scores_of
from dpviz.models.packed_text import REMEDY, SplitReader, number, trees_text
from dpviz.table.schema import ClassTarget, Schema
from dpviz.table.schema_json import Part

FORM = (
    "nodes breadth first: '3<=37.5' feature number 3 (from 0), values (or places of categories) up to 37.5 to the first "
    "child; '3?' one child per category; '=0.25' a leaf that adds 0.25 to the score"
)


def boosted_body(model: BoostedTrees) -> dict[str, Any]:
    """What its document says beside the schema."""
    leaves = [f"={value!r}" for value in model.values.tolist()]
    return {"score": _meaning(model.schema), "form": FORM, "initial": model.initial, "trees": trees_text(model.splits, leaves)}


def _meaning(schema: Schema) -> str:
    target = schema.target
    if not isinstance(target, ClassTarget):
        return f"{target.name!r} before it is clipped to its declared range"
    if scores_of(schema) == 1:
        return f"log-odds of {target.classes[1]!r}"
    return f"one per class; tree number t (from 0) adds to class number t mod {len(target.classes)}"


def boosted_from(document: dict[str, Any], schema: Schema) -> BoostedTrees:
    """The model of a document; raises DocumentError naming the place."""
    initial = Part(document).get("initial").number()
    reader = _Reader(schema)
    reader.read(document)
    if reader.n_trees % scores_of(schema):
        raise DocumentError("There must be as many trees for each class.", where="trees", remedy=REMEDY)
    return BoostedTrees(reader.splits(), np.array(reader.values, dtype=np.float64), initial)


class _Reader(SplitReader):
    """Leaves are numbers."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.values: list[float] = []

    def leaf(self, text: str, where: str) -> None:
        self.values.append(number(text, where))
