"""Packed forests and boosted trees as text: one string per tree, its nodes breadth first.

`3<=37.5`: the fourth feature, values up to 37.5 (of a category: the place in its list, from 0) go to the first child, others
to the second. `3?`: one child per category, in declared order. `=1`: a leaf of the second class. `=1:4,9`: with noisy counts
per class. `=0.25` in boosted trees: a leaf that adds 0.25. The children of the first split come first.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from dpviz.errors import DpvizError
from dpviz.models.base import n_scores
from dpviz.models.boosted import BoostedTrees
from dpviz.models.hashed_forest import HashedForest
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema
from dpviz.table.strict_json import FilledText, wrong

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


def packed_body(forest: PackedForest) -> PackedForestBody:
    """The document of a packed forest without its schema."""
    labels = [f"={label}" for label in forest.labels.tolist()]
    if forest.tallies is not None:
        tallies = forest.tallies.tolist()
        labels = [f"{label}:{','.join(map(str, tally))}" for label, tally in zip(labels, tallies, strict=True)]
    return PackedForestBody(FOREST_FORM, _trees_text(forest.splits, labels))


def boosted_body(model: BoostedTrees) -> BoostedBody:
    """The document of boosted trees without their schema."""
    trees = _trees_text(model.splits, [f"={value!r}" for value in model.values.tolist()])
    return BoostedBody(score=_score_in_words(model.schema), form=BOOSTED_FORM, initial=model.initial, trees=trees)


def refuse_hashed(forest: HashedForest) -> Struct:
    """Raises DpvizError: such a forest is never written to a file."""
    raise DpvizError(
        "This forest has too many leaves to be written down, and a list of those that held rows would reveal where rows are.",
        remedy="Train a forest that is small enough to publish (a smaller depth, or publishable=True).",
    )


def _score_in_words(schema: Schema) -> str:
    target = schema.target
    if not isinstance(target, ClassTarget):
        return f"{target.name!r} before it is clipped to its declared range"
    if n_scores(schema) == 1:
        return f"log-odds of {target.classes[1]!r}"
    return f"one per class; tree number t (from 0) adds to class number t mod {len(target.classes)}"


def _trees_text(splits: PackedTrees, leaves: list[str]) -> tuple[str, ...]:
    """One string per tree; `leaves` are the words of its leaves, in their order."""
    words = np.empty(len(splits.feature), dtype=object)
    words[splits.leaves] = leaves
    inner = np.flatnonzero(splits.feature != LEAF)
    words[inner] = [*map(_split_text, splits.feature[inner].tolist(), splits.threshold[inner].tolist())]
    ends = (*splits.roots[1:].tolist(), len(words))
    return tuple(" ".join(words[start:end]) for start, end in zip(splits.roots.tolist(), ends, strict=True))


def _split_text(feature: int, threshold: float) -> str:
    return f"{feature}?" if math.isnan(threshold) else f"{feature}<={threshold!r}"


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
    splits, values = _read_trees(body.trees, schema, _read_number)
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


def _read_number(text: str, where: str) -> float:
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
            feature, threshold, n_children, leaf = _read_node(word, schema, where)
            if leaf is not None:
                leaves.append(read_leaf(leaf, where))
            nodes.append((feature, threshold))
            n_open += n_children - 1
        if n_open:
            raise wrong("The number of nodes does not fit the splits.", where)
    return PackedTrees.of(schema, nodes), leaves


def _read_node(word: str, schema: Schema, where: str) -> tuple[int, float, int, str | None]:
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
        return feature, _read_number(threshold, where), 2, None
    declared = schema.features[feature]
    if not isinstance(declared, CategoricalFeature):
        raise wrong(f"Feature number {feature} has no categories.", where)
    return feature, math.nan, len(declared.categories), None
