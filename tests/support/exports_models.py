"""Small models of every kind for the tests of exports, and schemas whose names would break a careless writer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

import dpviz
from dpviz.io.exports.contract import ExportInput
from dpviz.learners import registry
from dpviz.models.base import Model
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, SubsetRule, Tree
from dpviz.results.exports import export
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericTarget, Schema
from dpviz.training.params import controls_of
from tests.support.tables import column_of, schema_of, table

#: Fields of Params that say how many trees there are; the tests need few.
_COUNTS = ("trees", "n_trees", "rounds", "n_rounds", "members")
FEWER = 8
#: Learners that are private with a delta only.
NEEDS_DELTA = {"s-gbdt": 1e-6}


def schema_with_stand_ins(n_classes: int = 2) -> Schema:
    """Some columns know what a missing or unknown cell stands for, others do not."""
    height, colour, age, town = schema_of(n_classes=n_classes).features
    return replace(
        schema_of(n_classes=n_classes),
        features=(
            replace(height, missing_as=1.0),
            replace(colour, unknown_as="green"),
            age,
            replace(town, missing_as="t3", unknown_as="t1"),
        ),
    )


def number_schema() -> Schema:
    """The same columns with a number to predict."""
    return replace(schema_with_stand_ins(), target=NumericTarget("price", -3.0, 17.5))


def document(model: Model) -> ExportInput:
    """A file that holds only what is needed to predict."""
    body = {"format": "dpviz-tree/1", "kind": model.kind, **model_body(model), "schema": model.schema.to_dict()}
    return ExportInput(json.dumps(body))


def few_trees(learner: str) -> dict[str, Any]:
    """Parameters that make a forest small."""
    controls = controls_of(registry()[learner].Params)
    return {name: FEWER for name in _COUNTS if name in controls and controls[name].kind == "whole"}


def exportable(learner: str, schema: Schema, *, depth: int = 4, n_rows: int = 300) -> ExportInput:
    """A simulated fit as an export sees it."""
    settings = {"epsilon": 4.0, "delta": NEEDS_DELTA.get(learner), "max_depth": depth, "seed": 3}
    return ExportInput(dpviz.fit(learner, rows_of(schema, n_rows), **settings, **few_trees(learner)).to_json())


def rows_of(schema: Schema, n_rows: int = 300) -> EncodedDataset:
    """Rows with a signal."""
    if isinstance(schema.target, ClassTarget):
        return table(schema, n_rows)
    rng = np.random.default_rng(8)
    columns = tuple(column_of(feature, n_rows, rng) for feature in schema.features)
    return EncodedDataset(schema, columns, np.clip(columns[0] + 0.05 * columns[2] + rng.normal(size=n_rows), -3, 17.5))


def inside(report: str) -> str:
    """The JSON document inside a report."""
    return report.split('<script type="application/json" id="document">')[1].split("</script>")[0]


#: Names that attack a form.
ATTACKS = (
    'x"]\n  click n0 href "http://evil.example"',
    '"; URL="http://evil.example"; image="/etc/passwd',
    "\\G \\N \\l*/ -- ; DROP TABLE t; /*",
    "'''+__import__('os').system('x')+'''",
    "</script><script>alert(1)</script><img src=http://evil.example>",
    "[link](http://evil.example) ![x](http://evil.example)",
    "\u2028\u202e\u2066*/\r\nimport os",
    '=HYPERLINK("http://evil.example")',
    "---\nconfig:\n  theme: base\n---",
)


def written(name: str, form: str) -> str:
    """A tree in which every name begins with this one, in this form."""
    schema = Schema((CategoricalFeature(f"{name} of", (name, "b")),), ClassTarget(name, (f"{name} no", f"{name} yes")))
    return export(form, document(Tree(schema, Branch(SubsetRule(0, (0,)), Leaf(0), Leaf(1)))).text)


#: Models without a tree; they are exported as JSON.
NOT_TREES = ("logistic",)
#: Every learner on two classes, one forest and one boosted model on three, every learner of numbers.
CASES = [
    *((name, schema_with_stand_ins()) for name in registry() if "classes" in registry()[name].tasks),
    *((name, schema_with_stand_ins(3)) for name in ("privatree", "jpw-forest", "pf-forest", "dpa", "gbdt")),
    *((name, number_schema()) for name in registry() if "number" in registry()[name].tasks),
]
IDS = [f"{name}-{len(schema.classes) if isinstance(schema.target, ClassTarget) else 'number'}" for name, schema in CASES]
#: One of each kind of model and of each way in which trees come to an answer; with every change only these are exported.
OF_EACH_KIND = frozenset(
    (
        *("pf-tree-2", "bdpt-2", "privatree-3", "pf-tree-number", "majority-2", "logistic-2", "gbdt-2", "gbdt-3"),
        *("gbdt-number", "jpw-forest-2", "jpw-forest-3", "pf-forest-2", "pf-forest-3", "dpa-2", "dpa-3"),
    )
)
