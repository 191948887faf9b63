"""What a model predicts by, in the JSON document `dpviz-tree/1` (`dpviz/results/document.py` has the rest of it).

Packed forests and boosted trees are texts, one string per tree, its nodes breadth first. `3<=37.5`: the fourth feature, values up
to 37.5 (of a category: the place in its list, from 0) go to the first child, others to the second. `3?`: one child per category,
in declared order. `=1`: a leaf of the second class. `=1:4,9`: with noisy counts per class. `=0.25` in boosted trees: a leaf that
adds 0.25. The children of the first split come first.

Names instead of codes, an explicit operator at every branch, an explicit direction for missing and unknown values. The types
here are written, read and described by the published JSON Schema.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from dpviz.errors import DpvizError
from dpviz.models.base import Model, classes_of, n_scores
from dpviz.models.boosted import BoostedTrees
from dpviz.models.hashed_forest import HashedForest
from dpviz.models.linear import LinearBody, LinearModel, linear_body, linear_from
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Constant, Forest, Leaf, MedianSplit, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.schema_json import schema_from_dict
from dpviz.table.strict_json import (
    FilledText,
    parse_json,
    plain,
    read,
    read_entry,
    read_kind,
    require,
    require_format,
    wrong,
)

L = TypeVar("L")

_SPLITS_FORM = (
    "nodes breadth first: '3<=37.5' feature number 3 (from 0), values (or places of categories) up to 37.5 to the first "
    "child; '3?' one child per category; "
)
FOREST_FORM = f"{_SPLITS_FORM}'=1' a leaf of class number 1; '=1:4,9' with noisy counts per class"
BOOSTED_FORM = f"{_SPLITS_FORM}'=0.25' a leaf that adds 0.25 to the score"
#: Digits are counted: Python refuses to read a whole number of thousands of them.
_NODE = re.compile(r"(\d{1,9})(?:<=(\S+)|\?)|=(\S+)")
_LEAF = re.compile(r"(\d{1,9})(?::(-?\d{1,40}(?:,-?\d{1,40})*))?")


#: One tree per text; `form` says how it is read.
Trees = Annotated[tuple[FilledText, ...], Meta(min_length=1, description="One tree per text; `form` says how it is read.")]


class PackedForestBody(Struct):
    """Many trees as texts; with noisy counts at the leaves these add up, else each tree has one vote."""

    form: FilledText
    trees: Trees


class BoostedBody(Struct, kw_only=True, omit_defaults=True):
    """Trees whose leaves add up, from `initial` on; `score` says to what."""

    score: FilledText | UnsetType = UNSET
    form: FilledText
    initial: float
    trees: Trees


# --- writing


def _packed_body(forest: PackedForest) -> PackedForestBody:
    """The document of a packed forest without its schema."""
    labels = [f"={label}" for label in forest.labels.tolist()]
    if forest.tallies is not None:
        tallies = forest.tallies.tolist()
        labels = [f"{label}:{','.join(map(str, tally))}" for label, tally in zip(labels, tallies, strict=True)]
    return PackedForestBody(FOREST_FORM, _trees_text(forest.splits, labels))


def _boosted_body(model: BoostedTrees) -> BoostedBody:
    """The document of boosted trees without their schema."""
    trees, target = _trees_text(model.splits, [f"={value!r}" for value in model.values.tolist()]), model.schema.target
    if not isinstance(target, ClassTarget):
        score = f"{target.name!r} before it is clipped to its declared range"
    elif model.n_scores == 1:
        score = f"log-odds of {target.classes[1]!r}"
    else:
        score = f"one per class; tree number t (from 0) adds to class number t mod {len(target.classes)}"
    return BoostedBody(score=score, form=BOOSTED_FORM, initial=model.initial, trees=trees)


def _refuse_hashed(forest: HashedForest) -> Struct:
    """Raises DpvizError: such a forest is never written to a file."""
    raise DpvizError(
        "This forest has too many leaves to be written down, and a list of those that held rows would reveal where rows are.",
        remedy="Train a forest that is small enough to publish (a smaller depth, or publishable=True).",
    )


def _trees_text(splits: PackedTrees, leaves: list[str]) -> tuple[str, ...]:
    """One string per tree; `leaves` are the words of its leaves, in their order."""
    words = np.empty(len(splits.feature), dtype=object)
    words[splits.leaves] = leaves
    inner = np.flatnonzero(splits.feature != LEAF)
    asked = zip(splits.feature[inner].tolist(), splits.threshold[inner].tolist(), strict=True)
    words[inner] = [f"{feature}?" if math.isnan(cut) else f"{feature}<={cut!r}" for feature, cut in asked]
    ends = (*splits.roots[1:].tolist(), len(words))
    return tuple(" ".join(words[start:end]) for start, end in zip(splits.roots.tolist(), ends, strict=True))


# --- reading


def packed_from(body: PackedForestBody, schema: Schema) -> PackedForest:
    """The forest of a document. Raises DocumentError naming the tree."""
    splits, leaves = _read_trees(body.trees, schema, lambda text, where: _read_label(text, schema, where))
    tallies = [tally for _, tally in leaves if tally]
    if tallies and len(tallies) != len(leaves):
        raise wrong("Some leaves lack their counts.", "trees")
    labels = np.array([label for label, _ in leaves], dtype=np.uint8)
    return PackedForest(splits, labels, np.array(tallies, dtype=np.int64) if tallies else None)


def boosted_from(body: BoostedBody, schema: Schema) -> BoostedTrees:
    """The model of a document. Raises DocumentError naming the place."""
    splits, values = _read_trees(body.trees, schema, _number_of)
    if splits.n_trees % n_scores(schema):
        raise wrong("Every class must have the same number of trees.", "trees")
    return BoostedTrees(splits, np.array(values, dtype=np.float64), body.initial)


def _read_label(text: str, schema: Schema, where: str) -> tuple[int, list[int]]:
    """The class code of a leaf, and its noisy count per class if it has them."""
    parts = _LEAF.fullmatch(text)
    if parts is None:
        raise wrong(f"{'=' + text!r:.60} is not a node.", where)
    label, tally = int(parts[1]), [int(count) for count in (parts[2] or "").split(",") if count]
    n_classes = len(schema.classes)
    if label >= n_classes or len(tally) not in (0, n_classes) or any(abs(count) >= 2**62 for count in tally):
        raise wrong(f"Class {label} does not fit the schema.", where)
    return label, tally


def _number_of(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise wrong(f"{text!r:.60} is not a number.", where)
    return value


def _read_trees(texts: Sequence[str], schema: Schema, read_leaf: Callable[[str, str], L]) -> tuple[PackedTrees, list[L]]:
    """The splits of all trees, and what `read_leaf(text, where)` makes of each leaf, in their order."""
    nodes: list[tuple[int, float]] = []
    leaves: list[L] = []
    for tree, text in enumerate(texts):
        where, n_open = f"trees[{tree}]", 1
        for word in text.split():
            if not n_open:  # a node without a parent
                n_open = -1
                break
            feature, threshold, n_children, leaf = _read_word(word, schema, where)
            if leaf is not None:
                leaves.append(read_leaf(leaf, where))
            nodes.append((feature, threshold))
            n_open += n_children - 1
        if n_open:
            raise wrong("The number of nodes does not fit the splits.", where)
    return PackedTrees.of(schema, nodes), leaves


def _read_word(word: str, schema: Schema, where: str) -> tuple[int, float, int, str | None]:
    """(feature, threshold, number of children, text of a leaf)."""
    parts = _NODE.fullmatch(word)
    if parts is None:
        raise wrong(f"{word!r:.60} is not a node.", where)
    number, threshold, leaf = parts.groups()
    if leaf is not None:
        return LEAF, math.nan, 0, leaf
    feature = int(number)
    if feature >= schema.n_features:
        raise wrong(f"There is no feature number {feature}.", where)
    if threshold is not None:
        return feature, _number_of(threshold, where), 2, None
    declared = schema.features[feature]
    if not isinstance(declared, CategoricalFeature):
        raise wrong(f"Feature number {feature} has no categories.", where)
    return feature, math.nan, len(declared.categories), None


FORMAT = "dpviz-tree/1"
_DEEPEST = 64


#: To the left or to the right.
_SIDES = {"enum": ["left", "right"]}
Side = Annotated[str, Meta(extra_json_schema=_SIDES)]
_LowSide = Annotated[str, Meta(description="Where the rule means the lower half to go.", extra_json_schema=_SIDES)]
_Operator = Annotated[str, Meta(extra_json_schema={"enum": ["<=", "in"]})]
_Counts = Annotated[tuple[int, ...], Meta(min_length=1, description="Released noisy rows per class, in the order of the schema.")]
_Shares = Annotated[
    tuple[float, ...],
    Meta(min_length=1, description="Probability of every class, in the order of the schema; they add up to 1."),
]
_Interval = Annotated[
    tuple[float, float],
    Meta(description="Ends of a 95% interval of the mean of the rows that get here, from released sums."),
]
_Median = Annotated[float, Meta(description="Released with the rule: about half of the numbers that get here are at most this.")]


class NodeBody(Struct, omit_defaults=True):
    """An answer, or a question with two sides.

    `leaf`: a class. `value`: a number. `threshold`: numbers up to it go left; before, they are rounded where the feature is whole
    (halves to even) and clipped into its range. `values`: categories that go left; `unknown` is where any other
    text goes.
    """

    leaf: FilledText | UnsetType = UNSET
    counts: _Counts | UnsetType = UNSET
    shares: _Shares | UnsetType = UNSET
    value: float | UnsetType = UNSET
    interval: _Interval | UnsetType = UNSET
    feature: FilledText | UnsetType = UNSET
    op: _Operator | UnsetType = UNSET
    threshold: float | UnsetType = UNSET
    values: tuple[str, ...] | UnsetType = UNSET
    missing: Side | UnsetType = UNSET
    unknown: Side | UnsetType = UNSET
    median: _Median | UnsetType = UNSET
    low_half: _LowSide | UnsetType = UNSET
    left: NodeBody | UnsetType = UNSET
    right: NodeBody | UnsetType = UNSET


#: The entries of each form of a node.
NODE_FORMS = (
    ("leaf",),
    ("value",),
    ("feature", "op", "threshold", "missing", "left", "right"),
    ("feature", "op", "values", "missing", "unknown", "left", "right"),
)


class TreeBody(Struct):
    """One tree."""

    root: NodeBody


class ForestBody(Struct):
    """Trees with one vote each; the class with most votes, the first one declared among equals."""

    roots: tuple[NodeBody, ...]


class ConstantBody(Struct):
    """One class for every row."""

    leaf: FilledText


def model_body(model: Model) -> dict[str, Any]:
    """What the model predicts by, in names: equal exactly for models that are the same release."""
    return dict(plain(_WRITERS[model.kind](model)))


def model_from_json(text: str | bytes) -> Model:
    """The model of a document as `result.to_json()` writes it, without what was guaranteed: `dpviz.load_result` reads that too.

    Raises DocumentError naming the path of what is wrong.
    """
    document = parse_json(text)
    require_format(document, FORMAT)
    return model_from(document)


def model_from(document: Any) -> Model:
    """The same of a document that is parsed already."""
    body, made = read_kind(_READERS, document)
    schema = schema_from_dict(read_entry(dict, document, "schema"), path="schema")
    return made(read(body, document), schema)


def _write_node(schema: Schema, node: Node) -> NodeBody:
    if isinstance(node, NumberLeaf):
        return NodeBody(value=node.value, interval=UNSET if node.interval is None else node.interval)
    if isinstance(node, Leaf):
        return write_leaf(schema, node)
    feature, rule = schema.features[node.rule.feature], node.rule
    missing, unknown = missing_and_unknown(schema, rule)
    if isinstance(rule, ThresholdRule):
        body = NodeBody(feature=feature.name, op="<=", threshold=rule.threshold, missing=missing)
    else:
        assert isinstance(feature, CategoricalFeature)
        names = tuple(feature.categories[code] for code in rule.codes)
        body = NodeBody(feature=feature.name, op="in", values=names, missing=missing, unknown=unknown)
    if node.median_split:
        body.median, body.low_half = node.median_split.median, "left" if node.median_split.low_left else "right"
    body.left, body.right = _write_node(schema, node.left), _write_node(schema, node.right)
    return body


def write_leaf(schema: Schema, leaf: Leaf) -> NodeBody:
    """A leaf of classes as a node of the document."""
    counts, shares = (UNSET if value is None else tuple(value) for value in (leaf.counts, leaf.shares))
    return NodeBody(leaf=schema.classes[leaf.label], counts=counts, shares=shares)  # type: ignore[arg-type]


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


def _read_forest(body: ForestBody, schema: Schema) -> Forest:
    classes_of(schema, "roots")
    roots = enumerate(body.roots)
    return Forest(schema, tuple(Tree(schema, _read_node(root, schema, f"roots[{place}]")) for place, root in roots))


def _read_node(item: NodeBody, schema: Schema, where: str, depth: int = 0) -> Node:
    if depth > _DEEPEST:
        raise wrong(f"The tree is deeper than {_DEEPEST} levels.", where)
    if item.value is not UNSET:
        return _read_number(item, schema, where)
    if item.leaf is not UNSET:
        return read_leaf(item, schema, where)
    rule = _read_rule(item, schema, where)
    left, right = (
        _read_node(require(child, f"{where}.{side}"), schema, f"{where}.{side}", depth + 1)
        for side, child in (("left", item.left), ("right", item.right))
    )
    return Branch(rule, left, right, _read_median_split(item, schema, where))


def read_leaf(item: NodeBody, schema: Schema, where: str) -> Leaf:
    """What `write_leaf` wrote; `where` is its path. Raises DocumentError."""
    label = _read_class(require(item.leaf, f"{where}.leaf"), schema, f"{where}.leaf")
    counts, shares = (_per_class(getattr(item, name), schema, f"{where}.{name}") for name in ("counts", "shares"))
    if shares is not None and not (min(shares) >= 0 and math.isclose(math.fsum(shares), 1, abs_tol=1e-9)):
        raise wrong("Shares must not be negative and must add up to 1.", f"{where}.shares")
    return Leaf(label, counts, shares)


def _per_class(numbers: Any, schema: Schema, where: str) -> Any:
    """One number per class, where the entry is there."""
    if numbers is UNSET:
        return None
    if len(numbers) != len(schema.classes):
        raise wrong(f"One number per class is needed: {len(schema.classes)}.", where)
    return numbers


def _read_class(name: str, schema: Schema, where: str = "leaf") -> int:
    """The code of a leaf's class."""
    return _index(name, classes_of(schema, where), where)


def _read_rule(item: NodeBody, schema: Schema, where: str) -> Rule:
    position = _index(require(item.feature, f"{where}.feature"), schema.feature_names, f"{where}.feature")
    feature = schema.features[position]
    op = require(item.op, f"{where}.op")
    if op == "<=" and isinstance(feature, NumericFeature):
        return ThresholdRule(position, require(item.threshold, f"{where}.threshold"))
    if op == "in" and isinstance(feature, CategoricalFeature):
        values = require(item.values, f"{where}.values")
        return SubsetRule(position, tuple(sorted(_index(value, feature.categories, f"{where}.values") for value in values)))
    raise wrong(f"{op!r:.60} does not fit the feature {feature.name!r:.60}.", f"{where}.op")


def _index(name: str, names: tuple[str, ...], where: str) -> int:
    if name not in names:
        raise wrong(f"{name!r:.60} is not declared in the schema.", where)
    return names.index(name)


def _read_number(item: NodeBody, schema: Schema, where: str) -> NumberLeaf:
    if not isinstance(schema.target, NumericTarget):
        raise wrong("This leaf must predict a class: the target is not a number.", where)
    value = require(item.value, f"{where}.value")
    if isinstance(item.interval, UnsetType):
        return NumberLeaf(value)
    low, high = item.interval
    if low > high:
        raise wrong("The ends of the interval must be in order.", f"{where}.interval")
    return NumberLeaf(value, (low, high))


def _read_median_split(item: NodeBody, schema: Schema, where: str) -> MedianSplit | None:
    if isinstance(item.median, UnsetType) or not isinstance(schema.target, NumericTarget):
        return None
    side = require(item.low_half, f"{where}.low_half")
    if side not in ("left", "right"):
        raise wrong("This must be 'left' or 'right'.", f"{where}.low_half")
    return MedianSplit(item.median, side == "left")


_WRITERS: dict[str, Callable[[Any], Struct]] = {
    Tree.kind: lambda tree: TreeBody(_write_node(tree.schema, tree.root)),
    Forest.kind: lambda forest: ForestBody(tuple(_write_node(forest.schema, tree.root) for tree in forest.trees)),
    Constant.kind: lambda model: ConstantBody(model.schema.classes[model.root.label]),
    LinearModel.kind: linear_body,
    PackedForest.kind: _packed_body,
    HashedForest.kind: _refuse_hashed,
    BoostedTrees.kind: _boosted_body,
}
#: By kind: what of the document is read, and the model made of it.
_READERS: dict[str, tuple[type[Struct], Callable[[Any, Schema], Model]]] = {
    Tree.kind: (TreeBody, lambda body, schema: Tree(schema, _read_node(body.root, schema, "root"))),
    Forest.kind: (ForestBody, _read_forest),
    Constant.kind: (ConstantBody, lambda body, schema: Constant(schema, _read_class(body.leaf, schema))),
    LinearModel.kind: (LinearBody, linear_from),
    PackedForest.kind: (PackedForestBody, packed_from),
    BoostedTrees.kind: (BoostedBody, boosted_from),
}
#: What a model of each kind predicts by, in a document.
BODIES: dict[str, type[Struct]] = {kind: body for kind, (body, _) in _READERS.items()}
