"""ONNX: numbers and texts in, one input per column; a label, and probabilities where there are any, out. Checked in onnxruntime.

Trees are one `TreeEnsemble` of `ai.onnx.ml` 5 in double precision, so that thresholds are the model's own to the last bit; sets
of categories are its set membership. A text becomes its place in the schema's list by a `LabelEncoder`.
"""

import math
from collections.abc import Callable, Sequence
from importlib.metadata import version
from operator import attrgetter
from typing import Any

import numpy as np

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition, Row, code_numbers, is_code
from dpviz.io.exports.contract import CheckedForm, Exportable
from dpviz.io.exports.function import Conditional, End, Function, Step
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget, Schema

#: Names of what flows inside; inputs bear the columns' names, so a column must not be called so.
INSIDE = "dpviz::"
#: The second output.
CHANCES = "probabilities"
#: Codes of the format: two kinds of split, and a type.
_LEQ, _MEMBER, _INT64 = 0, 6, 7
#: What an end says, such as what it adds to each sum.
Numbers = Callable[[End], tuple[float, ...]]


def _write(given: Exportable) -> bytes:
    import onnx
    from onnx import TensorProto, helper

    function = given.function
    _require_names(function.schema)
    inputs, nodes = _columns(function.schema)
    # a single tree of classes sums up to the code of the class
    nodes += _ensembles(function, attrgetter("amounts"), len(function.start), "sum", f"{INSIDE}sums")
    nodes += [*_decision(function), *_probabilities(function)]
    label = TensorProto.DOUBLE if function.names is None else TensorProto.STRING
    outputs = [helper.make_tensor_value_info("prediction", label, [None])]
    if function.chances != "none":
        outputs.append(helper.make_tensor_value_info(CHANCES, TensorProto.DOUBLE, [None, len(function.schema.classes)]))
    graph = helper.make_graph(nodes, "dpviz", inputs, outputs, _constants(function), doc_string="\n".join(given.facts))
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 5)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10, producer_name="dpviz")
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def _probabilities(function: Function) -> list[Any]:
    """The probability of every class, one ensemble each where they stand at the leaves, else from the sums."""
    if function.chances == "none":
        return []
    if function.chances == "leaf":
        return _ensembles(function, attrgetter("shares"), len(function.schema.classes), "share", CHANCES)
    total, both, part = f"{INSIDE}total", f"{INSIDE}both", f"{INSIDE}part"
    nodes, every = [], total
    if len(function.start) == 1:
        nodes, every = [_node("Mul", [total, f"{INSIDE}signs"], both)], both
    if function.chances == "odds":
        return [*nodes, _node("Softmax", [every], CHANCES, axis=1)]
    return [*nodes, _node("Mul", [every, f"{INSIDE}one_vote"], part), _node("Add", [part, f"{INSIDE}no_vote"], CHANCES)]


def _ensembles(function: Function, numbers: Numbers, count: int, stem: str, out: str) -> list[Any]:
    """One ensemble per number of an end, because a leaf adds to one sum only; side by side in `out`."""
    parts = [f"{INSIDE}{stem}{place}" for place in range(count)]
    flat = (_Flat(function, numbers, place).attributes() for place in range(count))
    cells = [f"{INSIDE}cells"]
    nodes = [_node("TreeEnsemble", cells, part, n_targets=1, **about) for part, about in zip(parts, flat, strict=True)]
    return [*nodes, _node("Concat", parts, out, axis=1)]


class _Flat:
    """The trees as the flat arrays that TreeEnsemble wants, for the number at `place` of every leaf."""

    def __init__(self, function: Function, numbers: Numbers, place: int) -> None:
        self.function, self.numbers, self.place = function, numbers, place
        self.roots: list[int] = []
        self.nodes: list[list[float]] = []  # feature, mode, threshold, yes, yes is a leaf, no, no is a leaf, missing
        self.members: list[float] = []
        self.leaves: list[float] = []
        for tree in function.trees:  # an ensemble has no bare leaves: a split with the same end on both sides
            split = Conditional(Condition(0, "", with_high=True, missing=False), tree, tree) if isinstance(tree, End) else tree
            self.roots.append(self._split(split))

    def _split(self, split: Conditional) -> int:
        """Parents first: the operator reads sets in the order of nodes."""
        place, asked = len(self.nodes), split.condition
        up_to = asked.high if asked.with_high else float(np.nextafter(asked.high, -math.inf))  # `< t` is `<= the number before t`
        mode, mark = (_LEQ, up_to) if asked.is_number else (_MEMBER, math.nan)
        row = [asked.feature, mode, mark, 0, 0, 0, 0, asked.missing and asked.is_number]
        self.nodes.append(row)
        if not asked.is_number:
            self.members += [*_codes(asked, self.function.schema.features[asked.feature]), math.nan]
        row[3], row[4] = self._below(split.yes)
        row[5], row[6] = self._below(split.no)
        return place

    def _below(self, step: Step) -> tuple[int, int]:
        if isinstance(step, Conditional):
            return self._split(step), 0
        self.leaves.append(self.numbers(step)[self.place])
        return len(self.leaves) - 1, 1

    def attributes(self) -> dict[str, Any]:
        from onnx import numpy_helper

        feature, mode, mark, yes, yes_leaf, no, no_leaf, missing = zip(*self.nodes, strict=True)
        tensors = {
            "nodes_modes": np.array(mode, dtype=np.uint8),
            "nodes_splits": np.array(mark, dtype=np.float64),
            "leaf_weights": np.array(self.leaves, dtype=np.float64),
        }
        if self.members:
            tensors["membership_values"] = np.array(self.members, dtype=np.float64)
        whole = {
            "tree_roots": self.roots,
            "nodes_featureids": feature,
            "nodes_truenodeids": yes,
            "nodes_trueleafs": yes_leaf,
            "nodes_falsenodeids": no,
            "nodes_falseleafs": no_leaf,
            "nodes_missing_value_tracks_true": missing,
            "leaf_targetids": [0] * len(self.leaves),
        }
        named = {name: numpy_helper.from_array(array, name) for name, array in tensors.items()}
        return {"aggregate_function": 1, "post_transform": 0, **{key: [*map(int, v)] for key, v in whole.items()}, **named}


def _codes(asked: Condition, feature: Feature) -> list[float]:
    """Places in the list that meet the condition; a missing cell and an unknown text have places of their own."""
    assert isinstance(feature, CategoricalFeature)
    count = len(feature.categories)
    codes = [float(code) for code, name in enumerate(feature.categories) if asked.holds(name)]
    return codes + [float(count)] * asked.missing + [float(count + 1)] * (asked.among is None)


def _decision(function: Function) -> list[Any]:
    """From the sums to the prediction."""
    total, code, flat = f"{INSIDE}total", f"{INSIDE}code", f"{INSIDE}flat"
    nodes = [_node("Add", [f"{INSIDE}sums", f"{INSIDE}start"], total)]
    if function.names is None:
        within = f"{INSIDE}within" if function.how == "sum" else total
        if function.how == "sum":
            nodes.append(_node("Clip", [total, f"{INSIDE}low", f"{INSIDE}high"], within))
        return [*nodes, _node("Reshape", [within, flat], "prediction")]
    if function.how == "most":
        nodes.append(_node("ArgMax", [total], code, axis=1, keepdims=0))
    else:
        if function.how == "sign":
            nodes.append(_node("Greater", [total, f"{INSIDE}zero"], f"{INSIDE}above"))
        chosen, wide = f"{INSIDE}above" if function.how == "sign" else total, f"{INSIDE}wide"
        nodes += [_node("Cast", [chosen], wide, to=_INT64), _node("Reshape", [wide, flat], code)]
    return [*nodes, _node("Gather", [f"{INSIDE}names", code], "prediction")]


def _constants(function: Function) -> list[Any]:
    """Only those that the decision uses: a runtime warns about others."""
    from onnx import helper, numpy_helper

    arrays = {"start": np.array(function.start, dtype=np.float64)}
    if function.how != "most":
        arrays["flat"] = np.array([-1], dtype=np.int64)
    if function.how == "sign":
        arrays["zero"] = np.array(0.0)
    if function.how == "sum" and isinstance(function.schema.target, NumericTarget):
        arrays |= {"low": np.array(function.schema.target.low), "high": np.array(function.schema.target.high)}
    arrays |= _of_chances(function)
    made = [numpy_helper.from_array(array, f"{INSIDE}{name}") for name, array in arrays.items()]
    if function.names is None:
        return made
    names = [name.encode() for name in function.names]
    return [*made, helper.make_tensor(f"{INSIDE}names", helper.TensorProto.STRING, [len(names)], names)]


def _of_chances(function: Function) -> dict[str, np.ndarray]:
    """Two classes have one sum: its log-odds are those of 0 and the sum, and a vote moves it by one to either side."""
    if function.chances in ("none", "leaf"):
        return {}
    has_one = len(function.start) == 1
    if function.chances == "odds":
        return {"signs": np.array([[0.0, 1.0]])} if has_one else {}
    count = len(function.trees) * (2 if has_one else 1)
    shared = {"one_vote": np.array(1 / count), "no_vote": np.array(0.5 if has_one else 0.0)}
    return shared | ({"signs": np.array([[-1.0, 1.0]])} if has_one else {})


def _run(content: bytes, schema: Schema, rows: Sequence[Row]) -> tuple[list[Any], Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    cells = zip(schema.features, zip(*rows, strict=True), strict=True)
    found, *chances = session.run(None, {feature.name: _input(feature, column) for feature, column in cells})
    return found.tolist(), chances[0] if chances else None


def _input(feature: Feature, column: Sequence[Any]) -> np.ndarray:
    if isinstance(feature, CategoricalFeature):
        return np.array([["" if cell is None else cell] for cell in column], dtype=object)
    return np.array([[math.nan if cell is None else cell] for cell in column], dtype=np.float64)


# --- columns: one input each, put side by side as numbers


def _node(kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:
    """An operator with one output."""
    from onnx import helper

    domain = {"domain": "ai.onnx.ml"} if kind in ("LabelEncoder", "TreeEnsemble") else {}
    return helper.make_node(kind, inputs, [output], **domain, **attributes)


def _require_names(schema: Schema) -> None:
    """Raise NotExported for names that ONNX cannot hold."""
    for name in schema.feature_names:
        if name.startswith(INSIDE) or name in ("prediction", CHANCES):
            raise NotExported(f"ONNX needs the name {name!r:.80} for itself.", remedy="Rename the column.")
    for feature in schema.features:
        if isinstance(feature, CategoricalFeature) and "\0" in "".join((feature.name, *feature.category_of)):
            raise NotExported(f"ONNX cannot hold a category of {feature.name!r:.80}.", remedy="Rename the category.")


def _columns(schema: Schema) -> tuple[list[Any], list[Any]]:
    """One input of shape (rows, 1) per column, put side by side as numbers."""
    from onnx import TensorProto, helper

    inputs, nodes, parts = [], [], []
    for place, feature in enumerate(schema.features):
        kind, out = TensorProto.DOUBLE, f"{INSIDE}{place}"
        if isinstance(feature, CategoricalFeature):
            kind, read = TensorProto.STRING, [_encoder(feature, out)]
        else:
            read = _without_codes(feature, out)
        inputs.append(helper.make_tensor_value_info(feature.name, kind, [None, 1]))
        nodes += read
        parts.append(read[-1].output[0] if read else feature.name)
    return inputs, [*nodes, _node("Concat", parts, f"{INSIDE}cells", axis=1)]


def _without_codes(feature: Feature, out: str) -> list[Any]:
    """Numbers, not-a-number where they are a declared code."""
    from onnx import numpy_helper

    nodes, before = [], feature.name
    for place, code in enumerate(code_numbers(feature)):
        names = {name: f"{out}/{place}/{name}" for name in ("code", "missing", "is_code", "without")}
        for name, value in (("code", code), ("missing", math.nan)):
            nodes.append(_node("Constant", [], names[name], value=numpy_helper.from_array(np.array(value), name)))
        nodes.append(_node("Equal", [before, names["code"]], names["is_code"]))
        nodes.append(_node("Where", [names["is_code"], names["missing"], before], names["without"]))
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
    return _node("LabelEncoder", [feature.name], out, **tensors)


ONNX = CheckedForm(
    name="onnx",
    title="ONNX",
    suffix=".onnx",
    media_type="application/octet-stream",
    about="One input per column: numbers (for a date its number) as double, categories as text. Missing: NaN, or the empty text.",
    write=_write,
    run=_run,
    ran_in=lambda: f"onnxruntime {version('onnxruntime')}",
    needs=("onnx", "onnxruntime"),
    extra="onnx",
    order=40,
)
