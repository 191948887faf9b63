"""The output that separates the worst pair: as a tree that can be drawn, and as a sentence.

Everything is read from the `AuditResult` itself, so that a result of any universe or pair can be shown. A category
called "a=1" of column "a" is shown as "1".
"""

from collections.abc import Iterable, Iterator
from typing import Any

from dpviz.evaluation.audit.findings import AuditResult
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, SubsetRule, ThresholdRule, Tree, format_number
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema

#: Stands in where only one class or category was met; a schema needs two.
_OTHER = "other"
Body = dict[str, Any]


def short_value(column: str, value: str) -> str:
    """A value without the name of its column: "a=1" of column "a" is "1"."""
    return value.removeprefix(f"{column}=")


def output_tree(result: AuditResult) -> Tree | None:
    """The output as a tree over the columns of the pair; None where there is no pair, or the output is not one tree."""
    body = result.output.get("root", result.output)
    if result.worst_pair is None or not _is_tree(body):
        return None
    schema = _schema(result, list(_nodes(body)))
    return Tree(schema, _node(body, schema))


def _is_tree(body: Any) -> bool:
    if not isinstance(body, dict):
        return False
    return _is_end(body) or ({"feature", "op"} <= body.keys() and all(_is_tree(body.get(side)) for side in ("left", "right")))


def _is_end(body: Body) -> bool:
    return "leaf" in body or "value" in body


def _nodes(body: Body) -> Iterator[Body]:
    yield body
    if "op" in body:
        for side in ("left", "right"):
            yield from _nodes(body[side])


def _schema(result: AuditResult, nodes: list[Body]) -> Schema:
    pair = result.worst_pair
    assert pair is not None
    met = {name: {short_value(name, row[place]) for row in pair.second} for place, name in enumerate(pair.columns)}
    *names, target = pair.columns
    classes = met[target] | {str(node["leaf"]) for node in nodes if "leaf" in node}
    of_numbers = any("value" in node for node in nodes)
    predicted = NumericTarget(target, *_ends(met[target])) if of_numbers else ClassTarget(target, _two(classes))
    asked = {name: [node for node in nodes if node.get("feature") == name] for name in names}
    return Schema(tuple(_feature(name, met[name], asked[name]) for name in names), predicted)


def _ends(numbers: set[str]) -> tuple[float, float]:
    """The least and the largest number met, apart."""
    low, high = min(map(float, numbers)), max(map(float, numbers))
    return low, high if high > low else low + 1


def _feature(name: str, met: set[str], asked: list[Body]) -> Feature:
    thresholds = [float(node["threshold"]) for node in asked if node["op"] == "<="]
    if thresholds:
        return NumericFeature(name, min(thresholds) - 1, max(thresholds) + 1)
    return CategoricalFeature(name, _two(met | {value for node in asked for value in _values(node)}))


def _values(node: Body) -> tuple[str, ...]:
    return tuple(short_value(node["feature"], str(value)) for value in node["values"])


def _two(values: Iterable[str]) -> tuple[str, ...]:
    names = sorted(values)
    return tuple(names if len(names) > 1 else [*names, _OTHER, f"{_OTHER} 2"][:2])


def _node(body: Body, schema: Schema) -> Node:
    if "leaf" in body:
        return Leaf(schema.classes.index(str(body["leaf"])))
    if "value" in body:
        return NumberLeaf(float(body["value"]))
    place = schema.feature_names.index(body["feature"])
    feature = schema.features[place]
    if isinstance(feature, CategoricalFeature):
        rule: ThresholdRule | SubsetRule = SubsetRule(place, tuple(sorted(map(feature.categories.index, _values(body)))))
    else:
        rule = ThresholdRule(place, float(body["threshold"]))
    return Branch(rule, _node(body["left"], schema), _node(body["right"], schema))


def output_in_words(result: AuditResult) -> str:
    """The output as one sentence: "If a is 0: x; otherwise: y."; empty where there is none."""
    body = result.output.get("root", result.output)
    if not _is_tree(body):
        return ", ".join(f"{name}: {value}" for name, value in result.output.items())
    return f"Always {_said(body)}." if _is_end(body) else f"{_said(body)}."


def _said(body: Body) -> str:
    if _is_end(body):
        return str(body["leaf"]) if "leaf" in body else format_number(body["value"])
    asks = f"≤ {format_number(body['threshold'])}" if body["op"] == "<=" else f"is {' or '.join(_values(body))}"
    left, right = (f"({_said(body[side])})" if "op" in body[side] else _said(body[side]) for side in ("left", "right"))
    return f"If {body['feature']} {asks}: {left}; otherwise: {right}"
