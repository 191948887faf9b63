"""The JSON document `dpviz-tree/1`: a model and everything that must be said about it.

Names instead of codes, an explicit operator at every branch, an explicit direction for missing and unknown values.
Released values only: no exact counts, no seed of a release. Readers ignore unknown keys and refuse unknown versions.
"""

import json
import math
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.guarantee import NEIGHBOURS, for_unit
from dpviz.accounting.ledger import Ledger, ledger_entries
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.additive import AdditiveModel, LinearModel, additive_body, additive_from, linear_body, linear_from
from dpviz.models.base import Model, classes_of
from dpviz.models.boosted import BoostedTrees
from dpviz.models.constant import Constant
from dpviz.models.hashed_forest import HashedForest
from dpviz.models.packed_forest import PackedForest
from dpviz.models.packed_text import boosted_body, boosted_from, packed_body, packed_from, refuse_hashed
from dpviz.models.tree import Branch, Forest, Halves, Leaf, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema
from dpviz.table.schema_json import schema_from_dict
from dpviz.table.strict_json import parse_json, read, read_entry, read_kind, require_format, without_infinity, wrong
from dpviz.version import VERSION

T = TypeVar("T")

FORMAT = "dpviz-tree/1"
#: The JSON Schema (draft 2020-12) of a document; the page beside it, `dpviz-tree-1.md`, explains it.
JSON_SCHEMA = Path(__file__).with_name("dpviz-tree-1.schema.json")
_DEEPEST = 64


def model_document(
    *,
    model: Model,
    schema: Schema,
    test_report: dict[str, Any] | None,
    learner: str,
    settings: Any,
    params: Any,
    claim: Claim,
    ledger: Ledger,
    rows_per_person: int | None,
    plan: BudgetPlan,
    disclosures: Iterable[Disclosure],
    noise: str,
    seed: int | None,
    warning: str | None,
) -> str:
    """The whole document as indented JSON text. The seed is written for a simulation only; `warning`: why it is no release."""
    person = rows_per_person and {"rows": rows_per_person, **asdict(for_unit(ledger.guarantee, rows_per_person))}
    stated = {name: value for name, value in asdict(settings).items() if value is not None}  # such as a share of rows for a test
    document = {
        "format": FORMAT,
        "kind": model.kind,
        **model_body(model),
        "schema": schema.to_dict(),
        "learner": {"name": learner, "settings": stated, "parameters": asdict(params), "depth": plan.depth},
        "privacy": {
            "neighbours": NEIGHBOURS,
            "guarantee": asdict(ledger.guarantee),
            **({"per_person": person} if person else {}),
            "claim": asdict(claim),
            "ledger": ledger_entries(ledger),
            "disclosures": [asdict(item) for item in disclosures],
            "noise": _noise(noise, seed, warning),
        },
        **({} if test_report is None else {"test_report": test_report}),
        "versions": {"dpviz": VERSION, "numpy": np.__version__, "python": platform.python_version()},
    }
    return json.dumps(without_infinity(document), indent=1, ensure_ascii=False, allow_nan=False)


def model_body(model: Model) -> dict[str, Any]:
    """What the model predicts by, in names: equal exactly for models that are the same release."""
    return _WRITERS[model.kind](model)


def _noise(source: str, seed: int | None, warning: str | None) -> dict[str, Any]:
    """Anything but a release says so, even when its noise was exact or its seed is secret."""
    known = {} if seed is None else {"seed": seed}
    if warning is None:
        return {"source": source}
    return {"source": "exact samplers" if source == "release" else source, **known, "warning": warning}


def model_from_json(text: str | bytes) -> Model:
    """The model of a document. Raises DocumentError naming the path of what is wrong."""
    document = parse_json(text)
    require_format(document, FORMAT)
    reader = read_kind(_READERS, document)
    return reader(document, schema_from_dict(read_entry(dict, document, "schema"), path="schema"))


def _write_node(schema: Schema, node: Node) -> dict[str, Any]:
    if isinstance(node, NumberLeaf):
        return {"value": node.value, **({} if node.interval is None else {"interval": list(node.interval)})}
    if isinstance(node, Leaf):
        return write_leaf(schema, node)
    halves = node.halves and {"median": node.halves.median, "low_half": "left" if node.halves.low_left else "right"}
    return {
        **_write_rule(schema, node.rule),
        **(halves or {}),
        "left": _write_node(schema, node.left),
        "right": _write_node(schema, node.right),
    }


def write_leaf(schema: Schema, leaf: Leaf) -> dict[str, Any]:
    """A leaf of classes as a node of the document."""
    released = {"counts": leaf.counts, "shares": leaf.shares}
    return {"leaf": schema.classes[leaf.label], **{name: list(value) for name, value in released.items() if value is not None}}


def _write_rule(schema: Schema, rule: Rule) -> dict[str, Any]:
    feature = schema.features[rule.feature]
    sides = missing_and_unknown(schema, rule)
    if isinstance(rule, ThresholdRule):
        return {"feature": feature.name, "op": "<=", "threshold": rule.threshold, "missing": sides[0]}
    assert isinstance(feature, CategoricalFeature)
    names = [feature.categories[code] for code in rule.codes]
    return {"feature": feature.name, "op": "in", "values": names, "missing": sides[0], "unknown": sides[1]}


def missing_and_unknown(schema: Schema, rule: Rule) -> tuple[str, str]:
    """("left" or "right" for a missing value, the same for an unknown one): where the schema's stand-ins go, else right.

    Training never sees a missing or unknown value without a stand-in (such rows are dropped); a reader may, and goes right.
    """
    feature = schema.features[rule.feature]
    if isinstance(feature, NumericFeature):
        low_enough = feature.missing_as is not None and isinstance(rule, ThresholdRule) and feature.missing_as <= rule.threshold
        return ("left" if low_enough else "right"), "right"
    left = {feature.categories[code] for code in rule.codes} if isinstance(rule, SubsetRule) else set()
    side = {True: "left", False: "right"}
    return side[feature.missing_as in left], side[feature.unknown_as in left]


def _read_forest(document: dict[str, Any], schema: Schema) -> Forest:
    classes_of(schema, "roots")
    roots = enumerate(read_entry(list, document, "roots"))
    return Forest(schema, tuple(Tree(schema, _read_node(root, schema, f"roots[{place}]")) for place, root in roots))


def _read_node(item: Any, schema: Schema, where: str, depth: int = 0) -> Node:
    if depth > _DEEPEST:
        raise wrong(f"The tree is deeper than {_DEEPEST} levels.", where)
    if "value" in read(dict, item, where):
        return _read_number(item, schema, where)
    if "leaf" in item:
        return read_leaf(item, schema, where)
    rule = _read_rule(item, schema, where)
    left, right = (
        _read_node(read_entry(dict, item, side, where), schema, f"{where}.{side}", depth + 1) for side in ("left", "right")
    )
    return Branch(rule, left, right, _read_halves(item, schema, where))


def read_leaf(item: dict[str, Any], schema: Schema, where: str) -> Leaf:
    """What `write_leaf` wrote; `where` is its path. Raises DocumentError."""
    label = _read_class(item, schema, where)
    counts = _per_class(tuple[int, ...], item, "counts", schema, where)
    shares = _per_class(tuple[float, ...], item, "shares", schema, where)
    if shares is not None and not (min(shares) >= 0 and math.isclose(math.fsum(shares), 1, abs_tol=1e-9)):
        raise wrong("Shares must not be negative and must add up to 1.", f"{where}.shares")
    return Leaf(label, counts, shares)


def _per_class(kind: type[T], item: dict[str, Any], key: str, schema: Schema, where: str) -> T | None:
    """One number per class, where the entry is there."""
    if key not in item:
        return None
    found = read_entry(kind, item, key, where)
    if len(found) != len(schema.classes):  # type: ignore[arg-type]
        raise wrong(f"One number per class is needed: {len(schema.classes)}.", f"{where}.{key}")
    return found


def _read_class(item: dict[str, Any], schema: Schema, where: str = "") -> int:
    """The code of a leaf's class."""
    path = f"{where}.leaf"
    return _index(read_entry(str, item, "leaf", where), classes_of(schema, path), path)


def _read_rule(item: dict[str, Any], schema: Schema, where: str) -> Rule:
    position = _index(read_entry(str, item, "feature", where), schema.feature_names, f"{where}.feature")
    feature = schema.features[position]
    op = read_entry(str, item, "op", where)
    if op == "<=" and isinstance(feature, NumericFeature):
        return ThresholdRule(position, read_entry(float, item, "threshold", where))
    if op == "in" and isinstance(feature, CategoricalFeature):
        values = read_entry(tuple[str, ...], item, "values", where)
        return SubsetRule(position, tuple(sorted(_index(value, feature.categories, f"{where}.values") for value in values)))
    raise wrong(f"{op!r:.60} does not fit the feature {feature.name!r:.60}.", f"{where}.op")


def _index(name: str, names: tuple[str, ...], where: str) -> int:
    if name not in names:
        raise wrong(f"{name!r:.60} is not declared in the schema.", where)
    return names.index(name)


def _read_number(item: dict[str, Any], schema: Schema, where: str) -> NumberLeaf:
    if not isinstance(schema.target, NumericTarget):
        raise wrong("This leaf must predict a class: the target is not a number.", where)
    value = read_entry(float, item, "value", where)
    if "interval" not in item:
        return NumberLeaf(value)
    low, high = read_entry(tuple[float, float], item, "interval", where)
    if low > high:
        raise wrong("The ends of the interval must be in order.", f"{where}.interval")
    return NumberLeaf(value, (low, high))


def _read_halves(item: dict[str, Any], schema: Schema, where: str) -> Halves | None:
    if "median" not in item or not isinstance(schema.target, NumericTarget):
        return None
    side = read_entry(str, item, "low_half", where)
    if side not in ("left", "right"):
        raise wrong("This must be 'left' or 'right'.", f"{where}.low_half")
    return Halves(read_entry(float, item, "median", where), side == "left")


_WRITERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    Tree.kind: lambda tree: {"root": _write_node(tree.schema, tree.root)},
    Forest.kind: lambda forest: {"roots": [_write_node(forest.schema, tree.root) for tree in forest.trees]},
    Constant.kind: lambda model: {"leaf": model.schema.classes[model.label]},
    LinearModel.kind: linear_body,
    AdditiveModel.kind: additive_body,
    PackedForest.kind: packed_body,
    HashedForest.kind: refuse_hashed,
    BoostedTrees.kind: boosted_body,
}
_READERS: dict[str, Callable[[dict[str, Any], Schema], Model]] = {
    Tree.kind: lambda document, schema: Tree(schema, _read_node(read_entry(dict, document, "root"), schema, "root")),
    Forest.kind: _read_forest,
    Constant.kind: lambda document, schema: Constant(schema, _read_class(document, schema)),
    LinearModel.kind: linear_from,
    AdditiveModel.kind: additive_from,
    PackedForest.kind: packed_from,
    BoostedTrees.kind: boosted_from,
}
