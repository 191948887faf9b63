"""Columns of a table as inputs of an ONNX graph: one each, put side by side as numbers."""

import math
from typing import Any

import numpy as np

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import is_code
from dpviz.table.raw import parse_numbers
from dpviz.table.schema import CategoricalFeature, Feature, Schema

#: Names of what flows inside; inputs bear the columns' names, so a column must not be called so.
INSIDE = "dpviz::"
#: The second output.
CHANCES = "probabilities"


def node(kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:
    """An operator with one output."""
    from onnx import helper

    domain = {"domain": "ai.onnx.ml"} if kind in ("LabelEncoder", "TreeEnsemble") else {}
    return helper.make_node(kind, inputs, [output], **domain, **attributes)


def require_names(schema: Schema) -> None:
    """Raise NotExported for names that ONNX cannot hold."""
    for name in schema.feature_names:
        if name.startswith(INSIDE) or name in ("prediction", CHANCES):
            raise NotExported(f"ONNX needs the name {name!r:.80} for itself.", remedy="Rename the column.")
    for feature in schema.features:
        if isinstance(feature, CategoricalFeature) and "\0" in "".join((feature.name, *feature.category_of)):
            raise NotExported(f"ONNX cannot hold a category of {feature.name!r:.80}.", remedy="Rename the category.")


def columns(schema: Schema) -> tuple[list[Any], list[Any]]:
    """One input of shape (rows, 1) per column, put side by side as numbers."""
    from onnx import TensorProto, helper

    inputs, nodes, parts = [], [], []
    for place, feature in enumerate(schema.features):
        is_text = isinstance(feature, CategoricalFeature)
        kind = TensorProto.STRING if is_text else TensorProto.DOUBLE
        inputs.append(helper.make_tensor_value_info(feature.name, kind, [None, 1]))
        if isinstance(feature, CategoricalFeature):
            nodes.append(_encoder(feature, f"{INSIDE}{place}"))
        else:
            nodes += _without_codes(feature, f"{INSIDE}{place}")
        parts.append(nodes[-1].output[0] if is_text or _codes_of(feature) else feature.name)
    return inputs, [*nodes, node("Concat", parts, f"{INSIDE}cells", axis=1)]


def _codes_of(feature: Feature) -> list[float]:
    """The declared codes of missing cells that are numbers."""
    return [code for code in parse_numbers(feature.missing_codes).tolist() if not math.isnan(code)]


def _without_codes(feature: Feature, out: str) -> list[Any]:
    """Numbers, not-a-number where they are a declared code."""
    from onnx import numpy_helper

    nodes, before = [], feature.name
    for place, code in enumerate(_codes_of(feature)):
        constants = {"code": code, "missing": math.nan}
        names = {name: f"{out}/{place}/{name}" for name in ("code", "missing", "is_code", "without")}
        for name, value in constants.items():
            nodes.append(node("Constant", [], names[name], value=numpy_helper.from_array(np.array(value), name)))
        nodes.append(node("Equal", [before, names["code"]], names["is_code"]))
        nodes.append(node("Where", [names["is_code"], names["missing"], before], names["without"]))
        before = names["without"]
    return nodes


def _encoder(feature: CategoricalFeature, out: str) -> Any:
    """Text -> its place in the list; behind the last: a missing cell (the empty text), then an unknown text."""
    from onnx import helper, numpy_helper

    count, category_of = len(feature.categories), feature.category_of
    missing = [text for text in category_of if is_code(feature, text)]
    texts = [*category_of, "", *(code for code in feature.missing_codes if code not in missing)]
    places = [count if text in missing else feature.categories.index(name) for text, name in category_of.items()]
    keys = helper.make_tensor("keys", helper.TensorProto.STRING, [len(texts)], [text.encode() for text in texts])
    places += [count] * (len(texts) - len(places))
    values = numpy_helper.from_array(np.array(places, dtype=np.float64), "values")
    other = numpy_helper.from_array(np.array([count + 1], dtype=np.float64), "other")
    tensors = {"keys_tensor": keys, "values_tensor": values, "default_tensor": other}
    return node("LabelEncoder", [feature.name], out, **tensors)
